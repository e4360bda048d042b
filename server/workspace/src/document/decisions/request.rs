//! What a person asks for, and what became of it.

use std::ops::Range;

use hashline_history::{ConversationId, Decision, HunkRef, Reason};
use hashline_weave::{HunkId, TakeOut};

use crate::document::Edit;

/// What the person wants of hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// To have them in the text.
    Accept,
    /// Not to have them.
    Reject,
    /// Out of a conflict: the hunk is rejected.
    KeepMine,
    /// Out of a conflict: the agent's lines instead of the person's.
    TakeTheirs,
    /// Out of a conflict: the person's lines, then the agent's.
    KeepBoth,
    /// To decide again later.
    Reopen,
    /// No decision: the agent is told the reason.
    Comment,
}

/// Which hunks a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One hunk.
    Hunk(HunkRef),
    /// All hunks of an edit, by its id or a beginning of it.
    Edit(String),
    /// All undecided hunks of a conversation.
    Conversation(ConversationId),
    /// All hunks of a conversation, those that were decided otherwise among them.
    Whole(ConversationId),
    /// The hunks that touch these lines of the editor's text.
    Lines(Range<usize>),
    /// All hunks of the document.
    All,
}

/// A decision of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is wanted.
    pub choice: Choice,
    /// Of which hunks.
    pub target: Target,
    /// Why, for the agent.
    pub reason: Option<Reason>,
    /// What becomes of lines that the person changed inside a hunk that is taken out.
    pub edited: Option<TakeOut>,
    /// With the acceptance of one hunk: its lines as the person has rewritten them, without their endings.
    pub own: Option<Vec<String>>,
    /// What else may be decided, where the decision needs that.
    pub along: Along,
    /// What becomes of a change of the file that nobody watched.
    pub unseen: Unseen,
}

impl Choice {
    /// Whether the hunk is to be in the text, if the choice says so.
    pub(crate) fn puts_in(self) -> Option<bool> {
        match self {
            Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth => Some(true),
            Choice::Reject | Choice::KeepMine => Some(false),
            Choice::Reopen | Choice::Comment => None,
        }
    }

    /// Whether the person has decided the other way round.
    pub(crate) fn is_against(self, decision: Decision) -> bool {
        match self.puts_in() {
            Some(true) => decision == Decision::Rejected,
            Some(false) => decision == Decision::Accepted,
            None => false,
        }
    }
}

impl Request {
    /// A decision without a reason, about nothing else, that takes nothing of the person's back.
    #[must_use]
    pub fn of(choice: Choice, target: Target) -> Self {
        let (along, unseen) = (Along::OfTurn, Unseen::Refuse);
        Self { choice, target, reason: None, edited: None, own: None, along, unseen }
    }

    /// Whether it is done as a whole or not at all, and nothing that is shown as one with it is decided for that (rule W12).
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.along, Along::Named | Along::Needed)
    }

    /// Whether a hunk of one edit that is asked for may take one of another edit along.
    pub(crate) fn takes_along(&self, of: &Edit, other: &Edit) -> bool {
        match self.along {
            Along::All | Along::Needed => true,
            Along::OfTurn => other.same_turn(of),
            Along::Named => match &self.target {
                Target::Edit(id) => other.id.as_str().starts_with(id.as_str()),
                Target::Conversation(id) | Target::Whole(id) => other.conversation == *id,
                Target::Hunk(_) | Target::Lines(_) => false,
                Target::All => true,
            },
        }
    }
}

/// What else a decision may decide, where it cannot be made without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Along {
    /// Nothing: the decision is refused then as a whole.
    Named,
    /// Hunks of the same turn (rule W11).
    #[default]
    OfTurn,
    /// Whatever it needs, and what is shown as one with that (rule W11).
    All,
    /// Whatever it needs, and nothing else: all of it, or the decision is refused as a whole.
    Needed,
}

/// What becomes of a change of a file that was made while nobody watched, when something is decided about the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// Nothing is decided, and the change is shown.
    #[default]
    Refuse,
    /// It stays; what is certain of its place in spite of it can be decided.
    Keep,
    /// It is taken back, and a copy is kept of what was there.
    GiveUp,
}

/// A decision as it is made about one hunk.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    pub request: Request,
    /// It was made about other hunks as well.
    pub of_many: bool,
    /// The hunks that were shown as one with this one, itself among them (rule W11).
    pub together: Vec<HunkId>,
}
