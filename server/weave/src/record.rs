//! Recording what an agent changes (W5, W10), and taking back what could not be recorded elsewhere.

use std::sync::Arc;

use hashline_text::Ending;

use crate::error::WeaveError;
use crate::hunk::{Change, Hunk, HunkId, Removed};
use crate::line::{IdRange, LineId};
use crate::run::Run;
use crate::weave::Weave;

impl Weave {
    /// Records changes of the agent view as hunks, in text order. They are held: in the agent view, not in the buffer.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let mut weave = Weave::new(Text::from("one\ntwo\n"));
    /// let change = Change { lines: 1..2, new: vec![OwnedLine::new("2", Ending::Lf)] };
    /// let hunks = weave.record(&[change])?;
    /// assert_eq!(weave.buffer().to_string(), "one\ntwo\n");
    /// assert_eq!(weave.agent().to_string(), "one\n2\n");
    /// weave.switch(&hunks, &[])?;
    /// assert_eq!(weave.buffer().to_string(), "one\n2\n");
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`WeaveError::BadChange`], [`WeaveError::ContentHoldsEnding`] and [`WeaveError::EndingsWouldJoin`]; nothing is
    /// recorded then.
    pub fn record(&mut self, changes: &[Change]) -> Result<Vec<HunkId>, WeaveError> {
        self.refresh();
        let lines = self.agent.text.line_count();
        let mut free = 0;
        for (index, change) in changes.iter().enumerate() {
            let idle = change.lines.is_empty() && change.new.is_empty();
            let touches = index > 0 && change.lines.start <= free;
            if change.lines.start > change.lines.end || change.lines.end > lines || touches || idle {
                return Err(WeaveError::BadChange { index, lines });
            }
            if change.new.iter().any(|line| Ending::find(line.content.as_bytes()).is_some()) {
                return Err(WeaveError::ContentHoldsEnding { index });
            }
            free = change.lines.end;
        }
        let first = self.hunks.len() as u32;
        let ids: Vec<HunkId> = (0..changes.len() as u32).map(|index| HunkId(first + index)).collect();
        // Placeholders first: runs name hunks of this call before all of them are complete.
        for change in changes {
            let made = self.fresh(change.new.len());
            self.hunks.push(Hunk {
                removed: Vec::new(),
                made,
                proposed: change.new.clone(),
                before: None,
                after: None,
                depends: Vec::new(),
                collides: Vec::new(),
                in_buffer: false,
                refused: false,
            });
        }
        let on = self.agent.on.clone();
        let in_view = |run: &Run| run.visible(|hunk| on.get(hunk.index()).copied().unwrap_or(false));
        // From the last to the first, so that line numbers stay true.
        for (change, id) in changes.iter().zip(&ids).rev() {
            self.weave_in(change, *id, in_view);
        }
        let spans = self.spans();
        for id in &ids {
            self.relate(*id, &spans, &on);
        }
        self.touch();
        self.refresh();
        if ids.iter().any(|id| !self.agent.on[id.index()]) {
            self.unrecord(&ids);
            return Err(WeaveError::EndingsWouldJoin);
        }
        Ok(ids)
    }

    /// Takes back the hunks that were recorded last, as if they had never been. For hunks that nobody has seen yet: a later
    /// hunk, or a switch of one of these, makes it impossible, and nothing happens then.
    pub fn unrecord(&mut self, ids: &[HunkId]) {
        let kept = self.hunks.len() - ids.len().min(self.hunks.len());
        let last = ids.iter().all(|id| id.index() >= kept);
        if !last || self.hunks[kept..].iter().any(|hunk| hunk.in_buffer) {
            return;
        }
        self.hunks.truncate(kept);
        let known = |hunk: &HunkId| hunk.index() < kept;
        self.runs.retain(|run| run.maker.as_ref().is_none_or(known));
        for run in &mut self.runs {
            run.removers.retain(known);
        }
        for hunk in &mut self.hunks {
            hunk.collides.retain(known);
        }
        self.touch();
        self.tidy();
    }

    fn weave_in(&mut self, change: &Change, id: HunkId, in_view: impl Fn(&Run) -> bool + Copy) {
        let before = change.lines.start.checked_sub(1).and_then(|line| self.id_at(line, in_view));
        let after = self.id_at(change.lines.end, in_view);
        let at = if change.lines.is_empty() {
            self.place(change.lines.start, in_view, false)
        } else {
            let start = self.cut_at(change.lines.start, in_view);
            self.cut_at(change.lines.end, in_view);
            let mut removed = Vec::new();
            let mut index = start;
            while removed.len() < change.lines.len() {
                if in_view(&self.runs[index]) {
                    self.hold(index);
                    let run = &mut self.runs[index];
                    run.removers.push(id);
                    let held = run.held.clone().unwrap_or_default();
                    removed.extend(
                        held.iter()
                            .enumerate()
                            .map(|(n, line)| Removed { id: run.ids.at(n), line: line.clone() }),
                    );
                }
                index += 1;
            }
            self.hunks[id.index()].removed = removed;
            index
        };
        let hunk = &mut self.hunks[id.index()];
        hunk.before = before;
        hunk.after = after;
        if hunk.made.len > 0 {
            let held: Arc<[_]> = hunk.proposed.clone().into();
            let run = Run {
                ids: hunk.made,
                maker: Some(id),
                removers: Vec::new(),
                gone: false,
                held: Some(held),
                shown: false,
            };
            self.runs.insert(at, run);
        }
    }

    /// The id of a line of a view.
    pub(crate) fn id_at(&self, line: usize, visible: impl Fn(&Run) -> bool) -> Option<LineId> {
        let mut at = 0;
        for run in self.runs.iter().filter(|run| visible(run)) {
            if line < at + run.len() {
                return Some(run.ids.at(line - at));
            }
            at += run.len();
        }
        None
    }

    /// Where among the runs a new line before visible line `line` goes (W5): the position inside the fewest spans; of
    /// equals the first, or with `before_next` the last.
    pub(crate) fn place(
        &mut self,
        line: usize,
        visible: impl Fn(&Run) -> bool + Copy,
        before_next: bool,
    ) -> usize {
        let next = self.cut_at(line, visible);
        let mut previous = next;
        while previous > 0 && !visible(&self.runs[previous - 1]) {
            previous -= 1;
        }
        // Behind the last visible line there may be hidden runs, too.
        let mut last = next;
        while last < self.runs.len() && !visible(&self.runs[last]) {
            last += 1;
        }
        best_place(previous..=last, &self.spans(), before_next)
    }

    /// What the hunk rests on and what it collides with (W4).
    fn relate(&mut self, id: HunkId, spans: &[Option<(usize, usize)>], on: &[bool]) {
        let is_on = |hunk: HunkId| on.get(hunk.index()).copied().unwrap_or(false);
        let Some((first, last)) = spans[id.index()] else { return };
        let mut depends = Vec::new();
        let mut collides = Vec::new();
        for run in &self.runs[first..=last] {
            let removes = run.removers.contains(&id);
            for maker in run.maker.iter().filter(|maker| **maker < id) {
                match is_on(*maker) {
                    true if removes => depends.push(*maker),
                    true => {}
                    false => collides.push(*maker),
                }
            }
            for remover in run.removers.iter().filter(|remover| **remover < id) {
                match is_on(*remover) {
                    true => depends.push(*remover),
                    false if removes => collides.push(*remover),
                    false => {}
                }
            }
        }
        for (index, span) in spans.iter().enumerate().take(on.len()) {
            let other = HunkId(index as u32);
            let Some((from, to)) = *span else { continue };
            let has_a_line = (from.max(first)..=to.min(last)).any(|at| self.runs[at].belongs_to(id));
            if has_a_line {
                if is_on(other) { &mut depends } else { &mut collides }.push(other);
            }
        }
        for list in [&mut depends, &mut collides] {
            list.sort_unstable();
            list.dedup();
        }
        for other in &collides {
            self.hunks[other.index()].collides.push(id);
        }
        let hunk = &mut self.hunks[id.index()];
        hunk.depends = depends;
        hunk.collides = collides;
    }

    /// The lines of a view as runs of ids.
    pub(crate) fn agent_ids(&mut self) -> Vec<IdRange> {
        self.refresh();
        let on = &self.agent.on;
        self.ids(|run| run.visible(|hunk| on[hunk.index()]))
    }
}

/// The position among runs that lies inside the fewest spans; of equals the first, or with `last` the last.
pub(crate) fn best_place(
    places: std::ops::RangeInclusive<usize>,
    spans: &[Option<(usize, usize)>],
    last: bool,
) -> usize {
    let inside = |at: usize| spans.iter().flatten().filter(|(from, to)| *from < at && at <= *to).count();
    let mut best = (*places.start(), usize::MAX);
    for at in places {
        let count = inside(at);
        if count < best.1 || (last && count == best.1) {
            best = (at, count);
        }
    }
    best.0
}
