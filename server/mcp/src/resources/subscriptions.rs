//! What a connection is told of by itself: in the protocol with sessions by subscriptions that come and go, in the one without by listening
//! to all at once. Whoever types makes many changes; a client hears of each resource once a second at most, and always of the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionSink;
use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::router::{Origin, Router, Standing, Subject};

/// The least time between two notices.
const PACE: Duration = Duration::from_secs(1);

/// To how many resources one connection may subscribe.
pub(crate) const MOST: usize = 50;

/// The subscriptions of one connection with a session. They end with it.
#[derive(Default)]
pub(crate) struct Subscriptions {
    told: Arc<Told>,
    telling: Mutex<Option<AbortHandle>>,
}

/// What is subscribed to, and how it stood when the client was told of it last.
#[derive(Default)]
struct Told {
    standings: Mutex<BTreeMap<Subject, Standing>>,
    /// Something else is subscribed to.
    other: Notify,
}

impl Subscriptions {
    /// Tells of a subject from now on: whatever changes when this has returned, the client hears of. False if there are too many.
    pub(crate) async fn add(
        &self,
        router: &Arc<Router>,
        origin: Origin,
        peer: Peer<RoleServer>,
        subject: Subject,
    ) -> bool {
        {
            let told = self.told.lock();
            if told.contains_key(&subject) {
                return true;
            }
            if told.len() >= MOST {
                return false;
            }
        }
        let now = router.standings(&origin, [&subject]).await;
        self.told.lock().extend(now);
        self.told.other.notify_one();
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if telling.as_ref().is_none_or(AbortHandle::is_finished) {
            let task = Arc::clone(&self.told).tell(Arc::clone(router), origin, peer);
            *telling = Some(tokio::spawn(task).abort_handle());
        }
        true
    }

    /// Tells of a subject no more.
    pub(crate) fn remove(&self, subject: &Subject) {
        self.told.lock().remove(subject);
        self.told.other.notify_one();
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        let telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(telling) = telling {
            telling.abort();
        }
    }
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Subject, Standing>> {
        self.standings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the client of changes, until it has gone.
    async fn tell(self: Arc<Self>, router: Arc<Router>, origin: Origin, peer: Peer<RoleServer>) {
        loop {
            let told = self.lock().clone();
            let changed = tokio::select! {
                changed = router.next_change(&origin, &told), if !told.is_empty() => changed,
                () = self.other.notified() => continue,
            };
            for (subject, standing) in changed {
                // Nobody hears any more of what was given up meanwhile.
                match self.lock().get_mut(&subject) {
                    Some(kept) => *kept = standing,
                    None => continue,
                }
                let sent = match subject {
                    Subject::List => peer.notify_resource_list_changed().await,
                    Subject::Resource(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
            tokio::time::sleep(PACE).await;
        }
    }
}

/// Why one more subscription is refused.
pub(crate) fn too_many() -> String {
    format!(
        "This connection is subscribed to {MOST} resources, and that is as many as there may be. Unsubscribe from one first."
    )
}

/// What a client that listens is told of.
pub(crate) fn subjects(filter: &SubscriptionFilter) -> Vec<Subject> {
    let list = (filter.resources_list_changed == Some(true)).then_some(Subject::List);
    let resources = filter.resource_subscriptions.iter().flatten().cloned().map(Subject::Resource);
    list.into_iter().chain(resources).collect()
}

/// Tells a client that listens of changes, until it has gone. It begins with a notice of each resource: a change between the client's last
/// read and this moment would be missed otherwise.
pub(crate) async fn listen(router: &Router, origin: &Origin, sink: &SubscriptionSink) {
    let subjects = subjects(sink.accepted());
    let mut told = router.standings(origin, &subjects).await;
    let mut changed: Vec<Subject> =
        subjects.into_iter().filter(|subject| *subject != Subject::List).collect();
    loop {
        for subject in changed {
            let sent = match subject {
                Subject::List => sink.notify_resource_list_changed().await,
                Subject::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if sent.is_err() {
                return;
            }
        }
        tokio::time::sleep(PACE).await;
        let now = router.next_change(origin, &told).await;
        changed = now.keys().cloned().collect();
        told.extend(now);
    }
}
