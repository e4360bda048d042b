//! What a half-written path may go on to.

use hashline_workspace::disk::{Entry, EntryKind, PathStyle};
use hashline_workspace::{Caller, Workspace};
use rmcp::model::CompletionInfo;

use crate::resources::template::{DOCUMENT, FOLDER, REVIEW};

/// Completes the path of a template; nothing where the folder cannot be listed.
pub(crate) async fn path(
    workspace: &Workspace,
    caller: &Caller,
    template: &str,
    given: &str,
) -> CompletionInfo {
    let style = match template {
        FOLDER => PathStyle::WithinRoot,
        DOCUMENT | REVIEW => PathStyle::Any,
        _ => return CompletionInfo::default(),
    };
    let (folder, begun) = given.split_at(given.rfind('/').map_or(0, |slash| slash + 1));
    let Ok(entries) = workspace.list(caller, folder, style).await else { return CompletionInfo::default() };
    let begins = entries.into_iter().filter(|entry| entry.name.starts_with(begun) && !entry.is_closed());
    let is_folder = |entry: &Entry| entry.kind == EntryKind::Folder;
    let mut values: Vec<String> = begins
        // Only folders are listed.
        .filter(|entry| template != FOLDER || is_folder(entry))
        .map(|entry| format!("{folder}{}{}", entry.name, if is_folder(&entry) { "/" } else { "" }))
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
