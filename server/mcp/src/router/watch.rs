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
use crate::router::everywhere::Target;
use crate::router::resources::file;
use crate::router::{Origin, Router};

/// How often it is looked for editors that have come or gone.
const GLANCE: Duration = Duration::from_secs(1);
/// How long one question may wait for its answer.
const WAIT: Duration = Duration::from_secs(25);

/// What somebody wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
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
struct Asked {
    target: Target,
    about: Vec<(Subject, Topic)>,
}

impl Router {
    /// How some subjects stand now.
    pub(crate) async fn standings(
        &self,
        origin: &Origin,
        subjects: impl IntoIterator<Item = &Subject>,
    ) -> BTreeMap<Subject, Standing> {
        let subjects: Vec<&Subject> = subjects.into_iter().collect();
        let mut standings: BTreeMap<Subject, Standing> =
            subjects.iter().map(|subject| ((*subject).clone(), Standing::new())).collect();
        let places = self.places(&subjects);
        let looks = places.iter().map(|(place, asked)| async move {
            (place, asked, self.states(origin, asked, |_| None, Duration::ZERO).await)
        });
        for (place, asked, states) in join_all(looks).await {
            for ((subject, _), state) in asked.about.iter().zip(states.into_iter().flatten()) {
                standings.entry(subject.clone()).or_default().insert(place.clone(), state);
            }
        }
        standings
    }

    /// Waits until some of the subjects stand otherwise; answers how those stand.
    pub(crate) async fn next_change(
        &self,
        origin: &Origin,
        told: &BTreeMap<Subject, Standing>,
    ) -> BTreeMap<Subject, Standing> {
        loop {
            let mut now = self.standings(origin, told.keys()).await;
            now.retain(|subject, standing| told.get(subject) != Some(standing));
            if !now.is_empty() {
                return now;
            }
            self.until_a_sign(origin, told).await;
        }
    }

    /// Waits until it is time to look: something may have changed.
    async fn until_a_sign(&self, origin: &Origin, told: &BTreeMap<Subject, Standing>) {
        let before = self.sidecars.known();
        let places = self.places(&told.keys().collect::<Vec<_>>());
        let known = |place: &Place, subject: &Subject| told.get(subject)?.get(place).cloned();
        // A place that did not answer is asked again when there is time for a look.
        let (answering, silent): (Vec<_>, Vec<_>) = places.iter().partition(|(place, asked)| {
            asked.about.iter().all(|(subject, _)| known(place, subject).is_some())
        });
        let mut questions: FuturesUnordered<_> = answering
            .into_iter()
            .map(|(place, asked)| self.states(origin, asked, |subject| known(place, subject), WAIT))
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

    /// The places that have to do with some subjects, and with which of them.
    fn places(&self, subjects: &[&Subject]) -> BTreeMap<Place, Asked> {
        let mut places: BTreeMap<Place, Asked> = BTreeMap::new();
        for subject in subjects {
            let Some(topic) = self.topic(subject) else { continue };
            for target in self.targets_of(&topic) {
                let place = match &target {
                    Target::Own => Place::Own,
                    Target::Sidecar(sidecar) => Place::Sidecar(sidecar.id.clone()),
                };
                let asked = places.entry(place).or_insert_with(|| Asked { target, about: Vec::new() });
                asked.about.push(((*subject).clone(), topic.clone()));
            }
        }
        places
    }

    /// What is watched for a subject; nothing while it is not served.
    fn topic(&self, subject: &Subject) -> Option<Topic> {
        match subject {
            Subject::List => Some(Topic::Open),
            Subject::Resource(uri) => self.locate(uri).ok()?.topic(),
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
        asked: &Asked,
        known: impl Fn(&Subject) -> Option<State>,
        wait: Duration,
    ) -> Option<Vec<State>> {
        let watched =
            |(subject, topic): &(Subject, Topic)| Watched { topic: topic.clone(), state: known(subject) };
        let watched = asked.about.iter().map(watched).collect();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let request = Request::States { watched, wait_ms };
        let reply =
            self.ask_place(&asked.target, origin, request).await.ok().filter(|reply| !reply.failed)?;
        serde_json::from_str(&reply.text).ok()
    }
}
