//! Switching hunks on and off, and what has to go with it (W4, W12).

use crate::error::WeaveError;
use crate::hunk::HunkId;
use crate::line::{IdRange, LineId};
use crate::view::LineChange;
use crate::weave::Weave;

/// A change of the buffer view: hunks switched, and lines of the person's that go or come back with it (W8, W12). It can be
/// tried on a clone, sent to the editor, and recognised when the text shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Hunks to be on.
    pub on: Vec<HunkId>,
    /// Hunks to be off.
    pub off: Vec<HunkId>,
    /// Lines that the person typed and that go.
    pub(crate) drop: Vec<IdRange>,
    /// Lines that stand ready, hidden, and are shown.
    pub(crate) revive: Vec<IdRange>,
}

impl Plan {
    /// A plan that only switches.
    #[must_use]
    pub fn switch(on: &[HunkId], off: &[HunkId]) -> Self {
        Self { on: on.to_vec(), off: off.to_vec(), ..Self::default() }
    }

    /// This plan and another, as one.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.on.extend(&other.on);
        self.off.extend(&other.off);
        self.drop.extend(&other.drop);
        self.revive.extend(&other.revive);
        self
    }

    /// Whether the plan does nothing but switch hunks.
    #[must_use]
    pub fn only_switches(&self) -> bool {
        self.drop.is_empty() && self.revive.is_empty()
    }

    pub(crate) fn drops(&self, id: LineId) -> bool {
        self.drop.iter().any(|range| range.contains(id))
    }

    pub(crate) fn revives(&self, id: LineId) -> bool {
        self.revive.iter().any(|range| range.contains(id))
    }
}

impl Weave {
    /// Switches hunks in the buffer view and returns the change of its text.
    ///
    /// # Errors
    ///
    /// [`WeaveError::Needs`], [`WeaveError::Collides`], [`WeaveError::EndingsWouldJoin`]; nothing has changed then.
    pub fn switch(&mut self, on: &[HunkId], off: &[HunkId]) -> Result<Vec<LineChange>, WeaveError> {
        self.carry_out(&Plan::switch(on, off))
    }

    /// Carries out a plan in the buffer view and returns the change of its text.
    ///
    /// # Errors
    ///
    /// As for [`switch`](Self::switch).
    pub fn carry_out(&mut self, plan: &Plan) -> Result<Vec<LineChange>, WeaveError> {
        let mut next = self.clone();
        next.set(plan);
        next.check()?;
        let changes = next.settle_buffer()?;
        next.tidy();
        *self = next;
        Ok(changes)
    }

    /// What a plan would change in the buffer's text (W13).
    ///
    /// # Errors
    ///
    /// As for [`switch`](Self::switch).
    pub fn preview(&self, plan: &Plan) -> Result<Vec<LineChange>, WeaveError> {
        self.clone().carry_out(plan)
    }

    /// Sets the marks of a plan without a look at the text.
    pub(crate) fn set(&mut self, plan: &Plan) {
        for id in &plan.on {
            self.hunks[id.index()].in_buffer = true;
        }
        for id in &plan.off {
            self.hunks[id.index()].in_buffer = false;
        }
        for range in &plan.drop {
            self.set_gone(*range, true);
        }
        for range in &plan.revive {
            self.set_gone(*range, false);
        }
    }

    /// Marks lines as removed by the person, or as there again.
    pub(crate) fn set_gone(&mut self, range: IdRange, gone: bool) {
        let mut index = 0;
        while index < self.runs.len() {
            let ids = self.runs[index].ids;
            let from = range.first.0.max(ids.first.0);
            let to = (range.first.0 + range.len as u64).min(ids.first.0 + ids.len as u64);
            if from >= to || self.runs[index].gone == gone {
                index += 1;
                continue;
            }
            self.hold(index);
            if to < ids.first.0 + ids.len as u64 {
                let tail = self.runs[index].split_off((to - ids.first.0) as usize);
                self.runs.insert(index + 1, tail);
            }
            if from > ids.first.0 {
                let tail = self.runs[index].split_off((from - ids.first.0) as usize);
                self.runs.insert(index + 1, tail);
                index += 1;
            }
            self.runs[index].gone = gone;
            index += 1;
        }
    }

    /// Whether the hunks that are in the buffer make a valid set (W4).
    pub(crate) fn check(&self) -> Result<(), WeaveError> {
        for (index, hunk) in self.hunks.iter().enumerate().filter(|(_, hunk)| hunk.in_buffer) {
            let id = HunkId(index as u32);
            if let Some(needs) = hunk.depends.iter().find(|needed| !self.in_buffer(**needed)) {
                return Err(WeaveError::Needs { hunk: id, needs: *needs });
            }
            if let Some(other) = hunk.collides.iter().find(|other| self.in_buffer(**other)) {
                return Err(WeaveError::Collides { hunk: id, other: *other });
            }
        }
        Ok(())
    }

    /// Marks a hunk as rejected or withdrawn, or takes that mark back. Such a hunk is in no view.
    pub fn set_refused(&mut self, id: HunkId, refused: bool) {
        if self.hunks[id.index()].refused != refused {
            self.hunks[id.index()].refused = refused;
            self.touch();
        }
    }

    /// Whether the hunk is marked as rejected or withdrawn.
    #[must_use]
    pub fn is_refused(&self, id: HunkId) -> bool {
        self.hunk(id).refused
    }

    /// The hunk and all that has to be switched on with it, in an order in which each is valid.
    #[must_use]
    pub fn with_prerequisites(&self, id: HunkId) -> Vec<HunkId> {
        self.closure(id, |hunk| !self.in_buffer(hunk), |hunk| self.hunk(hunk).depends.clone())
    }

    /// The hunk and all that rests on it and is neither refused nor, for a hunk in the buffer, out of the buffer: what has to be
    /// switched off with it, or cannot be shown without it.
    #[must_use]
    pub fn with_dependents(&self, id: HunkId) -> Vec<HunkId> {
        let dependents = |hunk: HunkId| {
            self.hunks().filter(|other| self.hunk(*other).depends.contains(&hunk)).collect::<Vec<_>>()
        };
        self.closure(id, |hunk| !self.is_refused(hunk), dependents)
    }

    /// The hunks that cannot be on together with this one.
    #[must_use]
    pub fn collisions(&self, id: HunkId) -> &[HunkId] {
        &self.hunk(id).collides
    }

    /// The hunks that this one rests on directly.
    #[must_use]
    pub fn prerequisites(&self, id: HunkId) -> &[HunkId] {
        &self.hunk(id).depends
    }

    fn closure(
        &self,
        id: HunkId,
        wanted: impl Fn(HunkId) -> bool,
        next: impl Fn(HunkId) -> Vec<HunkId>,
    ) -> Vec<HunkId> {
        let mut found = vec![id];
        let mut at = 0;
        while at < found.len() {
            for other in next(found[at]) {
                if wanted(other) && !found.contains(&other) {
                    found.push(other);
                }
            }
            at += 1;
        }
        found.sort_unstable();
        found
    }
}
