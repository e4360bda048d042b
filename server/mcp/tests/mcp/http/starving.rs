//! What one holder of a token takes, the others still have.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::http::client::{Client, Http, initialize};
use crate::http::hardship::head;

/// A client of somebody else than the one that others are.
fn greedy(http: &Http) -> Client {
    Client { token: Some(http.token_of("greedy", &["write:/"])), ..http.before_handshake(&[]) }
}

/// Begins a request whose body does not come.
async fn stuck(client: &Client, length: usize, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    let head = head(client, &format!("content-length: {length}"));
    stream.write_all(head.as_bytes()).await.unwrap();
    // It may be refused before all is sent.
    let _ = stream.write_all(&vec![b' '; sent]).await;
    stream
}

// The clock stands still but for what is waited for: whoever had to wait for the slow ones would be answered when they are given up.
#[tokio::test(start_paused = true)]
async fn slow_bodies_of_one_keep_nobody_else_waiting() {
    let http = Http::start().await;
    http.place.write("a.txt", "one\n");
    let (greedy, other) = (greedy(&http), http.modern(&["write:/"]));
    let began = tokio::time::Instant::now();
    let mut slow = Vec::new();
    for _ in 0..300 {
        slow.push(stuck(&greedy, 100, 1).await);
    }
    let read = other.tool("read_text_file", json!({ "path": "a.txt" })).await;
    assert!(read.text.contains("one"), "{}", read.text);
    let refused = greedy.post(&initialize()).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.body.contains("Wait for an answer"), "{}", refused.body);
    assert!(began.elapsed().as_secs() < 1, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn slow_large_bodies_of_one_leave_room_for_those_of_others() {
    let http = Http::start().await;
    let (greedy, other) = (greedy(&http), http.modern(&["write:/"]));
    let began = tokio::time::Instant::now();
    let mut slow = Vec::new();
    for _ in 0..8 {
        slow.push(stuck(&greedy, 16 << 20, 1 << 10).await);
    }
    let content = "0123456789abcde\n".repeat(64 << 10);
    let done = other.tool("write_file", json!({ "path": "a.txt", "content": content })).await;
    assert!(!done.failed, "{}", done.text);
    assert!(began.elapsed().as_secs() < 1, "{:?}", began.elapsed());
}

#[tokio::test]
async fn sessions_that_one_begins_end_none_of_another() {
    let http = Http::start().await;
    let (greedy, other) = (greedy(&http), http.legacy(&["read:/"]).await);
    for _ in 0..1_005 {
        assert_eq!(greedy.post(&initialize()).await.status, 200);
    }
    let answer = other.call("list_documents", json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn a_token_that_gives_less_does_not_end_a_session() {
    let http = Http::start().await;
    let writes = http.legacy(&["write:/"]).await;
    let reads = Client { token: Some(http.token(&["read:/"])), ..writes.clone() };
    let refused = reads.send("DELETE", "/mcp", &reads.headers(), "").await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body.contains("a token that gives more"), "{}", refused.body);
    // It works in it, as before.
    assert_eq!(reads.call("list_documents", json!({})).await.status, 200);
    assert_eq!(writes.send("DELETE", "/mcp", &writes.headers(), "").await.status, 204);
}

#[tokio::test]
async fn a_body_of_millions_of_values_is_refused() {
    let http = Http::start().await;
    let client = http.modern(&["write:/"]);
    let arguments = json!({ "path": "a.txt", "content": vec![json!([]); 1 << 20] });
    let answer = client.call("write_file", arguments).await;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.body.contains("several calls"), "{}", answer.body);
}

/// The server has one thread for tasks: whatever keeps it keeps all.
#[test]
fn a_call_as_large_as_may_be_keeps_nobody_waiting() {
    let threads =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (server, clients) = (threads(), threads());
    let http = server.block_on(Http::start());
    http.place.write("a.txt", "one\n");
    // A diff of many changes, none of which is one of the file.
    let diff = format!("--- a/a.txt\n+++ b/a.txt\n{}", "@@ -1 +1 @@\n-none\n+two\n".repeat(400_000));
    let (greedy, other) = (http.modern(&["write:/"]), http.modern(&["read:/"]));
    let (longest, took, answered) = clients.block_on(async {
        let began = Instant::now();
        let large = tokio::spawn(async move {
            let answer = greedy.tool("edit_file_diff", json!({ "path": "a.txt", "diff": diff })).await;
            assert!(answer.failed, "{}", answer.text);
        });
        let (mut longest, mut answered) = (Duration::ZERO, 0);
        while !large.is_finished() {
            let asked = Instant::now();
            let read = other.tool("read_text_file", json!({ "path": "a.txt" })).await;
            assert!(read.text.contains("one"), "{}", read.text);
            longest = longest.max(asked.elapsed());
            answered += 1;
        }
        large.await.unwrap();
        (longest, began.elapsed(), answered)
    });
    eprintln!("it took {took:?}; {answered} others were answered, the slowest in {longest:?}");
    assert!(longest < took / 2, "one call took {took:?}, and another waited {longest:?} of that");
    drop(http);
}
