//! Accepting a hunk as the person has rewritten it: the hunk is in the text then, and what differs from its proposal is the person's typing
//! (rule W12). Hunks that are shown as one (rule W11) are rewritten as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashline_history::Decision;
use hashline_text::{Ending, OwnedLine};
use hashline_weave::{HunkId, PutIn};

use crate::document::decisions::request::Ruling;
use crate::document::decisions::wishes::{Act, Way, Wish};
use crate::document::{Document, Undecided, Why};

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
        if let Some(flying) = group.iter().copied().find(|member| self.flow.is_sent(*member)) {
            return Err(Undecided {
                hunk: self.full_name(flying),
                why: Why::Gone,
                message: "It is on its way into the text or out of it. Try again in a moment.".to_owned(),
                others: Vec::new(),
            });
        }
        let all = self.weave().with_prerequisites_of(&group);
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
        self.keep_below(&all);
        self.leave_above(&group);
        let wanted = self.not_yet_accepted(&all, &group);
        let way = Way::Rewritten(group, own);
        self.want(&wanted, true, way, Some(Decision::Accepted), ruling.request.reason.clone());
        Ok(std::iter::once(id).chain(others).collect())
    }

    /// Ends what is wanted of hunks that were to replace all that the person has in their place, where they build on some that the person
    /// has rewritten since: that would take these words, too.
    fn leave_above(&mut self, hunks: &[HunkId]) {
        let above: Vec<HunkId> = hunks.iter().flat_map(|id| self.weave().with_dependents(*id)).collect();
        let replaces = |wish: &Wish| match wish.act.way {
            Way::InSpite(id, PutIn::TakeTheirs) => above.contains(&id),
            _ => false,
        };
        let acts: BTreeMap<u64, Arc<Act>> = self
            .wanted
            .iter()
            .filter(|(_, wish)| replaces(wish))
            .map(|(_, wish)| (wish.act.token, wish.act.clone()))
            .collect();
        for act in acts.values() {
            let words = "An edit was not put into the text: it would replace lines that you have now written yourself. \
                         Decide again about it.";
            self.end_act(act, words.to_owned());
        }
    }

    /// How new lines end beside those of some hunks.
    fn ending_of(&mut self, hunks: &[HunkId]) -> Ending {
        let weave = self.weave();
        let proposed = hunks.iter().find_map(|id| weave.proposed(*id).first());
        let like = proposed.or_else(|| hunks.iter().find_map(|id| weave.removed(*id).next()));
        like.map(|line| line.ending).or_else(|| weave.buffer().first_ending()).unwrap_or_default()
    }
}
