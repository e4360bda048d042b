//! Bringing what is wanted into the editor's text (rules W9, W12, W21): a delivery is a request, and only the text tells what became of it.
//!
//! All that is wanted goes to the editor together, as one list of edits for one exact version, and one such *delivery* is under way at a
//! time: nothing else is sent before it was answered, as an editor that is busy may carry out each. Whatever the editor answers, only its
//! text tells whether it was done. What was not done is sent again for the text as it is then: soon where the text had moved on, and else after pauses
//! that double, with the person told that it waits.

use hashline_text::Text;
use hashline_weave::{HunkId, Plan};

use crate::document::deliveries::guess_state::without_returns;
use crate::document::deliveries::retry_schedule::{Delivered, Delivery, Flight, SHOWN_WITHIN, STUCK};
use crate::document::{Document, Home, Millis};

impl Document {
    /// What the delivery under way makes of the present text.
    pub(crate) fn text_delivered(&self) -> Option<Text> {
        self.text_of(self.flow.plan()?)
    }

    /// What a plan makes of the present text.
    pub(super) fn text_of(&self, plan: &Plan) -> Option<Text> {
        let weave = self.text.woven()?;
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
        let Some(weave) = self.text.woven() else { return };
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
        if !self.wanted.is_empty() {
            self.news.deliver();
        }
    }

    /// What to send to the editor now, if anything.
    pub fn poll(&mut self, now: Millis) -> Option<Delivery> {
        let Home::Editor { version, encoding, .. } = *self.home() else { return None };
        let late = |done: Millis| now.since(done) >= SHOWN_WITHIN;
        if self.flow.flight.as_ref().is_some_and(|flight| flight.done.is_some_and(late)) {
            let was_stuck = self.flow.not_taken >= STUCK;
            self.flow.is_missing(now, Some(version));
            self.tell_stuck(was_stuck);
        }
        // What is sent while the editor renames or removes the file would meet it under no name.
        let waits = self.flow.is_flying() || now < self.flow.not_before || self.is_asking();
        if waits || self.wanted.is_empty() || self.out_of_step().is_some() {
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
        let parts = edits.iter().map(|edit| without_returns(&edit.new)).collect();
        self.flow.flight = Some(Flight { number, plan, version, reaches: version, parts, done: None });
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
        self.news.quiet_delivery();
    }

    /// When [`poll`](Self::poll) should be asked again, if nothing happens before.
    #[must_use]
    pub fn next_poll(&self) -> Option<Millis> {
        if self.out_of_step().is_some() || self.is_asking() {
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
        if !self.flow.is_under_way(number) {
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
            self.guesses.was_refused(number);
            self.tell_stuck(was_stuck);
            self.settle_wishes();
        }
        self.news.deliver();
    }

    fn tell_stuck(&mut self, was_stuck: bool) {
        if was_stuck || self.flow.not_taken < STUCK {
            return;
        }
        self.news.tell(format!(
            "The editor did not apply an edit in {}, though it was sent {STUCK} times. hashline tries again from time to time, and shows the edit to \
             you again. Repeat your decision to try at once, or change it to stop.",
            self.uri()
        ));
        self.news.review();
    }

    /// Makes a change of the text that needs no editor, and brings the decisions after it.
    pub(crate) fn carry_out(&mut self, plan: &Plan, now: Millis) -> bool {
        if self.weave().carry_out(plan).is_err() {
            return false;
        }
        self.text_changed();
        plan.on.iter().for_each(|id| self.note_switch(*id, true));
        plan.off.iter().for_each(|id| self.note_switch(*id, false));
        self.news.review();
        self.landed(now, false);
        true
    }
}
