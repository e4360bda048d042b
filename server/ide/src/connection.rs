//! What the calls of one connection share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_link::CancellationToken;
use hashline_workspace::Workspace;
use tokio_util::task::TaskTracker;

use crate::tabs::Tabs;

/// What the calls of one connection share.
pub(crate) struct Connection {
    /// What it is called: the edits that come through it are its own.
    pub name: String,
    pub workspace: Workspace,
    pub tabs: Tabs,
    /// Fires when it has ended.
    pub ended: CancellationToken,
    /// The edits that are held.
    pub running: TaskTracker,
    /// The conversation of the edits of this turn, once there was one.
    turn: Mutex<Option<String>>,
}

impl Connection {
    /// A new one to these documents, which lasts until `ended` fires. `running` counts the edits that are held.
    pub fn new(workspace: Workspace, ended: CancellationToken, running: TaskTracker) -> Self {
        let name = uuid::Uuid::new_v4().to_string();
        Self { name, workspace, tabs: Tabs::default(), ended, running, turn: Mutex::default() }
    }

    /// The conversation of this turn, if it has one.
    pub fn conversation(&self) -> Option<String> {
        self.turn().clone()
    }

    /// Says to which conversation this turn belongs.
    pub fn set_conversation(&self, id: &str) {
        *self.turn() = Some(id.to_owned());
    }

    /// Another turn begins, with a conversation of its own.
    pub fn begin_turn(&self) {
        *self.turn() = None;
    }

    fn turn(&self) -> MutexGuard<'_, Option<String>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
