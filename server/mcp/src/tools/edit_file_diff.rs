//! edit_file_diff: exact pieces of a text replaced by others, or a unified diff.

use hashline_anchor::{Patch, PatchError, Replacement, explain_patch};
use hashline_workspace::agent::EditRequest;
use hashline_workspace::disk::path_of_file_uri;
use hashline_workspace::document::Change;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::arguments::{Arguments, entry, shown};
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::toolset::Definition;

const NAME: &str = "edit_file_diff";
const FIELDS: [&str; 6] = ["path", "edits", "diff", "file_hash", "reason", "mcp_conversation_id"];
/// What other tools call the two halves of an edit.
const OLD: [&str; 5] = ["old", "old_text", "old_string", "oldText", "oldString"];
const NEW: [&str; 5] = ["new", "new_text", "new_string", "newText", "newString"];

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Edit a file by exact text: edits, whose old stands once in the file, or a unified diff of it. All are done or none. \
                      E.g. {\"edits\":[{\"old\":\"x = 1\",\"new\":\"x = 2\"}]}.",
        properties: json!({
            "path": { "type": "string" },
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "old": { "type": "string" }, "new": { "type": "string" } },
                    "required": ["old", "new"]
                }
            },
            "diff": { "type": "string", "description": "Instead of edits" },
            "file_hash": { "type": "string", "description": "Of the text that you have read; without it held in open files" },
            "reason": { "type": "string" },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path"],
    }
}

fn parse(given: JsonObject) -> Result<EditRequest, String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let path = given.required_text("path", "give the path of the file");
    // What is empty was not given: some clients fill in every field.
    let listed = given.list("edits").filter(|listed| !listed.is_empty());
    let diff = given.text("diff").filter(|diff| !diff.trim().is_empty());
    if listed.is_some() && diff.is_some() {
        given.problem("edits and diff are both given: give one of them");
    } else if listed.is_none() && diff.is_none() {
        given.problem("edits is missing: give at least one {old, new}, or a unified diff as diff");
    }
    let mut edits = Vec::new();
    for (index, value) in listed.unwrap_or_default().into_iter().enumerate() {
        edits.extend(replacement(&mut given, index, value));
    }
    let file_hash = given.file_hash();
    let (conversation, reason) = (given.conversation(), given.reason());
    given.finish()?;
    let change = match diff {
        Some(diff) => Change::Patch(patch_of(&diff, &path).map_err(|error| explain_patch(&error))?),
        None => Change::Replacements(edits),
    };
    let tool = NAME.to_owned();
    Ok(EditRequest { path, file_hash, change, strict: false, dry_run: false, conversation, tool, reason })
}

/// A diff of the file at a path. What a URI names may be called in the diff as the file is, or as the URI spells it.
fn patch_of(diff: &str, path: &str) -> Result<Patch, PatchError> {
    let Ok(file) = path_of_file_uri(path) else { return Patch::parse(diff, path) };
    Patch::parse(diff, &file.to_string_lossy()).or_else(|error| Patch::parse(diff, path).map_err(|_| error))
}

fn replacement(given: &mut Arguments, index: usize, value: Value) -> Option<Replacement> {
    let number = index + 1;
    let value = entry(value);
    let Value::Object(mut fields) = value else {
        given.problem(format!("edit {number} must be an object with old and new, not {}", shown(&value)));
        return None;
    };
    let mut half = |names: [&str; 5], hint: &str| {
        let spelt: Vec<(&str, Value)> = names
            .into_iter()
            .filter_map(|name| Some((name, fields.remove(name).filter(|value| !value.is_null())?)))
            .collect();
        match spelt.as_slice() {
            [(_, Value::String(text))] => Some(text.clone()),
            [] => {
                given.problem(format!("edit {number}: {} is missing: {hint}", names[0]));
                None
            }
            [(name, other)] => {
                given.problem(format!("edit {number}: {name} must be a string, not {}", shown(other)));
                None
            }
            [(one, _), (other, _), ..] => {
                given.problem(format!("edit {number}: {one} and {other} say the same: give one of them"));
                None
            }
        }
    };
    let old = half(OLD, "give the exact text that stands in the file");
    let new = half(NEW, "give what is to stand there instead; \"\" deletes");
    for name in fields.keys() {
        given.problem(format!("edit {number}: there is no field {name:?}: an edit takes old, new"));
    }
    Some(Replacement::new(old?, new?))
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(request) => desk.rewrite(request).await,
        Err(problems) => Reply::refused(problems),
    }
}
