//! What a new text of the editor may mean, and what it was found to mean.

use crate::attribution::journal::JournalId;
use crate::model::{HunkId, Plan};

/// A change of the buffer view that may be what the new text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it would do.
    pub plan: Plan,
    /// What it is if the text shows it.
    pub how: How,
}

/// How it came that a hunk was switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was asked for, under this number.
    Asked(u64),
    /// A switch was undone in the editor.
    Undone(JournalId),
    /// An undone switch was made again in the editor.
    Redone(JournalId),
    /// The text shows it exactly, and nobody had asked.
    Seen,
}

/// A hunk that the new text has switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    /// The hunk.
    pub hunk: HunkId,
    /// Whether it is in the text now.
    pub on: bool,
    /// Why.
    pub how: How,
}

/// How much of a text an explanation of it leaves to be typed. The less it is, the better the explanation: lines count first, then bytes.
/// It is that of the alignment with the most pairs of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Lines that nothing explains; one that stands in the place of another counts once.
    pub lines: usize,
    /// Bytes in which those lines differ from what stood there, and one for each line that came or went.
    pub bytes: usize,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
    }
}

/// What a new text of the editor meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The hunks that came into the text or left it.
    pub switched: Vec<Switched>,
    /// The change in the journal, where it did more than change lines in place.
    pub entry: Option<JournalId>,
    /// Something that was asked for, or is in the journal, seems to be under way but not complete: the next
    /// notification, if it comes soon, should be judged together with this one, by [`Weave::recognised_again`](crate::Weave::recognised_again).
    pub half_shown: bool,
    /// Lines that neither a hunk nor a line that was there explains: what the person typed.
    pub typed_lines: usize,
}
