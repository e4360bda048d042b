//! Diffs in which something is other than it should be, and bytes that are none: read or refused, with the reason.

use hashline_anchor::{Options, Patch, explain_patch, explain_rewrite};
use hashline_text::{Text, TextError};
use proptest::prelude::*;
use proptest::sample::Index;
use similar::TextDiff;

use crate::cases::{cases, fuzz};
use crate::whole::{any_text, assert_well_formed};

/// One thing that goes wrong on the way.
#[derive(Clone, Debug)]
enum Mutation {
    Drop(Index),
    Repeat(Index, usize),
    Swap(Index, Index),
    Insert(Index, String),
    Cut(Index),
    Byte(Index, u8),
    Digits(Index, u64),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let line = prop_oneof![
        "[-+ @\\\\]{0,3}[a-c0-9]{0,3}",
        Just("@@".to_owned()),
        Just("@@ -0,0 +1,18446744073709551615 @@".to_owned()),
        Just("@@ -1,99999999999999999999 +1 @@".to_owned()),
        Just("\\ No newline at end of file".to_owned()),
        Just("--- /dev/null".to_owned()),
        Just("+++ b/other".to_owned()),
        Just("diff --git a/x b/x".to_owned()),
        Just("*** Begin Patch".to_owned()),
        Just("*** End of File".to_owned()),
        Just("```diff".to_owned()),
        "\\PC{0,8}",
    ];
    prop_oneof![
        any::<Index>().prop_map(Mutation::Drop),
        (any::<Index>(), 1..40_usize).prop_map(|(at, times)| Mutation::Repeat(at, times)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        (any::<Index>(), line).prop_map(|(at, line)| Mutation::Insert(at, line)),
        any::<Index>().prop_map(Mutation::Cut),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        (any::<Index>(), any::<u64>()).prop_map(|(at, number)| Mutation::Digits(at, number)),
    ]
}

fn mutated(diff: &str, mutations: &[Mutation]) -> String {
    let mut diff = diff.to_owned();
    for mutation in mutations {
        let mut lines: Vec<String> = diff.split_inclusive('\n').map(str::to_owned).collect();
        if lines.is_empty() {
            lines.push("@@\n".to_owned());
        }
        let count = lines.len();
        match mutation {
            Mutation::Drop(at) => drop(lines.remove(at.index(count))),
            Mutation::Repeat(at, times) => {
                let line = lines[at.index(count)].repeat(*times);
                lines.insert(at.index(count), line);
            }
            Mutation::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
            Mutation::Insert(at, line) => lines.insert(at.index(count + 1), format!("{line}\n")),
            Mutation::Cut(at) => {
                let mut bytes = lines.concat().into_bytes();
                bytes.truncate(at.index(bytes.len() + 1));
                lines = vec![String::from_utf8_lossy(&bytes).into_owned()];
            }
            Mutation::Byte(at, byte) => {
                let mut bytes = lines.concat().into_bytes();
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                lines = vec![String::from_utf8_lossy(&bytes).into_owned()];
            }
            Mutation::Digits(at, number) => {
                let line = &mut lines[at.index(count)];
                if let Some(digit) = line.find(|char: char| char.is_ascii_digit()) {
                    line.replace_range(digit..=digit, &number.to_string());
                }
            }
        }
        diff = lines.concat();
    }
    diff
}

/// Reads a diff and brings it into a text. Whatever it is, it is made as it says, or refused in words.
fn try_it(diff: &str, text: &Text) -> Result<(), TestCaseError> {
    match Patch::parse(diff, "/project/src/main.rs") {
        Ok(patch) => match patch.resolve(text, Options::default()) {
            Ok(rewrite) => {
                assert_well_formed(&rewrite, text);
                // A lone `\r` may come before an empty line that ends in `\n`: they would be one line, and the text says so.
                let made = rewrite.apply(text);
                prop_assert!(matches!(made, Ok(_) | Err(TextError::EndingsWouldJoin)), "{made:?}");
            }
            Err(failures) => prop_assert!(!explain_rewrite(&failures, text).is_empty()),
        },
        Err(error) => prop_assert!(!explain_patch(&error).is_empty()),
    }
    Ok(())
}

#[test]
fn a_diff_that_puts_a_lone_return_before_an_empty_line_is_refused_by_the_text() {
    let (old, new) = ("a\nb\ra\na", "\nb\nb\rb\r\r\n\n");
    let diff = TextDiff::from_lines(old, new).unified_diff().to_string();
    let rewrite =
        Patch::parse(&diff, "/project/src/main.rs").unwrap().resolve(&Text::from(old), Options::default());
    let made = rewrite.unwrap().apply(&Text::from(old));
    assert!(matches!(made, Err(TextError::EndingsWouldJoin)), "{made:?}\n{diff:?}");
}

#[test]
fn a_diff_that_was_changed_is_read_or_refused() {
    let mutations = prop::collection::vec(mutation(), 0..6);
    fuzz(file!(), (any_text(), any_text(), any::<bool>(), mutations), |(old, new, headers, mutations)| {
        let diff = TextDiff::from_lines(old.as_str(), new.as_str());
        let mut unified = diff.unified_diff();
        if headers {
            unified.header("a/src/main.rs", "b/src/main.rs");
        }
        try_it(&mutated(&unified.to_string(), &mutations), &Text::from(old))
    });
}

#[test]
fn any_bytes_are_read_or_refused() {
    fuzz(file!(), (any::<Vec<u8>>(), any_text()), |(bytes, text)| {
        try_it(&String::from_utf8_lossy(&bytes), &Text::from(text))
    });
}

proptest! {
    #![proptest_config(cases(20))]

    /// Many equal lines are what a search for the place of a hunk could lose itself in.
    #[test]
    fn many_lines_take_no_time_to_speak_of(
        file in prop::collection::vec("[ab]{0,1}\n", 1..4), times in 1_000..20_000_usize,
        hunk in prop::collection::vec("[-+ ][ab]{0,1}\n", 1..6), repeats in 1..2_000_usize, hunks in 1..40_usize,
    ) {
        let diff = format!("@@\n{}", hunk.concat().repeat(repeats)).repeat(hunks);
        try_it(&diff, &Text::from(file.concat().repeat(times)))?;
    }
}
