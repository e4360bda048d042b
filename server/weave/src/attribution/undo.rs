//! Taking back what the journal knows (rule W7): identities, presence and switches as they were, where the text is as it was.

use std::collections::BTreeMap;

use hashline_text::Text;

use crate::attribution::journal::{Step, Turn, WayBack};
use crate::attribution::judgement::{How, Judgement, Switched};
use crate::attribution::print::Print;
use crate::attribution::region::Regions;
use crate::model::hunk::HunkId;
use crate::model::line::{IdRange, LineId, push_range};
use crate::model::run::{Held, Run};
use crate::model::state::Weave;

/// What going back to an earlier text may take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakesBack {
    /// All that was done since, and the editor says which way it went.
    Said(Turn),
    /// All that was done since.
    All,
    /// Typing: nothing where a hunk would be switched.
    Typing,
}

impl Weave {
    /// Takes back all that was done since the text was as it is now, where the journal reaches so far.
    pub(crate) fn turn_back(
        &mut self,
        new: &Text,
        print: Print,
        regions: &Regions,
        what: TakesBack,
    ) -> Option<Judgement> {
        let turn = match what {
            TakesBack::Said(turn) => Some(turn),
            TakesBack::All | TakesBack::Typing => None,
        };
        let depth = self.journal.depth_of(&self.buffer, new, print, turn)?;
        let WayBack { entries, difference } = self.journal.way_back(&self.buffer, new, depth);
        let before = self.journal.print;
        let (runs, on, newline, ending) = (self.runs.clone(), self.on.clone(), self.newline, self.ending);
        self.replay_all(&entries);
        let is_on = |hunk: HunkId| self.on[hunk.index()];
        let lines: usize = self.runs.iter().filter(|run| run.visible(is_on)).map(Run::len).sum();
        let switches = what == TakesBack::Typing && self.on != on;
        if switches || lines != new.line_count() || self.check(is_on).is_err() {
            (self.runs, self.on, self.newline, self.ending) = (runs, on, newline, ending);
            return None;
        }
        self.take_text(new.clone(), &difference, regions);
        self.journal.print = print;
        self.show();
        self.read_contents();
        entries.iter().for_each(|steps| self.restore(steps));

        let mut steps = self.moved_since(&runs);
        let mut switched: Vec<Switched> = Vec::new();
        // The oldest entry that switched a hunk says what it is.
        for step in entries.iter().rev().flatten() {
            if let Step::Switched { hunk, turned: Some(turned), .. } = step
                && self.on[hunk.index()] != on[hunk.index()]
                && switched.iter().all(|known| known.hunk != *hunk)
            {
                let (hunk, on, origin) = (*hunk, self.on[hunk.index()], turned.origin);
                let how = if turned.undone { How::Undone(origin) } else { How::Redone(origin) };
                switched.push(Switched { hunk, on, how });
                steps.push(Step::Switched { hunk, on, turned: Some(*turned) });
            }
        }
        if newline != self.newline {
            steps.push(Step::Newline { was: newline, is: self.newline });
        }
        if ending != self.ending {
            steps.push(Step::Ending { was: ending, is: self.ending });
        }
        if steps.is_empty() && turn.is_none() {
            self.journal.push_contents(difference, before, new);
        } else {
            let pinned = self.pinned_by(&steps);
            self.journal.push(steps, difference, before, pinned);
        }
        if let Some(turn) = turn {
            // Counted from the end of the entry itself.
            self.journal.note_turn(turn, depth);
        }
        self.tidy();
        self.reshape();
        Some(Judgement { switched, ..Judgement::default() })
    }

    /// Does the steps of entries, one entry after the other.
    fn replay_all(&mut self, entries: &[Vec<Step>]) {
        // Of what several say of a line, the earliest counts, by whose word it was so before all of them.
        let mut marks: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
        let mut ending = self.ending;
        for step in entries.iter().rev().flatten() {
            let (ids, gone) = match step {
                Step::Typed(ids) | Step::Regained(ids) => (ids, false),
                Step::Removed(ids) => (ids, true),
                _ => continue,
            };
            for (from, to) in uncovered(&marks, ids.first.0, ids.end()) {
                marks.insert(from, (to, gone));
            }
        }
        for step in entries.iter().flatten() {
            match step {
                Step::Switched { hunk, on, .. } => self.on[hunk.index()] = *on,
                Step::Ending { is, .. } => ending = *is,
                Step::Newline { is, .. } => self.newline = *is,
                _ => {}
            }
        }
        let range = |from: u64, to: u64| IdRange { first: LineId(from), len: (to - from) as usize };
        self.set_gone(marks.into_iter().map(|(from, (to, gone))| (range(from, to), gone)).collect());
        self.ending = ending;
    }

    /// Does the steps of one entry, or takes them back, where they are its inverse.
    pub(crate) fn replay(&mut self, steps: Vec<Step>) {
        self.replay_all(&[steps]);
    }

    /// Adds the steps by which lines go (true) or come back (false), after others: for those lines alone that are not so yet.
    pub(crate) fn note_moves(&self, moves: impl Iterator<Item = (IdRange, bool)>, steps: &mut Vec<Step>) {
        for (ids, gone) in moves {
            let said = |id: LineId| {
                steps.iter().rev().find_map(|step| match step {
                    Step::Removed(ids) => ids.contains(id).then_some(true),
                    Step::Regained(ids) => ids.contains(id).then_some(false),
                    _ => None,
                })
            };
            let mut moved = Vec::new();
            for run in self.runs.iter() {
                let both = ids.first.0.max(run.ids.first.0)..ids.end().min(run.ids.end());
                let lines = both.map(LineId).filter(|id| said(*id).unwrap_or(run.gone) != gone);
                lines.for_each(|first| push_range(&mut moved, IdRange { first, len: 1 }));
            }
            let step = |ids| if gone { Step::Removed(ids) } else { Step::Regained(ids) };
            steps.extend(moved.into_iter().map(step));
        }
    }

    /// Takes the contents of all shown lines that have their own copy from the buffer.
    fn read_contents(&mut self) {
        let mut at = 0;
        for index in 0..self.runs.len() {
            let run = &self.runs[index];
            let len = run.len();
            if run.shown && run.held.is_some() {
                self.runs[index].held = Some(Held::new(self.buffer_lines(at, len)));
            }
            at += if self.runs[index].shown { len } else { 0 };
        }
    }

    /// Gives lines that are hidden again the contents that they had when they came to be shown.
    fn restore(&mut self, steps: &[Step]) {
        for step in steps {
            let Step::Hidden { ids, was } = step else { continue };
            for run in self.runs.iter_mut().filter(|run| !run.shown) {
                let (from, to) = (ids.first.0.max(run.ids.first.0), ids.end().min(run.ids.end()));
                if from >= to {
                    continue;
                }
                let then = was.part((from - ids.first.0) as usize..(to - ids.first.0) as usize);
                let now = (from - run.ids.first.0) as usize..(to - run.ids.first.0) as usize;
                if run.lines()[now.clone()] != *then {
                    let mut lines = run.lines().to_vec();
                    lines[now].clone_from_slice(then);
                    run.held = Some(Held::new(lines));
                }
            }
        }
    }

    /// What became of lines since the runs were these, which were cut but not moved since.
    fn moved_since(&self, runs: &[Run]) -> Vec<Step> {
        let mut steps = Vec::new();
        for Piece { then, now } in pieces(runs, &self.runs) {
            let ids = now.ids;
            if then.gone != now.gone {
                steps.push(if now.gone { Step::Removed(ids) } else { Step::Regained(ids) });
            }
            match (then.shown, now.shown) {
                (false, true) => steps.extend(then.held.map(|was| Step::Shown { ids, was })),
                (true, false) => steps.extend(now.held.map(|was| Step::Hidden { ids, was })),
                _ => {}
            }
        }
        steps
    }

    /// Marks lines as removed by the person, or as there again. Returns the lines whose mark has changed.
    pub(crate) fn set_gone(&mut self, mut marks: Vec<(IdRange, bool)>) -> Vec<(IdRange, bool)> {
        let mut changed: Vec<(IdRange, bool)> = Vec::new();
        if marks.is_empty() {
            return changed;
        }
        marks.sort_unstable_by_key(|(ids, _)| ids.first);
        let mut line = 0;
        let mut runs = Vec::with_capacity(self.runs.len() + 2 * marks.len());
        for mut run in std::mem::take(&mut *self.runs) {
            let mut at = line;
            line += if run.shown { run.len() } else { 0 };
            let end = run.ids.end();
            let first = marks.partition_point(|(ids, _)| ids.end() <= run.ids.first.0);
            for (ids, gone) in marks[first..].iter().take_while(|(ids, _)| ids.first.0 < end) {
                let from = ids.first.0.max(run.ids.first.0);
                let to = ids.end().min(run.ids.end());
                if run.gone == *gone || from >= to {
                    continue;
                }
                if run.held.is_none() {
                    run.held = Some(Held::new(self.buffer_lines(at, run.len())));
                }
                let mut middle = run.clone();
                if from > run.ids.first.0 {
                    middle = run.split_off((from - run.ids.first.0) as usize);
                    at += run.len();
                    runs.push(run);
                }
                let rest =
                    (to < middle.ids.end()).then(|| middle.split_off((to - middle.ids.first.0) as usize));
                at += middle.len();
                middle.gone = *gone;
                changed.push((middle.ids, *gone));
                match rest {
                    Some(rest) => {
                        runs.push(middle);
                        run = rest;
                    }
                    None => run = middle,
                }
            }
            runs.push(run);
        }
        self.runs = runs.into();
        if !changed.is_empty() {
            self.reshape();
        }
        changed
    }
}

/// The same lines before and after.
struct Piece {
    then: Run,
    now: Run,
}

/// The lines of two lists of runs, which are cut at different places.
fn pieces<'a>(then: &'a [Run], now: &'a [Run]) -> impl Iterator<Item = Piece> + 'a {
    let (mut then, mut now) = (then.iter(), now.iter());
    let (mut then_rest, mut now_rest): (Option<Run>, Option<Run>) = (None, None);
    std::iter::from_fn(move || {
        let mut then_run = then_rest.take().or_else(|| then.next().cloned())?;
        let mut now_run = now_rest.take().or_else(|| now.next().cloned())?;
        let len = then_run.len().min(now_run.len());
        then_rest = (len < then_run.len()).then(|| then_run.split_off(len));
        now_rest = (len < now_run.len()).then(|| now_run.split_off(len));
        Some(Piece { then: then_run, now: now_run })
    })
}

/// The parts of a range that no mark is on.
fn uncovered(marks: &BTreeMap<u64, (u64, bool)>, from: u64, to: u64) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut at = marks.range(..from).next_back().map_or(from, |(_, (end, _))| from.max(*end));
    for (start, (end, _)) in marks.range(from..to) {
        if at < *start {
            parts.push((at, *start));
        }
        at = at.max(*end);
    }
    if at < to {
        parts.push((at, to));
    }
    parts
}
