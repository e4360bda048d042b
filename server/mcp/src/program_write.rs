//! What a program has written to a file that no editor has open, on its way to whoever records about that file: this process, or the
//! sidecar of an editor over the folder. It goes over the link as a call with this name for a tool.

use hashline_workspace::agent::WrittenFile;
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::Reply;

/// What the call is called. It is no tool: agents cannot make it.
pub(crate) const CALL: &str = "hooks/written";

/// A file that a program has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Its absolute path.
    pub path: String,
    /// What it held before; none if there was none.
    pub before: Option<String>,
    /// The conversation of the turn, if that has one.
    pub conversation: Option<String>,
    /// The kind of tool by which it was written.
    pub tool: String,
}

impl Written {
    /// As it travels.
    pub(crate) fn into_arguments(self) -> JsonObject {
        match serde_json::to_value(self) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(_) | Err(_) => JsonObject::new(),
        }
    }
}

/// Records what was written. The reply says why it is not recorded, where it is not.
pub(crate) async fn record(workspace: &Workspace, caller: &Caller, given: JsonObject) -> Reply {
    let Written { path, before, conversation, tool } = match serde_json::from_value(Value::Object(given)) {
        Ok(written) => written,
        Err(error) => return Reply::refused(error.to_string()),
    };
    let before = before.map(String::into_bytes);
    let file = WrittenFile { path, before, conversation, tool };
    match workspace.record_written_file(caller, file).await {
        Ok(Some(edit)) => Reply::new(edit.to_string()),
        Ok(None) => Reply::new(String::new()),
        Err(refusal) => Reply::refused(refusal.to_string()),
    }
}
