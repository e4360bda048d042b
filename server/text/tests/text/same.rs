//! What two texts have in common.

use hashline_text::{Line, Text};
use proptest::prelude::*;

use crate::model::{any_lines, any_text, lines_of};

#[test]
fn lines_that_only_look_the_same_are_not() {
    for (one, other) in [
        // The ending differs, or the line begins elsewhere.
        ("a\r\nb\n", "a\rb\n"),
        ("a\r\nb\n", "a\nb\n"),
        ("b\n", "ab\n"),
        ("\nb\n", "x\r\nb\n"),
        ("a\r", "a\r\n"),
        ("a", "a\n"),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let same = Text::from(one).same_lines(0..1, &Text::from(other), 0);
            assert_eq!(same, (0, 0), "{one:?} and {other:?}");
        }
    }
    let (one, other) = (Text::from("a\nb\nc\nd\n"), Text::from("a\nb\nx\nd\n"));
    assert_eq!(one.same_lines(0..4, &other, 0), (2, 1));
    assert_eq!(one.same_lines(0..2, &other, 0), (2, 0));
    assert_eq!(one.same_lines(0..4, &one.clone(), 0), (4, 0));
}

proptest! {
    #[test]
    fn lines_said_to_be_the_same_are(
        text in any_text(), at in 0..40_usize, gone in 0..3_usize, new in any_lines(), newline: bool,
        skipped in 0..4_usize, shift in -2..3_isize,
    ) {
        let one = Text::from(text.as_str());
        let mut other = one.clone();
        let at = at.min(one.line_count());
        let end = (at + gone).min(one.line_count());
        let newline = newline || one.ends_with_newline();
        if other.replace_lines(Line(at)..Line(end), &new, newline).is_err() {
            return Ok(());
        }
        let from = skipped.saturating_add_signed(shift);
        let count = |of: &Text, from: usize| of.line_count().saturating_sub(from);
        let len = count(&one, skipped).min(count(&other, from));
        let (ahead, behind) = one.same_lines(skipped..skipped + len, &other, from);
        prop_assert!(ahead + behind <= len);
        let (ours, theirs) = (lines_of(&one.to_string()), lines_of(&other.to_string()));
        let (ours, theirs) = (ours.get(skipped..).unwrap_or_default(), theirs.get(from..).unwrap_or_default());
        prop_assert_eq!(&ours[..ahead], &theirs[..ahead]);
        prop_assert_eq!(&ours[len - behind..len], &theirs[len - behind..len]);
        prop_assert!(ours[..ahead].iter().chain(&ours[len - behind..len]).all(|(_, ending)| ending.is_some()));
        if skipped == from && at > skipped && len > 0 {
            // All but the line beside the change.
            prop_assert!(ahead + 1 >= (at - skipped).min(len), "{ahead} of {len}, changed at {at}");
        }
    }
}
