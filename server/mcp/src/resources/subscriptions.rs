//! What a connection is told of by itself: in the protocol with sessions by subscriptions that come and go, in the one without by listening
//! to all at once. Whoever types makes many changes; a client hears of each resource once a second at most, and always of the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::select_all;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionSink;
use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::router::{Following, Interest, Origin, Router, Standing};

/// To how many resources one connection may subscribe.
pub(crate) const MOST: usize = 50;

/// The subscriptions of one connection with a session. They end with it.
#[derive(Default)]
pub(crate) struct Subscriptions {
    shared: Arc<Shared>,
    /// Whoever adds or removes something: one at a time, so that none takes the last place of another, nor comes back behind its removal.
    changing: tokio::sync::Mutex<()>,
    telling: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct Shared {
    told: Mutex<Told>,
    /// Something else is subscribed to.
    other: Notify,
}

/// What is subscribed to.
#[derive(Default)]
struct Told(BTreeMap<Interest, Followed>);

/// An interest as whoever asked for it last may see it.
struct Followed {
    following: Following,
    /// How it stood when the client was told of it.
    told: Option<Standing>,
    /// When the token ends that it was asked for with, if there is one.
    until: Option<Instant>,
}

impl Subscriptions {
    /// Tells of an interest from now on and until then, as far as `origin` may see it: whatever changes when this has returned, the client
    /// hears of. False if there are too many.
    pub(crate) async fn add(
        &self,
        router: &Arc<Router>,
        origin: &Origin,
        peer: Peer<RoleServer>,
        interest: Interest,
        until: Option<Instant>,
    ) -> bool {
        let _changing = self.changing.lock().await;
        {
            let mut told = self.shared.told();
            told.forget_ended();
            if told.0.len() >= MOST && !told.0.contains_key(&interest) {
                return false;
            }
        }
        let following = router.follow(origin, [interest]).await;
        self.shared.told().extend(following, until);
        self.shared.other.notify_one();
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if telling.as_ref().is_none_or(AbortHandle::is_finished) {
            *telling = Some(tokio::spawn(Arc::clone(&self.shared).tell(peer)).abort_handle());
        }
        true
    }

    /// Tells of an interest no more.
    pub(crate) async fn remove(&self, interest: &Interest) {
        let _changing = self.changing.lock().await;
        self.shared.told().0.remove(interest);
        self.shared.other.notify_one();
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

impl Shared {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the client of changes, until it has gone.
    async fn tell(self: Arc<Self>, peer: Peer<RoleServer>) {
        loop {
            // What changes from here on is looked at once more.
            let change = self.told().change();
            let news = self.told().news();
            let end = self.told().next_end();
            for interest in news {
                let sent = match interest {
                    Interest::List => peer.notify_resource_list_changed().await,
                    Interest::Resource(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = change => {}
                () = self.other.notified() => {}
                // What nobody may hear of any more is watched no longer.
                () = sleep_until(end.unwrap_or_else(Instant::now)), if end.is_some() => {}
            }
        }
    }
}

impl Told {
    fn extend(&mut self, following: Vec<Following>, until: Option<Instant>) {
        for following in following {
            let interest = following.interest().clone();
            let told = match self.0.remove(&interest) {
                // Who asks for the same once more hears what is not told yet.
                Some(before) if before.following.is_beside(&following) => before.told,
                _ => following.standing(),
            };
            self.0.insert(interest, Followed { following, told, until });
        }
    }

    /// Forgets what was asked for with tokens that have ended.
    fn forget_ended(&mut self) {
        let now = Instant::now();
        self.0.retain(|_, followed| followed.until.is_none_or(|until| now < until));
    }

    /// When the first of the tokens ends that something was asked for with.
    fn next_end(&self) -> Option<Instant> {
        self.0.values().filter_map(|followed| followed.until).min()
    }

    /// What stands otherwise than it was told, which is told now.
    fn news(&mut self) -> Vec<Interest> {
        self.forget_ended();
        let mut news = Vec::new();
        for (interest, followed) in &mut self.0 {
            let now = followed.following.standing();
            if followed.told != now {
                followed.told = now;
                news.push(interest.clone());
            }
        }
        news
    }

    /// Comes when something has changed from now on.
    fn change(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut watchers: Vec<&Following> = Vec::new();
        for Followed { following, .. } in self.0.values() {
            if !watchers.iter().any(|watcher| watcher.is_beside(following)) {
                watchers.push(following);
            }
        }
        let changes: Vec<_> = watchers.into_iter().map(|watcher| Box::pin(watcher.change())).collect();
        async move {
            if changes.is_empty() {
                return std::future::pending().await;
            }
            select_all(changes).await;
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
pub(crate) fn interests(filter: &SubscriptionFilter) -> Vec<Interest> {
    let list = (filter.resources_list_changed == Some(true)).then_some(Interest::List);
    let resources = filter.resource_subscriptions.iter().flatten().cloned().map(Interest::Resource);
    list.into_iter().chain(resources).collect()
}

/// Tells a client that listens of changes, until it has gone. It begins with a notice of each resource: a change between the client's last
/// read and this moment would be missed otherwise.
pub(crate) async fn listen(router: &Arc<Router>, origin: &Origin, sink: &SubscriptionSink) {
    let interests = interests(sink.accepted());
    let mut told = Told::default();
    // The stream itself ends with its token.
    told.extend(router.follow(origin, interests.clone()).await, None);
    let mut news: Vec<Interest> =
        interests.into_iter().filter(|interest| *interest != Interest::List).collect();
    loop {
        for interest in news {
            let sent = match interest {
                Interest::List => sink.notify_resource_list_changed().await,
                Interest::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if sent.is_err() {
                return;
            }
        }
        // What changes between the two is seen by the second.
        let change = told.change();
        news = told.news();
        if news.is_empty() {
            change.await;
            news = told.news();
        }
    }
}
