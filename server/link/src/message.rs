//! What the two sides say, without how it is framed.
//!
//! Requests refuse fields they do not know, so that a mistake is seen; answers tolerate them, so that a later
//! release of the same protocol may say more. What belongs to other layers travels as [`Raw`] JSON.

use std::path::PathBuf;

use hashline_history::{AgentName, Connection, Reason, Why};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// The version of everything in this module and of the frames. Both sides must have the same.
pub const PROTOCOL: u32 = 2;

/// The first thing either side says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol that it speaks.
    pub protocol: u32,
    /// Its release.
    pub version: String,
}

impl Hello {
    /// What this process says.
    #[must_use]
    pub fn ours() -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Refuses a side that speaks another protocol.
    pub(crate) fn check(&self) -> Result<()> {
        if self.protocol == PROTOCOL {
            return Ok(());
        }
        Err(Error::Version { ours: PROTOCOL, theirs: self.protocol, version: self.version.clone() })
    }
}

/// What may be asked of a sidecar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Run a tool for an agent. Answered by the tool's result.
    Call(Call),
    /// Which of these documents do you have open? Answered by a list of [`Held`].
    Holds(Holds),
    /// What are you doing? Answered by [`SidecarStatus`].
    Status(Status),
    /// Carry out a person's decision that was made in another process. Answered by [`DecideOutcome`].
    Decide(Decide),
    /// What would become of decisions about one document, made one after the other? None is made. Answered by [`DecideOutcome`]: what all
    /// of them would decide, or what stands against the first that could not be made.
    Rehearse(Vec<Decide>),
}

/// A tool call on behalf of an agent. The answer is an MCP `CallToolResult`, whether it is an error or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Who calls.
    pub caller: CallerInfo,
    /// The tool, or another thing that both sides agree on by this name, such as `resources/read`.
    pub tool: String,
    /// The arguments as the agent gave them.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// Who is behind a call. The sidecar enforces roots and grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerInfo {
    /// The agent program, as it names itself.
    pub agent: AgentName,
    /// Tells apart the connections of agents, also those that share one connection here.
    pub connection: Connection,
    /// What the agent is confined to; `None` where nothing but the sidecar's own roots does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(with = "hashline_history::path")]
    pub roots: Option<Vec<PathBuf>>,
    /// What it was given of that; `None` for everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<GrantInfo>>,
    /// Whether it is offered the tools that tell of decisions.
    pub reviews: bool,
    /// Whether it is refused files that have more than one name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_hard_links: bool,
}

/// Part of what an agent was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantInfo {
    /// Whether it may write there, and not only read.
    pub write: bool,
    /// The folder or file; the empty path for all that is served.
    #[serde(with = "hashline_history::path")]
    pub folder: PathBuf,
    /// Whether it ends with what lies directly in the folder.
    pub children_only: bool,
}

/// Asks whether documents are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holds {
    /// Resolved paths.
    #[serde(with = "hashline_history::path")]
    pub paths: Vec<PathBuf>,
}

/// Whether one document is open, and what decides between several sidecars that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    /// The path that was asked about.
    #[serde(with = "hashline_history::path")]
    pub path: PathBuf,
    /// Whether it is open.
    pub open: bool,
    /// Whether it has unsaved changes.
    pub dirty: bool,
    /// Whether the editor has not read anew what something else has saved; its own changes are all saved.
    pub behind: bool,
    /// The editor's name for its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How many undecided edits of it this sidecar owns.
    pub pending: u32,
    /// Whether no other sidecar records edits of it: some that this one owns are undecided, or decided and not known to be saved.
    pub claimed: bool,
    /// The hash of its text, where it is known without work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// When it was last opened or typed in, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

/// Asks what a sidecar is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// What a sidecar is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SidecarStatus {
    /// The editor.
    pub editor: String,
    /// The release of the sidecar.
    pub version: String,
    /// The editor's workspace folders.
    #[serde(with = "hashline_history::path")]
    pub roots: Vec<PathBuf>,
    /// The agents that have called.
    pub agents: Vec<AgentStatus>,
    /// The documents that are open or have undecided edits.
    pub documents: Vec<DocumentStatus>,
}

/// An agent at work in a sidecar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStatus {
    /// Its name.
    pub agent: AgentName,
}

/// A document of a sidecar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentStatus {
    /// Its identity.
    pub uri: String,
    /// The editor's version; `None` if it is not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// Whether it has unsaved changes.
    pub dirty: bool,
    /// The editor's name for its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How many of its edits await a decision.
    pub pending: u32,
    /// How many of those are conflicted.
    pub conflicted: u32,
}

/// A person's decision about an edit, about one hunk of it, or about all edits of a conversation. A field that is not known changes
/// what is decided, so it is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// The edit, or a beginning of its id; empty where a conversation is meant.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub edit: String,
    /// The hunk, counted from 1; `None` for the whole edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<u32>,
    /// The conversation, where no edit is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Of a conversation also what was decided otherwise.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decided_too: bool,
    /// What is named counts in this document alone, by its resolved path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(with = "hashline_history::path")]
    pub path: Option<PathBuf>,
    /// The decision.
    pub decision: Decision,
    /// What the agent is to be told.
    #[serde(default, deserialize_with = "Reason::read", skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What becomes of lines that the person changed; `None` refuses the decision where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mine: Option<Mine>,
    /// What else may be decided, where the decision needs that.
    #[serde(default)]
    pub along: Along,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What else a decision may decide, where it cannot be made without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Nothing: the decision is refused then as a whole.
    #[default]
    Named,
    /// Hunks of the same turn of an agent.
    OfTurn,
    /// Whatever it needs, and what editors show as one with that.
    All,
    /// Whatever it needs, and nothing else.
    Needed,
    /// Something that a later release says: it is refused.
    #[serde(other)]
    Unknown,
}

/// What becomes of lines that the person changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mine {
    /// They stay.
    Keep,
    /// They go, after a copy of them was kept.
    GiveUp,
    /// Something that a later release says: it is refused.
    #[serde(other)]
    Unknown,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The edit shall be in the text.
    #[default]
    Accept,
    /// The edit shall not be in the text.
    Reject,
    /// Out of a conflict: the hunk is rejected.
    KeepMine,
    /// Out of a conflict: the agent's lines instead of the person's, of which a copy is kept.
    TakeTheirs,
    /// Out of a conflict: the person's lines, then the agent's.
    KeepBoth,
    /// Something that a later release says: it is refused.
    #[serde(other)]
    Unknown,
}

/// What became of a decision. With `decided` and `refused` both empty the result is about all that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecideOutcome {
    /// In a word: about what was refused first, if anything was.
    pub result: DecideResult,
    /// In a sentence.
    pub message: String,
    /// The hunks that are decided, as `EDIT:NUMBER`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// The hunks that are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// Where the texts are in which lines of the person's were given up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(with = "hashline_history::path")]
    pub kept: Vec<PathBuf>,
    /// Of a rehearsal: the file as it would be by then, where the document has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileThen>,
}

/// What would become of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileThen {
    /// Its name.
    #[serde(with = "hashline_history::path")]
    pub path: PathBuf,
    /// Whether it would be there.
    pub exists: bool,
}

/// A hunk that was not decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refused {
    /// Its name, or what was asked for.
    pub hunk: String,
    /// Why, in a word.
    pub why: Why,
    /// Why, in a sentence.
    pub message: String,
    /// The hunks that `why` speaks of, as `EDIT:NUMBER`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// What became of a decision, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecideResult {
    /// The text shows it and it is recorded.
    Done,
    /// It is taken, and waits for the editor to show it.
    Queued,
    /// There is no such edit or hunk.
    NotFound,
    /// Another sidecar owns the edit.
    NotOwner,
    /// The text was changed by something else; the message shows the difference.
    Changed,
    /// Something else stands against it. What a later release says counts as this.
    #[default]
    #[serde(other)]
    Conflict,
}

/// JSON text that is passed on without being understood, in one line.
///
/// What arrives from the other side is known to be UTF-8 in one line; that it is JSON is found out by whoever
/// [parses](Raw::parse) it or [asks](Raw::into_raw_value). Passing it on costs a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw(String);

impl Raw {
    /// The JSON of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        let json = serde_json::to_string(value).map_err(|error| Error::Protocol(error.to_string()))?;
        // A value may hold raw JSON of its own, with line breaks between its parts.
        Ok(Self(one_line(json)))
    }

    /// JSON text from elsewhere, which is checked and put in one line.
    pub fn from_json(json: String) -> Result<Self> {
        serde_json::from_str::<IgnoredAny>(&json).map_err(|error| Error::Protocol(error.to_string()))?;
        Ok(Self(one_line(json)))
    }

    /// What stood in a frame.
    pub(crate) fn from_line(line: &[u8]) -> Result<Self> {
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Self(text.to_owned())),
            Err(_) => Err(Error::Protocol("a message is not UTF-8".to_owned())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the text means.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.0).map_err(|error| Error::Protocol(error.to_string()))
    }

    /// The text as serde knows raw JSON. Checks that it is JSON.
    pub fn into_raw_value(self) -> Result<Box<RawValue>> {
        RawValue::from_string(self.0).map_err(|error| Error::Protocol(error.to_string()))
    }
}

impl From<Raw> for String {
    fn from(raw: Raw) -> Self {
        raw.0
    }
}

/// A line break in JSON is white space between its parts, never inside a string.
fn one_line(json: String) -> String {
    if memchr::memchr(b'\n', json.as_bytes()).is_some() { json.replace('\n', " ") } else { json }
}
