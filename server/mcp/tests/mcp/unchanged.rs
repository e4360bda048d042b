//! What asks for what the text reads already: no edit, no hunk, and no reason to try again.

use hashline_workspace::document::{Choice, Target};
use serde_json::{Value, json};

use crate::desk::{Answer, Desk, shows};

const TEXT: &str = "one\ntwo\nthree\nfour\n";

/// A file that holds the text, in an editor or on the disk alone.
fn desk(open: bool) -> Desk {
    let mut desk = Desk::new();
    desk.write("a.txt", TEXT);
    if open {
        desk.open("a.txt", TEXT);
    }
    desk
}

fn replace(read: &Answer, line: &str, content: &str) -> Value {
    json!({ "op": "replace", "anchor": read.anchor(line), "content": content })
}

/// The answer says that there was nothing to do, where to go on from, and nothing is to be decided.
async fn is_nothing(desk: &Desk, read: &Answer, answer: &Answer) {
    assert!(!answer.failed, "{}", answer.text);
    assert!(answer.text.contains("· unchanged ·"), "{}", answer.text);
    assert!(answer.text.contains("The text reads so already"), "{}", answer.text);
    assert_eq!(answer.hash(), read.hash());
    assert!(answer.meta["edits"].is_null(), "there is no edit: {}", answer.meta);
    let listed = desk.call("list_edits", json!({})).await;
    assert!(listed.text.starts_with("There are no edits"), "{}", listed.text);
    assert_eq!(desk.bytes("a.txt"), TEXT.as_bytes());
}

#[tokio::test]
async fn every_tool_says_that_there_was_nothing_to_do() {
    for open in [false, true] {
        let desk = desk(open);
        let read = desk.read("a.txt").await;
        for operations in [
            json!([replace(&read, "two", "two")]),
            json!([{ "op": "replace_range", "anchor": read.anchor("two"), "end_anchor": read.anchor("three"), "content": "two\nthree\n" }]),
            // What one takes out the other puts in.
            json!([
                { "op": "delete", "anchor": read.anchor("two") },
                { "op": "insert_after", "anchor": read.anchor("two"), "content": "two" },
            ]),
        ] {
            let answer = desk.edit("a.txt", &read.hash(), operations).await;
            is_nothing(&desk, &read, &answer).await;
        }
        for (tool, mut given) in [
            ("write_file", json!({ "content": TEXT })),
            ("write_file", json!({ "content": TEXT, "file_hash": read.hash() })),
            ("edit_file_diff", json!({ "edits": [{ "old": "two", "new": "two" }] })),
            ("edit_file_diff", json!({ "diff": "@@\n-two\n+two\n", "file_hash": read.hash() })),
        ] {
            given["path"] = json!("a.txt");
            let answer = desk.call(tool, given).await;
            is_nothing(&desk, &read, &answer).await;
        }
        let given = json!({
            "path": "a.txt", "file_hash": read.hash(), "dry_run": true,
            "operations": [replace(&read, "two", "two")],
        });
        is_nothing(&desk, &read, &desk.call("edit_text_file", given).await).await;
    }
}

#[tokio::test]
async fn the_words_tell_what_there_is_to_know() {
    let mut desk = desk(true);
    let read = desk.read("a.txt").await;
    let same = desk.edit("a.txt", &read.hash(), json!([replace(&read, "two", "two")])).await;
    shows!("unchanged", desk, same.text);
    // The hash is good to go on from.
    let held = desk.edit("a.txt", &same.hash(), json!([replace(&read, "two", "2")])).await;
    assert!(!held.failed, "{}", held.text);
    let again = desk.edit("a.txt", &held.hash(), json!([replace(&held, "2", "2")])).await;
    shows!("unchanged_held", desk, again.text);

    desk.write("b.txt", "one\r\ntwo\r\n");
    desk.open("b.txt", "one\r\ntwo\r\n");
    let given = json!({ "path": "b.txt", "content": "one\ntwo\n" });
    shows!("unchanged_endings", desk, desk.call("write_file", given).await.text);
}

#[tokio::test]
async fn of_a_call_that_changes_something_the_idle_parts_are_named() {
    let desk = desk(true);
    let read = desk.read("a.txt").await;
    let operations = json!([
        replace(&read, "one", "one"),
        replace(&read, "two", "2"),
        replace(&read, "three", "three"),
        replace(&read, "four", "4"),
    ]);
    let made = desk.edit("a.txt", &read.hash(), operations).await;
    shows!("unchanged_in_part", desk, made.text);
    let review = desk.workspace.review(&desk.uri("a.txt")).unwrap().review;
    let hunks: Vec<_> = review.edits[0].hunks.iter().map(|hunk| (hunk.lines.clone(), hunk.number)).collect();
    assert_eq!(hunks, [(Some(1..2), 1), (Some(3..4), 2)], "what stays the same is in no hunk");

    let edits = json!([{ "old": "one", "new": "one" }, { "old": "three", "new": "3" }]);
    let made = desk.call("edit_file_diff", json!({ "path": "a.txt", "edits": edits })).await;
    assert!(made.text.contains("No change came of edit 1: its lines read so already.\n"), "{}", made.text);
    let diff = "@@\n one\n@@\n-3\n+III\n";
    let made = desk.call("edit_file_diff", json!({ "path": "a.txt", "diff": diff })).await;
    assert!(made.text.contains("No change came of hunk 1: its lines read so already.\n"), "{}", made.text);
}

/// It is not known whether lines that were changed since read as the agent wants them; no answer may say that they do.
#[tokio::test]
async fn lines_that_were_changed_since_are_told_of() {
    let mut desk = desk(true);
    let read = desk.read("a.txt").await;
    desk.types("a.txt", "one\nTWO\nthree\nfour\n");
    let stale = desk.edit("a.txt", &read.hash(), json!([replace(&read, "two", "two")])).await;
    assert!(
        stale.failed && stale.text.contains("line 2 of what you read has been changed"),
        "{}",
        stale.text
    );
    let edits = json!([{ "old": "two", "new": "two" }]);
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "edits": edits });
    let stale = desk.call("edit_file_diff", given).await;
    assert!(
        stale.failed && stale.text.contains("line 2 of what you read has been changed"),
        "{}",
        stale.text
    );
    // Elsewhere it may be changed.
    let same = desk.edit("a.txt", &read.hash(), json!([replace(&read, "three", "three")])).await;
    assert!(!same.failed && same.text.contains("The text reads so already"), "{}", same.text);
    assert_ne!(same.hash(), read.hash());
}

/// A range that stays the same at its ends is one hunk, as the agent has given it: what the person does to any of its lines stands
/// against it.
#[tokio::test]
async fn a_hunk_that_changes_something_is_left_whole() {
    let mut desk = desk(true);
    let read = desk.read("a.txt").await;
    let range = json!([{
        "op": "replace_range", "anchor": read.anchor("one"), "end_anchor": read.anchor("three"), "content": "one\n2\nthree",
    }]);
    let held = desk.edit("a.txt", &read.hash(), range).await;
    let review = desk.workspace.review(&desk.uri("a.txt")).unwrap().review;
    assert_eq!(review.edits[0].hunks[0].lines, Some(0..3));
    desk.types("a.txt", "ONE\ntwo\nthree\nfour\n");
    let listed = desk.call("list_edits", json!({ "state": "conflicted" })).await;
    assert!(listed.text.contains(&held.edit_id()[..8]), "{}", listed.text);
    desk.types("a.txt", TEXT);
    desk.decide(Choice::Accept, Target::Edit(held.edit_id()), None).await;
    desk.deliver("a.txt");
    assert_eq!(desk.editor_text("a.txt"), "one\n2\nthree\nfour\n");
}
