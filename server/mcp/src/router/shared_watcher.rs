//! One watcher for all who were given the same: however many are subscribed to something, each place is asked about it once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hashline_workspace::Grants;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use crate::router::{Interest, Origin, Router, Standing};

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
    watched: watch::Sender<BTreeMap<Interest, Observed>>,
    /// Something else is followed.
    other: Notify,
}

/// How something stands that is followed.
#[derive(Default)]
struct Observed {
    followers: usize,
    /// How it stood when it was looked at last; none before the first look.
    standing: Option<Standing>,
}

/// Follows an interest until it is dropped.
pub(crate) struct Following {
    watcher: Arc<Watcher>,
    interest: Interest,
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
            let standings = |watched: &BTreeMap<Interest, Observed>| -> BTreeMap<Interest, Standing> {
                let standing = |(interest, watched): (&Interest, &Observed)| {
                    Some((interest.clone(), watched.standing.clone()?))
                };
                watched.iter().filter_map(standing).collect()
            };
            let known = standings(&self.watched.borrow());
            let changed = tokio::select! {
                changed = router.next_change(&self.origin, &known), if !known.is_empty() => changed,
                () = self.other.notified() => continue,
            };
            self.watched.send_modify(|watched| {
                for (interest, standing) in changed {
                    // What was given up meanwhile is watched no more.
                    if let Some(watched) = watched.get_mut(&interest) {
                        watched.standing = Some(standing);
                    }
                }
            });
            tokio::time::sleep(PACE).await;
        }
    }
}

impl Router {
    /// Follows interests for whoever asks: whatever changes when this has returned is news.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        origin: &Origin,
        interests: impl IntoIterator<Item = Interest>,
    ) -> Vec<Following> {
        let watcher = self.watchers.of(self, origin);
        let following: Vec<Following> =
            interests.into_iter().map(|interest| Following::new(&watcher, interest)).collect();
        let shared = &watcher.shared;
        let unseen = |following: &&Following| following.standing().is_none();
        let unseen: Vec<&Interest> = following.iter().filter(unseen).map(Following::interest).collect();
        if !unseen.is_empty() {
            let now = self.standings(&shared.origin, unseen).await;
            shared.watched.send_if_modified(|watched| {
                for (interest, standing) in now {
                    if let Some(watched) = watched.get_mut(&interest) {
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
    fn new(watcher: &Arc<Watcher>, interest: Interest) -> Self {
        watcher.shared.watched.send_if_modified(|watched| {
            watched.entry(interest.clone()).or_default().followers += 1;
            false
        });
        Self { watcher: Arc::clone(watcher), interest }
    }

    /// What is followed.
    pub(crate) fn interest(&self) -> &Interest {
        &self.interest
    }

    /// How it stood when it was looked at last.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.watcher.shared.watched.borrow().get(&self.interest)?.standing.clone()
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
            if let Some(followed) = watched.get_mut(&self.interest) {
                followed.followers -= 1;
                was_last = followed.followers == 0;
            }
            if was_last {
                watched.remove(&self.interest);
            }
            false
        });
        if was_last {
            self.watcher.shared.other.notify_one();
        }
    }
}
