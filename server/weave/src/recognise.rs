//! Recognising what happened (W9): deliveries, undo, redo and code actions that the client applied arrive as unmarked changes, in
//! pieces and mixed with typing. Each switch that could explain a touched region is tried, and kept where the view with it
//! leaves fewer lines unexplained.

use hashline_text::Text;

use crate::align::unmatched;
use crate::hunk::HunkId;
use crate::region::Region;
use crate::switch::Plan;
use crate::typing::{How, UndoMark};
use crate::weave::Weave;

/// How many switches are tried for one notification, where its regions are small; fewer for large ones.
const TRIED: usize = 32;
/// Lines that may be aligned for one notification, over all that is tried.
const LINES: usize = 400_000;

/// A change of the buffer view that may be what the new text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it would do.
    pub plan: Plan,
    /// What it is if the text shows it.
    pub how: How,
}

/// A switch that was kept, and the hunks that it switches.
pub(crate) type Kept = (Candidate, Vec<(HunkId, bool)>);

impl Weave {
    /// Finds the switches that the new text shows. Returns the regions, grown to the hunks that they touch, what was
    /// kept, and whether something seems to be under way.
    pub(crate) fn recognise(
        &mut self,
        mut regions: Vec<Region>,
        new: &Text,
        asked: &[Candidate],
        mark: Option<UndoMark>,
    ) -> (Vec<Region>, Vec<Kept>, bool) {
        if self.hunks.is_empty() || regions.is_empty() {
            return (regions, Vec::new(), false);
        }
        let mut candidates = asked.to_vec();
        let at = if mark.is_some() { 0 } else { candidates.len() };
        candidates.splice(at..at, self.turns());
        candidates.extend(self.sights());
        let candidates = self.relevant(&mut regions, candidates);
        let size: usize = regions.iter().map(|region| region.old.len() + region.new.len() + 1).sum();
        let tried = (LINES / size).clamp(1, TRIED);

        let mut best = self.clone();
        let mut left = best.unexplained(&regions, new);
        let mut kept = Vec::new();
        let mut half_shown = false;
        for candidate in candidates.into_iter().take(tried) {
            if left == 0 {
                break;
            }
            let switches = best.switches_of(&candidate.plan);
            let moves_lines = !candidate.plan.drop.is_empty() || !candidate.plan.revive.is_empty();
            if switches.is_empty() && !moves_lines {
                continue;
            }
            let mut trial = best.clone();
            trial.set(&candidate.plan);
            if trial.check().is_err() {
                continue;
            }
            let rest = trial.unexplained(&regions, new);
            let enough = match candidate.how {
                // Nobody asked: only if every line of it is as it should be.
                How::Seen => rest < left && left - rest == best.weight(&trial),
                How::Asked(_) | How::Undone(_) | How::Redone(_) => rest < left,
            };
            if enough {
                best = trial;
                left = rest;
                half_shown |= rest > 0 && candidate.how != How::Seen;
                kept.push((candidate, switches));
            } else {
                half_shown |= matches!(candidate.how, How::Asked(_));
            }
        }
        (regions, kept, half_shown && left > 0)
    }

    /// The switches of the journal, turned round: an undo of each, or a redo.
    fn turns(&self) -> Vec<Candidate> {
        let turn = |(hunk, on, entry): (HunkId, bool, _)| {
            let how = if self.in_buffer(hunk) == on { How::Undone(entry) } else { How::Redone(entry) };
            let plan = if self.in_buffer(hunk) {
                let dependents = self.with_dependents(hunk);
                let off: Vec<_> = dependents.into_iter().filter(|hunk| self.in_buffer(*hunk)).collect();
                Plan::switch(&[], &off)
            } else {
                Plan::switch(&self.with_prerequisites(hunk), &[])
            };
            Candidate { plan, how }
        };
        self.journal.switches().into_iter().map(turn).collect()
    }

    /// The held hunks, each as something that the person may have typed or applied unasked.
    fn sights(&self) -> Vec<Candidate> {
        self.hunks()
            .filter(|hunk| !self.in_buffer(*hunk) && !self.is_refused(*hunk))
            .map(|hunk| Candidate { plan: Plan::switch(&self.with_prerequisites(hunk), &[]), how: How::Seen })
            .collect()
    }

    /// The hunks that a plan really switches.
    fn switches_of(&self, plan: &Plan) -> Vec<(HunkId, bool)> {
        let on = plan.on.iter().filter(|hunk| !self.in_buffer(**hunk)).map(|hunk| (*hunk, true));
        let off = plan.off.iter().filter(|hunk| self.in_buffer(**hunk)).map(|hunk| (*hunk, false));
        on.chain(off).collect()
    }

    /// Keeps the candidates all of whose hunks lie where the text was touched, and grows the regions to those hunks'
    /// spans: a client may report a hunk in parts, cut to what differs.
    fn relevant(&mut self, regions: &mut Vec<Region>, candidates: Vec<Candidate>) -> Vec<Candidate> {
        for region in regions.iter() {
            self.stretch_of(region);
        }
        let spans = self.spans();
        let starts = self.starts();
        let hunks_of = |plan: &Plan| -> Vec<(usize, usize)> {
            let all = plan.on.iter().chain(&plan.off);
            all.filter_map(|hunk| spans[hunk.index()]).collect()
        };
        let mut stretches: Vec<(usize, usize)> =
            regions.clone().iter().map(|region| self.stretch_of(region)).collect();
        let mut chosen = Vec::new();
        let mut waiting = candidates;
        // A region that has grown may touch further hunks.
        for _ in 0..4 {
            let before = chosen.len();
            waiting.retain(|candidate| {
                let spans = hunks_of(&candidate.plan);
                let mut touched = 0;
                for (first, last) in &spans {
                    if let Some((from, to)) =
                        stretches.iter_mut().find(|(from, to)| first < to && last >= from)
                    {
                        *from = (*from).min(*first);
                        *to = (*to).max(*last + 1);
                        touched += 1;
                    }
                }
                if touched > 0 && touched == spans.len() {
                    chosen.push(candidate.clone());
                }
                touched < spans.len() || spans.is_empty()
            });
            if chosen.len() == before {
                break;
            }
        }
        for (region, (from, to)) in regions.iter_mut().zip(stretches) {
            let start = starts[from].min(region.old.start);
            let end = starts[to].max(region.old.end);
            region.new.start -= region.old.start - start;
            region.new.end += end - region.old.end;
            region.old = start..end;
        }
        merge(regions);
        chosen
    }

    /// The number of the buffer's lines before each run, and behind the last.
    fn starts(&self) -> Vec<usize> {
        let mut starts = Vec::with_capacity(self.runs.len() + 1);
        let mut line = 0;
        for run in &self.runs {
            starts.push(line);
            line += if run.shown { run.len() } else { 0 };
        }
        starts.push(line);
        starts
    }

    /// How many lines of the regions the hunks that are set now do not explain.
    fn unexplained(&mut self, regions: &[Region], new: &Text) -> usize {
        let mut count = 0;
        for region in regions {
            let (from, to) = self.stretch_of(region);
            let expected = self.expected(from..to);
            let fresh: Vec<_> = new.lines(region.new.clone()).map(|line| line.content()).collect();
            let old: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
            let fresh: Vec<&str> = fresh.iter().map(AsRef::as_ref).collect();
            count += unmatched(&old, &fresh);
        }
        count
    }

    /// How many lines are visible in just one of two states of the weave, which differ in their hunks only.
    fn weight(&self, other: &Self) -> usize {
        let differs = |run: &&crate::run::Run| self.will_show(run) != other.will_show(run);
        other.runs.iter().filter(differs).map(crate::run::Run::len).sum()
    }
}

/// Joins regions that have come to overlap.
fn merge(regions: &mut Vec<Region>) {
    let mut merged: Vec<Region> = Vec::with_capacity(regions.len());
    for region in regions.drain(..) {
        match merged.last_mut() {
            Some(last) if region.old.start <= last.old.end => {
                let end = last.old.end.max(region.old.end);
                // Both have the same lines behind them: what is beyond a region is the same on both sides.
                last.new.end = if end == region.old.end { region.new.end } else { last.new.end };
                last.old.end = end;
                last.before_next = false;
            }
            _ => merged.push(region),
        }
    }
    *regions = merged;
}
