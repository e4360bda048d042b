//! Judging a notification again together with the next (rule W9): an editor may deliver or undo a hunk in two parts, and the first alone
//! does not show what it is part of.

use hashline_text::Text;

use crate::attribution::aligned_region::Stretch;
use crate::attribution::interpretation::{Candidate, Cost, How, Judgement, Switched};
use crate::attribution::region::Regions;
use crate::attribution::weave::{Checkpoint, Weave};
use crate::model::{HunkId, Plan};

impl Weave {
    /// As [`recognised`](Self::recognised), after a judgement that was [`half_shown`](Judgement::half_shown): judges the notification
    /// before and this one as one, against the weave before both. `regions` are those of this notification alone.
    ///
    /// The answer tells what is switched otherwise than it was after the first judgement. Where there is nothing to be judged
    /// again, or hunks were recorded, switched or refused in between, this is `recognised`. How long after the first judgement
    /// this is right is for the caller to say, who has a clock: after a second it no longer is.
    pub fn recognised_again(&mut self, new: &Text, regions: &Regions, asked: &[Candidate]) -> Judgement {
        let Some(checkpoint) = self.checkpoint.take() else { return self.recognised(new, regions, asked) };
        let Checkpoint { weave: before, regions: first, entry } = *checkpoint;
        let was = self.on().to_vec();
        self.take_up_again(before);
        let mut judgement = self.recognised(new, &first.then(regions), asked);
        judgement.switched.retain(|switched| was[switched.hunk.index()] != switched.on);
        for hunk in self.hunks() {
            let on = self.in_buffer(hunk);
            let told = judgement.switched.iter().any(|switched| switched.hunk == hunk);
            if let Some(entry) = entry
                && was[hunk.index()] != on
                && !told
            {
                judgement.switched.push(Switched { hunk, on, how: How::Undone(entry) });
            }
        }
        judgement
    }

    /// The state before the latest notification, where that seemed to show a part of something.
    #[must_use]
    pub fn before_half_shown(&self) -> Option<&Self> {
        self.checkpoint.as_deref().map(|checkpoint| &checkpoint.weave)
    }

    /// How much of the text is left to be typed where the hunks that have come or gone since `before` are switched in the text of that
    /// state, which has the same hunks. What a plan does to lines of the person's besides is counted as if they had typed it. None where they
    /// cannot be switched.
    #[must_use]
    pub fn left_to_type_since(&self, before: &Self) -> Option<Cost> {
        let mut then = before.model.clone();
        let differs = |hunk: &HunkId| then.in_buffer(*hunk) != self.in_buffer(*hunk);
        let (on, off): (Vec<_>, Vec<_>) =
            then.hunks().filter(differs).partition(|hunk| self.in_buffer(*hunk));
        then.carry_out(&Plan::switch(&on, &off)).ok()?;
        let mut regions = Regions::default();
        regions.replace_all(&mut then.buffer().clone(), self.buffer().clone());
        let Some(region) = regions.trimmed(then.buffer(), self.buffer()).pop() else {
            return Some(Cost::default());
        };
        let (from, to) = then.stretch_of(&region.old);
        let (stretch, contents) = Stretch::of(&then, region, from..to, self.buffer());
        Some(stretch.cost(&contents))
    }

    /// Goes back to the state before the latest notifications, to judge them once more. What was refused, published or taken back since is so
    /// then, too. False, and nothing has happened, if hunks were recorded since.
    pub fn resume(&mut self, mut before: Self) -> bool {
        let now = self.hunks().count();
        let taken_back: Vec<HunkId> = before.hunks().skip(now).collect();
        let known = (taken_back.is_empty() || before.unrecord(&taken_back)) && before.hunks().count() == now;
        if known {
            before.model.refuse_as(&self.model);
            self.take_up_again(before);
        }
        known
    }

    fn take_up_again(&mut self, mut before: Self) {
        // Numbers that were given out stay so, and the file has what it has got since.
        before.model.number_from(&self.model);
        before.model.set_base(self.model.base().filter(|base| before.model.knows(base)).cloned());
        before.journal.number_from(&self.journal);
        *self = before;
    }
}
