//! What a half-written path may go on to.

use std::borrow::Cow;

use hashline_history::shows;
use hashline_workspace::disk::{Entry, EntryKind, PathStyle};
use hashline_workspace::{Caller, Workspace};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use rmcp::model::CompletionInfo;

use crate::resources::Resource;
use crate::resources::template::{DOCUMENT, FOLDER, REVIEW};

/// What is encoded in a name that is no text, beside the bytes that make it none.
const NOT_TEXT: &AsciiSet = &CONTROLS.add(b'%');

/// Completes the path of a template; nothing where the folder cannot be listed. A value is what stands in the URI for `{+path}`.
pub(crate) async fn path(
    workspace: &Workspace,
    caller: &Caller,
    template: &str,
    given: &str,
) -> CompletionInfo {
    if ![FOLDER, DOCUMENT, REVIEW].contains(&template) {
        return CompletionInfo::default();
    }
    let (folder, begun) = given.split_at(given.rfind('/').map_or(0, |slash| slash + 1));
    let begun: Cow<'_, [u8]> = percent_decode_str(begun).into();
    // The folder is found as it will be when the resource is read.
    let (listed, style) = match Resource::parse(&template.replace("{+path}", folder)) {
        Ok(Resource::Folder(path)) => (path, PathStyle::WithinRoot),
        Ok(Resource::Document(path) | Resource::Review(Some(path))) => (path, PathStyle::Any),
        Ok(Resource::Review(None)) => (String::new(), PathStyle::Any),
        Err(_) => return CompletionInfo::default(),
    };
    let Ok(entries) = workspace.list(caller, &listed, style).await else { return CompletionInfo::default() };
    let is_folder = |entry: &Entry| entry.kind == EntryKind::Folder;
    // What cannot be read is not offered: a link to nothing or to what is not served, a pipe.
    let is_read = |entry: &Entry| is_folder(entry) || entry.kind == EntryKind::File;
    // A name that is no text can be given in the URI of a file alone.
    let takes_bytes = template != FOLDER && folder.starts_with('/');
    let mut values: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.name.as_encoded_bytes().starts_with(&begun) && !entry.is_closed())
        // Only folders are listed.
        .filter(|entry| if template == FOLDER { is_folder(entry) } else { is_read(entry) })
        .filter(|entry| takes_bytes || entry.name.to_str().is_some())
        .map(|entry| format!("{folder}{}{}", spelled(&entry), if is_folder(&entry) { "/" } else { "" }))
        .collect();
    if values.is_empty() {
        // A folder that the caller was not given looks like one that is not there.
        return CompletionInfo::default();
    }
    let total = u32::try_from(values.len()).ok();
    let more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, more).unwrap_or_default()
}

/// A name as it stands in a URI: readable, but for what `{+path}` takes for an encoded sign, and for what is no text or does
/// not show as it is.
fn spelled(entry: &Entry) -> String {
    match entry.name.to_str().filter(|name| name.chars().all(shows)) {
        Some(name) => name.replace('%', "%25"),
        None => percent_encode(entry.name.as_encoded_bytes(), NOT_TEXT).to_string(),
    }
}
