//! What the person's typing does to hunks: conflicted while held (W7), edited while in the text (W8). Both are computed
//! from the weave as it is, never stored, so undoing the typing ends them.

use std::ops::Range;

use crate::hunk::HunkId;
use crate::line::{IdRange, LineId, push_range};
use crate::switch::Plan;
use crate::weave::Weave;

/// What stands against a hunk that is not in the text, judged under its own dependencies alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The person changed a line that it takes away.
    LineChanged,
    /// The person removed a line that it takes away.
    LineRemoved,
    /// The person put a line between those that it takes away.
    LineTyped,
    /// The person removed the lines on both sides of the place where it inserts.
    PlaceRemoved,
    /// Another hunk, which is in the view, changes the same place.
    With(HunkId),
}

/// What the person did to a hunk that is in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Lines of the hunk were changed.
    pub changed: bool,
    /// Lines were typed between its own.
    pub typed: bool,
    /// Lines of the hunk were deleted. This alone never stands in the way of a rejection.
    pub deleted: bool,
}

impl Edited {
    /// Whether taking the hunk out would take out something that the person typed.
    #[must_use]
    pub fn asks(self) -> bool {
        self.changed || self.typed
    }

    /// Whether the person did anything to it.
    #[must_use]
    pub fn any(self) -> bool {
        self.changed || self.typed || self.deleted
    }
}

/// How to take out a hunk that the person has edited (W8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOut {
    /// The person's changes inside it go with it.
    WithMyChanges,
    /// The person's lines stay.
    KeepMyLines,
}

/// A way out of a conflict by which the hunk comes into the text (W12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutIn {
    /// The agent's lines take the place of the person's.
    TakeTheirs,
    /// The person's lines stay, before the agent's.
    KeepBoth,
}

impl Weave {
    /// What stands against a hunk that is not in the buffer.
    pub fn conflict(&mut self, id: HunkId) -> Option<Conflict> {
        self.conflicts()[id.index()]
    }

    /// For every hunk what stands against it; none for those in the buffer and the refused ones.
    pub fn conflicts(&mut self) -> Vec<Option<Conflict>> {
        self.refresh();
        let mut conflicts = self.disturbances();
        for (index, conflict) in conflicts.iter_mut().enumerate() {
            *conflict = conflict.or(self.agent.blocked[index].map(Conflict::With));
        }
        conflicts
    }

    /// The conflicts with the person's typing of all hunks that are held.
    pub(crate) fn disturbances(&self) -> Vec<Option<Conflict>> {
        let mut found: Vec<Option<Conflict>> = vec![None; self.hunks.len()];
        let held: Vec<HunkId> =
            self.hunks().filter(|id| !self.in_buffer(*id) && !self.is_refused(*id)).collect();
        if held.is_empty() {
            return found;
        }
        let spans = self.spans();
        for id in held {
            let Some((first, last)) = spans[id.index()] else { continue };
            found[id.index()] = self.disturbance(id, first..last + 1);
        }
        found
    }

    fn disturbance(&self, id: HunkId, span: Range<usize>) -> Option<Conflict> {
        let hunk = self.hunk(id);
        let mut needed: Option<Vec<HunkId>> = None;
        let mut typed = false;
        for run in &self.runs[span] {
            if run.removers.contains(&id) {
                if run.gone {
                    return Some(Conflict::LineRemoved);
                }
                let held = run.held.as_deref().unwrap_or_default();
                let same = hunk
                    .removed
                    .iter()
                    .filter(|removed| run.ids.contains(removed.id))
                    .zip(held)
                    .all(|(removed, now)| removed.line.content == now.content);
                if !same {
                    return Some(Conflict::LineChanged);
                }
            } else if run.maker.is_none() && !run.gone {
                let needed = needed.get_or_insert_with(|| self.all_prerequisites(id));
                typed |= !run.removers.iter().any(|remover| needed.contains(remover));
            }
        }
        if typed {
            return Some(Conflict::LineTyped);
        }
        let insert = hunk.removed.is_empty();
        let (Some(before), Some(after)) = (hunk.before, hunk.after) else { return None };
        (insert && self.is_gone(before) && self.is_gone(after)).then_some(Conflict::PlaceRemoved)
    }

    fn all_prerequisites(&self, id: HunkId) -> Vec<HunkId> {
        let mut all = self.hunk(id).depends.clone();
        let mut at = 0;
        while at < all.len() {
            for needed in &self.hunk(all[at]).depends {
                if !all.contains(needed) {
                    all.push(*needed);
                }
            }
            at += 1;
        }
        all
    }

    fn is_gone(&self, id: LineId) -> bool {
        // A line that is no longer known was removed, and nothing referred to it.
        self.runs.iter().find(|run| run.ids.contains(id)).is_none_or(|run| run.gone)
    }

    /// What the person did to a hunk that is in the buffer.
    #[must_use]
    pub fn edited(&self, id: HunkId) -> Edited {
        let mut edited = Edited::default();
        if !self.in_buffer(id) {
            return edited;
        }
        let Some((first, last)) = self.spans()[id.index()] else { return edited };
        for run in &self.runs[first..=last] {
            if run.maker == Some(id) {
                edited.deleted |= run.gone;
                edited.changed |= run.shown && !self.as_proposed(id, run.ids);
            } else if run.maker.is_none() && run.shown {
                edited.typed = true;
            }
        }
        edited
    }

    /// Whether these lines of a hunk read as they were proposed.
    fn as_proposed(&self, id: HunkId, ids: IdRange) -> bool {
        let hunk = self.hunk(id);
        let from = (ids.first.0 - hunk.made.first.0) as usize;
        let now = self.runs.iter().find(|run| run.ids == ids).and_then(|run| run.held.as_deref());
        let proposed = &hunk.proposed[from..from + ids.len];
        now.is_some_and(|now| now.iter().zip(proposed).all(|(now, then)| now.content == then.content))
    }

    /// The plan that takes a hunk out of the text, and with it all that rests on it.
    pub fn plan_take_out(&mut self, id: HunkId, how: TakeOut) -> Plan {
        let off: Vec<HunkId> =
            self.with_dependents(id).into_iter().filter(|hunk| self.in_buffer(*hunk)).collect();
        let mut plan = Plan { off: off.clone(), ..Plan::default() };
        for hunk in off {
            let Some((first, last)) = self.spans()[hunk.index()] else { continue };
            match how {
                TakeOut::WithMyChanges => self.runs[first..=last]
                    .iter()
                    .filter(|run| run.maker.is_none() && run.shown)
                    .for_each(|run| push_range(&mut plan.drop, run.ids)),
                TakeOut::KeepMyLines => {
                    // Lines of the hunk that the person changed stay as lines of the person's own.
                    let changed: Vec<LineId> = self.runs[first..=last]
                        .iter()
                        .filter(|run| run.maker == Some(hunk) && run.shown)
                        .flat_map(|run| (0..run.len()).map(|at| run.ids.at(at)))
                        .filter(|line| !self.as_proposed_line(hunk, *line))
                        .collect();
                    for line in changed {
                        if let Some(copy) = self.copy_line(line, false) {
                            plan.revive.push(copy);
                        }
                    }
                }
            }
        }
        plan
    }

    fn as_proposed_line(&self, id: HunkId, line: LineId) -> bool {
        let at = (line.0 - self.hunk(id).made.first.0) as usize;
        let now =
            self.runs.iter().find(|run| run.ids.contains(line)).and_then(|run| {
                run.held.as_ref().map(|held| &held[(line.0 - run.ids.first.0) as usize].content)
            });
        now == Some(&self.hunk(id).proposed[at].content)
    }

    /// The plan that brings a conflicted hunk into the text, with what it rests on.
    pub fn plan_put_in(&mut self, id: HunkId, how: PutIn) -> Plan {
        let mut plan = Plan { on: self.with_prerequisites(id), ..Plan::default() };
        let Some((first, last)) = self.spans()[id.index()] else { return plan };
        match how {
            PutIn::TakeTheirs => self.runs[first..=last]
                .iter()
                .filter(|run| run.maker.is_none() && run.shown && !run.removers.contains(&id))
                .for_each(|run| push_range(&mut plan.drop, run.ids)),
            PutIn::KeepBoth => {
                let removed = self.hunk(id).removed.clone();
                for removed in removed {
                    let now = self.line_of(removed.id);
                    if now.is_some_and(|now| now != removed.line.content)
                        && let Some(copy) = self.copy_line(removed.id, true)
                    {
                        plan.revive.push(copy);
                    }
                }
            }
        }
        plan
    }

    fn line_of(&self, line: LineId) -> Option<String> {
        let run = self.runs.iter().find(|run| run.ids.contains(line) && !run.gone)?;
        let held = run.held.as_ref()?;
        Some(held[(line.0 - run.ids.first.0) as usize].content.clone())
    }

    /// Puts a hidden copy of a line beside it, ready to be revived as a line of the person's.
    fn copy_line(&mut self, line: LineId, before: bool) -> Option<IdRange> {
        let index = self.runs.iter().position(|run| run.ids.contains(line))?;
        let at = (line.0 - self.runs[index].ids.first.0) as usize;
        self.hold(index);
        let content = self.runs[index].held.as_ref()?[at].clone();
        let cut = if before { at } else { at + 1 };
        if cut > 0 && cut < self.runs[index].len() {
            let tail = self.runs[index].split_off(cut);
            self.runs.insert(index + 1, tail);
        }
        let ids = self.fresh(1);
        let mut copy = crate::run::Run::plain(ids.first, 1);
        copy.gone = true;
        copy.shown = false;
        copy.held = Some([content].into());
        self.runs.insert(if cut == 0 { index } else { index + 1 }, copy);
        Some(ids)
    }
}
