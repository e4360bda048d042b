//! Two states of one weave side by side: where the lines of each are, and which of them read otherwise.

use std::ops::Range;

use hashline_text::{LineRef, OwnedLine, Text};

use crate::model::line::{IdRange, LineId};
use crate::model::state::Model;

/// Where the lines of a weave are, by their ids.
pub(super) struct Lines<'a> {
    weave: &'a Model,
    /// Sorted by id: the ids of a run, its index, and where it begins in the buffer if it is shown.
    known: Vec<(IdRange, usize, Option<usize>)>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(weave: &'a Model) -> Self {
        let mut line = 0;
        let mut known: Vec<_> = Vec::with_capacity(weave.runs.len());
        for (index, run) in weave.runs.iter().enumerate() {
            known.push((run.ids, index, run.shown.then_some(line)));
            line += if run.shown { run.len() } else { 0 };
        }
        known.sort_unstable_by_key(|(ids, ..)| ids.first);
        Self { weave, known }
    }

    /// The parts of a range of ids, and for each where its lines are; none for those that are not known.
    pub(super) fn parts(&self, ids: IdRange) -> Vec<(IdRange, Option<Place>)> {
        let mut parts = Vec::new();
        let mut from = ids.first.0;
        let first = self.known.partition_point(|(known, ..)| known.end() <= from);
        let part = |from: u64, to: u64| IdRange { first: LineId(from), len: (to - from) as usize };
        for (known, index, line) in &self.known[first..] {
            if known.first.0 >= ids.end() {
                break;
            }
            if known.first.0 > from {
                parts.push((part(from, known.first.0), None));
                from = known.first.0;
            }
            let to = known.end().min(ids.end());
            let at = (from - known.first.0) as usize;
            let place = Place { run: *index, at, line: line.map(|line| line + at) };
            parts.push((part(from, to), Some(place)));
            from = to;
        }
        if from < ids.end() {
            parts.push((part(from, ids.end()), None));
        }
        parts
    }

    /// Lines as they read now, or as they read when they were hidden.
    pub(super) fn lines(&self, place: Place, len: usize) -> Vec<OwnedLine> {
        match place.line {
            Some(line) => self.weave.buffer_lines(line, len),
            None => self.weave.held_lines(place, len).to_vec(),
        }
    }
}

/// Where a line is: in a run, and in the buffer if it is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub run: usize,
    pub at: usize,
    pub line: Option<usize>,
}

/// How far two texts are known to be the same from their beginnings and their ends on, in lines.
#[derive(Clone, Copy)]
pub(super) struct Alike {
    ahead: usize,
    behind: usize,
    /// How many lines each of them has: that of now, and that of then.
    lines: (usize, usize),
}

impl Alike {
    pub(super) fn of(now: &Text, then: &Text) -> Self {
        let lines = (now.line_count(), then.line_count());
        let least = lines.0.min(lines.1);
        if now.is_same_instance(then) {
            return Self { ahead: lines.0, behind: 0, lines };
        }
        let (ahead, _) = now.same_lines(0..least, then, 0);
        let (all, behind) = now.same_lines(lines.0 - least..lines.0, then, lines.1 - least);
        Self { ahead, behind: if all == least { all } else { behind }, lines }
    }

    /// Whether lines of the text of now are known to be the same as those from one on in the text of then.
    fn has(self, from: usize, to: Range<usize>) -> bool {
        let (now, then) = self.lines;
        (from == to.start && to.end <= self.ahead)
            || (now - to.end == then.saturating_sub(from + to.len()) && to.start >= now - self.behind)
    }
}

impl Model {
    /// Which of some lines read otherwise than they did.
    pub(super) fn changed(
        &self,
        now: Place,
        then: &Lines<'_>,
        was: Option<Place>,
        len: usize,
        alike: Alike,
    ) -> Vec<Range<usize>> {
        let Some(was) = was else { return vec![Range { start: 0, end: len }] };
        let mut changed: Vec<Range<usize>> = Vec::new();
        let mut note = |at: usize| match changed.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => changed.push(at..at + 1),
        };
        let earlier = then.weave;
        let ending = |line: LineRef<'_>, of: &Self| line.ending().unwrap_or(of.ending);
        match (was.line, now.line) {
            (Some(from), Some(to)) => {
                if alike.has(from, to..to + len) && earlier.ending == self.ending {
                    return changed;
                }
                let (ahead, behind) = self.buffer.same_lines(to..to + len, &earlier.buffer, from);
                let rest = ahead..len - behind;
                let both = earlier.buffer.lines(from + rest.start..from + rest.end);
                let both = both.zip(self.buffer.lines(to + rest.start..to + rest.end));
                for (at, (then, now)) in rest.zip(both) {
                    if !then.same_content(now) || ending(then, earlier) != ending(now, self) {
                        note(at);
                    }
                }
            }
            (None, None) => {
                let (then, now) = (earlier.held_lines(was, len), self.held_lines(now, len));
                if !std::ptr::eq(then, now) {
                    (0..len).filter(|at| then[*at] != now[*at]).for_each(&mut note);
                }
            }
            (was_line, now_line) => {
                let lines = |weave: &Self, place: Place, line: Option<usize>| match line {
                    Some(line) => weave.buffer_lines(line, len),
                    None => weave.held_lines(place, len).to_vec(),
                };
                let (then, now) = (lines(earlier, was, was_line), lines(self, now, now_line));
                (0..len).filter(|at| then[*at] != now[*at]).for_each(&mut note);
            }
        }
        changed
    }

    /// Lines that a run holds.
    fn held_lines(&self, place: Place, len: usize) -> &[OwnedLine] {
        &self.runs[place.run].lines()[place.at..place.at + len]
    }
}
