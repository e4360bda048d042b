//! Edits that the sidecar sends, and clients that treat them in their own ways.

use std::time::{Duration, Instant};

use hashline_history::Decision;
use hashline_workspace::Workspace;
use hashline_workspace::agent::EditReply;
use hashline_workspace::document::HunkState;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::editor::{Editor, Manners, SILENCE, one_document};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

async fn with_edit(manners: Manners) -> (Editor, String) {
    let mut editor = Editor::start(manners).await;
    let uri = editor.open("a.txt", TEXT).await;
    editor.agent("a.txt", &[(2, "2"), (4, "4")]).await;
    (editor, uri)
}

async fn accept(editor: &mut Editor, uri: &str) {
    let command = json!({"command": "hashline.accept", "arguments": [{"uri": uri}]});
    assert_eq!(editor.command(&command).await["result"], Value::Null);
}

/// All is accepted, and the client makes the edit that it is sent, without an answer and without a word of what it is.
async fn accepted_and_made(editor: &mut Editor, uri: &str) -> Value {
    accept(editor, uri).await;
    let delivery = editor.delivery().await;
    assert!(editor.make(&delivery["params"]["edit"]).await);
    delivery
}

fn undecided(workspace: &Workspace) -> usize {
    let reviews = workspace.reviews();
    let hunks = reviews.iter().flat_map(|review| &review.review.edits).flat_map(|edit| &edit.hunks);
    hunks.filter(|hunk| hunk.decision == Decision::Undecided).count()
}

#[tokio::test]
async fn one_edit_for_one_version_with_all_hunks_in_it() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    let (edited, version, edits) = one_document(&delivery["params"]["edit"]);
    assert_eq!((edited, version, edits.len()), (uri.clone(), Some(1), 2));
    let label = delivery["params"]["label"].as_str().unwrap();
    assert!(label.starts_with("Accept ") && label.ends_with(":1 and 1 more"), "{label}");
    assert_eq!(undecided(&editor.workspace), 2, "until the text shows it, it is an intent");
    editor.carry_out(&delivery).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert_eq!(editor.text(&uri), "one\n2\nthree\n4\nfive\n");
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn the_label_says_what_an_edit_is() {
    let apply = json!({"mode": {"open": "apply"}});
    let mut editor = Editor::start(Manners::plugin().with("/initializationOptions", apply)).await;
    let uri = editor.open("a.txt", TEXT).await;
    let reply = editor.agent("a.txt", &[(2, "2")]).await;
    let delivery = editor.delivery().await;
    assert_eq!(delivery["params"]["label"], "Edits of claude-code");
    editor.carry_out(&delivery).await;
    let undo =
        json!({"command": "hashline.reject", "arguments": [{"uri": uri, "edit": reply.edit.to_string()}]});
    editor.command(&undo).await;
    let delivery = editor.delivery().await;
    assert_eq!(delivery["params"]["label"], format!("Undo {}:1", reply.edit.short()));
    editor.carry_out(&delivery).await;
    editor.until("the rejection", |workspace| undecided(workspace) == 0).await;
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.quit().await;
}

/// What an agent is told of an edit that goes in at once: whether the text shows it, and how long that took to say.
fn arrival(
    workspace: &Workspace,
    mut reply: EditReply,
    limit: Duration,
) -> JoinHandle<(Vec<HunkState>, bool, Duration)> {
    let (workspace, begun) = (workspace.clone(), Instant::now());
    tokio::spawn(async move {
        workspace.until_in_text(&mut reply, limit).await;
        (reply.states, reply.under_way, begun.elapsed())
    })
}

#[tokio::test]
async fn an_agent_is_told_when_the_text_shows_its_edit_and_nobody_waits_meanwhile() {
    let mut editor = Editor::start(Manners::applying()).await;
    let uri = editor.open("a.txt", TEXT).await;
    let first = editor.agent("a.txt", &[(2, "2")]).await;
    assert!(first.under_way && first.states == [HunkState::Held]);
    let long = Duration::from_secs(30);
    let first = arrival(&editor.workspace, first, long);
    let delivery = editor.delivery().await;
    // Others are served in the meantime.
    let second = arrival(&editor.workspace, editor.agent("a.txt", &[(4, "4")]).await, long);
    assert!(!first.is_finished());
    tokio::time::sleep(Duration::from_millis(100)).await;
    // That the editor answers is not enough: its text has to show it.
    editor.reply(&delivery, json!({"applied": true})).await;
    assert_eq!(editor.heard("workspace/applyEdit", SILENCE).await.len(), 0);
    assert!(!first.is_finished());
    assert!(editor.make(&delivery["params"]["edit"]).await);
    let (states, under_way, took) = first.await.unwrap();
    assert_eq!((states, under_way), (vec![HunkState::InText], false));
    assert!(took >= Duration::from_millis(100) && took < long, "{took:?}");
    assert!(!second.is_finished());
    editor.deliver().await;
    let (states, under_way, _) = second.await.unwrap();
    assert_eq!((states, under_way), (vec![HunkState::InText], false));
    assert_eq!(editor.text(&uri), "one\n2\nthree\n4\nfive\n");
    editor.quit().await;
}

#[tokio::test]
async fn an_agent_is_told_that_an_editor_has_not_taken_its_edit() {
    let mut editor = Editor::start(Manners::applying()).await;
    let uri = editor.open("a.txt", TEXT).await;
    let limit = Duration::from_millis(500);
    let waiting = arrival(&editor.workspace, editor.agent("a.txt", &[(2, "2")]).await, limit);
    let delivery = editor.delivery().await;
    editor.reply(&delivery, json!({"applied": false})).await;
    let (states, under_way, took) = waiting.await.unwrap();
    assert_eq!((states, under_way), (vec![HunkState::Held], true));
    assert!(took >= limit, "{took:?}");

    // Closed, it takes nothing any more: there is nothing to wait for.
    let waiting =
        arrival(&editor.workspace, editor.agent("a.txt", &[(4, "4")]).await, Duration::from_secs(30));
    editor.heard("workspace/applyEdit", SILENCE).await;
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
    let (states, under_way, took) = waiting.await.unwrap();
    assert_eq!((states, under_way), (vec![HunkState::Held], false));
    assert!(took < Duration::from_secs(20), "{took:?}");
    editor.heard("workspace/applyEdit", SILENCE).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_answers_first_and_applies_later() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    editor.reply(&delivery, json!({"applied": true})).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty(), "one in flight");
    assert!(editor.make(&delivery["params"]["edit"]).await);
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_refuses_while_the_person_types() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    for _ in 0..3 {
        let delivery = editor.delivery().await;
        editor.replace(&uri, "five", "five!").await;
        editor.reply(&delivery, json!({"applied": false, "failureReason": "typing"})).await;
    }
    let delivery = editor.delivery().await;
    let version = one_document(&delivery["params"]["edit"]).1;
    assert_eq!(version, Some(editor.texts[&uri].0), "always for the version that is there");
    editor.carry_out(&delivery).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert_eq!(editor.text(&uri), "one\n2\nthree\n4\nfive!!!\n");
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_refuses_with_an_error() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    let error = json!({"code": -32603, "message": "Edits on `a.txt' require version 0, you have 1"});
    editor.send(json!({"jsonrpc": "2.0", "id": delivery["id"], "error": error})).await;
    editor.deliver().await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_says_it_did_and_did_not() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    editor.reply(&delivery, json!({"applied": true})).await;
    // The answer is in when a later question is answered.
    editor.in_step(&uri).await;
    editor.replace(&uri, "five", "5").await;
    editor.in_step(&uri).await;
    assert_eq!(undecided(&editor.workspace), 2, "only the text is believed");
    editor.deliver().await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert_eq!(editor.text(&uri), "one\n2\nthree\n4\n5\n");
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_never_answers() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    let delivery = accepted_and_made(&mut editor, &uri).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    // It is answered after all, wrongly.
    editor.reply(&delivery, json!({"applied": false})).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.in_step(&uri).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_splits_the_edit_and_mixes_in_typing() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    let (_, _, edits) = one_document(&delivery["params"]["edit"]);
    let change = |edit: &Value| json!({"range": edit["range"], "text": edit["newText"]});
    editor.change(&uri, &[change(&edits[1])]).await;
    editor.replace(&uri, "five", "5").await;
    editor.change(&uri, &[change(&edits[0])]).await;
    editor.reply(&delivery, json!({"applied": true})).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert_eq!(editor.text(&uri), "one\n2\nthree\n4\n5\n");
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.in_step(&uri).await;
    editor.quit().await;
}

#[tokio::test]
async fn neovims_version_zero_is_sent_as_one() {
    let neovim = Manners::plain()
        .with("/clientInfo", json!({"name": "Neovim", "version": "0.11.4"}))
        .with("/capabilities/workspace", json!({"applyEdit": true, "workspaceEdit": {}}));
    let mut editor = Editor::start(neovim).await;
    let uri = editor.open_at("a.txt", 0, TEXT).await;
    editor.agent("a.txt", &[(2, "2")]).await;
    let action = editor.action(&uri, 1, "Accept").await;
    assert_eq!(one_document(&action["edit"]).1, Some(1));
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    let (_, version, edits) = one_document(&delivery["params"]["edit"]);
    assert_eq!(version, Some(1), "in documentChanges, though it does not declare them");
    let text = editor.applied(TEXT, &edits[0]);
    editor.texts.insert(uri.clone(), (3, text));
    editor.tell(&uri, 3, &[json!({"range": edits[0]["range"], "text": edits[0]["newText"]})]).await;
    editor.reply(&delivery, json!({"applied": true})).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_client_without_versions_gets_changes_when_it_is_quiet() {
    let manners = Manners::plain().with("/capabilities/workspace", json!({"applyEdit": true}));
    let (mut editor, uri) = with_edit(manners).await;
    let action = editor.action(&uri, 1, "Accept").await;
    assert!(action.get("edit").is_none(), "an edit without a version might meet another text");
    editor.replace(&uri, "five", "5").await;
    accept(&mut editor, &uri).await;
    // As long as the person types, nothing is sent.
    let begun = std::time::Instant::now();
    let mut typed = begun;
    while begun.elapsed() < Duration::from_millis(400) {
        typed = std::time::Instant::now();
        editor.replace(&uri, "5", "!5").await;
        editor.in_step(&uri).await;
    }
    let delivery = editor.delivery().await;
    assert!(typed.elapsed() >= Duration::from_millis(290), "{:?}", typed.elapsed());
    assert!(delivery["params"]["edit"].get("documentChanges").is_none());
    editor.carry_out(&delivery).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    let typed = editor.text(&uri).strip_prefix("one\n2\nthree\n4\n").unwrap();
    assert_eq!(typed.trim_start_matches('!'), "5\n");
    editor.quit().await;
}

#[tokio::test]
async fn closing_ends_the_delivery_and_the_edit_waits() {
    let (mut editor, uri) = with_edit(Manners::plain()).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
    editor.reply(&delivery, json!({"applied": false})).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.open("a.txt", TEXT).await;
    editor.in_step(&uri).await;
    assert_eq!(undecided(&editor.workspace), 2);
    let action = editor.action(&uri, 0, "Accept all").await;
    assert!(editor.choose(&action).await);
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    editor.quit().await;
}

#[tokio::test]
async fn undo_and_redo_of_a_delivery_are_followed() {
    let (mut editor, uri) = with_edit(Manners::plugin()).await;
    accept(&mut editor, &uri).await;
    editor.deliver().await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    let accepted = editor.text(&uri).to_owned();
    editor.cause(&uri, "undo", None).await;
    editor.change(&uri, &[json!({"text": TEXT})]).await;
    editor.until("the edit again", |workspace| undecided(workspace) == 2).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty(), "and not delivered by itself");
    editor.cause(&uri, "redo", None).await;
    editor.change(&uri, &[json!({"text": accepted})]).await;
    editor.until("the acceptance again", |workspace| undecided(workspace) == 0).await;
    let lists = editor.heard("hashline/pendingEdits", SILENCE).await;
    let left: Vec<usize> =
        lists.iter().map(|list| list["params"]["edits"].as_array().unwrap().len()).collect();
    assert_eq!(left.last(), Some(&0), "{left:?}");
    editor.quit().await;
}

#[tokio::test]
async fn what_a_plugin_does_not_call_an_undo_is_none() {
    let (mut editor, uri) = with_edit(Manners::plugin()).await;
    accept(&mut editor, &uri).await;
    editor.deliver().await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    // The person puts the old lines back by hand: both edits stay accepted, and are changed by the person.
    editor.change(&uri, &[json!({"text": TEXT})]).await;
    editor.in_step(&uri).await;
    editor.heard("hashline/pendingEdits", SILENCE).await;
    assert_eq!(undecided(&editor.workspace), 0);
    editor.quit().await;
}

#[tokio::test]
async fn a_cause_that_comes_after_its_change_counts_for_that_change_alone() {
    let (mut editor, uri) = with_edit(Manners::plugin()).await;
    accept(&mut editor, &uri).await;
    editor.deliver().await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    editor.change(&uri, &[json!({"text": TEXT})]).await;
    let version = editor.texts[&uri].0;
    let late = json!({"uri": uri, "version": version, "cause": "undo", "delivery": null});
    editor.notify("hashline/cause", late.clone()).await;
    editor.until("the edit again", |workspace| undecided(workspace) == 2).await;
    // Said once more after another change, it says nothing of that.
    editor.replace(&uri, "one", "1").await;
    editor.notify("hashline/cause", late).await;
    editor.in_step(&uri).await;
    assert_eq!(undecided(&editor.workspace), 2);
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_delivery_that_is_told_of_by_its_answer_alone_is_made_once() {
    let (mut editor, uri) = with_edit(Manners::plugin()).await;
    let delivery = accepted_and_made(&mut editor, &uri).await;
    editor.reply(&delivery, json!({"applied": true})).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.quit().await;
}

#[tokio::test]
async fn an_edit_that_is_not_answered_is_not_sent_again() {
    let manners = Manners::plain().with("/capabilities/workspace/workspaceEdit", json!({}));
    let (mut editor, uri) = with_edit(manners).await;
    accept(&mut editor, &uri).await;
    let delivery = editor.delivery().await;
    // A busy client without versions does what it was sent when it comes to it: all of it.
    assert!(editor.heard("workspace/applyEdit", Duration::from_millis(2600)).await.is_empty());
    editor.carry_out(&delivery).await;
    editor.until("the acceptance", |workspace| undecided(workspace) == 0).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
    editor.quit().await;
}
