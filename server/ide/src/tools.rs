//! The tools that the program calls, and the answers that need no waiting.

use std::path::Path;
use std::sync::Arc;

use hashline_workspace::agent::DocumentInfo;
use hashline_workspace::{Caller, Level, Workspace};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use url::Url;

/// What is listed: what is answered here with more than that it is not known.
pub(crate) fn listed() -> Vec<Tool> {
    let text = || json!({ "type": "string" });
    let diff = json!({
        "old_file_path": text(), "new_file_path": text(), "new_file_contents": text(), "tab_name": text()
    });
    let all = ["old_file_path", "new_file_path", "new_file_contents", "tab_name"];
    vec![
        tool(
            "openDiff",
            "Show an edit in the editor, and wait until the person has decided about it",
            diff,
            &all,
        ),
        tool("close_tab", "Take back an edit that is shown", json!({ "tab_name": text() }), &["tab_name"]),
        tool("closeAllDiffTabs", "Take back all edits that are shown", json!({}), &[]),
        tool("getOpenEditors", "List the documents that are open", json!({}), &[]),
        tool("getWorkspaceFolders", "List the folders that are open", json!({}), &[]),
        tool(
            "checkDocumentDirty",
            "Tell whether a document has unsaved work",
            json!({ "filePath": text() }),
            &["filePath"],
        ),
    ]
}

fn tool(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), required.into());
    Tool::new(name, description, Arc::new(schema))
}

/// The answer to a question that needs no waiting; none for a tool that there is not. Looks at the disk.
pub(crate) fn answered(
    workspace: &Workspace,
    caller: &Caller,
    name: &str,
    given: &JsonObject,
) -> Option<Value> {
    let path = given.get("filePath").and_then(Value::as_str).unwrap_or_default();
    Some(match name {
        "getOpenEditors" => open_editors(workspace, caller),
        "getWorkspaceFolders" => folders(workspace),
        "checkDocumentDirty" => dirty(workspace, caller, path),
        // It is asked before and after each edit, listed or not, and what has come in between is told to the model: nothing.
        "getDiagnostics" => json!([]),
        "getCurrentSelection" | "getLatestSelection" => failed("No active editor found"),
        "saveDocument" => failed("The person saves their files: none was saved."),
        _ => return None,
    })
}

fn failed(message: &str) -> Value {
    json!({ "success": false, "message": message })
}

fn open_editors(workspace: &Workspace, caller: &Caller) -> Value {
    let tab = |document: DocumentInfo| {
        let label = document.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let lines = workspace.text_of(&document.uri).map(|(_, text)| text.lsp_line_count());
        json!({
            "uri": document.uri,
            "isActive": false,
            "isPinned": false,
            "isPreview": false,
            "isDirty": document.level == Level::Unsaved,
            "label": label,
            "groupIndex": 0,
            "viewColumn": 1,
            "isGroupActive": true,
            "fileName": document.name,
            "languageId": document.language,
            "lineCount": lines,
            "isUntitled": !document.uri.starts_with("file:"),
        })
    };
    json!({ "tabs": workspace.documents(caller).into_iter().map(tab).collect::<Vec<_>>() })
}

fn folders(workspace: &Workspace) -> Value {
    let roots = workspace.roots();
    let folder = |path: &Path| {
        json!({
            "name": path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(),
            "uri": Url::from_directory_path(path).ok().map(|url| url.as_str().trim_end_matches('/').to_owned()),
            "path": path.to_string_lossy(),
        })
    };
    let folders: Vec<Value> = roots.iter().map(|root| folder(root)).collect();
    json!({ "success": true, "folders": folders, "rootPath": roots.first().map(|root| root.to_string_lossy()) })
}

fn dirty(workspace: &Workspace, caller: &Caller, path: &str) -> Value {
    let uri = Url::from_file_path(path).map(String::from).unwrap_or_default();
    let open = workspace.documents(caller);
    match open.iter().find(|document| document.name == path || document.uri == uri) {
        Some(document) => json!({
            "success": true,
            "filePath": path,
            "isDirty": document.level == Level::Unsaved,
            "isUntitled": !document.uri.starts_with("file:"),
        }),
        None => failed(&format!("Document not open: {path}")),
    }
}
