//! What is done at each moment that an agent's program tells of.

use std::io;
use std::path::Path;
use std::time::Duration;

use hashline_history::path::to_text;
use hashline_link::CancellationToken;
use serde_json::{Value, json};

use crate::hooks::apply_patch::Patch;
use crate::hooks::built_in::{BuiltIn, Replaced};
use crate::hooks::failures::pass_over;
use crate::hooks::placeholders::{Held, Placeholders, UnopenedFile, UseId};
use crate::hooks::verdict::{Verdict, verdict};
use crate::hooks::{Answer, Event, HookedProgram};
use crate::reply::{NEWS, Reply};
use crate::resources::contents::text;
use crate::router::{Openness, Origin, Router};
use crate::toolset::ToolName;
use crate::written_file::Written;

/// How long each question may take. There are three of them for an edit, and programs wait ten seconds.
const ASKED: Duration = Duration::from_secs(3);

/// The most files of a patch: of each it is asked whether it is open, and the program waits.
const MOST_FILES: usize = 256;

/// The most bytes that are noted of all files that one use of a tool writes.
const MOST_NOTED: u64 = 8 << 20;

/// Why the second of two hooks does nothing.
const INSTALLED_TWICE: &str = "hashline's hooks are installed twice; hashline doctor shows where";

/// The most lines that a refusal repeats.
const MOST_TOLD: usize = 40;

/// An event, and what it is answered with.
pub(super) struct Handling<'a> {
    pub router: &'a Router,
    pub program: HookedProgram,
    pub origin: &'a Origin,
    pub event: &'a Event,
    pub placeholders: &'a Placeholders,
}

/// Why a write is not held.
enum NotHeld {
    /// The editor's text does not take it: why, and what to do.
    Refused(String),
    /// There is no answer.
    Failed(String),
}

impl Handling<'_> {
    /// Holds a write of an open document.
    pub(super) async fn before(&self, id: &UseId, tool: &BuiltIn) -> Answer {
        let editor = match self.verdict(tool).await {
            Verdict::NoOpinion => {
                self.note(id, &[tool.path().to_owned()], tool.kind()).await;
                return Answer::NoOpinion;
            }
            Verdict::LiveText(_) => return Answer::NoOpinion,
            Verdict::Refuse(words) => return Answer::Refused(words),
            Verdict::Hold(editor) => editor,
        };
        match self.placeholders.claim(id) {
            Ok(true) => {}
            Ok(false) => return self.passed_over(INSTALLED_TWICE),
            Err(why) => return self.passed_over(&why),
        }
        match self.hold(tool, &editor).await {
            Ok(held) => self.placed(id, held),
            Err(not_held) => {
                self.placeholders.release(id);
                self.not_held(not_held)
            }
        }
    }

    /// Holds a patch as far as it is about open documents, all of them or none.
    pub(super) async fn patched(&self, id: &UseId, patch: &Patch, folder: &Path) -> Answer {
        if patch.files.len() > MOST_FILES {
            let count = patch.files.len();
            return Answer::Refused(format!(
                "The patch names {count} files, and may name {MOST_FILES}: nothing was changed. Send it in parts."
            ));
        }
        let mut open = Vec::new();
        let mut unopened = Vec::new();
        for file in &patch.files {
            let Some(tool) = file.write(folder) else {
                unopened.extend(file.removes(folder));
                continue;
            };
            match self.verdict(&tool).await {
                Verdict::Hold(editor) => {
                    if let Err(not_held) = self.look(&tool, &editor).await {
                        return self.not_held(not_held);
                    }
                    open.push((file, tool, editor));
                }
                Verdict::Refuse(words) => return Answer::Refused(words),
                Verdict::NoOpinion => unopened.push(tool.path().to_owned()),
                Verdict::LiveText(_) => {}
            }
        }
        self.note(id, &unopened, "patch").await;
        let Some((_, first, _)) = open.first() else { return Answer::NoOpinion };
        match self.placeholders.claim(id) {
            Ok(true) => {}
            Ok(false) => return self.passed_over(INSTALLED_TWICE),
            Err(why) => return self.passed_over(&why),
        }
        let mut words = String::new();
        for (_, tool, editor) in &open {
            match self.hold(tool, editor).await {
                Ok(held) => words.push_str(&held.words),
                // The text has changed since it was looked at.
                Err(NotHeld::Refused(why) | NotHeld::Failed(why)) => {
                    self.placeholders.release(id);
                    return Answer::Refused(format!("{why}\n{words}"));
                }
            }
        }
        if let Some(kept) = patch.of(|file| open.iter().all(|(held, ..)| held.path != file.path)) {
            self.placeholders.release(id);
            return Answer::Along { kept, words };
        }
        let words = format!("{}{words}", patch.made());
        self.placed(id, Held { tool: first.clone(), before: String::new(), after: String::new(), words })
    }

    /// Has the program write a placeholder.
    fn placed(&self, id: &UseId, held: Held) -> Answer {
        match self.placeholders.put(id, &held) {
            Ok(file) => Answer::Held { tool: held.tool, file },
            Err(why) => {
                tracing::warn!("a placeholder cannot be named: {why}");
                let words = held.words;
                Answer::Refused(format!(
                    "The file on disk was left as it is; the edit is in the editor. {words}"
                ))
            }
        }
    }

    /// Notes what files hold that no editor has open, and that the program is about to write.
    async fn note(&self, id: &UseId, paths: &[String], tool: &str) {
        let mut noted = Vec::new();
        let mut bytes = 0;
        for path in paths {
            let Some(file) = self.router.file_of(path) else { continue };
            let length = match tokio::fs::metadata(&file).await {
                Ok(found) => found.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(_) => continue,
            };
            bytes += length;
            if bytes > MOST_NOTED {
                self.passed_over(&format!("what is written to {path} is not recorded: it is too large"));
                continue;
            }
            let before = match tokio::fs::read(&file).await.map(String::from_utf8) {
                Ok(Ok(text)) => Some(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                // It cannot be read, or holds no text.
                Ok(Err(_)) | Err(_) => continue,
            };
            noted.push(UnopenedFile { path: path.clone(), before, tool: tool.to_owned() });
        }
        if !noted.is_empty()
            && let Err(why) = self.placeholders.note(id, &noted)
        {
            self.passed_over(&format!("what is written next is not recorded: {why}"));
        }
    }

    /// Has recorded what the program has written to a file that no editor has open.
    async fn record(&self, UnopenedFile { path, before, tool }: UnopenedFile) {
        let Some(file) = self.router.file_of(&path) else { return };
        let conversation = self.event.turn.as_ref().map(ToString::to_string);
        let written = Written { path: to_text(&file).into_owned(), before, conversation, tool };
        let reply =
            tokio::time::timeout(ASKED, self.router.record_written(self.origin, &file, written)).await;
        match reply {
            Ok(reply) if reply.failed => {
                self.passed_over(&format!("what was written to {path} is not recorded: {}", reply.text));
            }
            Ok(_) => {}
            Err(_) => {
                self.passed_over(&format!("what was written to {path} was not recorded in time"));
            }
        }
    }

    /// Says what a write came to that was held, records what was written to files that no editor has open, and shows the live text to a read.
    pub(super) async fn after(&self, id: &UseId, tool: Option<&BuiltIn>) -> Answer {
        if let Some(held) = self.placeholders.take(id, tool.map(BuiltIn::path)) {
            return Answer::Made(Box::new(held));
        }
        for file in self.placeholders.take_noted(id) {
            self.record(file).await;
        }
        let Some(tool) = tool else { return Answer::NoOpinion };
        let Verdict::LiveText(editor) = self.verdict(tool).await else { return Answer::NoOpinion };
        let path = tool.path();
        let live = match self.live_text(path).await {
            Ok(live) => live,
            Err(NotHeld::Refused(why) | NotHeld::Failed(why)) => return self.passed_over(&why),
        };
        if self.is_on_disk(path, &live).await {
            return Answer::NoOpinion;
        }
        let words = format!(
            "{path} is open in {editor}. This is its text there, with unsaved work and held edits in it; the file on disk reads otherwise."
        );
        Answer::Read { live, words }
    }

    /// Holds edits on the live text that failed on the disk's: what they are for may be unsaved, or held.
    pub(super) async fn retried(&self, edits: &[BuiltIn]) -> Answer {
        let mut told = Vec::new();
        for edit in edits {
            let path = edit.path();
            let Verdict::Hold(editor) = self.verdict(edit).await else { continue };
            match self.hold(edit, &editor).await {
                Ok(held) => told.push(format!(
                    "The edit of {path} failed on the file on disk, but the text in {editor} has what it is for, so hashline holds it \
                     there:\n{}",
                    held.words.trim_end()
                )),
                Err(NotHeld::Refused(words)) => told.push(words.trim_end().to_owned()),
                Err(NotHeld::Failed(why)) => drop(self.passed_over(&why)),
            }
        }
        if told.is_empty() { Answer::NoOpinion } else { Answer::Context(told.join("\n\n")) }
    }

    /// Tells what was decided about the caller's edits that it has not been told.
    pub(super) async fn decided(&self) -> Answer {
        match self.call(ToolName::AwaitReview, json!({ "timeout_s": 0 })).await {
            Some(reply) if reply.meta.get(NEWS) == Some(&Value::Bool(true)) => Answer::Context(reply.text),
            Some(_) => Answer::NoOpinion,
            None => self.passed_over("there was no answer in time"),
        }
    }

    async fn verdict(&self, tool: &BuiltIn) -> Verdict {
        let openness = tokio::time::timeout(ASKED, self.router.openness(tool.path())).await;
        let openness = openness.unwrap_or_else(|_| {
            self.passed_over(&format!("no editor says in time whether {} is open", tool.path()));
            Openness::Closed
        });
        verdict(openness, tool)
    }

    /// Looks at what a write makes of the live text, and returns both.
    async fn look(&self, tool: &BuiltIn, editor: &str) -> Result<(String, Replaced), NotHeld> {
        let path = tool.path();
        let live = self.live_text(path).await?;
        match tool.replaced(&live) {
            Replaced::Missing(lines) => Err(NotHeld::Refused(format!(
                "{path} is open in {editor}, and its text there is what counts: it has not these lines, so nothing was changed. Read it \
                 with read_text_file of hashline, then patch what it says.\n{}",
                lines.iter().take(MOST_TOLD).map(String::as_str).collect::<Vec<_>>().join("\n")
            ))),
            replaced => Ok((live, replaced)),
        }
    }

    /// Holds a write in the editor.
    async fn hold(&self, tool: &BuiltIn, editor: &str) -> Result<Held, NotHeld> {
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
        if let Some(turn) = &self.event.turn {
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
    async fn call(&self, tool: ToolName, arguments: Value) -> Option<Reply> {
        let Value::Object(arguments) = arguments else { return None };
        let never = CancellationToken::new();
        let called = self.router.reply(self.origin, tool, arguments, &never);
        tokio::time::timeout(ASKED, called).await.ok()
    }

    /// The text that an agent sees of an open document.
    async fn live_text(&self, path: &str) -> Result<String, NotHeld> {
        let asked = tokio::time::timeout(ASKED, self.router.document(self.origin, path)).await;
        let reply = asked.map_err(|_| NotHeld::Failed(format!("{path} was not told of in time")))?;
        if reply.failed {
            return Err(NotHeld::Refused(reply.text));
        }
        text(reply).ok_or_else(|| NotHeld::Failed(format!("{path} holds no text")))
    }

    fn not_held(&self, not_held: NotHeld) -> Answer {
        match not_held {
            NotHeld::Refused(words) => Answer::Refused(words),
            NotHeld::Failed(why) => self.passed_over(&why),
        }
    }

    fn passed_over(&self, why: &str) -> Answer {
        pass_over(self.router.state(), self.program, why);
        Answer::NoOpinion
    }

    /// Whether the file of a document holds a text.
    async fn is_on_disk(&self, path: &str, text: &str) -> bool {
        let Some(file) = self.router.file_of(path) else { return false };
        let length = tokio::fs::metadata(&file).await.map(|found| found.len());
        length.is_ok_and(|length| length == text.len() as u64)
            && tokio::fs::read(&file).await.is_ok_and(|bytes| bytes == text.as_bytes())
    }
}
