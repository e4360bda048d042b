//! The IDE link of Claude Code, from the sidecar itself, unless a setting turns it off.

use std::path::PathBuf;
use std::sync::Mutex;

use hashline_link::CancellationToken;
use hashline_workspace::Workspace;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::lock::lock;

/// The link of this sidecar, if there is one.
#[derive(Default)]
pub(crate) struct Ide {
    /// Where Claude Code keeps what is its own, and on which threads it is served.
    place: Option<(PathBuf, Handle)>,
    /// Ends what serves; none while nothing does.
    serving: Mutex<Option<CancellationToken>>,
    running: TaskTracker,
}

impl Ide {
    pub fn new(place: Option<(PathBuf, Handle)>) -> Self {
        Self { place, ..Self::default() }
    }

    /// Serves these documents, or does not. Called by one task alone.
    pub fn settle(&self, workspace: &Workspace, editor: String, wanted: bool) {
        let Some((folder, threads)) = &self.place else { return };
        let mut serving = lock(&self.serving);
        if !wanted {
            if let Some(stop) = serving.take() {
                stop.cancel();
            }
        } else if serving.is_none() && !self.running.is_closed() {
            let stop = serving.insert(CancellationToken::new()).clone();
            let options =
                hashline_ide::Options { workspace: workspace.clone(), editor, folder: folder.clone(), stop };
            self.running.spawn_on(hashline_ide::serve(options), threads);
        }
    }

    /// Serves no more.
    pub fn end(&self) {
        self.running.close();
        if let Some(stop) = lock(&self.serving).take() {
            stop.cancel();
        }
    }

    /// Waits until what is held is withdrawn.
    pub async fn ended(&self) {
        self.running.wait().await;
    }
}
