//! What stands against a hunk, and what the person did to one.

use crate::model::hunk::HunkId;

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
