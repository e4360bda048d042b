//! Replacing bytes and whole lines.

use hashline_text::{ByteOffset, Ending, Line, OwnedLine, Text, TextError};
use proptest::prelude::*;

use crate::model::{any_ending, any_lines, any_text, lines_of};

fn lf(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

#[test]
fn bytes_are_checked_before_anything_changes() {
    let mut text = Text::from("aéb");
    let before = text.clone();
    let range = |start, end| ByteOffset(start)..ByteOffset(end);
    assert_eq!(text.replace_bytes(range(2, 3), "x"), Err(TextError::InsideCharacter { at: ByteOffset(2) }));
    assert_eq!(text.replace_bytes(range(1, 2), "x"), Err(TextError::InsideCharacter { at: ByteOffset(2) }));
    for (start, end) in [(3, 1), (0, 5), (9, 9), (usize::MAX, usize::MAX)] {
        let (start, end) = (ByteOffset(start), ByteOffset(end));
        let error = text.replace_bytes(start..end, "x").unwrap_err();
        assert_eq!(error, TextError::BytesOutOfText { start, end, len: 4 });
    }
    assert!(text.is_same_instance(&before));
    text.replace_bytes(range(1, 3), "ö").unwrap();
    assert_eq!(text, "aöb");
}

#[test]
fn a_cr_and_an_lf_that_meet_are_one_ending() {
    let mut text = Text::from("a\rb");
    text.replace_bytes(ByteOffset(2)..ByteOffset(2), "\n").unwrap();
    assert_eq!(text.line_count(), 2);
    assert_eq!(text.line(Line(0)).unwrap().ending(), Some(Ending::CrLf));
    text.replace_bytes(ByteOffset(2)..ByteOffset(3), "").unwrap();
    assert_eq!(text.line(Line(0)).unwrap().ending(), Some(Ending::Cr));
}

#[test]
fn lines_in_words() {
    for (text, range, new, newline, expected) in [
        ("", 0..0, vec![lf("a")], true, "a\n"),
        ("", 0..0, vec![lf("a")], false, "a"),
        ("", 0..0, vec![], true, ""),
        ("a\n", 0..1, vec![], true, ""),
        ("a", 0..1, vec![lf("b"), lf("c")], false, "b\nc"),
        ("a", 1..1, vec![lf("b")], false, "a\nb"),
        ("a", 1..1, vec![lf("b")], true, "a\nb\n"),
        ("a\r\nb", 2..2, vec![lf("c")], false, "a\r\nb\r\nc"),
        ("a\nb\r\nc\r", 1..2, vec![lf("B")], true, "a\nB\nc\r"),
        ("a\nb\n", 1..2, vec![], true, "a\n"),
        ("a\nb\n", 1..2, vec![], false, "a"),
        ("a\nb", 1..2, vec![], false, "a"),
        ("a\nb", 1..2, vec![], true, "a\n"),
        ("a\nb", 0..1, vec![], false, "b"),
        ("a\nb", 0..1, vec![], true, "b\n"),
        ("a\r\nb", 0..1, vec![lf("A")], true, "A\nb\r\n"),
        ("a\nb\n", 0..1, vec![lf("A")], false, "A\nb"),
        ("a\nb", 2..2, vec![], true, "a\nb\n"),
        ("a\nb\n", 2..2, vec![], false, "a\nb"),
        ("a\nb\n", 1..1, vec![], true, "a\nb\n"),
        // An empty last line without an ending leaves no trace.
        ("a\nb", 1..2, vec![lf("")], false, "a\n"),
        ("a", 0..1, vec![lf("")], false, ""),
    ] {
        let mut rope = Text::from(text);
        let lines = Line(range.start)..Line(range.end);
        rope.replace_lines(lines.clone(), &new, newline).unwrap();
        assert_eq!(rope, expected, "{text:?} {lines:?} {new:?} {newline}");
    }
    let mut rope = Text::from("a");
    rope.replace_lines_or(Line(1)..Line(1), &[lf("b")], false, Ending::CrLf).unwrap();
    assert_eq!(rope, "a\r\nb");
}

#[test]
fn refusals_change_nothing() {
    let cr = |content| OwnedLine::new(content, Ending::Cr);
    for (text, range, new, error) in [
        ("a\n", 0..2, vec![], TextError::LinesOutOfText { start: Line(0), end: Line(2), count: 1 }),
        ("", 1..1, vec![], TextError::LinesOutOfText { start: Line(1), end: Line(1), count: 0 }),
        ("a\n", 0..1, vec![lf("b"), lf("c\rd")], TextError::ContentHoldsEnding { index: 1 }),
        ("a\r", 1..1, vec![lf("")], TextError::EndingsWouldJoin),
        ("a\n\n", 0..1, vec![cr("b")], TextError::EndingsWouldJoin),
        ("a\n", 0..1, vec![cr("b"), lf("")], TextError::EndingsWouldJoin),
        ("a\rb\n\n", 1..2, vec![], TextError::EndingsWouldJoin),
    ] {
        let mut rope = Text::from(text);
        let before = rope.clone();
        let lines = Line(range.start)..Line(range.end);
        assert_eq!(rope.replace_lines(lines, &new, true), Err(error), "{text:?}");
        assert!(rope.is_same_instance(&before), "{text:?}");
    }
    // No ending, nothing to join.
    let mut rope = Text::from("a\r");
    rope.replace_lines(Line(1)..Line(1), &[lf("")], false).unwrap();
    assert_eq!(rope, "a\r");
}

/// The same on plain lines; none where the endings join.
fn replaced(
    text: &str,
    range: std::ops::Range<usize>,
    new: &[OwnedLine],
    newline: bool,
    default: Ending,
) -> Option<String> {
    let mut lines: Vec<_> =
        lines_of(text).into_iter().map(|(content, end)| (content, end.unwrap_or(default))).collect();
    lines.splice(range, new.iter().map(|line| (line.content.clone(), line.ending)));
    let cut = usize::from(!newline);
    let mut out = String::new();
    for (at, (content, ending)) in lines.iter().enumerate() {
        let ending = if at + cut == lines.len() { "" } else { ending.as_str() };
        if content.is_empty() && ending == "\n" && out.ends_with('\r') {
            return None;
        }
        out.push_str(content);
        out.push_str(ending);
    }
    Some(out)
}

proptest! {
    #[test]
    fn lines_as_the_model_does_it(
        text in any_text(), new in any_lines(), newline: bool, default in any_ending(),
        from in any::<prop::sample::Index>(), len in 0..6_usize,
    ) {
        let mut rope = Text::from(text.as_str());
        let count = rope.line_count();
        let from = from.index(count + 1);
        let to = (from + len).min(count);
        let expected = replaced(&text, from..to, &new, newline, default);
        let result = rope.replace_lines_or(Line(from)..Line(to), &new, newline, default);
        match expected {
            Some(expected) => {
                prop_assert_eq!(result, Ok(()));
                prop_assert_eq!(rope.to_string(), expected);
            }
            None => {
                prop_assert_eq!(result, Err(TextError::EndingsWouldJoin));
                prop_assert_eq!(rope.to_string(), text);
            }
        }
    }

    #[test]
    fn bytes_as_strings_do_it(text in any_text(), new in any_text(), a: prop::sample::Index, b: prop::sample::Index) {
        let mut rope = Text::from(text.as_str());
        let (a, b) = (a.index(text.len() + 1), b.index(text.len() + 1));
        let (a, b) = (a.min(b), a.max(b));
        let result = rope.replace_bytes(ByteOffset(a)..ByteOffset(b), &new);
        if text.is_char_boundary(a) && text.is_char_boundary(b) {
            let mut text = text;
            text.replace_range(a..b, &new);
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(rope.to_string(), text);
        } else {
            prop_assert!(result.is_err());
            prop_assert_eq!(rope.to_string(), text);
        }
    }
}
