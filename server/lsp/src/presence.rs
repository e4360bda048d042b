//! The sidecar as other processes of the user see it: its announcement, and what it answers on its socket.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hashline_history::{ConversationId, EditId, HunkRef};
use hashline_link::{
    AgentStatus, Announcement, Call, CancellationToken, Decide, DecideOutcome, DecideResult, Decision,
    DocumentStatus, Handler, Held, Listener, Mine, Raw, Refused, RemoteError, Sidecar, SidecarId,
    SidecarStatus, StateDir,
};
use hashline_weave::TakeOut;
use hashline_workspace::agent::ReviewScope;
use hashline_workspace::document::{Choice, Request, Target, Undecided, Unseen, Why};
use hashline_workspace::{Caller, Refusal, Workspace};
use tower_lsp::lsp_types::MessageType;

use crate::session::{Session, lock};

/// What runs a tool for an agent that comes through the socket. The answer is an MCP `CallToolResult`; the token fires
/// when nobody waits for it any more.
pub type RunTool = Arc<
    dyn Fn(Call, CancellationToken) -> Pin<Box<dyn Future<Output = Result<Raw, RemoteError>> + Send>>
        + Send
        + Sync,
>;

/// How this sidecar can be found.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// Where agents' routers reach it; none if they cannot.
    pub socket: Option<PathBuf>,
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
        let sidecar = Sidecar::new(id, &listener, "", Vec::new());
        let socket = Some(listener.address().to_owned());
        let presence =
            Self { socket, waiting: Mutex::new(Some((state, sidecar))), announced: Mutex::default() };
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
        (self.run_tool)(call, cancel).await
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
        Ok(decided(&self.session.workspace, decide).await)
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
        dirty: holding.dirty,
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
        .map(|document| DocumentStatus {
            version: document.version,
            dirty: document.dirty,
            language: Some(document.language).filter(|language| !language.is_empty()),
            pending: count(document.pending),
            conflicted: count(document.conflicted),
            uri: document.uri,
        })
        .collect();
    for review in workspace.reviews().into_iter().filter(|review| review.version.is_none()) {
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

/// How long the editor may take to show a decision before the other process is told that it waits.
const SHOWN_WITHIN: Duration = Duration::from_secs(1);
/// The pause before looking again.
const PAUSE: Duration = Duration::from_millis(10);

/// Carries out a decision that was made in another process.
async fn decided(workspace: &Workspace, decide: Decide) -> DecideOutcome {
    let request = match request(workspace, &decide).await {
        Ok(request) => request,
        Err((result, message)) => return DecideOutcome { result, message, ..DecideOutcome::default() },
    };
    let decided = workspace.decide_from_elsewhere(decide.path.as_deref(), &request).await;
    let refused: Vec<Refused> = decided.refused.iter().map(refused).collect();
    let (result, message) = match decided.refused.first() {
        Some(first) => (result(first.why), first.message.clone()),
        None => {
            let word = match request.choice {
                Choice::Reject | Choice::KeepMine => "rejected",
                _ => "accepted",
            };
            match shown(workspace, &decided.queued).await {
                true => (DecideResult::Done, word.to_owned()),
                false => (DecideResult::Queued, format!("{word}; waits for the editor to show it")),
            }
        }
    };
    let names = decided.queued.iter().map(HunkRef::to_string).collect();
    DecideOutcome { result, message, decided: names, refused, kept: decided.kept }
}

/// What a decision of another process asks for.
async fn request(workspace: &Workspace, decide: &Decide) -> Result<Request, (DecideResult, String)> {
    let newer = |what| {
        let message = format!(
            "{what} is nothing that this editor's hashline knows, which is older: restart the editor"
        );
        (DecideResult::Conflict, message)
    };
    let choice = match decide.decision {
        Decision::Accept => Choice::Accept,
        Decision::Reject => Choice::Reject,
        Decision::KeepMine => Choice::KeepMine,
        Decision::TakeTheirs => Choice::TakeTheirs,
        Decision::KeepBoth => Choice::KeepBoth,
        Decision::Unknown => return Err(newer("what was decided")),
    };
    let (edited, unseen) = match decide.mine {
        None => (None, Unseen::Refuse),
        Some(Mine::Keep) => (Some(TakeOut::KeepMyLines), Unseen::Keep),
        Some(Mine::GiveUp) => (Some(TakeOut::WithMyChanges), Unseen::GiveUp),
        Some(Mine::Unknown) => return Err(newer("what becomes of changed lines")),
    };
    let target = match (&decide.conversation, decide.edit.as_str()) {
        (Some(id), "") if decide.decided_too => Target::Whole(ConversationId::from(id.as_str())),
        (Some(id), "") => Target::Conversation(ConversationId::from(id.as_str())),
        (None, edit) if !edit.is_empty() => {
            let edit = whole_id(workspace, edit).await?;
            match decide.hunk {
                Some(number) => Target::Hunk(HunkRef { edit, number }),
                None => Target::Edit(edit.to_string()),
            }
        }
        _ => return Err((DecideResult::NotFound, "name an edit, or a conversation".to_owned())),
    };
    let (reason, with_others) = (decide.reason.clone(), decide.with_others);
    Ok(Request { choice, target, reason, edited, with_others, unseen })
}

/// The edit whose id begins so.
async fn whole_id(workspace: &Workspace, begin: &str) -> Result<EditId, (DecideResult, String)> {
    let scope = ReviewScope { edits: vec![begin.to_owned()], ..ReviewScope::default() };
    let edits = match workspace.edits(&the_person(), &scope).await {
        Ok(edits) => edits,
        Err(refusal @ Refusal::NoSuchEdit(_)) => return Err((DecideResult::NotFound, refusal.to_string())),
        Err(refusal) => return Err((DecideResult::Changed, refusal.to_string())),
    };
    match edits.first() {
        Some(first) if edits.iter().all(|edit| edit.id == first.id) => Ok(first.id.clone()),
        _ => {
            let message = format!("more than one edit begins with {begin}: give more of the id");
            Err((DecideResult::NotFound, message))
        }
    }
}

fn the_person() -> Caller {
    Caller::anywhere("mcpdiff", "mcpdiff")
}

/// Waits a moment for the texts to show what was decided; false if they do not yet.
async fn shown(workspace: &Workspace, hunks: &[HunkRef]) -> bool {
    let ids: BTreeSet<&str> = hunks.iter().map(|hunk| hunk.edit.as_str()).collect();
    let edits = ids.into_iter().map(str::to_owned).collect();
    let scope = ReviewScope { edits, ..ReviewScope::default() };
    let deadline = Instant::now() + SHOWN_WITHIN;
    loop {
        let edits = workspace.edits(&the_person(), &scope).await.unwrap_or_default();
        if !edits.iter().flat_map(|edit| &edit.hunks).any(|hunk| hunk.view.deciding) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn result(why: Why) -> DecideResult {
    match why {
        Why::Gone => DecideResult::NotFound,
        Why::Changed => DecideResult::Changed,
        _ => DecideResult::Conflict,
    }
}

fn refused(undecided: &Undecided) -> Refused {
    let why = match undecided.why {
        Why::Gone => hashline_link::Why::Gone,
        Why::Changed => hashline_link::Why::Changed,
        Why::Conflicted => hashline_link::Why::Conflicted,
        Why::Lost => hashline_link::Why::Lost,
        Why::Edited => hashline_link::Why::Edited,
        Why::NeedsOthers => hashline_link::Why::NeedsOthers,
        Why::Collides => hashline_link::Why::Collides,
        Why::Failed => hashline_link::Why::Failed,
    };
    let others = undecided.others.iter().map(HunkRef::to_string).collect();
    Refused { hunk: undecided.hunk.clone(), why, message: undecided.message.clone(), others }
}
