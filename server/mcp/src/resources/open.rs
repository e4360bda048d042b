//! The list of resources: the documents that are open.

use hashline_workspace::agent::OpenDocument;
use hashline_workspace::{Caller, Workspace};
use rmcp::model::Resource;
use serde::{Deserialize, Serialize};

/// The most documents that are listed, those first that were used last; list_documents has all of them.
const LISTED: usize = 200;

/// An open document, as one place tells another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub uri: String,
    pub name: String,
    pub language: String,
    pub used: u64,
}

/// The open documents, the one that was used last first.
pub(crate) fn documents(workspace: &Workspace, caller: &Caller) -> Vec<Open> {
    let open = |OpenDocument { uri, name, language, used }| Open { uri, name, language, used };
    workspace.open_documents(caller).into_iter().take(LISTED).map(open).collect()
}

/// The documents of several editors as MCP lists them. One that several have open is listed once.
pub(crate) fn listed(mut open: Vec<Open>) -> Vec<Resource> {
    open.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
    let mut seen = std::collections::HashSet::new();
    open.retain(|document| seen.insert(document.uri.clone()));
    let resource = |Open { uri, name, language, .. }: Open| {
        let language = if language.is_empty() { String::new() } else { format!(" · {language}") };
        Resource::new(uri, name)
            .with_description(format!("Open in the editor{language}"))
            .with_mime_type("text/plain")
    };
    open.into_iter().take(LISTED).map(resource).collect()
}
