//! Whose the sessions are, and how they end. A session belongs to the holder of the token that it began with, whatever token that one
//! comes with later; for everybody else there is none of its id. Only a token that gives as much as the one that it began with ends it. It
//! ends by itself when nobody has been there for some time: no request is answered in it and no stream is open. The transport cannot tell,
//! as to it every notice is a sign of life, heard or not. Nobody's session ends because somebody else begins one.

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

/// How many of them one holder may have.
pub(super) const SHARE: usize = 64;

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
    /// What it began with.
    began: Grants,
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

    /// Whether one with these grants may end the session of this id, as far as that is known.
    pub(super) fn may_end(&self, id: &str, grants: &Grants) -> bool {
        self.known().get(id).is_none_or(|session| grants.hold(&session.began))
    }

    /// Makes room for another session of a holder: of too many the one ends, of that holder or of nobody, in which nobody has been longest.
    /// False where there is none such.
    pub(super) async fn make_room(&self, holder: &Holder) -> bool {
        let has_room = || {
            let known = self.known();
            let own = known.values().filter(|session| session.owner.as_ref() == Some(holder)).count();
            own < SHARE && known.len() < MOST
        };
        if !has_room() {
            self.reconcile().await;
        }
        while !has_room() {
            let quietest = {
                let mut known = self.known();
                let ends = |session: &Session| {
                    session.visits == 0 && session.owner.as_ref().is_none_or(|owner| owner == holder)
                };
                let left = known.iter_mut().filter(|(_, session)| ends(session));
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
        let began = Session {
            owner: Some(holder.clone()),
            grants: Some(grants.clone()),
            began: grants,
            ..Session::new()
        };
        self.known().insert(id.to_owned(), began);
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
            known.entry(id.to_string()).or_insert_with(Session::new);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// One of which nothing is known.
    fn new() -> Self {
        let changes = TaskTracker::new();
        // It can be waited for only so, and counts all the same.
        changes.close();
        let began = Grants::default();
        Self { owner: None, began, grants: None, visits: 0, quiet: Instant::now(), changes }
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
    use hashline_workspace::disk::Roots;

    use super::*;

    fn me() -> Holder {
        Holder::Subject("me".to_owned())
    }

    /// Sessions, and those of their transports that are kept.
    struct Kept {
        sessions: Sessions,
        transports: Vec<Box<dyn std::any::Any>>,
    }

    impl Kept {
        fn new() -> Self {
            let sessions = Sessions::new(Arc::new(LocalSessionManager::default()));
            Self { sessions, transports: Vec::new() }
        }

        /// A new session, if there is room for one.
        async fn begin(&mut self, holder: &Holder) -> Option<String> {
            if !self.sessions.make_room(holder).await {
                return None;
            }
            let (id, transport) = self.sessions.manager.create_session().await.unwrap();
            self.sessions.begun(&id, holder, Grants::default());
            self.transports.push(Box::new(transport));
            tokio::time::advance(Duration::from_millis(1)).await;
            Some(id.to_string())
        }

        async fn fill(&mut self, holder: &Holder, count: usize) -> Vec<String> {
            let mut ids = Vec::new();
            for _ in 0..count {
                ids.push(self.begin(holder).await.unwrap());
            }
            ids
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_of_ones_own_the_one_that_was_left_longest_ends() {
        let mut kept = Kept::new();
        let ids = kept.fill(&me(), SHARE).await;
        let sessions = kept.sessions.clone();
        let you = Holder::Token("me".to_owned());
        assert!(sessions.is_of_another(&ids[0], &you) && !sessions.is_of_another("none", &you));
        // Those that have ended by themselves come first.
        sessions.manager.close_session(&ids[2].as_str().into()).await.unwrap();
        kept.begin(&me()).await.unwrap();
        assert!(sessions.has(&ids[0]).await && sessions.has(&ids[1]).await);
        let stays = sessions.visit(&ids[0], &Grants::default()).unwrap();
        drop(sessions.visit(&ids[1], &Grants::default()).unwrap());
        let last = kept.begin(&me()).await.unwrap();
        assert!(!sessions.has(&ids[3]).await);
        for id in [&ids[0], &ids[1], &ids[4], &last] {
            assert!(sessions.has(id).await && !sessions.is_of_another(id, &me()));
        }
        let all: Vec<String> = sessions.known().keys().cloned().collect();
        let visits: Vec<_> = all.iter().map(|id| sessions.visit(id, &Grants::default())).collect();
        assert!(!sessions.make_room(&me()).await, "somebody is in each");
        assert!(sessions.make_room(&you).await, "it is another's room");
        drop((visits, stays));
        assert!(sessions.make_room(&me()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn no_session_ends_because_another_holder_begins_some() {
        let mut kept = Kept::new();
        let mine = kept.begin(&me()).await.unwrap();
        let mut all = vec![mine];
        for holder in 0.. {
            let holder = Holder::Subject(format!("other {holder}"));
            let count = SHARE.min(MOST - all.len());
            all.extend(kept.fill(&holder, count).await);
            if all.len() == MOST {
                break;
            }
        }
        assert!(kept.begin(&Holder::Subject("late".to_owned())).await.is_none());
        // Whoever has some can begin another in the place of one.
        kept.begin(&Holder::Subject("other 1".to_owned())).await.unwrap();
        let mut ended = 0;
        for id in &all {
            ended += usize::from(!kept.sessions.has(id).await);
        }
        assert!(ended == 1 && kept.sessions.has(&all[0]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_token_that_gives_as_much_ends_a_session() {
        let kept = Kept::new();
        let of = |scope: &str| crate::http::scope::grants(&[scope.parse().unwrap()], &Roots::default());
        let (id, transport) = kept.sessions.manager.create_session().await.unwrap();
        kept.sessions.begun(&id, &me(), of("write:/"));
        assert!(!kept.sessions.may_end(&id, &of("read:/")) && kept.sessions.may_end(&id, &of("write:/")));
        drop(transport);
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
