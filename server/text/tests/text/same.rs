//! What two texts have in common.

use std::collections::HashSet;

use hashline_text::{Ending, Line, OwnedLine, Text};
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

#[test]
fn what_a_text_takes_beside_another_is_what_it_does_not_share() {
    let one = Text::from("a line of text\n".repeat(20_000));
    assert_eq!(one.bytes_beside(&one.clone()), 0);
    let anew = Text::from(one.to_string());
    let all = anew.bytes_beside(&one);
    assert!((one.len_bytes()..one.len_bytes() * 5 / 4).contains(&all), "{all} of {}", one.len_bytes());
    let mut other = one.clone();
    let mut last = 0;
    for line in [10, 10_000, 19_990, 5_000, 15_000] {
        let new = [OwnedLine::new("new", Ending::Lf)];
        other.replace_lines(Line(line)..Line(line), &new, true).unwrap();
        let bytes = other.bytes_beside(&one);
        // The piece that was changed, perhaps one more, and the nodes above it.
        assert!((last + 1024..last + 8 * 1024).contains(&bytes), "{last} and then {bytes}");
        last = bytes;
    }
    assert!(one.bytes_beside(&other) <= last);
}

proptest! {
    #[test]
    fn only_pieces_that_the_other_lacks_count(text in any_text(), repeat in 1..300_usize, changes in prop::collection::vec((0..2_000_usize, any_lines()), 0..4)) {
        let one = Text::from(text.repeat(repeat));
        let mut other = one.clone();
        for (at, new) in changes {
            let at = Line(at.min(other.line_count()));
            let _ = other.replace_lines(at..at, &new, true);
        }
        for (one, other) in [(&one, &other), (&other, &one)] {
            let theirs: HashSet<_> = other.chunks().map(str::as_ptr).collect();
            let own = one.chunks().filter(|chunk| !theirs.contains(&chunk.as_ptr())).count();
            let bytes = one.bytes_beside(other);
            prop_assert_eq!(bytes == 0, own == 0 || one.is_same_instance(other));
            prop_assert!(bytes >= own * 1024 || one.is_same_instance(other));
            prop_assert!(bytes <= own * 6 * 1024);
        }
    }
}

proptest! {
    #[test]
    fn a_text_is_made_of_another_and_the_difference(one in any_text(), at in 0..60_usize, gone in 0..9_usize, new in any_text(), most in 0..4_000_usize) {
        let chars: Vec<char> = one.chars().collect();
        let (before, rest) = chars.split_at(at.min(chars.len()));
        let after = &rest[gone.min(rest.len())..];
        let other: String = before.iter().chain(&new.chars().collect::<Vec<_>>()).chain(after).collect();
        let (one, other) = (Text::from(one), Text::from(other));
        for (one, other) in [(&one, &other), (&other, &one)] {
            match one.difference_from(other, most) {
                Some(difference) => {
                    prop_assert!(difference.bytes() <= most);
                    prop_assert_eq!(difference.applied_to(other), one.clone());
                }
                None => prop_assert!(one.difference_from(other, usize::MAX).is_some_and(|it| it.bytes() > most)),
            }
        }
    }
}

#[test]
fn characters_whose_first_or_last_bytes_are_the_same_differ_as_a_whole() {
    // é is C3 A9, è is C3 A8, and © is C2 A9.
    for (one, other) in [("aéb", "aèb"), ("aéb", "a©b"), ("é", ""), ("éé", "é"), ("xé", "x"), ("\r\n", "\n")]
    {
        for (one, other) in [(one, other), (other, one)] {
            let (one, other) = (Text::from(one), Text::from(other));
            assert_eq!(one.difference_from(&other, 1_000).unwrap().applied_to(&other), one);
        }
    }
    let (one, other) = (Text::from("a\n".repeat(50_000)), Text::from("a\n".repeat(49_999) + "b\n"));
    assert!(one.difference_from(&other, 1_000).unwrap().bytes() < 64);
}
