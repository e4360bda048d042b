//! Accepting a hunk as the person has rewritten it: the hunk is in the text then, and what differs from its proposal is the person's typing
//! (rule W12). Hunks that are shown as one (rule W11) are rewritten as one.

use hashline_history::Decision;
use hashline_text::{Ending, OwnedLine};
use hashline_weave::{HunkId, Plan};

use crate::document::Document;
use crate::document::aim::Aim;
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
        let above = self.wanted_above(&all);
        for member in &group {
            self.stop_or_refuse(*member)?;
        }
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
        for (hunks, reason) in above {
            let plan = Plan::switch(&self.weave().with_prerequisites_of(&hunks), &[]);
            self.intend(Aim::PutIn, plan, Some(Decision::Accepted), reason);
        }
        Ok(std::iter::once(id).chain(others).collect())
    }

    /// What the person has accepted that builds on some hunks, and waits to be sent. It is called off with them, and wanted all the same
    /// when they are.
    fn wanted_above(&mut self, hunks: &[HunkId]) -> Vec<(Vec<HunkId>, Option<String>)> {
        let dependents: Vec<HunkId> = hunks
            .iter()
            .flat_map(|id| self.weave().with_dependents(*id))
            .filter(|id| !hunks.contains(id))
            .collect();
        let accepted = self.flow.intents.iter().filter(|intent| intent.decision == Some(Decision::Accepted));
        let wanted = accepted.map(|intent| {
            let on = intent.plan.on.iter().copied().filter(|id| dependents.contains(id));
            (on.collect::<Vec<_>>(), intent.reason.clone())
        });
        wanted.filter(|(on, _)| !on.is_empty()).collect()
    }

    /// How new lines end beside those of some hunks.
    fn ending_of(&mut self, hunks: &[HunkId]) -> Ending {
        let weave = self.weave();
        let proposed = hunks.iter().find_map(|id| weave.proposed(*id).first());
        let like = proposed.or_else(|| hunks.iter().find_map(|id| weave.removed(*id).next()));
        like.map(|line| line.ending).or_else(|| weave.buffer().first_ending()).unwrap_or_default()
    }
}
