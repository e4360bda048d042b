//! text_append: new lines behind the last.

use hashline_anchor::NumberedEdit;
use hashline_workspace::agent::EditRequest;
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::tools::hash_chain::{Common, hash_schema, path_schema};
use crate::toolset::Definition;

const NAME: &str = "text_append";
const FIELDS: [&str; 4] = ["path", "hash", "content", "mcp_conversation_id"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Add lines at the end of a file; in one that is open in the editor it is held until the person accepts. \
                      Returns the new hash for your next change.",
        properties: json!({
            "path": path_schema(),
            "hash": hash_schema(),
            "content": { "type": "string", "description": "The new lines" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "hash", "content"],
    }
}

fn parse(given: JsonObject) -> Result<EditRequest, String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let common = Common::take(&mut given);
    let content = given.required_text("content", "give the lines to add");
    given.finish()?;
    Ok(common.request(NAME, NumberedEdit::Append { content }))
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.edit_in_chain(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
