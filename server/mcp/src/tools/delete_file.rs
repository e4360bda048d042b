//! delete_file: removes a file.

use hashline_workspace::agent::{FileAction, FileRequest};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::toolset::Definition;

const NAME: &str = "delete_file";

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Remove a file of any content. It is recorded: the person can have it back.",
        properties: json!({
            "path": { "type": "string" },
            "reason": { "type": "string" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path"],
    }
}

fn parse(given: JsonObject) -> Result<FileRequest, String> {
    let mut given = Arguments::new(NAME, &["path", "reason", "mcp_conversation_id"], given);
    let path = given.required_text("path", "give the path of the file");
    let (conversation, reason) = (given.conversation(), given.reason());
    given.finish()?;
    Ok(FileRequest { path, change: FileAction::Delete, conversation, tool: NAME.to_owned(), reason })
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.change_file(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
