//! Tagged lines: `LINE:HH|content`, how agents read text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use hashline_text::Text;

use crate::{LineHash, line_hash};

/// Writes lines (counted from 0; what lies beyond the text is left out) as `LINE:HH|content`, LINE counted from 1.
/// The content is written as it is, control characters too.
pub fn write_tagged(out: &mut String, text: &Text, lines: Range<usize>) {
    write_tagged_cut(out, text, lines, usize::MAX);
}

/// As [`write_tagged`], cutting the content of lines longer than `max_line_chars` characters, with a notice. The
/// hash is that of the whole line.
///
/// ```
/// let mut out = String::new();
/// hashline_anchor::write_tagged_cut(&mut out, &"function hello() {\n".into(), 0..1, 8);
/// assert_eq!(out, "1:d3|function… [cut: 10 more characters; line is 18 characters]\n");
/// ```
pub fn write_tagged_cut(out: &mut String, text: &Text, lines: Range<usize>, max_line_chars: usize) {
    let first = lines.start;
    let lines = text.lines(lines);
    // A tag and the newline, and lines of common length.
    out.reserve(lines.len().saturating_mul(48).min(text.len_bytes().saturating_mul(2)));
    let mut tag = Tag::at(first);
    for line in lines {
        match line.as_str() {
            Some(content) => tag.write(out, content, max_line_chars),
            None => tag.write(out, &line.content(), max_line_chars),
        }
        tag.advance();
    }
}

/// Writes one tagged line of this content; `line` is counted from 0.
pub fn write_tagged_line(out: &mut String, line: usize, content: &str) {
    Tag::at(line).write(out, content, usize::MAX);
}

/// Writes tagged lines around places in a text: each range (lines counted from 0, may be empty) with `context` lines
/// on both sides, in text order, what touches joined, with a line `…` between parts that do not. A place beyond the
/// end stands for the end.
pub fn write_regions(
    out: &mut String,
    text: &Text,
    places: &[Range<usize>],
    context: usize,
    max_line_chars: usize,
) {
    for (at, region) in regions(text.line_count(), places, context).into_iter().enumerate() {
        if at > 0 {
            out.push_str("…\n");
        }
        write_tagged_cut(out, text, region, max_line_chars);
    }
}

/// The ranges widened by the context, within the text, sorted and joined.
fn regions(count: usize, places: &[Range<usize>], context: usize) -> Vec<Range<usize>> {
    let widen = |place: &Range<usize>| {
        let start = place.start.min(count);
        let end = place.end.clamp(start, count);
        start.saturating_sub(context)..end.saturating_add(context).min(count)
    };
    let mut wide: Vec<_> = places.iter().map(widen).collect();
    wide.sort_by_key(|region| (region.start, region.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(wide.len());
    for region in wide {
        match joined.last_mut() {
            Some(last) if region.start <= last.end => last.end = last.end.max(region.end),
            _ => joined.push(region),
        }
    }
    joined
}

/// The tag before a line's content, kept as digits that are counted up in place: formatting each number anew would
/// cost as much as all the rest.
struct Tag {
    /// The number, right-aligned before `:HH|`.
    bytes: [u8; Self::LEN],
    start: usize,
}

impl Tag {
    /// A number of 20 digits, and `:HH|`.
    const LEN: usize = 24;
    const DIGITS_END: usize = Self::LEN - 4;

    /// The tag of a line counted from 0.
    fn at(line: usize) -> Self {
        let mut bytes = [b'0'; Self::LEN];
        bytes[Self::DIGITS_END] = b':';
        bytes[Self::LEN - 1] = b'|';
        let mut start = Self::DIGITS_END;
        let mut number = line.saturating_add(1);
        while number > 0 && start > 0 {
            start -= 1;
            bytes[start] = b"0123456789"[number % 10];
            number /= 10;
        }
        Self { bytes, start }
    }

    /// Counts up.
    fn advance(&mut self) {
        for at in (0..Self::DIGITS_END).rev() {
            self.start = self.start.min(at);
            if self.bytes[at] != b'9' {
                self.bytes[at] += 1;
                return;
            }
            self.bytes[at] = b'0';
        }
    }

    fn write(&mut self, out: &mut String, content: &str, max_chars: usize) {
        self.set_hash(line_hash(content));
        // Digits and punctuation: always UTF-8.
        out.push_str(std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default());
        out.push_str(&cut(content, max_chars));
        out.push('\n');
    }

    fn set_hash(&mut self, hash: LineHash) {
        let [high, low] = hash.digits();
        self.bytes[Self::DIGITS_END + 1] = high;
        self.bytes[Self::DIGITS_END + 2] = low;
    }
}

/// What stands between the kept part of a cut line and the numbers.
pub(crate) const CUT_MARK: &str = "… [cut: ";

/// The content, or its first `max_chars` characters and a notice.
fn cut(content: &str, max_chars: usize) -> Cow<'_, str> {
    // As many bytes as allowed characters or fewer: nothing to count.
    if content.len() <= max_chars {
        return Cow::Borrowed(content);
    }
    let Some((end, _)) = content.char_indices().nth(max_chars) else {
        return Cow::Borrowed(content);
    };
    let (kept, rest) = content.split_at(end);
    let more = rest.chars().count();
    let mut out = String::with_capacity(end + 64);
    out.push_str(kept);
    // Writing to a string cannot fail.
    let _ = write!(out, "{CUT_MARK}{more} more characters; line is {} characters]", max_chars + more);
    Cow::Owned(out)
}
