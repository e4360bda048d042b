//! A document that is made anew of its record, as others have written to that: what was decided in its state before is decided again, and
//! what was under way there goes on. A hunk about which others have decided meanwhile stays as they left it, and the person is told.

use hashline_history::{Decided, Decision, HunkRef, Location};
use hashline_weave::HunkId;

use crate::document::deliver::Intent;
use crate::document::{Document, Millis};

impl Document {
    /// Takes the place of the state before, in which an editor has it open: with the text of that, with what was decided there, and with
    /// what was under way. `elsewhere`: another editor decides about its edits. Returns the hunks about which the person had decided
    /// what does not stand.
    pub(crate) fn take_place_of(&mut self, before: &mut Self, elsewhere: bool, now: Millis) -> Vec<HunkRef> {
        self.keep_told(before);
        // What was typed since it was opened is typing.
        self.follow_home(before, now);
        self.notices.append(&mut before.notices);
        self.dropped.append(&mut before.dropped);
        let happened = before.take_happened();
        let mut left = if elsewhere { happened.decided() } else { self.decide_again(&happened.decisions) };
        let stopped = if elsewhere { self.leave_all(before) } else { self.go_on(before) };
        for hunk in stopped {
            self.dropped.push(hunk.clone());
            if !left.contains(&hunk) {
                left.push(hunk);
            }
        }
        left
    }

    /// Nothing of what was under way goes on. Returns the hunks that the person had decided about.
    fn leave_all(&mut self, before: &Self) -> Vec<HunkRef> {
        let intents = before.flow.intents.iter().filter(|intent| intent.is_decision());
        let hunks = intents.flat_map(Intent::hunks);
        let later = before.flow.later.iter().filter(|later| later.is_decision()).map(|later| later.hunk);
        let mut left: Vec<HunkRef> = hunks.chain(later).filter_map(|id| before.name(id)).collect();
        left.extend(self.stop_asking());
        left
    }

    /// Goes on with what was under way, as far as nobody has decided otherwise. Returns the hunks of the person's decisions for which that
    /// is not so.
    fn go_on(&mut self, before: &Self) -> Vec<HunkRef> {
        let there = |id| self.as_before(id, before);
        let (flow, stopped) = before.flow.carried(there);
        let later =
            before.flow.later.iter().filter(|later| later.is_decision() && there(later.hunk).is_none());
        let mut left: Vec<HunkRef> = later.filter_map(|later| before.name(later.hunk)).collect();
        let mut wanted: Vec<Decided> = stopped.iter().flat_map(|intent| before.wanted_by(intent)).collect();
        self.flow = flow;
        let intents = std::mem::take(&mut self.flow.intents);
        let weave = self.weave();
        let shows = |intent: &Intent| {
            let (on, off) = (&intent.plan.on, &intent.plan.off);
            on.iter().all(|id| weave.in_buffer(*id)) && !off.iter().any(|id| weave.in_buffer(*id))
        };
        let (shown, waiting): (Vec<Intent>, Vec<Intent>) = intents.into_iter().partition(shows);
        self.flow.intents = waiting;
        wanted.extend(shown.iter().flat_map(|intent| self.wanted_by(intent)));
        let of_person = |hunk: &HunkRef| {
            wanted.iter().any(|wanted| wanted.hunk == *hunk && wanted.decision != Decision::Withdrawn)
        };
        left.extend(self.decide_again(&wanted).into_iter().filter(of_person));
        for intent in self.flow.intents.clone().iter().filter(|intent| !intent.is_recorded) {
            self.note_wanted(intent.token, &intent.plan, intent.decision, intent.reason.as_ref());
        }
        self.note_asking();
        self.news.deliver = true;
        left
    }

    /// Takes over what agents take back and what waits for its turn.
    pub(crate) fn keep_withdrawals(&mut self, other: &Self) {
        for later in other.flow.later.iter().filter(|later| !later.is_decision()) {
            let waits = |id: HunkId| self.flow.later.iter().any(|own| own.hunk == id);
            let there = later.carried(|id| self.as_before(id, other));
            self.flow.later.extend(there.filter(|later| !waits(later.hunk)));
        }
    }

    /// The decisions that an intent is for.
    fn wanted_by(&self, intent: &Intent) -> Vec<Decided> {
        let Some(decision) = intent.decision else { return Vec::new() };
        let hunks = intent.hunks().filter_map(|id| self.name(id));
        hunks.map(|hunk| Decided { hunk, decision, reason: intent.reason.clone() }).collect()
    }

    /// The hunk that is this one in the state before, if the same is decided about it.
    fn as_before(&self, id: HunkId, before: &Self) -> Option<HunkId> {
        let (edit, hunk) = before.owner_of(id)?;
        let own = self.edits.iter().find(|own| own.id == edit.id)?;
        let own = own.hunks.iter().find(|own| own.number == hunk.number)?;
        (own.decision == hunk.decision).then_some(own.id)
    }

    /// Decides again what was decided in another state of the document. What was decided in this one stays, and so does the text of an
    /// editor. Returns the hunks whose decision is another one.
    pub(crate) fn decide_again(&mut self, earlier: &[Decided]) -> Vec<HunkRef> {
        let mut left = Vec::new();
        for decided in earlier {
            let Some(at) = self.edits.iter().position(|edit| edit.id == decided.hunk.edit) else {
                // It is forgotten, so all of it was decided and saved.
                continue;
            };
            let again = match &self.edits[at].file {
                Some(_) if decided.hunk.number == 1 => self.decide_file_again(at, decided),
                _ => self.decide_line_again(at, decided),
            };
            if !again {
                left.push(decided.hunk.clone());
            }
        }
        left
    }

    fn decide_line_again(&mut self, at: usize, decided: &Decided) -> bool {
        let hunk = self.edits[at].hunks.iter().find(|hunk| hunk.number == decided.hunk.number);
        let Some((id, now)) = hunk.map(|hunk| (hunk.id, hunk.decision)) else { return false };
        if now == decided.decision {
            return true;
        }
        let on = match decided.decision {
            // To be asked again is never wrong.
            Decision::Undecided => self.weave().in_buffer(id),
            _ if now != Decision::Undecided => return false,
            Decision::Accepted => true,
            Decision::Rejected | Decision::Withdrawn => false,
        };
        if self.weave().in_buffer(id) != on {
            let switch = [id];
            let (into, out) = if on { (&switch[..], &[][..]) } else { (&[][..], &switch[..]) };
            if self.is_open() || self.weave().switch(into, out).is_err() {
                return false;
            }
            // The file tells whether it had been saved (rule W16).
            self.note_location(id, if on { Location::Buffer } else { Location::None });
        }
        self.set_decision(id, decided.decision, decided.reason.clone());
        true
    }
}
