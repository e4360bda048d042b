//! How lines are named and matched.

use serde_json::json;

use crate::text::{Case, hash};

#[tokio::test]
async fn mcp_040_lines_count_from_1_and_the_end_is_exclusive() {
    for case in Case::both("1\n2\n3\n4\n5\n").await {
        for (lines, content) in
            [([1, 2], "1\n"), ([1, 3], "1\n2\n"), ([5, 6], "5\n"), ([3, 3], ""), ([4, 99], "4\n5\n")]
        {
            let read = case.lines(json!(lines)).await;
            assert_eq!(read.json["content"], content, "{lines:?}: {}", read.text);
            assert_eq!(read.json["total_lines"], 5);
        }
        for (lines, word) in
            [([6, 7], "line 6 is beyond the end: the file has 5 lines"), ([4, 2], "[4, 2] holds no line")]
        {
            let refused = case.lines(json!(lines)).await;
            assert!(refused.failed && refused.text.contains(word), "{lines:?}: {}", refused.text);
        }
        for (lines, word) in [
            ([3, 3], "its end is exclusive"),
            ([4, 2], "its end is exclusive"),
            ([6, 7], "Line 6 is beyond the end: the file has 5 lines"),
            ([5, 9], "the file has 5 lines, so [5, 6] or [5, 0]"),
        ] {
            let told = case.refused("text_replace", json!({ "lines": lines, "old": "5", "new": "x" })).await;
            assert!(told.contains(word), "{lines:?}: {told}");
        }
        let told = case.refused("text_replace", json!({ "lines": [1, 5], "old": "5", "new": "x" })).await;
        assert!(told.contains("they stand from line 5 on"), "the end is exclusive here, too: {told}");
        case.made("text_replace", json!({ "lines": [5, 6], "old": "5", "new": "five" })).await;
    }
}

#[tokio::test]
async fn mcp_041_negative_numbers_count_from_the_end() {
    for case in Case::both("1\n2\n3\n4\n5\n").await {
        for (lines, content) in
            [([-1, 0], "5\n"), ([-3, 0], "3\n4\n5\n"), ([-3, -1], "3\n4\n"), ([1, -1], "1\n2\n3\n4\n")]
        {
            assert_eq!(case.lines(json!(lines)).await.json["content"], content, "{lines:?}");
        }
        case.made("text_replace", json!({ "lines": [-2, -1], "old": "4", "new": "four" })).await;
        case.made("text_insert", json!({ "line": -1, "anchor": "5", "content": "before" })).await;
        assert_eq!(case.content().await, "1\n2\n3\nfour\nbefore\n5\n");
        let told = case.refused("text_replace", json!({ "lines": [-9, 0], "old": "5", "new": "x" })).await;
        assert!(told.contains("-9 from the end is before line 1: the file has 6 lines"), "{told}");
    }
}

#[tokio::test]
async fn mcp_042_zero_is_an_open_end() {
    for case in Case::both("1\n2\n3\n").await {
        for (lines, content) in
            [([1, 0], "1\n2\n3\n"), ([2, 0], "2\n3\n"), ([0, 2], "1\n"), ([0, 0], "1\n2\n3\n")]
        {
            assert_eq!(case.lines(json!(lines)).await.json["content"], content, "{lines:?}");
        }
        case.made("text_replace", json!({ "lines": [1, 0], "old": "1\n2\n3", "new": "" })).await;
        let read = case.read().await;
        assert_eq!((read.json["content"].as_str(), read.json["total_lines"].as_u64()), (Some(""), Some(0)));
        assert_eq!(case.lines(json!([1, 0])).await.json["content"], "");
        let told = case.refused("text_replace", json!({ "lines": [1, 0], "old": "1", "new": "x" })).await;
        assert!(told.contains("The file is empty") && told.contains("are appended"), "{told}");
        case.made("text_append", json!({ "content": "again" })).await;
        assert_eq!(case.content().await, "again\n");
    }
}

#[tokio::test]
async fn mcp_045_old_is_the_whole_content_of_consecutive_lines_in_the_range() {
    for case in Case::both("fn a() {\r\n    one();\r\n}\r\n\r\nfn b() {\r\n    one();\r\n}").await {
        for (lines, old, word) in [
            (
                json!([2, 3]),
                "one();",
                "Line 2 contains \"    one();\", not \"one();\": they differ in spaces",
            ),
            (json!([1, 4]), "a()", "Line 1 contains \"fn a() {\", not \"a()\" alone"),
            (
                json!([1, 0]),
                "    one();",
                "The lines of old stand more than once in these lines: from lines 2, 6 on",
            ),
            (json!([1, 3]), "    one();\n}", "they stand from lines 2, 6 on"),
        ] {
            let told = case.refused("text_replace", json!({ "lines": lines, "old": old, "new": "x" })).await;
            assert!(
                told.contains(word) && told.contains("The hash that you gave is still"),
                "{old:?}: {told}"
            );
        }
        // \n parts lines whatever the endings are, and one at the end adds none.
        case.made(
            "text_replace",
            json!({ "lines": [1, 4], "old": "    one();\n}\n", "new": "    two();\n}\n" }),
        )
        .await;
        case.made(
            "text_replace",
            json!({ "lines": [6, 0], "old": "    one();\r\n}", "new": "    three();\n}" }),
        )
        .await;
        let before = case.read().await;
        let same = case.made("text_replace", json!({ "lines": [4, 5], "old": "", "new": "\n" })).await;
        assert_eq!(same.json["note"], "nothing was changed: the lines read so already");
        assert_eq!(
            (&same.json["hash"], &same.json["total_lines"]),
            (&before.json["hash"], &before.json["total_lines"])
        );
        assert_eq!(case.content().await, "fn a() {\r\n    two();\r\n}\r\n\r\nfn b() {\r\n    three();\r\n}");
    }
}

#[tokio::test]
async fn mcp_046_content_goes_before_the_line_whose_whole_content_the_anchor_is() {
    for case in Case::both("a\r\nb\r\na").await {
        for (line, anchor, word) in [
            (2, "a", "Line 2 contains \"b\", not \"a\", which stands in lines 1, 3."),
            (
                4,
                "a",
                "Line 4 is beyond the end: the file has 3 lines. Give the number of a line that is there; lines at the end",
            ),
            (0, "a", "0 names no line"),
        ] {
            let told =
                case.refused("text_insert", json!({ "line": line, "anchor": anchor, "content": "x" })).await;
            assert!(told.contains(word), "{line} {anchor}: {told}");
        }
        case.made("text_insert", json!({ "line": 1, "anchor": "a", "content": "first\nsecond" })).await;
        case.made("text_insert", json!({ "line": "5", "anchor": "a\n", "content": "third\n" })).await;
        assert_eq!(case.content().await, "first\r\nsecond\r\na\r\nb\r\nthird\r\na");
        case.made("text_append", json!({ "content": "end" })).await;
        assert_eq!(
            case.content().await,
            "first\r\nsecond\r\na\r\nb\r\nthird\r\na\r\nend",
            "on a line of its own"
        );
        let told = case.refused("text_append", json!({ "content": "" })).await;
        assert!(told.contains("\"\\n\" is one empty line"), "{told}");
    }
}

#[tokio::test]
async fn untouched_lines_keep_their_bytes() {
    for (before, tool, given, after) in [
        (
            "\u{feff}a\r\nb\nc\rd",
            "text_replace",
            json!({ "lines": [2, 3], "old": "b", "new": "B" }),
            "\u{feff}a\r\nB\nc\rd",
        ),
        (
            "\u{feff}a\r\nb\nc\rd",
            "text_replace",
            json!({ "lines": [4, 0], "old": "d", "new": "D\nE" }),
            "\u{feff}a\r\nb\nc\rD\rE",
        ),
        (
            "\u{feff}a\r\nb",
            "text_insert",
            json!({ "line": 1, "anchor": "a", "content": "x" }),
            "\u{feff}x\r\na\r\nb",
        ),
        ("a\r\nb\nc", "text_replace", json!({ "lines": [3, 4], "old": "c", "new": "" }), "a\r\nb"),
        ("a \t\r\n\u{2028}\n", "text_append", json!({ "content": "z" }), "a \t\r\n\u{2028}\nz\n"),
        (
            "a\0b\nc\n",
            "text_replace",
            json!({ "lines": [1, 0], "old": "a\0b\nc", "new": "a\0b\nC" }),
            "a\0b\nC\n",
        ),
    ] {
        let case = Case::on_disk(before).await;
        case.made(tool, given.clone()).await;
        assert_eq!(String::from_utf8_lossy(&case.stored()), after, "{before:?} {given}");
    }
}

#[tokio::test]
async fn what_is_too_much_for_one_answer_is_refused_with_lines_that_are_not() {
    let text = "0123456789abcde\n".repeat(300_000);
    for case in Case::both(&text).await {
        let told = case.call("text_read", json!({ "path": "a.txt" })).await;
        assert!(told.failed && told.text.starts_with("a.txt was not read: "), "{}", told.text);
        let hash = hash(&text);
        assert!(
            told.text.contains("300000 lines") && told.text.contains(hash.as_str().unwrap()),
            "{}",
            told.text
        );
        assert_eq!(case.lines(json!([1, 0])).await.text, told.text);
        let (_, example) = told.text.split_once("for example ").unwrap();
        let (example, _) = example.split_once(". ").unwrap();
        let read = case.lines(json!(example)).await;
        let content = read.json["content"].as_str().unwrap_or_else(|| panic!("{}", read.text));
        assert!(content.len() > 1 << 20 && text.starts_with(content), "{}", content.len());
    }
    let long = Case::on_disk(&format!("{}\nend\n", "x".repeat(5 << 20))).await;
    let told = long.call("text_read", json!({ "path": "a.txt" })).await;
    assert!(told.failed && told.text.contains("Line 1 alone is too long"), "{}", told.text);
    assert_eq!(long.lines(json!([2, 3])).await.json["content"], "end\n");
}
