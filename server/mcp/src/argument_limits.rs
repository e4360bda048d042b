//! How much the arguments of a call may hold. It is asked before anything is done with them: what others choose the size of is neither
//! compiled, searched, compared nor told back before that is known.
//!
//! Texts may be as long as a message; all else is short by its nature.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::arguments::refusal;
use crate::toolset::ToolName;

/// The most bytes of a message, be it a line on standard input or a body over HTTP.
pub(crate) const MESSAGE: usize = 16 << 20;

/// The most values of a message, or of a list that is written as a string. An edit of as many places as there may be has less than a third
/// of them.
pub(crate) const VALUES: usize = 1 << 18;

/// The most entries of a list: places that are edited at once, edits that are named.
const ENTRIES: usize = 10_000;

/// The most fields of a call, or of an entry of a list; no tool takes a quarter of that.
const FIELDS: usize = 32;

/// The most bytes of a path, or of a URI. Of what the system takes for a path a URI may spell each byte with three.
pub(crate) const PATH: usize = 3 * 4096 + 64;

/// The most bytes of an expression that is looked for, and of a glob.
const PATTERN: usize = 4 << 10;

/// The most bytes of why an edit is made.
const REASON: usize = 8 << 10;

/// The most bytes of everything else: an id, a hash, a number, a word.
const WORD: usize = 512;

/// The most bytes of a string that is the argument of this name.
fn most_bytes(name: &str) -> usize {
    match name {
        // Lists may be written as strings.
        "content" | "old" | "new" | "anchor" | "diff" | "operations" | "edits" => MESSAGE,
        "edit_ids" => ENTRIES * 64,
        "path" | "source" | "destination" => PATH,
        "pattern" | "glob" => PATTERN,
        // Most of a long one is left out, and that is no reason to refuse the edit.
        "reason" => REASON,
        _ => WORD,
    }
}

/// Refuses a call with more in its arguments than there may be.
///
/// # Errors
/// Which of them, how much it has and how much it may have.
pub(crate) fn check(tool: ToolName, given: &JsonObject) -> Result<(), String> {
    let mut problems: Vec<String> = too_many_fields("the call", given).into_iter().collect();
    if problems.is_empty() {
        problems.extend(given.iter().filter_map(|(name, value)| problem(name, value)));
    }
    // Of what no tool takes, in entries that are short.
    let values = values(given);
    if problems.is_empty() && values > VALUES {
        problems.push(format!("the arguments hold {values} values, and may hold {VALUES} at most"));
    }
    if problems.is_empty() { Ok(()) } else { Err(refusal(tool.as_str(), &problems)) }
}

fn problem(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => too_long(name, text, most_bytes(name)),
        Value::Array(list) => too_many(name, list.len())
            .or_else(|| list.iter().enumerate().find_map(|(index, entry)| entry_problem(name, index, entry))),
        // One alone counts as a list of one.
        Value::Object(_) => entry_problem(name, 0, value),
        _ => None,
    }
}

/// What is too much in an entry of a list, which is a word, or an object of texts.
fn entry_problem(name: &str, index: usize, entry: &Value) -> Option<String> {
    let called = || format!("{name}[{index}]");
    match entry {
        // An entry may be written as a string as well as the list.
        Value::String(text) => {
            too_long(&called(), text, if name == "edit_ids" { WORD } else { most_bytes(name) })
        }
        Value::Object(fields) => too_many_fields(&called(), fields),
        _ => None,
    }
}

fn too_long(name: &str, text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("{name} is {} bytes long, and may have {most} at most", text.len()))
}

/// Whether a list has more entries than there may be, however it was written.
pub(crate) fn too_many(name: &str, entries: usize) -> Option<String> {
    (entries > ENTRIES).then(|| format!("{name} has {entries} entries, and may have {ENTRIES} at most"))
}

fn too_many_fields(what: &str, fields: &JsonObject) -> Option<String> {
    let count = fields.len();
    if count > FIELDS {
        return Some(format!("{what} has {count} fields, and may have {FIELDS} at most"));
    }
    fields.keys().find_map(|name| too_long(&format!("the name of a field of {what}"), name, WORD))
}

/// How much work the arguments of a call are: about the bytes of them.
pub(crate) fn size(given: &JsonObject) -> usize {
    given.iter().map(|(name, value)| name.len().saturating_add(size_of(value))).fold(0, usize::saturating_add)
}

fn size_of(value: &Value) -> usize {
    /// What a value is at least.
    const EACH: usize = 8;
    match value {
        Value::String(text) => text.len().saturating_add(EACH),
        Value::Array(list) => list.iter().map(size_of).fold(EACH, usize::saturating_add),
        Value::Object(fields) => size(fields).saturating_add(EACH),
        _ => EACH,
    }
}

fn values(given: &JsonObject) -> usize {
    given.values().map(values_of).fold(0, usize::saturating_add)
}

fn values_of(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(values_of).fold(1, usize::saturating_add),
        Value::Object(fields) => values(fields).saturating_add(1),
        _ => 1,
    }
}
