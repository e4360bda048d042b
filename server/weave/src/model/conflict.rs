//! What stands against a hunk that is held (rule W7), and what the person's typing did to one that is in the text (rule W8). Both are computed
//! from the weave as it is, never stored, so undoing the typing ends them.

use crate::model::hunk::{Conflict, Edited, HunkId};
use crate::model::line::LineId;
use crate::model::run::Run;
use crate::model::state::Model;

impl Model {
    /// What stands against a hunk that is not in the buffer. A hunk that rests on one that is kept out is kept out with it and
    /// has no conflict of its own.
    pub(crate) fn conflict(&mut self, id: HunkId) -> Option<Conflict> {
        self.refresh();
        self.agent.conflicts[id.index()]
    }

    /// For every hunk what stands against it; none for those in the buffer and the refused ones.
    pub(crate) fn conflicts(&mut self) -> Vec<Option<Conflict>> {
        self.refresh();
        self.agent.conflicts.clone()
    }

    /// The conflicts of all hunks that are held with the person's typing, and with what happened while nobody watched.
    pub(crate) fn disturbances(&self) -> Vec<Option<Conflict>> {
        let mut found: Vec<Option<Conflict>> = vec![None; self.hunks.len()];
        let held: Vec<HunkId> =
            self.hunks().filter(|id| !self.in_buffer(*id) && !self.is_refused(*id)).collect();
        if held.is_empty() {
            return found;
        }
        let spans = self.spans();
        let there = self.neighbours_there(&held);
        for id in held {
            if self.is_lost(id) {
                found[id.index()] = Some(Conflict::Lost);
                continue;
            }
            let Some((first, last)) = spans[id.index()] else { continue };
            found[id.index()] = self.disturbance(id, &self.runs[first..=last], &there);
        }
        found
    }

    fn disturbance(&self, id: HunkId, span: &[Run], there: &[LineId]) -> Option<Conflict> {
        let hunk = self.hunk(id);
        let mut needed: Option<Vec<HunkId>> = None;
        let mut typed = false;
        let mut next = 0;
        for run in span {
            if run.removers.contains(&id) {
                if run.gone {
                    return Some(Conflict::LineRemoved);
                }
                // Runs and removed lines are in the same order.
                let then = &hunk.removed[next..next + run.len()];
                next += run.len();
                if then.iter().zip(run.lines()).any(|(then, now)| then.line.content != now.content) {
                    return Some(Conflict::LineChanged);
                }
            } else if run.maker.is_none() && !run.gone && !typed {
                let needed =
                    needed.get_or_insert_with(|| self.closure(id, |hunk| &self.hunk(hunk).depends, |_| true));
                let gone_with = |remover: &HunkId| *remover != id && needed.binary_search(remover).is_ok();
                typed = !run.removers.iter().any(gone_with);
            }
        }
        if typed {
            return Some(Conflict::LineTyped);
        }
        let (Some(before), Some(after)) = (hunk.before, hunk.after) else { return None };
        let gone = |line: LineId| there.binary_search(&line).is_err();
        (hunk.removed.is_empty() && gone(before) && gone(after)).then_some(Conflict::PlaceRemoved)
    }

    /// Of the lines on both sides of what these hunks insert, those that the person has not removed, sorted. A line that is
    /// no longer known was removed, and nothing referred to it.
    fn neighbours_there(&self, hunks: &[HunkId]) -> Vec<LineId> {
        let inserts = hunks.iter().map(|id| self.hunk(*id)).filter(|hunk| hunk.removed.is_empty());
        let mut lines: Vec<LineId> = inserts.flat_map(|hunk| [hunk.before, hunk.after]).flatten().collect();
        lines.sort_unstable();
        lines.dedup();
        let mut there = Vec::with_capacity(lines.len());
        for run in self.runs.iter().filter(|run| !run.gone) {
            let from = lines.partition_point(|line| *line < run.ids.first);
            there.extend(lines[from..].iter().take_while(|line| line.0 < run.ids.end()));
        }
        there.sort_unstable();
        there
    }

    /// What the person did to a hunk that is in the buffer.
    #[must_use]
    pub fn edited(&self, id: HunkId) -> Edited {
        let extent = self.extents()[id.index()];
        extent.map_or_else(Edited::default, |(first, last)| self.edited_in(id, &self.runs[first..=last]))
    }

    /// For every hunk what the person did to it, where it is in the text.
    #[must_use]
    pub fn edited_hunks(&self) -> Vec<Edited> {
        let extents = self.extents().into_iter().zip(self.hunks());
        extents
            .map(|(extent, id)| {
                extent.map_or_else(Edited::default, |(first, last)| {
                    self.edited_in(id, &self.runs[first..=last])
                })
            })
            .collect()
    }

    fn edited_in(&self, id: HunkId, span: &[Run]) -> Edited {
        let mut edited = Edited::default();
        if !self.in_buffer(id) {
            return edited;
        }
        let hunk = self.hunk(id);
        for run in span {
            if run.maker == Some(id) {
                edited.deleted |= run.gone;
                let from = (run.ids.first.0 - hunk.made.first.0) as usize;
                let then = &hunk.proposed[from..from + run.len()];
                let changed = || run.lines().iter().zip(then).any(|(now, then)| now.content != then.content);
                edited.changed |= run.shown && changed();
            } else if run.maker.is_none() && run.shown {
                edited.typed = true;
            }
        }
        edited
    }
}
