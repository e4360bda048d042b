//! Tagged lines: `LINE:HH|content`, how agents read text.

use std::fmt::Write as _;
use std::ops::Range;

use hashline_text::{Line, Text};

use crate::line_hash::{LANES, LineHash, line_hash, line_hashes};

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
    write_tagged_page(out, text, lines, max_line_chars, usize::MAX);
}

/// What was written of the lines that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The lines, counted from 0.
    pub lines: Range<usize>,
    /// How many of them are cut.
    pub cut: usize,
}

/// As [`write_tagged_cut`], leaving out the lines with which there would be more than `max_chars` characters; the first
/// line is always written.
pub fn write_tagged_page(
    out: &mut String,
    text: &Text,
    lines: Range<usize>,
    max_line_chars: usize,
    max_chars: usize,
) -> Page {
    let first = lines.start.min(text.line_count());
    let mut lines = text.lines(lines);
    // A tag and the newline, and lines of common length.
    let about = lines.len().saturating_mul(48).min(text.len_bytes().saturating_mul(2));
    out.reserve(about.min(max_chars.saturating_mul(2)));
    let mut page = Page { lines: first..first, cut: 0 };
    let mut tag = Tag::at(first);
    let mut chars = 0usize;
    let mut batch = Vec::with_capacity(LANES);
    loop {
        batch.clear();
        batch.extend(lines.by_ref().take(LANES).map(|line| line.content()));
        if batch.is_empty() {
            return page;
        }
        for (content, hash) in batch.iter().zip(line_hashes(&batch)) {
            let before = out.len();
            let cut = tag.write(out, content, hash, max_line_chars);
            chars = chars.saturating_add(count_chars(&out[before..]));
            if chars > max_chars && !page.lines.is_empty() {
                out.truncate(before);
                return page;
            }
            page.lines.end += 1;
            page.cut += usize::from(cut);
            tag.advance();
        }
    }
}

/// As `chars().count()`, with a short cut for ASCII.
fn count_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Writes one tagged line of this content; `line` is counted from 0.
pub fn write_tagged_line(out: &mut String, line: usize, content: &str) {
    Tag::at(line).write(out, content, line_hash(content), usize::MAX);
}

/// As [`write_tagged_line`], showing of a content of more than `max_chars` characters the part around `place` (in bytes), with a
/// notice. Whether it had to be cut.
///
/// ```
/// let mut out = String::new();
/// hashline_anchor::write_tagged_around(&mut out, 0, "a long line with a word in it", 19..23, 10);
/// assert_eq!(out, "1:a1|… a word in… [cut: 16 before and 3 more characters; line is 29 characters]\n");
/// ```
pub fn write_tagged_around(
    out: &mut String,
    line: usize,
    content: &str,
    place: Range<usize>,
    max_chars: usize,
) -> bool {
    let hash = line_hash(content);
    let before = content.get(..place.start).map_or(0, |before| before.chars().count());
    let total = count_chars(content);
    if total <= max_chars || before == 0 {
        return Tag::at(line).write(out, content, hash, max_chars);
    }
    let found = content.get(place).map_or(0, |found| found.chars().count());
    // What is looked for stands in the middle, or at the beginning if it has no room.
    let skipped = before.saturating_sub(max_chars.saturating_sub(found) / 2).min(total - max_chars);
    if skipped == 0 {
        return Tag::at(line).write(out, content, hash, max_chars);
    }
    let part: String = content.chars().skip(skipped).take(max_chars).collect();
    let more = total - skipped - max_chars;
    let shown = format!(
        "{CUT_BEFORE}{part}{CUT_MARK}{skipped} before and {more} more characters; line is {total} characters]"
    );
    Tag::at(line).write(out, &shown, hash, usize::MAX);
    true
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
    write_parts(out, text, places, context, |out, part| write_tagged_cut(out, text, part, max_line_chars));
}

/// Writes the parts of a text around places, with a line `…` between two of them.
fn write_parts(
    out: &mut String,
    text: &Text,
    places: &[Range<usize>],
    context: usize,
    write: impl Fn(&mut String, Range<usize>),
) {
    for (at, part) in regions(text.line_count(), places, context).into_iter().enumerate() {
        if at > 0 {
            out.push_str("…\n");
        }
        write(out, part);
    }
}

/// As [`write_regions`], with the number alone before each line: `LINE|content`.
pub fn write_numbered_regions(
    out: &mut String,
    text: &Text,
    places: &[Range<usize>],
    context: usize,
    max_line_chars: usize,
) {
    write_parts(out, text, places, context, |out, part| {
        for (line, number) in text.lines(part.clone()).zip(part.start + 1..) {
            let content = line.content();
            let shown = cut(&content, max_line_chars);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{number}|{}", shown.as_deref().unwrap_or(&content));
        }
    });
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

/// The tag before a line's content; its number is kept as digits that are counted up in place, as formatting each anew
/// would cost as much as all the rest.
struct Tag {
    number: String,
}

impl Tag {
    /// The tag of a line counted from 0.
    fn at(line: usize) -> Self {
        Self { number: line.saturating_add(1).to_string() }
    }

    /// Counts up.
    fn advance(&mut self) {
        let nines = self.number.bytes().rev().take_while(|digit| *digit == b'9').count();
        self.number.truncate(self.number.len() - nines);
        let last = self.number.pop().and_then(|digit| digit.to_digit(10)).unwrap_or(0);
        self.number.push(char::from_digit(last + 1, 10).unwrap_or('1'));
        (0..nines).for_each(|_| self.number.push('0'));
    }

    /// Writes the line; whether it had to be cut.
    fn write(&self, out: &mut String, content: &str, hash: LineHash, max_chars: usize) -> bool {
        let [high, low] = hash.digits();
        out.push_str(&self.number);
        out.push(':');
        out.push(char::from(high));
        out.push(char::from(low));
        out.push('|');
        let cut = cut(content, max_chars);
        out.push_str(cut.as_deref().unwrap_or(content));
        out.push('\n');
        cut.is_some()
    }
}

/// The tag that a line begins with, where it has the form of one: `12:ab|`.
pub(crate) fn leading_tag(line: &str) -> Option<(Line, LineHash)> {
    let (tag, _) = line.split_once('|')?;
    let (number, hash) = tag.split_once(':')?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((Line::from_number(number.parse().ok()?)?, hash.parse().ok()?))
}

/// The tag that a line begins with, where it is the tag of a line of this very text.
pub(crate) fn tag_of(text: &Text, line: &str) -> Option<(Line, LineHash)> {
    let (at, hash) = leading_tag(line)?;
    let own = text.line(at).map(|line| line_hash(&line.content()));
    (own == Some(hash)).then_some((at, hash))
}

/// What stands before the kept part of a line whose beginning is cut off.
pub(crate) const CUT_BEFORE: char = '…';

/// What stands between the kept part of a cut line and the numbers.
pub(crate) const CUT_MARK: &str = "… [cut: ";

/// The first `max_chars` characters of a content that has more, and a notice.
fn cut(content: &str, max_chars: usize) -> Option<String> {
    // As many bytes as allowed characters or fewer: nothing to count.
    if content.len() <= max_chars {
        return None;
    }
    let (end, _) = content.char_indices().nth(max_chars)?;
    let (kept, rest) = content.split_at(end);
    let more = rest.chars().count();
    let mut out = String::with_capacity(end + 64);
    out.push_str(kept);
    // Writing to a string cannot fail.
    let _ = write!(out, "{CUT_MARK}{more} more characters; line is {} characters]", max_chars + more);
    Some(out)
}
