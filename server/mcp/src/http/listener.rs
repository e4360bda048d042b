//! Where connections come in: how slow they may be, and how they end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::CancellationToken;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::DropGuard;

use crate::http::connections::{Connection, Connections};
use crate::http::outgoing::Outgoing;

/// How long the head of the first request may take: who connects has something to ask.
const FIRST: Duration = Duration::from_secs(10);

/// How long the head of a further request may take, from the moment that the connection is quiet.
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
    connections: Connections,
    stop: &CancellationToken,
    last: impl Future<Output = ()>,
) {
    let open = GracefulShutdown::new();
    loop {
        let next = async {
            let stream = listener.accept().await?;
            Ok::<_, io::Error>((stream, connections.enter().await))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, connection)) => {
                tokio::spawn(answer(stream, connection, connections.clone(), app.clone(), open.watcher()));
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

/// Answers what is asked on a connection, until it ends or has to go.
async fn answer(
    stream: TcpStream,
    connection: Connection,
    connections: Connections,
    app: axum::Router,
    graceful: Watcher,
) {
    let app = TowerToHyperService::new(app);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        let unanswered = Arc::new(connections.ask(&connection));
        request.extensions_mut().insert(Arc::clone(&unanswered));
        let answer = app.call(request);
        async move { answer.await.map(|answer| answer.map(|body| Outgoing::new(body, unanswered))) }
    });
    let requests = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let silent = async {
        tokio::time::sleep(FIRST).await;
        if !connection.is_new() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = graceful.watch(requests) => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke off");
            }
        }
        () = connection.closed() => tracing::debug!("a connection was closed, as there were too many"),
        () = silent => tracing::debug!("a connection was closed, as nothing was asked on it"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn connections_send_at_once() {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let (_client, accepted) =
            tokio::join!(TcpStream::connect(listener.address().unwrap()), listener.accept());
        assert!(accepted.unwrap().nodelay().unwrap());
    }

    /// A server with room for this many connections, and where it listens.
    async fn serving(most: usize) -> SocketAddr {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.address().unwrap();
        let app = axum::Router::new().route("/", axum::routing::get(async || "here"));
        let stop = CancellationToken::new();
        tokio::spawn(async move {
            serve(listener, app, Connections::new(most, 1), &stop, std::future::ready(())).await;
        });
        address
    }

    /// What is answered, and what comes until the server closes.
    async fn asked(stream: &mut TcpStream) -> String {
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut heard = String::new();
        while !heard.ends_with("here") {
            let mut some = [0; 1024];
            let count = stream.read(&mut some).await.unwrap();
            assert!(count > 0, "{heard}");
            heard.push_str(std::str::from_utf8(&some[..count]).unwrap());
        }
        heard
    }

    #[tokio::test]
    async fn connections_that_say_nothing_keep_nobody_out() {
        let address = serving(2).await;
        let mut kept = TcpStream::connect(address).await.unwrap();
        let mut silent = Vec::new();
        for _ in 0..8 {
            silent.push(TcpStream::connect(address).await.unwrap());
            let answered = async { asked(&mut TcpStream::connect(address).await.unwrap()).await };
            tokio::time::timeout(Duration::from_secs(20), answered).await.expect("an answer");
        }
        assert_eq!(kept.read(&mut [0; 1]).await.unwrap_or(0), 0, "the first of them went first");
    }

    #[tokio::test]
    async fn who_connects_asks_at_once_and_may_ask_again_later() {
        let address = serving(2).await;
        let mut asks = TcpStream::connect(address).await.unwrap();
        let mut silent = TcpStream::connect(address).await.unwrap();
        asked(&mut asks).await;
        tokio::time::pause();
        let began = tokio::time::Instant::now();
        assert_eq!(silent.read(&mut [0; 1]).await.unwrap_or(0), 0);
        assert!(began.elapsed() < HEAD, "{:?}", began.elapsed());
        tokio::time::resume();
        asked(&mut asks).await;
        tokio::time::pause();
        assert_eq!(asks.read(&mut [0; 1]).await.unwrap_or(0), 0);
    }
}
