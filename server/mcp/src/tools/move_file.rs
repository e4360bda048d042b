//! move_file: gives a file another path.

use hashline_workspace::agent::{FileAction, FileRequest};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::toolset::Definition;

const NAME: &str = "move_file";

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Give a file another path, which nothing has yet. Missing folders are made.",
        properties: json!({
            "source": { "type": "string" },
            "destination": { "type": "string" },
            "reason": { "type": "string" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["source", "destination"],
    }
}

fn parse(given: JsonObject) -> Result<FileRequest, String> {
    let mut given = Arguments::new(NAME, &["source", "destination", "reason", "mcp_conversation_id"], given);
    let path = given.required_text("source", "give the path of the file as it is");
    let destination = given.required_text("destination", "give the path that it is to have");
    let (conversation, reason) = (given.conversation(), given.reason());
    given.finish()?;
    Ok(FileRequest {
        path,
        change: FileAction::Move(destination),
        conversation,
        tool: NAME.to_owned(),
        reason,
    })
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.change_file(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
