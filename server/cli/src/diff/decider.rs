//! Deciding: what is asked for, what came of it, and the one place that does it on the disk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hashline_history::{
    ConversationId, DocumentName, EditId, FileId, Found, HunkRef, Reason, Session, Store, StoreError, Why,
};
use hashline_terminal::Failure;
use hashline_weave::TakeOut;
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{self, Along, Request, Undecided, Unseen};
use hashline_workspace::{Event, Histories, Others, Rehearsal, Settings, Workspace};
use tokio::sync::mpsc::UnboundedReceiver;

use super::find_history::PROCESS;
use super::resolve_id::Book;

/// What the person wants, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Accept,
    Reject,
}

impl Verb {
    pub fn word(self) -> &'static str {
        match self {
            Verb::Accept => "accept",
            Verb::Reject => "reject",
        }
    }

    pub fn done(self) -> &'static str {
        match self {
            Verb::Accept => "accepted",
            Verb::Reject => "rejected",
        }
    }
}

/// What becomes of lines that the person changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mine {
    Keep,
    GiveUp,
}

/// What is wanted of hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Accept,
    Reject,
    /// Out of a conflict: the agent's lines instead of the person's.
    TakeTheirs,
    /// Out of a conflict: the person's lines, then the agent's.
    KeepBoth,
}

/// Which hunks are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Hunk(HunkRef),
    Edit(EditId),
    /// What is undecided of a conversation.
    Conversation(ConversationId),
    /// All of a conversation, whatever was decided.
    Whole(ConversationId),
}

/// What the person wants of which hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub choice: Choice,
    pub target: Target,
    /// What is decided about the same file right after that, before any of it is written.
    pub then: Vec<Target>,
    /// The edits that are named, by which their files are known.
    pub edits: Vec<Found>,
    /// The conversation that is decided as one with it.
    pub conversation: Option<ConversationId>,
    /// Why, for the agent.
    pub reason: Option<Reason>,
    pub mine: Option<Mine>,
    /// What else may be decided, where the decision needs that.
    pub along: Along,
}

impl Wish {
    /// Whether this hunk was asked for, by itself or with its edit.
    pub fn names(&self, hunk: &HunkRef) -> bool {
        match &self.target {
            Target::Hunk(target) if self.then.is_empty() => target == hunk,
            _ => self.edits.iter().any(|edit| edit.edit == hunk.edit),
        }
    }

    /// The same as a wish for each of its targets.
    pub fn each(&self) -> Vec<Self> {
        let targets = std::iter::once(&self.target).chain(&self.then).cloned();
        targets.map(|target| Self { target, then: Vec::new(), ..self.clone() }).collect()
    }

    /// The same without the hunks that are decided by now; none if nothing is left. `open` are those of an edit that it is about.
    pub fn without(&self, done: &HashSet<HunkRef>, open: &HashMap<EditId, Vec<HunkRef>>) -> Option<Self> {
        // Of one whose record cannot be read no hunks are known.
        let is_left = |edit: &EditId| {
            let hunks = open.get(edit).filter(|hunks| !hunks.is_empty());
            hunks.is_none_or(|hunks| !hunks.iter().all(|hunk| done.contains(hunk)))
        };
        let edits: Vec<Found> = self.edits.iter().filter(|found| is_left(&found.edit)).cloned().collect();
        let targets = std::iter::once(&self.target).chain(&self.then);
        let mut targets = targets.filter(|target| match target {
            Target::Hunk(hunk) => !done.contains(hunk),
            Target::Edit(edit) => is_left(edit),
            Target::Conversation(_) | Target::Whole(_) => true,
        });
        let target = targets.next().filter(|_| !edits.is_empty())?.clone();
        Some(Self { target, then: targets.cloned().collect(), edits, ..self.clone() })
    }

    /// The same, with its edits under the names that their files have by now: an earlier wish may have moved them.
    pub fn found_again(&self, store: &Store) -> Result<Self, Failure> {
        let edits = Book::open(store)?.again(&self.edits);
        Ok(Self { edits, ..self.clone() })
    }
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub decided: Vec<HunkRef>,
    /// The editor that has yet to put it into its text.
    pub waiting: Option<String>,
    pub refused: Vec<Refusal>,
    /// Where the texts are in which lines of the person's were given up.
    pub kept: Vec<PathBuf>,
    /// What else there is to know, in sentences.
    pub notes: Vec<String>,
}

impl Answer {
    /// Adds what came of another decision.
    pub fn add(&mut self, more: Answer) {
        let Answer { decided, waiting, refused, kept, notes } = more;
        self.decided
            .extend(decided.into_iter().filter(|hunk| !self.decided.contains(hunk)).collect::<Vec<_>>());
        self.waiting = self.waiting.take().or(waiting);
        self.refused.extend(refused);
        self.kept.extend(kept);
        self.notes.extend(notes);
    }
}

/// A hunk that was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name, or what was asked for.
    pub hunk: String,
    pub why: Why,
    /// The same in a sentence.
    pub message: String,
    /// The hunks that the sentence speaks of.
    pub others: Vec<HunkRef>,
    /// The file that it is about.
    pub document: Option<DocumentName>,
}

/// Whoever can decide.
pub trait Decider {
    /// Decides as far as it can be.
    fn decide(&mut self, wish: &Wish) -> Answer;

    /// What would come of a wish. Nothing is decided.
    fn look_at(&mut self, wish: &Wish) -> Answer;
}

/// The files of a history that no editor has open.
pub struct Disk {
    workspace: Workspace,
    events: Mutex<UnboundedReceiver<Event>>,
}

impl Disk {
    /// `others` say of a file whether an editor has it open by now; then it is not written. Nothing in `state` is.
    pub fn new(store: &Store, state: &Path, others: Arc<dyn Others>) -> Result<Self, Failure> {
        let roots = Roots::open([store.folder()]).and_then(|roots| roots.closing(state));
        let roots = roots.map_err(Failure::broken)?;
        let mut histories = Histories::of(PROCESS).with_store(store.clone());
        if let Some(signer) = store.signer() {
            histories = histories.signed_by(signer.clone());
        }
        if let Some(probe) = store.probe() {
            histories = histories.with_probe(probe);
        }
        let (workspace, events) = Workspace::new(roots, Settings::default(), histories);
        workspace.mind(others);
        Ok(Self { workspace, events: Mutex::new(events) })
    }

    /// Finishes or takes back what a process left unfinished that was killed, and says what, in sentences. What cannot be mended now is told by
    /// whatever is done next.
    pub fn mended(&self, store: &Store) -> Vec<String> {
        self.workspace.mend(store)
    }

    /// Takes a history to work on it. What a process left unfinished that was killed is finished or taken back, where no editor has the files.
    pub fn session(&self, store: &Store) -> Result<Session, StoreError> {
        store.session(&self.workspace)
    }

    /// Decides about one file.
    pub async fn decide(&self, wish: &Wish, document: &DocumentName, file: FileId) -> Answer {
        let decided = self.workspace.decide_about_file(document.as_path(), file, &requests(wish)).await;
        Answer { notes: self.notices(), ..Answer::from(decided) }
    }

    /// Tries what would come of decisions.
    pub fn rehearsal(&self) -> Rehearsal {
        Rehearsal::new(self.workspace.clone())
    }

    /// What was found out meanwhile that a person should know: what was repaired, what could not be written.
    pub fn notices(&self) -> Vec<String> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notices = Vec::new();
        while let Ok(event) = events.try_recv() {
            if let Event::Notice(words) = event
                && !notices.contains(&words)
            {
                notices.push(words);
            }
        }
        notices
    }
}

/// A wish as a workspace takes it.
pub fn requests(wish: &Wish) -> Vec<Request> {
    std::iter::once(&wish.target).chain(&wish.then).map(|target| request(wish, target)).collect()
}

fn request(wish: &Wish, target: &Target) -> Request {
    let choice = match wish.choice {
        Choice::Accept => document::Choice::Accept,
        Choice::Reject => document::Choice::Reject,
        Choice::TakeTheirs => document::Choice::TakeTheirs,
        Choice::KeepBoth => document::Choice::KeepBoth,
    };
    let target = match target.clone() {
        Target::Hunk(hunk) => document::Target::Hunk(hunk),
        Target::Edit(edit) => document::Target::Edit(edit.to_string()),
        Target::Conversation(id) => document::Target::Conversation(id),
        Target::Whole(id) => document::Target::Whole(id),
    };
    Request {
        reason: wish.reason.clone(),
        edited: wish.mine.map(|mine| match mine {
            Mine::Keep => TakeOut::KeepMyLines,
            Mine::GiveUp => TakeOut::WithMyChanges,
        }),
        along: wish.along,
        unseen: wish.mine.map_or(Unseen::Refuse, |mine| match mine {
            Mine::Keep => Unseen::Keep,
            Mine::GiveUp => Unseen::GiveUp,
        }),
        ..Request::of(choice, target)
    }
}

impl From<document::Decided> for Answer {
    fn from(decided: document::Decided) -> Self {
        let refused = decided.refused.into_iter().map(Refusal::from).collect();
        Self { decided: decided.queued, refused, kept: decided.kept, ..Self::default() }
    }
}

impl From<Undecided> for Refusal {
    fn from(undecided: Undecided) -> Self {
        let Undecided { hunk, why, message, others } = undecided;
        Self { hunk, why, message, others, document: None }
    }
}
