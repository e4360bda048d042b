//! Why an operation, a replacement or a hunk of a diff could not be resolved: data, put in words by
//! [`explain`](crate::explain()) and [`explain_rewrite`](crate::explain_rewrite()).

use std::ops::Range;

use hashline_text::Line;

use crate::{LineAnchor, LineHash, Near, OpName};

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

/// A part of a request to rewrite a text that cannot be applied to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteFailure {
    /// The part.
    pub part: Part,
    /// What is wrong.
    pub problem: Mismatch,
}

/// A part of a request: a replacement, or a hunk of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A replacement, by its index in the call.
    Edit(usize),
    /// A hunk.
    Hunk {
        /// Its index in the diff.
        index: usize,
        /// The line of the diff in which it begins, counted from 1.
        line: usize,
    },
}

impl Part {
    /// Its index among the parts.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Part::Edit(index) | Part::Hunk { index, .. } => index,
        }
    }
}

/// What is wrong with a replacement or a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// There are more parts than one call takes.
    TooMany {
        /// How many it takes.
        most: usize,
    },
    /// The old text of a replacement is empty, and the text is not.
    NoOld,
    /// A hunk has neither context nor removed lines, and the text is not empty.
    NoContext,
    /// It asks for other line endings only, and a replacement keeps those of the file.
    OnlyEndings,
    /// The old lines stand nowhere in the text.
    NotFound {
        /// What comes nearest.
        nearest: Vec<Near>,
        /// The line of the diff, counted from 1, that would be the header of another file if it were no content.
        header: Option<usize>,
    },
    /// The old lines stand in the text more than once.
    Ambiguous {
        /// Where, counted from 0 and in text order, the first five.
        places: Vec<Range<usize>>,
        /// Whether there are more.
        more: bool,
        /// The line at which the hunk's header says they begin, and they do not.
        named: Option<Line>,
    },
    /// The diff says that the text ends with a line of the hunk, and it does not end there.
    NotAtEnd {
        /// Where the old lines were found.
        lines: Range<usize>,
    },
    /// It changes what another part changes.
    Overlap {
        /// The other part, by its index.
        other: usize,
        /// The lines of this one.
        lines: Range<usize>,
        /// The lines of the other.
        other_lines: Range<usize>,
    },
    /// A line that it puts in begins with the tag of a line of this very text.
    RepeatsTag {
        /// Which line of the new text or of the hunk's added lines, counted from 0.
        content_line: usize,
        /// The line whose tag it is.
        line: Line,
        /// The hash in the tag.
        hash: LineHash,
    },
    /// The old lines stand nowhere in the text, and begin with tags.
    OldHasTags {
        /// The line that the first of the tags names.
        line: Line,
    },
}

impl RewriteFailure {
    /// The lines around which an agent should look again, counted from 0 in the text.
    #[must_use]
    pub fn places(&self) -> Vec<Range<usize>> {
        match &self.problem {
            Mismatch::TooMany { .. } | Mismatch::NoOld | Mismatch::NoContext | Mismatch::OnlyEndings => {
                Vec::new()
            }
            Mismatch::NotFound { nearest, .. } => nearest.iter().map(|near| near.lines.clone()).collect(),
            Mismatch::Ambiguous { places, .. } => places.clone(),
            Mismatch::NotAtEnd { lines } => vec![lines.clone(), usize::MAX..usize::MAX],
            Mismatch::Overlap { lines, other_lines, .. } => vec![lines.clone(), other_lines.clone()],
            Mismatch::RepeatsTag { line, .. } | Mismatch::OldHasTags { line } => {
                std::iter::once(line.0..line.0.saturating_add(1)).collect()
            }
        }
    }
}
