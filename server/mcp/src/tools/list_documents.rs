//! list_documents: what is open in the editor.

use std::fmt::Write as _;

use hashline_workspace::agent::DocumentInfo;
use hashline_workspace::{Caller, Level, Workspace};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::{COUNT, Reply};
use crate::toolset::Definition;

pub(crate) fn definition() -> Definition {
    Definition {
        description: "List the documents that are open in the person's editors, and which have unsaved changes.",
        properties: json!({}),
        required: &[],
    }
}

pub(crate) async fn call(
    workspace: &Workspace,
    caller: &Caller,
    editor: Option<&str>,
    given: JsonObject,
) -> Reply {
    if let Err(problems) = Arguments::new("list_documents", &[], given).finish() {
        return Reply::refused(problems);
    }
    let (listed, by) = (workspace.clone(), caller.clone());
    // Which are unsaved, the disk tells.
    match tokio::task::spawn_blocking(move || listed.documents(&by)).await {
        Ok(documents) => answer(editor, &documents),
        Err(error) => Reply::refused(format!("The list could not be made: {error}. Try again.")),
    }
}

fn answer(editor: Option<&str>, documents: &[DocumentInfo]) -> Reply {
    let mut out = match (editor, documents.len()) {
        (None, 0) => "No editor has a document open here. The tools work on the files on disk.\n".to_owned(),
        (Some(editor), 0) => {
            format!("{editor} has no document open here. The tools work on the files on disk.\n")
        }
        (editor, count) => {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} document{plural} open in {}:\n", editor.unwrap_or("the editor"))
        }
    };
    for document in documents {
        write_document(&mut out, document);
    }
    Reply::new(out).with(COUNT, documents.len())
}

fn write_document(out: &mut String, document: &DocumentInfo) {
    // Writing to a string cannot fail.
    let level = match document.level {
        Level::Saved => "saved",
        Level::Unsaved => "unsaved changes",
        Level::Behind => "older than its file, which something else has changed",
    };
    let _ = write!(out, "{} · {level}", document.name);
    if !document.language.is_empty() {
        let _ = write!(out, " · {}", document.language);
    }
    let _ = write!(out, " · {} line{}", document.lines, if document.lines == 1 { "" } else { "s" });
    if document.pending > 0 {
        let _ = write!(
            out,
            " · {} undecided hunk{}",
            document.pending,
            if document.pending == 1 { "" } else { "s" }
        );
    }
    if document.conflicted > 0 {
        let _ = write!(out, ", {} conflicted", document.conflicted);
    }
    if let Some(owner) = document.owner.as_ref().filter(|_| document.pending > 0) {
        let _ = write!(out, ", decided in {owner}");
    }
    if let Some(reason) = &document.out_of_step {
        let _ = write!(out, " · not served: {reason}");
    }
    out.push('\n');
}
