//! Which edits an agent has made in which editor. An editor that ends takes with it what is undecided there; who asks for such an edit
//! afterwards is told so, and not that there never was one.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_link::{Sidecar, SidecarId};
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::reply::{COUNT, EDITS, NEWS, OPEN, Reply, UNDECIDED, texts_of};
use crate::toolset::ToolName;

/// The edits that were passed on and are not known to be decided.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    edits: Mutex<Vec<Passed>>,
}

/// An edit that was passed on.
#[derive(Clone, Debug)]
struct Passed {
    id: String,
    /// The absolute path or the URI of its document.
    path: String,
    sidecar: SidecarId,
    editor: String,
    /// The agent has been told that it is lost.
    told: bool,
}

/// Which edits are asked about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
    /// Those that the agent does not know to be lost.
    News,
    /// Those with these ids, or beginnings of them.
    Ids(&'a [String]),
    /// Those of this document.
    Path(&'a str),
    /// All of them.
    All,
}

impl Ledger {
    /// Takes in what a sidecar answered.
    pub(super) fn heard(&self, sidecar: &Sidecar, tool: ToolName, arguments: &JsonObject, reply: &Reply) {
        let named = texts_of(&reply.meta, EDITS);
        match tool {
            ToolName::EditTextFile => {
                let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
                let passed = named.into_iter().map(|id| Passed {
                    id,
                    path: path.to_owned(),
                    sidecar: sidecar.id.clone(),
                    editor: sidecar.editor.clone(),
                    told: false,
                });
                self.lock().extend(passed);
            }
            ToolName::AwaitReview | ToolName::ListEdits | ToolName::WithdrawEdit => {
                let open = texts_of(&reply.meta, OPEN);
                self.lock().retain(|edit| !named.contains(&edit.id) || open.contains(&edit.id));
            }
            ToolName::ReadTextFile | ToolName::ListDocuments => {}
        }
    }

    /// Whether nothing was passed on.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Which of some ids are those of lost edits, now that these sidecars run.
    pub(super) fn is_lost(&self, id: &str, running: &[Sidecar]) -> bool {
        self.lock().iter().any(|edit| edit.id.starts_with(id) && edit.is_lost(running))
    }

    /// What there is to tell of lost edits, now that these sidecars run.
    pub(super) fn lost(&self, about: About<'_>, running: &[Sidecar]) -> Option<Reply> {
        let mut edits = self.lock();
        let asked = |edit: &Passed| match about {
            About::News => !edit.told,
            About::Ids(ids) => ids.iter().any(|id| edit.id.starts_with(id.as_str())),
            About::Path(path) => edit.path == path,
            About::All => true,
        };
        let lost: Vec<&mut Passed> =
            edits.iter_mut().filter(|edit| edit.is_lost(running) && asked(edit)).collect();
        let first = lost.first()?;
        let mut words = format!(
            "{} has ended, and what was undecided there cannot be decided any more: lines that were held are gone, lines that were in \
             the text are as the file has them. Read the file again to see, and go on from there.\n",
            first.editor
        );
        let ids: Vec<String> = lost.iter().map(|edit| edit.id.clone()).collect();
        for edit in lost {
            edit.told = true;
            let short = edit.id.get(..8).unwrap_or(&edit.id);
            // Writing to a string cannot fail.
            let _ = writeln!(words, "edit {short} · {} · gone with {}", edit.path, edit.editor);
        }
        let reply = Reply::new(words).with(COUNT, ids.len()).with(EDITS, ids);
        Some(reply.with(NEWS, true).with(UNDECIDED, 0))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Passed>> {
        self.edits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passed {
    fn is_lost(&self, running: &[Sidecar]) -> bool {
        running.iter().all(|sidecar| sidecar.id != self.sidecar)
    }
}
