//! Texts of others that editors, terminals and agents read as a part of what hashline says.

/// A text on one line, all of which shows, and no more of it than so many characters.
///
/// Whatever breaks a line or moves a cursor, turns text around or cannot be seen is left out.
pub(crate) fn one_line(given: &str, longest: usize) -> String {
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
        }
    }
}
