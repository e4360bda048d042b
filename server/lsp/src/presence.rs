//! The sidecar as other processes of the user see it: its announcement, and what it answers on its socket.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use hashline_link::{
    AgentStatus, Announcement, Call, CancellationToken, Decide, DecideOutcome, DocumentStatus, Handler, Held,
    Listener, Raw, RemoteError, Sidecar, SidecarId, SidecarStatus, StateDir,
};
use hashline_workspace::{Caller, DocumentReview, Level, Workspace};
use tower_lsp::lsp_types::MessageType;

use crate::handover;
use crate::neighbours::Neighbours;
use crate::session::{Session, lock};

/// What runs a tool for an agent that comes through the socket. It is given the editor's name, which agents are told. The answer is an
/// MCP `CallToolResult`; the token fires when nobody waits for it any more.
pub type RunTool = Arc<
    dyn Fn(&str, Call, CancellationToken) -> Pin<Box<dyn Future<Output = Result<Raw, RemoteError>> + Send>>
        + Send
        + Sync,
>;

/// How this sidecar can be found.
#[derive(Default)]
pub(crate) struct Presence {
    /// Where agents' routers reach it; none if they cannot.
    pub socket: Option<PathBuf>,
    /// The other sidecars; none if this one cannot be reached by them.
    pub neighbours: Option<Arc<Neighbours>>,
    /// What there is to announce, before it is announced.
    waiting: Mutex<Option<(StateDir, Sidecar)>>,
    announced: Mutex<Option<Announcement>>,
}

impl Presence {
    /// Opens the socket of a new sidecar. What it is for is [announced](Self::announce) before the editor
    /// can open documents.
    ///
    /// # Errors
    ///
    /// The socket cannot be opened.
    pub fn open(state: StateDir) -> Result<(Self, Listener), hashline_link::Error> {
        let id = SidecarId::random();
        let listener = Listener::bind(&state, &id)?;
        let neighbours = Some(Arc::new(Neighbours::new(state.clone(), id.clone())));
        let sidecar = Sidecar::new(id, &listener, "", Vec::new());
        let socket = Some(listener.address().to_owned());
        let presence = Self {
            socket,
            neighbours,
            waiting: Mutex::new(Some((state, sidecar))),
            announced: Mutex::default(),
        };
        Ok((presence, listener))
    }

    /// Tells other processes of this sidecar.
    pub fn announce(&self, session: &Session) {
        let Some((state, mut sidecar)) = lock(&self.waiting).take() else { return };
        describe(&mut sidecar, session);
        match hashline_link::announce(&state, sidecar) {
            Ok(announcement) => *lock(&self.announced) = Some(announcement),
            Err(error) => unreachable_for_agents(session, &error),
        }
    }

    /// Tells other processes what has changed.
    pub fn update(&self, session: &Session) {
        if let Some(announcement) = &*lock(&self.announced)
            && let Err(error) = announcement.update(|sidecar| describe(sidecar, session))
        {
            unreachable_for_agents(session, &error);
        }
    }

    /// Takes the announcement back, for good.
    pub fn withdraw(&self) {
        lock(&self.waiting).take();
        lock(&self.announced).take();
    }
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
        let (pending, conflicted) = crate::offers::undecided(&review);
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
