//! The connections that requests come through: how many, how slow they may be, and how they end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::CancellationToken;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::DropGuard;

/// How many connections there may be at a time. More of them wait until one ends.
const MOST: usize = 256;

/// How long the head of a request may take, from the moment that the connection is idle.
const HEAD: Duration = Duration::from_secs(60);

/// How long is waited where the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);

/// How long connections have to end when all calls are answered.
const GOODBYE: Duration = Duration::from_secs(1);

/// Listens until it is dropped.
pub(super) struct Listener {
    tcp: TcpListener,
    // Behind the listener, as it is dropped after it.
    closed: DropGuard,
}

impl Listener {
    pub async fn bind(address: &str) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        Ok(Self { tcp, closed: CancellationToken::new().drop_guard() })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Fires when it listens no more.
    pub fn closed(&self) -> CancellationToken {
        self.closed.token().clone()
    }

    /// The next connection. It sends at once what it has: with Nagle's algorithm each answer of a session, an event behind an event,
    /// waits for the client's delayed acknowledgement, 40 ms of nothing.
    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.tcp.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Serves what comes in until `stop` fires; then awaits `last`, for calls that are not answered yet, and closes what is open.
pub(super) async fn serve(
    listener: Listener,
    app: axum::Router,
    stop: &CancellationToken,
    last: impl Future<Output = ()>,
) {
    let open = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            Ok::<_, io::Error>((listener.accept().await?, permit))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, permit)) => {
                let service = TowerToHyperService::new(app.clone());
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .serve_connection(TokioIo::new(stream), service);
                let connection = open.watch(connection);
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection broke off");
                    }
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    last.await;
    let _ = tokio::time::timeout(GOODBYE, open.shutdown()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_send_at_once() {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let (_client, accepted) =
            tokio::join!(TcpStream::connect(listener.address().unwrap()), listener.accept());
        assert!(accepted.unwrap().nodelay().unwrap());
    }
}
