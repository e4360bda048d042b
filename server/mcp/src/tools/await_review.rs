//! await_review: waits for the person.

use std::time::Duration;

use hashline_link::CancellationToken;
use hashline_workspace::agent::{Review, ReviewScope};
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::arguments::{Arguments, shown};
use crate::reply::{COUNT, EDITS, GIVEN_UP, NEWS, Reply, TIMED_OUT, UNDECIDED};
use crate::tools::edit_summary;
use crate::toolset::Definition;

/// How long is waited unless told otherwise, in seconds.
pub(crate) const USUAL: i64 = 30;
/// How long at most: agent programs wait longer than this for an answer.
pub(crate) const LONGEST: i64 = 40;

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Wait until the person decides on held edits; returns at the first new decision or comment with all outcomes so far: \
                      accepted, rejected and why, changed by the person. Without edit_ids: your pending edits. \
                      E.g. {\"timeout_s\":30}; call again to go on waiting.",
        properties: json!({
            "edit_ids": { "type": "array", "items": { "type": "string" } },
            "timeout_s": { "type": "integer", "description": "30 unless told, 40 at most" }
        }),
        required: &[],
    }
}

/// What is waited for.
pub(crate) struct Asked {
    pub edits: Vec<String>,
    pub timeout: Duration,
}

pub(crate) fn parse(given: JsonObject) -> Result<Asked, String> {
    let mut given = Arguments::new("await_review", &["edit_ids", "timeout_s"], given);
    let mut edits = Vec::new();
    for value in given.list("edit_ids").unwrap_or_default() {
        match value {
            Value::String(id) if !id.trim().is_empty() => edits.push(plain_id(&id)),
            other => given.problem(format!("edit_ids must hold ids of edits, not {}", shown(&other))),
        }
    }
    let seconds = given.whole("timeout_s").unwrap_or(USUAL);
    if seconds < 0 {
        given.problem("timeout_s must not be negative");
    }
    given.finish()?;
    let seconds = u64::try_from(seconds.clamp(0, LONGEST)).unwrap_or_default();
    Ok(Asked { edits, timeout: Duration::from_secs(seconds) })
}

/// An id as it is shown, maybe with the number of a hunk behind it: the edit is meant.
pub(crate) fn plain_id(id: &str) -> String {
    let id = id.trim();
    id.split_once(':').map_or(id, |(edit, _)| edit).to_ascii_lowercase()
}

/// `decided`: whether there is a person who can decide. Where nobody can, nothing is waited for.
pub(crate) async fn call(
    workspace: &Workspace,
    caller: &Caller,
    decided: bool,
    given: JsonObject,
    cancel: &CancellationToken,
) -> Reply {
    let asked = match parse(given) {
        Ok(asked) => asked,
        Err(problems) => return Reply::refused(problems),
    };
    let own = asked.edits.is_empty();
    let scope = ReviewScope { edits: asked.edits, own, news: own, ..ReviewScope::default() };
    let timeout = if decided { asked.timeout } else { Duration::ZERO };
    let waited = tokio::select! {
        waited = workspace.await_review(caller, &scope, timeout) => waited,
        () = cancel.cancelled() => return given_up(),
    };
    match waited {
        Ok(review) => answer(caller, &review, decided),
        Err(refusal) => refusal.into(),
    }
}

/// Whoever takes a wait back does not read on; who reads this has lost the editor.
fn given_up() -> Reply {
    let words = "The wait ended before there was a decision: the editor is closing. What is undecided is recorded, and offered again \
                 when an editor opens the folder.";
    Reply::refused(words).with(GIVEN_UP, true)
}

fn answer(caller: &Caller, review: &Review, decided: bool) -> Reply {
    let edits = &review.edits;
    let ids: Vec<String> = edits.iter().map(|edit| edit.id.to_string()).collect();
    let hunks: usize = edits.iter().map(|edit| edit.hunks.len()).sum();
    let open: usize = edits.iter().map(edit_summary::undecided).sum();
    let mut out = match (hunks, review.timed_out, open) {
        (0, ..) => "You have no pending edits: nothing to wait for.\n".to_owned(),
        (_, true, _) if !decided => {
            "No editor is running for these files, so nobody is deciding about the edits now: there is nothing to wait for. They are \
             recorded, and offered when an editor opens the folder; mcpdiff decides without one. Go on working; withdraw_edit takes an \
             edit of yours back.\n"
                .to_owned()
        }
        (_, true, _) => {
            "No new decision yet. The edits stay as they are; call await_review again to go on waiting, or go on working.\n"
                .to_owned()
        }
        (_, false, 0) => "All is decided:\n".to_owned(),
        (hunks, false, open) => format!("{} of {hunks} hunks decided so far:\n", hunks - open),
    };
    for edit in edits {
        edit_summary::write_edit(&mut out, edit, edit.connection == caller.connection);
    }
    let news = edits.iter().any(|edit| edit.news);
    Reply::new(out)
        .with(COUNT, edits.len())
        .with(EDITS, ids)
        .with(TIMED_OUT, review.timed_out)
        .with(NEWS, news)
        .with(UNDECIDED, open)
}
