//! Clients that are slow, large, rude or many leave the server serving.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http::client::{Client, Http, initialize};

/// The head of a request whose body has this length.
pub fn head(client: &Client, length: &str) -> String {
    let mut head = String::from("POST /mcp HTTP/1.1\r\n");
    for (name, value) in client.headers() {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + length + "\r\n\r\n"
}

/// What comes back until the server closes.
async fn rest(mut stream: TcpStream) -> String {
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard).await;
    String::from_utf8_lossy(&heard).into_owned()
}

async fn still_serves(client: &Client) {
    assert_eq!(client.post(&initialize()).await.status, 200);
}

// The clock stands still but for what is waited for: a limit is reached as soon as nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_body_or_a_head_that_does_not_come_is_not_waited_for_for_ever() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    let mut stream = TcpStream::connect(http.address).await.unwrap();
    stream.write_all(head(&client, "content-length: 100").as_bytes()).await.unwrap();
    stream.write_all(b"{\"json").await.unwrap();
    let heard = rest(stream).await;
    assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");

    let mut stream = TcpStream::connect(http.address).await.unwrap();
    stream.write_all(b"POST /mcp HT").await.unwrap();
    let heard = rest(stream).await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 408 "), "{heard}");
    still_serves(&client).await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    // Said beforehand: nothing of it has to be sent.
    let mut stream = TcpStream::connect(http.address).await.unwrap();
    stream.write_all(head(&client, "content-length: 99999999999").as_bytes()).await.unwrap();
    let heard = rest(stream).await;
    assert!(heard.starts_with("HTTP/1.1 413 "), "{heard}");

    // Not said: as soon as it is.
    let mut stream = TcpStream::connect(http.address).await.unwrap();
    stream.write_all(head(&client, "transfer-encoding: chunked").as_bytes()).await.unwrap();
    let chunk = [&b"100000\r\n"[..], &vec![b' '; 1 << 20], b"\r\n"].concat();
    let (mut reads, mut writes) = stream.into_split();
    let sending = tokio::spawn(async move { while writes.write_all(&chunk).await.is_ok() {} });
    let mut status = [0; 12];
    reads.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    drop(reads);
    sending.abort();
    still_serves(&client).await;
}

/// Reads what comes back on a stream of its own.
async fn answer(stream: TcpStream) -> (String, tokio::time::Instant) {
    let heard = rest(stream).await;
    (heard, tokio::time::Instant::now())
}

// The clock stands still but for what is waited for, as above.
#[tokio::test(start_paused = true)]
async fn large_bodies_wait_for_each_other_and_small_ones_for_none() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    let large = 16 << 20;
    let mut slow = Vec::new();
    for number in 0..4 {
        let mut stream = TcpStream::connect(http.address).await.unwrap();
        // One by itself keeps no room from others.
        let token = http.token_of(&format!("slow {number}"), &["write:/"]);
        let client = Client { token: Some(token), ..client.clone() };
        stream.write_all(head(&client, &format!("content-length: {large}")).as_bytes()).await.unwrap();
        slow.push(tokio::spawn(answer(stream)));
    }
    // All four are waited for: whoever is answered now came after them.
    still_serves(&client).await;
    let mut next = TcpStream::connect(http.address).await.unwrap();
    let whole = initialize().to_string();
    let body = whole.clone() + &" ".repeat(large - whole.len());
    let head = head(&client, &format!("content-length: {large}\r\nconnection: close"));
    let next = tokio::spawn(async move {
        next.write_all((head + &body).as_bytes()).await.unwrap();
        answer(next).await
    });
    still_serves(&client).await;
    let (heard, after) = next.await.unwrap();
    assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
    for slow in slow {
        let (heard, given_up) = slow.await.unwrap();
        assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
        assert!(after >= given_up, "there was room for more than four");
    }
}

/// A body in one chunk, without a word of its size.
fn in_chunks(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

#[tokio::test]
async fn who_listens_takes_no_room_from_others() {
    let http = Http::start().await;
    http.place.write("a.txt", "one\n");
    let client = http.modern(&["read:/"]);
    let asked = |method: &str, params: serde_json::Value| {
        let (message, named) = client.message(method, params);
        let named: String = named.iter().map(|(name, value)| format!("\r\n{name}: {value}")).collect();
        head(&client, &format!("transfer-encoding: chunked\r\nconnection: close{named}"))
            + &in_chunks(&message.to_string())
    };
    let listens = json!({ "notifications": { "resourceSubscriptions": ["file://a.txt"] } });
    let mut listening = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(http.address).await.unwrap();
        let request = asked("subscriptions/listen", listens.clone());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        listening.push(stream);
    }
    // A chunked call larger than what is taken at any time.
    let content = "0123456789abcde\n".repeat(8 << 10);
    let call = json!({ "name": "search_text", "arguments": { "pattern": content } });
    let request = asked("tools/call", call);
    let mut stream = TcpStream::connect(http.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let heard = tokio::time::timeout(Duration::from_secs(20), rest(stream)).await.expect("an answer");
    assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
}

#[tokio::test]
async fn a_large_file_fits_into_one_call() {
    let http = Http::start().await;
    let client = http.modern(&["write:/"]);
    let content = "0123456789abcde\n".repeat(8 << 16);
    let done = client.tool("write_file", json!({ "path": "a.txt", "content": content })).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(std::fs::read_to_string(http.place.root.join("a.txt")).unwrap(), content);
}

#[tokio::test]
async fn connections_that_are_cut_leave_it_serving() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    let whole = initialize().to_string();
    for cut in [0, 1, whole.len() / 2, whole.len()] {
        let mut stream = TcpStream::connect(http.address).await.unwrap();
        let head = head(&client, &format!("content-length: {}", whole.len()));
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&whole.as_bytes()[..cut]).await.unwrap();
        // A reset, and no orderly end.
        stream.set_zero_linger().unwrap();
    }
    for rubbish in [&b"\x16\x03\x01\x00"[..], b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = TcpStream::connect(http.address).await.unwrap();
        stream.write_all(rubbish).await.unwrap();
        stream.shutdown().await.unwrap();
        rest(stream).await;
    }
    still_serves(&client).await;
}
