//! What clients with sessions are told of over their streams: by whose token, and for how long.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::client::{Client, Http};
use crate::http::ending::Slow;

async fn subscribe(client: &Client, uri: &str) {
    let answer = client.ask("resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.message()["error"].is_null(), "{}", answer.body);
}

fn uri_of(notice: &Value) -> &str {
    notice["params"]["uri"].as_str().unwrap_or_else(|| panic!("{notice}"))
}

#[tokio::test]
async fn each_subscription_is_judged_by_the_token_that_it_came_with() {
    let http = Http::start().await;
    for name in ["docs/a.txt", "private/a.txt"] {
        http.place.write(name, "one\n");
    }
    let mut client = http.legacy(&["read:/"]).await;
    let mut notices = client.notices().await;
    client.token = Some(http.token(&["read:/docs"]));
    subscribe(&client, "file://docs/a.txt").await;
    client.token = Some(http.token(&["read:/private"]));
    subscribe(&client, "file://private/a.txt").await;
    for text in ["two\n", "three\n"] {
        for folder in ["private", "docs"] {
            http.place.write(&format!("{folder}/a.txt"), text);
            assert_eq!(uri_of(&notices.next().await), format!("file://{folder}/a.txt"));
        }
    }
}

#[tokio::test]
async fn a_stream_tells_of_what_its_own_token_gives() {
    let http = Http::start().await;
    for name in ["docs/a.txt", "private/a.txt"] {
        http.place.write(name, "one\n");
    }
    let mut client = http.legacy(&["write:/"]).await;
    for folder in ["private", "docs"] {
        subscribe(&client, &format!("file://{folder}/a.txt")).await;
    }
    client.token = Some(http.token(&["read:/docs"]));
    for text in ["two\n", "three\n"] {
        let mut notices = client.notices().await;
        // Told in this order, where both are told.
        http.place.write("private/a.txt", text);
        http.place.write("docs/a.txt", text);
        assert_eq!(uri_of(&notices.next().await), "file://docs/a.txt");
    }
}

#[tokio::test]
async fn a_subscription_ends_with_its_token() {
    let http = Http::start().await;
    for name in ["docs/a.txt", "private/a.txt"] {
        http.place.write(name, "one\n");
    }
    let mut client = http.legacy(&["read:/"]).await;
    let lasting = client.token.clone();
    let short =
        http.key.issue(Some("tester"), &["read:/private".parse().unwrap()], None, Duration::from_secs(60));
    client.token = Some(short.unwrap());
    subscribe(&client, "file://private/a.txt").await;
    client.token = lasting;
    subscribe(&client, "file://docs/a.txt").await;
    let mut notices = client.notices().await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2 * 60)).await;
    tokio::time::resume();
    // Told in this order, where both are told.
    for text in ["two\n", "three\n"] {
        http.place.write("private/a.txt", text);
        http.place.write("docs/a.txt", text);
        assert_eq!(uri_of(&notices.next().await), "file://docs/a.txt");
    }
}

#[tokio::test]
async fn the_token_of_the_last_request_tells_what_the_list_holds() {
    let http = Http::start().await;
    http.place.write("docs/a.txt", "one\n");
    let private = http.place.write("private/a.txt", "one\n");
    let editor = http.place.editor("nvim", &[&http.place.root]);
    let mut client = http.legacy(&["read:/"]).await;
    let mut notices = client.notices().await;
    client.ask("resources/list", json!({})).await;
    editor.open(&private, "one\n");
    assert_eq!(notices.next().await["method"], "notifications/resources/list_changed");
    client.token = Some(http.token(&["read:/docs"]));
    client.ask("resources/list", json!({})).await;
    subscribe(&client, "file://docs/a.txt").await;
    // The list that this token gives stays as it is.
    editor.workspace.did_close(&crate::desk::uri(&private));
    http.place.write("docs/a.txt", "two\n");
    assert_eq!(uri_of(&notices.next().await), "file://docs/a.txt");
    editor.sidecar.quit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_are_subscribed_the_editor_is_asked_once() {
    let http = Http::start().await;
    let path = http.place.write("a.txt", "one\n");
    let editor = http.place.editor("nvim", &[&http.place.root]);
    editor.open(&path, "one\n");
    let mut asked = editor.watches.subscribe();
    let most = tokio::spawn(async move {
        let mut most = 0;
        while asked.changed().await.is_ok() {
            most = most.max(*asked.borrow_and_update());
        }
        most
    });
    let mut streams = Vec::new();
    for _ in 0..8 {
        let client = http.legacy(&["read:/"]).await;
        streams.push(client.notices().await);
        subscribe(&client, "file://a.txt").await;
    }
    for version in 2..4 {
        editor.watched(1).await;
        editor.types(&path, version, &format!("{version}\n"));
        for notices in &mut streams {
            assert_eq!(uri_of(&notices.next().await), "file://a.txt");
        }
    }
    drop(streams);
    let crate::place::Editor { sidecar, watches, .. } = editor;
    sidecar.quit().await;
    drop((http, watches));
    assert_eq!(most.await.unwrap(), 1);
}

#[tokio::test]
async fn a_session_that_nobody_is_in_ends_with_all_that_it_watches() {
    let http = Http::start().await;
    let [left, kept] = ["left.txt", "kept.txt"].map(|name| http.place.write(name, "one\n"));
    let editor = http.place.editor("nvim", &[&http.place.root]);
    editor.open(&left, "one\n");
    editor.open(&kept, "one\n");
    let listener = http.legacy(&["read:/"]).await;
    let mut notices = listener.notices().await;
    subscribe(&listener, "file://kept.txt").await;
    let leaver = http.legacy(&["read:/", "read:/left.txt"]).await;
    drop(leaver.notices().await);
    subscribe(&leaver, "file://left.txt").await;
    editor.watched(2).await;
    // Notices that nobody hears are no sign of life.
    editor.types(&left, 2, "two\n");

    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(20 * 60)).await;
    tokio::time::resume();
    editor.watched(1).await;
    assert_eq!(leaver.ask("tools/list", json!({})).await.status, 404);
    let mut renewed = listener.clone();
    renewed.token = Some(http.token(&["read:/"]));
    assert_eq!(renewed.ask("tools/list", json!({})).await.status, 200);
    editor.types(&kept, 2, "two\n");
    assert_eq!(uri_of(&notices.next().await), "file://kept.txt");
    editor.sidecar.quit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_missed_is_said_again_only_to_who_has_the_same_token() {
    let http = Http::start().await;
    let slow = Arc::new(Slow::default());
    let _editor = http.place.start("nvim", &[&http.place.root], slow.clone());
    for (scopes, same) in [(["write:/"], true), (["write:/docs"], false)] {
        let mut client = http.legacy(&["write:/"]).await;
        let written = json!({ "path": "private/a.txt", "content": "" });
        let mut answer = client.begin("write_file", written).await;
        let event = answer.id().await;
        slow.begun.notified().await;
        drop(answer);
        client.token = Some(http.token(&scopes));
        let mut stream = client.notices_after(&event).await;
        slow.may_finish.notify_one();
        if same {
            assert!(stream.next().await.to_string().contains("it was made"));
        } else {
            assert_eq!(stream.id().await, "0", "it is a stream of its own");
        }
    }
}
