//! Accepting a hunk as the person has rewritten it: the hunk is in the text then, and what differs from its proposal is the person's typing
//! (rule W12). Hunks that are shown as one (rule W11) are rewritten as one.

use hashline_history::Decision;
use hashline_text::{Ending, OwnedLine};
use hashline_weave::{HunkId, Plan};

use crate::document::Document;
use crate::document::aim::Aim;
use crate::document::deliver::Intent;
use crate::document::request::Ruling;
use crate::document::undecided::{Undecided, Why};

impl Document {
    /// Has a hunk, and those that are shown as one with it, come into the text in these words. It does not wait for a delivery under
    /// way: the person still has the words, and can say them again. Returns the hunk, and those that are decided with it.
    pub(crate) fn revise(
        &mut self,
        id: HunkId,
        own: &[String],
        ruling: &Ruling,
    ) -> Result<Vec<HunkId>, Undecided> {
        if self.weave().in_buffer(id) {
            return Err(Undecided {
                hunk: self.full_name(id),
                why: Why::Gone,
                message: "It is in your text already: change its lines there, and keep it as it is then."
                    .to_owned(),
                others: Vec::new(),
            });
        }
        let group = self.still_together(id, ruling);
        let before = self.flow.clone();
        // What cannot be decided so leaves everything as it was.
        self.revise_held(id, group, own, ruling).inspect_err(|_| self.flow = before)
    }

    fn revise_held(
        &mut self,
        id: HunkId,
        group: Vec<HunkId>,
        own: &[String],
        ruling: &Ruling,
    ) -> Result<Vec<HunkId>, Undecided> {
        let all = self.weave().with_prerequisites_of(&group);
        let waiting = self.flow.intents.clone();
        for member in &group {
            self.stop_or_refuse(*member)?;
        }
        let called_off = self.called_off(waiting, &all);
        let others: Vec<HunkId> = all.iter().copied().filter(|other| *other != id).collect();
        self.with_others(id, &others, &ruling.request, ruling.of_many, "It builds on")?;
        if let Some((other, conflict)) = self.obstacle(&all) {
            return Err(self.conflicted(other, conflict));
        }
        let ending = self.ending_of(&group);
        let own: Vec<OwnedLine> = own.iter().map(|line| OwnedLine::new(line.as_str(), ending)).collect();
        let plan = self.weave().plan_put_in_revised(&group, &own);
        self.check(id, &plan)?;
        for hunk in &all {
            self.free(*hunk);
        }
        let aim = Aim::PutInRevised(group, own);
        self.intend(aim, plan, Some(Decision::Accepted), ruling.request.reason.clone());
        for (intent, hunks) in called_off {
            self.intend_again(intent, &hunks);
        }
        Ok(std::iter::once(id).chain(others).collect())
    }

    /// What the person had accepted and is not to come any more, as what it builds on is decided anew: each with its hunks, but for
    /// these.
    fn called_off(&self, waiting: Vec<Intent>, but: &[HunkId]) -> Vec<(Intent, Vec<HunkId>)> {
        let accepted = waiting.into_iter().filter(|intent| intent.decision == Some(Decision::Accepted));
        let gone = accepted.map(|intent| {
            let left = self.flow.intents.iter().find(|other| other.token == intent.token);
            let stays = |id: &HunkId| but.contains(id) || left.is_some_and(|left| left.plan.on.contains(id));
            let hunks = intent.plan.on.iter().copied().filter(|id| !stays(id)).collect();
            (intent, hunks)
        });
        gone.filter(|(_, hunks): &(_, Vec<_>)| !hunks.is_empty()).collect()
    }

    /// Has hunks come in as it was wanted before, on what they build on as that comes in now.
    fn intend_again(&mut self, intent: Intent, hunks: &[HunkId]) {
        let weave = self.weave();
        let plan = match &intent.aim {
            Aim::PutIn => Plan::switch(&weave.with_prerequisites_of(hunks), &[]),
            Aim::PutInRevised(group, own) if group.iter().all(|id| hunks.contains(id)) => {
                weave.plan_put_in_revised(group, own)
            }
            Aim::PutInAnyway(..) | Aim::PutInRevised(..) | Aim::TakeOut(..) => {
                let words = "An edit was not put into the text: what it builds on comes in with your changes now. Decide again.";
                return self.notices.push(words.to_owned());
            }
        };
        self.intend(intent.aim, plan, intent.decision, intent.reason);
    }

    /// How new lines end beside those of some hunks.
    fn ending_of(&mut self, hunks: &[HunkId]) -> Ending {
        let weave = self.weave();
        let proposed = hunks.iter().find_map(|id| weave.proposed(*id).first());
        let like = proposed.or_else(|| hunks.iter().find_map(|id| weave.removed(*id).next()));
        like.map(|line| line.ending).or_else(|| weave.buffer().first_ending()).unwrap_or_default()
    }
}
