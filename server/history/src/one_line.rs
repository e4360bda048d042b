//! Texts of others that editors, terminals and agents read as a part of what hashline says.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text on one line, all of which shows, and no more of it than so many characters.
///
/// Whatever breaks a line or moves a cursor, turns text around or cannot be seen is left out.
#[must_use]
pub fn one_line(given: &str, longest: usize) -> String {
    let mut seen = String::with_capacity(given.len().min(4 * longest));
    for letter in given.chars().filter(|letter| !is_hidden(*letter)) {
        // Without a letter before it, it would be there and not be seen.
        if !is_joiner(letter) || seen.ends_with(|before: char| !before.is_whitespace()) {
            seen.push(letter);
        }
    }
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().nth(longest).is_none() {
        return line;
    }
    let kept: String = line.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Whether a character shows as it is, and leaves the line in which it stands as it is.
#[must_use]
pub fn shows(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}') && !is_hidden(letter)
}

/// JSON that means the same, and whose strings are written with `\u` wherever a character does not show as it is.
#[must_use]
pub fn inert_json(json: &str) -> Cow<'_, str> {
    // Between strings there are no others than line breaks.
    let stays = |letter: char| letter == '\n' || shows(letter);
    if json.chars().all(stays) {
        return json.into();
    }
    let mut inert = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if stays(letter) {
            inert.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(inert, "\\u{unit:04x}");
        }
    }
    inert.into()
}

/// Whether a character is obeyed, or not seen: controls but those that end lines, what turns text around, and most of what Unicode calls
/// ignorable.
fn is_hidden(letter: char) -> bool {
    (letter.is_control() && !letter.is_whitespace())
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}'
                | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether a character only says how the letters beside it look: many scripts, and emoji, are written with them.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_to_visible_characters_on_one_line() {
        let long = "n".repeat(5_000);
        let (most, cut) = ("n".repeat(64), format!("{}…", "n".repeat(63)));
        for (given, line) in [
            ("claude-code", "claude-code"),
            ("日本 é 😀 ❤\u{fe0f} می\u{200c}خواهم", "日本 é 😀 ❤\u{fe0f} می\u{200c}خواهم"),
            ("  a \r\n\t b\u{2028}c\u{85} ", "a b c"),
            ("\u{1b}]0;owned\u{7}\u{9b}2J", "]0;owned2J"),
            ("a\u{202e}b\u{2066}\u{200b}\u{feff}\u{e0041}c\0", "abc"),
            ("\u{200d}a \u{fe0f}b", "a b"),
            ("", ""),
            ("\u{202e}\n\u{200b}\u{200d}\u{2800}", ""),
            (&long[..64], &most),
            (&long[..65], &cut),
            (&long, &cut),
            (&format!("{most}\n\u{202e} "), &most),
            (&format!("{} {most}", &long[..62]), &format!("{}…", &long[..62])),
        ] {
            assert_eq!(one_line(given, 64), line, "{given:?}");
            assert_eq!(one_line(line, 64), line, "a clean text stays what it is");
            assert!(line.chars().all(shows), "{line:?}");
        }
    }

    #[test]
    fn json_means_the_same_and_does_nothing_to_whoever_reads_it() {
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        for text in ["a b", "\u{9b}2J", "a\u{202e}b\u{2028}", "a\u{e0041}", "\u{7f}\n\t\"\\é😀"] {
            let value = serde_json::json!([text, { text: 1 }]);
            for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let inert = inert_json(&json);
                assert!(inert.chars().all(|letter| letter == '\n' || shows(letter)), "{inert:?}");
                assert_eq!(read(&inert), value);
            }
        }
        assert_eq!(inert_json("\"a\u{e0041}\""), "\"a\\udb40\\udc41\"");
    }
}
