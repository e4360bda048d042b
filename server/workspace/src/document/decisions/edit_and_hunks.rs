//! Edits and hunks as people decide about them.

use hashline_history::{
    AgentName, Connection, ConversationId, Decision, EditId, HunkRef, Location, Mode, Reason, Status,
    UnixMillis,
};
use hashline_text::OwnedLine;
use hashline_weave::{Conflict, Edited, HunkId};

use crate::document::decisions::verdict::Verdict;
use crate::document::file::hunk::FileHunk;

/// What one tool call did to the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its id.
    pub id: EditId,
    /// When it was made, as far as that is known.
    pub made: Option<UnixMillis>,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// The agent named no conversation, so this edit opened one.
    pub opened_conversation: bool,
    /// Who made it, as the agent named itself.
    pub agent: AgentName,
    /// The connection that it came through.
    pub connection: Connection,
    /// The tool that made it.
    pub tool: String,
    /// Why, as the agent says.
    pub reason: Option<Reason>,
    /// How it was to be treated.
    pub mode: Mode,
    /// What it does to the file itself, if it does.
    pub file: Option<FileHunk>,
    /// Its hunks of lines, in text order.
    pub hunks: Vec<EditHunk>,
}

impl Edit {
    /// The decision about each hunk, by its number.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (u32, Decision)> {
        let file = self.file.iter().map(|file| (1, file.decision));
        file.chain(self.hunks.iter().map(|hunk| (hunk.number, hunk.decision)))
    }

    /// The person's decision about the edit as a whole (rule W12).
    #[must_use]
    pub fn status(&self) -> Status {
        Status::of(self.decisions().map(|(_, decision)| decision))
    }

    /// Whether there is a decision or a comment that its agent has not been told of.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.verdicts().any(|(decision, reason, told)| (decision, reason) != (told.0, &told.1))
    }

    /// Whether the person has said something about a hunk without deciding, and its agent has not been told.
    #[must_use]
    pub fn has_untold_comment(&self) -> bool {
        self.verdicts().any(|(decision, reason, told)| {
            decision == Decision::Undecided && reason.is_some() && (decision, reason) != (told.0, &told.1)
        })
    }

    /// The decision about each hunk and what was said of it, and what its agent was told last.
    fn verdicts(&self) -> impl Iterator<Item = (Decision, &Option<Reason>, &Verdict)> {
        let file = self.file.iter().map(|file| (file.decision, &file.reason, &file.told));
        file.chain(self.hunks.iter().map(|hunk| (hunk.decision, &hunk.reason, &hunk.told)))
    }

    /// The name of one of its hunks.
    #[must_use]
    pub fn name_of(&self, hunk: &EditHunk) -> HunkRef {
        HunkRef { edit: self.id.clone(), number: hunk.number }
    }
}

/// One contiguous run of lines that an edit replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditHunk {
    /// From 1, in text order.
    pub number: u32,
    /// The hunk in the weave.
    pub id: HunkId,
    /// The decision that stands.
    pub decision: Decision,
    /// What the person said about it.
    pub reason: Option<Reason>,
    /// What its agent was told last.
    pub told: Verdict,
    /// Where it is.
    pub location: Location,
}

impl EditHunk {
    /// What its agent is to know.
    pub(crate) fn verdict(&self) -> Verdict {
        (self.decision, self.reason.clone())
    }
}

/// The lines of a hunk, as they were when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLines {
    /// Those that it takes away.
    pub removed: Vec<OwnedLine>,
    /// Those that it puts there.
    pub proposed: Vec<OwnedLine>,
}

/// Where a hunk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkState {
    /// Not in the editor's text.
    Held,
    /// In the text, as proposed.
    InText,
    /// In the text, and changed there by the person.
    Edited(Edited),
    /// Not in the text, and something stands against it.
    Conflicted(Conflict),
    /// Taken back by its agent.
    Withdrawn,
}

/// What is not in the text is not accepted, and what is in it is not rejected, however that came.
pub(crate) fn as_shown((decision, reason): Verdict, is_in_text: bool) -> Verdict {
    match (decision, is_in_text) {
        (Decision::Accepted, false) | (Decision::Rejected | Decision::Withdrawn, true) => {
            (Decision::Undecided, None)
        }
        _ => (decision, reason),
    }
}
