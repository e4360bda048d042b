//! Whose the sessions are, and how they end. A session belongs to the holder of the token that it began with, whatever token that one
//! comes with later; for everybody else there is none of its id. It ends when nobody has been there for some time: no request is
//! answered in it and no stream is open. The transport cannot tell, as to it every notice is a sign of life, heard or not.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashline_history::Holder;
use hashline_workspace::Grants;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::http::LAST_CALLS;

/// How many sessions there may be at a time.
pub(super) const MOST: usize = 1_000;

/// How long a session lasts in which nobody is there. Its client begins a new one then.
pub(super) const ABANDONED: Duration = Duration::from_secs(15 * 60);

/// How often it is looked for those that nobody is in.
const GLANCE: Duration = Duration::from_secs(60);

/// The sessions, with their owners.
#[derive(Clone)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    known: Arc<Mutex<HashMap<String, Session>>>,
}

struct Session {
    /// None of one whose client went before it had its id.
    owner: Option<Holder>,
    /// What all requests in it were given; none where some were given something else than others.
    grants: Option<Grants>,
    /// The requests and streams that are open in it.
    visits: usize,
    /// Since when there are none.
    quiet: Instant,
    /// The calls in it that change something and are not answered to the last byte.
    changes: TaskTracker,
}

/// Somebody is in a session until this is dropped.
pub(super) struct Visit {
    sessions: Sessions,
    id: String,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, known: Arc::default() }
    }

    /// Whether there is a session of this id.
    pub(super) async fn has(&self, id: &str) -> bool {
        self.manager.has_session(&id.into()).await.unwrap_or_default()
    }

    /// Whether somebody else began the session of this id.
    pub(super) fn is_of_another(&self, id: &str, holder: &Holder) -> bool {
        self.known().get(id).is_some_and(|session| session.owner.as_ref() != Some(holder))
    }

    /// Makes room for another session: of too many the one ends in which nobody has been longest. False where somebody is in each.
    pub(super) async fn make_room(&self) -> bool {
        if self.known().len() >= MOST {
            self.reconcile().await;
        }
        while self.known().len() >= MOST {
            let quietest = {
                let mut known = self.known();
                let left = known.iter_mut().filter(|(_, session)| session.visits == 0);
                let quietest = left.min_by_key(|(_, session)| session.quiet);
                quietest.map(|(id, session)| {
                    session.owner = None;
                    id.clone()
                })
            };
            let Some(id) = quietest else { return false };
            self.end(&id).await;
            self.known().remove(&id);
        }
        true
    }

    /// Ends a session that nobody is in. Whoever comes from here on is told that it has ended.
    async fn end(&self, id: &str) {
        tracing::debug!(id, "a session ends, as nobody is in it");
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(id, %error, "a session did not end");
        }
    }

    /// A session has begun, by one who was given this.
    pub(super) fn begun(&self, id: &str, holder: &Holder, grants: Grants) {
        self.known().insert(id.to_owned(), Session::new(Some(holder.clone()), Some(grants)));
    }

    /// Enters a session, if there is one of this id.
    pub(super) fn visit(&self, id: &str, grants: &Grants) -> Option<Visit> {
        let mut known = self.known();
        let session = known.get_mut(id)?;
        session.visits += 1;
        session.grants.take_if(|others| others != grants);
        Some(Visit { sessions: self.clone(), id: id.to_owned() })
    }

    /// Waits until what is being changed in a session is answered, as far as somebody takes the answers: it would be lost with the session.
    pub(super) async fn changes_answered(&self, id: &str) {
        let Some(changes) = self.known().get(id).map(|session| session.changes.clone()) else { return };
        if timeout(LAST_CALLS, changes.wait()).await.is_err() {
            tracing::warn!(id, "a session ends before all that was changed in it was answered");
        }
    }

    /// Ends sessions that nobody is in any more, for as long as this is polled.
    pub(super) async fn end_abandoned(&self) -> Infallible {
        loop {
            sleep(GLANCE).await;
            self.reconcile().await;
            let is_abandoned =
                |session: &Session| session.visits == 0 && session.quiet.elapsed() >= ABANDONED;
            let mut abandoned = Vec::new();
            // Whoever comes from here on is told that it has ended.
            for (id, session) in &mut *self.known() {
                if is_abandoned(session) {
                    session.owner = None;
                    abandoned.push(id.clone());
                }
            }
            for id in abandoned {
                self.end(&id).await;
            }
        }
    }

    /// Forgets those that have ended, which said nothing here, and learns of those whose clients went before they had their ids.
    async fn reconcile(&self) {
        let there = self.manager.sessions.read().await;
        let mut known = self.known();
        known.retain(|id, _| there.contains_key(id.as_str()));
        for id in there.keys() {
            known.entry(id.to_string()).or_insert_with(|| Session::new(None, None));
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn new(owner: Option<Holder>, grants: Option<Grants>) -> Self {
        let changes = TaskTracker::new();
        // It can be waited for only so, and counts all the same.
        changes.close();
        Self { owner, grants, visits: 0, quiet: Instant::now(), changes }
    }
}

impl Visit {
    /// Counts a call that changes something, until this is dropped.
    pub(super) fn change(&self) -> Option<TaskTrackerToken> {
        self.sessions.known().get(&self.id).map(|session| session.changes.token())
    }

    /// Whether whoever is here may be given what was said before to others in it: they had the same grants.
    pub(super) fn may_hear_all(&self) -> bool {
        self.sessions.known().get(&self.id).is_some_and(|session| session.grants.is_some())
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.known().get_mut(&self.id) {
            session.visits -= 1;
            session.quiet = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Holder {
        Holder::Subject("me".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_one_that_was_left_longest_ends() {
        let manager = Arc::new(LocalSessionManager::default());
        let sessions = Sessions::new(manager.clone());
        let mut kept = Vec::new();
        let mut begin = async || {
            assert!(sessions.make_room().await);
            let (id, transport) = manager.create_session().await.unwrap();
            sessions.begun(&id, &me(), Grants::default());
            kept.push(transport);
            tokio::time::advance(Duration::from_millis(1)).await;
            id
        };
        let mut ids = Vec::new();
        for _ in 0..MOST {
            ids.push(begin().await);
        }
        let you = Holder::Token("me".to_owned());
        assert!(sessions.is_of_another(&ids[0], &you) && !sessions.is_of_another("none", &you));
        // Those that have ended by themselves come first.
        manager.close_session(&ids[2]).await.unwrap();
        begin().await;
        assert!(sessions.has(&ids[0]).await && sessions.has(&ids[1]).await);
        let stays = sessions.visit(&ids[0], &Grants::default()).unwrap();
        drop(sessions.visit(&ids[1], &Grants::default()).unwrap());
        let last = begin().await;
        assert!(!sessions.has(&ids[3]).await);
        for id in [&ids[0], &ids[1], &ids[4], &last] {
            assert!(sessions.has(id).await && !sessions.is_of_another(id, &me()));
        }
        let all: Vec<String> = sessions.known().keys().cloned().collect();
        let visits: Vec<_> = all.iter().map(|id| sessions.visit(id, &Grants::default())).collect();
        assert!(!sessions.make_room().await, "somebody is in each");
        drop((visits, stays));
        assert!(sessions.make_room().await);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_nobody_is_in_ends_and_no_other() {
        let manager = Arc::new(LocalSessionManager::default());
        let sessions = Sessions::new(manager.clone());
        let mut kept = Vec::new();
        let mut begin = async |told: bool| {
            let (id, transport) = manager.create_session().await.unwrap();
            if told {
                sessions.begun(&id, &me(), Grants::default());
            }
            kept.push(transport);
            id
        };
        let [listens, left, untold] = [begin(true).await, begin(true).await, begin(false).await];
        let listening = sessions.visit(&listens, &Grants::default()).unwrap();
        drop(sessions.visit(&left, &Grants::default()).unwrap());
        let ended = async |after| {
            let _ = tokio::time::timeout(after, sessions.end_abandoned()).await;
            let has = async |id: &str| sessions.has(id).await;
            [has(&listens).await, has(&left).await, has(&untold).await]
        };
        assert_eq!(ended(ABANDONED - GLANCE).await, [true; 3]);
        assert_eq!(ended(3 * GLANCE).await, [true, false, false]);
        assert_eq!(ended(2 * ABANDONED).await, [true, false, false]);
        // The time begins when the last one goes.
        drop(listening);
        assert_eq!(ended(ABANDONED - GLANCE).await, [true, false, false]);
        assert_eq!(ended(3 * GLANCE).await, [false; 3]);
    }
}
