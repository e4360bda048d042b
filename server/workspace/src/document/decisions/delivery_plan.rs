//! What the wishes come to as the text is now.
//!
//! Between a decision and the moment at which the editor carries it out, the person may change the very lines that it is about. What
//! was asked for then no longer covers what would happen, so nothing is sent that takes out lines which the person did not agree to
//! lose: the wish ends, the text is left as it is, and the person is told.

use std::collections::HashSet;
use std::sync::Arc;

use hashline_history::Decision;
use hashline_text::OwnedLine;
use hashline_weave::{Conflict, HunkId, Plan, TakeOut};

use crate::document::Document;
use crate::document::decisions::wishes::{Act, Way};

/// What the person is told whose lines inside an edit would go with it.
const CHANGED_INSIDE: &str = "You changed lines inside an edit that was about to be undone. Decide again: “Undo it, my changes too” or “Undo it, keep my lines”.";

impl Document {
    /// All that is wanted and valid together, as one change of the text.
    pub(crate) fn next_plan(&mut self) -> Option<Plan> {
        self.settle_wishes();
        let mut plans = Vec::new();
        for (act, hunks) in self.wanted.acts() {
            match self.plan_of(&act, &hunks) {
                Ok(plan) if plan.on.is_empty() && plan.off.is_empty() => {}
                Ok(plan) if self.waits_for_record(&plan) => {}
                Ok(plan) => match self.goes_beyond(&act, &plan) {
                    Some(words) => self.end_act(&act, words),
                    None => plans.push((act, plan)),
                },
                Err(words) => self.end_act(&act, words),
            }
        }
        self.together(plans)
    }

    /// Whether a plan switches a hunk about which a decision waits for the record, or cannot be carried out without one that is switched by
    /// that. It has its turn after that: the hunk is to come or go as that says, which may be in the person's own words.
    fn waits_for_record(&mut self, plan: &Plan) -> bool {
        let weave = self.weave();
        let mut hunks = weave.with_prerequisites_of(&plan.on);
        hunks.extend(plan.off.iter().flat_map(|id| weave.with_dependents(*id)));
        hunks.iter().any(|id| self.wanted.get(*id).is_some_and(|wish| !wish.is_recorded))
    }

    /// What a decision comes to now; an error says why nothing of it is done.
    fn plan_of(&mut self, act: &Act, hunks: &[HunkId]) -> Result<Plan, String> {
        let weave = self.weave();
        match &act.way {
            Way::Out(how) => {
                let off: Vec<HunkId> = hunks.iter().copied().filter(|id| weave.in_buffer(*id)).collect();
                self.plan_out(&off, *how)
            }
            Way::InSpite(id, how) if hunks.contains(id) && !weave.in_buffer(*id) => {
                Ok(weave.plan_put_in(*id, *how))
            }
            Way::Rewritten(group, own)
                if group.iter().all(|id| hunks.contains(id) || weave.in_buffer(*id)) =>
            {
                self.plan_rewritten(group, own)
            }
            // It was called off. What is left was wanted with it, as it was proposed.
            Way::AsProposed | Way::InSpite(..) | Way::Rewritten(..) => Ok(self.plan_in(act, hunks)),
        }
    }

    /// Puts in the hunks against which nothing stands, and ends the wish for the others.
    fn plan_in(&mut self, act: &Act, hunks: &[HunkId]) -> Plan {
        let mut gone: Vec<HunkId> = Vec::new();
        let mut why = None;
        for id in hunks {
            let weave = self.weave();
            if !weave.in_buffer(*id)
                && let Some(conflict) = weave.conflict(*id)
            {
                gone.extend(weave.with_dependents(*id));
                why = why.or(Some((*id, conflict)));
            }
        }
        if let Some((id, conflict)) = why {
            let words = self.not_put_in(id, conflict);
            self.tell(act, words);
            hunks.iter().filter(|id| gone.contains(id)).for_each(|id| drop(self.wanted.remove(*id)));
        }
        let weave = self.weave();
        let on = hunks.iter().copied().filter(|id| !gone.contains(id) && !weave.in_buffer(*id));
        Plan::switch(&on.collect::<Vec<_>>(), &[])
    }

    /// What the person has rewritten comes in whole or not at all: without a part of it the words are not those that they agreed to.
    fn plan_rewritten(&mut self, group: &[HunkId], own: &[OwnedLine]) -> Result<Plan, String> {
        let weave = self.weave();
        if group.iter().all(|id| weave.in_buffer(*id)) {
            return Ok(Plan::default());
        }
        // With all that it builds on: that would come over lines that the person has changed, too.
        let mut coming = weave.with_prerequisites_of(group);
        coming.retain(|id| !weave.in_buffer(*id));
        match coming.into_iter().find_map(|id| weave.conflict(id).map(|conflict| (id, conflict))) {
            Some((id, conflict)) => Err(self.not_put_in(id, conflict)),
            None => Ok(weave.plan_put_in_revised(group, own)),
        }
    }

    fn not_put_in(&self, id: HunkId, conflict: Conflict) -> String {
        format!("An edit was not put into the text. {}", self.conflicted(id, conflict).message)
    }

    fn plan_out(&mut self, off: &[HunkId], how: Option<TakeOut>) -> Result<Plan, String> {
        // One that builds on several goes by the decision about the last of them.
        let goes: HashSet<HunkId> =
            self.wanted.iter().filter(|(_, wish)| !wish.on).map(|(id, _)| id).collect();
        let weave = self.weave();
        let mut above = off.iter().flat_map(|id| weave.with_dependents(*id));
        if above.any(|id| weave.in_buffer(id) && !off.contains(&id) && !goes.contains(&id)) {
            return Err("Another edit came into the text that builds on one that was about to be undone. Decide again, about both."
                .to_owned());
        }
        let asks = off.iter().any(|id| weave.edited(*id).asks());
        match (asks, how) {
            (false, _) => Ok(Plan::switch(&[], off)),
            (true, None) => Err(CHANGED_INSIDE.to_owned()),
            (true, Some(how)) => {
                let rests = |id: &HunkId| weave.prerequisites(*id).iter().any(|below| off.contains(below));
                let lowest: Vec<HunkId> = off.iter().copied().filter(|id| !rests(id)).collect();
                let mut all = Plan::default();
                for id in lowest {
                    all = all.and(&weave.plan_take_out(id, how));
                }
                all.off.sort_unstable();
                all.off.dedup();
                Ok(all)
            }
        }
    }

    /// The lines that a decision would take out of the text as it is, if the person lets lines of theirs go by it.
    pub(crate) fn would_lose(&mut self, act: &Act, hunks: &[HunkId]) -> Option<Vec<String>> {
        if !act.gives_leave() {
            return None;
        }
        let plan = self.plan_of(act, hunks).unwrap_or_default();
        Some(self.lines_lost(&plan))
    }

    /// The lines that a plan takes out of the text, but for those that read as an agent proposed them.
    fn lines_lost(&mut self, plan: &Plan) -> Vec<String> {
        let weave = self.weave();
        let changes = weave.preview(plan).unwrap_or_default();
        let proposed: HashSet<&str> =
            weave.hunks().flat_map(|id| weave.proposed(id)).map(|line| line.content.as_str()).collect();
        let lines = changes.iter().flat_map(|change| weave.buffer().lines(change.old.start..change.old.end));
        let lines = lines.map(|line| line.content().into_owned());
        lines.filter(|content| !proposed.contains(content.as_str())).collect()
    }

    /// What to tell the person where a plan takes out lines that they have written since they let others go; none where it does not.
    fn goes_beyond(&mut self, act: &Act, plan: &Plan) -> Option<String> {
        let mut agreed = act.agreed.clone()?;
        let mut known = |line: &String| {
            let at = agreed.iter().position(|agreed| agreed == line);
            at.map(|at| agreed.swap_remove(at)).is_some()
        };
        if self.lines_lost(plan).iter().all(&mut known) {
            return None;
        }
        Some(match act.way {
            Way::Out(_) => CHANGED_INSIDE.to_owned(),
            _ => "You wrote in lines that an edit was about to take the place of. Decide again: “Take the agent's”, “Keep both” or “Keep mine”."
                .to_owned(),
        })
    }

    /// Ends what a decision wants.
    pub(crate) fn end_act(&mut self, act: &Act, words: String) {
        self.wanted.retain(|_, wish| wish.act.token != act.token);
        self.tell(act, words);
    }

    /// Tells the person that what they wanted is not done. What came in by itself stays held and says so in the review; what an agent
    /// wanted is its own business.
    fn tell(&mut self, act: &Act, words: String) {
        if !matches!(act.decision, None | Some(Decision::Withdrawn)) {
            self.news.tell(words);
        }
        self.news.review();
    }

    /// All plans that are valid together, as one. One that is valid by itself and not with the others has its turn after them; one that is
    /// not valid at all is given up.
    fn together(&mut self, plans: Vec<(Arc<Act>, Plan)>) -> Option<Plan> {
        let (plain, mut special): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|(_, plan)| plan.only_switches());
        special.sort_by_key(|(act, _)| {
            act.special().iter().min().copied().or_else(|| self.wanted.first_of(act.token))
        });
        let mut whole = Plan::default();
        let mut invalid = Vec::new();
        for one in self.lowest_first(special) {
            // What two plans do to lines of the person's would be done twice.
            if !touches(&whole, &one.1) {
                self.join(&mut whole, std::slice::from_ref(&one), &mut invalid);
            }
        }
        let open = |(act, mut plan): (Arc<Act>, Plan)| {
            plan.on.retain(|id| !whole.on.contains(id) && !whole.off.contains(id));
            plan.off.retain(|id| !whole.on.contains(id) && !whole.off.contains(id));
            (act, plan)
        };
        let plain: Vec<(Arc<Act>, Plan)> = plain.into_iter().map(open).collect();
        self.join(&mut whole, &plain, &mut invalid);
        for (act, why) in invalid {
            self.end_act(&act, format!("A decision could not be carried out: {why}. Decide again."));
        }
        let idle = whole.on.is_empty() && whole.off.is_empty();
        (!idle).then_some(whole)
    }

    /// Plans by which hunks come in ways of their own, in another order: what others build on comes first, as theirs would bring it as it was
    /// proposed.
    fn lowest_first(&mut self, mut plans: Vec<(Arc<Act>, Plan)>) -> Vec<(Arc<Act>, Plan)> {
        let weave = self.weave();
        let builds_on = |one: &Act, other: &Act| {
            let below = weave.with_prerequisites_of(one.special());
            one.token != other.token && other.special().iter().any(|id| below.contains(id))
        };
        let mut ordered = Vec::with_capacity(plans.len());
        while !plans.is_empty() {
            let is_lowest =
                |(one, _): &(Arc<Act>, Plan)| !plans.iter().any(|(other, _)| builds_on(one, other));
            // Where each builds on the other, it is the first.
            let lowest = plans.iter().position(is_lowest).unwrap_or(0);
            ordered.push(plans.remove(lowest));
        }
        ordered
    }

    /// Adds plans to others: all at once, or where that cannot be, one half and then the other.
    fn join(&mut self, whole: &mut Plan, plans: &[(Arc<Act>, Plan)], invalid: &mut Vec<(Arc<Act>, String)>) {
        if plans.is_empty() {
            return;
        }
        let all = plans.iter().fold(whole.clone(), |all, (_, plan)| all.and(plan));
        match (self.weave().preview(&all), plans) {
            (Ok(_), _) => *whole = all,
            (Err(error), [(act, _)]) => {
                if whole.on.is_empty() && whole.off.is_empty() {
                    invalid.push((act.clone(), error.to_string()));
                }
            }
            (Err(_), plans) => {
                let (first, second) = plans.split_at(plans.len() / 2);
                self.join(whole, first, invalid);
                self.join(whole, second, invalid);
            }
        }
    }

    /// The first of some hunks that something stands against, judged as if none of them were rejected.
    pub(crate) fn obstacle(&mut self, hunks: &[HunkId]) -> Option<(HunkId, Conflict)> {
        let weave = self.weave();
        let refused: Vec<HunkId> = hunks.iter().copied().filter(|id| weave.is_refused(*id)).collect();
        for id in &refused {
            weave.set_refused(*id, false);
        }
        let held: Vec<HunkId> = hunks.iter().copied().filter(|id| !weave.in_buffer(*id)).collect();
        let found = held.into_iter().find_map(|id| weave.conflict(id).map(|conflict| (id, conflict)));
        for id in &refused {
            weave.set_refused(*id, true);
        }
        found
    }
}

/// Whether two plans switch one hunk.
fn touches(one: &Plan, other: &Plan) -> bool {
    let mut hunks = other.on.iter().chain(&other.off);
    hunks.any(|id| one.on.contains(id) || one.off.contains(id))
}
