//! Hooks: what agents do with their own tools ends in the same review.
//!
//! An agent's program tells of each use of its built-in tools, before and after. What it writes to a file that no editor has open is
//! recorded afterwards, so that it can be kept or taken back. Of a document that is open in an editor it reads the live text, unsaved work included, and what it writes is held there for
//! the person, while the program is answered that its edit was made: an edit that is refused looks like an error, and models work around
//! errors by the shell.
//!
//! - An [`Event`] is what the program tells, the same for all agents; each agent's own form is read and answered in a module of its name.
//! - [`decision_table`] is what is done with each.
//! - A write that is held goes to a [placeholder](placeholders) instead, which is gone when the program has made it.
//!
//! # Invariants
//! - Whatever fails here fails open: the program goes on as if there were no hook, and the log says why. But a write to a document that is
//!   known to be open, whose text does not take it or cannot be had, is refused in words.
//! - An edit is held before the program is answered, through the same call as hashline's own tools: with their confinement and their words.
//!   It is held in every mode, as the program does not ask the person any more.
//! - There is an answer before the program stops waiting.
//!
//! # Limitations
//! - Some programs compare an edit with the file on disk before they tell of it. An edit of unsaved or held lines fails there; it is made
//!   on the live text behind that failure, where the program tells of failures.

mod apply_patch;
mod built_in;
mod claude_code;
mod codex;
mod decision_table;
mod failures;
mod gemini;
mod handling;
mod hook_message;
mod open_documents;
mod opencode;
mod placeholders;
mod structured_patch;

use std::path::PathBuf;

use hashline_history::{Connection, ConversationId};
use rmcp::model::JsonObject;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::hooks::apply_patch::{Form, Patch};
pub use crate::hooks::failures::{HookFailure, hook_failures, pass_over};
use crate::hooks::handling::Handling;
use crate::hooks::placeholders::{Held, Placeholders, UseId};
use crate::router::{Origin, Router};
pub(crate) use built_in::BuiltIn;
pub(crate) use decision_table::Verdict;
pub(crate) use open_documents::{NotHeld, OpenDocuments};

/// The name of the tool that agents' hooks call. It is not listed: models have no use for it.
pub(crate) const TOOL: &str = "hook";

/// A program whose hooks are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookedProgram {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// OpenCode
    OpenCode,
}

impl HookedProgram {
    /// What it is called in a history.
    fn agent(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
            Self::OpenCode => "opencode",
        }
    }

    fn parse(self, given: JsonObject) -> Result<Event, String> {
        match self {
            Self::ClaudeCode => claude_code::parse(given),
            Self::Codex => codex::parse(given),
            Self::Gemini => gemini::parse(given),
            Self::OpenCode => opencode::parse(given),
        }
    }
}

/// What an agent's program tells.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    /// What the turn of the agent is called, where it has a name.
    turn: Option<ConversationId>,
    /// The folder in which the program may make a placeholder; none for the state folder.
    place: Option<PathBuf>,
    moment: Moment,
}

#[derive(Clone, Debug, PartialEq)]
enum Moment {
    /// A tool is about to be used.
    Before { id: UseId, tool: BuiltIn },
    /// Files are about to be patched, whose names begin at this folder.
    Patch { id: UseId, patch: Patch, folder: PathBuf, form: Form },
    /// A tool was used. None for a tool that may have been any.
    After { id: UseId, tool: Option<BuiltIn>, response: Value },
    /// Edits failed, as the file on disk is not as they have it.
    Failed { edits: Vec<BuiltIn> },
    /// The person has sent a message, and the agent is about to read it.
    Prompt,
    /// The agent has answered.
    TurnEnd,
    /// Something else that is not about files.
    Nothing,
}

/// What the program is answered.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// Nothing: it does what it would do.
    NoOpinion,
    /// The tool is not to be used, for this reason.
    Refused(String),
    /// The write is held; the program is to write its placeholder.
    Held { tool: BuiltIn, file: String },
    /// Part of a patch is held; this is left of it, and that is said of what is held.
    Along { kept: String, words: String },
    /// What a use of a tool came to that was held.
    Made(Box<Held>),
    /// The text that a read is to show, in the place of the file's, and what to say of it.
    Read { live: String, words: String },
    /// What else the agent is to read.
    Context(String),
}

/// The session that a program tells of, which has the edits that are made in it. Its name is a secret between the program and hashline: whoever
/// knows it can take these edits back.
pub(crate) fn session(program: HookedProgram, given: &JsonObject) -> Option<Connection> {
    let name =
        ["session", "session_id"].into_iter().find_map(|key| given.get(key)).and_then(Value::as_str)?;
    ConversationId::is_safe(name).then(|| Connection::Own(format!("{} session {name}", program.agent())))
}

/// The conversation of a turn. Other agents read what it is called, so that does not tell the session.
fn conversation(program: HookedProgram, session: &str, turn: &str) -> Option<ConversationId> {
    if !ConversationId::is_safe(session) {
        return None;
    }
    Some(format!("turn_{}", digest(&[program.agent(), session, turn])).into())
}

/// A name that stands for names that not everybody is to know.
pub(crate) fn digest(names: &[&str]) -> String {
    let digest = Sha256::digest(names.join("\0"));
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Answers a hook of a program that starts a command for each.
pub async fn answer_command(router: &Router, program: HookedProgram, given: JsonObject) -> String {
    let Some(connection) = session(program, &given) else {
        pass_over(router.state(), program, "it names no session");
        return String::new();
    };
    let origin = Origin { agent: program.agent().into(), connection, grants: None, reviews: true };
    answer(router, &origin, program, given).await
}

/// Answers a hook of an agent's program in the program's own form; the empty text for no opinion.
pub(crate) async fn answer(
    router: &Router,
    origin: &Origin,
    program: HookedProgram,
    given: JsonObject,
) -> String {
    let event = match program.parse(given) {
        Ok(event) => event,
        Err(why) => {
            pass_over(router.state(), program, &why);
            return String::new();
        }
    };
    let placeholders = Placeholders::new(router.state(), event.place.as_deref());
    let documents = OpenDocuments { router, origin, turn: event.turn.as_ref() };
    let handling = Handling { documents, program, placeholders: &placeholders };
    let answer = match &event.moment {
        Moment::Before { id, tool } => handling.before(id, tool).await,
        Moment::Patch { id, patch, folder, .. } => handling.patched(id, patch, folder).await,
        Moment::After { id, tool, .. } => handling.after(id, tool.as_ref()).await,
        Moment::Failed { edits } => handling.retried(edits).await,
        Moment::Prompt => handling.decided().await,
        Moment::TurnEnd => {
            placeholders.end_turn();
            Answer::NoOpinion
        }
        Moment::Nothing => Answer::NoOpinion,
    };
    match program {
        HookedProgram::ClaudeCode => claude_code::render(&event, answer),
        HookedProgram::Codex => codex::render(&event, answer),
        HookedProgram::Gemini => gemini::render(&event, answer, &placeholders),
        HookedProgram::OpenCode => opencode::render(&event, answer),
    }
}
