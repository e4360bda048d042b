//! What plugins and the sidecar say to each other beyond LSP: the mirror of `editors/PROTOCOL.md`.
//!
//! A test compares this file with that page and with the plugins' mirrors of it, by [`MESSAGES`], [`TYPES`] and
//! [`VALUES`] and by what the types write. Whoever changes one of them changes all.

use hashline_history::Reason;
use serde::{Deserialize, Deserializer, Serialize};

/// The version of the protocol.
pub const PROTOCOL: u32 = 2;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The sidecar.
    Sidecar,
    /// The plugin.
    Plugin,
}

/// A message: its name, who says it, its fields, and for a request those of its result.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The method.
    pub name: &'static str,
    /// Who says it.
    pub from: From,
    /// The fields of its parameters.
    pub params: &'static [&'static str],
    /// The fields of its result; none for a notification.
    pub result: Option<&'static [&'static str]>,
}

/// The method of [`PendingEdits`].
pub const PENDING_EDITS: &str = "hashline/pendingEdits";
/// The method of [`Waiting`].
pub const WAITING: &str = "hashline/waiting";
/// The method of [`Decide`].
pub const DECIDE: &str = "hashline/decide";
/// The method of [`ProposedText`].
pub const PROPOSED_TEXT: &str = "hashline/proposedText";
/// The method of [`History`].
pub const HISTORY: &str = "hashline/history";
/// The method of [`Cause`].
pub const CAUSE: &str = "hashline/cause";
/// The method that is answered by [`Status`].
pub const STATUS: &str = "hashline/status";

/// All messages.
pub const MESSAGES: &[Message] = &[
    Message {
        name: PENDING_EDITS,
        from: From::Sidecar,
        params: &["uri", "version", "owner", "readOnly", "edits"],
        result: None,
    },
    Message { name: WAITING, from: From::Sidecar, params: &["agents"], result: None },
    Message {
        name: DECIDE,
        from: From::Plugin,
        params: &[
            "decision",
            "uri",
            "edit",
            "hunk",
            "conversation",
            "lines",
            "reason",
            "text",
            "edited",
            "withOthers",
        ],
        result: Some(&["queued", "refused"]),
    },
    Message {
        name: PROPOSED_TEXT,
        from: From::Plugin,
        params: &["uri"],
        result: Some(&["text", "version", "places"]),
    },
    Message {
        name: HISTORY,
        from: From::Plugin,
        params: &["uri"],
        result: Some(&["version", "owner", "readOnly", "edits"]),
    },
    Message {
        name: CAUSE,
        from: From::Plugin,
        params: &["uri", "version", "cause", "delivery"],
        result: None,
    },
    Message {
        name: STATUS,
        from: From::Plugin,
        params: &[],
        result: Some(&["version", "roots", "documents", "pending", "conflicted", "agents", "socket"]),
    },
];

/// The fields of what is inside the messages.
pub const TYPES: &[(&str, &[&str])] = &[
    ("Announcement", &["protocol", "version"]),
    (
        "Edit",
        &["id", "made", "agent", "connection", "conversation", "tool", "reason", "mode", "status", "hunks"],
    ),
    (
        "Hunk",
        &[
            "number",
            "state",
            "decision",
            "reason",
            "deciding",
            "lines",
            "removed",
            "proposed",
            "partOf",
            "dependsOn",
            "conflict",
            "file",
            "ways",
        ],
    ),
    ("Lines", &["start", "end"]),
    ("Place", &["hunk", "lines", "replaced"]),
    ("Refusal", &["hunk", "why", "message", "others"]),
];

/// The values of the fields that have a closed set of them.
pub const VALUES: &[(&str, &[&str])] = &[
    ("Edit.mode", &["propose", "apply"]),
    ("Edit.status", &["pending", "accepted", "rejected"]),
    ("Hunk.state", &["held", "inText", "edited", "conflicted", "withdrawn"]),
    ("Hunk.decision", &["undecided", "accepted", "rejected"]),
    (
        "hashline/decide.decision",
        &["accept", "reject", "keepMine", "takeTheirs", "keepBoth", "reopen", "comment"],
    ),
    ("hashline/decide.edited", &["undo", "keep"]),
    ("hashline/cause.cause", &["delivery", "undo", "redo", "reload", "saveConflict"]),
    ("Refusal.why", &["conflicted", "edited", "needsOthers", "collides", "readOnly", "gone", "failed"]),
];

/// How both sides say in `capabilities.experimental.hashline` that they speak this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of whoever says it.
    pub version: String,
}

/// All undecided edits of one document: as a list, or as whatever writes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingEdits<E = Vec<Edit>> {
    /// The document.
    pub uri: String,
    /// The version that line numbers belong to; none when it is not open here.
    pub version: Option<i32>,
    /// The editor that decides about them, when it is another one.
    pub owner: Option<String>,
    /// They can be looked at but not decided here.
    pub read_only: bool,
    /// In the order in which they were made.
    pub edits: E,
}

/// The parameters of [`WAITING`]: who waits for decisions of the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The agents, as they name themselves, each once.
    pub agents: Vec<String>,
}

/// What one tool call of an agent did to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// Its id.
    pub id: String,
    /// When it was made, in milliseconds since 1970 (UTC); none where that is not known.
    #[serde(default)]
    pub made: Option<u64>,
    /// Who made it, as the agent named itself.
    pub agent: String,
    /// Which of the agent's connections it came through; none where that is not known.
    #[serde(default)]
    pub connection: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: String,
    /// The tool that made it.
    pub tool: String,
    /// Why, as the agent says; none where it says nothing.
    #[serde(default)]
    pub reason: Option<String>,
    /// How it is treated.
    pub mode: Mode,
    /// The decision about it as a whole.
    pub status: EditStatus,
    /// All of them, in text order.
    pub hunks: Vec<Hunk>,
}

/// One contiguous run of lines that an edit replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// From 1.
    pub number: u32,
    /// Where it stands.
    pub state: HunkState,
    /// The decision about it.
    pub decision: HunkDecision,
    /// Why it was decided so, as the person said, or what they said without deciding; none where nothing was said.
    #[serde(default)]
    pub reason: Option<String>,
    /// A decision waits for the text to show it, and was not refused by the editor several times.
    pub deciding: bool,
    /// Where it is in the text; none when it has no place.
    pub lines: Option<Lines>,
    /// The lines that it takes away, as they were when it was made.
    pub removed: Vec<String>,
    /// The lines that it puts there.
    pub proposed: Vec<String>,
    /// The hunk that it is shown and decided with, as `EDIT:NUMBER`. Such a hunk is not drawn by itself.
    pub part_of: Option<String>,
    /// Undecided hunks that have to be accepted with it, as `EDIT:NUMBER`.
    pub depends_on: Vec<String>,
    /// For a conflicted hunk: what stands against it, as a sentence.
    pub conflict: Option<String>,
    /// What it does to the file itself, in words; such a hunk has no lines.
    pub file: Option<String>,
    /// The decisions that can be made about it as it stands.
    #[serde(default)]
    pub ways: Vec<Decision>,
}

/// Lines counted from 0; `end` is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first.
    pub start: u32,
    /// Behind the last; equal to `start`: the place before that line.
    pub end: u32,
}

/// How an edit is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Held until accepted.
    Propose,
    /// In the text at once.
    Apply,
}

/// The decision about an edit as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EditStatus {
    /// A hunk of it is undecided.
    Pending,
    /// At least one hunk is accepted.
    Accepted,
    /// None is.
    Rejected,
}

/// Where a hunk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkState {
    /// Not in the text.
    Held,
    /// In the text.
    InText,
    /// In the text, and changed there by the person.
    Edited,
    /// Not in the text, and something stands against it.
    Conflicted,
    /// Taken back by its agent.
    Withdrawn,
}

/// The decision about a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkDecision {
    /// None yet.
    Undecided,
    /// It is to be in the text.
    Accepted,
    /// It is not.
    Rejected,
}

/// A decision of the person. Also the argument of each command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decide {
    /// What is wanted.
    pub decision: Decision,
    /// The document.
    #[serde(default)]
    pub uri: Option<String>,
    /// One edit, or a unique beginning of its id.
    #[serde(default)]
    pub edit: Option<String>,
    /// One hunk of `edit`.
    #[serde(default)]
    pub hunk: Option<u32>,
    /// All edits of one conversation.
    #[serde(default)]
    pub conversation: Option<String>,
    /// All hunks of `uri` that touch these lines.
    #[serde(default)]
    pub lines: Option<Lines>,
    /// Why, for the agent.
    #[serde(default, deserialize_with = "Reason::read")]
    pub reason: Option<Reason>,
    /// With `accept` of one hunk: the person's own version of the proposed lines.
    #[serde(default)]
    pub text: Option<Vec<String>>,
    /// What to do with lines that the person changed inside a hunk that is rejected.
    #[serde(default)]
    pub edited: Option<Edited>,
    /// Also decide what this decision needs.
    #[serde(default, deserialize_with = "false_for_null")]
    pub with_others: bool,
}

impl Decide {
    /// This decision about nothing yet.
    #[must_use]
    pub fn new(decision: Decision) -> Self {
        Self {
            decision,
            uri: None,
            edit: None,
            hunk: None,
            conversation: None,
            lines: None,
            reason: None,
            text: None,
            edited: None,
            with_others: false,
        }
    }
}

/// A plugin may say null where nothing was said.
fn false_for_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or_default())
}

/// What the person wants of hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// To have them in the text.
    Accept,
    /// Not to have them.
    Reject,
    /// Out of a conflict: the person's lines.
    KeepMine,
    /// Out of a conflict: the agent's lines.
    TakeTheirs,
    /// Out of a conflict: both, the person's first.
    KeepBoth,
    /// To decide again later.
    Reopen,
    /// No decision: the agent is told the reason.
    Comment,
}

/// What becomes of lines that the person changed inside a hunk that is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Edited {
    /// Undo it, my changes too.
    Undo,
    /// Keep my lines.
    Keep,
}

/// What became of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The hunks whose decision is under way, as `EDIT:NUMBER`.
    pub queued: Vec<String>,
    /// Those that were not decided.
    pub refused: Vec<Refusal>,
}

/// A hunk that was not decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Its name, or what was asked for.
    pub hunk: String,
    /// Why, in a word.
    pub why: Why,
    /// Why, in a sentence that says the next step.
    pub message: String,
    /// The hunks that `why` speaks of.
    pub others: Vec<String>,
}

/// Why a hunk was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// Something stands against it.
    Conflicted,
    /// The person has changed lines inside it.
    Edited,
    /// Other hunks have to be decided with it.
    NeedsOthers,
    /// Another hunk in the text changes the same place.
    Collides,
    /// It is decided in another editor.
    ReadOnly,
    /// There is no such undecided hunk.
    Gone,
    /// It cannot be done as things are.
    Failed,
}

/// Asks for the text of a document with its held hunks in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedText {
    /// The document.
    pub uri: String,
}

/// The text of a document with its held hunks in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedTextResult {
    /// The text.
    pub text: String,
    /// The version that it was made from; none when the document is not open.
    pub version: Option<i32>,
    /// The hunks that it has and the document has not, in text order. Nothing else differs.
    #[serde(default)]
    pub places: Vec<Place>,
}

/// Where a hunk is in a text with held hunks in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The hunk, as `EDIT:NUMBER`.
    pub hunk: String,
    /// Its lines in that text.
    pub lines: Lines,
    /// The lines of the document that they stand for.
    pub replaced: Lines,
}

/// Asks for everything that was done to a document by edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The document.
    pub uri: String,
}

/// All edits of a document, whatever was decided about them: as a list, or as whatever writes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryResult<E = Vec<Edit>> {
    /// The version that line numbers belong to; none when it is not open here.
    pub version: Option<i32>,
    /// The editor that decides about them, when it is another one.
    pub owner: Option<String>,
    /// They can be looked at but not decided here.
    pub read_only: bool,
    /// In the order in which they were made.
    pub edits: E,
}

/// What brings about the change that makes a version, where it was not typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The document.
    pub uri: String,
    /// The version that the change makes.
    pub version: i32,
    /// What it was.
    pub cause: CauseKind,
    /// The number that came with the edit, where it is a delivery.
    #[serde(default)]
    pub delivery: Option<u64>,
}

/// What can bring a change about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CauseKind {
    /// An edit of the sidecar's.
    Delivery,
    /// The editor undid something.
    Undo,
    /// The editor did something again that had been undone.
    Redo,
    /// The editor read the text from the file again.
    Reload,
    /// The person settled a difference between the text and the file.
    SaveConflict,
}

/// What the sidecar is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The sidecar's version.
    pub version: String,
    /// The folders that it serves.
    pub roots: Vec<String>,
    /// Open documents.
    pub documents: u32,
    /// Undecided hunks in all documents.
    pub pending: u32,
    /// Conflicted hunks among them.
    pub conflicted: u32,
    /// The agents whose calls it has served.
    pub agents: Vec<String>,
    /// Where agents' routers reach it.
    pub socket: Option<String>,
}
