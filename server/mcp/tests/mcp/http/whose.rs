//! Whose an edit is, over HTTP: no names of a token and of an agent make one agent of two.

use std::time::Duration;

use serde_json::json;

use crate::http::client::{Client, Http};

/// An agent that has a token of this subject.
fn agent(http: &Http, subject: &str, name: &'static str) -> Client {
    let token = http.token_of(subject, &["write:/"]);
    Client { token: Some(token), agent: name, ..http.modern(&[]) }
}

/// An agent that has a token of no subject.
fn nameless(http: &Http) -> Client {
    let scopes = ["write:/".parse().unwrap()];
    let token = http.key.issue(None, &scopes, None, Duration::from_secs(60 * 60)).unwrap();
    Client { token: Some(token), ..http.modern(&[]) }
}

/// Makes a file as one agent; another one is to have no part in it.
async fn keeps_its_edit(http: &Http, maker: &Client, stranger: &Client) {
    let made = maker.tool("write_file", json!({ "path": "new.txt", "content": "mine\n" })).await;
    let taken = stranger.tool("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(taken.failed && taken.text.contains("No edit of this connection"), "{}", taken.text);
    assert!(http.place.root.join("new.txt").exists());
    let listed = stranger.tool("list_edits", json!({})).await.text;
    assert!(listed.contains(" by "), "{listed}");
    let back = maker.tool("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(!back.failed, "{}", back.text);
    assert!(!http.place.root.join("new.txt").exists());
}

#[tokio::test]
async fn names_that_join_to_one_text_are_two_agents() {
    let http = Http::start().await;
    let (one, other) = (agent(&http, "team alice", "bob"), agent(&http, "team", "alice bob"));
    keeps_its_edit(&http, &one, &other).await;
    keeps_its_edit(&http, &other, &one).await;
}

#[tokio::test]
async fn tokens_without_a_subject_are_not_each_other() {
    let http = Http::start().await;
    let (one, other) = (nameless(&http), nameless(&http));
    keeps_its_edit(&http, &one, &other).await;
    // What a token is called is no other token's id, and an agent's name is no session.
    keeps_its_edit(&http, &one, &http.modern(&["write:/"])).await;
    keeps_its_edit(&http, &http.legacy(&["write:/"]).await, &http.modern(&["write:/"])).await;
}
