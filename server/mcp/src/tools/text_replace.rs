//! text_replace: whole lines put in the place of others.

use hashline_anchor::NumberedEdit;
use hashline_workspace::agent::EditRequest;
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::tools::hash_chain::{Common, hash_schema, lines_schema, path_schema};
use crate::toolset::Definition;

const NAME: &str = "text_replace";
const FIELDS: [&str; 6] = ["path", "hash", "lines", "old", "new", "mcp_conversation_id"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Replace whole lines; in a file that is open in the editor it is held until the person accepts. E.g. \
                      {\"lines\":[2,3],\"old\":\"x = 1\",\"new\":\"x = 2\"}. Returns the new hash for your next change.",
        properties: json!({
            "path": path_schema(),
            "hash": hash_schema(),
            "lines": lines_schema(),
            "old": { "type": "string", "description": "Full content of one or more consecutive lines within lines, joined by \\n" },
            "new": { "type": "string", "description": "Lines that take their place; \"\" deletes" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "hash", "lines", "old", "new"],
    }
}

fn parse(given: JsonObject) -> Result<EditRequest, String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let common = Common::take(&mut given);
    let lines = given
        .required_pair("lines", "give [start, end] of the lines that hold old; [1, 0] is the whole file");
    let old = given.required_text("old", "give the full content of the lines to replace");
    let new = given.required_text("new", "give the lines that take their place; \"\" deletes");
    given.finish()?;
    Ok(common.request(NAME, NumberedEdit::Replace { lines: lines.into(), old, new }))
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.edit_in_chain(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
