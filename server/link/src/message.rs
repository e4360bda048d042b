//! What the two sides say, without how it is framed.
//!
//! Requests refuse fields they do not know, so that a mistake is seen; answers tolerate them, so that a later
//! release of the same protocol may say more. What belongs to other layers travels as [`Raw`] JSON.

use std::path::PathBuf;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// The version of everything in this module and of the frames. Both sides must have the same.
pub const PROTOCOL: u32 = 1;

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

/// Who is behind a call. The sidecar enforces the roots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerInfo {
    /// The agent program, as it names itself.
    pub agent: String,
    /// Tells apart the connections of agents, also those that share one connection here.
    pub connection: String,
    /// What the agent is confined to; `None` where nothing but the sidecar's own roots does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<PathBuf>>,
}

/// Asks whether documents are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holds {
    /// Resolved paths.
    pub paths: Vec<PathBuf>,
}

/// Whether one document is open, and what decides between several sidecars that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    /// The path that was asked about.
    pub path: PathBuf,
    /// Whether it is open.
    pub open: bool,
    /// Whether it has unsaved changes.
    pub dirty: bool,
    /// The editor's name for its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How many undecided edits of it this sidecar owns.
    pub pending: u32,
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
    pub agent: String,
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

/// A person's decision about an edit, or about one hunk of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// The edit.
    pub edit: String,
    /// The hunk, counted from 1; `None` for the whole edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<u32>,
    /// The decision.
    pub decision: Decision,
    /// What the agent is to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The edit shall be in the text.
    Accept,
    /// The edit shall not be in the text.
    Reject,
}

/// What became of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct DecideOutcome {
    /// In a word.
    pub result: DecideResult,
    /// In a sentence.
    pub message: String,
}

/// What became of a decision, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The hunk is conflicted and needs one of the ways out that only the editor offers.
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
