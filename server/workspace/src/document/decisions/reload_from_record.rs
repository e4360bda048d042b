//! A document that is made anew of its record, as others have written to that: what was decided in its state before is decided again, and
//! what was under way there goes on. A hunk about which others have decided meanwhile stays as they left it, and the person is told.

use std::sync::Arc;

use hashline_history::{Decided, Decision, HunkRef, Location};
use hashline_weave::HunkId;

use crate::document::decisions::wishes::{Act, Way, Wish};
use crate::document::{Document, Millis};

impl Document {
    /// Takes the place of the state before, in which an editor has it open: with the text of that, with what was decided there, and with
    /// what was under way. `elsewhere`: another editor decides about its edits. Returns the hunks about which the person had decided
    /// what does not stand.
    pub(crate) fn take_place_of(&mut self, before: &mut Self, elsewhere: bool, now: Millis) -> Vec<HunkRef> {
        self.keep_told(before);
        self.moves_home(before, now);
        self.typed_since(before.text());
        self.news.tell_for(&mut before.news);
        self.outbox.drop_with(&mut before.outbox);
        let happened = before.unrecorded_decisions();
        let mut left = if elsewhere {
            happened.into_iter().map(|decided| decided.hunk).collect()
        } else {
            self.decide_again(&happened)
        };
        let stopped = if elsewhere { self.leave_all(before) } else { self.go_on(before) };
        for hunk in stopped {
            self.outbox.drop_hunk(hunk.clone());
            if !left.contains(&hunk) {
                left.push(hunk);
            }
        }
        left
    }

    /// Nothing of what was under way goes on. Returns the hunks that the person had decided about.
    fn leave_all(&mut self, before: &Self) -> Vec<HunkRef> {
        let mut left = before.waiting_decisions();
        left.extend(self.stop_asking());
        left
    }

    /// Still wants what was wanted, as far as nobody has decided otherwise. Returns the hunks of the person's decisions for which that is not
    /// so.
    fn go_on(&mut self, before: &Self) -> Vec<HunkRef> {
        self.flow = before.flow.carried(|id| self.as_before(id, before));
        let mut left = Vec::new();
        let mut unrecorded: Vec<(Arc<Act>, bool, Vec<HunkId>)> = Vec::new();
        for (id, wish) in before.wanted.iter() {
            let carried = self.as_before(id, before).zip(self.carried_act(&wish.act, before));
            let Some((there, act)) = carried else {
                left.extend(before.name(id).filter(|_| wish.act.is_decision()));
                continue;
            };
            if wish.is_recorded {
                self.wanted.set(there, Wish { act, ..wish.clone() });
                continue;
            }
            match unrecorded.iter_mut().find(|(known, on, _)| known.token == act.token && *on == wish.on) {
                Some((.., hunks)) => hunks.push(there),
                None => unrecorded.push((act, wish.on, vec![there])),
            }
        }
        for (act, on, hunks) in unrecorded {
            let Act { way, decision, reason, .. } = Act::clone(&act);
            self.want(&hunks, on, way, decision, reason);
        }
        self.settle_wishes();
        self.note_asking();
        self.news.deliver();
        left
    }

    /// Takes over what agents take back.
    pub(crate) fn keep_withdrawals(&mut self, other: &Self) {
        let withdrawn = |wish: &Wish| wish.act.decision == Some(Decision::Withdrawn);
        let wishes: Vec<(HunkId, Wish)> = other
            .wanted
            .iter()
            .filter(|(_, wish)| withdrawn(wish))
            .map(|(id, wish)| (id, wish.clone()))
            .collect();
        for (id, wish) in wishes {
            if let Some(there) = self.as_before(id, other).filter(|there| self.wanted.get(*there).is_none()) {
                self.wanted.set(there, wish);
            }
        }
    }

    /// What a decision wants, of the hunks of this state.
    fn carried_act(&self, act: &Arc<Act>, before: &Self) -> Option<Arc<Act>> {
        let there = |id: &HunkId| self.as_before(*id, before);
        let way = match &act.way {
            Way::AsProposed | Way::Out(_) => return Some(act.clone()),
            Way::InSpite(id, how) => Way::InSpite(there(id)?, *how),
            Way::Rewritten(group, own) => {
                Way::Rewritten(group.iter().map(there).collect::<Option<Vec<HunkId>>>()?, own.clone())
            }
        };
        Some(Arc::new(Act { way, ..Act::clone(act) }))
    }

    /// The hunk that is this one in the state before, if the same is decided about it.
    fn as_before(&self, id: HunkId, before: &Self) -> Option<HunkId> {
        let (edit, hunk) = before.owner_of(id)?;
        let own = self.edits().iter().find(|own| own.id == edit.id)?;
        let own = own.hunks.iter().find(|own| own.number == hunk.number)?;
        (own.decision == hunk.decision).then_some(own.id)
    }

    /// Decides again what was decided in another state of the document. What was decided in this one stays, and so does the text of an
    /// editor. Returns the hunks whose decision is another one.
    pub(crate) fn decide_again(&mut self, earlier: &[Decided]) -> Vec<HunkRef> {
        let mut left = Vec::new();
        for decided in earlier {
            let Some(at) = self.edits().iter().position(|edit| edit.id == decided.hunk.edit) else {
                // It is forgotten, so all of it was decided and saved.
                continue;
            };
            let again = match &self.edits()[at].file {
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
        let hunk = self.edits()[at].hunks.iter().find(|hunk| hunk.number == decided.hunk.number);
        let Some((id, now)) = hunk.map(|hunk| (hunk.id, hunk.decision)) else { return false };
        if now == decided.decision {
            if decided.reason.is_some() {
                self.set_decision(id, now, decided.reason.clone());
            }
            return true;
        }
        let on = match decided.decision {
            // A comment, and others have decided.
            Decision::Undecided if decided.reason.is_some() => return false,
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
