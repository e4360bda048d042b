//! The hunk of an edit that is about the file itself, and what a file that it makes is to hold.

use std::sync::Arc;

use hashline_history::{Decision, DocumentName, FileChange, Reason};
use hashline_text::{DiskForm, FileHash, Text, decode};

use crate::document::decisions::verdict::Verdict;

/// The hunk of an edit that is about the file and not about its lines; it has number 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHunk {
    /// What it sets.
    pub change: FileChange,
    /// The decision that stands.
    pub decision: Decision,
    /// What the person said about it.
    pub reason: Option<Reason>,
    /// What its agent was told last.
    pub told: Verdict,
    /// Whether the file is so.
    pub done: bool,
    /// The text that is there again when a file that it makes anew is unmade, by its hash.
    pub(crate) below: Option<FileHash>,
    /// The file as it makes it, by its hash.
    pub(crate) makes: Option<FileHash>,
}

impl FileHunk {
    /// One that is made now.
    pub(crate) fn new(change: FileChange) -> Self {
        let undecided = Decision::Undecided;
        Self {
            change,
            decision: undecided,
            reason: None,
            told: Verdict::default(),
            done: false,
            below: None,
            makes: None,
        }
    }

    /// What its agent is to know.
    pub(crate) fn verdict(&self) -> Verdict {
        (self.decision, self.reason.clone())
    }

    /// Whether it makes the file.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.change.exists == Some((false, true))
    }

    /// Whether it would make the file, and nobody has decided about that.
    #[must_use]
    pub fn is_proposed(&self) -> bool {
        self.creates() && !self.done && self.decision == Decision::Undecided
    }

    /// Whether it made the file, and that was taken back.
    pub(crate) fn is_unmade(&self) -> bool {
        self.creates() && !self.done && self.decision != Decision::Undecided
    }

    /// Whether it removes the file.
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.change.exists == Some((true, false))
    }

    /// The name that it leaves the file with, done or undone.
    #[must_use]
    pub fn leaves_name(&self) -> Option<&DocumentName> {
        self.change.name.as_ref().map(|(from, to)| if self.done { to } else { from })
    }

    /// The name that it gives the file.
    #[must_use]
    pub fn moves_to(&self) -> Option<&DocumentName> {
        self.change.name.as_ref().map(|(_, to)| to)
    }
}

/// What a change does to its file, in words that an edit is named by.
#[must_use]
pub fn in_words(change: &FileChange) -> String {
    match change {
        FileChange { exists: Some((_, true)), .. } => "make the file".to_owned(),
        FileChange { exists: Some((_, false)), .. } => "remove the file".to_owned(),
        FileChange { name: Some((_, to)), .. } => format!("rename the file to {to}"),
        FileChange { .. } => "change the file's mode".to_owned(),
    }
}

/// The content of a file that is to be made.
#[derive(Clone, Debug)]
pub enum NewFile {
    /// Text.
    Text {
        /// The text.
        text: Text,
        /// How it is stored.
        form: DiskForm,
    },
    /// Bytes that are no text.
    Bytes(Arc<[u8]>),
}

impl NewFile {
    /// The file that holds these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match decode(bytes) {
            Ok((text, form)) => Self::Text { text, form },
            Err(_) => Self::Bytes(bytes.into()),
        }
    }
}
