//! Calls that wait for the person to decide.

use hashline_history::AgentName;

use crate::workspace::{Event, Workspace};

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
        self.inner.waiting.names()
    }

    pub(crate) fn waits(&self, agent: &AgentName) -> Wait {
        self.inner.waiting.add(agent);
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
        self.workspace.inner.waiting.remove(&self.agent);
        self.workspace.tell_who_waits();
    }
}
