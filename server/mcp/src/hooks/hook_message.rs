//! What a hook tells in hashline's own words, as `hashline setup` has Claude Code, Codex and OpenCode tell it.

use std::path::{Path, PathBuf};

use hashline_history::ConversationId;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::hooks::placeholders::UseId;
use crate::hooks::{HookedProgram, conversation};

/// The arguments of a hook. What a moment does not have is not there, or empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub event: String,
    /// The tool that is used, by its name in the program.
    pub tool: String,
    id: String,
    session: String,
    turn: String,
    /// How the program decides what the agent may do.
    pub mode: String,
    cwd: PathBuf,
    /// The arguments of the tool.
    pub input: Value,
    /// What the tool came to.
    pub response: Value,
    /// All tools that one answer of the model has used.
    pub calls: Value,
}

impl Told {
    pub(super) fn read(given: JsonObject) -> Result<Self, String> {
        value(Value::Object(given))
    }

    /// The conversation that the edits of the turn belong to.
    pub(super) fn conversation(&self, program: HookedProgram) -> Option<ConversationId> {
        conversation(program, &self.session, &self.turn).filter(|_| !self.turn.is_empty())
    }

    /// The use of the tool, which is one of this program.
    pub(super) fn use_id(&self, program: &str) -> Result<UseId, String> {
        if self.id.is_empty() {
            return Err("the use of a tool has no id".to_owned());
        }
        Ok(UseId::new(program, &self.session, &self.id))
    }

    /// The folder in which the agent works.
    pub(super) fn folder(&self) -> Result<&Path, String> {
        let folder = Some(self.cwd.as_path()).filter(|folder| folder.is_absolute());
        folder.ok_or_else(|| "it has no folder".to_owned())
    }
}

/// What JSON says that may have come as a text.
pub(super) fn value<T: DeserializeOwned>(given: Value) -> Result<T, String> {
    let read = match given {
        Value::String(text) => serde_json::from_str(&text),
        other => serde_json::from_value(other),
    };
    read.map_err(|error| error.to_string())
}
