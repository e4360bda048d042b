//! Files that no editor has open.

use hashline_workspace::Settings;
use hashline_workspace::document::Mode;
use serde_json::json;

use crate::desk::{Desk, shows};

const HELLO: &str = "function hello() {\n  return \"world\";\n}\n";

#[tokio::test]
async fn a_read_shows_where_it_is_and_every_line_with_its_anchor() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let read = desk.read("hello.js").await;
    shows!("read", desk, read.text);
    assert_eq!(read.meta["file_hash"].as_str().unwrap().len(), 64);
    assert!(read.meta["file_hash"].as_str().unwrap().starts_with(&read.hash()));
    assert!(read.meta["anthropic/maxResultSizeChars"].is_u64());
    let by_uri = desk.read(&desk.uri("hello.js")).await;
    assert_eq!(by_uri.text, read.text);
}

#[tokio::test]
async fn all_six_operations_in_one_call() {
    let desk = Desk::new();
    desk.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
    let read = desk.read("a.txt").await;
    let at = |content: &str| read.anchor(content);
    let operations = json!([
        { "op": "replace", "anchor": at("1"), "content": "one" },
        { "op": "insert_before", "anchor": at("3"), "content": "before three" },
        { "op": "insert_after", "anchor": at("3"), "content": "after three\nand more" },
        { "op": "delete", "anchor": at("5") },
        { "op": "replace_range", "anchor": at("6"), "end_anchor": at("7"), "content": "six and seven" },
        { "op_type": "delete_range", "anchor": format!("{}..{}", at("9"), at("10")) },
    ]);
    let done = desk.edit("a.txt", &read.hash(), operations).await;
    assert!(!done.failed, "{}", done.text);
    let expected = "one\n2\nbefore three\n3\nafter three\nand more\n4\nsix and seven\n8";
    assert_eq!(String::from_utf8(desk.bytes("a.txt")).unwrap(), expected);
    shows!("edit_all_six", desk, done.text);
    // What the reply shows is enough to go on.
    let next = json!([{ "op": "replace", "anchor": done.anchor("8"), "content": "eight" }]);
    let done = desk.edit("a.txt", &done.hash(), next).await;
    assert!(!done.failed, "{}", done.text);
    shows!("edit_once_more", desk, done.text);
}

#[tokio::test]
async fn operations_may_come_as_a_string_and_one_alone() {
    let desk = Desk::new();
    desk.write("a.txt", "1\n2\n");
    let read = desk.read("a.txt").await;
    let one = json!({ "op": "replace", "anchor": read.anchor("2"), "content": "two" });
    let done = desk.edit("a.txt", &read.hash(), json!(one.to_string())).await;
    assert!(!done.failed, "{}", done.text);
    let list = json!([{ "op": "replace", "anchor": read.anchor("1"), "content": "one" }]);
    let done = desk.edit("a.txt", &done.hash(), json!(list.to_string())).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\n");
}

#[tokio::test]
async fn an_empty_file_is_read_and_filled() {
    let desk = Desk::new();
    desk.write("empty", "");
    let read = desk.read("empty").await;
    shows!("read_empty", desk, read.text);
    let fill = json!([{ "op": "insert_after", "anchor": "0:", "content": "first\nsecond" }]);
    let done = desk.edit("empty", &read.hash(), fill).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(desk.bytes("empty"), b"first\nsecond\n");
    let all =
        json!([{ "op": "delete", "anchor": done.anchor("first"), "end_anchor": done.anchor("second") }]);
    let done = desk.edit("empty", &done.hash(), all).await;
    // Taking out all that an edit put in is an edit of its own, and no undo of the other.
    shows!("edit_to_empty", desk, done.text);
    assert_eq!(desk.bytes("empty"), b"");
}

#[tokio::test]
async fn a_long_file_comes_in_pages_and_ranges_come_whole() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..=5_000).map(|n| format!("this is line number {n}")).collect();
    desk.write("long.txt", lines.join("\n"));
    let mut next = Some(1);
    let mut seen = 0;
    while let Some(start) = next {
        let page = desk.call("read_text_file", json!({ "path": "long.txt", "start_line": start })).await;
        assert!(page.text.chars().count() <= 40_200, "{}", page.text.chars().count());
        seen += page.tagged().len();
        let head = page.text.lines().next().unwrap();
        next = head.split_once("start_line ").map(|(_, n)| n.trim_end_matches('.').parse::<usize>().unwrap());
        if start == 1 {
            shows!("page_head", desk, head);
        }
    }
    assert_eq!(seen, 5_000);
    let range = json!({ "path": "long.txt", "start_line": "1", "end_line": 5000 });
    assert_eq!(desk.call("read_text_file", range).await.tagged().len(), 5_000);
    let codex = hashline_workspace::Caller { agent: "codex-mcp-client".into(), ..desk.caller.clone() };
    let page = desk.call_as(&codex, "read_text_file", json!({ "path": "long.txt" })).await;
    assert!(page.text.chars().count() < 12_000, "{}", page.text.chars().count());
    let past = desk
        .call("read_text_file", json!({ "path": "long.txt", "start_line": 4_999, "end_line": 9_999 }))
        .await;
    assert_eq!(past.tagged().len(), 2, "an end beyond the file is its end");
}

#[tokio::test]
async fn a_very_long_line_is_cut_with_a_notice() {
    let desk = Desk::new();
    desk.write("min.js", format!("short\n{}\n", "x".repeat(30_000)));
    let read = desk.read("min.js").await;
    let head = read.text.lines().next().unwrap();
    shows!("cut_head", desk, head);
    assert!(
        read.text.contains("[cut: 28000 more characters; line is 30000 characters]"),
        "{}",
        read.text.len()
    );
    let range =
        desk.call("read_text_file", json!({ "path": "min.js", "start_line": 2, "end_line": 2 })).await;
    assert!(range.text.contains("[cut: 10000 more characters"), "{head}");
}

#[tokio::test]
async fn a_dry_run_tells_and_does_nothing() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let read = desk.read("hello.js").await;
    let operations = json!([{ "op": "delete", "anchor": read.anchor("  return \"world\";") }]);
    let given =
        json!({ "path": "hello.js", "file_hash": read.hash(), "operations": operations, "dry_run": "true" });
    let told = desk.call("edit_text_file", given).await;
    shows!("dry_run", desk, told.text);
    assert_eq!(desk.bytes("hello.js"), HELLO.as_bytes());
    assert!(desk.call("list_edits", json!({})).await.text.contains("no edits"));
}

#[tokio::test]
async fn a_file_that_changed_is_not_edited_and_the_new_lines_are_shown() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let read = desk.read("hello.js").await;
    desk.write("hello.js", HELLO.replace("world", "moon"));
    let operations = json!([{ "op": "delete", "anchor": read.anchor("  return \"world\";") }]);
    let refused = desk.edit("hello.js", &read.hash(), operations).await;
    assert!(refused.failed);
    shows!("stale_on_disk", desk, refused.text);
    let fresh = json!([{ "op": "delete", "anchor": refused.anchor("  return \"moon\";") }]);
    let done = desk.edit("hello.js", &refused.hash_now(), fresh).await;
    assert!(!done.failed, "{}", done.text);
}

#[tokio::test]
async fn an_unknown_hash_is_refused_with_the_lines_as_they_are() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let read = desk.read("hello.js").await;
    let operations = json!([{ "op": "delete", "anchor": read.anchor("}") }]);
    let refused = desk.edit("hello.js", "00000000", operations).await;
    assert!(refused.failed);
    shows!("unknown_hash", desk, refused.text);
}

#[tokio::test]
async fn edits_are_listed_and_the_conversation_goes_on() {
    let desk = Desk::new();
    desk.write("a.txt", "1\n2\n3\n4\n5\n");
    let read = desk.read("a.txt").await;
    let two = json!([
        { "op": "replace", "anchor": read.anchor("1"), "content": "one" },
        { "op": "replace", "anchor": read.anchor("4"), "content": "four" },
    ]);
    let first = desk.edit("a.txt", &read.hash(), two).await;
    let conversation = first.text.split_once("New mcp_conversation_id: ").unwrap().1;
    let conversation = conversation.split_once('.').unwrap().0.to_owned();
    let second = json!([{ "op": "replace", "anchor": first.anchor("2"), "content": "two" }]);
    let given = json!({
        "path": "a.txt", "file_hash": first.hash(), "operations": second, "mcp_conversation_id": conversation
    });
    let second = desk.call("edit_text_file", given).await;
    assert!(!second.failed && !second.text.contains("mcp_conversation_id"), "{}", second.text);
    shows!("list_edits", desk, desk.call("list_edits", json!({ "path": "a.txt" })).await.text);
    let none = desk.call("list_edits", json!({ "state": "rejected" })).await;
    shows!("list_none", desk, none.text);

    let stranger = hashline_workspace::Caller { connection: "2".into(), ..desk.caller.clone() };
    let refused = desk.call_as(&stranger, "withdraw_edit", json!({ "edit_id": second.edit_id() })).await;
    assert!(refused.failed);
    let withdrawn = desk.call("withdraw_edit", json!({ "edit_id": second.edit_id()[..8] })).await;
    assert!(!withdrawn.failed, "{}", withdrawn.text);
    shows!("withdrawn", desk, withdrawn.text);
    let left = desk.call("await_review", json!({ "timeout_s": 0 })).await;
    assert!(!left.text.contains("withdrawn"), "the agent knows: {}", left.text);
    assert_eq!(desk.bytes("a.txt"), b"one\n2\n3\nfour\n5\n");
}

#[tokio::test]
async fn in_propose_mode_files_wait_too() {
    let desk = Desk::with(Settings { disk: Mode::Propose, ..Settings::default() });
    desk.write("hello.js", HELLO);
    let read = desk.read("hello.js").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("}"), "content": "};" }]);
    let held = desk.edit("hello.js", &read.hash(), operations).await;
    assert!(held.text.contains("Held for the person"), "{}", held.text);
    assert_eq!(desk.bytes("hello.js"), HELLO.as_bytes());
    let read = desk.read("hello.js").await;
    assert!(read.text.contains("1 held change in this text is not in the editor yet"), "{}", read.text);
}

#[tokio::test]
async fn line_endings_that_would_run_together_are_refused_in_words_for_the_agent() {
    let desk = Desk::new();
    let content = "a\rb\n\nc\n";
    desk.write("a.txt", content);
    let read = desk.read("a.txt").await;
    let refused =
        desk.edit("a.txt", &read.hash(), json!([{ "op": "delete", "anchor": read.anchor("b") }])).await;
    assert!(refused.failed && refused.text.contains("nothing was changed"), "{}", refused.text);
    assert!(
        refused.text.contains("lone carriage return") && refused.text.contains("both lines together"),
        "{}",
        refused.text
    );
    assert_eq!(desk.bytes("a.txt"), content.as_bytes());
}

#[tokio::test]
async fn an_agent_that_its_own_edit_has_overtaken_is_told_so() {
    let desk = Desk::new();
    desk.write("a.txt", "one\ntwo\n");
    let read = desk.read("a.txt").await;
    let replace =
        |line: &str, new: &str| json!([{ "op": "replace", "anchor": read.anchor(line), "content": new }]);
    let done = desk.edit("a.txt", &read.hash(), replace("one", "1")).await;
    let refused = desk.edit("a.txt", &read.hash(), replace("two", "2")).await;
    assert!(
        refused.failed && refused.text.contains("your own edit has changed the file"),
        "{}",
        refused.text
    );
    assert_eq!(refused.hash_now(), done.hash());
    assert!(refused.text.contains("|two"), "{}", refused.text);
    // To another agent, and where something else has changed it as well, it is said as it is.
    let other = hashline_workspace::Caller::anywhere("other", "2");
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": replace("two", "2") });
    let told = desk.call_as(&other, "edit_text_file", given).await;
    assert!(told.failed && told.text.contains("could tell what changed"), "{}", told.text);
    desk.write("a.txt", "1\ntwo\nthree\n");
    let told = desk.edit("a.txt", &read.hash(), replace("two", "2")).await;
    assert!(told.failed && told.text.contains("could tell what changed"), "{}", told.text);
}
