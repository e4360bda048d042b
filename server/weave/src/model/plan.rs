//! Plans: changes of the buffer view that can be looked at, sent to the editor, and recognised when the text shows them (rules W8, W12).

use std::sync::Arc;

use hashline_text::Ending;

use crate::model::error::WeaveError;
use crate::model::hunk::HunkId;
use crate::model::line::{IdRange, LineId, push_range};
use crate::model::run::{Held, Run, bytes_of_lines};
use crate::model::spans::Spans;
use crate::model::state::Model;
use crate::model::view::LineChange;

/// How many lines at most stand ready for plans that the text does not show.
const SPARES: usize = 1024;

/// A change of the buffer view: hunks switched, and lines of the person's that go or come back with it (rules W8, W12). It can be
/// tried on a clone, sent to the editor, and recognised when the text shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Hunks to be on.
    pub on: Vec<HunkId>,
    /// Hunks to be off.
    pub off: Vec<HunkId>,
    /// Lines that the person typed and that go.
    pub(super) drop: Vec<IdRange>,
    /// Lines that stand ready, hidden, and are shown.
    pub(super) revive: Vec<IdRange>,
    /// Which of them come with a hunk, as the person's part of it.
    pub(super) own: Vec<(HunkId, IdRange)>,
    /// Hunks that go and read as they were proposed from then on: what the person changed in them stays as lines of the person's own.
    pub(super) as_proposed: Vec<HunkId>,
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
        self.own.extend(&other.own);
        self.as_proposed.extend(&other.as_proposed);
        self
    }

    /// Whether the plan does nothing but switch hunks.
    #[must_use]
    pub fn only_switches(&self) -> bool {
        self.drop.is_empty() && self.revive.is_empty()
    }

    /// Whether lines stand ready for the plan.
    pub(crate) fn revives(&self) -> bool {
        !self.revive.is_empty()
    }

    pub(crate) fn switches(&self) -> impl Iterator<Item = (HunkId, bool)> {
        self.on.iter().map(|hunk| (*hunk, true)).chain(self.off.iter().map(|hunk| (*hunk, false)))
    }

    /// The lines that go (true) and that are shown (false).
    pub(crate) fn moves(&self) -> impl Iterator<Item = (IdRange, bool)> {
        self.drop.iter().map(|ids| (*ids, true)).chain(self.revive.iter().map(|ids| (*ids, false)))
    }
}

/// How to take out a hunk that the person has edited (rule W8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOut {
    /// The person's changes inside it go with it.
    WithMyChanges,
    /// The person's lines stay.
    KeepMyLines,
}

/// A way out of a conflict by which the hunk comes into the text (rule W12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutIn {
    /// The agent's lines take the place of the person's.
    TakeTheirs,
    /// The person's lines stay, before the agent's.
    KeepBoth,
}

/// What carrying out a plan did.
#[derive(Debug)]
pub(crate) struct Done {
    /// What it changed in the text.
    pub changes: Vec<LineChange>,
    /// The hunks that came into the text (true) or left it.
    pub switched: Vec<(HunkId, bool)>,
    /// The lines that the person removed with it (true) or has back.
    pub moved: Vec<(IdRange, bool)>,
    /// The lines that came to be shown, as they were.
    pub shown: Vec<(IdRange, Held)>,
    /// The lines that came to be hidden and read otherwise since.
    pub hidden: Vec<(IdRange, Held)>,
    /// The ending that the last line had or would have had, and the one that it has.
    pub ending: (Ending, Ending),
}

impl Model {
    /// Carries out a plan in the buffer view. Where it is refused nothing has changed.
    pub(crate) fn carry_out(&mut self, plan: &Plan) -> Result<Done, WeaveError> {
        self.check_places(plan)?;
        let was = self.ending;
        let mut switched = Vec::new();
        // A plan may name a hunk more than once.
        for (hunk, on) in plan.switches() {
            if self.on[hunk.index()] != on {
                self.on[hunk.index()] = on;
                switched.push((hunk, on));
            }
        }
        let moved = self.set_gone(plan.moves().collect());
        let comes = self.runs.iter().filter(|run| !run.shown && run.visible(|hunk| self.on[hunk.index()]));
        let shown = comes.filter_map(|run| run.held.clone().map(|was| (run.ids, was))).collect();
        let settled = self.check(|hunk| self.on[hunk.index()]).and_then(|()| self.settle_buffer());
        let changes = match settled {
            Ok(changes) => changes,
            Err(refusal) => {
                switched.iter().for_each(|(hunk, on)| self.on[hunk.index()] = !on);
                self.set_gone(moved.into_iter().map(|(ids, gone)| (ids, !gone)).collect());
                self.join_runs();
                return Err(refusal);
            }
        };
        self.take_up(plan);
        let hidden = self.read_as_proposed(plan);
        Ok(Done { changes, switched, moved, shown, hidden, ending: (was, self.ending) })
    }

    /// What a plan would change in the buffer's text (rule W13).
    ///
    /// # Errors
    ///
    /// As for [`Weave::switch`](crate::Weave::switch).
    pub fn preview(&self, plan: &Plan) -> Result<Vec<LineChange>, WeaveError> {
        self.check_places(plan)?;
        if !plan.only_switches() {
            return self.clone().carry_out(plan).map(|done| done.changes);
        }
        let mut on = self.on.clone();
        plan.switches().for_each(|(hunk, to)| on[hunk.index()] = to);
        let is_on = |hunk: HunkId| on[hunk.index()];
        self.check(is_on)?;
        self.shift(is_on).map(|(_, changes)| changes)
    }

    /// Notes that the lines which stood ready for a plan are in use.
    pub(crate) fn take_up(&mut self, plan: &Plan) {
        self.spares.retain(|spare| !plan.revive.contains(spare));
        for (hunk, own) in &plan.own {
            Arc::make_mut(&mut self.hunks[hunk.index()]).own = Some(*own);
        }
    }

    /// Has the hidden lines of hunks that a plan took out read as they were proposed, where what the person changed in them stays as lines of
    /// the person's own. Returns those that read otherwise before.
    pub(crate) fn read_as_proposed(&mut self, plan: &Plan) -> Vec<(IdRange, Held)> {
        let mut changed = Vec::new();
        for id in &plan.as_proposed {
            let hunk = self.hunks[id.index()].clone();
            for run in self.runs.iter_mut().filter(|run| run.maker == Some(*id) && !run.shown) {
                let from = (run.ids.first.0 - hunk.made.first.0) as usize;
                let proposed = &hunk.proposed[from..from + run.len()];
                if run.lines() != proposed {
                    let proposed = Held::new(proposed);
                    run.held = Some(proposed.clone());
                    changed.push((run.ids, proposed));
                }
            }
        }
        if !changed.is_empty() {
            self.reshape();
        }
        changed
    }

    /// About how many bytes these lines take while they are hidden.
    pub(crate) fn bytes_of(&self, ids: &[IdRange]) -> usize {
        let mut ids = ids.to_vec();
        ids.sort_unstable_by_key(|range| range.first);
        let bytes = |run: &Run| -> usize {
            let at = ids.partition_point(|range| range.end() <= run.ids.first.0);
            let known = ids.get(at).is_some_and(|range| range.first.0 < run.ids.end());
            if known { bytes_of_lines(run.lines()) } else { 0 }
        };
        if ids.is_empty() { 0 } else { self.runs.iter().map(bytes).sum() }
    }

    /// The plan that takes a hunk out of the text, and with it all that rests on it.
    pub(crate) fn plan_take_out(&mut self, id: HunkId, how: TakeOut) -> Plan {
        let mut off = self.with_dependents(id);
        off.retain(|hunk| self.on[hunk.index()]);
        let mut plan = Plan { off: off.clone(), ..Plan::default() };
        let spans = self.extents();
        match how {
            TakeOut::WithMyChanges => {
                let typed = |run: &Run| run.maker.is_none() && run.shown;
                plan.drop = self.ids_inside(&off, &spans, typed);
            }
            TakeOut::KeepMyLines => {
                // Lines of the hunks that the person changed stay as lines of the person's own.
                let mut changed: Vec<LineId> = Vec::new();
                for hunk in &off {
                    let lines = self.changed_lines(*hunk, spans[hunk.index()]);
                    plan.as_proposed.extend((!lines.is_empty()).then_some(*hunk));
                    changed.extend(lines);
                }
                plan.revive = self.copies(&changed, false);
            }
        }
        plan
    }

    /// The plan that brings a conflicted hunk into the text, with what it rests on.
    pub(crate) fn plan_put_in(&mut self, id: HunkId, how: PutIn) -> Plan {
        let on = self.with_prerequisites(id);
        let mut plan = Plan { on: on.clone(), ..Plan::default() };
        match how {
            PutIn::TakeTheirs => {
                let goes = |hunk: &HunkId, run: &Run| run.removers.contains(hunk);
                let typed =
                    |run: &Run| run.maker.is_none() && run.shown && !on.iter().any(|hunk| goes(hunk, run));
                plan.drop = self.ids_inside(&on, &self.spans(), typed);
            }
            PutIn::KeepBoth => {
                let mut changed: Vec<LineId> = Vec::new();
                for hunk in &on {
                    changed.extend(self.changed_removals(*hunk));
                }
                plan.revive = self.copies(&changed, true);
                // They stay beside the hunk, and so do not come back where it goes.
                plan.drop = changed.into_iter().map(|first| IdRange { first, len: 1 }).collect();
            }
        }
        plan
    }

    /// The ids of the runs inside the spans of hunks for which something holds, each once.
    fn ids_inside(&self, hunks: &[HunkId], spans: &Spans, holds: impl Fn(&Run) -> bool) -> Vec<IdRange> {
        let mut inside: Vec<usize> = hunks
            .iter()
            .filter_map(|hunk| spans[hunk.index()])
            .flat_map(|(first, last)| first..=last)
            .collect();
        inside.sort_unstable();
        inside.dedup();
        let mut ids = Vec::new();
        for run in inside.into_iter().map(|index| &self.runs[index]).filter(|run| holds(run)) {
            push_range(&mut ids, run.ids);
        }
        ids
    }

    /// The lines that a hunk made and that are shown otherwise than it proposed them.
    fn changed_lines(&self, id: HunkId, span: Option<(usize, usize)>) -> Vec<LineId> {
        let Some((first, last)) = span else { return Vec::new() };
        let hunk = self.hunk(id);
        let mut changed = Vec::new();
        for run in self.runs[first..=last].iter().filter(|run| run.maker == Some(id) && run.shown) {
            for (at, line) in run.lines().iter().enumerate() {
                let then = &hunk.proposed[(run.ids.at(at).0 - hunk.made.first.0) as usize];
                if then.content != line.content {
                    changed.push(run.ids.at(at));
                }
            }
        }
        changed
    }

    /// The lines that a hunk removes and that the person has changed since it was recorded.
    fn changed_removals(&self, id: HunkId) -> Vec<LineId> {
        // Runs and removed lines are in the same order.
        let own = self.runs.iter().filter(|run| run.removers.contains(&id));
        let now = own.flat_map(|run| run.lines().iter().map(|line| (run.shown, line)));
        let both = self.hunk(id).removed.iter().zip(now);
        let changed = both.filter(|(then, (shown, now))| *shown && then.line.content != now.content);
        changed.map(|(then, _)| then.id).collect()
    }

    /// Puts hidden copies of lines beside them, ready to be shown as lines of the person's.
    fn copies(&mut self, of: &[LineId], before: bool) -> Vec<IdRange> {
        let mut copies = Vec::new();
        for line in of {
            let Some(index) = self.runs.iter().position(|run| run.ids.contains(*line)) else { continue };
            let at = (line.0 - self.runs[index].ids.first.0) as usize;
            let Some(content) = self.runs[index].lines().get(at).cloned() else { continue };
            let cut = if before { at } else { at + 1 };
            if cut > 0 && cut < self.runs[index].len() {
                let tail = self.runs[index].split_off(cut);
                self.runs.insert(index + 1, tail);
            }
            let ids = self.fresh(1);
            let copy = Run {
                gone: true,
                shown: false,
                held: Some(Held::new([content])),
                ..Run::plain(ids.first, 1)
            };
            self.runs.insert(if cut == 0 { index } else { index + 1 }, copy);
            copies.push(ids);
            self.keep_spare(ids);
        }
        copies
    }

    /// Keeps hidden lines for a plan, and lets the oldest of too many go.
    pub(super) fn keep_spare(&mut self, ids: IdRange) {
        self.spares.push_back(ids);
        if self.spares.len() > SPARES {
            self.spares.pop_front();
        }
    }
}
