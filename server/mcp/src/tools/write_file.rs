//! write_file: a whole text, byte for byte.

use hashline_workspace::agent::EditRequest;
use hashline_workspace::document::Change;
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::toolset::Definition;

const NAME: &str = "write_file";
const FIELDS: [&str; 5] = ["path", "content", "file_hash", "reason", "mcp_conversation_id"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Make content the whole text of a file, byte for byte; makes the file if there is none. Only the lines that \
                      differ become changes. For some lines of it use edit_text_file.",
        properties: json!({
            "path": { "type": "string" },
            "content": { "type": "string", "description": "All of it, without tags" },
            "file_hash": { "type": "string", "description": "Of the text that you have read; refused if it has changed since" },
            "reason": { "type": "string" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "content"],
    }
}

fn parse(given: JsonObject) -> Result<(EditRequest, String), String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let path = given.required_text("path", "give the path of the file");
    let content = given.required_text("content", "give all of the text; \"\" empties the file");
    let file_hash = given.file_hash();
    let (conversation, reason) = (given.conversation(), given.reason());
    given.finish()?;
    let request = EditRequest {
        path,
        file_hash,
        change: Change::whole(&content),
        strict: false,
        dry_run: false,
        conversation,
        tool: NAME.to_owned(),
        reason,
    };
    Ok((request, content))
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok((request, content)) => desk.write(request, content).await,
        Err(problems) => Reply::refused(problems),
    }
}
