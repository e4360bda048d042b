//! What operations come to: runs of lines and what stands in their place.

use std::ops::Range;

/// What one operation does to the lines of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    /// The operation, by its index in the call.
    pub op: usize,
    /// The lines replaced, counted from 0 in the snapshot; empty for an insert before the line at its start.
    pub lines: Range<usize>,
    /// The lines put there, without endings.
    pub content: Vec<String>,
}

/// One contiguous run of lines that a call replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines replaced, counted from 0 in the snapshot; may be empty.
    pub lines: Range<usize>,
    /// The lines put there, without endings.
    pub content: Vec<String>,
    /// The operations that it came from, in text order.
    pub ops: Vec<usize>,
}

/// Makes one hunk of edits whose lines touch. The edits are in text order and do not overlap, as
/// [`resolve`](crate::resolve) gives them; the hunks are in text order, with a line or more between any two.
#[must_use]
pub fn merge_touching(edits: Vec<LineEdit>) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::with_capacity(edits.len());
    for LineEdit { op, lines, content } in edits {
        match hunks.last_mut() {
            Some(last) if lines.start <= last.lines.end => {
                last.lines.end = last.lines.end.max(lines.end);
                last.content.extend(content);
                last.ops.push(op);
            }
            _ => hunks.push(Hunk { lines, content, ops: vec![op] }),
        }
    }
    hunks
}
