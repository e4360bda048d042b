//! What a sidecar does with the calls that routers pass on.

use std::path::PathBuf;

use hashline_history::{EditId, HunkRef};
use hashline_link::{
    AgentStatus, Call, CancellationToken, Decide, DecideOutcome, DecideResult, Decision, DocumentStatus,
    Handler, Held, Raw, RemoteError, SidecarStatus,
};
use hashline_workspace::document::{Choice, Request, Target, Undecided, Why};
use hashline_workspace::{Caller, Workspace};

use crate::toolbox::Toolbox;

/// Answers other processes for the documents of one editor.
#[derive(Clone)]
pub struct SidecarHandler {
    toolbox: Toolbox,
    editor: String,
}

/// A handler of calls for a sidecar's socket, over the documents of this editor.
#[must_use]
pub fn handler(workspace: Workspace, editor: &str) -> SidecarHandler {
    SidecarHandler { toolbox: Toolbox::new(workspace).of_editor(editor), editor: editor.to_owned() }
}

impl Handler for SidecarHandler {
    async fn call(&self, call: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
        let Call { caller, tool, arguments } = call;
        // The workspace keeps the caller to its roots, within those of the editor.
        let caller = Caller { agent: caller.agent, connection: caller.connection, roots: caller.roots };
        let result = self.toolbox.call(&caller, &tool, arguments, &cancel).await;
        Raw::of(&result).map_err(|error| RemoteError::failed(error.to_string()))
    }

    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        let workspace = self.toolbox.workspace().clone();
        blocking(move || paths.into_iter().map(|path| held(&workspace, path)).collect()).await
    }

    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        let (workspace, editor) = (self.toolbox.workspace().clone(), self.editor.clone());
        blocking(move || status(&workspace, editor)).await
    }

    async fn decide(&self, decide: Decide) -> Result<DecideOutcome, RemoteError> {
        let target = match decide.hunk {
            Some(number) => Target::Hunk(HunkRef { edit: EditId::from(decide.edit), number }),
            None => Target::Edit(decide.edit),
        };
        let choice = match decide.decision {
            Decision::Accept => Choice::Accept,
            Decision::Reject => Choice::Reject,
        };
        let request = Request { choice, target, reason: decide.reason, edited: None, with_others: false };
        let decided = self.toolbox.workspace().decide(None, &request).await;
        Ok(outcome(&decided.queued, &decided.refused))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RemoteError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| RemoteError::failed(error.to_string()))
}

fn held(workspace: &Workspace, path: PathBuf) -> Held {
    let Some(document) = workspace.holding(&path) else { return Held { path, ..Held::default() } };
    Held {
        path,
        open: document.open,
        dirty: document.dirty,
        language: document.language,
        pending: small(document.pending),
        hash: document.hash.map(|hash| hash.to_hex()),
        used: document.used,
    }
}

fn status(workspace: &Workspace, editor: String) -> SidecarStatus {
    let documents = workspace.documents(&Caller::anywhere("hashline", "status"));
    SidecarStatus {
        editor,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        roots: workspace.roots(),
        agents: workspace
            .agents()
            .into_iter()
            .map(|agent| AgentStatus { agent, ..AgentStatus::default() })
            .collect(),
        documents: documents
            .into_iter()
            .map(|document| DocumentStatus {
                uri: document.uri,
                version: document.version,
                dirty: document.dirty,
                language: Some(document.language).filter(|language| !language.is_empty()),
                pending: small(document.pending),
                conflicted: small(document.conflicted),
            })
            .collect(),
    }
}

fn outcome(queued: &[HunkRef], refused: &[Undecided]) -> DecideOutcome {
    let Some(first) = refused.first() else {
        let names: Vec<_> = queued.iter().map(HunkRef::short).collect();
        return DecideOutcome {
            result: DecideResult::Queued,
            message: format!("decided: {}", names.join(", ")),
        };
    };
    let result = match first.why {
        Why::Gone => DecideResult::NotFound,
        Why::Edited => DecideResult::Changed,
        Why::Conflicted | Why::NeedsOthers | Why::Collides => DecideResult::Conflict,
    };
    let message: Vec<_> = refused.iter().map(|undecided| undecided.message.as_str()).collect();
    DecideOutcome { result, message: message.join("\n") }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
