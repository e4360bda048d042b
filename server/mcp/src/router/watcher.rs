//! One watcher for all who were given the same: however many are subscribed to something, each place is asked about it once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hashline_workspace::Grants;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use crate::router::{Origin, Router, Standing, Subject};

/// The least time between two pieces of news of one resource.
const PACE: Duration = Duration::from_secs(1);

/// The watchers that somebody follows, by what their followers were given.
#[derive(Default)]
pub(super) struct Watchers(Mutex<Vec<(Option<Grants>, Weak<Watcher>)>>);

/// Watches what its followers follow, until the last of them is dropped.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    watching: AbortHandle,
}

struct Shared {
    /// As whom places are asked: how something stands depends on what one was given, and on nothing else of who asks.
    origin: Origin,
    watched: watch::Sender<BTreeMap<Subject, Watched>>,
    /// Something else is followed.
    other: Notify,
}

/// What is watched.
#[derive(Default)]
struct Watched {
    followers: usize,
    /// How it stood when it was looked at last; none before the first look.
    standing: Option<Standing>,
}

/// Follows a subject until it is dropped.
pub(crate) struct Following {
    watcher: Arc<Watcher>,
    subject: Subject,
}

impl Watchers {
    fn of(&self, router: &Arc<Router>, origin: &Origin) -> Arc<Watcher> {
        let mut watchers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|(_, watcher)| watcher.strong_count() > 0);
        let known = watchers.iter().find(|(grants, _)| *grants == origin.grants);
        if let Some(watcher) = known.and_then(|(_, watcher)| watcher.upgrade()) {
            return watcher;
        }
        let shared = Arc::new(Shared {
            origin: origin.clone(),
            watched: watch::Sender::default(),
            other: Notify::default(),
        });
        let watching = tokio::spawn(Arc::clone(&shared).watch(Arc::clone(router))).abort_handle();
        let watcher = Arc::new(Watcher { shared, watching });
        watchers.push((origin.grants.clone(), Arc::downgrade(&watcher)));
        watcher
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Shared {
    async fn watch(self: Arc<Self>, router: Arc<Router>) {
        loop {
            let standings = |watched: &BTreeMap<Subject, Watched>| -> BTreeMap<Subject, Standing> {
                let standing = |(subject, watched): (&Subject, &Watched)| {
                    Some((subject.clone(), watched.standing.clone()?))
                };
                watched.iter().filter_map(standing).collect()
            };
            let known = standings(&self.watched.borrow());
            let changed = tokio::select! {
                changed = router.next_change(&self.origin, &known), if !known.is_empty() => changed,
                () = self.other.notified() => continue,
            };
            self.watched.send_modify(|watched| {
                for (subject, standing) in changed {
                    // What was given up meanwhile is watched no more.
                    if let Some(watched) = watched.get_mut(&subject) {
                        watched.standing = Some(standing);
                    }
                }
            });
            tokio::time::sleep(PACE).await;
        }
    }
}

impl Router {
    /// Follows subjects for whoever asks: whatever changes when this has returned is news.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        origin: &Origin,
        subjects: impl IntoIterator<Item = Subject>,
    ) -> Vec<Following> {
        let watcher = self.watchers.of(self, origin);
        let following: Vec<Following> =
            subjects.into_iter().map(|subject| Following::new(&watcher, subject)).collect();
        let shared = &watcher.shared;
        let unseen = |following: &&Following| following.standing().is_none();
        let unseen: Vec<&Subject> = following.iter().filter(unseen).map(Following::subject).collect();
        if !unseen.is_empty() {
            let now = self.standings(&shared.origin, unseen).await;
            shared.watched.send_if_modified(|watched| {
                for (subject, standing) in now {
                    if let Some(watched) = watched.get_mut(&subject) {
                        watched.standing.get_or_insert(standing);
                    }
                }
                // To those who have been following it is no news.
                false
            });
            shared.other.notify_one();
        }
        following
    }
}

impl Following {
    fn new(watcher: &Arc<Watcher>, subject: Subject) -> Self {
        watcher.shared.watched.send_if_modified(|watched| {
            watched.entry(subject.clone()).or_default().followers += 1;
            false
        });
        Self { watcher: Arc::clone(watcher), subject }
    }

    /// What is followed.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// How it stood when it was looked at last.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.watcher.shared.watched.borrow().get(&self.subject)?.standing.clone()
    }

    /// Whether both are told by one watcher.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.watcher, &other.watcher)
    }

    /// Comes when something has changed from now on that its watcher watches.
    pub(crate) fn change(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut watched = self.watcher.shared.watched.subscribe();
        async move {
            let _ = watched.changed().await;
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut was_last = false;
        self.watcher.shared.watched.send_if_modified(|watched| {
            if let Some(followed) = watched.get_mut(&self.subject) {
                followed.followers -= 1;
                was_last = followed.followers == 0;
            }
            if was_last {
                watched.remove(&self.subject);
            }
            false
        });
        if was_last {
            self.watcher.shared.other.notify_one();
        }
    }
}
