//! What agents do with tools of their own, on documents that editors have open.

use std::time::Duration;

use hashline_history::ConversationId;
use hashline_link::CancellationToken;
use serde_json::{Value, json};

use crate::hooks::built_in::{BuiltIn, Replaced};
use crate::hooks::decision_table::{Verdict, verdict};
use crate::hooks::placeholders::Held;
use crate::reply::Reply;
use crate::resources::contents::text;
use crate::router::{Origin, Router};
use crate::toolset::ToolName;

/// How long each question may take. There are three of them for an edit, and programs wait ten seconds.
const ASKED: Duration = Duration::from_secs(3);

/// The most lines that a refusal repeats.
const MOST_TOLD: usize = 40;

/// The documents that editors have open, as one agent reaches them in one of its turns.
pub(crate) struct OpenDocuments<'a> {
    pub router: &'a Router,
    pub origin: &'a Origin,
    /// What the turn is called, where it has a name.
    pub turn: Option<&'a ConversationId>,
}

/// Why a write is not held.
pub(crate) enum NotHeld {
    /// The editor's text does not take it: why, and what to do.
    Refused(String),
    /// There is no answer.
    Failed(String),
}

impl OpenDocuments<'_> {
    /// What is to be done with a use of a tool. An error says that nobody knows.
    pub(crate) async fn verdict(&self, tool: &BuiltIn) -> Result<Verdict, String> {
        let openness = tokio::time::timeout(ASKED, self.router.openness(tool.path())).await;
        let openness =
            openness.map_err(|_| format!("no editor says in time whether {} is open", tool.path()))?;
        Ok(verdict(openness, tool))
    }

    /// Looks at what a write makes of the live text, and returns both.
    pub(super) async fn look(&self, tool: &BuiltIn, editor: &str) -> Result<(String, Replaced), NotHeld> {
        let path = tool.path();
        let live = self.live_text(path).await?;
        match tool.replaced(&live) {
            Replaced::Missing(lines) => Err(NotHeld::Refused(format!(
                "{path} is open in {editor}, and its text there is what counts: it does not have these lines, so nothing was changed. Read it \
                 with hashline's read_text_file, then patch that text.\n{}",
                lines.iter().take(MOST_TOLD).map(String::as_str).collect::<Vec<_>>().join("\n")
            ))),
            replaced => Ok((live, replaced)),
        }
    }

    /// Holds a write in the editor.
    pub(crate) async fn hold(&self, tool: &BuiltIn, editor: &str) -> Result<Held, NotHeld> {
        let path = tool.path();
        let (before, replaced) = self.look(tool, editor).await?;
        let (name, mut arguments, after) = match replaced {
            Replaced::Once { old, new, after } => {
                (ToolName::EditFileDiff, json!({ "edits": [{ "old": old, "new": new }] }), after)
            }
            Replaced::Whole(after) => (ToolName::WriteFile, json!({ "content": after }), after),
            Replaced::Missing(_) | Replaced::Nothing => {
                return Err(NotHeld::Failed(format!("{tool:?} writes nothing")));
            }
        };
        // Without a hash it is held in every mode.
        arguments["path"] = path.into();
        if let Some(turn) = self.turn {
            arguments["mcp_conversation_id"] = turn.as_str().into();
        }
        let Some(reply) = self.call(name, arguments).await else {
            // It may have been sent, so it must not be made on the disk, too.
            return Err(NotHeld::Refused(format!(
                "{path} is open in {editor}, which did not answer in time. Whether the edit is held there, list_edits of hashline tells."
            )));
        };
        if reply.failed {
            let words =
                format!("{path} is open in {editor}, and its text there is what counts. {}", reply.text);
            return Err(NotHeld::Refused(words));
        }
        Ok(Held { tool: tool.clone(), before, after, words: reply.text })
    }

    /// Calls a tool; none if there is no answer in time.
    pub(super) async fn call(&self, tool: ToolName, arguments: Value) -> Option<Reply> {
        let Value::Object(arguments) = arguments else { return None };
        let never = CancellationToken::new();
        let called = self.router.reply(self.origin, tool, arguments, &never);
        tokio::time::timeout(ASKED, called).await.ok()
    }

    /// The text that an agent sees of an open document.
    pub(crate) async fn live_text(&self, path: &str) -> Result<String, NotHeld> {
        let asked = tokio::time::timeout(ASKED, self.router.document(self.origin, path)).await;
        let reply = asked.map_err(|_| NotHeld::Failed(format!("{path} was not told of in time")))?;
        if reply.failed {
            return Err(NotHeld::Refused(reply.text));
        }
        text(reply).ok_or_else(|| NotHeld::Failed(format!("{path} holds no text")))
    }

    /// Whether the file of a document holds a text.
    pub(crate) async fn is_on_disk(&self, path: &str, text: &str) -> bool {
        let Some(file) = self.router.file_of(path) else { return false };
        let length = tokio::fs::metadata(&file).await.map(|found| found.len());
        length.is_ok_and(|length| length == text.len() as u64)
            && tokio::fs::read(&file).await.is_ok_and(|bytes| bytes == text.as_bytes())
    }
}
