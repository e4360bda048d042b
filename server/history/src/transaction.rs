//! One line of `decisions.log`: what happened to one document at one moment.

use hashline_text::{DiskForm, FileHash};
use hashline_weave::{HunkId, Weave};
use serde::{Deserialize, Serialize};

use crate::agent_name::AgentName;
use crate::connection::Connection;
use crate::id::{ConversationId, EditId, FileId, HunkRef};
use crate::json_format::{WireForm, hash, hunk};
use crate::name::DocumentName;
use crate::reason::Reason;
use crate::record::{Decision, Location, Sequence};

/// What an edit does to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Makes the file.
    Create,
    /// Writes it anew as a whole.
    Replace,
    /// Changes parts of it.
    Edit,
    /// Removes it.
    Delete,
    /// Gives it another name.
    Move,
}

impl Operation {
    /// The word for it in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Replace => "replace",
            Operation::Edit => "edit",
            Operation::Delete => "delete",
            Operation::Move => "move",
        }
    }
}

/// Whether an edit waits for the person before it comes into the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Held until it is accepted.
    #[default]
    Propose,
    /// In the text at once; a rejection takes it out.
    Apply,
}

impl Mode {
    /// The word for it in settings and replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Propose => "propose",
            Mode::Apply => "apply",
        }
    }
}

/// An edit as it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEdit {
    /// Its id.
    pub id: EditId,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// Who made it, as the agent named itself.
    pub agent: AgentName,
    /// The connection that it came through.
    pub connection: Connection,
    /// The agent named no conversation, so this edit opened one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opens_conversation: bool,
    /// The tool that made it.
    pub tool: String,
    /// Why, as the agent says.
    #[serde(default, deserialize_with = "Reason::read_of_agent", skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// How it was to be treated.
    pub mode: Mode,
    /// What it does to its file.
    pub operation: Operation,
    /// The agent view or the file before; none if there was no file.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub hash_before: Option<FileHash>,
    /// The agent view or the file after; none if there is no file then.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub hash_after: Option<FileHash>,
    /// Its hunks, numbered from 1: the file hunk first if there is one, then those of lines in text order.
    pub hunks: Vec<NewHunk>,
    /// What its file hunk, number 1, does (W10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileChange>,
}

/// A hunk of a new edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewHunk {
    /// From 1.
    pub number: u32,
    /// The hunk in the weave; none for a file hunk.
    #[serde(with = "hunk", default, skip_serializing_if = "Option::is_none")]
    pub id: Option<HunkId>,
    /// The first line that it replaces, 0-based, in the agent view before the edit.
    #[serde(default)]
    pub line: usize,
}

/// What an edit sets of a file's existence, name and mode bits: each with what it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Whether there is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<(bool, bool)>,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<(DocumentName, DocumentName)>,
    /// Its mode bits, as Unix has them; none before a create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<(Option<u32>, u32)>,
}

/// What is so about the file now; its name is the document's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registers {
    /// Whether there is a file: false for one that is deleted, or only proposed.
    pub exists: bool,
    /// Its mode bits, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

impl Default for Registers {
    fn default() -> Self {
        Self { exists: true, mode: None }
    }
}

/// A decision about a hunk, or that one was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The hunk.
    pub hunk: HunkRef,
    /// The decision that stands now.
    pub decision: Decision,
    /// What the person said about it.
    #[serde(default, deserialize_with = "Reason::read", skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A hunk has come into a text or left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The hunk.
    pub hunk: HunkRef,
    /// Where it is now.
    #[serde(rename = "in")]
    pub location: Location,
}

/// Who may switch the undecided edits of a document (W19).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnerChange {
    /// This sidecar, by its id.
    Claimed(String),
    /// Nobody any more.
    Released,
}

/// What is about to be done to one name on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The file.
    pub name: DocumentName,
    /// The hash of what is there before; none if there is nothing.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileHash>,
    /// The hash of what is there afterwards.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileHash>,
}

/// How an intent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntentEnd {
    /// It was done.
    Done,
    /// It was not done, and is not going to be: the document is again as it was before.
    Withdrawn,
}

/// How the weave of a draft goes on from what was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Continuity {
    /// It is the recorded one, and what happened to it since.
    #[default]
    Follows,
    /// The text was changed by something that nobody watched; the weave has its old hunks still (W17).
    Unobserved,
}

/// What the document holds now.
#[derive(Clone, Copy, Debug)]
pub enum Now<'a> {
    /// Text, with all that agents did to it. No hunk of it may be concealed.
    Text {
        /// The weave.
        weave: &'a Weave,
        /// How its buffer would be stored.
        form: DiskForm,
        /// The hash of its buffer, where it is known already.
        hash: Option<FileHash>,
    },
    /// Bytes that are no text.
    Bytes(&'a [u8]),
}

/// What is to be recorded about one document, in one step.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// What the document is called from now on.
    pub document: DocumentName,
    /// Which file it is about.
    pub file: Subject,
    /// The last that the caller knows of the document. If there is more, nothing is recorded.
    pub since: Option<Sequence>,
    /// What it holds, if that may have changed.
    pub now: Option<Now<'a>>,
    /// How that goes on from what was recorded.
    pub continuity: Continuity,
    /// A new edit.
    pub edit: Option<NewEdit>,
    /// Decisions.
    pub decisions: Vec<Decided>,
    /// Decisions that are about to be brought into a text. They count when it shows them.
    pub wanted: Vec<Decided>,
    /// Where hunks are.
    pub locations: Vec<Located>,
    /// The hash of the file as it was saved.
    pub saved: Option<FileHash>,
    /// A change of owner.
    pub owner: Option<OwnerChange>,
    /// What is about to be done to the disk. The rest of the draft says how things are once it is done.
    pub intent: Vec<Effect>,
    /// The intent that the document has is done.
    pub done: bool,
    /// The file's registers, if they may have changed.
    pub registers: Option<Registers>,
}

/// Which file a draft is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The one that has the document's name; a new one where nothing is recorded of any.
    #[default]
    Named,
    /// This one, whatever it is called: after a move, or where another one has its name by now.
    File(FileId),
    /// One of which nothing is recorded, though one that is gone had its name.
    New,
}

impl Draft<'_> {
    /// A draft that says nothing yet.
    #[must_use]
    pub fn about(document: DocumentName) -> Self {
        Self {
            document,
            file: Subject::Named,
            since: None,
            now: None,
            continuity: Continuity::Follows,
            edit: None,
            decisions: Vec::new(),
            wanted: Vec::new(),
            locations: Vec::new(),
            saved: None,
            owner: None,
            intent: Vec::new(),
            done: false,
            registers: None,
        }
    }
}

/// A transaction as it stands in the record. `D` is how a delta is read: as a whole, later, or not at all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Transaction<D> {
    #[serde(rename = "seq")]
    pub sequence: Sequence,
    /// For people only: the order is that of the sequence.
    pub time: String,
    pub process: String,
    pub document: DocumentName,
    pub file: FileId,
    /// What was recorded of the file before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Sequence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<NewEdit>,
    /// The edit's place in its conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub base: Option<Base<D>>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub delta: Option<D>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<WireForm>,
    /// The hash of the buffer, or of the bytes, afterwards.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub text: Option<FileHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<Registers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decided>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<Decided>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Located>,
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<FileHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intent: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<IntentEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
}

/// Transactions about different files that follow on each other and count together, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Together {
    /// The first of them.
    pub from: Sequence,
    /// How many there are.
    pub of: u64,
}

impl Together {
    pub(crate) fn last(self) -> Sequence {
        Sequence(self.from.0.saturating_add(self.of).saturating_sub(1))
    }

    /// Whether a transaction may be one of them.
    pub(crate) fn holds(self, sequence: Sequence) -> bool {
        (self.from..=self.last()).contains(&sequence)
    }
}

fn none<T>() -> Option<T> {
    None
}

/// A state of a document that rests on nothing before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Base<D> {
    /// The file with the text or the bytes; none for the empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The hash of that file.
    #[serde(with = "hash", default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<FileHash>,
    /// The bytes are no text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// The rest of the weave, if it is more than the text.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub weave: Option<D>,
    /// What the hunks of the weave are called, in the order of record; none for those whose edits are forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Option<HunkRef>>,
}

impl<D> Transaction<D> {
    /// Every name of a document in it.
    fn names_mut(&mut self) -> impl Iterator<Item = &mut DocumentName> {
        let moved = self.edit.as_mut().and_then(|edit| edit.file.as_mut()?.name.as_mut());
        let moved = moved.into_iter().flat_map(|(from, to)| [from, to]);
        let effects = self.intent.iter_mut().map(|effect| &mut effect.name);
        std::iter::once(&mut self.document).chain(moved).chain(effects)
    }

    /// Puts other spellings in the place of its names; the first that has none is given back.
    pub(crate) fn respell(
        &mut self,
        spell: impl Fn(&DocumentName) -> Option<DocumentName>,
    ) -> Result<(), DocumentName> {
        for name in self.names_mut() {
            match spell(name) {
                Some(other) => *name = other,
                None => return Err(name.clone()),
            }
        }
        Ok(())
    }
}
