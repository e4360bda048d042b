//! Whose the sessions are. A session belongs to the subject of the token that it began with, whatever token that one comes with later;
//! for everybody else there is none of its id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// How many sessions there may be at a time.
const MOST: usize = 1_000;

/// The sessions, with their owners.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, String>>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, owners: Mutex::default() }
    }

    /// Whether there is a session of this id.
    pub(super) async fn has(&self, id: &str) -> bool {
        self.manager.has_session(&id.into()).await.unwrap_or_default()
    }

    /// Whether somebody else began the session of this id.
    pub(super) fn is_of_another(&self, id: &str, subject: &str) -> bool {
        self.owners().get(id).is_some_and(|owner| owner != subject)
    }

    /// Whether another session may begin.
    pub(super) async fn have_room(&self) -> bool {
        if self.owners().len() < MOST {
            return true;
        }
        // Those that have ended said nothing here.
        let known: Vec<String> = self.owners().keys().cloned().collect();
        for id in known {
            if !self.has(&id).await {
                self.owners().remove(&id);
            }
        }
        self.owners().len() < MOST
    }

    /// A session has begun.
    pub(super) fn begun(&self, id: &str, subject: &str) {
        self.owners().insert(id.to_owned(), subject.to_owned());
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_that_have_ended_make_room() {
        let manager = Arc::new(LocalSessionManager::default());
        let sessions = Sessions::new(manager.clone());
        for _ in 1..MOST {
            let (id, _kept) = manager.create_session().await.unwrap();
            sessions.begun(&id, "me");
        }
        assert!(sessions.have_room().await);
        let (last, _kept) = manager.create_session().await.unwrap();
        sessions.begun(&last, "me");
        assert!(!sessions.have_room().await);
        assert!(sessions.has(&last).await && !sessions.is_of_another(&last, "me"));
        assert!(sessions.is_of_another(&last, "you") && !sessions.is_of_another("none", "you"));
        manager.close_session(&last).await.unwrap();
        assert!(sessions.have_room().await);
    }
}
