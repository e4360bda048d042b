//! What another tool of this kind got wrong (each was seen in a probe of it), at the level of calls.

use serde_json::{Value, json};

use crate::desk::Desk;

/// Makes one edit of a file; the file afterwards, and what was answered.
async fn made(
    content: &str,
    operations: impl Fn(&dyn Fn(&str) -> String) -> Value,
) -> (String, crate::desk::Answer) {
    let desk = Desk::new();
    desk.write("f", content);
    let read = desk.read("f").await;
    let answer = desk.edit("f", &read.hash(), operations(&|line| read.anchor(line))).await;
    (String::from_utf8(desk.bytes("f")).unwrap(), answer)
}

#[tokio::test]
async fn endings_of_untouched_lines_stay() {
    let replace =
        |at: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": at("b"), "content": "B" }]);
    assert_eq!(made("\u{feff}a\r\nb\r\nc\nd\r", replace).await.0, "\u{feff}a\r\nB\r\nc\nd\r");
}

#[tokio::test]
async fn operations_that_overlap_are_refused_in_either_order() {
    for order in [[0, 1], [1, 0]] {
        let operations = |at: &dyn Fn(&str) -> String| {
            let both = [
                json!({ "op": "replace", "anchor": at("a"), "end_anchor": at("c"), "content": "all" }),
                json!({ "op": "replace", "anchor": at("b"), "content": "inner" }),
            ];
            json!(order.map(|n| both[n].clone()))
        };
        let (text, answer) = made("a\nb\nc\nd\n", operations).await;
        assert!(answer.failed && answer.text.contains("overlap"), "{}", answer.text);
        assert_eq!(text, "a\nb\nc\nd\n");
    }
}

#[tokio::test]
async fn a_tag_in_content_is_not_written() {
    let echo = |at: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": at("b"), "content": format!("{}|B", at("b")) }]);
    let (text, answer) = made("a\nb\n", echo).await;
    assert!(answer.failed && answer.text.contains("Tags are not part of the text"), "{}", answer.text);
    assert_eq!(text, "a\nb\n");
    let other = |at: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": at("b"), "content": "12:30|noon" }]);
    assert_eq!(made("a\nb\n", other).await.0, "a\n12:30|noon\n", "text that only looks so is text");
}

#[tokio::test]
async fn anchors_are_taken_as_they_were_copied() {
    for copied in ["2:A5", " 2:a5 ", "2:a5|b", ">>> 2:a5|b", "2 : a5"] {
        let operations =
            |_: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": copied, "content": "B" }]);
        let (text, answer) = made("a\nb\n", operations).await;
        assert!(!answer.failed, "{copied:?}: {}", answer.text);
        assert_eq!(text, "a\nB\n");
    }
}

#[tokio::test]
async fn inserts_at_one_anchor_keep_their_order() {
    let operations = |at: &dyn Fn(&str) -> String| {
        json!([
            { "op": "insert_after", "anchor": at("a"), "content": "1" },
            { "op": "insert_after", "anchor": at("a"), "content": "2" },
        ])
    };
    assert_eq!(made("a\nb\n", operations).await.0, "a\n1\n2\nb\n");
}

#[tokio::test]
async fn empty_content_is_an_empty_line_and_blank_lines_stay() {
    let empty = |at: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": at("b"), "content": "" }]);
    assert_eq!(made("a\nb\nc\n", empty).await.0, "a\n\nc\n");
    let blank =
        |at: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": at("b"), "content": "x\n\n\n" }]);
    assert_eq!(made("a\nb\nc\n", blank).await.0, "a\nx\n\n\nc\n");
}

#[tokio::test]
async fn a_moved_line_is_found_and_the_reply_says_so() {
    let miscounted =
        |_: &dyn Fn(&str) -> String| json!([{ "op": "replace", "anchor": "1:a5", "content": "B" }]);
    let (text, answer) = made("a\nb\nc\n", miscounted).await;
    assert!(answer.text.contains("named line 1, found at line 2 by hash"), "{}", answer.text);
    assert_eq!(text, "a\nB\nc\n");
}

#[tokio::test]
async fn a_second_edit_with_the_first_hash_is_not_lost() {
    let desk = Desk::new();
    desk.write("f", "a\nb\nc\n");
    let read = desk.read("f").await;
    let edit =
        |line: &str, to: &str| json!([{ "op": "replace", "anchor": read.anchor(line), "content": to }]);
    assert!(!desk.edit("f", &read.hash(), edit("a", "A")).await.failed);
    let second = desk.edit("f", &read.hash(), edit("c", "C")).await;
    assert!(second.failed, "on the disk an old hash is refused: {}", second.text);
    assert_eq!(desk.bytes("f"), b"A\nb\nc\n");
}
