//! text_insert: new lines before a line.

use hashline_anchor::NumberedEdit;
use hashline_workspace::agent::EditRequest;
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::tools::hash_chain::{Common, hash_schema, path_schema};
use crate::toolset::Definition;

const NAME: &str = "text_insert";
const FIELDS: [&str; 6] = ["path", "hash", "line", "anchor", "content", "mcp_conversation_id"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Insert lines before a line; in a file that is open in the editor it is held until the person accepts. E.g. \
                      {\"line\":2,\"anchor\":\"x = 1\",\"content\":\"# x\"}. Returns the new hash for your next change.",
        properties: json!({
            "path": path_schema(),
            "hash": hash_schema(),
            "line": { "type": "integer", "description": "From 1; -1 is the last" },
            "anchor": { "type": "string", "description": "Full content of that line" },
            "content": { "type": "string", "description": "The new lines" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "hash", "line", "anchor", "content"],
    }
}

fn parse(given: JsonObject) -> Result<EditRequest, String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let common = Common::take(&mut given);
    let line = given.required_whole("line", "give the number of the line to insert before");
    let anchor = given.required_text("anchor", "give the full content of that line");
    let content = given.required_text("content", "give the lines to insert");
    given.finish()?;
    Ok(common.request(NAME, NumberedEdit::Insert { line, anchor, content }))
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.edit_in_chain(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
