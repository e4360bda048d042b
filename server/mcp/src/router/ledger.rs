//! Which edits an agent has made in which editor. An editor that ends takes with it what is undecided there; the agent is told so,
//! once, and not that there never was such an edit.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_link::{Sidecar, SidecarId};
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::reply::{COUNT, DECIDED, EDITS, NEWS, OPEN, Reply, UNDECIDED, texts_of};
use crate::toolset::ToolName;

/// How many edits are remembered.
const KEPT: usize = 256;

/// The latest edits that were passed on and are not known to be decided, oldest first.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    edits: Mutex<VecDeque<Passed>>,
}

/// An edit that was passed on.
#[derive(Clone, Debug)]
struct Passed {
    id: String,
    /// The absolute path or the URI of its document.
    path: String,
    sidecar: SidecarId,
    editor: String,
}

/// Which edits are asked about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
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
        let mut edits = self.lock();
        match tool {
            ToolName::ReadTextFile | ToolName::EditTextFile => {
                let decided = texts_of(&reply.meta, DECIDED);
                edits.retain(|edit| !decided.contains(&edit.id));
            }
            ToolName::AwaitReview | ToolName::ListEdits | ToolName::WithdrawEdit => {
                let open = texts_of(&reply.meta, OPEN);
                edits.retain(|edit| !named.contains(&edit.id) || open.contains(&edit.id));
            }
            ToolName::ListDocuments => {}
        }
        if tool == ToolName::EditTextFile {
            let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
            edits.extend(named.into_iter().map(|id| Passed {
                id,
                path: path.to_owned(),
                sidecar: sidecar.id.clone(),
                editor: sidecar.editor.clone(),
            }));
            let skipped = edits.len().saturating_sub(KEPT);
            edits.drain(..skipped);
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

    /// What there is to tell of lost edits, now that these sidecars run. What was told is forgotten.
    pub(super) fn lost(&self, about: About<'_>, running: &[Sidecar]) -> Option<Reply> {
        let mut edits = self.lock();
        let asked = |edit: &Passed| match about {
            About::Ids(ids) => ids.iter().any(|id| edit.id.starts_with(id.as_str())),
            About::Path(path) => edit.path == path,
            About::All => true,
        };
        let (lost, left): (VecDeque<Passed>, VecDeque<Passed>) =
            std::mem::take(&mut *edits).into_iter().partition(|edit| edit.is_lost(running) && asked(edit));
        *edits = left;
        drop(edits);
        let first = lost.front()?;
        let mut words = format!(
            "{} has ended. What was undecided there cannot be decided any more; what was decided meanwhile stands. Read the file again \
             to see which lines it has, and go on from there.\n",
            first.editor
        );
        for edit in &lost {
            let short = edit.id.get(..8).unwrap_or(&edit.id);
            // Writing to a string cannot fail.
            let _ = writeln!(
                words,
                "edit {short} · {} · in {}, undecided when last heard of",
                edit.path, edit.editor
            );
        }
        let ids: Vec<String> = lost.into_iter().map(|edit| edit.id).collect();
        let reply = Reply::new(words).with(COUNT, ids.len()).with(EDITS, ids);
        Some(reply.with(NEWS, true).with(UNDECIDED, 0))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Passed>> {
        self.edits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passed {
    fn is_lost(&self, running: &[Sidecar]) -> bool {
        running.iter().all(|sidecar| sidecar.id != self.sidecar)
    }
}

#[cfg(test)]
mod tests {
    use hashline_link::{Listener, StateDir};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn it_stays_small_and_forgets_what_was_decided_or_told() {
        let temp = tempfile::tempdir().unwrap();
        let id = SidecarId::random();
        let state = StateDir::new(Some(temp.path())).unwrap();
        let listener = Listener::bind(&state, &id).unwrap();
        let sidecar = Sidecar::new(id, &listener, "nvim", Vec::new());
        let Value::Object(arguments) = json!({ "path": "/w/a.txt" }) else { unreachable!() };
        let ledger = Ledger::default();
        let edits = |ids: Vec<String>| Reply::new("").with(EDITS, ids);
        for number in 0..KEPT + 10 {
            ledger.heard(
                &sidecar,
                ToolName::EditTextFile,
                &arguments,
                &edits(vec![format!("edit {number}")]),
            );
        }
        assert_eq!(ledger.lock().len(), KEPT);
        assert_eq!(ledger.lock()[0].id, "edit 10");
        let read = Reply::new("").with(DECIDED, vec!["edit 10".to_owned()]);
        ledger.heard(&sidecar, ToolName::ReadTextFile, &arguments, &read);
        assert_eq!(ledger.lock()[0].id, "edit 11");
        let half = edits(vec!["edit 11".to_owned()]).with(OPEN, vec!["edit 11".to_owned()]);
        ledger.heard(&sidecar, ToolName::WithdrawEdit, &arguments, &half);
        assert_eq!(ledger.lock()[0].id, "edit 11");

        assert!(ledger.lost(About::All, std::slice::from_ref(&sidecar)).is_none(), "it runs");
        assert!(ledger.lost(About::Ids(&["edit 11".to_owned()]), &[]).unwrap().text.contains("edit 11"));
        assert!(ledger.lost(About::Ids(&["edit 11".to_owned()]), &[]).is_none());
        assert!(ledger.lost(About::Path("/w/a.txt"), &[]).unwrap().text.contains("last heard of"));
        assert!(ledger.is_empty() && ledger.lost(About::All, &[]).is_none());
    }
}
