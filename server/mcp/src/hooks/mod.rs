//! Hooks: what agents do with their own tools ends in the same review.
//!
//! An agent's program tells of each use of its built-in tools, before and after. A file that no editor has open is the program's own
//! business. Of a document that is open in an editor it reads the live text, unsaved work included, and what it writes is held there for
//! the person, while the program is answered that its edit was made: an edit that is refused looks like an error, and models work around
//! errors by the shell.
//!
//! - An [`Event`] is what the program tells, the same for all agents; each agent's own form is read and answered in a module of its name.
//! - [`verdict`] is the decision table.
//! - A write that is held goes to a [placeholder](placeholders) instead, which is gone when the program has made it.
//!
//! # Invariants
//! - Whatever fails here fails open: the program goes on as if there were no hook, and the log says why. But a write that would go under
//!   unsaved work which hashline has seen and cannot merge it with is refused in words.
//! - An edit is held before the program is answered, through the same call as hashline's own tools: with their confinement and their words.
//!
//! # Limitations
//! - Some programs compare an edit with the file on disk before they tell of it. An edit of unsaved or held lines fails there; it is made
//!   on the live text behind that failure, where the program tells of failures.

mod built_in;
mod claude_code;
mod gemini;
mod opencode;
mod placeholders;
mod structured_patch;
mod verdict;

use std::path::PathBuf;
use std::time::Duration;

use hashline_history::{Connection, ConversationId};
use hashline_link::CancellationToken;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::hooks::built_in::{BuiltIn, Replaced};
use crate::hooks::placeholders::{Held, Placeholders, UseId};
pub(crate) use crate::hooks::verdict::Standing;
use crate::hooks::verdict::{Verdict, verdict};
use crate::reply::{NEWS, Reply};
use crate::resources::contents::text_and_hash;
use crate::router::{Origin, Router};
use crate::toolset::ToolName;

/// How soon a program has read what was written for it to read.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// The name of the tool that agents' hooks call. It is not listed: models have no use for it.
pub(crate) const TOOL: &str = "hook";

/// A program whose hooks are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookedProgram {
    /// Claude Code
    ClaudeCode,
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
            Self::Gemini => "gemini-cli",
            Self::OpenCode => "opencode",
        }
    }

    fn parse(self, given: JsonObject) -> Result<Event, String> {
        match self {
            Self::ClaudeCode => claude_code::parse(given),
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
    /// A tool was used. None for an id where it was no placeholder that was written.
    After { id: Option<UseId>, tool: BuiltIn, response: Value },
    /// Edits failed, as the file on disk is not as they have it.
    Failed { edits: Vec<BuiltIn> },
    /// The person has sent a message, and the agent is about to read it.
    Prompt,
    /// The agent has answered.
    TurnEnd,
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
    /// What a use of a tool came to that was held.
    Made(Box<Held>),
    /// The text that a read is to show, in the place of the file's, and what to say of it.
    Read { live: String, words: String },
    /// What else the agent is to read.
    Context(String),
}

/// The session that an agent's program tells of, which has the edits that are made in it.
pub(crate) fn session(given: &JsonObject) -> Option<Connection> {
    let name =
        ["session", "session_id"].into_iter().find_map(|key| given.get(key)).and_then(Value::as_str)?;
    ConversationId::is_safe(name).then(|| Connection::Own(format!("session {name}")))
}

/// Answers a hook of a program that starts a command for each.
pub async fn answer_command(router: &Router, program: HookedProgram, given: JsonObject) -> String {
    let connection = session(&given).unwrap_or_else(|| Connection::Own(String::new()));
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
            tracing::warn!("a hook is passed over: {why}");
            return String::new();
        }
    };
    let placeholders = Placeholders::new(router.state(), event.place.as_deref());
    let answer = match &event.moment {
        Moment::Before { id, tool } => before(router, origin, &event, &placeholders, id, tool).await,
        Moment::After { id, tool, .. } => after(router, origin, &placeholders, id.as_ref(), tool).await,
        Moment::Failed { edits } => retried(router, origin, &event, edits).await,
        Moment::Prompt => decided(router, origin).await,
        Moment::TurnEnd => {
            placeholders.sweep(READ_WITHIN);
            Answer::NoOpinion
        }
    };
    match program {
        HookedProgram::ClaudeCode => claude_code::render(&event, answer),
        HookedProgram::Gemini => gemini::render(&event, answer, &placeholders),
        HookedProgram::OpenCode => opencode::render(&event, answer),
    }
}

async fn before(
    router: &Router,
    origin: &Origin,
    event: &Event,
    placeholders: &Placeholders,
    id: &UseId,
    tool: &BuiltIn,
) -> Answer {
    let editor = match verdict(router.standing(tool.path()).await, tool) {
        Verdict::NoOpinion | Verdict::LiveText(_) => return Answer::NoOpinion,
        Verdict::Refuse(words) => return Answer::Refused(words),
        Verdict::Hold(editor) => editor,
    };
    let held = match hold(router, origin, event, tool, &editor).await {
        Ok(held) => held,
        Err(NotHeld::Refused(words)) => return Answer::Refused(words),
        Err(NotHeld::Failed(why)) => return passed_over(&why),
    };
    match placeholders.put(id, &held) {
        Ok(file) => Answer::Held { tool: tool.clone(), file },
        Err(why) => {
            tracing::warn!("a placeholder cannot be named: {why}");
            Answer::Refused(format!(
                "The file on disk was left as it is; the edit is in the editor. {}",
                held.words
            ))
        }
    }
}

fn passed_over(why: &str) -> Answer {
    tracing::warn!("a hook is passed over: {why}");
    Answer::NoOpinion
}

/// Why a write is not held.
enum NotHeld {
    /// The editor's text does not take it: why, and what to do.
    Refused(String),
    /// There is no answer.
    Failed(String),
}

/// Holds a write in the editor.
async fn hold(
    router: &Router,
    origin: &Origin,
    event: &Event,
    tool: &BuiltIn,
    editor: &str,
) -> Result<Held, NotHeld> {
    let live = live_text(router, origin, tool.path()).await.map_err(NotHeld::Failed)?;
    let (name, mut arguments, after) = match tool.replaced(&live.text) {
        Replaced::Once { old, new, after } => {
            (ToolName::EditFileDiff, json!({ "edits": [{ "old": old, "new": new }] }), after)
        }
        Replaced::Whole(after) => (ToolName::WriteFile, json!({ "content": after }), after),
        Replaced::Nothing => return Err(NotHeld::Failed(format!("{tool:?} writes nothing"))),
    };
    arguments["path"] = tool.path().into();
    arguments["file_hash"] = live.hash.into();
    if let Some(turn) = &event.turn {
        arguments["mcp_conversation_id"] = turn.as_str().into();
    }
    let reply = call(router, origin, name, arguments).await;
    if reply.failed {
        let path = tool.path();
        let words = format!("{path} is open in {editor}, and its text there is what counts. {}", reply.text);
        return Err(NotHeld::Refused(words));
    }
    Ok(Held { tool: tool.clone(), before: live.text, after, words: reply.text })
}

async fn after(
    router: &Router,
    origin: &Origin,
    placeholders: &Placeholders,
    id: Option<&UseId>,
    tool: &BuiltIn,
) -> Answer {
    if let Some(held) = id.and_then(|id| placeholders.take(id, tool.path())) {
        return Answer::Made(Box::new(held));
    }
    let Verdict::LiveText(editor) = verdict(router.standing(tool.path()).await, tool) else {
        return Answer::NoOpinion;
    };
    match live_text(router, origin, tool.path()).await {
        Ok(live) => {
            let words = format!(
                "{} is open in {editor}: this is its text there, with unsaved work and with what agents' edits that are held make of it. The \
                 file on disk reads otherwise.",
                tool.path()
            );
            Answer::Read { live: live.text, words }
        }
        Err(why) => passed_over(&why),
    }
}

/// Makes edits on the live text that failed on the disk's: what they are for may be unsaved, or held.
async fn retried(router: &Router, origin: &Origin, event: &Event, edits: &[BuiltIn]) -> Answer {
    let mut told = Vec::new();
    for edit in edits {
        let path = edit.path();
        let Verdict::Hold(editor) = verdict(router.standing(path).await, edit) else { continue };
        match hold(router, origin, event, edit, &editor).await {
            Ok(held) => told.push(format!(
                "The edit of {path} failed on the file on disk, but the text in {editor} has what it is for, so hashline has made it \
                 there:\n{}",
                held.words.trim_end()
            )),
            Err(NotHeld::Refused(words)) => told.push(words.trim_end().to_owned()),
            Err(NotHeld::Failed(why)) => tracing::warn!("a hook is passed over: {why}"),
        }
    }
    if told.is_empty() { Answer::NoOpinion } else { Answer::Context(told.join("\n\n")) }
}

/// What was decided about the caller's edits that it has not been told.
async fn decided(router: &Router, origin: &Origin) -> Answer {
    let reply = call(router, origin, ToolName::AwaitReview, json!({ "timeout_s": 0 })).await;
    let is_news = reply.meta.get(NEWS).and_then(Value::as_bool).unwrap_or_default();
    if is_news { Answer::Context(reply.text) } else { Answer::NoOpinion }
}

async fn call(router: &Router, origin: &Origin, tool: ToolName, arguments: Value) -> Reply {
    let Value::Object(arguments) = arguments else { return Reply::refused("the arguments are no object") };
    router.reply(origin, tool, arguments, &CancellationToken::new()).await
}

/// The text that an agent sees of a document.
struct Live {
    text: String,
    hash: String,
}

async fn live_text(router: &Router, origin: &Origin, path: &str) -> Result<Live, String> {
    let reply = router.document(origin, path).await;
    let why = if reply.failed { reply.text.clone() } else { format!("{path} holds no text") };
    text_and_hash(reply).map(|(text, hash)| Live { text, hash }).ok_or(why)
}
