//! `file://`: all that a document holds.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hashline_text::FileHash;
use hashline_workspace::agent::Contents;
use hashline_workspace::{Caller, Workspace};
use rmcp::ErrorData;
use rmcp::model::{JsonObject, MetaObject, ReadResourceResult, ResourceContents};
use serde_json::{Value, json};

use crate::reply::{FILE_HASH, Reply};
use crate::resources::{MISSING, refused};

/// The largest document that is given as a whole. A larger one is for the tools, which read by lines.
pub(crate) const MAX_BYTES: u64 = 8 << 20;

/// In `_meta`: what kind of contents it is, where it is no JSON.
const MIME: &str = "mime_type";
/// In `_meta`: that the text is the base64 of bytes.
const BYTES: &str = "bytes";

pub(crate) async fn read(workspace: &Workspace, caller: &Caller, path: &str) -> Reply {
    match workspace.contents(caller, path, MAX_BYTES).await {
        Ok(Contents::Text(read)) => {
            let text = read.text();
            // Whoever has the text may edit it by its hash.
            workspace.shown(&read, 0..text.line_count());
            Reply::new(text.to_string()).with(MIME, "text/plain").with(FILE_HASH, read.hash.to_hex())
        }
        Ok(Contents::Bytes { name, bytes }) => Reply::new(BASE64_STANDARD.encode(&bytes))
            .with(MIME, mime_type(&name))
            .with(BYTES, true)
            .with(FILE_HASH, FileHash::of(&bytes).to_hex()),
        Err(refusal) => refused(refusal),
    }
}

/// What clients show of bytes; everything else is for programs to find out.
fn mime_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("pdf") => "application/pdf",
        _ => "application/octet-stream",
    }
}

/// The text that an answer holds; none of bytes and refusals.
pub(crate) fn text(reply: Reply) -> Option<String> {
    (!reply.failed && !reply.has(BYTES)).then_some(reply.text)
}

/// An answer as MCP has it. What does not exist has an error of its own; every other refusal is one of what was asked.
pub(crate) fn into_result(uri: String, mut reply: Reply) -> Result<ReadResourceResult, ErrorData> {
    if reply.failed {
        let missing = reply.has(MISSING);
        let data = Some(json!({ "uri": uri }));
        return Err(match missing {
            true => ErrorData::resource_not_found(reply.text, data),
            false => ErrorData::invalid_params(reply.text, data),
        });
    }
    let mime = match reply.meta.remove(MIME) {
        Some(Value::String(mime)) => mime,
        _ => "application/json".to_owned(),
    };
    let bytes = reply.meta.remove(BYTES).is_some();
    let contents = match bytes {
        true => ResourceContents::blob(reply.text, uri),
        false => ResourceContents::text(reply.text, uri),
    };
    let hash: JsonObject = reply.meta.remove_entry(FILE_HASH).into_iter().collect();
    let contents = contents.with_mime_type(mime);
    let contents = if hash.is_empty() { contents } else { contents.with_meta(MetaObject(hash)) };
    Ok(ReadResourceResult::new(vec![contents]))
}
