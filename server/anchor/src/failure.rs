//! Why an operation could not be resolved: data, put in words by [`explain`](crate::explain()).

use std::ops::Range;

use hashline_text::Line;

use crate::{LineAnchor, LineHash, OpName};

/// An operation that cannot be applied to the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorFailure {
    /// The operation, by its index in the call.
    pub op: usize,
    /// Its name.
    pub name: OpName,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No line of the snapshot has the anchor's hash.
    NotFound {
        /// The anchor.
        anchor: LineAnchor,
        /// The hash of the line that has its number, where there is such a line.
        instead: Option<LineHash>,
        /// How many lines the snapshot has.
        lines: usize,
    },
    /// The line of that number has another hash, and several other lines have the anchor's.
    Ambiguous {
        /// The anchor.
        anchor: LineAnchor,
        /// The hash of the line that has its number, where there is such a line.
        instead: Option<LineHash>,
        /// How many lines the snapshot has.
        lines: usize,
        /// How many of them have the hash.
        matches: usize,
        /// Those of them nearest to the anchor's number, nearest first, three at most.
        nearest: Vec<Line>,
    },
    /// The text copied along with the anchor is not that of the line, though the hash is.
    CopiedDiffers {
        /// The anchor.
        anchor: LineAnchor,
        /// The line that the anchor leads to.
        at: Line,
        /// What the line says.
        content: String,
    },
    /// The ends of a range were found, but moved by different distances.
    UnevenMove {
        /// The first line: its anchor and where it was found.
        start: (LineAnchor, Line),
        /// The last line, likewise.
        end: (LineAnchor, Line),
    },
    /// The range ends before it starts.
    EndBeforeStart {
        /// The anchor of the first line.
        start: LineAnchor,
        /// The anchor of the last line.
        end: LineAnchor,
    },
    /// The operation touches lines that an earlier one of the call replaces or deletes.
    Overlap {
        /// The other operation, by its index in the call.
        other: usize,
        /// The name of the other.
        other_name: OpName,
        /// The lines of this operation in the snapshot, empty for an insert.
        lines: Range<usize>,
        /// The lines of the other.
        other_lines: Range<usize>,
    },
    /// A line of the content begins with the tag of a line of this very snapshot.
    RepeatsTag {
        /// Which line of the content, counted from 0.
        content_line: usize,
        /// The line of the snapshot whose tag it is.
        line: Line,
        /// The hash in the tag.
        hash: LineHash,
    },
}

impl AnchorFailure {
    /// The lines around which an agent should look again, counted from 0 in the snapshot.
    #[must_use]
    pub fn places(&self) -> Vec<Range<usize>> {
        let one = |line: Line| line.0..line.0.saturating_add(1);
        match &self.problem {
            Problem::NotFound { anchor, .. } => vec![one(anchor.line)],
            Problem::Ambiguous { anchor, nearest, .. } => {
                std::iter::once(anchor.line).chain(nearest.iter().copied()).map(one).collect()
            }
            Problem::CopiedDiffers { at, .. } => vec![one(*at)],
            Problem::UnevenMove { start, end } => {
                vec![one(start.0.line), one(start.1), one(end.0.line), one(end.1)]
            }
            Problem::EndBeforeStart { start, end } => vec![one(start.line), one(end.line)],
            Problem::Overlap { lines, other_lines, .. } => vec![lines.clone(), other_lines.clone()],
            Problem::RepeatsTag { line, .. } => vec![one(*line)],
        }
    }
}
