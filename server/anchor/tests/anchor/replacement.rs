//! Exact pieces replaced by others: as replacing the characters does, and refused where it is not certain.

use hashline_anchor::{
    Mismatch, Options, Part, Replacement, Rewrite, RewriteFailure, explain_rewrite, replace,
};
use hashline_text::{Line, Text};
use proptest::prelude::*;

use crate::model::tag;
use crate::whole::{any_text, assert_well_formed};

fn rewrite(text: &str, edits: &[(&str, &str)]) -> Result<Rewrite, Vec<RewriteFailure>> {
    let edits: Vec<Replacement> = edits.iter().map(|(old, new)| Replacement::new(*old, *new)).collect();
    let text = Text::from(text);
    let rewrite = replace(&text, &edits, Options::default())?;
    assert_well_formed(&rewrite, &text);
    Ok(rewrite)
}

fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    rewrite(text, edits).expect("found").apply(&text.into()).expect("applies").to_string()
}

fn refused(text: &str, edits: &[(&str, &str)]) -> (Vec<RewriteFailure>, String) {
    let failures = rewrite(text, edits).expect_err("refused");
    let words = explain_rewrite(&failures, &text.into());
    assert!(words.starts_with("The edit was refused and nothing was changed.\n- edit "), "{words}");
    (failures, words)
}

/// The edits that change nothing, where none of them does.
fn idle(text: &str, edits: &[(&str, &str)]) -> Vec<usize> {
    let rewrite = rewrite(text, edits).expect("found");
    assert_eq!((rewrite.hunks.len(), rewrite.newline_at_end), (0, None));
    rewrite.idle
}

#[test]
fn pieces_of_lines_and_lines() {
    for (text, old, new, after) in [
        ("one two three\n", "two", "2", "one 2 three\n"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
        ("a\nb\nc\n", "b", "", "a\n\nc\n"),
        ("a\nb\nc\n", "\nb", "", "a\nc\n"),
        ("a\nb\nc\n", "a\nb\nc\n", "", ""),
        ("a\nb\nc", "\n", "-", "refused"),
        ("a\nb", "a\n", "a-", "a-b"),
        ("a\nb\n", "b\n", "b", "a\nb"),
        ("a\nb", "b", "b\n", "a\nb\n"),
        ("a\nb\nc\n", "a\nb", "x\na\nb\ny", "x\na\nb\ny\nc\n"),
        ("für\u{2028}x\n", "ü", "u", "fur\u{2028}x\n"),
        ("a\0b\u{1b}\n", "\0b", "\u{7}", "a\u{7}\u{1b}\n"),
    ] {
        match after {
            "refused" => assert!(rewrite(text, &[(old, new)]).is_err()),
            _ => assert_eq!(edited(text, &[(old, new)]), after, "{text:?} {old:?} {new:?}"),
        }
    }
}

#[test]
fn several_edits_go_by_one_text() {
    assert_eq!(edited("a b c\nd\n", &[("c\nd", "C\nD"), ("a", "b"), ("b", "a")]), "b a C\nD\n");
    let rewrite = rewrite("1\n2\n3\n4\n5\n", &[("4\n", ""), ("1", "one"), ("2", "two")]).unwrap();
    let hunks: Vec<_> = rewrite.hunks.iter().map(|hunk| (hunk.lines.clone(), hunk.parts.clone())).collect();
    assert_eq!(hunks, [(0..2, vec![1, 2]), (3..4, vec![0])]);
    assert_eq!(rewrite.named, [3..4, 0..2, 0..2]);
}

#[test]
fn unchanged_lines_around_are_no_part_of_a_hunk() {
    let rewrite = rewrite("a\nb\nc\nd\ne\n", &[("b\nc\nd\n", "b\nC\nd\n")]).unwrap();
    assert_eq!(rewrite.hunks[0].lines, 2..3);
    assert_eq!(rewrite.named.first(), Some(&(1..4)));
}

#[test]
fn endings_are_the_files() {
    let crlf = "one\r\ntwo\r\nthree\r\n";
    assert_eq!(edited(crlf, &[("one\ntwo\n", "1\n1b\n2\n")]), "1\r\n1b\r\n2\r\nthree\r\n");
    assert_eq!(edited(crlf, &[("two", "2\n2b")]), "one\r\n2\r\n2b\r\nthree\r\n");
    assert_eq!(edited(crlf, &[("\ntwo", "")]), "one\r\nthree\r\n");
    assert_eq!(edited("one\ntwo\n", &[("one\r\ntwo", "1\r\n2")]), "1\n2\n");
    assert_eq!(edited("one\rtwo\r", &[("one\ntwo", "1\n2\n3")]), "1\r2\r3\r");
    // Mixed: lines that stay keep theirs.
    assert_eq!(edited("a\r\nb\nc\r\n", &[("a\nb\nc", "x\na\nb\nc")]), "x\r\na\r\nb\nc\r\n");
    assert_eq!(edited("x\na\r\nb\n", &[("x\na\nb", "a\nb")]), "a\r\nb\n");
    // Sent with the endings that the file has, a piece is taken at its word.
    assert_eq!(edited("one\r\ntwo\r\n", &[("one\r\n", "one\n")]), "one\ntwo\r\n");
    // Which of the two is meant is told by the ending.
    assert_eq!(edited("a\r\nb\na\nb\n", &[("a\nb", "x")]), "a\r\nb\nx\n");
}

#[test]
fn an_empty_text() {
    assert_eq!(edited("", &[("", "a\r\nb")]), "a\r\nb");
    let (failures, words) = refused("a\n", &[("", "x")]);
    assert_eq!(failures[0].problem, Mismatch::NoOld);
    assert!(words.contains("write_file"), "{words}");
    assert_eq!(idle("", &[("", "")]), [0]);
    assert_eq!(refused("", &[("", "a"), ("", "b")]).0[0].part, Part::Edit(1));
    // An editor's empty document.
    let blank = Text::from("\n");
    let options = Options { blank_is_empty: true };
    for (new, after) in [("a", "a\n"), ("a\n", "a\n"), ("a\nb", "a\nb\n")] {
        let rewrite = replace(&blank, &[Replacement::new("", new)], options).unwrap();
        assert_eq!(rewrite.apply(&blank).unwrap(), after);
    }
    assert!(replace(&blank, &[Replacement::new("", "a")], Options::default()).is_err());
}

#[test]
fn what_is_to_stay_as_it_is_makes_no_hunk() {
    assert_eq!(idle("a\n", &[("a", "a")]), [0]);
    // Which one is meant does not matter; but one has to be there.
    assert_eq!(idle("a\r\na\r\n", &[("a\n", "a\n")]), [0]);
    assert!(matches!(refused("a\n", &[("b", "b")]).0[0].problem, Mismatch::NotFound { .. }));
    let text = Text::from("one\ntwo\nthree\n");
    let edits = [("two", "2"), ("one\ntwo", "one\ntwo"), ("three", "three")];
    let edits = edits.map(|(old, new)| Replacement::new(old, new));
    let rewrite = replace(&text, &edits, Options::default()).unwrap();
    assert_eq!((rewrite.hunks.len(), rewrite.idle.as_slice()), (1, &[1, 2][..]));
    assert_eq!(rewrite.named, [1..2, 0..2, 2..3]);
    assert_eq!(rewrite.apply(&text).unwrap(), "one\n2\nthree\n");
}

#[test]
fn a_change_of_line_endings_alone_is_refused() {
    let (failures, words) = refused("a\nb\n", &[("a\nb", "a\r\nb")]);
    assert_eq!(failures[0].problem, Mismatch::OnlyEndings);
    assert!(words.contains("line endings"), "{words}");
}

#[test]
fn what_is_not_there_is_shown_what_comes_nearest() {
    let text =
        "fn one() {\n    let total = compute(first);\n}\n\nfn two() {\n    let total = count(second);\n}\n";
    let (failures, words) = refused(text, &[("    let totl = count(second);", "x")]);
    let Mismatch::NotFound { nearest, .. } = &failures[0].problem else { panic!("{failures:?}") };
    assert_eq!(nearest[0].lines, 5..6);
    assert!(words.contains(&format!("{}|    let total = count(second);", tag(&text.into(), 6))), "{words}");
    assert!(words.contains("What comes nearest is line 6, below."), "{words}");

    let (_, words) = refused(text, &[("fn two() {\n\tlet total = count(second);\n}", "x")]);
    assert!(words.contains("But lines 5-7, below, differ from it in spaces alone."), "{words}");

    // A piece of a long line.
    let (failures, _) = refused(text, &[("totl = compute", "x")]);
    let Mismatch::NotFound { nearest, .. } = &failures[0].problem else { panic!("{failures:?}") };
    assert_eq!(nearest[0].lines, 1..2);

    let (failures, words) = refused(text, &[("0123456789", "x")]);
    assert_eq!(failures[0].problem, Mismatch::NotFound { nearest: Vec::new(), header: None });
    assert!(words.contains("read the file again") && !words.contains("|fn one"), "{words}");
    assert!(refused("", &[("a", "x")]).1.ends_with("The file is empty now.\n"));
}

#[test]
fn what_is_there_more_than_once_is_named() {
    let (failures, words) = refused("a\nx\nb\nx\n", &[("x", "y")]);
    let problem = Mismatch::Ambiguous { places: vec![1..2, 3..4], more: false, named: None };
    assert_eq!(failures[0].problem, problem);
    assert!(words.contains("old stands in the file in 2 places (line 2, line 4)."), "{words}");
    assert!(words.contains(&format!("{}|x\n", tag(&"a\nx\nb\nx\n".into(), 4))), "{words}");
    // Also where the places share characters.
    assert!(matches!(refused("aaa\n", &[("aa", "b")]).0[0].problem, Mismatch::Ambiguous { .. }));
    let (failures, words) = refused(&"x\n".repeat(1000), &[("x", "y")]);
    assert!(
        matches!(&failures[0].problem, Mismatch::Ambiguous { places, more: true, .. } if places.len() == 5)
    );
    assert!(words.contains("in more than 5 places (line 1, line 2, line 3, line 4, line 5, …)"), "{words}");
    // Of a long piece the beginning is shown.
    let long = "abc\n".repeat(500);
    assert!(refused(&(long.clone() + "x\n" + &long), &[(&long, "")]).1.len() < 2000);
}

#[test]
fn overlaps_are_refused() {
    let (failures, words) = refused("one two three\n", &[("two three", "2"), ("one two", "1")]);
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].part, Part::Edit(1));
    assert!(words.contains("edit 2: it takes line 1 and edit 1 takes line 1."), "{words}");
    assert_eq!(edited("one two three\n", &[("one ", "1 "), ("two", "2")]), "1 2 three\n");
}

#[test]
fn pasted_tags_are_refused() {
    let text = "alpha\nbeta\n";
    let tagged = format!("{}|beta", tag(&text.into(), 2));
    let (failures, words) = refused(text, &[(&tagged, "x")]);
    assert_eq!(failures[0].problem, Mismatch::OldHasTags { line: Line(1) });
    assert!(words.contains("send the lines without them") && words.contains("|beta\n"), "{words}");
    let (failures, words) = refused(text, &[("beta", &format!("b\n{tagged}"))]);
    assert!(matches!(failures[0].problem, Mismatch::RepeatsTag { content_line: 1, line: Line(1), .. }));
    assert!(words.contains("line 2 of what it puts in begins with 2:"), "{words}");
    // Where the text itself has them, they are text.
    let text = format!("alpha\nbeta\nSee {tagged}\n{tagged}\n");
    let (old, new) = (format!("\n{tagged}\n"), format!("\n{tagged}\nmore\n"));
    assert!(edited(&text, &[(&old, &new)]).ends_with("\nmore\n"));
}

#[test]
fn all_failures_are_told_at_once_and_too_many_are_counted() {
    let (failures, _) = refused("a\nb\n", &[("x", "y"), ("a", "A"), ("", "z"), ("b", "b")]);
    assert_eq!(failures.iter().map(|failure| failure.part.index()).collect::<Vec<_>>(), [0, 2]);
    let many: Vec<_> = (0..30).map(|_| ("nowhere", "y")).collect();
    assert!(refused("a\n", &many).1.contains("- and 10 more.\n"));
    let many: Vec<_> = (0..2000).map(|_| ("nowhere", "y")).collect();
    assert_eq!(refused("a\n", &many).0[0].problem, Mismatch::TooMany { most: 1000 });
}

/// All texts of the property, but with one kind of ending.
fn with(ending: &str, text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', ending)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn replacing_is_replacing_characters(text in any_text(), crlf: bool, from: prop::sample::Index, len in 1..12_usize, new in any_text()) {
        let ending = if crlf { "\r\n" } else { "\n" };
        let (lf, new) = (with("\n", &text), with("\n", &new));
        let starts: Vec<usize> = lf.char_indices().map(|(at, _)| at).collect();
        if starts.is_empty() {
            return Ok(());
        }
        // Without a line that ends there is nothing to go by.
        let ending = if lf.contains('\n') { ending } else { "\n" };
        let from = from.index(starts.len());
        let start = starts[from];
        let end = starts.get(from + len).copied().unwrap_or(lf.len());
        let old = &lf[start..end];
        let once = lf.match_indices(old).count() == 1;
        let text = Text::from(with(ending, &lf));
        match replace(&text, &[Replacement::new(old, new.as_str())], Options::default()) {
            Ok(rewrite) => {
                assert_well_formed(&rewrite, &text);
                prop_assert!(once || old == new);
                let after = with(ending, &format!("{}{new}{}", &lf[..start], &lf[end..]));
                prop_assert_eq!(rewrite.apply(&text).unwrap().to_string(), after);
                for hunk in &rewrite.hunks {
                    prop_assert!(rewrite.named[0].start <= hunk.lines.start && hunk.lines.end <= rewrite.named[0].end);
                }
            }
            Err(failures) => {
                // Pieces that share characters are no matches to a plain search.
                let ambiguous = matches!(failures[0].problem, Mismatch::Ambiguous { .. });
                prop_assert!(ambiguous && old != new, "{:?}", failures);
            }
        }
    }

    /// Two pieces at once, in whatever order.
    #[test]
    fn two_edits_are_one_after_the_other(text in any_text(), cuts: [prop::sample::Index; 4], news in any::<[bool; 2]>(), swap: bool) {
        let mut starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        starts.retain(|at| !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n')));
        let mut cuts = cuts.map(|cut| starts[cut.index(starts.len())]);
        cuts.sort_unstable();
        let [a, b, c, d] = cuts;
        if a == b || c == d {
            return Ok(());
        }
        let new = |long: bool| if long { "<x>" } else { "" };
        let mut edits = vec![Replacement::new(&text[a..b], new(news[0])), Replacement::new(&text[c..d], new(news[1]))];
        if swap {
            edits.reverse();
        }
        let before = Text::from(text.as_str());
        if let Ok(rewrite) = replace(&before, &edits, Options::default()) {
            assert_well_formed(&rewrite, &before);
            let after = format!("{}{}{}{}{}", &text[..a], new(news[0]), &text[b..c], new(news[1]), &text[d..]);
            prop_assert_eq!(rewrite.apply(&before).unwrap().to_string(), after);
        }
    }

    #[test]
    fn nothing_panics(text in any_text(), old: String, new: String, piece in any_text()) {
        let text = Text::from(text);
        let edits = [Replacement::new(old, new.clone()), Replacement::new(piece, new)];
        for options in [Options::default(), Options { blank_is_empty: true }] {
            match replace(&text, &edits, options) {
                Ok(rewrite) => assert_well_formed(&rewrite, &text),
                Err(failures) => prop_assert!(!explain_rewrite(&failures, &text).is_empty()),
            }
        }
    }
}
