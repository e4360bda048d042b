//! What was found wrong in other tools: one test each.

use hashline_anchor::{Problem, RawOperation};
use hashline_text::Text;

use crate::model::{edited, op, resolved, tag};

/// One line replaced in a CRLF file turned every ending into LF.
#[test]
fn crlf_stays() {
    let text = "a\r\nb\r\nc\r\n";
    let raw = [op("replace", "2:a5", Some("B"))];
    assert_eq!(edited(text, &raw).unwrap(), "a\r\nB\r\nc\r\n");
    let raw = [op("replace", "2:a5", Some("B\nBB\n"))];
    assert_eq!(edited(text, &raw).unwrap(), "a\r\nB\r\nBB\r\nc\r\n");
}

/// Overlaps lost the inner edit in one order and hung the request in the other.
#[test]
fn overlaps_are_refused_in_both_orders() {
    let text = "a\nb\nc\nd\n";
    let at = |number| tag(&text.into(), number);
    let outer = op("replace", &at(1), Some("x")).end(at(3));
    let inner = op("replace", &at(2), Some("y"));
    for raw in [[outer.clone(), inner.clone()], [inner, outer]] {
        let failures = resolved(text, &raw).unwrap_err();
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].op, 1, "the later one is blamed");
        assert!(matches!(failures[0].problem, Problem::Overlap { other: 0, .. }), "{failures:?}");
    }
}

/// Content that echoed the tags of the read was written with them.
#[test]
fn echoed_tags_are_refused() {
    let text = "a\nb\nc\n";
    let raw = [op("replace", "2:a5", Some("2:a5|B"))];
    let failures = resolved(text, &raw).unwrap_err();
    assert!(matches!(failures[0].problem, Problem::RepeatsTag { content_line: 0, .. }), "{failures:?}");
    let raw = [op("replace", "2:a5", Some(&format!("fine\n{}|c", tag(&text.into(), 3))))];
    let failures = resolved(text, &raw).unwrap_err();
    assert!(matches!(failures[0].problem, Problem::RepeatsTag { content_line: 1, .. }), "{failures:?}");
}

/// Text of the shape of a tag that is none of this snapshot is text.
#[test]
fn what_only_looks_like_a_tag_is_written() {
    let text = "a\nb\nc\n";
    for content in ["2:zz|B", "2:a6|B", "9:a5|B", "0:25|B", ":a5|B", "x2:a5|B", "2:a5", " 2:a5|B", "2:a5a5|B"]
    {
        let raw = [op("replace", "2:a5", Some(content))];
        assert_eq!(edited(text, &raw).unwrap(), format!("a\n{content}\nc\n"));
    }
}

/// Anchors as copied, or in upper case, were "not found".
#[test]
fn anchors_as_copied() {
    for anchor in ["2:a5|b", "2:A5", " 2:a5 ", ">>> 2:a5|b", "2:A5|b  "] {
        assert_eq!(edited("a\nb\nc\n", &[op("delete", anchor, None)]).unwrap(), "a\nc\n", "{anchor:?}");
    }
}

/// Two inserts at one anchor were applied in reverse.
#[test]
fn inserts_keep_the_order_of_the_request() {
    for (name, anchor, expected) in [
        ("insert_after", "2:a5", "a\nb\n1\n2\n3\nc\n"),
        ("insert_before", "2:a5", "a\n1\n2\n3\nb\nc\n"),
        ("insert_after", "0:", "1\n2\n3\na\nb\nc\n"),
    ] {
        let raw = ["1", "2", "3"].map(|content| op(name, anchor, Some(content)));
        assert_eq!(edited("a\nb\nc\n", &raw).unwrap(), expected, "{name} {anchor}");
    }
}

/// Replacing by empty content deleted the line.
#[test]
fn empty_content_is_one_empty_line() {
    assert_eq!(edited("a\nb\nc\n", &[op("replace", "2:a5", Some(""))]).unwrap(), "a\n\nc\n");
    assert_eq!(edited("a\nb\nc\n", &[op("insert_after", "2:a5", Some(""))]).unwrap(), "a\nb\n\nc\n");
}

/// Of trailing newlines the last was lost and the others counted.
#[test]
fn trailing_newlines_are_as_documented() {
    for (content, expected) in
        [("B", "a\nB\nc\n"), ("B\n", "a\nB\nc\n"), ("B\n\n", "a\nB\n\nc\n"), ("\n", "a\n\nc\n")]
    {
        assert_eq!(
            edited("a\nb\nc\n", &[op("replace", "2:a5", Some(content))]).unwrap(),
            expected,
            "{content:?}"
        );
    }
}

/// An empty file had no anchor.
#[test]
fn an_empty_file_can_be_edited() {
    let raw = [op("insert_after", "0:", Some("a\nb"))];
    assert_eq!(edited("", &raw).unwrap(), "a\nb\n");
    let raw = [RawOperation { anchor: Some("0".into()), ..raw[0].clone() }];
    assert_eq!(edited("", &raw).unwrap(), "a\nb\n");
}

/// Reading from beyond the end gave lines 5 to 1.
#[test]
fn reading_beyond_the_end_gives_nothing() {
    let mut out = String::new();
    hashline_anchor::write_tagged(&mut out, &Text::from("a\n"), 4..9);
    assert_eq!(out, "");
}
