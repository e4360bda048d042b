//! The words of the record: its order, decisions, and where hunks are.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    pub(crate) const ALL: [Status; 3] = [Status::Pending, Status::Accepted, Status::Rejected];

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
