//! The documents that are worked on, and what is to be known of a line.

use std::hash::Hasher;

use fnv::FnvHasher;

/// One line, about 41 bytes with its end.
pub fn line(number: usize) -> String {
    format!("    let total_{number:07} = add({}, 1234);", number % 100_000)
}

/// So many lines, each with its end.
pub fn text(lines: usize) -> String {
    let mut text = String::with_capacity(lines * 44);
    for number in 1..=lines {
        text.push_str(&line(number));
        text.push('\n');
    }
    text
}

/// How agents name a line: its number and the lowest byte of its hash.
pub fn anchor(number: usize, line: &str) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(line.trim_end().as_bytes());
    format!("{number}:{:02x}", hasher.finish() & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_the_size_that_was_measured_elsewhere() {
        let text = text(10_000);
        assert_eq!(text.lines().count(), 10_000);
        assert!((38..=45).contains(&(text.len() / 10_000)), "{}", text.len());
    }

    #[test]
    fn an_anchor_is_as_the_format_says() {
        assert_eq!(anchor(2, "  return \"world\";"), "2:98");
    }
}
