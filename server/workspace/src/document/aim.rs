//! What a decision is for, and what it comes to while the person goes on typing.
//!
//! Between a decision and the moment at which the editor carries it out, the person may change the very lines that it is about. What
//! was asked for then no longer covers what would happen, so nothing is sent that takes out lines which the person did not agree to
//! lose: it is left as it is, and the person is told.

use hashline_history::Decision;
use hashline_text::OwnedLine;
use hashline_weave::{Conflict, HunkId, Plan, PutIn, TakeOut};

use crate::document::Document;

/// What a decision is for.
#[derive(Clone, Debug)]
pub(crate) enum Aim {
    /// Hunks are to be in the text, if nothing stands against them.
    PutIn,
    /// A hunk is to be in the text in spite of what stands against it.
    PutInAnyway(HunkId, PutIn),
    /// Hunks that are one are to be in the text as the person has rewritten them.
    PutInRevised(Vec<HunkId>, Vec<OwnedLine>),
    /// A hunk and what rests on it are to leave the text; if the person has changed lines inside, in this way.
    TakeOut(HunkId, Option<TakeOut>),
}

impl Aim {
    /// The same in another state of the document, if its hunk is there.
    pub(crate) fn carried(&self, there: impl Fn(HunkId) -> Option<HunkId>) -> Option<Self> {
        Some(match self {
            Self::PutIn => Self::PutIn,
            Self::PutInAnyway(id, how) => Self::PutInAnyway(there(*id)?, *how),
            Self::PutInRevised(group, own) => {
                let group: Option<Vec<HunkId>> = group.iter().map(|id| there(*id)).collect();
                Self::PutInRevised(group?, own.clone())
            }
            Self::TakeOut(id, how) => Self::TakeOut(there(*id)?, *how),
        })
    }
}

impl Document {
    /// Brings the plans of all decisions that wait to the text as it is now.
    pub(crate) fn renew(&mut self) {
        for index in (0..self.flow.intents.len()).rev() {
            let intent = &self.flow.intents[index];
            if self.flow.is_sent(intent.token) {
                continue;
            }
            let (aim, plan) = (intent.aim.clone(), intent.plan.clone());
            // What came in by itself stays held and says so in the review; what an agent wanted is its own business.
            let told = !matches!(intent.decision, None | Some(Decision::Withdrawn));
            let (plan, stopped) = match aim {
                Aim::PutIn => self.still_put_in(plan),
                Aim::PutInAnyway(id, _) if self.weave().in_buffer(id) => (plan, None),
                Aim::PutInAnyway(id, how) if plan.on.contains(&id) => {
                    (self.weave().plan_put_in(id, how), None)
                }
                Aim::TakeOut(id, how) => self.still_take_out(&plan, id, how),
                Aim::PutInRevised(group, own)
                    if group.iter().all(|id| plan.on.contains(id) || self.weave().in_buffer(*id)) =>
                {
                    self.still_put_in_revised(plan, &group, &own)
                }
                // It was called off. What is left was wanted with it, as it was proposed.
                Aim::PutInAnyway(..) | Aim::PutInRevised(..) => {
                    self.still_put_in(Plan::switch(&plan.on, &plan.off))
                }
            };
            if let Some(why) = stopped.filter(|_| told) {
                self.notices.push(why);
            }
            if plan == self.flow.intents[index].plan {
                continue;
            }
            self.news.review = true;
            if plan.on.is_empty() && plan.off.is_empty() {
                self.flow.intents.remove(index);
            } else {
                self.flow.intents[index].plan = plan;
            }
        }
    }

    /// The hunks of a plan against which nothing stands, and what to say of the others.
    fn still_put_in(&mut self, plan: Plan) -> (Plan, Option<String>) {
        let mut gone: Vec<HunkId> = Vec::new();
        let mut why = None;
        for id in &plan.on {
            let weave = self.weave();
            if weave.in_buffer(*id) {
                continue;
            }
            if let Some(conflict) = weave.conflict(*id) {
                gone.extend(weave.with_dependents(*id));
                why = why.or(Some((*id, conflict)));
            }
        }
        let Some((id, conflict)) = why else { return (plan, None) };
        let on: Vec<HunkId> = plan.on.iter().copied().filter(|hunk| !gone.contains(hunk)).collect();
        (Plan::switch(&on, &plan.off), Some(self.not_put_in(id, conflict)))
    }

    /// What the person has rewritten comes in whole or not at all: without a part of it the words are not those that they agreed to.
    fn still_put_in_revised(
        &mut self,
        plan: Plan,
        group: &[HunkId],
        own: &[OwnedLine],
    ) -> (Plan, Option<String>) {
        let weave = self.weave();
        let waiting: Vec<HunkId> = plan.on.iter().copied().filter(|id| !weave.in_buffer(*id)).collect();
        if waiting.is_empty() {
            return (plan, None);
        }
        match waiting.into_iter().find_map(|id| weave.conflict(id).map(|conflict| (id, conflict))) {
            Some((id, conflict)) => (Plan::default(), Some(self.not_put_in(id, conflict))),
            None => (weave.plan_put_in_revised(group, own), None),
        }
    }

    fn not_put_in(&self, id: HunkId, conflict: Conflict) -> String {
        format!("An edit was not put into the text. {}", self.conflicted(id, conflict).message)
    }

    fn still_take_out(&mut self, plan: &Plan, id: HunkId, how: Option<TakeOut>) -> (Plan, Option<String>) {
        let others: Vec<HunkId> = {
            let weave = self.weave();
            let above = plan
                .off
                .iter()
                .filter(|hunk| weave.in_buffer(**hunk))
                .flat_map(|h| weave.with_dependents(*h));
            above.filter(|hunk| weave.in_buffer(*hunk) && !plan.off.contains(hunk)).collect()
        };
        if !others.is_empty() {
            let words = "Another edit came into the text that builds on one that was about to be undone. Decide again, about both.";
            return (Plan::default(), Some(words.to_owned()));
        }
        let asks = plan.off.iter().any(|hunk| self.weave().edited(*hunk).asks());
        match (asks, how) {
            (false, _) => (Plan::switch(&plan.on, &plan.off), None),
            (true, Some(how)) => {
                let mut all = Plan::default();
                let off: Vec<HunkId> = plan.off.clone();
                for hunk in &off {
                    if *hunk == id || self.is_lowest(*hunk, &off) {
                        all = all.and(&self.weave().plan_take_out(*hunk, how));
                    }
                }
                all.off.sort_unstable();
                all.off.dedup();
                (all, None)
            }
            (true, None) => {
                let words = "You changed lines inside an edit that was about to be undone. Decide again: “Undo it, my changes \
                             too” or “Undo it, keep my lines”.";
                (Plan::default(), Some(words.to_owned()))
            }
        }
    }

    /// Whether a hunk rests on none of the others.
    fn is_lowest(&mut self, id: HunkId, others: &[HunkId]) -> bool {
        let weave = self.weave();
        !weave.prerequisites(id).iter().any(|below| others.contains(below))
    }

    /// The first of some hunks that something stands against, judged as if none of them were rejected.
    pub(crate) fn obstacle(&mut self, hunks: &[HunkId]) -> Option<(HunkId, Conflict)> {
        let weave = self.weave();
        let refused: Vec<HunkId> = hunks.iter().copied().filter(|id| weave.is_refused(*id)).collect();
        for id in &refused {
            weave.set_refused(*id, false);
        }
        let found = hunks
            .iter()
            .filter(|id| !weave.in_buffer(**id))
            .copied()
            .collect::<Vec<_>>()
            .into_iter()
            .find_map(|id| weave.conflict(id).map(|conflict| (id, conflict)));
        for id in &refused {
            weave.set_refused(*id, true);
        }
        found
    }
}
