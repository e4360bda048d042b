//! The content of an operation as lines.

use hashline_text::Ending;

/// Splits content into lines, at `\n`, `\r\n` and `\r`. One ending at the end is taken as the end of the last line;
/// the empty content is one empty line.
///
/// ```
/// use hashline_anchor::content_lines;
/// assert_eq!(content_lines("a\r\nb\n"), ["a", "b"]);
/// assert_eq!(content_lines("a\n\n"), ["a", ""]);
/// assert_eq!(content_lines(""), [""]);
/// ```
#[must_use]
pub fn content_lines(content: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = content;
    while let Some((len, ending)) = Ending::find(rest.as_bytes()) {
        lines.push(rest[..len].to_owned());
        rest = &rest[len + ending.len()..];
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}
