//! Hunks as the weave knows them: what they took away, what they put there, what they rest on.

use hashline_text::OwnedLine;

use crate::model::line::{IdRange, LineId};

/// A hunk of one weave, in the order of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HunkId(pub(super) u32);

impl HunkId {
    /// The hunk at this place in the order of record, from 0; for reading what was written down.
    #[must_use]
    pub fn from_order(order: u32) -> Self {
        Self(order)
    }

    /// The hunk's place in the order of record, from 0.
    #[must_use]
    pub fn order(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line that a hunk removes, with the content that it had when the hunk was recorded. The content is the line's
/// version: a line that returns to an earlier content has its earlier version again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removed {
    pub id: LineId,
    pub line: OwnedLine,
}

/// What a hunk is. Whether it is on or refused is in the weave, beside it.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    pub removed: Vec<Removed>,
    pub made: IdRange,
    pub proposed: Vec<OwnedLine>,
    /// The lines of the agent view on both sides when it was recorded.
    pub before: Option<LineId>,
    pub after: Option<LineId>,
    /// Hunks that have to be on for this one to be on (rule W4).
    pub depends: Vec<HunkId>,
    /// Hunks of which this is one that has to be on.
    pub dependents: Vec<HunkId>,
    /// Hunks that must not be on together with this one; kept on both sides (rule W4).
    pub collides: Vec<HunkId>,
    /// Whether the text ends with a newline once this hunk is on, where it says so (rule W1).
    pub newline: Option<bool>,
    /// Lines of the person's that came with it when it was accepted in other words (rule W12): they are part of it wherever they stand.
    pub own: Option<IdRange>,
}

/// A replacement of lines of the agent view by others, as an agent asks for it. Both may be empty, not both at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// 0-based lines of the agent view; an empty range is the place before its start.
    pub lines: std::ops::Range<usize>,
    /// The lines that stand there afterwards.
    pub new: Vec<OwnedLine>,
}
