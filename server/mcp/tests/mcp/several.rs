//! Several editors over one folder: which of them a call goes to, and what the agent is told of it (rule W19).

use serde_json::json;

use crate::desk::Answer;
use crate::place::Place;
use crate::protocol::{Connection, call};

async fn read(agent: &Connection) -> Answer {
    call(agent, "read_text_file", json!({ "path": "a.txt" })).await
}

/// Replaces a line of what was read.
async fn replace(agent: &Connection, read: &Answer, line: &str, content: &str) -> Answer {
    let operations = json!([{ "op": "replace", "anchor": read.anchor(line), "content": content }]);
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
    call(agent, "edit_text_file", given).await
}

/// Returns when the clock by which editors are used has gone on: each counts milliseconds from its own start, so two may differ by two.
fn a_moment_later() {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let begun = now();
    while now() < begun + 4 {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn the_agent_is_told_which_editor_has_the_file_and_decides() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let (first, second) = (place.editor("nvim", &[&place.root]), place.editor("code", &[&place.root]));
    let agent = place.agent().await;
    assert!(!read(&agent).await.text.contains("Open in"), "it is open nowhere");
    first.open(&path, "one\n");
    let seen = read(&agent).await;
    assert!(seen.text.contains("] Open in nvim.\n"), "{}", seen.text);
    let found = call(&agent, "search_text", json!({ "pattern": "one" })).await;
    assert!(found.text.contains("] Open in nvim.\n"), "{}", found.text);
    let held = replace(&agent, &seen, "one", "1").await;
    assert!(held.text.contains("Held for the person to accept in nvim: your reads show it"), "{}", held.text);

    let other = place.write("b.txt", "two\n");
    second.open(&other, "two\n");
    let removed = call(&agent, "delete_file", json!({ "path": "b.txt" })).await;
    let words = "Held for the person to accept in code: to remove the file.";
    assert!(removed.text.contains(words), "{}", removed.text);
}

#[tokio::test]
async fn the_one_used_last_answers() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let (first, second) = (place.editor("nvim", &[&place.root]), place.editor("code", &[&place.root]));
    let agent = place.agent().await;
    first.open(&path, "one\n");
    a_moment_later();
    second.open(&path, "one\n");
    let seen = read(&agent).await;
    assert!(seen.text.contains("Open in code."), "{}", seen.text);
    a_moment_later();
    first.types(&path, 2, "typed\n");
    first.types(&path, 3, "one\n");
    assert!(read(&agent).await.text.contains("Open in nvim."));
}

#[tokio::test]
async fn of_two_editors_the_one_with_unsaved_text_answers_and_two_such_are_refused() {
    let place = Place::new();
    let path = place.write("a.txt", "saved\n");
    let (first, second) = (place.editor("nvim", &[&place.root]), place.editor("code", &[&place.root]));
    let agent = place.agent().await;
    let read = || call(&agent, "read_text_file", json!({ "path": "a.txt" }));
    first.open(&path, "unsaved\n");
    assert!(read().await.text.contains("|unsaved"));
    second.open(&path, "saved\n");
    assert!(read().await.text.contains("|unsaved"), "the only one with unsaved text");
    second.open(&path, "unsaved otherwise\n");
    let refused = read().await;
    assert!(
        refused.failed && refused.text.contains("nvim") && refused.text.contains("code"),
        "{}",
        refused.text
    );
    assert!(!refused.text.contains("|unsaved"));
}

#[tokio::test]
async fn an_editor_that_has_not_read_what_another_saved_is_not_taken_for_one_with_unsaved_text() {
    let place = Place::new();
    let path = place.write("a.txt", "old\n");
    let (first, second) = (place.editor("nvim", &[&place.root]), place.editor("code", &[&place.root]));
    let agent = place.agent().await;
    second.open(&path, "old\n");
    second.types(&path, 2, "new\n");
    a_moment_later();
    first.open(&path, "old\n");
    first.workspace.settle_record();
    place.write("a.txt", "new\n");
    second.workspace.did_save(&crate::desk::uri(&path));
    let seen = read(&agent).await;
    assert!(seen.text.contains("Open in code.") && seen.text.contains("|new"), "{}", seen.text);
    let listed = call(&agent, "list_documents", json!({})).await;
    assert!(listed.text.contains("older than its file"), "{}", listed.text);

    // It reads the file anew: it is the one used last.
    a_moment_later();
    first.types(&path, 2, "new\n");
    assert!(read(&agent).await.text.contains("Open in nvim."));

    // Work that was kept when an editor ended is unsaved, though the file has changed since.
    first.workspace.did_close(&crate::desk::uri(&path));
    first.open(&path, "old\nkept\n");
    first.workspace.settle_record();
    let seen = read(&agent).await;
    assert!(seen.text.contains("Open in nvim.") && seen.text.contains("|kept"), "{}", seen.text);
}
