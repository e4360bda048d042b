//! Bringing what is wanted into the editor's text (rules W9, W12, W21): a delivery is a request, and only the text tells what became of it.
//!
//! All that is wanted goes to the editor together, as one list of edits for one exact version, and one such *delivery* is under way at a
//! time: nothing else is sent before it was answered, as an editor that is busy may carry out each. Whatever the editor answers, only its
//! text tells whether it was done. What was not done is sent again for the text as it is then: soon where the text had moved on, and else after pauses
//! that double, with the person told that it waits.

use hashline_history::HunkRef;
use hashline_text::{DocVersion, Text};
use hashline_weave::{HunkId, Plan, TextEdit};

use crate::document::{Document, Home, Millis};

/// How long after the editor's word that a delivery was done the text may take to show it, in milliseconds.
const SHOWN_WITHIN: u64 = 2000;
/// The pause before a delivery is sent again that met another text, in milliseconds; it doubles from the first to the last.
const MOVED_ON: (u64, u64) = (20, 1000);
/// The same of a delivery that the editor did not take though the text was as it was.
const NOT_TAKEN: (u64, u64) = (1000, 60_000);
/// After how many such deliveries the person is told that it waits.
const STUCK: u32 = 3;

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
    pub agent: String,
    /// Whether it comes into the text.
    pub on: bool,
    /// The person has decided so; else it comes in because its edit was to go in at once.
    pub decided: bool,
}

/// A delivery that is under way.
#[derive(Clone, Debug)]
struct Flight {
    number: u64,
    /// All that it does.
    plan: Plan,
    /// The version of the text that it was made for.
    version: DocVersion,
    /// The version of the text at whose next change it, or the rest of it, may come.
    reaches: DocVersion,
    /// When the editor said that it was done.
    done: Option<Millis>,
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
    flight: Option<Flight>,
    /// What deliveries were to do that did not arrive: a client that says nothing of its changes may still do it.
    ghosts: Vec<Ghost>,
    next: u64,
    not_before: Millis,
    /// How many deliveries met another text than they were made for, since one arrived or something else was wanted.
    moved_on: u32,
    /// How many were not taken though the text was as it was.
    not_taken: u32,
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

    /// What this delivery does, if it is the one under way.
    pub(crate) fn plan_of(&self, number: u64) -> Option<&Plan> {
        self.flight.as_ref().filter(|flight| flight.number == number).map(|flight| &flight.plan)
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
        self.flight = None;
        self.begin_anew();
    }

    /// The same in another state of the document, if all hunks of the delivery under way are there.
    pub(crate) fn carried(&self, there: impl Fn(HunkId) -> Option<HunkId>) -> Self {
        let all = |hunks: &[HunkId]| hunks.iter().map(|id| there(*id)).collect::<Option<Vec<HunkId>>>();
        let flight = self.flight.as_ref().and_then(|flight| {
            // What it does to lines of the person's is known of the other state alone.
            let plan = Plan::switch(&all(&flight.plan.on)?, &all(&flight.plan.off)?);
            Some(Flight { plan, ..flight.clone() })
        });
        let ghost = |ghost: &Ghost| Some(Ghost { hunk: there(ghost.hunk)?, ..*ghost });
        let ghosts = self.ghosts.iter().filter_map(ghost).collect();
        Self { flight, ghosts, ..self.clone() }
    }

    /// The delivery under way has not arrived, though the editor has not said that it does not carry it out: it may yet.
    fn is_missing(&mut self, now: Millis, version: Option<DocVersion>) {
        let Some(flight) = &self.flight else { return };
        let Plan { on, off, .. } = &flight.plan;
        self.ghosts.retain(|ghost| !on.contains(&ghost.hunk) && !off.contains(&ghost.hunk));
        let ghost = |on| move |hunk: &HunkId| Ghost { hunk: *hunk, on, reaches: flight.reaches };
        self.ghosts.extend(on.iter().map(ghost(true)).chain(off.iter().map(ghost(false))));
        self.fails(now, version);
    }

    /// The delivery under way has not arrived, and will not.
    fn fails(&mut self, now: Millis, version: Option<DocVersion>) {
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

impl Document {
    /// What the delivery under way makes of the present text.
    pub(crate) fn text_delivered(&self) -> Option<Text> {
        let (plan, weave) = (self.flow.plan()?, self.weave.as_ref()?);
        let mut trial = weave.clone();
        trial.carry_out(plan).ok()?;
        Some(trial.buffer().clone())
    }

    /// The number of the delivery under way, if the editor says that it has carried it out.
    pub(crate) fn number_done(&self) -> Option<u64> {
        self.flow.flight.as_ref().filter(|flight| flight.done.is_some()).map(|flight| flight.number)
    }

    /// Whether what is wanted of a hunk was sent several times and not taken: it waits for the person to try again, or to leave it.
    #[must_use]
    pub fn is_stuck(&self, id: HunkId) -> bool {
        self.flow.not_taken >= STUCK && self.wanted.get(id).is_some()
    }

    /// Looks which wishes the text fulfils now. `changed`: the editor has just told of a text.
    pub(crate) fn landed(&mut self, now: Millis, changed: bool) {
        let Some(weave) = &self.weave else { return };
        self.flow.ghosts.retain(|ghost| weave.in_buffer(ghost.hunk) != ghost.on);
        if let Some(flight) = &self.flow.flight {
            let there = flight.plan.on.iter().all(|id| weave.in_buffer(*id))
                && !flight.plan.off.iter().any(|id| weave.in_buffer(*id));
            if there {
                self.flow.flight = None;
                self.flow.begin_anew();
            } else if changed && flight.done.is_some() {
                // The editor says that it was done, and its next text is without it: it was not.
                let version = self.version();
                self.flow.is_missing(now, version);
            }
        }
        self.settle_wishes();
        self.news.deliver |= !self.wanted.is_empty();
    }

    /// What to send to the editor now, if anything.
    pub fn poll(&mut self, now: Millis) -> Option<Delivery> {
        let Home::Editor { version, encoding, .. } = self.home else { return None };
        let late = |done: Millis| now.since(done) >= SHOWN_WITHIN;
        if self.flow.flight.as_ref().is_some_and(|flight| flight.done.is_some_and(late)) {
            let was_stuck = self.flow.not_taken >= STUCK;
            self.flow.is_missing(now, Some(version));
            self.tell_stuck(was_stuck);
        }
        // What is sent while the editor renames or removes the file would meet it under no name.
        let waits = self.flow.is_flying() || now < self.flow.not_before || self.is_asking();
        if waits || self.wanted.is_empty() || self.out_of_step.is_some() {
            return None;
        }
        let plan = self.next_plan()?;
        let weave = self.weave();
        let changes = weave.preview(&plan).unwrap_or_default();
        let edits = weave.text_edits(&changes, encoding);
        if edits.is_empty() {
            // The text shows it as it is: all lines of the hunks are gone anyway.
            self.carry_out(&plan, now);
            return None;
        }
        let switches = self.delivered(&plan);
        let number = self.flow.number();
        self.flow.flight = Some(Flight { number, plan, version, reaches: version, done: None });
        Some(Delivery { number, version, edits, switches })
    }

    /// What a plan switches.
    fn delivered(&self, plan: &Plan) -> Vec<Delivered> {
        let on = plan.on.iter().map(|id| (*id, true));
        let named = |(id, on): (HunkId, bool)| {
            let (edit, hunk) = self.owner_of(id)?;
            let decided = self.wanted.get(id).is_some_and(|wish| wish.act.decision.is_some());
            Some(Delivered { hunk: edit.name_of(hunk), agent: edit.agent.clone(), on, decided })
        };
        on.chain(plan.off.iter().map(|id| (*id, false))).filter_map(named).collect()
    }

    /// Forgets that there may be something to deliver: whoever delivers has just looked.
    pub(crate) fn quiet_delivery(&mut self) {
        self.news.deliver = false;
    }

    /// When [`poll`](Self::poll) should be asked again, if nothing happens before.
    #[must_use]
    pub fn next_poll(&self) -> Option<Millis> {
        if self.out_of_step.is_some() || self.is_asking() {
            return None;
        }
        match &self.flow.flight {
            // Until it is answered there is nothing to ask.
            Some(flight) => flight.done.map(|done| done.after(SHOWN_WITHIN)),
            None => {
                let sends = self.wanted.iter().any(|(_, wish)| wish.is_recorded);
                sends.then_some(self.flow.not_before)
            }
        }
    }

    /// Takes over the editor's answer to a delivery.
    pub fn answered(&mut self, number: u64, applied: bool, now: Millis) {
        if self.flow.plan_of(number).is_none() {
            return;
        }
        if applied {
            if let Some(flight) = &mut self.flow.flight {
                flight.done = Some(now);
            }
            self.was_done_unsaid(number, now);
        } else {
            let was_stuck = self.flow.not_taken >= STUCK;
            let version = self.version();
            self.flow.fails(now, version);
            self.guesses.was_refused();
            self.tell_stuck(was_stuck);
            self.settle_wishes();
        }
        self.news.deliver = true;
    }

    fn tell_stuck(&mut self, was_stuck: bool) {
        if was_stuck || self.flow.not_taken < STUCK {
            return;
        }
        self.notices.push(format!(
            "The editor does not take over an edit in {}, though it was sent {STUCK} times. It is tried again from time to time, and shown to you again: \
             decide the same to try at once, or otherwise to leave it.",
            self.uri
        ));
        self.news.review = true;
    }

    /// Makes a change of the text that needs no editor, and brings the decisions after it.
    pub(crate) fn carry_out(&mut self, plan: &Plan, now: Millis) -> bool {
        if self.weave().carry_out(plan).is_err() {
            return false;
        }
        self.snapshots.text_changed();
        plan.on.iter().for_each(|id| self.note_switch(*id, true));
        plan.off.iter().for_each(|id| self.note_switch(*id, false));
        self.news.review = true;
        self.landed(now, false);
        true
    }
}
