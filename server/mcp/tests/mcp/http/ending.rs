//! How serving ends: what runs is finished and answered, waits end, and nothing new is taken.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::{
    Call, CancellationToken, Decide, DecideOutcome, Handler, Held, Raw, RemoteError, SidecarStatus,
};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::http::client::Http;

/// A sidecar that has begun every call and does not finish it before it is let.
#[derive(Default)]
pub struct Slow {
    pub begun: Notify,
    pub may_finish: Notify,
}

impl Handler for Slow {
    async fn call(&self, _: Call, _: CancellationToken) -> Result<Raw, RemoteError> {
        self.begun.notify_one();
        self.may_finish.notified().await;
        Ok(Raw::of(&json!({ "content": [{ "type": "text", "text": "it was made" }] })).unwrap())
    }
    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        Ok(paths.into_iter().map(|path| Held { path, ..Held::default() }).collect())
    }
    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        Ok(SidecarStatus::default())
    }
    async fn decide(&self, _: Decide) -> Result<DecideOutcome, RemoteError> {
        Err(RemoteError::cancelled())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_changes_something_is_finished_and_answered() {
    for modern in [true, false] {
        let mut http = Http::start().await;
        let slow = Arc::new(Slow::default());
        let _editor = http.place.start("nvim", &[&http.place.root], slow.clone());
        let client = if modern { http.modern(&["write:/"]) } else { http.legacy(&["write:/"]).await };
        let calling = tokio::spawn({
            let client = client.clone();
            async move { client.tool("write_file", json!({ "path": "a.txt", "content": "" })).await }
        });
        slow.begun.notified().await;
        http.stop.cancel();
        // Nothing new is taken from then on.
        let closed = async { while TcpStream::connect(http.address).await.is_ok() {} };
        tokio::time::timeout(Duration::from_secs(20), closed).await.expect("it listens no more");
        assert!(!http.serving.is_finished() && !calling.is_finished());
        slow.may_finish.notify_one();
        let answer = tokio::time::timeout(Duration::from_secs(20), calling).await.unwrap().unwrap();
        assert_eq!(answer.text, "it was made");
        tokio::time::timeout(Duration::from_secs(20), &mut http.serving).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_its_client_ends_answers_first_what_it_changes() {
    let http = Http::start().await;
    let slow = Arc::new(Slow::default());
    let _editor = http.place.start("nvim", &[&http.place.root], slow.clone());
    let client = http.legacy(&["write:/"]).await;
    let changing = tokio::spawn({
        let client = client.clone();
        async move { client.tool("write_file", json!({ "path": "a.txt", "content": "" })).await }
    });
    slow.begun.notified().await;
    let mut ending = tokio::spawn({
        let client = client.clone();
        async move { client.send("DELETE", "/mcp", &client.headers(), "").await }
    });
    // It would be answered at once.
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut ending).await.is_err());
    assert!(!changing.is_finished());
    slow.may_finish.notify_one();
    let soon = Duration::from_secs(20);
    let answer = tokio::time::timeout(soon, changing).await.unwrap().unwrap();
    assert_eq!(answer.text, "it was made");
    assert_eq!(tokio::time::timeout(soon, ending).await.unwrap().unwrap().status, 204);
    assert_eq!(client.call("list_edits", json!({})).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_and_streams_do_not_keep_it() {
    let mut http = Http::start().await;
    let slow = Arc::new(Slow::default());
    let _editor = http.place.start("nvim", &[&http.place.root], slow.clone());
    let client = http.legacy(&["write:/"]).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.tool("await_review", json!({ "edit_ids": ["12345678"], "timeout_s": 40 })).await }
    });
    let listening = tokio::spawn({
        let client = client.clone();
        async move { client.send("GET", "/mcp", &client.headers(), "").await }
    });
    slow.begun.notified().await;
    http.stop.cancel();
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap().unwrap();
    assert!(waited.failed, "{}", waited.text);
    tokio::time::timeout(Duration::from_secs(20), &mut http.serving).await.unwrap().unwrap();
    // Its stream has come to an end, wherever in it that was.
    let _ = tokio::time::timeout(Duration::from_secs(20), listening).await.unwrap();
}
