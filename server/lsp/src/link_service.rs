//! The sidecar as other processes of the user see it: what it tells of itself, and what it answers on its socket.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use hashline_link::{
    AgentStatus, Call, CancellationToken, Decide, DecideOutcome, DocumentStatus, Handler, Held, Raw,
    RemoteError, Sidecar, SidecarStatus,
};
use hashline_workspace::{Caller, DocumentReview, Level, Workspace};
use tower_lsp::lsp_types::MessageType;

use crate::handover;
use crate::session::Session;

/// What runs a tool for an agent that comes through the socket. It is given the editor's name, which agents are told. The answer is an
/// MCP `CallToolResult`; the token fires when nobody waits for it any more.
pub type RunTool = Arc<
    dyn Fn(&str, Call, CancellationToken) -> Pin<Box<dyn Future<Output = Result<Raw, RemoteError>> + Send>>
        + Send
        + Sync,
>;

/// Tells other processes of this sidecar.
pub(crate) fn announce(session: &Session) {
    let announced = session.presence.announce(|sidecar| describe(sidecar, session));
    announced.unwrap_or_else(|error| unreachable_for_agents(session, &error));
}

/// Tells other processes what has changed.
pub(crate) fn update(session: &Session) {
    let updated = session.presence.update(|sidecar| describe(sidecar, session));
    updated.unwrap_or_else(|error| unreachable_for_agents(session, &error));
}

fn describe(sidecar: &mut Sidecar, session: &Session) {
    sidecar.editor = session.editor_name();
    sidecar.version.clone_from(&session.version);
    sidecar.roots = session.workspace.roots();
    sidecar.http = session.http.url();
}

/// Tells the person that the review works but that no agent will come.
pub(crate) fn unreachable_for_agents(session: &Session, error: &hashline_link::Error) {
    session.say(MessageType::WARNING, format!("hashline: agents cannot reach this editor: {error}"));
}

/// Answers other processes.
pub(crate) struct Reception {
    pub session: Arc<Session>,
    pub run_tool: RunTool,
}

impl Handler for Reception {
    async fn call(&self, call: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
        self.session.opening.over().await;
        (self.run_tool)(&self.session.editor_name(), call, cancel).await
    }

    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        self.session.opening.over().await;
        let workspace = self.session.workspace.clone();
        blocking(move || paths.into_iter().map(|path| held(&workspace, path)).collect()).await
    }

    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        let session = self.session.clone();
        blocking(move || status(&session)).await
    }

    async fn decide(&self, decide: Decide) -> Result<DecideOutcome, RemoteError> {
        Ok(handover::decided(&self.session.workspace, decide).await)
    }

    async fn rehearse(&self, decides: Vec<Decide>) -> Result<DecideOutcome, RemoteError> {
        Ok(handover::rehearsed(&self.session.workspace, &decides).await)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RemoteError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| RemoteError::failed("a defect of hashline"))
}

fn held(workspace: &Workspace, path: PathBuf) -> Held {
    let Some(holding) = workspace.holding(&path) else { return Held { path, ..Held::default() } };
    Held {
        path,
        open: holding.open,
        dirty: holding.level == Level::Unsaved,
        behind: holding.level == Level::Behind,
        language: holding.language,
        pending: count(holding.pending),
        claimed: holding.claimed,
        hash: holding.hash.map(|hash| hash.to_hex()),
        used: holding.used,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn status(session: &Session) -> SidecarStatus {
    let workspace = &session.workspace;
    let open = workspace.documents(&Caller::anywhere("status", "status"));
    let mut documents: Vec<DocumentStatus> = open
        .into_iter()
        .map(|document| {
            // What another editor decides about counts there.
            let here = |hunks| if document.owner.is_none() { count(hunks) } else { 0 };
            DocumentStatus {
                version: document.version,
                dirty: document.level == Level::Unsaved,
                pending: here(document.pending),
                conflicted: here(document.conflicted),
                language: Some(document.language).filter(|language| !language.is_empty()),
                uri: document.uri,
            }
        })
        .collect();
    let closed = |review: &DocumentReview| review.version.is_none() && review.owner.is_none();
    for review in workspace.reviews().into_iter().filter(closed) {
        let (pending, conflicted) = crate::hunk_choices::undecided(&review);
        let (pending, conflicted) = (count(pending), count(conflicted));
        documents.push(DocumentStatus { uri: review.uri, pending, conflicted, ..DocumentStatus::default() });
    }
    let agent = |agent| AgentStatus { agent };
    SidecarStatus {
        editor: session.editor_name(),
        version: session.version.clone(),
        roots: workspace.roots(),
        agents: workspace.agents().into_iter().map(agent).collect(),
        documents,
    }
}
