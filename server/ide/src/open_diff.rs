//! `openDiff`: an edit that the program is about to make, held until all of it is decided.

use std::sync::Arc;

use hashline_link::CancellationToken;
use hashline_workspace::agent::{AnnouncedWrite, HeldWrite, WriteDecision};
use hashline_workspace::{Caller, Workspace};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;

use crate::connection::Connection;
use crate::tabs::Tab;

/// What a decision is called, and what it comes with.
const SAVED: &str = "FILE_SAVED";
const REJECTED: &str = "DIFF_REJECTED";

#[derive(Deserialize)]
pub(crate) struct Arguments {
    old_file_path: String,
    new_file_path: String,
    new_file_contents: String,
    tab_name: String,
}

/// Holds an edit and waits for the decision, which is made there or in the terminal. What is undecided when nobody waits for it any more is
/// withdrawn, however this is left.
///
/// # Errors
/// It is not held, or was taken back. The program asks in the terminal, and shows these words to nobody.
pub(crate) async fn call(
    connection: &Arc<Connection>,
    caller: Caller,
    given: Arguments,
    cancelled: CancellationToken,
) -> Result<CallToolResult, ErrorData> {
    let Arguments { old_file_path, new_file_path, new_file_contents, tab_name } = given;
    if old_file_path != new_file_path {
        let words = "old_file_path and new_file_path name two files: one is changed at a time.";
        return Err(ErrorData::invalid_params(words, None));
    }
    let Some(tab) = connection.tabs.open(&tab_name) else {
        return Err(ErrorData::invalid_request("Too many edits are shown. Close some of them first.", None));
    };
    let write = AnnouncedWrite {
        path: new_file_path,
        content: new_file_contents,
        conversation: connection.conversation(),
        tool: "openDiff".to_owned(),
    };
    let held = Arc::clone(connection);
    // A task of its own: it comes to its end whatever becomes of the call.
    let task = connection.running.spawn(async move { decided(&held, caller, write, tab, cancelled).await });
    match task.await {
        Ok(Ok(WriteDecision::Write(content))) => Ok(answer(SAVED, content)),
        Ok(Ok(WriteDecision::Reject)) => Ok(answer(REJECTED, tab_name)),
        Ok(Ok(WriteDecision::Gone)) => Err(ErrorData::internal_error("The edit was taken back.", None)),
        Ok(Err(why)) => {
            Err(ErrorData::internal_error(format!("The edit is not shown in the editor: {why}."), None))
        }
        Err(_) => Err(ErrorData::internal_error("The edit was not held: a defect of hashline.", None)),
    }
}

async fn decided(
    connection: &Connection,
    caller: Caller,
    write: AnnouncedWrite,
    tab: Tab,
    cancelled: CancellationToken,
) -> Result<WriteDecision, String> {
    let _done = tab.done.clone().drop_guard();
    let path = write.path.clone();
    let held = connection.workspace.hold_announced(&caller, write).await.map_err(|why| {
        tracing::info!("an edit of {path} is left to the agent's own question: {why}");
        why.to_string()
    })?;
    connection.set_conversation(held.conversation().as_str());
    tokio::select! {
        decision = connection.workspace.until_decided(&held) => if decision != WriteDecision::Gone {
            return Ok(decision);
        },
        () = tab.closed.cancelled() => {}
        () = cancelled.cancelled() => {}
        () = connection.ended.cancelled() => {}
    }
    withdraw(&connection.workspace, &held).await;
    Ok(WriteDecision::Gone)
}

async fn withdraw(workspace: &Workspace, held: &HeldWrite) {
    if let Err(why) = workspace.withdraw_announced(held).await {
        tracing::warn!("the edit {} stays undecided: {why}", held.edit().short());
    }
}

fn answer(word: &str, with: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(word), ContentBlock::text(with)])
}
