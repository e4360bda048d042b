//! What is done at each moment that an agent's program tells of.

use std::io;
use std::path::Path;
use std::time::Duration;

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::hooks::apply_patch::Patch;
use crate::hooks::built_in::BuiltIn;
use crate::hooks::decision_table::Verdict;
use crate::hooks::failures::pass_over;
use crate::hooks::open_documents::{NotHeld, OpenDocuments};
use crate::hooks::placeholders::{Held, Placeholders, UnopenedFile, UseId};
use crate::hooks::{Answer, HookedProgram};
use crate::program_write::Written;
use crate::reply::NEWS;
use crate::toolset::ToolName;

/// The most files of a patch: of each it is asked whether it is open, and the program waits.
const MOST_FILES: usize = 256;

/// The most bytes that are noted of all files that one use of a tool writes.
const MOST_NOTED: u64 = 8 << 20;

/// How long recording all of them may take.
const RECORDED: Duration = Duration::from_secs(6);

/// Why the second of two hooks does nothing.
const INSTALLED_TWICE: &str = "hashline's hooks are installed twice; hashline doctor shows where";

/// What events are answered with.
pub(super) struct Handling<'a> {
    pub documents: OpenDocuments<'a>,
    pub program: HookedProgram,
    pub placeholders: &'a Placeholders,
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
        match self.documents.hold(tool, &editor).await {
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
                    if let Err(not_held) = self.documents.look(&tool, &editor).await {
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
            match self.documents.hold(tool, editor).await {
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
            let Some(file) = self.documents.router.file_of(path) else { continue };
            let length = match tokio::fs::metadata(&file).await {
                Ok(found) if found.is_file() => found.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Ok(_) | Err(_) => continue,
            };
            if bytes + length > MOST_NOTED {
                self.passed_over(&format!("what is written to {path} is not recorded: it is too large"));
                continue;
            }
            bytes += length;
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

    async fn record_all(&self, files: Vec<UnopenedFile>) {
        for file in files {
            self.record(file).await;
        }
    }

    /// Has recorded what the program has written to a file that no editor has open.
    async fn record(&self, UnopenedFile { path, before, tool }: UnopenedFile) {
        let Some(file) = self.documents.router.file_of(&path) else { return };
        let conversation = self.documents.turn.map(ToString::to_string);
        let written = Written { path: to_text(&file).into_owned(), before, conversation, tool };
        let reply = self.documents.router.record_written(self.documents.origin, &file, written).await;
        if reply.failed {
            self.passed_over(&format!("what was written to {path} is not recorded: {}", reply.text));
        }
    }

    /// Says what a write came to that was held, records what was written to files that no editor has open, and shows the live text to a read.
    pub(super) async fn after(&self, id: &UseId, tool: Option<&BuiltIn>) -> Answer {
        if let Some(held) = self.placeholders.take(id, tool.map(BuiltIn::path)) {
            return Answer::Made(Box::new(held));
        }
        let noted = self.placeholders.take_noted(id);
        if tokio::time::timeout(RECORDED, self.record_all(noted)).await.is_err() {
            self.passed_over("what was written was not recorded in time, or not all of it");
        }
        let Some(tool) = tool else { return Answer::NoOpinion };
        let Verdict::LiveText(editor) = self.verdict(tool).await else { return Answer::NoOpinion };
        let path = tool.path();
        let live = match self.documents.live_text(path).await {
            Ok(live) => live,
            Err(NotHeld::Refused(why) | NotHeld::Failed(why)) => return self.passed_over(&why),
        };
        if self.documents.is_on_disk(path, &live).await {
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
            match self.documents.hold(edit, &editor).await {
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
        match self.documents.call(ToolName::AwaitReview, json!({ "timeout_s": 0 })).await {
            Some(reply) if reply.meta.get(NEWS) == Some(&Value::Bool(true)) => Answer::Context(reply.text),
            Some(_) => Answer::NoOpinion,
            None => self.passed_over("there was no answer in time"),
        }
    }

    async fn verdict(&self, tool: &BuiltIn) -> Verdict {
        let verdict = self.documents.verdict(tool).await;
        verdict.unwrap_or_else(|why| {
            self.passed_over(&why);
            Verdict::NoOpinion
        })
    }

    fn not_held(&self, not_held: NotHeld) -> Answer {
        match not_held {
            NotHeld::Refused(words) => Answer::Refused(words),
            NotHeld::Failed(why) => self.passed_over(&why),
        }
    }

    fn passed_over(&self, why: &str) -> Answer {
        pass_over(self.documents.router.state(), self.program, why);
        Answer::NoOpinion
    }
}
