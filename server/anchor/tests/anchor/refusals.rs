//! What is refused, and what the agent is told.

use hashline_anchor::{Problem, explain};
use hashline_text::{Line, Text};

use crate::model::{op, resolved, tag};

/// Ten lines, of which 3, 6 and 9 are the same.
const TEXT: &str = "one\ntwo\n}\nfour\nfive\n}\nseven\neight\n}\nten\n";

fn at(number: usize) -> String {
    tag(&TEXT.into(), number)
}

fn words(raw: &[hashline_anchor::RawOperation]) -> String {
    let failures = resolved(TEXT, raw).expect_err("refused");
    let words = explain(&failures, &TEXT.into());
    assert!(words.starts_with("The edit was refused and nothing was changed.\n- operation "), "{words}");
    words
}

#[test]
fn no_line_has_the_hash() {
    let failures = resolved(TEXT, &[op("delete", "5:00", None)]).unwrap_err();
    assert!(matches!(failures[0].problem, Problem::NotFound { lines: 10, instead: Some(_), .. }));
    let words = words(&[op("delete", "5:00", None)]);
    let hash = &at(5)[2..];
    assert!(
        words.contains(&format!("line 5 has the hash {hash}, and no other line has the hash 00")),
        "{words}"
    );
    let fresh = [3, 4, 5, 6, 7].map(|number| format!("{}|", at(number)));
    assert!(fresh.iter().all(|tag| words.contains(tag)), "{words}");
    assert!(!words.contains("\n2:") && !words.contains("\n8:"), "{words}");
}

#[test]
fn several_lines_have_it() {
    let failures = resolved(TEXT, &[op("delete", "7:88", None)]).unwrap_err();
    let Problem::Ambiguous { matches, nearest, .. } = &failures[0].problem else { panic!("{failures:?}") };
    assert_eq!((*matches, &nearest[..]), (3, &[Line(5), Line(8), Line(2)][..]));
    let words = words(&[op("delete", "7:88", None)]);
    assert!(words.contains("3 other lines have the hash 88 (nearest: line 6, line 9, line 3)"), "{words}");
    // The same tag, where it is exact, is not in doubt.
    assert!(resolved(TEXT, &[op("delete", "6:88", None)]).is_ok());
}

#[test]
fn beyond_the_end() {
    let words = words(&[op("delete", "40:00", None)]);
    assert!(words.contains("the file has only 10 lines"), "{words}");
    assert!(words.contains(&format!("\n{}|ten\n", at(10))), "the end of the file is shown: {words}");
    let failures = resolved("", &[op("delete", "1:00", None)]).unwrap_err();
    let words = explain(&failures, &Text::new());
    assert!(
        words.contains("the file is empty") && words.contains("insert_after with the anchor 0:"),
        "{words}"
    );
}

#[test]
fn the_copied_text_is_another() {
    let anchor = format!("{}|vier", at(4));
    let failures = resolved(TEXT, &[op("delete", &anchor, None)]).unwrap_err();
    assert!(
        matches!(&failures[0].problem, Problem::CopiedDiffers { at: Line(3), content, .. } if content == "four")
    );
    let words = words(&[op("delete", &anchor, None)]);
    assert!(words.contains("is not that of line 4, which reads \"four\""), "{words}");
    // Also where the hash led elsewhere.
    let moved = format!("5{}|vier", &at(4)[1..]);
    assert!(resolved(TEXT, &[op("delete", &moved, None)]).is_err());
    let moved = format!("5{}|four", &at(4)[1..]);
    assert!(resolved(TEXT, &[op("delete", &moved, None)]).is_ok());
    // A long line is shown cut, and copied so.
    let cut = format!("{}|fo… [cut: 2 more characters; line is 4 characters]", at(4));
    assert!(resolved(TEXT, &[op("delete", &cut, None)]).is_ok());
    let cut = format!("{}|fx… [cut: 2 more characters; line is 4 characters]", at(4));
    assert!(resolved(TEXT, &[op("delete", &cut, None)]).is_err());
}

#[test]
fn ranges_that_do_not_hold_together() {
    let reversed = [op("delete", &at(5), None).end(at(4))];
    assert!(words(&reversed).contains("before it starts at 5:"), "{}", words(&reversed));

    // The first end exact, the last one found a line further.
    let uneven = [op("delete", &at(1), None).end(format!("4{}", &at(5)[1..]))];
    let failures = resolved(TEXT, &uneven).unwrap_err();
    assert!(matches!(failures[0].problem, Problem::UnevenMove { .. }), "{failures:?}");
    assert!(words(&uneven).contains("its first line is line 1 and its last is line 5"), "{}", words(&uneven));

    // The last one lost.
    let lost = [op("delete", &at(1), None).end("4:00")];
    assert!(matches!(resolved(TEXT, &lost).unwrap_err()[0].problem, Problem::NotFound { .. }));
}

#[test]
fn all_failures_are_told_at_once() {
    let raw = [
        op("delete", "5:00", None),
        op("replace", &at(1), Some("x")).end(at(3)),
        op("insert_after", &at(2), Some("inside")),
        op("replace", &at(10), Some(&format!("{}|ten!", at(10)))),
    ];
    let failures = resolved(TEXT, &raw).unwrap_err();
    assert_eq!(failures.iter().map(|failure| failure.op).collect::<Vec<_>>(), [0, 2, 3]);
    let words = words(&raw);
    assert!(
        words.contains(
            "- operation 3 (insert_after): it inserts between lines 2 and 3 and operation 2 (replace_range) takes lines 1-3."
        ),
        "{words}"
    );
    assert!(words.contains("- operation 4 (replace): line 1 of its content begins with 10:"), "{words}");
    assert!(words.ends_with("|ten\n"), "{words}");
}

/// The lines shown are those of the text as it is now, not of the snapshot.
#[test]
fn fresh_lines_are_of_the_current_text() {
    let failures = resolved(TEXT, &[op("delete", "2:00", None)]).unwrap_err();
    let words = explain(&failures, &"new\n".into());
    let now = Text::from("new\n");
    assert!(words.ends_with(&format!("The lines as they are now:\n{}|new\n", tag(&now, 1))), "{words}");
}

#[test]
fn long_lines_are_cut_in_what_is_shown() {
    let text = Text::from("x".repeat(100_000).as_str());
    let raw = [op("delete", "1:00|y", None)];
    let failures = resolved(&text.to_string(), &raw).unwrap_err();
    assert!(explain(&failures, &text).len() < 2000);
}
