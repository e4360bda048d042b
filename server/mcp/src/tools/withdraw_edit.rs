//! withdraw_edit: an agent takes back an edit of its own that nobody has decided about.

use std::fmt::Write as _;

use hashline_history::Decision;
use hashline_workspace::agent::{EditInfo, Withdrawal};
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::{COUNT, EDITS, Reply};
use crate::tools::await_review::plain_id;
use crate::tools::edit_summary;
use crate::toolset::Definition;

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Take back an edit of yours that is still pending. E.g. {\"edit_id\":\"3f2a9c1b\"}.",
        properties: json!({ "edit_id": { "type": "string" } }),
        required: &["edit_id"],
    }
}

pub(crate) async fn call(workspace: &Workspace, caller: &Caller, given: JsonObject) -> Reply {
    let mut given = Arguments::new("withdraw_edit", &["edit_id"], given);
    let id = given.required_text("edit_id", "give the id that the reply to the edit had");
    let id = plain_id(&id);
    if id.is_empty() && given.is_faultless() {
        given.problem("edit_id is empty: give the id that the reply to the edit had");
    }
    if let Err(problems) = given.finish() {
        return Reply::refused(problems);
    }
    match workspace.withdraw(caller, &id).await {
        Ok(Withdrawal { edit, is_recorded }) => {
            // What an agent does itself is no news to it.
            let one = std::slice::from_ref(&edit);
            workspace.told(caller, one);
            let mut out = what_happened(&edit);
            if !is_recorded {
                out.push_str(
                    "It could not be recorded: it is kept in memory and tried again. Should list_edits show the edit as pending later, \
                     withdraw it again.\n",
                );
            }
            edit_summary::write_edit(&mut out, &edit, true);
            let ids = vec![edit.id.to_string()];
            Reply::new(out).with(COUNT, 1).with(EDITS, ids)
        }
        Err(refusal) => refusal.into(),
    }
}

/// What a withdrawal has come to.
fn what_happened(edit: &EditInfo) -> String {
    let left: Vec<_> = edit.hunks.iter().filter(|hunk| hunk.view.decision != Decision::Withdrawn).collect();
    if left.is_empty() {
        return "Withdrawn: your next read shows the file without it.\n".to_owned();
    }
    let mut out = String::from("Not all of it is withdrawn:\n");
    for hunk in left {
        let decision = hunk.view.under_way.and_then(|to| to.decision).unwrap_or(hunk.view.decision);
        let words = match decision {
            Decision::Withdrawn => {
                "is on its way out of the editor's text; await_review tells when it is out"
            }
            Decision::Undecided => "stays, as other edits in the text build on it: the person decides",
            Decision::Accepted | Decision::Rejected => "was decided by the person meanwhile",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- hunk {} {words}.", hunk.view.number);
    }
    out
}
