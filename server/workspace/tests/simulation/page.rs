//! Text as the simulated editor has it: a plain string and the arithmetic of lines, apart from the ropes of the server on purpose.

use std::ops::Range;

use hashline_text::{Encoding, Position, Span};

/// A line of a string: where it starts, where its content ends, where its ending ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub start: usize,
    pub content_end: usize,
    pub end: usize,
}

/// The lines as LSP counts them: behind a final ending there is one more, empty one.
pub fn rows(text: &str) -> Vec<Row> {
    let bytes = text.as_bytes();
    let mut rows = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let len = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\n' | b'\r' => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        rows.push(Row { start, content_end: at, end: at + len });
        at += len;
        start = at;
    }
    rows.push(Row { start, content_end: bytes.len(), end: bytes.len() });
    rows
}

/// The contents of the lines; none for what stands behind a final ending.
pub fn contents(text: &str) -> Vec<&str> {
    let rows = rows(text);
    let last = rows.len() - 1;
    let real = |(at, row): (usize, &Row)| {
        (at < last || row.start < row.content_end).then(|| &text[row.start..row.content_end])
    };
    rows.iter().enumerate().filter_map(real).collect()
}

fn units(text: &str, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => text.len(),
        Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
        Encoding::Utf32 => text.chars().count(),
    }
}

/// The position of a byte, which is not inside an ending.
pub fn position_of(text: &str, at: usize, encoding: Encoding) -> Position {
    let rows = rows(text);
    let line = rows.partition_point(|row| row.start <= at) - 1;
    Position::new(line as u32, units(&text[rows[line].start..at], encoding) as u32)
}

/// The byte at a position; behind the end of a line counts as its end.
pub fn byte_of(text: &str, position: Position, encoding: Encoding) -> Option<usize> {
    let row = *rows(text).get(position.line as usize)?;
    let mut left = position.character as usize;
    for (at, char) in text[row.start..row.content_end].char_indices() {
        if left == 0 {
            return Some(row.start + at);
        }
        left = left.saturating_sub(units(char.encode_utf8(&mut [0; 4]), encoding));
    }
    Some(row.content_end)
}

/// The span of some bytes.
pub fn span_of(text: &str, bytes: Range<usize>, encoding: Encoding) -> Span {
    Span::new(position_of(text, bytes.start, encoding), position_of(text, bytes.end, encoding))
}

/// A replacement of bytes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub bytes: Range<usize>,
    pub new: String,
}

/// Where a byte may be cut: not inside a character, not between the two parts of an ending.
fn may_cut(text: &str, at: usize) -> bool {
    text.is_char_boundary(at)
        && !(at > 0 && text.as_bytes()[at - 1] == b'\r' && text.as_bytes().get(at) == Some(&b'\n'))
}

/// The one replacement that turns `before` into `after`, cut to what differs; none if they are equal.
pub fn single(before: &str, after: &str) -> Option<Patch> {
    if before == after {
        return None;
    }
    let ends = |(a, b): &(u8, u8)| a == b;
    let mut head = before.bytes().zip(after.bytes()).take_while(ends).count();
    while !may_cut(before, head) || !may_cut(after, head) {
        head -= 1;
    }
    let room = (before.len() - head).min(after.len() - head);
    let both = before.bytes().rev().zip(after.bytes().rev());
    let mut tail = both.take_while(ends).count().min(room);
    while !may_cut(before, before.len() - tail) || !may_cut(after, after.len() - tail) {
        tail -= 1;
    }
    Some(Patch { bytes: head..before.len() - tail, new: after[head..after.len() - tail].to_owned() })
}

/// The runs of lines that differ between two texts: what stood there, what stands there.
pub fn changed_runs(before: &str, after: &str) -> Vec<(String, String)> {
    let patches = by_whole_lines(before, after);
    patches.into_iter().map(|(at, gone, new)| (before[at..at + gone].to_owned(), new)).collect()
}

/// One replacement for each run of lines that differs, in text order, each cut to what differs.
pub fn by_lines(before: &str, after: &str) -> Vec<Patch> {
    let cut = |(at, len, come): (usize, usize, String)| {
        let patch = single(&before[at..at + len], &come)?;
        Some(Patch { bytes: at + patch.bytes.start..at + patch.bytes.end, new: patch.new })
    };
    by_whole_lines(before, after).into_iter().filter_map(cut).collect()
}

fn by_whole_lines(before: &str, after: &str) -> Vec<(usize, usize, String)> {
    let cut = |text: &str| -> Vec<String> {
        rows(text)
            .iter()
            .map(|row| text[row.start..row.end].to_owned())
            .filter(|row| !row.is_empty())
            .collect()
    };
    let (old, new) = (cut(before), cut(after));
    let mut patches = Vec::new();
    let start_of = |lines: &[String], at: usize| lines[..at].iter().map(String::len).sum::<usize>();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        let (old_lines, new_lines) = (op.old_range(), op.new_range());
        if matches!(op, similar::DiffOp::Equal { .. }) {
            continue;
        }
        let at = start_of(&old, old_lines.start);
        patches.push((at, old[old_lines].concat().len(), new[new_lines].concat()));
    }
    patches
}
