//! Lines named by number and by their whole content.

use std::time::Instant;

use hashline_anchor::{LineEdit, LineRange, NumberedEdit, NumberedFailure, Options, apply, explain_numbered};
use hashline_text::{Text, TextError};
use proptest::prelude::*;

use crate::model::lines_of;
use crate::whole::any_text;

fn replace(lines: (i64, i64), old: &str, new: &str) -> NumberedEdit {
    NumberedEdit::Replace { lines: lines.into(), old: old.into(), new: new.into() }
}

fn insert(line: i64, anchor: &str, content: &str) -> NumberedEdit {
    NumberedEdit::Insert { line, anchor: anchor.into(), content: content.into() }
}

fn append(content: &str) -> NumberedEdit {
    NumberedEdit::Append { content: content.into() }
}

fn resolved(text: &str, edit: &NumberedEdit) -> Result<LineEdit, NumberedFailure> {
    edit.resolve(&text.into(), Options::default())
}

fn edited(text: &str, edit: &NumberedEdit) -> String {
    let found = resolved(text, edit).expect("found");
    apply(&text.into(), &[found]).expect("it fits the text").to_string()
}

fn refused(text: &str, edit: &NumberedEdit) -> String {
    let failure = resolved(text, edit).expect_err("refused");
    let words = explain_numbered(&failure, &text.into());
    assert!(words.starts_with("The edit was refused and nothing was changed.\n"), "{words}");
    words
}

#[test]
fn ranges_are_open_at_0_and_count_from_the_end_below_it() {
    for (range, lines) in [
        ((1, 2), 0..1),
        ((1, 3), 0..2),
        ((1, 0), 0..5),
        ((0, 0), 0..5),
        ((0, 3), 0..2),
        ((5, 0), 4..5),
        ((5, 6), 4..5),
        ((-1, 0), 4..5),
        ((-2, 0), 3..5),
        ((-3, -1), 2..4),
        ((1, -1), 0..4),
        ((-5, 6), 0..5),
    ] {
        assert_eq!(LineRange::from(range).to_edit(5), Ok(lines.clone()), "{range:?}");
        assert_eq!(LineRange::from(range).to_read(5), Ok(lines), "{range:?}");
    }
    // A read gets what there is.
    for (range, count, lines) in [
        ((3, 99), 5, 2..5),
        ((-99, 0), 5, 0..5),
        ((-99, i64::MAX), 5, 0..5),
        ((i64::MIN, i64::MAX), 5, 0..5),
        ((3, 3), 5, 2..2),
        ((1, 0), 0, 0..0),
        ((-2, 0), 0, 0..0),
        ((1, 3), 0, 0..0),
    ] {
        assert_eq!(LineRange::from(range).to_read(count), Ok(lines), "{range:?} of {count}");
    }
}

#[test]
fn ranges_without_lines_are_refused_in_words() {
    for (range, count, word) in [
        ((6, 0), 5, "line 6 is beyond the end: the file has 5 lines"),
        ((7, 8), 5, "line 7 is beyond the end: the file has 5 lines"),
        ((2, 0), 1, "line 2 is beyond the end: the file has 1 line"),
        ((2, 9), 5, "[2, 9] goes beyond the end: the file has 5 lines, so [2, 6] or [2, 0]"),
        ((-6, 0), 5, "-6 from the end is before line 1: the file has 5 lines"),
        ((3, 3), 5, "[3, 3] holds no line of the 5 lines: its end is exclusive, so line 5 alone is [5, 6]"),
        ((4, 2), 5, "[4, 2] holds no line"),
        ((-1, -3), 5, "[-1, -3] holds no line"),
        ((2, -9), 5, "[2, -9] holds no line"),
        ((1, 0), 0, "the file is empty"),
    ] {
        let problem = LineRange::from(range).to_edit(count).unwrap_err().to_string();
        assert!(problem.contains(word), "{range:?} of {count}: {problem}");
    }
    for range in [(6, 0), (4, 2), (-1, -3)] {
        assert!(LineRange::from(range).to_read(5).is_err(), "{range:?}");
    }
}

#[test]
fn lines_are_replaced_inserted_and_appended() {
    for (text, edit, after) in [
        ("a\nb\nc\n", replace((2, 3), "b", "B"), "a\nB\nc\n"),
        ("a\nb\nc\n", replace((1, 0), "b\nc", "B"), "a\nB\n"),
        ("a\nb\nc\n", replace((1, 0), "b\n", "B\n"), "a\nB\nc\n"),
        ("a\nb\nc\n", replace((1, 0), "b", "B\n\n"), "a\nB\n\nc\n"),
        ("a\nb\nc\n", replace((1, 0), "b", ""), "a\nc\n"),
        ("a\nb\nc\n", replace((1, 0), "b", "\n"), "a\n\nc\n"),
        ("a\nb\nc\n", replace((1, 0), "a\nb\nc", ""), ""),
        ("a\n\nc\n", replace((1, 0), "", "b"), "a\nb\nc\n"),
        ("a\nb\na\n", replace((-1, 0), "a", "A"), "a\nb\nA\n"),
        ("a\r\nb\r\nc", replace((1, 0), "b\nc", "B\nC"), "a\r\nB\r\nC"),
        ("a\r\nb\nc\r\n", replace((1, 0), "a\nb\nc", "a\nx\nb\nc"), "a\r\nx\r\nb\nc\r\n"),
        ("a\nb\n", insert(1, "a", "x\ny"), "x\ny\na\nb\n"),
        ("a\nb", insert(-1, "b", "x\n"), "a\nx\nb"),
        ("a\r\n\r\n", insert(2, "", "x"), "a\r\nx\r\n\r\n"),
        ("a\n", insert(1, "a", "\n"), "\na\n"),
        ("a\n", append("b"), "a\nb\n"),
        ("a\n", append("b\n"), "a\nb\n"),
        ("a\r\nb", append("c\nd\n"), "a\r\nb\r\nc\r\nd"),
        ("", append("a\nb"), "a\nb\n"),
        ("a\n", append("\n"), "a\n\n"),
        ("a\n\nb", replace((3, 0), "b", ""), "a\n"),
    ] {
        assert_eq!(edited(text, &edit), after, "{text:?} {edit:?}");
    }
}

#[test]
fn a_blank_document_of_an_editor_is_empty() {
    let live = Options { blank_is_empty: true };
    let found = append("a").resolve(&"\n".into(), live).unwrap();
    assert_eq!(apply(&"\n".into(), &[found]).unwrap(), "a\n");
    let found = append("a").resolve(&"\n\n".into(), live).unwrap();
    assert_eq!(apply(&"\n\n".into(), &[found]).unwrap(), "\n\na\n");
}

#[test]
fn lines_that_both_sides_have_are_left_alone() {
    let text = "a\nb\nc\nd\n";
    let found = resolved(text, &replace((1, 0), "a\nb\nc\nd", "a\nB\nx\nc\nd")).unwrap();
    assert_eq!(found, LineEdit { op: 0, lines: 1..2, content: vec!["B".into(), "x".into()] });
    let found = resolved(text, &replace((1, 0), "b\nc", "b\nc\n")).unwrap();
    assert_eq!((found.lines.is_empty(), found.content.len()), (true, 0));
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let text = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n}\n";
    for (edit, words) in [
        (
            replace((2, 3), "    two();", "x"),
            &[
                "Line 2 contains \"    one();\", not \"    two();\"; all of old stands from line 3 on",
                "2|    one();\n",
                "3|    two();\n",
            ][..],
        ),
        (
            replace((1, 5), "one();", "x"),
            &["Line 2 contains \"    one();\", not \"one();\": they differ in spaces"],
        ),
        (
            replace((1, 5), "a()", "x"),
            &["Line 1 contains \"fn a() {\", not \"a()\" alone: the whole line is needed"],
        ),
        (
            replace((1, 5), "    one();\n    three();", "x"),
            &["Line 3 contains \"    two();\", not \"    three();\""],
        ),
        (replace((1, 0), "    one();\n\n}", "x"), &["Line 3 contains \"    two();\", not \"\""]),
        (
            replace((1, 3), "    one();\n    two();", "x"),
            &["Lines 1-2 do not contain the lines of old", "they stand from line 2 on"],
        ),
        (
            replace((1, 5), "nothing\nlike it", "x"),
            &["Lines 1-4 do not contain the lines of old, which begin with \"nothing\"", "1|fn a() {\n"],
        ),
        (
            replace((1, 0), "    one();", "x"),
            &[
                "The lines of old stand more than once in these lines: from lines 2, 7 on",
                "only the one that you mean",
            ],
        ),
        (replace((9, 0), "x", "y"), &["Line 9 is beyond the end: the file has 8 lines", "are appended"]),
        (replace((3, 3), "x", "y"), &["[3, 3] holds no line"]),
        (
            insert(3, "    one();", "x"),
            &[
                "Line 3 contains \"    two();\", not \"    one();\", which stands in lines 2, 7.",
                "3|    two();\n",
            ],
        ),
        (
            insert(9, "x", "y"),
            &["Line 9 is beyond the end: the file has 8 lines", "lines at the end are appended"],
        ),
        (insert(0, "x", "y"), &["0 names no line", "-1 is the last"]),
        (insert(1, "a\nb", "y"), &["The field anchor holds 2 lines"]),
        (insert(1, "fn a() {", ""), &["The field content is empty", "\"\\n\" is one empty line"]),
        (append(""), &["The field content is empty"]),
    ] {
        let told = refused(text, &edit);
        for word in words {
            assert!(told.contains(word), "{edit:?}: {word:?} in {told}");
        }
    }
    assert!(refused("", &insert(1, "x", "y")).contains("The file is empty"), "with the way to fill it");
}

#[test]
fn many_places_are_counted_and_not_listed() {
    let told = refused(&"a\n".repeat(100), &replace((1, 0), "a", "b"));
    assert!(told.contains("from lines 1, 2, 3, 4, 5, … on"), "{told}");
}

fn any_edit() -> impl Strategy<Value = NumberedEdit> {
    let content = prop_oneof![1 => Just(String::new()), 6 => "[ab\n]{0,6}"];
    let number = -5i64..8;
    prop_oneof![
        (number.clone(), number.clone(), "[ab\n]{0,3}", content.clone()).prop_map(
            |(start, end, old, new)| NumberedEdit::Replace { lines: (start, end).into(), old, new }
        ),
        (number, "[ab]{0,2}", content.clone()).prop_map(|(line, anchor, content)| NumberedEdit::Insert {
            line,
            anchor,
            content
        }),
        content.prop_map(|content| NumberedEdit::Append { content }),
    ]
}

/// Lines as the plainest reading of a content has them.
fn plain_lines(content: &str) -> Vec<String> {
    content.strip_suffix('\n').unwrap_or(content).split('\n').map(str::to_owned).collect()
}

/// What becomes of the contents of the lines; none if that is not certain.
fn naive(lines: &[String], edit: &NumberedEdit) -> Option<Vec<String>> {
    let index = |number: i64, open: usize| match number {
        0 => i64::try_from(open).expect("a few"),
        1.. => number - 1,
        _ => i64::try_from(lines.len()).expect("a few") + number,
    };
    let mut out = lines.to_vec();
    match edit {
        NumberedEdit::Replace { lines: range, old, new } => {
            let (start, end) = (index(range.start, 0), index(range.end, lines.len()));
            let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
            let part = lines.get(range.clone()).filter(|part| !part.is_empty())?;
            let old = plain_lines(old);
            let places: Vec<usize> = (0..part.len()).filter(|at| part[*at..].starts_with(&old)).collect();
            let [at] = places.as_slice() else { return None };
            let at = range.start + at;
            let new = if new.is_empty() { Vec::new() } else { plain_lines(new) };
            out.splice(at..at + old.len(), new);
        }
        NumberedEdit::Insert { line, anchor, content } => {
            let at = usize::try_from(index(*line, 0)).ok().filter(|_| *line != 0)?;
            (lines.get(at)? == anchor && !content.is_empty()).then_some(())?;
            out.splice(at..at, plain_lines(content));
        }
        NumberedEdit::Append { content } => {
            (!content.is_empty()).then_some(())?;
            out.extend(plain_lines(content));
        }
    }
    Some(out)
}

#[test]
fn places_that_overlap_are_several() {
    let words = refused("x\nx\nx\n", &replace((1, 0), "x\nx", "y"));
    assert!(words.contains("more than once in these lines: from lines 1, 2 on"), "{words}");
    assert_eq!(edited("x\nx\nx\n", &replace((2, 0), "x\nx", "y")), "x\ny\n");
}

/// Lines that begin alike everywhere and stand nowhere: a square would take 2,500 times as long. Wide margins to both sides, best of three,
/// as other tests and programs run beside this one.
#[test]
fn a_search_takes_time_in_proportion_to_the_text() {
    let took = |count: usize| {
        let text = Text::from("x\n".repeat(count).as_str());
        let edit = replace((1, 0), &("x\n".repeat(count / 2) + "y"), "z");
        let start = Instant::now();
        assert!(edit.resolve(&text, Options::default()).is_err());
        start.elapsed()
    };
    let best = |count| (0..3).map(|_| took(count)).min().unwrap_or_default();
    let (small, large) = (best(2_000), best(100_000));
    assert!(large < small * 400, "{small:?} for 2,000 lines, {large:?} for 100,000");
}

proptest! {
    #[test]
    fn as_the_plainest_model_has_it_and_every_other_line_keeps_its_bytes(text in any_text(), edit in any_edit()) {
        let (before, newline) = lines_of(&text);
        let contents: Vec<String> = before.iter().map(|(content, _)| content.clone()).collect();
        let expected = naive(&contents, &edit);
        let found = resolved(&text, &edit);
        prop_assert_eq!(expected.is_some(), found.is_ok(), "{:?}: {:?}", expected, found);
        let (Some(expected), Ok(found)) = (expected, found) else { return Ok(()) };
        let after = match apply(&Text::from(text.as_str()), std::slice::from_ref(&found)) {
            Ok(after) => after.to_string(),
            Err(TextError::EndingsWouldJoin) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let (now, newline_now) = lines_of(&after);
        let contents: Vec<String> = now.iter().map(|(content, _)| content.clone()).collect();
        // An empty last line without its ending is no line.
        let cut = !newline && expected.last().is_some_and(String::is_empty);
        let expected = if cut { &expected[..expected.len() - 1] } else { &expected };
        prop_assert_eq!(&contents, expected);
        prop_assert_eq!(newline_now, newline || after.is_empty() || text.is_empty() || cut);
        let (ahead, behind) = (found.lines.start, before.len() - found.lines.end);
        // The last line of a text without a newline at the end has no ending of its own to keep.
        let ahead = if newline { ahead } else { ahead.min(before.len() - 1).min(now.len().saturating_sub(1)) };
        prop_assert_eq!(&now[..ahead], &before[..ahead]);
        let behind = if newline { behind } else { behind.saturating_sub(1) };
        let skip = usize::from(!newline);
        if !cut && behind > 0 {
            prop_assert_eq!(
                &now[now.len() - skip - behind..now.len() - skip],
                &before[before.len() - skip - behind..before.len() - skip]
            );
        }
    }
}
