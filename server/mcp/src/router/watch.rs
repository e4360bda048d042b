//! What is subscribed to, watched in every place that has it or may come to have it.
//!
//! Each place is asked to answer when something stands otherwise than it did ([`state`](crate::resources::state)). An answer, an
//! editor that comes and one that goes are only signs that it is time to look: what has changed is what stands otherwise in any place, and
//! a place that answers no more, or for the first time, is a change as well.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use hashline_link::SidecarId;

use crate::resources::{Request, State, Topic, Watched};
use crate::router::all_sidecars::Target;
use crate::router::resources::file;
use crate::router::{Origin, Router};

/// How often it is looked for editors that have come or gone.
const GLANCE: Duration = Duration::from_secs(1);
/// How long one question may wait for its answer.
const WAIT: Duration = Duration::from_secs(25);

/// What somebody wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Interest {
    /// The list of resources.
    List,
    /// A resource, by its URI as the client spells it.
    Resource(String),
}

/// A place that can be asked: this process, or a sidecar.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Own,
    Sidecar(SidecarId),
}

/// How something stands in each place that has to do with it.
pub(crate) type Standing = BTreeMap<Place, State>;

/// What a place is asked about.
struct Question {
    target: Target,
    about: Vec<(Interest, Topic)>,
}

impl Router {
    /// How some interests stand now.
    pub(crate) async fn standings(
        &self,
        origin: &Origin,
        interests: impl IntoIterator<Item = &Interest>,
    ) -> BTreeMap<Interest, Standing> {
        let interests: Vec<&Interest> = interests.into_iter().collect();
        let mut standings: BTreeMap<Interest, Standing> =
            interests.iter().map(|interest| ((*interest).clone(), Standing::new())).collect();
        let places = self.places(&interests);
        let looks = places.iter().map(|(place, question)| async move {
            (place, question, self.states(origin, question, |_| None, Duration::ZERO).await)
        });
        for (place, question, states) in join_all(looks).await {
            for ((interest, _), state) in question.about.iter().zip(states.into_iter().flatten()) {
                standings.entry(interest.clone()).or_default().insert(place.clone(), state);
            }
        }
        standings
    }

    /// Waits until some of the interests stand otherwise; answers how those stand.
    pub(crate) async fn next_change(
        &self,
        origin: &Origin,
        told: &BTreeMap<Interest, Standing>,
    ) -> BTreeMap<Interest, Standing> {
        loop {
            let mut now = self.standings(origin, told.keys()).await;
            now.retain(|interest, standing| told.get(interest) != Some(standing));
            if !now.is_empty() {
                return now;
            }
            self.until_a_sign(origin, told).await;
        }
    }

    /// Waits until it is time to look: something may have changed.
    async fn until_a_sign(&self, origin: &Origin, told: &BTreeMap<Interest, Standing>) {
        let before = self.sidecars.known();
        let places = self.places(&told.keys().collect::<Vec<_>>());
        let known = |place: &Place, interest: &Interest| told.get(interest)?.get(place).cloned();
        // A place that did not answer is asked again when there is time for a look.
        let (answering, silent): (Vec<_>, Vec<_>) = places.iter().partition(|(place, question)| {
            question.about.iter().all(|(interest, _)| known(place, interest).is_some())
        });
        let mut questions: FuturesUnordered<_> = answering
            .into_iter()
            .map(|(place, question)| self.states(origin, question, |interest| known(place, interest), WAIT))
            .collect();
        loop {
            tokio::select! {
                Some(_) = questions.next() => return,
                () = tokio::time::sleep(GLANCE) => {
                    if !silent.is_empty() || !Arc::ptr_eq(&self.sidecars.known(), &before) {
                        return;
                    }
                }
            }
        }
    }

    /// The places that have to do with some interests, and with which of them.
    fn places(&self, interests: &[&Interest]) -> BTreeMap<Place, Question> {
        let mut places: BTreeMap<Place, Question> = BTreeMap::new();
        for interest in interests {
            let Some(topic) = self.topic(interest) else { continue };
            for target in self.targets_of(&topic) {
                let place = match &target {
                    Target::Own => Place::Own,
                    Target::Sidecar(sidecar) => Place::Sidecar(sidecar.id.clone()),
                };
                let question = places.entry(place).or_insert_with(|| Question { target, about: Vec::new() });
                question.about.push(((*interest).clone(), topic.clone()));
            }
        }
        places
    }

    /// What is watched for an interest; nothing while it is not served.
    fn topic(&self, interest: &Interest) -> Option<Topic> {
        match interest {
            Interest::List => Some(Topic::Open),
            Interest::Resource(uri) => self.locate(uri).ok()?.topic(),
        }
    }

    fn targets_of(&self, topic: &Topic) -> Vec<Target> {
        let own = |target: &Target| matches!(target, Target::Own);
        let path = match topic {
            Topic::Open => return self.targets().into_iter().filter(|target| !own(target)).collect(),
            Topic::Review(None) => return self.targets(),
            Topic::Document(path) | Topic::Review(Some(path)) => file(path),
        };
        let Some(path) = path else { return self.targets() };
        // Any editor may open it; no file is looked at by this process that one of them looks at.
        let known = self.sidecars.known();
        let served = known.roots.iter().flatten().any(|root| path.starts_with(root));
        let sidecars = known.list.iter().map(|sidecar| Target::Sidecar(Box::new(sidecar.clone())));
        sidecars.chain((!served).then_some(Target::Own)).collect()
    }

    /// What a place says of how things stand, if it answers.
    async fn states(
        &self,
        origin: &Origin,
        question: &Question,
        known: impl Fn(&Interest) -> Option<State>,
        wait: Duration,
    ) -> Option<Vec<State>> {
        let watched =
            |(interest, topic): &(Interest, Topic)| Watched { topic: topic.clone(), state: known(interest) };
        let watched = question.about.iter().map(watched).collect();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let request = Request::States { watched, wait_ms };
        let reply =
            self.ask_place(&question.target, origin, request).await.ok().filter(|reply| !reply.failed)?;
        serde_json::from_str(&reply.text).ok()
    }
}
