//! Whole files written anew: exactly the new bytes, by few and minimal hunks.

use std::ops::Range;

use hashline_anchor::{Rewrite, rewrite_whole};
use hashline_text::{Ending, OwnedLine, Text};
use proptest::prelude::*;

/// Few different lines with all endings, so that much of it repeats.
pub fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => Just(String::new()), 3 => Just("a".to_owned()), 3 => Just("b".to_owned()), 1 => Just("\u{2028}x\u{b}\0".to_owned()),
        2 => "[abc äß\t]{0,6}",
    ];
    let ending = prop_oneof![6 => Just("\n"), 4 => Just("\r\n"), 1 => Just("\r")];
    let last = prop_oneof![2 => Just(String::new()), 1 => "[ab]{1,3}"];
    (prop::collection::vec((line, ending), 0..12), last).prop_map(|(lines, last)| {
        lines.into_iter().map(|(line, ending)| line + ending).collect::<String>() + &last
    })
}

/// What every rewrite keeps to, whatever it was made from.
pub fn assert_well_formed(rewrite: &Rewrite, text: &Text) {
    let count = text.line_count();
    let mut free = None;
    for hunk in &rewrite.hunks {
        assert!(hunk.lines.start <= hunk.lines.end && hunk.lines.end <= count, "{rewrite:?}");
        assert!(!hunk.lines.is_empty() || !hunk.new.is_empty(), "{rewrite:?}");
        assert!(free.is_none_or(|free| hunk.lines.start > free), "apart from each other: {rewrite:?}");
        assert!(hunk.new.iter().all(|line| !line.content.contains(['\n', '\r'])), "{rewrite:?}");
        assert!(!hunk.parts.is_empty(), "{rewrite:?}");
        free = Some(hunk.lines.end);
    }
    let reaches = rewrite.hunks.last().is_some_and(|hunk| hunk.lines.end == count);
    assert_eq!(rewrite.newline_at_end.is_some(), reaches, "{rewrite:?}");
}

fn hunks(old: &str, new: &str) -> Vec<(Range<usize>, Vec<OwnedLine>)> {
    let (old, new) = (Text::from(old), Text::from(new));
    let rewrite = rewrite_whole(&old, &new);
    assert_well_formed(&rewrite, &old);
    assert_eq!(rewrite.apply(&old).as_ref(), Ok(&new));
    rewrite.hunks.into_iter().map(|hunk| (hunk.lines, hunk.new)).collect()
}

#[test]
fn only_what_differs_is_a_hunk() {
    let lf = |content: &str| OwnedLine::new(content, Ending::Lf);
    let crlf = |content: &str| OwnedLine::new(content, Ending::CrLf);
    assert_eq!(hunks("a\nb\nc\n", "a\nB\nc\n"), [(1..2, vec![lf("B")])]);
    assert_eq!(hunks("a\nb\n", "a\nb\n"), []);
    assert_eq!(hunks("a\nb\nc\n", "x\na\nc\n"), [(0..0, vec![lf("x")]), (1..2, vec![])]);
    // Only an ending, somewhere and at the end.
    assert_eq!(hunks("a\r\nb\nc\n", "a\nb\nc\n"), [(0..1, vec![lf("a")])]);
    assert_eq!(hunks("a\nb\n", "a\nb"), [(1..2, vec![lf("b")])]);
    assert_eq!(hunks("a\r\nb", "a\r\nb\r\n"), [(1..2, vec![crlf("b")])]);
    assert_eq!(hunks("a\nb", "a\nb\nc"), [(1..2, vec![lf("b"), lf("c")])]);
    assert_eq!(hunks("A\nb\n", "a\nb"), [(0..2, vec![lf("a"), lf("b")])]);
    // From nothing, and to nothing.
    assert_eq!(hunks("", "a\r\nb"), [(0..0, vec![crlf("a"), crlf("b")])]);
    assert_eq!(hunks("a\nb", ""), [(0..2, vec![])]);
    assert_eq!(hunks("", "\n"), [(0..0, vec![lf("")])]);
    // One line takes the ending that the file had.
    assert_eq!(hunks("a\r\nb\r\n", "c"), [(0..2, vec![crlf("c")])]);
    // What only looks like an ending.
    assert_eq!(hunks("a\u{2028}b\n", "a\u{2028}c\n"), [(0..1, vec![lf("a\u{2028}c")])]);
}

#[test]
fn the_newline_at_the_end_is_said_with_the_hunk_that_reaches_it() {
    let newline = |old: &str, new: &str| rewrite_whole(&old.into(), &new.into()).newline_at_end;
    assert_eq!(newline("a\nb\n", "A\nb\n"), None);
    assert_eq!(newline("a\nb\n", "a\nb"), Some(false));
    assert_eq!(newline("a\nb", "a\nb\n"), Some(true));
    assert_eq!(newline("a\nb", "a\nB"), Some(false));
    assert_eq!(newline("a", ""), Some(true));
    assert_eq!(newline("a", "a"), None);
}

#[test]
fn long_lines_and_long_files() {
    let long = "x".repeat(1_000_000);
    assert_eq!(hunks(&format!("a\n{long}\nb\n"), &format!("a\n{long}\nB\n")).len(), 1);
    assert_eq!(hunks(&long, &format!("{long}\n")).len(), 1);
    let file = |mark: &dyn Fn(usize) -> &'static str| -> String {
        (0..100_000).map(|line| format!("line {line}{}\n", mark(line))).collect()
    };
    let old = file(&|_| "");
    // Different everywhere, in every other line, and the other way round.
    assert_eq!(hunks(&old, &file(&|_| "!")).len(), 1);
    assert!(hunks(&old, &file(&|line| ["", "!"][line % 2])).len() <= 1000);
    let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
    lines.reverse();
    assert!(hunks(&old, &lines.concat()).len() <= 1000);
}

#[test]
fn scattered_changes_of_a_long_file_are_as_many_hunks() {
    let line = |line: usize| format!("    let value_{line} = compute(input, {line});\n");
    let old: Text = (0..100_000).map(line).collect::<String>().into();
    let new: Text = (0..100_000)
        .map(|at| if at % 1000 == 7 { format!("// {}", line(at)) } else { line(at) })
        .collect::<String>()
        .into();
    let rewrite = rewrite_whole(&old, &new);
    assert_eq!(rewrite.hunks.len(), 100);
    assert_eq!(rewrite.apply(&old).unwrap(), new);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn applied_it_is_the_new_text(old in any_text(), new in any_text()) {
        let (old, new) = (Text::from(old), Text::from(new));
        let rewrite = rewrite_whole(&old, &new);
        assert_well_formed(&rewrite, &old);
        prop_assert_eq!(rewrite.apply(&old).unwrap().to_string(), new.to_string());
        prop_assert_eq!(rewrite.hunks.is_empty(), old == new);
    }

    /// Lines that no hunk names are in the new text as they are.
    #[test]
    fn a_changed_line_is_one_hunk(text in any_text(), at: prop::sample::Index, content in "[xyz]{1,3}") {
        let old = Text::from(text);
        if old.is_empty() {
            return Ok(());
        }
        let at = at.index(old.line_count());
        let mut new = old.clone();
        let line = old.line(hashline_text::Line(at)).unwrap().to_owned_line(Ending::Lf);
        let line = OwnedLine { content, ..line };
        new.replace_lines(hashline_text::Line(at)..hashline_text::Line(at + 1), std::slice::from_ref(&line), old.ends_with_newline()).unwrap();
        let rewrite = rewrite_whole(&old, &new);
        prop_assert_eq!(rewrite.hunks.len(), 1);
        prop_assert_eq!(&rewrite.hunks[0].lines, &(at..at + 1));
        prop_assert_eq!(&rewrite.hunks[0].new[0].content, &line.content);
    }
}
