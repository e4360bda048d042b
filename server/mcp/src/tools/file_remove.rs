//! file_remove: removes a file that is as its agent has seen it.

use hashline_workspace::agent::{FileAction, FileRequest};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::{Arguments, refusal};
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::tools::hash_chain::{hash_schema, path_schema};
use crate::toolset::Definition;

const NAME: &str = "file_remove";
const NO_HASH: &str = "give the hash that your last read or change of the file, or its creation, returned";

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Remove a file of any content; one that is open in the editor when the person accepts. It is recorded: the person \
                      can have it back.",
        properties: json!({
            "path": path_schema(),
            "hash": hash_schema(),
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "hash"],
    }
}

fn parse(given: JsonObject) -> Result<FileRequest, String> {
    let mut given = Arguments::new(NAME, &["path", "hash", "mcp_conversation_id"], given);
    let path = given.required_text("path", "give the path of the file within the root");
    let hash = given.required_hash("hash", NO_HASH);
    let conversation = given.conversation();
    given.finish()?;
    let hash = hash.ok_or_else(|| refusal(NAME, &[format!("hash is missing: {NO_HASH}")]))?;
    Ok(FileRequest {
        path,
        change: FileAction::DeleteVersion(hash),
        conversation,
        tool: NAME.to_owned(),
        reason: None,
    })
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.change_file(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
