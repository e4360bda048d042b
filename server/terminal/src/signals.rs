//! The signals that ask the program to end.

use tokio_util::sync::CancellationToken;

/// A token that fires at the first SIGINT or SIGTERM after this has returned.
pub fn stop_token() -> CancellationToken {
    let token = CancellationToken::new();
    let fires = token.clone();
    let signal = signal();
    tokio::spawn(async move {
        signal.await;
        fires.cancel();
    });
    token
}

/// Listens from now on, and not only when it is first polled.
#[cfg(unix)]
fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let heard = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async {
        let (Ok(mut interrupt), Ok(mut terminate)) = heard else {
            tracing::warn!("signals cannot be heard; the program ends when its input does");
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
