//! What is said of a change of an agent's: what its parts are called, and what is worth telling of it.

use hashline_text::Ending;

/// What the parts of a change are called where they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Operations at anchors.
    Operation,
    /// Replacements.
    Edit,
    /// Hunks of a diff.
    Hunk,
    /// It has no parts.
    Whole,
}

/// What became of a whole new text other than it was sent, or what it did beyond lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The file keeps its byte-order mark, which the new text lacks.
    MarkKept,
    /// The lines end as those of the document do, all of them so, and not as they were sent; none where they end in several ways.
    EndingsKept(Option<Ending>),
    /// All lines of the file ended otherwise before.
    EndingsChanged {
        /// How they ended.
        from: Ending,
        /// How they end.
        to: Ending,
    },
}
