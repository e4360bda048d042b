//! Which status an answer has, and what is said with it.

use std::time::Duration;

use hashline_workspace::disk::Roots;
use serde_json::{Value, json};

use crate::http::client::{Http, initialize};

#[tokio::test]
async fn without_a_good_token_there_is_401() {
    let http = Http::start().await;
    let elsewhere = Http::start().await;
    let mut client = http.before_handshake(&["write:/"]);
    let good = client.token.clone().unwrap();
    for (name, token, challenge) in [
        ("none", None, "Bearer"),
        ("rubbish", Some("a.b.c".to_owned()), "Bearer error=\"invalid_token\""),
        ("another secret's", Some(elsewhere.token(&["write:/"])), "Bearer error=\"invalid_token\""),
        ("cut", Some(good[..good.len() - 2].to_owned()), "Bearer error=\"invalid_token\""),
    ] {
        client.token = token;
        for method in ["POST", "GET", "DELETE"] {
            let answer = client.send(method, "/mcp", &client.headers(), initialize().to_string()).await;
            assert_eq!(answer.status, 401, "{name} {method}");
            assert!(answer.challenge().starts_with(challenge), "{name}: {}", answer.challenge());
            assert!(
                answer.message()["error"]["message"].as_str().unwrap().contains("hashline token"),
                "{name}"
            );
        }
    }
    client.token = None;
    for headers in [
        vec![("authorization", format!("Basic {good}"))],
        vec![("authorization", format!("Bearer {good}")), ("authorization", format!("Bearer {good}"))],
        vec![("authorization", good.clone())],
    ] {
        let headers: Vec<_> = client.headers().into_iter().chain(headers).collect();
        assert_eq!(client.send("POST", "/mcp", &headers, initialize().to_string()).await.status, 401);
    }
    let headers: Vec<_> =
        client.headers().into_iter().chain([("authorization", format!("bearer {good}"))]).collect();
    assert_eq!(client.send("POST", "/mcp", &headers, initialize().to_string()).await.status, 200);
}

#[tokio::test]
async fn a_token_may_last_longer_than_a_clock_can_tell() {
    let http = Http::start().await;
    let mut client = http.before_handshake(&[]);
    let scope = ["read:/".parse().unwrap()];
    client.token =
        Some(http.key.issue(Some("tester"), &scope, None, Duration::from_secs(u64::MAX / 2)).unwrap());
    assert_eq!(client.post(&initialize()).await.status, 200);
}

#[tokio::test]
async fn a_token_for_other_folders_is_401() {
    let http = Http::start().await;
    let mut client = http.before_handshake(&[]);
    for (folder, status) in [(http.place.root.as_path(), 200), (http.place.temp.path(), 401)] {
        let roots = Roots::open([folder]).unwrap();
        let token = http.key.issue(Some("tester"), &[], Some(&roots), Duration::from_secs(60));
        client.token = Some(token.unwrap());
        let answer = client.post(&initialize()).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(answer.body.contains("the token is for other folders"), status == 401, "{}", answer.body);
    }
}

#[tokio::test]
async fn what_is_no_message_is_400() {
    let http = Http::start().await;
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
    let deep = "[".repeat(100_000);
    for client in http.both(&["write:/"]).await {
        for (body, code, id) in [
            ("{\"jsonrpc\": ", -32_700, Value::Null),
            ("", -32_700, Value::Null),
            ("\u{feff}{}", -32_700, Value::Null),
            (deep.as_str(), -32_700, Value::Null),
            (&format!("[{ping},{ping}]"), -32_600, Value::Null),
            ("[]", -32_600, Value::Null),
            ("\"ping\"", -32_600, Value::Null),
            ("{\"id\": 7, \"method\": \"ping\"}", -32_600, json!(7)),
            ("{\"jsonrpc\": \"1.0\", \"id\": \"x\", \"method\": \"ping\"}", -32_600, json!("x")),
            ("{\"jsonrpc\": \"2.0\", \"id\": 7}", -32_600, json!(7)),
        ] {
            let shown: String = body.chars().take(60).collect();
            let answer = client.send("POST", "/mcp", &client.headers(), body.to_owned()).await;
            assert_eq!(answer.status, 400, "{shown}: {}", answer.body);
            let message = answer.message();
            assert_eq!(
                (&message["error"]["code"], &message["id"]),
                (&json!(code), &id),
                "{shown}: {message}"
            );
        }
    }
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_403_and_own_ones_are_not() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    let port = http.address.port();
    for (host, origin, status) in [
        (format!("LOCALHOST:{port}"), None, 200),
        ("localhost".to_owned(), None, 200),
        (format!("[::1].evil.example:{port}"), None, 403),
        (format!("localhost.evil.example:{port}"), None, 403),
        (format!("localhost:{port}@evil.example"), None, 403),
        (format!("evil.example@localhost:{port}"), None, 403),
        ("%6cocalhost".to_owned(), None, 403),
        (String::new(), None, 403),
        (format!("[::1]:{port}"), Some("http://[::1]:3000"), 200),
        (format!("localhost:{port}"), Some("HTTPS://LOCALHOST"), 200),
        (format!("localhost:{port}"), Some("http://[::1].evil.example"), 403),
        (format!("localhost:{port}"), Some("http://127.0.0.1.evil.example"), 403),
        (format!("localhost:{port}"), Some("http://localhost@evil.example"), 403),
        (format!("localhost:{port}"), Some("http://localhost/a"), 403),
        (format!("localhost:{port}"), Some("vscode-webview://localhost"), 403),
        (format!("localhost:{port}"), Some("file://"), 403),
        (format!("localhost:{port}"), Some(""), 403),
        (format!("127.0.0.1:{port}"), None, 200),
        (format!("localhost:{port}"), None, 200),
        (format!("[::1]:{port}"), None, 200),
        ("evil.example".to_owned(), None, 403),
        (format!("127.0.0.1.evil.example:{port}"), None, 403),
        (format!("localhost:{port}"), Some("http://localhost:3000"), 200),
        (format!("localhost:{port}"), Some("http://127.0.0.1"), 200),
        (format!("localhost:{port}"), Some("https://evil.example"), 403),
        (format!("localhost:{port}"), Some("http://localhost.evil.example"), 403),
        (format!("localhost:{port}"), Some("null"), 403),
    ] {
        let mut headers = client.headers();
        headers[0].1.clone_from(&host);
        headers.extend(origin.map(|origin| ("origin", origin.to_owned())));
        let answer = client.send("POST", "/mcp", &headers, initialize().to_string()).await;
        assert_eq!(answer.status, status, "{host} {origin:?}: {}", answer.body);
        assert_eq!(answer.body.contains("--host NAME"), status == 403, "{}", answer.body);
    }
}

#[tokio::test]
async fn a_request_is_for_one_host() {
    let http = Http::start().await;
    let client = http.before_handshake(&["write:/"]);
    let own = client.headers()[0].1.clone();
    for (target, hosts, origins, status) in [
        ("/mcp", vec![], vec![], 400),
        ("/mcp", vec![own.as_str(), "evil.example"], vec![], 400),
        ("http://evil.example/mcp", vec![own.as_str()], vec![], 403),
        ("http://[::1].evil.example/mcp", vec![own.as_str()], vec![], 403),
        ("http://localhost/mcp", vec![own.as_str()], vec![], 200),
        ("/mcp", vec![own.as_str()], vec!["http://localhost", "http://evil.example"], 403),
    ] {
        let mut headers = client.headers();
        headers.remove(0);
        headers.extend(hosts.iter().map(|host| ("host", (*host).to_owned())));
        headers.extend(origins.iter().map(|origin| ("origin", (*origin).to_owned())));
        let answer = client.send("POST", target, &headers, initialize().to_string()).await;
        assert_eq!(answer.status, status, "{target} {hosts:?} {origins:?}: {}", answer.body);
        assert_eq!(answer.body.contains("--host NAME"), status != 200, "{}", answer.body);
    }
}

#[tokio::test]
async fn a_page_from_elsewhere_is_refused_without_a_token_too() {
    let http = Http::start().await;
    let mut client = http.before_handshake(&[]);
    client.token = None;
    let foreign = ("origin", "http://[::1].evil.example".to_owned());
    let headers: Vec<_> = client.headers().into_iter().chain([foreign]).collect();
    for method in ["POST", "GET", "DELETE"] {
        let answer = client.send(method, "/mcp", &headers, initialize().to_string()).await;
        assert_eq!(answer.status, 403, "{method}: {}", answer.body);
    }
}

#[tokio::test]
async fn mcp_052_what_http_refuses_is_json_with_the_next_step() {
    let http = Http::start().await;
    let client = http.legacy(&["write:/"]).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string();
    for (method, name, value, status, id, word) in [
        ("POST", "accept", Some("text/html"), 406, json!(7), "Send the header Accept: application/json"),
        ("GET", "accept", Some("application/json"), 406, Value::Null, "Send the header Accept"),
        ("POST", "content-type", Some("text/plain"), 415, json!(7), "Content-Type: application/json"),
        ("POST", "mcp-session-id", None, 400, json!(7), "Begin with initialize"),
        ("GET", "mcp-session-id", None, 400, Value::Null, "Begin with initialize"),
        ("POST", "mcp-protocol-version", Some("1999-01-01"), 400, json!(7), "MCP-Protocol-Version"),
        ("PUT", "mcp-session-id", None, 405, Value::Null, "Send messages with POST"),
        ("POST", "mcp-session-id", Some("none"), 404, Value::Null, "Begin anew with initialize"),
    ] {
        let mut headers = client.headers();
        headers.retain(|(known, _)| *known != name);
        headers.extend(value.map(|value| (name, value.to_owned())));
        let answer = client.send(method, "/mcp", &headers, ping.clone()).await;
        assert_eq!(answer.status, status, "{method} {name}: {}", answer.body);
        let message = answer.message();
        assert_eq!(message["id"], id, "{method} {name}: {message}");
        assert!(message["error"]["message"].as_str().unwrap().contains(word), "{method} {name}: {message}");
        assert_eq!(answer.headers.contains_key("allow"), status == 405);
    }
}

#[tokio::test]
async fn health_and_unknown_things_need_no_token() {
    let http = Http::start().await;
    let mut client = http.before_handshake(&[]);
    client.token = None;
    let health = client.send("GET", "/health", &client.headers(), "").await;
    assert_eq!((health.status, health.message()), (200, json!({ "status": "ok" })));
    for path in ["/", "/sse", "/.well-known/oauth-protected-resource", "/mcp/x"] {
        assert_eq!(client.send("GET", path, &client.headers(), "").await.status, 404, "{path}");
    }
    let client = http.before_handshake(&["write:/"]);
    assert_eq!(client.send("PUT", "/mcp", &client.headers(), "").await.status, 405);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_named() {
    let http = Http::start().await;
    for client in http.both(&["write:/"]).await {
        for arguments in [json!([1]), json!("{\"path\": \"a.txt\"}")] {
            let message = client.call("read_text_file", arguments).await.message();
            assert_eq!(
                (&message["id"], &message["error"]["code"]),
                (&json!(1), &json!(-32_602)),
                "{message}"
            );
            let words = message["error"]["message"].as_str().unwrap();
            assert!(words.contains("arguments an object such as"), "{words}");
        }
        let unknown = client.ask("tools/none", json!({})).await.message();
        assert_eq!(unknown["error"]["code"], -32_601, "{unknown}");
    }
}

#[tokio::test]
async fn what_the_protocol_has_words_for_is_no_failure_of_http() {
    let http = Http::start().await;
    for client in http.both(&["write:/"]).await {
        let unknown = client.call("write_everything", json!({})).await;
        assert_eq!(unknown.status, 200, "{}", unknown.body);
        assert_eq!(unknown.message()["error"]["code"], -32_602);
        let missing = client.tool("read_text_file", json!({})).await;
        assert!(missing.failed && missing.text.contains("path"), "{}", missing.text);
    }
}
