//! The plainest possible lines, and texts for properties.

use hashline_text::{Ending, OwnedLine};
use proptest::prelude::*;

/// The lines of a text, character by character.
pub fn lines_of(text: &str) -> Vec<(String, Option<Ending>)> {
    let mut lines = Vec::new();
    let mut content = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let ending = match char {
            '\n' => Ending::Lf,
            '\r' if chars.next_if_eq(&'\n').is_some() => Ending::CrLf,
            '\r' => Ending::Cr,
            _ => {
                content.push(char);
                continue;
            }
        };
        lines.push((std::mem::take(&mut content), Some(ending)));
    }
    if !content.is_empty() {
        lines.push((content, None));
    }
    lines
}

/// Texts full of line endings, wide characters and characters that other tools take for line ends.
pub fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c \t}]{0,6}",
        1 => Just("naïve".to_owned()),
        1 => Just("😀x".to_owned()),
        1 => Just("\u{b}\u{c}\u{85}\u{2028}\u{2029}".to_owned()),
        3 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        // Long enough for lines to lie across pieces of the rope.
        1 => (1..3000_usize).prop_map(|len| "é".repeat(len)),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

pub fn any_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![Just(Ending::Lf), Just(Ending::CrLf), Just(Ending::Cr)]
}

pub fn any_lines() -> impl Strategy<Value = Vec<OwnedLine>> {
    let line = ("[a-c é]{0,3}", any_ending()).prop_map(|(content, ending)| OwnedLine::new(content, ending));
    prop::collection::vec(line, 0..5)
}
