//! The signals that ask the program to end.

use hashline_link::CancellationToken;

/// A token that fires at the first SIGINT or SIGTERM.
pub fn stop_token() -> CancellationToken {
    let token = CancellationToken::new();
    let fires = token.clone();
    tokio::spawn(async move {
        wait().await;
        fires.cancel();
    });
    token
}

#[cfg(unix)]
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("signals cannot be heard; the program ends when its input does");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn wait() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
