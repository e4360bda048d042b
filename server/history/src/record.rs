//! What is recorded, and the interface to where it is kept.

use std::fmt;

use hashline_text::{FileHash, OwnedLine};
use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, EditId, HunkRef};

/// The place of a record in the order of its history, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sequence(pub u64);

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The person's decision about an edit as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A hunk of it is undecided.
    Pending,
    /// All hunks are decided, one at least is accepted.
    Accepted,
    /// All hunks are rejected or withdrawn.
    Rejected,
}

impl Status {
    /// The status that the decisions about its hunks give an edit (W12).
    #[must_use]
    pub fn of(decisions: impl IntoIterator<Item = Decision>) -> Self {
        decisions.into_iter().fold(Status::Rejected, |status, decision| match (status, decision) {
            (Status::Pending, _) | (_, Decision::Undecided) => Status::Pending,
            (Status::Accepted, _) | (_, Decision::Accepted) => Status::Accepted,
            _ => Status::Rejected,
        })
    }

    /// The word for it in logs and replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Accepted => "accepted",
            Status::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The person's decision about one hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// None yet.
    #[default]
    Undecided,
    /// It is to be in the text.
    Accepted,
    /// It is not.
    Rejected,
    /// The agent took it back before the person decided.
    Withdrawn,
}

impl Decision {
    /// The word for it in logs and replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Undecided => "undecided",
            Decision::Accepted => "accepted",
            Decision::Rejected => "rejected",
            Decision::Withdrawn => "withdrawn",
        }
    }
}

/// Where a hunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In no text: it is held, or rejected.
    #[default]
    None,
    /// In the editor's text.
    Buffer,
    /// In the file.
    Disk,
}

/// The lines of a hunk: what it takes away and what it puts there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLines {
    /// The first line that it replaces, 0-based, in the text before the edit.
    pub line: usize,
    /// The lines that it takes away.
    pub removed: Vec<OwnedLine>,
    /// The lines that it puts there.
    pub proposed: Vec<OwnedLine>,
}

/// An edit as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its id.
    pub edit: EditId,
    /// The turn of the agent that it belongs to.
    pub conversation: ConversationId,
    /// Who made it, as the agent named itself.
    pub agent: String,
    /// The tool that made it.
    pub tool: String,
    /// The document: an absolute path, or a URI while it has no file.
    pub document: String,
    /// Its hunks in text order.
    pub hunks: Vec<HunkLines>,
    /// Where it was put.
    pub location: Location,
    /// The agent view before.
    pub hash_before: FileHash,
    /// The agent view after.
    pub hash_after: FileHash,
}

/// One entry of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An agent made an edit.
    Edited(Box<Edited>),
    /// A hunk was decided about, or a decision was taken back.
    Decided {
        /// The hunk.
        hunk: HunkRef,
        /// The decision that stands now.
        decision: Decision,
        /// What the person said about it.
        reason: Option<String>,
    },
    /// A hunk came into a text or left it.
    Moved {
        /// The hunk.
        hunk: HunkRef,
        /// Where it is now.
        location: Location,
    },
}

/// Why something could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("the edit history could not be written: {0}. Nothing was changed; mend the cause and try again")]
pub struct HistoryError(pub String);

/// Where records are kept. Writing may block: callers hold no document while they write.
pub trait History: Send + Sync {
    /// Writes a record; it is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`HistoryError`]: nothing was recorded.
    fn append(&self, record: Record) -> Result<Sequence, HistoryError>;
}
