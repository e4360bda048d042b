//! Files that the editor renames and removes, as the sidecar asks it.

use hashline_history::Status;
use hashline_workspace::Caller;
use hashline_workspace::agent::{FileAction, FileReply, FileRequest, ReviewScope};
use serde_json::{Value, json};

use crate::editor::{Editor, Manners, SILENCE};

const TEXT: &str = "one\ntwo\n";

fn declaring(manners: Manners) -> Manners {
    let edits = json!({"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]});
    manners.with("/capabilities/workspace/workspaceEdit", edits)
}

/// An editor with a file open, and an agent that wants something of it.
async fn with_edit(manners: Manners, change: FileAction) -> (Editor, String, FileReply) {
    let mut editor = Editor::start(manners).await;
    std::fs::write(editor.path("a.txt"), TEXT).unwrap();
    let uri = editor.open("a.txt", TEXT).await;
    editor.in_step(&uri).await;
    let caller = Caller::anywhere("claude-code", "1");
    let path = editor.path("a.txt").display().to_string();
    let request = FileRequest { path, change, conversation: None, tool: "a_tool".to_owned(), reason: None };
    let reply = editor.workspace.change_file(&caller, request).await.unwrap();
    (editor, uri, reply)
}

async fn moved(manners: Manners) -> (Editor, String, FileReply) {
    with_edit(manners, FileAction::Move("b.txt".to_owned())).await
}

async fn accept(editor: &mut Editor, reply: &FileReply) {
    let edit = json!({"edit": reply.edit.to_string()});
    editor.command(&json!({"command": "hashline.accept", "arguments": [edit]})).await;
}

/// Emacs' lsp-mode loses what comes in one piece with the answer that it waits for.
#[tokio::test]
async fn the_editor_is_asked_before_the_command_is_answered() {
    for _ in 0..20 {
        let (mut editor, _, reply) = with_edit(declaring(Manners::plain()), FileAction::Delete).await;
        let edit = json!({"edit": reply.edit.to_string()});
        let command = json!({"command": "hashline.accept", "arguments": [edit]});
        let asked = editor.ask("workspace/executeCommand", command).await;
        let is_first = |message: &Value| message["method"] == "workspace/applyEdit" || message["id"] == asked;
        let first = editor.wait_for(is_first, "the question or the answer").await;
        assert_eq!(first["method"], "workspace/applyEdit", "{first}");
        editor.answer_to(asked).await;
        editor.quit().await;
    }
}

async fn until(editor: &Editor, reply: &FileReply, wanted: Status) {
    let caller = Caller::anywhere("claude-code", "1");
    let scope = ReviewScope { edits: vec![reply.edit.to_string()], ..ReviewScope::default() };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while editor.workspace.edits(&caller, &scope).await.unwrap()[0].status != wanted {
        assert!(std::time::Instant::now() < deadline, "it does not become {wanted:?}");
        tokio::task::yield_now().await;
    }
}

async fn close(editor: &mut Editor, uri: &str) {
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
}

fn operation(delivery: &Value) -> &Value {
    &delivery["params"]["edit"]["documentChanges"][1]
}

#[tokio::test]
async fn a_removal_is_offered_everywhere_in_the_file_and_carried_out_by_the_editor() {
    let (mut editor, uri, reply) = with_edit(declaring(Manners::plain()), FileAction::Delete).await;
    for line in 0..2 {
        let action = editor.action(&uri, line, "Accept").await;
        assert_eq!(action["title"], "Accept (claude-code): remove the file");
        assert!(action.get("edit").is_none(), "a command alone");
    }
    let action = editor.action(&uri, 1, "Accept").await;
    editor.choose(&action).await;
    let delivery = editor.delivery().await;
    assert_eq!(delivery["params"]["label"], format!("Accept {}:1", reply.edit.short()));
    let guard = &delivery["params"]["edit"]["documentChanges"][0];
    assert_eq!(*guard, json!({"textDocument": {"uri": uri, "version": 1}, "edits": []}));
    assert_eq!(*operation(&delivery), json!({"kind": "delete", "uri": uri}));
    std::fs::remove_file(editor.path("a.txt")).unwrap();
    close(&mut editor, &uri).await;
    editor.reply(&delivery, json!({"applied": true})).await;
    until(&editor, &reply, Status::Accepted).await;
    let reject = json!({"command": "hashline.reject", "arguments": [{"edit": reply.edit.to_string()}]});
    editor.command(&reject).await;
    until(&editor, &reply, Status::Rejected).await;
    assert_eq!(std::fs::read_to_string(editor.path("a.txt")).unwrap(), TEXT);
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_answers_first_and_renames_later() {
    let (mut editor, uri, reply) = moved(declaring(Manners::plain())).await;
    accept(&mut editor, &reply).await;
    let delivery = editor.delivery().await;
    let new = editor.uri("b.txt");
    let resolved = url_of(&editor, "b.txt");
    assert_eq!(*operation(&delivery), json!({"kind": "rename", "oldUri": uri, "newUri": resolved}));
    editor.reply(&delivery, json!({"applied": true})).await;
    editor.in_step(&uri).await;
    std::fs::rename(editor.path("a.txt"), editor.path("b.txt")).unwrap();
    editor.open("b.txt", TEXT).await;
    close(&mut editor, &uri).await;
    until(&editor, &reply, Status::Accepted).await;
    let review = editor.workspace.text_of(&new).unwrap();
    assert_eq!(review.1.to_string(), TEXT);
    // Back, by the same way.
    let back = json!({"command": "hashline.reject", "arguments": [{"edit": reply.edit.to_string()}]});
    editor.command(&back).await;
    let delivery = editor.delivery().await;
    assert_eq!(operation(&delivery)["oldUri"], new);
    std::fs::rename(editor.path("b.txt"), editor.path("a.txt")).unwrap();
    close(&mut editor, &new).await;
    editor.open("a.txt", TEXT).await;
    editor.reply(&delivery, json!({"applied": true})).await;
    until(&editor, &reply, Status::Rejected).await;
    editor.quit().await;
}

fn url_of(editor: &Editor, name: &str) -> String {
    let folder = editor.folder.path().canonicalize().unwrap();
    crate::editor::uri_of(&folder.join(name))
}

#[tokio::test]
async fn a_client_that_says_it_renamed_and_did_not() {
    let (mut editor, _, reply) = moved(declaring(Manners::plain())).await;
    accept(&mut editor, &reply).await;
    let delivery = editor.delivery().await;
    editor.reply(&delivery, json!({"applied": true})).await;
    let told = editor.hear("window/showMessage").await;
    let words = told["params"]["message"].as_str().unwrap();
    assert!(words.contains("a.txt was not renamed to") && words.contains("disk does not show it"), "{words}");
    until(&editor, &reply, Status::Pending).await;
    assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty(), "it is not asked again by itself");
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_refuses_says_why() {
    let (mut editor, _, reply) = with_edit(declaring(Manners::plain()), FileAction::Delete).await;
    accept(&mut editor, &reply).await;
    let delivery = editor.delivery().await;
    let refusal = json!({"applied": false, "failureReason": "you are typing in it"});
    editor.reply(&delivery, refusal).await;
    let told = editor.hear("window/showMessage").await;
    assert!(told["params"]["message"].as_str().unwrap().contains("“you are typing in it”"), "{told}");
    until(&editor, &reply, Status::Pending).await;
    editor.quit().await;
}

#[tokio::test]
async fn what_is_not_saved_and_what_cannot_be_asked_for_is_refused_with_the_next_step() {
    for (manners, typed, says) in
        [(declaring(Manners::plain()), true, "Save it first"), (Manners::plain(), false, "Close it first")]
    {
        let (mut editor, uri, reply) = moved(manners).await;
        if typed {
            editor.replace(&uri, "one", "1").await;
        }
        accept(&mut editor, &reply).await;
        let told = editor.hear("window/showMessage").await;
        assert!(told["params"]["message"].as_str().unwrap().contains(says), "{told}");
        assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
        editor.quit().await;
    }
}

#[tokio::test]
async fn plugins_are_told_what_is_to_be_done_with_the_file_and_what_can_be_decided() {
    let (mut editor, uri, reply) = moved(declaring(Manners::plugin())).await;
    let list = editor
        .wait_for(
            |said| said["method"] == "hashline/pendingEdits" && said["params"]["edits"] != json!([]),
            "a list",
        )
        .await;
    let hunk = &list["params"]["edits"][0]["hunks"][0];
    let there = editor.folder.path().canonicalize().unwrap().join("b.txt");
    assert_eq!(hunk["file"], format!("rename the file to {}", there.display()));
    assert_eq!((&hunk["ways"], &hunk["lines"]), (&json!(["accept", "reject"]), &Value::Null));
    editor.replace(&uri, "one", "1").await;
    let accept = json!({"decision": "accept", "edit": reply.edit.to_string(), "hunk": 1});
    let refused = editor.request("hashline/decide", accept).await;
    assert_eq!(refused["result"]["refused"][0]["why"], "failed");
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.quit().await;
}
