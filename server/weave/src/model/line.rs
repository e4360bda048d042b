//! What a weave is made of: ids of lines, and ranges of them.

/// The identity of a line. It stays while the line is edited in place, hidden or shown again; a line that is typed
/// or proposed gets a new one. Ids are never given twice in one weave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(pub(super) u64);

impl LineId {
    /// The line of this number; for reading what was written down.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Its number in its weave, for writing it down.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Lines whose ids follow one another: `len` of them from `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdRange {
    /// The first id.
    pub first: LineId,
    /// How many lines.
    pub len: usize,
}

impl IdRange {
    pub(crate) fn contains(self, id: LineId) -> bool {
        (self.first.0..self.end()).contains(&id.0)
    }

    /// Whether a line is in both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first.0 < other.end() && other.first.0 < self.end()
    }

    /// The id behind the last.
    pub(crate) fn end(self) -> u64 {
        self.first.0 + self.len as u64
    }

    /// The id at an index below `len`.
    pub(crate) fn at(self, index: usize) -> LineId {
        LineId(self.first.0 + index as u64)
    }
}

/// Appends a range to a list, joining it with the last where their ids follow one another.
pub(crate) fn push_range(list: &mut Vec<IdRange>, range: IdRange) {
    match list.last_mut() {
        Some(last) if last.end() == range.first.0 => last.len += range.len,
        _ => list.push(range),
    }
}
