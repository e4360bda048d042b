//! Why a document takes no edit. The words for it are found where the agent is answered.

use hashline_anchor::{AnchorFailure, NumberedFailure, RewriteFailure};
use hashline_weave::{Touched, WeaveError};

use crate::document::text::content_change::OutOfStep;
use crate::document::text::edit_notes::{Note, Unit};
use crate::document::text::snapshots::Served;

/// Why a document takes no edit. Nothing has changed.
#[derive(Debug)]
pub enum Refused {
    /// Anchors were not found.
    Anchors {
        /// What is wrong with each operation.
        failures: Vec<AnchorFailure>,
        /// The text as it is now.
        now: Box<Served>,
    },
    /// Pieces to replace, or hunks of a diff, were not found.
    Rewrite {
        /// What is wrong with each of them.
        failures: Vec<RewriteFailure>,
        /// The text as it is now.
        now: Box<Served>,
    },
    /// Lines were not where their numbers say.
    Numbered {
        /// What is wrong.
        failure: NumberedFailure,
        /// The text as it is now.
        now: Box<Served>,
    },
    /// They stand in the text as it is now, and not in the one that the hash names.
    NotInOldText {
        /// The text as it is now.
        now: Box<Served>,
    },
    /// A whole new text would give a file a byte-order mark.
    AddsMark,
    /// The hash names no text that was served.
    UnknownHash {
        /// What was given.
        given: String,
        /// Whether the document is open in an editor.
        live: bool,
        /// The text as it is now.
        now: Box<Served>,
    },
    /// The hash names an earlier state of a file.
    ChangedOnDisk {
        /// The text as it is now.
        now: Box<Served>,
    },
    /// The beginning of a hash fits two texts.
    AmbiguousHash {
        /// What was given.
        given: String,
    },
    /// The lines were touched since they were served.
    Stale {
        /// The text as it is now.
        now: Box<Served>,
        /// What the parts of the change are called.
        unit: Unit,
        /// By part the line that was touched; none where any change is too much.
        touched: Vec<(usize, Touched)>,
    },
    /// The document is out of step with its editor.
    OutOfStep {
        /// The document.
        uri: String,
        /// What happened.
        reason: OutOfStep,
    },
    /// Only an answer that the editor owes says what its last change was.
    Unanswered {
        /// The document.
        uri: String,
    },
    /// The text cannot take the change.
    CannotWeave(WeaveError),
    /// The change would change nothing: the text reads so already.
    NothingToDo {
        /// The text as it is now.
        now: Box<Served>,
        /// What is worth telling of a whole new text.
        notes: Vec<Note>,
    },
}

impl Refused {
    /// The text that the refusal shows lines of, if it does: it is served by that, and its hash may be used.
    pub(crate) fn shows(&mut self) -> Option<&mut Served> {
        match self {
            Refused::Anchors { now, .. }
            | Refused::Rewrite { now, .. }
            | Refused::Numbered { now, .. }
            | Refused::NotInOldText { now }
            | Refused::UnknownHash { now, .. }
            | Refused::ChangedOnDisk { now }
            | Refused::NothingToDo { now, .. }
            | Refused::Stale { now, .. } => Some(now),
            Refused::AddsMark
            | Refused::AmbiguousHash { .. }
            | Refused::OutOfStep { .. }
            | Refused::Unanswered { .. }
            | Refused::CannotWeave(_) => None,
        }
    }
}
