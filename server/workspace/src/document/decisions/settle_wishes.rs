//! What is wanted of hunks and the text does not show yet (rule W12): one wish for each hunk, and a change of mind overwrites it.
//!
//! A decision that changes the text is a wish until the text shows it. What a wish comes to is found out anew each time before something
//! is sent, as the person goes on typing: the [plan](super::delivery_plan). A wish ends when the text is as it says and no delivery under way may change
//! that; then the decision stands.

use std::sync::Arc;

use hashline_history::{Decision, HunkRef, Reason};
use hashline_weave::{HunkId, TakeOut};

use crate::document::decisions::wishes::{Act, Way, Wish};
use crate::document::{Document, Millis, UnderWay};

impl Document {
    /// Wants hunks in the text, or out of it. What was wanted of them before is forgotten.
    pub(crate) fn want(
        &mut self,
        hunks: &[HunkId],
        on: bool,
        way: Way,
        decision: Option<Decision>,
        reason: Option<Reason>,
    ) {
        let token = self.flow.number();
        let is_recorded = !self.note_wanted(token, hunks, decision, reason.as_ref());
        let mut act = Act { token, way, decision, reason, agreed: None };
        act.agreed = self.would_lose(&act, hunks);
        let act = Arc::new(act);
        for id in hunks {
            self.wanted.set(*id, Wish { on, act: act.clone(), is_recorded });
        }
        self.flow.begin_anew();
        self.news.deliver();
        self.news.review();
    }

    /// Of hunks that are to come in with another those of which nobody has decided so already: what is wanted of the others stays.
    pub(crate) fn not_yet_accepted(&self, hunks: &[HunkId], but: &[HunkId]) -> Vec<HunkId> {
        let accepted = |id: &HunkId| {
            let wish = self.wanted.get(*id);
            wish.is_some_and(|wish| wish.on && wish.act.decision == Some(Decision::Accepted))
        };
        hunks.iter().copied().filter(|id| but.contains(id) || !accepted(id)).collect()
    }

    /// Takes back what is wanted of a hunk, and of those that cannot be switched without it. A delivery under way is not called back: what
    /// it brings or takes is undecided then.
    pub(crate) fn leave(&mut self, id: HunkId) {
        let Some(wish) = self.wanted.remove(id) else { return };
        let others = if wish.on { self.weave().with_dependents(id) } else { self.all_below(id) };
        self.wanted.retain(|other, own| own.on != wish.on || !others.contains(&other));
        self.news.review();
    }

    /// Lets a hunk be undecided once the text shows what is wanted of it. What the editor does not take is left as it is.
    pub(crate) fn decide_again_later(&mut self, id: HunkId) {
        if self.is_stuck(id) || self.wanted.get(id).is_none() {
            self.leave(id);
            self.set_decision(id, Decision::Undecided, None);
            return;
        }
        if let Some(mut wish) = self.wanted.remove(id) {
            let act = Act { decision: Some(Decision::Undecided), reason: None, ..Act::clone(&wish.act) };
            wish.act = Arc::new(act);
            self.wanted.set(id, wish);
        }
    }

    /// Keeps what some hunks build on in the text, where that was to leave it.
    pub(crate) fn keep_below(&mut self, hunks: &[HunkId]) {
        let below: Vec<HunkId> = hunks.iter().flat_map(|id| self.all_below(*id)).collect();
        for id in below.into_iter().filter(|id| !hunks.contains(id)) {
            if self.wanted.get(id).is_some_and(|wish| !wish.on) {
                self.wanted.remove(id);
                if self.flow.is_sent(id) {
                    self.want(&[id], true, Way::AsProposed, None, None);
                }
            }
        }
    }

    /// A hunk and all that it builds on, wherever that is.
    pub(crate) fn all_below(&mut self, id: HunkId) -> Vec<HunkId> {
        let weave = self.weave();
        let mut below = vec![id];
        let mut at = 0;
        while let Some(hunk) = below.get(at).copied() {
            let more: Vec<HunkId> =
                weave.prerequisites(hunk).iter().filter(|other| !below.contains(other)).copied().collect();
            below.extend(more);
            at += 1;
        }
        below
    }

    /// Whether a decision about this hunk waits for the text.
    #[must_use]
    pub fn is_deciding(&self, id: HunkId) -> bool {
        self.wanted.get(id).is_some() || self.goes_with_file(id)
    }

    /// Where a hunk is on its way to. What the editor does not take is not.
    pub(crate) fn under_way(&self, id: HunkId) -> Option<UnderWay> {
        let wish = self.wanted.get(id).filter(|_| !self.is_stuck(id));
        let wished = wish.map(|wish| UnderWay { on: wish.on, decision: wish.act.decision });
        wished.or_else(|| self.under_way_with_file(id))
    }

    /// Whether lines are on their way into the text, or out of it.
    pub(crate) fn is_delivering(&self) -> bool {
        !self.wanted.is_empty() || self.flow.is_flying()
    }

    /// Ends the wishes that the text fulfils: the decisions stand.
    pub(crate) fn settle_wishes(&mut self) {
        let Some(weave) = self.text.woven() else { return };
        let fulfilled = |(id, wish): &(HunkId, &Wish)| {
            wish.is_recorded && weave.in_buffer(*id) == wish.on && !self.flow.is_sent(*id)
        };
        let fulfilled: Vec<(HunkId, Arc<Act>)> =
            self.wanted.iter().filter(fulfilled).map(|(id, wish)| (id, wish.act.clone())).collect();
        for (id, act) in fulfilled {
            self.wanted.remove(id);
            if let Some(decision) = act.decision {
                self.set_decision(id, decision, act.reason.clone());
                if decision == Decision::Rejected {
                    self.reject_built_since(id, &act);
                }
            }
            self.news.review();
        }
    }

    /// Rejects with a hunk what the same turn has built on it since that was decided.
    fn reject_built_since(&mut self, id: HunkId, act: &Act) {
        let above = self.weave().with_dependents(id);
        let held = above.into_iter().filter(|other| *other != id && self.wanted.get(*other).is_none());
        for other in held.collect::<Vec<_>>() {
            let open = self.owner_of(other).is_some_and(|(_, hunk)| hunk.decision == Decision::Undecided);
            if open && !self.weave().in_buffer(other) && self.same_turn(id, other) {
                self.set_decision(other, Decision::Rejected, act.reason.clone());
            }
        }
    }

    /// Forgets the person's wishes and what was under way: the editor that they were for is gone. What agents take back is still wanted.
    pub(crate) fn stop_wanting(&mut self) {
        self.wanted.retain(|_, wish| wish.act.decision == Some(Decision::Withdrawn));
        self.flow.stop();
    }

    /// Forgets what some decisions want, as it could not be recorded that it is wanted.
    pub(crate) fn forget_wishes(&mut self, tokens: &[u64]) {
        self.wanted.retain(|_, wish| wish.is_recorded || !tokens.contains(&wish.act.token));
    }

    /// Takes back a hunk for its agent, now or as soon as the text is without it. What the person has decided meanwhile stands, and with it
    /// what that builds on.
    pub(crate) fn withdraw_one(&mut self, id: HunkId) {
        let above = self.weave().with_dependents(id);
        let is_decided = |hunk: &HunkId| match self.wanted.get(*hunk) {
            Some(wish) if *hunk == id => wish.act.decision.is_some(),
            Some(wish) => wish.on && wish.act.is_decision(),
            None => false,
        };
        if above.iter().any(is_decided) {
            return;
        }
        if !self.weave().in_buffer(id) && !self.flow.is_sent(id) {
            self.wanted.remove(id);
            self.set_decision(id, Decision::Withdrawn, None);
            return;
        }
        if self.others_build_on(id) {
            return;
        }
        let mut off = above;
        off.retain(|hunk| *hunk == id || self.weave().in_buffer(*hunk));
        self.want(&off, false, Way::Out(Some(TakeOut::KeepMyLines)), Some(Decision::Withdrawn), None);
    }

    /// Whether other edits in the text build on a hunk. Its agent cannot take it back then: taking those out is for the person to decide.
    pub(crate) fn others_build_on(&mut self, id: HunkId) -> bool {
        let mut above = self.weave().with_dependents(id);
        above.retain(|hunk| *hunk != id && self.weave().in_buffer(*hunk));
        let edit = |id| self.owner_of(id).map(|(edit, _)| &edit.id);
        above.iter().any(|other| edit(*other) != edit(id))
    }

    /// The hunks of the person's decisions that wait for the text.
    pub(crate) fn waiting_decisions(&self) -> Vec<HunkRef> {
        let waiting = self.wanted.iter().filter(|(_, wish)| wish.act.is_decision());
        waiting.filter_map(|(id, _)| self.name(id)).collect()
    }

    /// Tries again at once what the editor did not take.
    pub(crate) fn try_again(&mut self, now: Millis) {
        self.flow.try_again(now);
        self.news.deliver();
        self.news.review();
    }
}
