//! The agents that wait for the person to decide.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_history::AgentName;

/// Who waits, once for each call.
#[derive(Debug, Default)]
pub(crate) struct WaitingAgents(Mutex<Vec<AgentName>>);

impl WaitingAgents {
    fn lock(&self) -> MutexGuard<'_, Vec<AgentName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each once, in the order of their names.
    pub fn names(&self) -> Vec<AgentName> {
        let mut names = self.lock().clone();
        names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        names.dedup();
        names
    }

    /// A call of an agent waits.
    pub fn add(&self, agent: &AgentName) {
        self.lock().push(agent.clone());
    }

    /// One waits no more.
    pub fn remove(&self, agent: &AgentName) {
        let mut waiting = self.lock();
        if let Some(own) = waiting.iter().position(|other| other == agent) {
            waiting.swap_remove(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_waits_as_long_as_one_of_its_calls_does() {
        let waiting = WaitingAgents::default();
        let names = || waiting.names().iter().map(ToString::to_string).collect::<Vec<_>>();
        let (codex, gemini) = ("codex".into(), "gemini".into());
        waiting.add(&gemini);
        waiting.add(&codex);
        waiting.add(&gemini);
        assert_eq!(names(), ["codex", "gemini"]);
        waiting.remove(&gemini);
        waiting.remove(&codex);
        assert_eq!(names(), ["gemini"]);
        waiting.remove(&gemini);
        waiting.remove(&gemini);
        assert_eq!(names(), [""; 0]);
    }
}
