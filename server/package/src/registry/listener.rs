//! Where connections come in: how many, how slow they may be, and how they end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::RegistryLimits;
use super::write_timeout::Taken;

/// Connections that are open at one time; whoever comes then waits.
const OPEN: usize = 1024;
/// How long is waited where the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);
/// How long requests have to end when the registry does.
const GRACE: Duration = Duration::from_secs(30);

/// Serves until `stop`, and then ends what has begun.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    limits: &RegistryLimits,
    stop: impl Future<Output = ()>,
) {
    let open = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(OPEN));
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, _) = listener.accept().await?;
            Ok::<_, io::Error>((stream, place))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, place)) => {
                // Where it cannot be had, answers take a little longer.
                let _ = stream.set_nodelay(true);
                let stream = Taken::new(stream, limits.answer);
                let requests = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(limits.request)
                    .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
                let requests = open.watch(requests);
                tokio::spawn(async move {
                    if let Err(error) = requests.await {
                        tracing::debug!(%error, "a connection broke off");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(GRACE, open.shutdown()).await.is_err() {
        tracing::warn!("some requests took too long to end and were cut off");
    }
}
