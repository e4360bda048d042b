//! Agents that wait for the person to decide.

use std::sync::{Mutex, PoisonError};

use hashline_history::AgentName;

use crate::workspace::{Event, Workspace};

/// Who waits, once for each call.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Vec<AgentName>>);

/// A call that waits, until this is dropped.
pub(crate) struct Wait {
    workspace: Workspace,
    agent: AgentName,
}

impl Workspace {
    /// The agents that wait for decisions of the person now, each once, in the order of their names. [`Event::Waiting`] tells when there are
    /// others.
    #[must_use]
    pub fn waiting_agents(&self) -> Vec<AgentName> {
        let mut agents = self.inner.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        agents.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        agents.dedup();
        agents
    }

    pub(crate) fn waits(&self, agent: &AgentName) -> Wait {
        self.inner.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).push(agent.clone());
        self.tell_who_waits();
        Wait { workspace: self.clone(), agent: agent.clone() }
    }

    fn tell_who_waits(&self) {
        // Without an editor nobody is told.
        let _ = self.inner.events.send(Event::Waiting);
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut waiting = self.workspace.inner.waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = waiting.iter().position(|agent| *agent == self.agent) {
            waiting.swap_remove(own);
        }
        drop(waiting);
        self.workspace.tell_who_waits();
    }
}
