//! Hunks as the weave knows them: what they took away, what they put there, what they rest on; what can stand against one, and what a person
//! can have done to one.

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

/// What stands against a hunk that is not in the text, judged under its own dependencies alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The text was changed while nobody watched, and the place of the hunk in it is no longer certain (rule W17). Nothing ends this
    /// but a return to a text in which the place is known.
    Lost,
    /// The person changed a line that it takes away.
    LineChanged,
    /// The person removed a line that it takes away.
    LineRemoved,
    /// The person put a line between those that it takes away.
    LineTyped,
    /// The person removed the lines on both sides of the place where it inserts.
    PlaceRemoved,
    /// With it two endings would be read as one: a lone `\r` would come before an empty line that ends in `\n` (rule W1).
    EndingsWouldJoin,
    /// Another hunk, which is in the view, changes the same place.
    With(HunkId),
}

/// What the person did to a hunk that is in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Lines of the hunk were changed.
    pub changed: bool,
    /// Lines were typed between its own.
    pub typed: bool,
    /// Lines of the hunk were deleted. This alone never stands in the way of a rejection.
    pub deleted: bool,
}

impl Edited {
    /// Whether taking the hunk out would take out something that the person typed.
    #[must_use]
    pub fn asks(self) -> bool {
        self.changed || self.typed
    }

    /// Whether the person did anything to it.
    #[must_use]
    pub fn any(self) -> bool {
        self.changed || self.typed || self.deleted
    }
}
