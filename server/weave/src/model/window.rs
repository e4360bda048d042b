//! Some of the runs as if they were all: what is near a keystroke is changed at a cost that does not grow with the rest.

use std::ops::Range;

use crate::model::run::Run;
use crate::model::runs::{Runs, Window};
use crate::model::state::Model;

impl Model {
    /// Makes the index of the runs if there is none.
    pub(crate) fn find_places(&mut self) {
        if self.has_places() {
            return;
        }
        let seen = self.agent.on.iter().copied().chain(std::iter::repeat(false));
        let known = self.on.iter().zip(&self.refused).zip(seen);
        // The agent view may be of a time when a hunk was switched or refused otherwise.
        let waits = |((on, refused), seen): ((&bool, &bool), bool)| (seen, seen != *on || !(on | refused));
        let known: Vec<_> = known.map(waits).collect();
        self.runs.find_places(&known);
    }

    /// Whether each of these lines lies well inside a plain run or beside plain runs only: then its content lies in the rope alone.
    pub(crate) fn are_in_rope(&mut self, lines: impl IntoIterator<Item = usize>) -> bool {
        self.find_places();
        let is_plain = |run: Option<usize>| run.and_then(|run| self.runs.get(run)).is_none_or(Run::is_plain);
        lines.into_iter().all(|line| {
            let Some(found) = self.runs.find(line) else { return false };
            let run = &self.runs[found.run];
            run.is_plain()
                && (line > found.line || is_plain(found.run.checked_sub(1)))
                && (line + 1 < found.line + run.len() || is_plain(Some(found.run + 1)))
        })
    }

    /// Where a line is in the agent view, with those behind it. None without an index.
    pub(crate) fn seen(&self, lines: &Range<usize>) -> Option<Range<usize>> {
        let found = self.runs.find(lines.start)?;
        let start = found.seen + lines.start - found.line;
        Some(start..start + lines.len())
    }

    /// Whether there is an index of the runs.
    pub(crate) fn has_places(&self) -> bool {
        self.runs.has_places()
    }

    /// The runs around lines of the buffer. None without an index.
    pub(crate) fn around(&self, lines: &Range<usize>) -> Option<Window> {
        self.runs.around(lines)
    }

    /// Whether a hunk that waits has to do with the runs of a window.
    pub(crate) fn are_waited_for(&self, window: &Window) -> bool {
        self.runs.are_waited_for(window)
    }

    /// Does something while the runs of a window are all that there are, and puts what they have become back among the others. All
    /// runs as they were are told beside.
    pub(crate) fn among<T>(&mut self, window: &Window, act: impl FnOnce(&mut Self, &Runs) -> T) -> T {
        let near = self.runs[window.runs.clone()].to_vec();
        let all = std::mem::replace(&mut self.runs, near.into());
        let done = act(self, &all);
        let mut near = std::mem::replace(&mut self.runs, all);
        self.runs.put(window.runs.clone(), std::mem::take(&mut *near));
        done
    }
}
