//! edit_text_file: operations at anchors, all of them or none.

use std::fmt::Write as _;
use std::ops::Range;

use hashline_anchor::{Anchor, CONTEXT, Operation, RawOperation, explain_form};
use hashline_text::HashPrefix;
use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest};
use hashline_workspace::document::Change;
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::arguments::{Arguments, entry, refusal, shown};
use crate::reply::Reply;
use crate::tools::edit_reply::{Desk, add_lines};
use crate::toolset::Definition;

const NAME: &str = "edit_text_file";

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Edit lines named by the anchors of your last read or edit of the file. All operations go by the text before \
                      the call; all are done or none. E.g. {\"op\":\"replace\",\"anchor\":\"2:98\",\"content\":\"  return \
                      1;\"}. The reply has the new file_hash and anchors: no re-read needed. In open files the edit is \
                      held until the person accepts it.",
        properties: json!({
            "path": { "type": "string" },
            "file_hash": { "type": "string", "description": "As the read gave it (8 digits or more)" },
            "operations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {
                            "type": "string",
                            "enum": ["replace", "replace_range", "insert_after", "insert_before", "delete", "delete_range"]
                        },
                        "anchor": { "type": "string", "description": "LINE:HH; 0: is before line 1 (insert_after)" },
                        "end_anchor": { "type": "string", "description": "Last line of a range" },
                        "content": { "type": "string", "description": "New lines, without tags" }
                    },
                    "required": ["op", "anchor"]
                }
            },
            "strict": { "type": "boolean", "description": "Refuse if the file changed at all" },
            "dry_run": { "type": "boolean", "description": "Only say what would happen" },
            "reason": { "type": "string", "description": "In some words, for the person" },
            "mcp_conversation_id": { "type": "string", "description": "From your first edit of this turn" }
        }),
        required: &["path", "file_hash", "operations"],
    }
}

/// What is asked for, and where, for the words of a refusal.
struct Asked {
    request: EditRequest,
    /// Lines that the operations name, 0-based.
    places: Vec<Range<usize>>,
}

/// A call that asks for nothing that can be done.
struct Wrong {
    words: String,
    path: String,
    /// Lines that operations of the wrong form name, as far as their numbers can be read.
    places: Vec<Range<usize>>,
}

impl From<String> for Wrong {
    fn from(words: String) -> Self {
        Self { words, path: String::new(), places: Vec::new() }
    }
}

const FIELDS: [&str; 7] =
    ["path", "file_hash", "operations", "strict", "dry_run", "reason", "mcp_conversation_id"];

fn parse(given: JsonObject) -> Result<Asked, Wrong> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let path = given.required_text("path", "give the path of the file that you read");
    let hash = given.required_text("file_hash", "read the file first, its first line has it");
    let hash: Option<HashPrefix> = match hash.parse() {
        Ok(hash) => Some(hash),
        Err(_) if hash.is_empty() => None,
        Err(error) => {
            given.problem(format!("file_hash: {error}"));
            None
        }
    };
    let listed = given.list("operations");
    let missing = listed.is_none();
    let (operations, form) = operations(&mut given, listed.unwrap_or_default());
    if missing {
        given.problem("operations is missing or no array: give at least one {op, anchor, content}");
    }
    let strict = given.truth("strict").unwrap_or_default();
    let dry_run = given.truth("dry_run").unwrap_or_default();
    let (conversation, reason) = (given.conversation(), given.reason());
    given.finish()?;
    if let Some((words, places)) = form {
        return Err(Wrong { words, path, places });
    }
    let file_hash =
        hash.ok_or_else(|| refusal(NAME, &["file_hash is empty: read the file first".to_owned()]))?;
    let places = operations.iter().flat_map(places).collect();
    let (file_hash, change) = (Some(file_hash), Change::Operations(operations));
    let tool = NAME.to_owned();
    Ok(Asked {
        request: EditRequest { path, file_hash, change, strict, dry_run, conversation, tool, reason },
        places,
    })
}

/// What is wrong with the form of operations, and the lines that they name all the same.
type Form = (String, Vec<Range<usize>>);

/// The operations, and what is wrong with their form.
fn operations(given: &mut Arguments, listed: Vec<Value>) -> (Vec<Operation>, Option<Form>) {
    let (mut parsed, mut errors) = (Vec::with_capacity(listed.len()), Vec::new());
    let mut places = Vec::new();
    for (index, value) in listed.into_iter().enumerate() {
        let Some(raw) = raw_operation(given, index, value) else { continue };
        let named: Vec<Range<usize>> =
            [&raw.anchor, &raw.end_anchor].into_iter().flatten().flat_map(|anchor| numbers(anchor)).collect();
        match Operation::parse(index, raw) {
            Ok(operation) => parsed.push(operation),
            Err(error) => {
                errors.push(error);
                places.extend(named);
            }
        }
    }
    let form = (!errors.is_empty()).then(|| (explain_form(&errors), places));
    (parsed, form)
}

/// The lines whose numbers stand in what should be an anchor, or two.
fn numbers(anchor: &str) -> impl Iterator<Item = Range<usize>> {
    // Copied text may hold anything.
    let tags = anchor.split_once('|').map_or(anchor, |(tag, _)| tag);
    tags.split("..").filter_map(|tag| {
        let tag = tag.trim_start_matches(['>', ' ']);
        let digits = tag.split(|c: char| !c.is_ascii_digit()).next()?;
        let line = digits.parse::<usize>().ok()?.checked_sub(1)?;
        Some(line..line.saturating_add(1))
    })
}

fn raw_operation(given: &mut Arguments, index: usize, value: Value) -> Option<RawOperation> {
    const KNOWN: [&str; 5] = ["op", "op_type", "anchor", "end_anchor", "content"];
    let number = index + 1;
    let value = entry(value);
    let Value::Object(mut fields) = value else {
        given.problem(format!(
            "operation {number} must be an object with op and anchor, not {}",
            shown(&value)
        ));
        return None;
    };
    let mut whole = true;
    let mut text = |name: &str, number_too: bool| match fields.remove(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        // An anchor that lost its hash; what is wrong with it is said where anchors are read.
        Some(Value::Number(value)) if number_too => Some(value.to_string()),
        Some(other) => {
            whole = false;
            given.problem(format!("operation {number}: {name} must be a string, not {}", shown(&other)));
            None
        }
    };
    let (op, op_type) = (text("op", false), text("op_type", false));
    let (anchor, end_anchor) = (text("anchor", true), text("end_anchor", true));
    let content = text("content", false);
    for name in fields.keys() {
        whole = false;
        let takes = KNOWN.iter().filter(|known| **known != "op_type").copied().collect::<Vec<_>>().join(", ");
        given.problem(format!("operation {number}: there is no field {name:?}: an operation takes {takes}"));
    }
    let Some(op) = op.or(op_type) else {
        if whole {
            given.problem(format!("operation {number}: op is missing"));
        }
        return None;
    };
    whole.then_some(RawOperation { op, anchor, end_anchor, content })
}

/// The lines that an operation names.
fn places(operation: &Operation) -> Vec<Range<usize>> {
    let one = |anchor: &hashline_anchor::LineAnchor| anchor.line.0..anchor.line.0.saturating_add(1);
    match operation {
        Operation::Replace { start, end, .. } | Operation::Delete { start, end } => {
            std::iter::once(one(start)).chain(end.as_ref().map(one)).collect()
        }
        Operation::InsertBefore { anchor, .. }
        | Operation::InsertAfter { anchor: Anchor::Line(anchor), .. } => {
            vec![one(anchor)]
        }
        Operation::InsertAfter { anchor: Anchor::Start, .. } => std::iter::once(0..0).collect(),
    }
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    match parse(given) {
        Ok(Asked { request, places }) => desk.edit(request, |_| (OF_NUMBERS, places.clone())).await,
        Err(wrong) => malformed(desk.workspace, desk.caller, wrong).await,
    }
}

/// What stands above lines whose numbers were named.
const OF_NUMBERS: &str = "The lines of those numbers, as they are now:\n";

/// The refusal of a call of the wrong form, with the lines of the numbers that it names.
async fn malformed(workspace: &Workspace, caller: &Caller, wrong: Wrong) -> Reply {
    let Wrong { mut words, path, places } = wrong;
    if !places.is_empty() {
        let read = workspace.read(caller, &ReadRequest { path, view: View::Agent }).await;
        // What is wrong with the path is told when the anchors are right.
        if let Ok(read) = read {
            let lines = read.text().line_count();
            for place in &places {
                let shown = place.start.saturating_sub(CONTEXT)..place.end.saturating_add(CONTEXT).min(lines);
                workspace.shown(&read, shown.start.min(shown.end)..shown.end);
            }
            // Writing to a string cannot fail.
            let _ = writeln!(words, "The file_hash is {} now.", read.hash.short());
            add_lines(&mut words, read.text(), OF_NUMBERS, &places);
        }
    }
    Reply::refused(words)
}
