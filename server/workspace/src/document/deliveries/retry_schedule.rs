//! What is on its way to the editor, and when to try again what did not arrive.

use hashline_history::{AgentName, HunkRef};
use hashline_text::DocVersion;
use hashline_weave::{HunkId, Plan, TextEdit};

use crate::document::moment::Millis;

/// How long after the editor's word that a delivery was done the text may take to show it, in milliseconds.
pub(super) const SHOWN_WITHIN: u64 = 2000;
/// The pause before a delivery is sent again that met another text, in milliseconds; it doubles from the first to the last.
const MOVED_ON: (u64, u64) = (20, 1000);
/// The same of a delivery that the editor did not take though the text was as it was.
const NOT_TAKEN: (u64, u64) = (1000, 60_000);
/// After how many such deliveries the person is told that it waits.
pub(super) const STUCK: u32 = 3;

/// Edits for the editor to carry out, all for one version of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which one it is, for the answer.
    pub number: u64,
    /// The version of the text that the spans belong to.
    pub version: DocVersion,
    /// In text order and apart from each other.
    pub edits: Vec<TextEdit>,
    /// What it is for.
    pub switches: Vec<Delivered>,
}

/// A hunk that a delivery brings into the text, or takes out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The hunk.
    pub hunk: HunkRef,
    /// Who made it.
    pub agent: AgentName,
    /// Whether it comes into the text.
    pub on: bool,
    /// The person has decided so; else it comes in because its edit was to go in at once.
    pub decided: bool,
}

/// A delivery that is under way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) number: u64,
    /// All that it does.
    pub(super) plan: Plan,
    /// The version of the text that it was made for.
    pub(super) version: DocVersion,
    /// The version of the text at whose next change it, or the rest of it, may come.
    pub(super) reaches: DocVersion,
    /// What its edits put in, place by place, without a look at endings.
    pub(super) parts: Vec<String>,
    /// When the editor said that it was done.
    pub(super) done: Option<Millis>,
}

/// What a delivery that did not arrive was to do with a hunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ghost {
    pub hunk: HunkId,
    /// Into the text, or out of it.
    pub on: bool,
    /// The version of the text at whose next change it may come.
    pub reaches: DocVersion,
}

/// What is on its way, and when to try what did not arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(super) flight: Option<Flight>,
    /// The delivery that was given up last, though the editor says that it was done: the change of a plugin may still come.
    pub(super) given_up: Option<Flight>,
    /// What deliveries were to do that did not arrive: a client that says nothing of its changes may still do it.
    pub(super) ghosts: Vec<Ghost>,
    pub(super) next: u64,
    pub(super) not_before: Millis,
    /// How many deliveries met another text than they were made for, since one arrived or something else was wanted.
    pub(super) moved_on: u32,
    /// How many were not taken though the text was as it was.
    pub(super) not_taken: u32,
}

impl Flow {
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn is_flying(&self) -> bool {
        self.flight.is_some()
    }

    /// Whether the editor may be about to switch a hunk.
    pub(crate) fn is_sent(&self, id: HunkId) -> bool {
        self.flight
            .as_ref()
            .is_some_and(|flight| flight.plan.on.contains(&id) || flight.plan.off.contains(&id))
    }

    /// What the delivery under way does.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.flight.as_ref().map(|flight| &flight.plan)
    }

    /// The delivery under way.
    pub(super) fn flying(&self) -> Option<&Flight> {
        self.flight.as_ref()
    }

    /// Whether this delivery is the one under way.
    pub(super) fn is_under_way(&self, number: u64) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.number == number)
    }

    /// This delivery, if it is the one under way or was given up last: a plugin may tell of the change of either.
    pub(super) fn of_number(&self, number: u64) -> Option<&Flight> {
        self.given_up.iter().chain(&self.flight).find(|flight| flight.number == number)
    }

    /// Those of the two that the next change of the text of this version may be.
    pub(super) fn due(&self, version: DocVersion) -> impl Iterator<Item = &Flight> {
        self.given_up.iter().chain(&self.flight).filter(move |flight| flight.reaches == version)
    }

    /// What the delivery under way does, if the next change of the text of this version may be it.
    pub(crate) fn plan_for(&self, version: DocVersion) -> Option<(u64, &Plan)> {
        let flight = self.flight.as_ref().filter(|flight| flight.reaches == version)?;
        Some((flight.number, &flight.plan))
    }

    /// The text of one version became that of another by a part of the delivery under way, or of one that did not arrive: the rest may
    /// come with the next change.
    pub(crate) fn is_half_there(&mut self, before: DocVersion, version: DocVersion) {
        if let Some(flight) = &mut self.flight {
            flight.reaches = version;
        }
        let same = self.ghosts.iter_mut().filter(|ghost| ghost.reaches == before);
        same.for_each(|ghost| ghost.reaches = version);
    }

    pub(crate) fn ghosts(&self) -> &[Ghost] {
        &self.ghosts
    }

    /// Whether a delivery that did not arrive was to switch a hunk.
    pub(crate) fn was_sent(&self, id: HunkId) -> bool {
        self.ghosts.iter().any(|ghost| ghost.hunk == id)
    }

    /// Whether a delivery that did not arrive was to bring a hunk.
    pub(crate) fn is_ghost(&self, id: HunkId) -> bool {
        self.ghosts.iter().any(|ghost| ghost.on && ghost.hunk == id)
    }

    /// Something else is wanted: what was said of earlier deliveries says nothing of the next.
    pub(crate) fn begin_anew(&mut self) {
        (self.moved_on, self.not_taken) = (0, 0);
        self.not_before = Millis(0);
    }

    /// Sends again now what waits for its time.
    pub(crate) fn try_again(&mut self, now: Millis) {
        if self.not_taken >= STUCK {
            self.begin_anew();
        }
        self.not_before = self.not_before.min(now);
    }

    /// Forgets what is under way: the editor that it was for is gone.
    pub(crate) fn stop(&mut self) {
        self.ghosts.clear();
        (self.flight, self.given_up) = (None, None);
        self.begin_anew();
    }

    /// The same in another state of the document, if all hunks of the delivery under way are there.
    pub(crate) fn carried(&self, there: impl Fn(HunkId) -> Option<HunkId>) -> Self {
        let all = |hunks: &[HunkId]| hunks.iter().map(|id| there(*id)).collect::<Option<Vec<HunkId>>>();
        let carried = |flight: &Flight| {
            // What it does to lines of the person's is known of the other state alone.
            let plan = Plan::switch(&all(&flight.plan.on)?, &all(&flight.plan.off)?);
            Some(Flight { plan, ..flight.clone() })
        };
        let (flight, given_up) =
            (self.flight.as_ref().and_then(carried), self.given_up.as_ref().and_then(carried));
        let ghost = |ghost: &Ghost| Some(Ghost { hunk: there(ghost.hunk)?, ..*ghost });
        let ghosts = self.ghosts.iter().filter_map(ghost).collect();
        Self { flight, given_up, ghosts, ..self.clone() }
    }

    /// The delivery under way has not arrived, though the editor has not said that it does not carry it out: it may yet.
    pub(super) fn is_missing(&mut self, now: Millis, version: Option<DocVersion>) {
        let Some(flight) = &self.flight else { return };
        let Plan { on, off, .. } = &flight.plan;
        self.ghosts.retain(|ghost| !on.contains(&ghost.hunk) && !off.contains(&ghost.hunk));
        let ghost = |on| move |hunk: &HunkId| Ghost { hunk: *hunk, on, reaches: flight.reaches };
        self.ghosts.extend(on.iter().map(ghost(true)).chain(off.iter().map(ghost(false))));
        self.given_up = Some(flight.clone());
        self.fails(now, version);
    }

    /// The delivery under way has not arrived, and will not.
    pub(super) fn fails(&mut self, now: Millis, version: Option<DocVersion>) {
        let Some(flight) = self.flight.take() else { return };
        let (tries, (first, last)) = if version == Some(flight.version) {
            self.not_taken += 1;
            (self.not_taken, NOT_TAKEN)
        } else {
            self.moved_on += 1;
            (self.moved_on, MOVED_ON)
        };
        self.not_before = now.after((first << (tries - 1).min(10)).min(last));
    }
}
