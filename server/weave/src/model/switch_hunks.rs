//! Switching hunks on and off, and what has to go with it (rules W4, W12).

use crate::model::error::WeaveError;
use crate::model::hunk::HunkId;
use crate::model::plan::Plan;
use crate::model::run::Run;
use crate::model::state::Model;

impl Model {
    /// Whether the hunks that `on` names make a valid set (rule W4).
    pub(crate) fn check(&self, on: impl Fn(HunkId) -> bool) -> Result<(), WeaveError> {
        for id in self.hunks().filter(|id| on(*id)) {
            let hunk = self.hunk(id);
            if let Some(needs) = hunk.depends.iter().find(|needed| !on(**needed)) {
                return Err(WeaveError::Needs { hunk: id, needs: *needs });
            }
            if let Some(other) = hunk.collides.iter().find(|other| on(**other)) {
                return Err(WeaveError::Collides { hunk: id, other: *other });
            }
        }
        Ok(())
    }

    /// Whether a plan leaves alone the hunks whose place is not certain (rule W17).
    pub(crate) fn check_places(&self, plan: &Plan) -> Result<(), WeaveError> {
        let lost = |(hunk, on): (HunkId, bool)| {
            (self.on[hunk.index()] != on && self.lost[hunk.index()]).then_some(WeaveError::Lost { hunk })
        };
        plan.switches().find_map(lost).map_or(Ok(()), Err)
    }

    /// Whether the place of the hunk in the text is no longer certain, as the text was changed while nobody watched (rule W17).
    /// Such a hunk can be switched neither on nor off.
    #[must_use]
    pub fn is_lost(&self, id: HunkId) -> bool {
        self.lost[id.index()]
    }

    /// Marks a hunk as rejected or withdrawn, or takes that mark back. Returns whether that is news.
    pub(crate) fn set_refused(&mut self, id: HunkId, refused: bool) -> bool {
        let is_news = self.refused[id.index()] != refused;
        if is_news {
            self.refused[id.index()] = refused;
            self.touch();
        }
        is_news
    }

    /// Says of each hunk whether its place is uncertain. Returns what was said before.
    pub(crate) fn set_lost(&mut self, lost: Vec<bool>) -> Vec<bool> {
        std::mem::replace(&mut self.lost, lost)
    }

    /// Marks hunks as lost of which it is said that their place is uncertain, and all that rests on them. Returns those that were not
    /// lost before.
    pub(crate) fn lose(&mut self, uncertain: impl Fn(HunkId) -> bool) -> Vec<HunkId> {
        let mut newly: Vec<HunkId> = Vec::new();
        // What a hunk rests on comes before it.
        for id in self.hunks().filter(|id| !self.is_lost(*id)) {
            let rests = |needed: &HunkId| newly.binary_search(needed).is_ok();
            if uncertain(id) || self.hunk(id).depends.iter().any(rests) {
                newly.push(id);
            }
        }
        newly.iter().for_each(|id| self.lost[id.index()] = true);
        newly
    }

    /// Switches a hunk without a look at the text.
    pub(crate) fn set_on(&mut self, id: HunkId, on: bool) {
        self.on[id.index()] = on;
    }

    /// Whether the hunk is marked as rejected or withdrawn.
    #[must_use]
    pub fn is_refused(&self, id: HunkId) -> bool {
        self.refused[id.index()]
    }

    /// The hunk and all that has to be switched on with it, in an order in which each is valid.
    #[must_use]
    pub fn with_prerequisites(&self, id: HunkId) -> Vec<HunkId> {
        self.closure(id, |hunk| &self.hunk(hunk).depends, |hunk| !self.in_buffer(hunk))
    }

    /// The same for several hunks, each once.
    #[must_use]
    pub fn with_prerequisites_of(&self, hunks: &[HunkId]) -> Vec<HunkId> {
        let mut all: Vec<HunkId> = hunks.iter().flat_map(|id| self.with_prerequisites(*id)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The hunk and all that rests on it, but for what is refused: what has to be switched off with it, or cannot be
    /// shown without it.
    #[must_use]
    pub fn with_dependents(&self, id: HunkId) -> Vec<HunkId> {
        self.closure(
            id,
            |hunk| &self.hunk(hunk).dependents,
            |hunk| self.in_buffer(hunk) || !self.is_refused(hunk),
        )
    }

    /// Whether a line stands in the buffer that no hunk has made, and none of these removes.
    #[must_use]
    pub fn shows_lines_of_nobody(&self, but_of: impl Fn(HunkId) -> bool) -> bool {
        let is_of_nobody = |run: &Run| run.maker.is_none() && !run.removers.iter().any(|hunk| but_of(*hunk));
        self.runs.iter().any(|run| run.shown && is_of_nobody(run))
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

    /// The hunks that rest on this one directly.
    #[must_use]
    pub fn dependents(&self, id: HunkId) -> &[HunkId] {
        &self.hunk(id).dependents
    }

    /// A hunk and the wanted ones that can be reached from it, in the order of record.
    pub(super) fn closure<'a>(
        &'a self,
        id: HunkId,
        next: impl Fn(HunkId) -> &'a [HunkId],
        wanted: impl Fn(HunkId) -> bool,
    ) -> Vec<HunkId> {
        let mut found = vec![id];
        if next(id).is_empty() {
            return found;
        }
        let mut known = std::collections::HashSet::from([id]);
        let mut at = 0;
        while at < found.len() {
            for other in next(found[at]) {
                if wanted(*other) && known.insert(*other) {
                    found.push(*other);
                }
            }
            at += 1;
        }
        found.sort_unstable();
        found
    }
}
