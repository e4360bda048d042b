//! list_edits: the edits of files, and how they stand.

use hashline_history::{Decision, Status};
use hashline_workspace::agent::{EditInfo, ReviewScope};
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::{COUNT, EDITS, Reply};
use crate::tools::edit_summary;
use crate::toolset::Definition;

/// The most edits that are told of one by one.
const SHOWN: usize = 50;

const STATES: [&str; 8] =
    ["pending", "accepted", "rejected", "held", "in_text", "edited", "conflicted", "withdrawn"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "List edits of agents and how each hunk stands: held, in the text, conflicted, accepted, rejected and why. \
                      E.g. {\"state\":\"pending\"}.",
        properties: json!({
            "path": { "type": "string", "description": "Only of this file" },
            "state": { "type": "string", "enum": STATES }
        }),
        required: &[],
    }
}

pub(crate) async fn call(workspace: &Workspace, caller: &Caller, given: JsonObject) -> Reply {
    let mut given = Arguments::new("list_edits", &["path", "state"], given);
    let path = given.text("path").filter(|path| !path.trim().is_empty());
    let state = given.word("state", &STATES);
    if let Err(problems) = given.finish() {
        return Reply::refused(problems);
    }
    let scope = ReviewScope { path, pending: state == Some("pending"), ..ReviewScope::default() };
    match workspace.edits(caller, &scope).await {
        Ok(mut edits) => {
            edits.retain(|edit| state.is_none_or(|state| has_state(edit, state)));
            workspace.told(caller, &edits);
            answer(caller, &scope, state, &edits)
        }
        Err(refusal) => refusal.into(),
    }
}

fn has_state(edit: &EditInfo, state: &str) -> bool {
    match state {
        "pending" => edit.status == Status::Pending,
        "accepted" => edit.status == Status::Accepted,
        "rejected" => edit.status == Status::Rejected,
        // What is decided is not waiting any more, wherever its lines are.
        "held" | "conflicted" => edit.hunks.iter().any(|hunk| {
            hunk.view.decision == Decision::Undecided && edit_summary::state_key(hunk.view.state) == state
        }),
        other => edit.hunks.iter().any(|hunk| edit_summary::state_key(hunk.view.state) == other),
    }
}

fn answer(caller: &Caller, scope: &ReviewScope, state: Option<&str>, edits: &[EditInfo]) -> Reply {
    let ids: Vec<String> = edits.iter().map(|edit| edit.id.to_string()).collect();
    let what = state.map(|state| format!("{} ", state.replace('_', " "))).unwrap_or_default();
    let text = match edits.len() {
        0 => {
            let place = scope.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
            format!("There are no {what}edits{place}.\n")
        }
        count => {
            let mut out = format!("{count} {what}edit{}", if count == 1 { "" } else { "s" });
            let skipped = count.saturating_sub(SHOWN);
            if skipped > 0 {
                out.push_str(&format!(", the last {SHOWN} of them here; ask by path or state for others"));
            }
            out.push_str(":\n");
            for edit in &edits[skipped..] {
                edit_summary::write_edit(&mut out, edit, edit.connection == caller.connection);
            }
            out
        }
    };
    Reply::new(text).with(COUNT, edits.len()).with(EDITS, ids)
}
