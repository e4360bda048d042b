//! The same tools in the protocol with sessions and in the one without.

use serde_json::json;

use crate::http::client::{Http, initialize};

#[tokio::test]
async fn mcp_002_answers_come_over_http_as_events() {
    let http = Http::start().await;
    for client in http.both(&["write:/"]).await {
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(listed.headers["content-type"], "text/event-stream");
        assert!(listed.body.contains("data: {"), "{}", listed.body);
    }
}

#[tokio::test]
async fn mcp_001_tools_and_resources_are_served_over_http() {
    let http = Http::start().await;
    http.place.write("a.txt", "a\nb\n");
    for client in http.both(&["write:/"]).await {
        let listed = client.ask("tools/list", json!({})).await;
        let tools = listed.message()["result"]["tools"].as_array().unwrap().len();
        assert_eq!(tools, hashline_mcp::ToolName::ALL.len());
        for (uri, text) in [
            ("file://a.txt", "a\nb\n"),
            ("review://a.txt", "{\"total\":"),
            ("list://", "{\"name\":\"a.txt\",\"type\":\"file\"}"),
        ] {
            let read = client.ask("resources/read", json!({ "uri": uri })).await.message();
            let contents = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
            assert!(contents.contains(text), "{uri}: {read}");
        }

        let read = client.tool("read_text_file", json!({ "path": "a.txt" })).await;
        let operations = json!([{ "op": "insert_after", "anchor": read.anchor("a"), "content": "new" }]);
        let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
        let done = client.tool("edit_text_file", given).await;
        assert!(!done.failed, "{}", done.text);
        // Its own edits are known again, in the protocol without sessions too.
        let undone = client.tool("withdraw_edit", json!({ "edit_id": done.edit_id() })).await;
        assert!(!undone.failed, "{}", undone.text);
        assert_eq!(std::fs::read(http.place.root.join("a.txt")).unwrap(), b"a\nb\n");
    }
}

/// Gemini CLI 0.61 takes each event for a message.
#[tokio::test]
async fn no_event_is_empty_for_who_does_not_know_such_events() {
    let http = Http::start().await;
    http.place.write("a.txt", "one\n");
    for (version, is_primed) in [
        (Some("2024-11-05"), false),
        (Some("2025-03-26"), false),
        (Some("2025-06-18"), false),
        // One that does not say it with further requests.
        (None, false),
        (Some("2025-11-25"), true),
    ] {
        let mut client = http.before_handshake(&["write:/"]);
        client.version = version;
        let mut handshake = initialize();
        handshake["params"]["protocolVersion"] = json!(version.unwrap_or("2025-06-18"));
        // Sent before anything was agreed.
        let mut headers = client.headers();
        headers.retain(|(name, _)| *name != "mcp-protocol-version");
        let begun = client.send("POST", "/mcp", &headers, handshake.to_string()).await;
        assert_eq!(begun.message()["result"]["protocolVersion"], handshake["params"]["protocolVersion"]);
        assert_eq!(begun.has_empty_event(), is_primed, "{version:?}: {}", begun.body);
        client.session = Some(begun.headers["mcp-session-id"].to_str().unwrap().to_owned());
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;

        let listed = client.ask("tools/list", json!({})).await;
        assert!(listed.message()["result"]["tools"].is_array(), "{}", listed.body);
        assert_eq!(listed.has_empty_event(), is_primed, "{version:?}: {}", listed.body);

        client.ask("resources/subscribe", json!({ "uri": "file://a.txt" })).await;
        let mut notices = client.notices().await;
        http.place.write("a.txt", &format!("{version:?}\n"));
        let first = notices.data().await;
        assert_eq!(first.is_empty(), is_primed, "{version:?}: {first}");
        let told = if is_primed { notices.next().await } else { serde_json::from_str(&first).unwrap() };
        assert_eq!(told["params"]["uri"], "file://a.txt", "{told}");
    }
}

#[tokio::test]
async fn mcp_005_a_session_has_a_uuid_and_one_that_is_unknown_is_404() {
    let http = Http::start().await;
    let mut client = http.legacy(&["read:/"]).await;
    let id = uuid::Uuid::parse_str(client.session.as_deref().unwrap()).unwrap();
    assert_eq!(id.get_version_num(), 4);
    let other = http.legacy(&["read:/"]).await;
    assert_ne!(other.session, client.session);
    assert_eq!(client.ask("tools/list", json!({})).await.status, 200);

    // One that is ended is unknown from then on.
    let ended = client.send("DELETE", "/mcp", &client.headers(), "").await;
    assert_eq!(ended.status, 204);
    let never = uuid::Uuid::new_v4().to_string();
    for unknown in [client.session.clone().unwrap(), never, "not a session".to_owned()] {
        client.session = Some(unknown);
        assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
        for method in ["GET", "DELETE"] {
            let answer = client.send(method, "/mcp", &client.headers(), "").await;
            assert_eq!(answer.status, 404, "{method}");
        }
    }
    assert_eq!(other.ask("tools/list", json!({})).await.status, 200);

    // Without sessions there is none to be unknown.
    let mut modern = http.modern(&["read:/"]);
    modern.session = Some(uuid::Uuid::new_v4().to_string());
    assert_eq!(modern.ask("tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_session_takes_each_request_by_its_own_token() {
    let http = Http::start().await;
    http.place.write("a.txt", "a\n");
    let mut client = http.legacy(&["write:/"]).await;
    let written = json!({ "path": "b.txt", "content": "b\n" });
    assert_eq!(client.call("write_file", written.clone()).await.status, 200);
    client.token = Some(http.token(&["read:/"]));
    assert_eq!(client.call("write_file", written).await.status, 403);
    assert_eq!(client.call("read_text_file", json!({ "path": "a.txt" })).await.status, 200);
    client.token = None;
    assert_eq!(client.call("read_text_file", json!({ "path": "a.txt" })).await.status, 401);
    assert_eq!(client.post(&initialize()).await.status, 401);
}

#[tokio::test]
async fn a_session_is_there_for_whoever_began_it_alone() {
    let http = Http::start().await;
    http.place.write("a.txt", "a\n");
    let mut client = http.legacy(&["read:/"]).await;
    let own = client.token.replace(http.token_of("somebody else", &["write:/"]));
    // In the same words as of one that there is not.
    let mut unknown = client.clone();
    unknown.session = Some(uuid::Uuid::new_v4().to_string());
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string();
    for method in ["POST", "GET", "DELETE"] {
        let answer = client.send(method, "/mcp", &client.headers(), ping.clone()).await;
        assert_eq!(answer.status, 404, "{method}");
        let none = unknown.send(method, "/mcp", &unknown.headers(), ping.clone()).await;
        assert_eq!((none.status, &none.body), (404, &answer.body), "{method}");
    }
    client.token = own;
    assert_eq!(client.call("read_text_file", json!({ "path": "a.txt" })).await.status, 200);
}

/// Every round they all have read the same text, and want the same line of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_clients_one_wins_for_each_text() {
    let http = Http::start().await;
    http.place.write("a.txt", "0\n");
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.extend(http.both(&["write:/"]).await);
    }
    for round in 0..4 {
        let read = clients[0].tool("read_text_file", json!({ "path": "a.txt" })).await;
        let operations = |client: usize| {
            let content = format!("{round} {client}");
            json!([{ "op": "replace", "anchor": read.tagged()[0].split('|').next(), "content": content }])
        };
        let edits = clients.iter().enumerate().map(|(at, client)| {
            let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations(at) });
            async move { (at, client.tool("edit_text_file", given).await) }
        });
        let replies = futures::future::join_all(edits).await;
        let won: Vec<_> = replies.iter().filter(|(_, reply)| !reply.failed).map(|(at, _)| *at).collect();
        assert_eq!(won.len(), 1, "{replies:?}");
        let text = std::fs::read_to_string(http.place.root.join("a.txt")).unwrap();
        assert_eq!(text, format!("{round} {}\n", won[0]));
    }
}
