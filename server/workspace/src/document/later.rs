//! Changes of mind while a delivery is under way.
//!
//! Whether a delivery that was sent will land is not known, so a decision about a hunk in it waits until that is clear. One that was
//! not sent yet is simply called off. What an agent takes back also waits while the editor renames or removes the file, and goes on under the
//! new name.

use hashline_history::Decision;
use hashline_weave::HunkId;

use crate::document::deliver::Intent;
use crate::document::request::{Choice, Ruling};
use crate::document::undecided::{Undecided, Why};
use crate::document::{Document, Millis};

/// A decision that waits for the end of a delivery.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    pub hunk: HunkId,
    wish: Wish,
}

/// What is decided then.
#[derive(Clone, Debug)]
enum Wish {
    /// A decision of the person.
    Decide(Box<Ruling>),
    /// The agent takes it back.
    Withdraw,
}

impl Wish {
    fn puts_in(&self) -> Option<bool> {
        match self {
            Wish::Decide(ruling) => ruling.request.choice.puts_in(),
            Wish::Withdraw => Some(false),
        }
    }
}

impl Later {
    /// Whether the person has decided it.
    pub(crate) fn is_decision(&self) -> bool {
        matches!(self.wish, Wish::Decide(_))
    }

    /// The same in another state of the document, if its hunk is there.
    pub(crate) fn carried(&self, there: impl Fn(HunkId) -> Option<HunkId>) -> Option<Self> {
        let wish = match &self.wish {
            Wish::Withdraw => Wish::Withdraw,
            Wish::Decide(ruling) => {
                let together = ruling.together.iter().filter_map(|id| there(*id)).collect();
                Wish::Decide(Box::new(Ruling { together, ..Ruling::clone(ruling) }))
            }
        };
        Some(Self { hunk: there(self.hunk)?, wish })
    }
}

/// What is under way with a hunk.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Into the text, or out of it.
    on: bool,
    /// The editor may be at it.
    sent: bool,
    /// What the decision is once it is done.
    decision: Option<Decision>,
}

impl Choice {
    /// Whether the hunk is to be in the text, if the choice says so.
    pub(crate) fn puts_in(self) -> Option<bool> {
        match self {
            Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth => Some(true),
            Choice::Reject | Choice::KeepMine => Some(false),
            Choice::Reopen => None,
        }
    }

    /// Whether the person has decided the other way round.
    pub(crate) fn is_against(self, decision: Decision) -> bool {
        match self.puts_in() {
            Some(true) => decision == Decision::Rejected,
            Some(false) => decision == Decision::Accepted,
            None => false,
        }
    }

    fn decision(self) -> Decision {
        match self.puts_in() {
            Some(true) => Decision::Accepted,
            Some(false) => Decision::Rejected,
            None => Decision::Undecided,
        }
    }
}

impl Document {
    /// Decides about a hunk now, or as soon as it is clear what becomes of the delivery that holds it. Returns it, and those that are
    /// decided with it now.
    pub(crate) fn decide_or_wait(
        &mut self,
        id: HunkId,
        ruling: &Ruling,
        now: Millis,
    ) -> Result<Vec<HunkId>, Undecided> {
        let request = &ruling.request;
        if let (Some(own), Choice::Accept) = (&request.own, request.choice) {
            return self.revise(id, own, ruling);
        }
        let Some(way) = self.way_of(id) else { return self.decide_one(id, ruling) };
        let same = request.choice.puts_in() == Some(way.on);
        let reopens = request.choice == Choice::Reopen;
        if (same || reopens) && way.decision.unwrap_or_default() == request.choice.decision() {
            // Asked for already, by itself or with another hunk of this decision.
            self.flow.later.retain(|later| later.hunk != id);
            return Ok(vec![id]);
        }
        // Deciding again is about the decision, not about the text: it has time until the text is as it was to be.
        if !same && !way.sent && !reopens {
            let before = self.flow.clone();
            self.flow.later.retain(|later| later.hunk != id);
            self.call_off(id);
            self.landed(now);
            // What cannot be decided so leaves everything as it was.
            return self.decide_one(id, ruling).inspect_err(|_| self.flow = before);
        }
        self.wait(id, Wish::Decide(Box::new(ruling.clone())));
        Ok(vec![id])
    }

    /// Calls off what waits to be sent of a hunk, for a decision that cannot wait; refuses it where the editor may be at it.
    pub(crate) fn stop_or_refuse(&mut self, id: HunkId) -> Result<(), Undecided> {
        if self.way_of(id).is_some_and(|way| way.sent) {
            return Err(Undecided {
                hunk: self.full_name(id),
                why: Why::Gone,
                message: "It is on its way into the text or out of it. Try again in a moment.".to_owned(),
                others: Vec::new(),
            });
        }
        self.call_off(id);
        self.forget_waiting(&[id]);
        Ok(())
    }

    /// Lets a decision about a hunk wait; it takes the place of an earlier one.
    fn wait(&mut self, id: HunkId, wish: Wish) {
        self.flow.later.retain(|later| later.hunk != id);
        self.flow.later.push(Later { hunk: id, wish });
        self.news.review = true;
    }

    /// Forgets what was to be decided later about hunks that are decided now.
    pub(crate) fn forget_waiting(&mut self, hunks: &[HunkId]) {
        self.flow.later.retain(|later| !hunks.contains(&later.hunk));
    }

    /// Rejects a hunk that is not in the text, though it may be on its way there.
    pub(crate) fn reject_held_or_wait(&mut self, id: HunkId, ruling: &Ruling) {
        if self.way_of(id).is_some_and(|way| way.sent) {
            self.wait(id, Wish::Decide(Box::new(ruling.clone())));
            return;
        }
        self.call_off(id);
        self.set_decision(id, Decision::Rejected, ruling.request.reason.clone());
    }

    /// Takes back a hunk for its agent, now or as soon as it is clear what becomes of the delivery that holds it, or of the file. What the
    /// person has decided meanwhile stands.
    pub(crate) fn withdraw_or_wait(&mut self, id: HunkId) {
        if self.flow.later.iter().any(|later| later.hunk == id) {
            return;
        }
        match self.way_of(id) {
            // Nothing is sent while the editor renames or removes the file.
            None if self.is_asking() && self.weave().in_buffer(id) => self.wait(id, Wish::Withdraw),
            None => self.withdraw_one(id),
            Some(way) if way.decision.is_some() => {}
            Some(_) => self.wait(id, Wish::Withdraw),
        }
    }

    /// Takes up the decisions that waited for a delivery which has ended, or for the editor to be done with the file.
    pub(crate) fn take_up_later(&mut self) {
        if self.is_asking() {
            return;
        }
        for later in std::mem::take(&mut self.flow.later) {
            let way = self.way_of(later.hunk);
            let same = way.is_some_and(|way| later.wish.puts_in().is_none_or(|on| on == way.on));
            if way.is_some_and(|way| way.sent) || same {
                self.flow.later.push(later);
                continue;
            }
            if matches!(later.wish, Wish::Withdraw) && self.is_decided(later.hunk) {
                // By the person, meanwhile.
                continue;
            }
            if way.is_some() {
                self.call_off(later.hunk);
            }
            match later.wish {
                Wish::Withdraw => self.withdraw_one(later.hunk),
                Wish::Decide(ruling) => {
                    if let Err(undecided) = self.decide_one(later.hunk, &ruling) {
                        self.notices.push(undecided.message);
                    }
                }
            }
            self.news.review = true;
            self.news.deliver = true;
        }
    }

    /// Whether a hunk is decided, or accepted as soon as the text shows it.
    fn is_decided(&self, id: HunkId) -> bool {
        let accepts = |intent: &Intent| intent.decision.is_some() && intent.plan.on.contains(&id);
        self.owner_of(id).is_some_and(|(_, hunk)| hunk.decision != Decision::Undecided)
            || self.flow.intents.iter().any(accepts)
    }

    fn way_of(&self, id: HunkId) -> Option<Way> {
        let holds = |list: &[HunkId]| list.contains(&id);
        let intent = self.flow.intents.iter().find(|i| holds(&i.plan.on) || holds(&i.plan.off))?;
        let on = holds(&intent.plan.on);
        Some(Way { on, sent: self.flow.is_sent(intent.token), decision: intent.decision })
    }

    /// Takes a hunk out of what waits to be sent, with those that cannot be switched without it.
    fn call_off(&mut self, id: HunkId) {
        let weave = self.weave();
        let above = weave.with_dependents(id);
        let mut below = vec![id];
        let mut at = 0;
        while let Some(hunk) = below.get(at).copied() {
            let more = weave.prerequisites(hunk).iter().filter(|other| !below.contains(other));
            let more: Vec<HunkId> = more.copied().collect();
            below.extend(more);
            at += 1;
        }
        for intent in &mut self.flow.intents {
            let plan = &mut intent.plan;
            if plan.on.contains(&id) {
                plan.on.retain(|hunk| !above.contains(hunk));
            }
            if plan.off.contains(&id) {
                plan.off.retain(|hunk| !below.contains(hunk));
            }
        }
        self.flow.intents.retain(|intent| !intent.plan.on.is_empty() || !intent.plan.off.is_empty());
    }
}
