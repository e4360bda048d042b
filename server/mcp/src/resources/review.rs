//! `review://`: edits and how they stand, as JSON.

use std::ops::Range;

use hashline_workspace::agent::{EditInfo, HunkInfo, ReviewScope};
use hashline_workspace::document::{HunkState, HunkView, in_words};
use hashline_workspace::{Caller, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::reply::Reply;
use crate::resources::contents::MAX_BYTES;
use crate::resources::{json_of, refused};
use crate::tools::edit_summary::{conflict_words, state_key};

/// The most edits that are told of, the newest ones; list_edits finds others by their state.
const SHOWN: usize = 200;

/// Edits, as one place tells another and as agents get them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reviewed {
    /// How many there are; those that are left out are the oldest.
    pub total: usize,
    pub edits: Vec<Value>,
    /// Why some place could not be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_asked: Vec<String>,
}

impl Reviewed {
    /// With what another place tells.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.total += other.total;
        self.edits.extend(other.edits);
        self.not_asked.extend(other.not_asked);
        self
    }
}

pub(crate) async fn read(workspace: &Workspace, caller: &Caller, path: Option<String>) -> Reply {
    let scope = ReviewScope { path, ..ReviewScope::default() };
    match workspace.edits(caller, &scope).await {
        // A client that shows them does not tell its agent: what is news to that stays so.
        Ok(edits) => {
            let newest = edits.iter().skip(edits.len().saturating_sub(SHOWN));
            let shown = newest.map(|edit| told(edit, edit.connection == caller.connection)).collect();
            bounded(json_of(&Reviewed { total: edits.len(), edits: shown, not_asked: Vec::new() }))
        }
        Err(refusal) => refused(refusal),
    }
}

/// Edits of long texts are long.
fn bounded(reply: Reply) -> Reply {
    let size = reply.text.len();
    match u64::try_from(size) {
        Ok(fits) if fits <= MAX_BYTES => reply,
        _ => Reply::refused(format!(
            "These edits make {size} bytes, and no more than {MAX_BYTES} are given at once. Read those of one file, or call list_edits, which leaves out what they change."
        )),
    }
}

fn told(edit: &EditInfo, own: bool) -> Value {
    json!({
        "edit": edit.id.as_str(),
        "path": edit.name,
        "agent": edit.agent,
        "own": own,
        "conversation": edit.conversation.as_str(),
        "mode": edit.mode.as_str(),
        "status": edit.status.as_str(),
        "hunks": edit.hunks.iter().map(hunk).collect::<Vec<_>>(),
    })
}

fn hunk(HunkInfo { view, changed_to }: &HunkInfo) -> Value {
    let mut told = json!({
        "hunk": view.number,
        "state": state_key(view.state),
        "decision": view.decision.as_str(),
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let (Some(value), Some(told)) = (value, told.as_object_mut()) {
            told.insert(key.to_owned(), value);
        }
    };
    add("deciding", view.deciding.then_some(true.into()));
    add("reason", view.reason.as_deref().map(Value::from));
    match &view.file {
        Some(change) => add("file", Some(in_words(change).into())),
        None => {
            add("lines", view.lines.as_ref().map(lines));
            add("removed", Some(view.removed.clone().into()));
            add("proposed", Some(view.proposed.clone().into()));
        }
    }
    add("conflict", conflict(view).map(Value::from));
    let needs: Vec<String> = view.depends_on.iter().map(ToString::to_string).collect();
    add("needs", (!needs.is_empty()).then_some(needs.into()));
    add("changed_to", changed_to.clone().map(Value::from));
    told
}

/// Lines as tools count them: from 1, with the last one; between two lines the one before.
fn lines(lines: &Range<usize>) -> Value {
    match lines.is_empty() {
        true => json!({ "after": lines.start }),
        false => json!({ "first": lines.start + 1, "last": lines.end }),
    }
}

fn conflict(view: &HunkView) -> Option<String> {
    match view.state {
        HunkState::Conflicted(conflict) => Some(conflict_words(conflict, view.conflict.as_deref())),
        HunkState::Held | HunkState::InText | HunkState::Edited(_) | HunkState::Withdrawn => None,
    }
}
