//! A folder, and the editors and agents that find each other over it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hashline_history::Reason;
use hashline_link::{
    Announcement, Call, CancellationToken, Decide, DecideOutcome, Handler, Held, Listener, Raw, RemoteError,
    Sidecar, SidecarId, SidecarStatus, StateDir, announce, serve,
};
use hashline_mcp::{Toolbox, caller_of};
use hashline_text::{DocVersion, Encoding};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Choice, ContentChange, Request, Target};
use hashline_workspace::{Histories, Level, Settings, Workspace};
use rmcp::service::ClientLifecycleMode;

use crate::desk::uri;
use crate::protocol::{Agent, Connection, connect, server};

/// A folder, and where editors and agents find each other.
pub struct Place {
    pub temp: tempfile::TempDir,
    pub root: PathBuf,
    /// Where hashline keeps its own.
    pub state: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("w");
        std::fs::create_dir(&root).unwrap();
        let state = temp.path().join("state");
        Self { temp, root, state }
    }

    pub fn state(&self) -> StateDir {
        StateDir::new(Some(&self.state)).unwrap()
    }

    /// Writes a file at once: whoever watches it sees it as it was or as it is, and never empty between the two.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = tempfile::NamedTempFile::new_in(self.temp.path()).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.persist(&path).unwrap();
        path
    }

    pub async fn agent(&self) -> Connection {
        let server = server(&[&self.root], true, &self.state);
        connect(server, Agent { name: "tester", roots: None }, ClientLifecycleMode::Initialize).await
    }

    /// An editor with these folders open.
    pub fn editor(&self, name: &str, folders: &[&Path]) -> Editor {
        let roots = Roots::open(folders).and_then(|roots| roots.closing(&self.state)).unwrap();
        let histories = Histories::of("a test").signed_by(hashline_mcp::signer_of(&self.state()));
        let (workspace, _) = Workspace::new(roots, Settings::default(), histories);
        let toolbox = Toolbox::new(workspace.clone()).of_editor(name);
        let waits = tokio::sync::watch::Sender::new(0);
        let watches = tokio::sync::watch::Sender::new(0);
        let served = Served { toolbox, waits: waits.clone(), watches: watches.clone() };
        let sidecar = self.start(name, folders, Arc::new(served));
        Editor { workspace, sidecar, waits, watches }
    }

    pub fn start<H: Handler>(&self, name: &str, folders: &[&Path], handler: Arc<H>) -> Running {
        // With threads of its own it can be made to vanish as a killed process does.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let id = SidecarId::random();
        let entered = runtime.enter();
        let listener = Listener::bind(&self.state(), &id).unwrap();
        drop(entered);
        let folders = folders.iter().map(|folder| folder.to_path_buf()).collect();
        let sidecar = Sidecar::new(id, &listener, name, folders);
        let stop = CancellationToken::new();
        let serving = runtime.spawn(serve(listener, handler, stop.clone()));
        Running {
            announcement: Some(announce(&self.state(), sidecar).unwrap()),
            stop,
            serving: Some(serving),
            runtime: Some(runtime),
        }
    }
}

pub struct Running {
    pub announcement: Option<Announcement>,
    pub stop: CancellationToken,
    pub serving: Option<tokio::task::JoinHandle<()>>,
    pub runtime: Option<tokio::runtime::Runtime>,
}

impl Running {
    pub async fn quit(mut self) {
        self.announcement.take();
        self.stop.cancel();
        self.serving.take().unwrap().await.unwrap();
    }

    /// Goes without a word: its file stays.
    pub fn crash(mut self) {
        std::mem::forget(self.announcement.take());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What a sidecar does with calls.
pub struct Served {
    pub toolbox: Toolbox,
    /// How many calls wait for the person.
    pub waits: tokio::sync::watch::Sender<usize>,
    /// How many wait for a change.
    pub watches: tokio::sync::watch::Sender<usize>,
}

/// A call that waits, as long as it does.
pub struct Waits<'a>(&'a tokio::sync::watch::Sender<usize>);

impl<'a> Waits<'a> {
    pub fn begin(waits: &'a tokio::sync::watch::Sender<usize>) -> Self {
        waits.send_modify(|count| *count += 1);
        Self(waits)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Handler for Served {
    async fn call(&self, call: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
        let Call { caller, tool, arguments } = call;
        let waits = tool == "await_review" && arguments["timeout_s"] != 0;
        let _waits = waits.then(|| Waits::begin(&self.waits));
        let watches = tool == "resources/states" && arguments["wait_ms"] != 0;
        let _watches = watches.then(|| Waits::begin(&self.watches));
        let caller = caller_of(caller);
        Ok(Raw::of(&self.toolbox.call(&caller, &tool, arguments, &cancel).await).unwrap())
    }
    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        let held = |path: PathBuf| match self.toolbox.workspace().holding(&path) {
            None => Held { path, ..Held::default() },
            Some(holding) => Held {
                path,
                open: holding.open,
                dirty: holding.level == Level::Unsaved,
                behind: holding.level == Level::Behind,
                language: holding.language,
                pending: u32::try_from(holding.pending).unwrap(),
                claimed: holding.claimed,
                hash: holding.hash.map(|hash| hash.to_hex()),
                used: holding.used,
            },
        };
        Ok(paths.into_iter().map(held).collect())
    }
    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        Ok(SidecarStatus::default())
    }
    async fn decide(&self, _: Decide) -> Result<DecideOutcome, RemoteError> {
        Err(RemoteError::cancelled())
    }
}

pub struct Editor {
    pub workspace: Workspace,
    pub sidecar: Running,
    pub waits: tokio::sync::watch::Sender<usize>,
    pub watches: tokio::sync::watch::Sender<usize>,
}

impl Editor {
    pub fn open(&self, path: &Path, text: &str) {
        self.workspace.did_open(&uri(path), "text", DocVersion(1), Encoding::Utf16, text);
    }

    /// The person makes the whole text this one.
    pub fn types(&self, path: &Path, version: i32, text: &str) {
        let change = ContentChange { span: None, text: text.into() };
        self.workspace.did_change(&uri(path), DocVersion(version), &[change]).unwrap();
    }

    /// Returns when as many calls wait for the person.
    pub async fn waits(&self, count: usize) {
        reached(&self.waits, count).await;
    }

    /// Returns when as many calls wait for a change.
    pub async fn watched(&self, count: usize) {
        reached(&self.watches, count).await;
    }

    pub async fn reject(&self, edit: &str, reason: &str) {
        let reason = Reason::of(reason);
        let target = Target::Edit(edit.to_owned());
        let request = Request { reason, ..Request::of(Choice::Reject, target) };
        self.workspace.decide(None, &request).await;
    }
}

async fn reached(calls: &tokio::sync::watch::Sender<usize>, count: usize) {
    let mut waiting = calls.subscribe();
    let reached = waiting.wait_for(|now| *now == count);
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    assert!(reached.is_ok(), "{} calls wait, not {count}", *calls.borrow());
}
