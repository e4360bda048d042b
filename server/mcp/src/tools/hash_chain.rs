//! What the toolset `text` has in common. Its tools are strict: a change names the hash of the file as it is, and its result has the
//! next one.
//!
//! Results are small JSON, the same as text and as structured content. Refusals are words with the lines concerned, each behind its
//! number; they name the path in their first line only, so that whoever knows how the agent spells it can say it so.

use hashline_anchor::{CONTEXT, MAX_SHOWN_CHARS, NumberedEdit, explain_numbered, write_numbered_regions};
use hashline_history::ConversationId;
use hashline_text::{FileHash, HashPrefix, Text};
use hashline_workspace::agent::{EditReply, EditRequest};
use hashline_workspace::document::{Change, Refused, Served};
use hashline_workspace::{Obeyed, Refusal};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::reply::{CONVERSATION, EDITS, FILE_HASH, Reply};
use crate::tools::edit_reply::{Desk, why_held};

/// How many lines are shown with a refusal.
const SHOWN: usize = 12;

/// What stands before the next step of a call that was refused.
const REFUSED: &str = "The edit was refused and nothing was changed.\n";

/// What is noted of a change that the text has already.
const UNCHANGED: &str = "nothing was changed: the lines read so already";

/// The schema of a path.
pub(crate) fn path_schema() -> Value {
    json!({ "type": "string", "description": "Within the root, e.g. src/main.rs" })
}

/// The schema of the hash that a change names.
pub(crate) fn hash_schema() -> Value {
    json!({ "type": "string", "description": "Of your last read or change of the file; refused if it has changed since" })
}

/// The schema of a range of lines.
pub(crate) fn lines_schema() -> Value {
    json!({
        "type": "array",
        "items": { "type": "integer" },
        "minItems": 2,
        "maxItems": 2,
        "description": "[start, end], end exclusive, from 1; negative from the end; 0 open"
    })
}

/// The schema of a result with these fields, and of some that it may have.
pub(crate) fn result_schema(fields: &[&str], optional: &[&str]) -> Value {
    let of = |field: &&str| {
        let kind = if *field == "total_lines" { "integer" } else { "string" };
        ((*field).to_owned(), json!({ "type": kind }))
    };
    let properties: serde_json::Map<String, Value> = fields.iter().chain(optional).map(of).collect();
    json!({ "type": "object", "properties": properties, "required": fields })
}

/// The arguments that each change has.
pub(crate) struct Common {
    path: String,
    hash: Option<HashPrefix>,
    conversation: Option<String>,
}

impl Common {
    pub(crate) fn take(given: &mut Arguments) -> Self {
        Self {
            path: given.required_text("path", "give the path of the file within the root"),
            hash: given
                .required_hash("hash", "give the hash that your last read or change of the file returned"),
            conversation: given.conversation(),
        }
    }

    /// The change of lines that is asked for with these.
    pub(crate) fn request(self, tool: &str, edit: NumberedEdit) -> EditRequest {
        EditRequest {
            path: self.path,
            file_hash: self.hash,
            change: Change::Numbered(edit),
            strict: true,
            dry_run: false,
            conversation: self.conversation,
            tool: tool.to_owned(),
            reason: None,
        }
    }
}

/// An answer about an edit that was made: this JSON, with a word on what is held in every mode, and in `_meta` what it has no field for.
pub(crate) fn made(
    mut json: Value,
    edit: &str,
    conversation: &ConversationId,
    hash: &FileHash,
    obeyed: Option<Obeyed>,
) -> Reply {
    if let Some(by) = obeyed {
        json["note"] =
            format!("Held: your reads show it, but the disk does not have it yet. {}", why_held(by)).into();
    }
    Reply::structured(json)
        .with(FILE_HASH, hash.to_hex())
        .with(EDITS, vec![edit.to_owned()])
        .with(CONVERSATION, conversation.to_string())
}

impl Desk<'_> {
    /// Makes an edit of the hash chain.
    pub(crate) async fn edit_in_chain(&self, request: EditRequest) -> Reply {
        let (from, change) = (request.file_hash, request.change.clone());
        match self.workspace.edit(self.caller, request).await {
            Ok(done) => {
                self.note_own(from, &done);
                next(&done)
            }
            Err(Refusal::Edit(Refused::NothingToDo { mut now, .. })) => unchanged(&mut now),
            Err(refusal) => refused(refusal, &change),
        }
    }
}

/// The link of the chain that leads to where it begins: nothing to mend, and nothing to try again.
fn unchanged(now: &mut Served) -> Reply {
    let hash = now.hash().to_hex();
    let json = json!({ "hash": hash, "total_lines": now.text().line_count(), "note": UNCHANGED });
    Reply::structured(json).with(FILE_HASH, hash)
}

fn next(done: &EditReply) -> Reply {
    let json = json!({ "hash": done.hash.to_hex(), "total_lines": done.text.line_count() });
    made(json, &done.edit.to_string(), &done.conversation.0, &done.hash, done.obeyed)
}

fn refused(refusal: Refusal, change: &Change) -> Reply {
    let words = match &refusal {
        Refusal::Edit(
            Refused::UnknownHash { now, .. } | Refused::ChangedOnDisk { now } | Refused::Stale { now, .. },
        ) => {
            let mut words = format!(
                "{REFUSED}The hash that you gave is not that of the file as it is now: it has changed since. Read it again, \
                 and send the edit for what is there{}\n",
                with_hash(now)
            );
            write_lines(&mut words, now.text(), change);
            words
        }
        Refusal::Edit(Refused::Numbered { failure, now }) => {
            format!(
                "{}The hash that you gave is still that of the file.\n",
                explain_numbered(failure, now.text())
            )
        }
        Refusal::Edit(Refused::AmbiguousHash { given }) => {
            format!(
                "{REFUSED}The hash {given} fits more than one version of this file. Give all of its 64 digits."
            )
        }
        _ => return refusal.into(),
    };
    Reply { text: words, ..Reply::from(refusal) }
}

fn with_hash(now: &Served) -> String {
    now.hash.map_or_else(|| ".".to_owned(), |hash| format!(", with its hash {}.", hash.to_hex()))
}

/// The lines that a change names by number, as they are now.
fn write_lines(words: &mut String, now: &Text, change: &Change) {
    if now.line_count() == 0 {
        words.push_str("The file is empty now.\n");
        return;
    }
    let places: Vec<_> = change
        .places(now)
        .into_iter()
        .map(|place| place.start..place.end.min(place.start.saturating_add(SHOWN)))
        .collect();
    words.push_str("The lines as they are now, each behind its number and |:\n");
    write_numbered_regions(words, now, &places, CONTEXT, MAX_SHOWN_CHARS);
}
