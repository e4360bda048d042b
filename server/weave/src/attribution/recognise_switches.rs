//! Recognising what happened (rule W9): deliveries, undo, redo and code actions that the client applied arrive as unmarked changes, in
//! pieces and mixed with typing. Each switch that could explain a touched stretch is tried, and kept where the view with it
//! fits the new text better.

use std::ops::Range;

use hashline_text::Text;

use crate::attribution::aligned_region::Stretch;
use crate::attribution::interpretation::{Candidate, How};
use crate::attribution::journal::Turned;
use crate::attribution::region::Region;
use crate::attribution::switch_trial::{Look, Trial, Verdict, switched};
use crate::attribution::weave::Weave;
use crate::model::{HunkId, Plan, Run, Spans};

/// How many switches that nobody asked for are aligned per stretch.
const TRIED: usize = 32;
/// Lines that may be aligned for one notification, over all that is tried.
const LINES: usize = 2_000_000;
/// How many lines around what was touched are looked at for hunks: where equal lines repeat, a client may report another of them.
const AROUND: usize = 8;
/// How many of the latest changes are tried as a whole.
pub(crate) const WHOLE: usize = 4;

/// One hunk of a candidate, to be switched with all that goes with it; or a whole plan.
struct Unit {
    what: What,
    how: How,
    /// Whether it was asked for.
    asked: bool,
    /// Whether the text has to show all of it as it is.
    exact: bool,
}

enum What {
    Hunk(HunkId, bool),
    Plan(Plan),
}

/// A unit that lies where the text was touched.
struct Try {
    plan: Plan,
    how: How,
    asked: bool,
    exact: bool,
}

/// What the new text shows.
pub(crate) struct Recognised {
    pub stretches: Vec<Stretch>,
    /// What was switched, in this order.
    pub kept: Vec<(Plan, How)>,
    /// Something seems to be under way.
    pub half_shown: bool,
}

impl Weave {
    /// Finds the switches that the new text shows, and aligns what they leave.
    pub(crate) fn recognise(&mut self, regions: &[Region], new: &Text, asked: &[Candidate]) -> Recognised {
        for region in regions {
            self.model.stretch_of(&region.old);
        }
        let spans = self.spans();
        let (reach, tries) = self.reach(regions, &spans, asked);
        let (stretches, contents): (Vec<_>, Vec<_>) =
            reach.into_iter().map(|(region, runs)| Stretch::of(&self.model, region, runs, new)).unzip();
        let mut tried = TRIED * stretches.len();
        let on = self.on().to_vec();
        let mut trial =
            Trial { model: &self.model, spans, stretches, contents, on, lines: LINES, open: true };
        trial.look();
        let mut kept: Vec<(Plan, How)> = Vec::new();
        let mut half_shown = false;
        // What one switch leaves may be what another needs to be seen: so long as something is found, the rest is tried again. What the
        // text only resembles comes last.
        let mut left = tries;
        let mut partly = false;
        let mut resembling = false;
        loop {
            let found = kept.len();
            let mut again = Vec::new();
            for one in left {
                if !one.asked && (tried == 0 || !trial.open) {
                    break;
                }
                let Some(plan) = trial.open_part(&one.plan) else { continue };
                let look = Look { exact: one.exact, resembling };
                let verdict = trial.attempt(&plan, one.how, look);
                tried -= usize::from(!one.asked && verdict != Verdict::Implausible);
                match verdict {
                    Verdict::Kept { full } => {
                        half_shown |= !full && one.how != How::Seen;
                        kept.push((plan, one.how));
                    }
                    Verdict::Partly => {
                        partly |= resembling && one.how != How::Seen && !one.exact;
                        again.push(one);
                    }
                    // It may resemble what is left.
                    Verdict::No | Verdict::Implausible if one.asked && !one.exact => again.push(one),
                    Verdict::No | Verdict::Implausible => {}
                }
            }
            left = again;
            if resembling {
                break;
            }
            resembling = kept.len() == found;
        }
        half_shown |= partly;
        for candidate in asked {
            let there = |(hunk, on): (HunkId, bool)| trial.on[hunk.index()] == on;
            let was = |(hunk, on): (HunkId, bool)| self.in_buffer(hunk) == on;
            let switches = || candidate.plan.switches().filter(|switch| !was(*switch));
            half_shown |= switches().any(there) && !switches().all(there);
        }
        half_shown &= trial.open || kept.iter().any(|(_, how)| matches!(how, How::Asked(_)));
        Recognised { stretches: trial.stretches, kept, half_shown }
    }

    /// What was asked for, or what takes one of the `turns` latest changes back, if the text is exactly what it leads to.
    pub(crate) fn exactly(
        &self,
        regions: &[Region],
        new: &Text,
        asked: &[Candidate],
        turns: usize,
    ) -> Option<(Plan, How)> {
        let touched = touched(regions);
        let turns = self.turns().into_iter().take(turns).map(|unit| match unit.what {
            What::Plan(plan) => (plan, unit.how),
            What::Hunk(hunk, on) => (self.plan_with(hunk, on), unit.how),
        });
        let turns = turns.take(WHOLE).filter(|(plan, _)| could_show(plan, touched));
        let asked = asked.iter().map(|candidate| (candidate.plan.clone(), candidate.how));
        let leads_there = |(plan, _): &(Plan, How)| {
            if !plan.only_switches() {
                let mut done = self.model.clone();
                return done.carry_out(plan).is_ok_and(|_| done.buffer().same_contents(new));
            }
            let with = switched(self.on(), plan);
            let on = |hunk: HunkId| with[hunk.index()];
            let lines: usize = self.runs().iter().filter(|run| run.visible(on)).map(Run::len).sum();
            with != self.on()
                && self.check_places(plan).is_ok()
                && lines == new.line_count()
                && self.check(on).is_ok()
                && self.shift(on).is_ok_and(|(text, _)| text.same_contents(new))
        };
        asked.chain(turns).find(leads_there)
    }

    /// The lines around what was touched, aligned with the new text.
    pub(crate) fn stretches(&mut self, regions: &[Region], new: &Text) -> Vec<Stretch> {
        for region in regions {
            self.model.stretch_of(&region.old);
        }
        let reach: Vec<(usize, usize)> =
            regions.iter().map(|region| self.model.stretch_of(&region.old)).collect();
        let grown = self.grown(regions, &reach);
        grown.into_iter().map(|(region, runs)| Stretch::of(&self.model, region, runs, new).0).collect()
    }

    /// The regions with their runs, grown to the hunks that they touch: a client may report a hunk in parts, cut to what
    /// differs. And what may explain them, in the order in which it is to be tried.
    fn reach(
        &mut self,
        regions: &[Region],
        spans: &Spans,
        asked: &[Candidate],
    ) -> (Vec<(Region, Range<usize>)>, Vec<Try>) {
        let mut reach: Vec<(usize, usize)> =
            regions.iter().map(|region| self.model.stretch_of(&region.old)).collect();
        let starts = self.starts();
        if self.on().is_empty() {
            let runs = reach.into_iter().map(|(from, to)| from..to);
            return (regions.iter().cloned().zip(runs).collect(), Vec::new());
        }
        let touched = touched(regions);
        let mut units: Vec<Option<Unit>> = self.units(asked).into_iter().map(Some).collect();
        let mut chosen: Vec<(usize, Try)> = Vec::new();
        // A region that has grown may touch further hunks.
        for around in [AROUND, 0, 0, 0] {
            let before = chosen.len();
            let seen = reach.clone();
            for (order, slot) in units.iter_mut().enumerate() {
                let Some(unit) = slot else { continue };
                if let What::Hunk(hunk, _) = unit.what
                    && !spans[hunk.index()].is_some_and(|span| is_near(&seen, &starts, around, span))
                {
                    continue;
                }
                let plan = match &unit.what {
                    What::Hunk(hunk, on) => self.plan_with(*hunk, *on),
                    What::Plan(plan) => plan.clone(),
                };
                if unit.exact && !unit.asked && !could_show(&plan, touched) {
                    *slot = None;
                    continue;
                }
                let parts = self.parts(&plan, spans);
                if !parts.iter().all(|span| is_near(&seen, &starts, around, *span)) {
                    continue;
                }
                let weight = self.weight(&plan, &parts);
                let most = match unit.how {
                    How::Asked(_) => usize::MAX,
                    // Every line of it has to be among those that were touched.
                    How::Seen => touched,
                    How::Undone(_) | How::Redone(_) => 256 * (touched + 4),
                };
                if weight > 0 && weight <= most {
                    parts.iter().for_each(|part| cover(&mut reach, &starts, around, *part));
                    let (how, asked, exact) = (unit.how, unit.asked, unit.exact);
                    chosen.push((order, Try { plan, how, asked, exact }));
                }
                *slot = None;
            }
            if chosen.len() == before {
                break;
            }
        }
        chosen.sort_by_key(|(order, _)| *order);
        (self.grown(regions, &reach), chosen.into_iter().map(|(_, unit)| unit).collect())
    }

    /// All that could explain a change: what was asked for, the switches of the journal turned round, and the held hunks, as
    /// the person may have typed or applied them unasked.
    fn units(&self, asked: &[Candidate]) -> Vec<Unit> {
        let mut units = Vec::new();
        for candidate in asked {
            let (how, asked) = (candidate.how, true);
            let only_switches = candidate.plan.only_switches();
            let open = || candidate.plan.switches().filter(|(hunk, on)| self.in_buffer(*hunk) != *on);
            if !only_switches || open().nth(1).is_some() {
                let what = What::Plan(candidate.plan.clone());
                units.push(Unit { what, how, asked, exact: only_switches });
            }
            if only_switches {
                let unit = |(hunk, on)| Unit { what: What::Hunk(hunk, on), how, asked, exact: false };
                units.extend(open().map(unit));
            }
        }
        units.extend(self.turns());
        // Of a hunk that something stands against, or against what has to come with it, the text cannot show all: where it looks so, the
        // person did it.
        let disturbed = self.disturbances();
        let may_be_seen = |hunk: &HunkId| !self.is_refused(*hunk) && disturbed[hunk.index()].is_none();
        let held = self.hunks().filter(|hunk| !self.in_buffer(*hunk));
        let held = held.filter(|hunk| self.with_prerequisites(*hunk).iter().all(may_be_seen));
        let unit = |hunk| Unit { what: What::Hunk(hunk, true), how: How::Seen, asked: false, exact: true };
        units.extend(held.map(unit));
        units
    }

    /// The switches of the journal turned round, newest first: those that were made at once as a whole, and each.
    fn turns(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let switches = self.journal.switches();
        for same in switches.chunk_by(|(_, left), (_, right)| left == right) {
            let Turned { origin, undone } = same[0].1;
            let how = if undone { How::Undone(origin) } else { How::Redone(origin) };
            let unit = |what, exact| Unit { what, how, asked: false, exact };
            if same.len() > 1 {
                let hunks = same.iter().map(|(hunk, _)| *hunk);
                let (off, on): (Vec<_>, Vec<_>) = hunks.partition(|hunk| self.in_buffer(*hunk));
                units.push(unit(What::Plan(Plan::switch(&on, &off)), true));
            }
            units.extend(same.iter().map(|(hunk, _)| unit(What::Hunk(*hunk, !self.in_buffer(*hunk)), false)));
        }
        units
    }

    /// The plan that switches a hunk, with all that has to be switched with it.
    fn plan_with(&self, hunk: HunkId, on: bool) -> Plan {
        if on {
            return Plan::switch(&self.with_prerequisites(hunk), &[]);
        }
        let mut off = self.with_dependents(hunk);
        off.retain(|hunk| self.in_buffer(*hunk));
        Plan::switch(&[], &off)
    }

    /// The runs that a plan is about.
    fn parts(&self, plan: &Plan, spans: &Spans) -> Vec<(usize, usize)> {
        let hunks = plan.switches().filter_map(|(hunk, _)| spans[hunk.index()]);
        let moved = plan.moves().flat_map(|(ids, _)| {
            let inside = move |run: &Run| run.ids().overlaps(ids);
            let runs = self.runs().iter().enumerate().filter(move |(_, run)| inside(run));
            runs.map(|(index, _)| (index, index))
        });
        hunks.chain(moved).collect()
    }

    /// How many lines a plan shows or hides.
    fn weight(&self, plan: &Plan, parts: &[(usize, usize)]) -> usize {
        let mut runs: Vec<usize> = parts.iter().flat_map(|(first, last)| *first..=*last).collect();
        runs.sort_unstable();
        runs.dedup();
        let with = switched(self.on(), plan);
        let on = |hunk: HunkId| with[hunk.index()];
        let differs = |run: &&Run| run.visible(on) != run.visible(|hunk| self.in_buffer(hunk));
        let switched: usize =
            runs.iter().map(|index| &self.runs()[*index]).filter(differs).map(Run::len).sum();
        switched + plan.moves().map(|(ids, _)| ids.len).sum::<usize>()
    }

    /// The number of the buffer's lines before each run, and behind the last.
    fn starts(&self) -> Vec<usize> {
        let mut line = 0;
        let mut starts: Vec<usize> = Vec::with_capacity(self.runs().len() + 1);
        for run in self.runs() {
            starts.push(line);
            line += if run.is_shown() { run.len() } else { 0 };
        }
        starts.push(line);
        starts
    }

    /// The regions as the runs that they have grown to.
    fn grown(&self, regions: &[Region], reach: &[(usize, usize)]) -> Vec<(Region, Range<usize>)> {
        let starts = self.starts();
        let hidden = |run: usize| self.runs().get(run).is_some_and(|run| !run.is_shown());
        let mut whole: Vec<(usize, usize)> = Vec::new();
        for (mut from, mut to) in reach.iter().copied() {
            while from > 0 && hidden(from - 1) {
                from -= 1;
            }
            while hidden(to) {
                to += 1;
            }
            match whole.last_mut() {
                Some(last) if from < last.1 => last.1 = last.1.max(to),
                _ => whole.push((from, to)),
            }
        }
        // Beyond the regions that it began with, a grown one has the same lines on both sides.
        let mut left = regions.iter().peekable();
        let mut shift = 0isize;
        let mut grown = Vec::with_capacity(whole.len());
        for (from, to) in whole {
            let (start, end) = (starts[from], starts[to]);
            let new_start = start.saturating_add_signed(shift);
            let mut inside = 0;
            let mut before_next = false;
            while let Some(region) = left.next_if(|region| region.old.end <= end) {
                shift += region.new.len() as isize - region.old.len() as isize;
                inside += 1;
                before_next = region.before_next;
            }
            let new = new_start..end.saturating_add_signed(shift);
            let region = Region { old: start..end, new, before_next: before_next && inside == 1 };
            grown.push((region, from..to));
        }
        grown
    }
}

/// How many lines were touched, before and after.
fn touched(regions: &[Region]) -> usize {
    regions.iter().map(|region| region.old.len() + region.new.len()).sum()
}

/// Whether so few touched lines can show a plan as a whole: each of its hunks touches one at least.
fn could_show(plan: &Plan, touched: usize) -> bool {
    plan.on.len() + plan.off.len() <= touched
}

/// Which of some ranges of runs these runs overlap with, or come near to.
fn near(
    reach: &[(usize, usize)],
    starts: &[usize],
    around: usize,
    (first, last): (usize, usize),
) -> Range<usize> {
    let (start, end) = (starts[first], starts[last + 1]);
    let before = |to: usize| to < first && starts[to] + around <= start;
    let from = reach.partition_point(|(_, to)| before(*to));
    let behind = |from: usize| from > last + 1 && starts[from] >= end + around;
    let to = reach.partition_point(|(from, _)| !behind(*from));
    from..to.max(from)
}

fn is_near(reach: &[(usize, usize)], starts: &[usize], around: usize, span: (usize, usize)) -> bool {
    !near(reach, starts, around, span).is_empty()
}

/// Grows ranges of runs to hold these, which are near one of them.
fn cover(reach: &mut Vec<(usize, usize)>, starts: &[usize], around: usize, span: (usize, usize)) {
    let near = near(reach, starts, around, span);
    if !near.is_empty() {
        let all = (reach[near.start].0.min(span.0), reach[near.end - 1].1.max(span.1 + 1));
        reach.splice(near, [all]);
    }
}
