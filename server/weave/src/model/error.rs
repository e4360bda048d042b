//! Why the weave refuses something. Nothing has changed then.

use crate::model::hunk::HunkId;

/// A refusal of the weave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeaveError {
    /// A change names lines that the view does not have, overlaps or touches another, or does nothing.
    #[error(
        "change {index} names lines that the view of {lines} lines does not have, or is not apart from the others"
    )]
    BadChange {
        /// Which of the changes, from 0.
        index: usize,
        /// How many lines the view has.
        lines: usize,
    },
    /// A new line's content holds a line ending.
    #[error("the content of a line in change {index} holds a line ending")]
    ContentHoldsEnding {
        /// Which of the changes, from 0.
        index: usize,
    },
    /// The switch would leave a hunk on without one that it rests on.
    #[error("{hunk:?} rests on {needs:?}, which would be off")]
    Needs {
        /// The hunk that would be on.
        hunk: HunkId,
        /// What it rests on.
        needs: HunkId,
    },
    /// The switch would have two hunks on that change the same place.
    #[error("{hunk:?} and {other:?} change the same place")]
    Collides {
        /// One of the two.
        hunk: HunkId,
        /// The other.
        other: HunkId,
    },
    /// The switch is of a hunk whose place in the text is no longer certain (rule W17).
    #[error(
        "{hunk:?} cannot be put in or taken out: the text was changed while nobody watched, and where it is in it is not certain"
    )]
    Lost {
        /// The hunk.
        hunk: HunkId,
    },
    /// What the file has is not known by its lines.
    #[error("what the file has is not known by its lines")]
    NoBase,
    /// A line that ends in a lone `\r` would come before an empty line that ends in `\n`: the two endings would be read
    /// as one (rule W1).
    #[error("a line that ends in \\r would come directly before an empty line that ends in \\n")]
    EndingsWouldJoin,
    /// What was written down does not fit the state that it is to be done again on.
    #[error("what was recorded does not fit the text that was recorded before it: {0}")]
    BadDelta(&'static str),
}
