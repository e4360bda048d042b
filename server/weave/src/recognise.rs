//! Recognising what happened (W9): deliveries, undo, redo and code actions that the client applied arrive as unmarked changes, in
//! pieces and mixed with typing. Each switch that could explain a touched stretch is tried, and kept where the view with it
//! fits the new text better.

use std::ops::Range;

use hashline_text::Text;

use crate::disturb::Spans;
use crate::hunk::HunkId;
use crate::journal::Turned;
use crate::plan::Plan;
use crate::region::Region;
use crate::run::Run;
use crate::stretch::{Contents, Misfit, Stretch};
use crate::typing::{How, UndoMark};
use crate::weave::Weave;

/// How many switches that nobody asked for are aligned per stretch.
const TRIED: usize = 32;
/// Lines that may be aligned for one notification, over all that is tried.
const LINES: usize = 2_000_000;
/// How often regions that have grown are looked at for further hunks that they touch.
const ROUNDS: usize = 4;

/// A change of the buffer view that may be what the new text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it would do.
    pub plan: Plan,
    /// What it is if the text shows it.
    pub how: How,
}

/// One hunk of a candidate, to be switched with all that goes with it; or a whole plan, where that does more than switch.
struct Unit<'a> {
    what: What<'a>,
    how: How,
    /// Whether it was asked for.
    asked: bool,
}

enum What<'a> {
    Hunk(HunkId, bool),
    Plan(&'a Plan),
}

/// What the new text shows.
pub(crate) struct Recognised {
    pub stretches: Vec<Stretch>,
    /// What was switched, in this order.
    pub kept: Vec<(Plan, How)>,
    /// Something seems to be under way.
    pub half_shown: bool,
}

/// The state while switches are tried.
struct Trial<'a> {
    weave: &'a Weave,
    spans: Spans,
    stretches: Vec<Stretch>,
    contents: Vec<Contents<'a>>,
    on: Vec<bool>,
    /// Lines that may still be aligned.
    lines: usize,
}

/// How a plan fared.
#[derive(PartialEq, Eq)]
enum Verdict {
    /// It is what the text shows, in full or but for typing in it.
    Kept { full: bool },
    /// Some of it seems to be there.
    Partly,
    /// Nothing of it is there.
    No,
    /// That nothing of it is there was clear without a closer look.
    Implausible,
}

impl Weave {
    /// Finds the switches that the new text shows, and aligns what they leave.
    pub(crate) fn recognise(
        &mut self,
        regions: &[Region],
        new: &Text,
        asked: &[Candidate],
        mark: Option<UndoMark>,
    ) -> Recognised {
        for region in regions {
            self.stretch_of(region);
        }
        let spans = self.spans();
        let (reach, plans) = self.reach(regions, &spans, asked, mark.is_some());
        let (stretches, contents): (Vec<_>, Vec<_>) =
            reach.into_iter().map(|(region, runs)| Stretch::of(self, region, runs, new)).unzip();
        let mut tried = TRIED * stretches.len();
        let on = self.on.clone();
        let mut trial = Trial { weave: self, spans, stretches, contents, on, lines: LINES };
        let mut kept: Vec<(Plan, How)> = Vec::new();
        let mut half_shown = false;
        for (plan, how, asked) in plans {
            if !asked && (tried == 0 || !trial.is_open()) {
                break;
            }
            let Some(plan) = trial.open_part(&plan) else { continue };
            let verdict = trial.attempt(&plan, how, mark.is_some());
            tried -= usize::from(!asked && verdict != Verdict::Implausible);
            match verdict {
                Verdict::Kept { full } => {
                    half_shown |= !full && how != How::Seen;
                    kept.push((plan, how));
                }
                Verdict::Partly => half_shown |= how != How::Seen,
                Verdict::No | Verdict::Implausible => {}
            }
        }
        for candidate in asked {
            let there = |(hunk, on): (HunkId, bool)| trial.on[hunk.index()] == on;
            let was = |(hunk, on): (HunkId, bool)| self.on[hunk.index()] == on;
            let switches = || candidate.plan.switches().filter(|switch| !was(*switch));
            half_shown |= switches().any(there) && !switches().all(there);
        }
        half_shown &= trial.is_open() || kept.iter().any(|(_, how)| matches!(how, How::Asked(_)));
        Recognised { stretches: trial.stretches, kept, half_shown }
    }

    /// The regions with their runs, grown to the hunks that they touch: a client may report a hunk in parts, cut to what
    /// differs. And what may explain them, in the order in which it is to be tried.
    #[expect(clippy::type_complexity, reason = "used in one place")]
    fn reach(
        &mut self,
        regions: &[Region],
        spans: &Spans,
        asked: &[Candidate],
        marked: bool,
    ) -> (Vec<(Region, Range<usize>)>, Vec<(Plan, How, bool)>) {
        let mut reach: Vec<(usize, usize)> = regions.iter().map(|region| self.stretch_of(region)).collect();
        if self.hunks.is_empty() {
            let runs = reach.into_iter().map(|(from, to)| from..to);
            return (regions.iter().cloned().zip(runs).collect(), Vec::new());
        }
        let touched: usize = regions.iter().map(|region| region.old.len() + region.new.len()).sum();
        let mut units: Vec<Option<Unit<'_>>> = self.units(asked, marked).into_iter().map(Some).collect();
        let mut chosen: Vec<(usize, (Plan, How, bool))> = Vec::new();
        // A region that has grown may touch further hunks.
        for _ in 0..ROUNDS {
            let before = chosen.len();
            for (order, slot) in units.iter_mut().enumerate() {
                let Some(unit) = slot else { continue };
                if let What::Hunk(hunk, _) = unit.what
                    && !spans[hunk.index()].is_some_and(|span| is_near(&reach, span))
                {
                    continue;
                }
                let plan = match unit.what {
                    What::Hunk(hunk, on) => self.plan_with(hunk, on),
                    What::Plan(plan) => plan.clone(),
                };
                let parts = self.parts(&plan, spans);
                if !parts.iter().all(|span| is_near(&reach, *span)) {
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
                    parts.iter().for_each(|part| cover(&mut reach, *part));
                    chosen.push((order, (plan, unit.how, unit.asked)));
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
    fn units<'a>(&self, asked: &'a [Candidate], marked: bool) -> Vec<Unit<'a>> {
        let mut units = Vec::new();
        for candidate in asked {
            let (how, asked) = (candidate.how, true);
            if candidate.plan.only_switches() {
                let open = candidate.plan.switches().filter(|(hunk, on)| self.in_buffer(*hunk) != *on);
                units.extend(open.map(|(hunk, on)| Unit { what: What::Hunk(hunk, on), how, asked }));
            } else {
                units.push(Unit { what: What::Plan(&candidate.plan), how, asked });
            }
        }
        let turns = self.journal.switches().into_iter().map(|(hunk, turned)| {
            let Turned { origin, undone } = turned;
            let how = if undone { How::Undone(origin) } else { How::Redone(origin) };
            Unit { what: What::Hunk(hunk, !self.in_buffer(hunk)), how, asked: false }
        });
        let at = if marked { 0 } else { units.len() };
        units.splice(at..at, turns);
        let held = self.hunks().filter(|hunk| !self.in_buffer(*hunk) && !self.is_refused(*hunk));
        units.extend(held.map(|hunk| Unit { what: What::Hunk(hunk, true), how: How::Seen, asked: false }));
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
            let inside = move |run: &Run| run.ids.first.0 < ids.end() && ids.first.0 < run.ids.end();
            let runs = self.runs.iter().enumerate().filter(move |(_, run)| inside(run));
            runs.map(|(index, _)| (index, index))
        });
        hunks.chain(moved).collect()
    }

    /// How many lines a plan shows or hides.
    fn weight(&self, plan: &Plan, parts: &[(usize, usize)]) -> usize {
        let mut runs: Vec<usize> = parts.iter().flat_map(|(first, last)| *first..=*last).collect();
        runs.sort_unstable();
        runs.dedup();
        let on = |hunk: HunkId| {
            let switched = plan.switches().find(|(switched, _)| *switched == hunk);
            switched.map_or(self.in_buffer(hunk), |(_, on)| on)
        };
        let differs = |run: &&Run| run.visible(on) != run.visible(|hunk| self.in_buffer(hunk));
        let switched: usize = runs.iter().map(|index| &self.runs[*index]).filter(differs).map(Run::len).sum();
        switched + plan.moves().map(|(ids, _)| ids.len).sum::<usize>()
    }

    /// The regions as the runs that they have grown to.
    fn grown(&self, regions: &[Region], reach: &[(usize, usize)]) -> Vec<(Region, Range<usize>)> {
        let mut starts = Vec::with_capacity(self.runs.len() + 1);
        let mut line = 0;
        for run in &self.runs {
            starts.push(line);
            line += if run.shown { run.len() } else { 0 };
        }
        starts.push(line);
        let hidden = |run: usize| self.runs.get(run).is_some_and(|run| !run.shown);
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

/// Whether runs overlap with one of some ranges of runs, or touch it.
fn is_near(reach: &[(usize, usize)], (first, last): (usize, usize)) -> bool {
    let at = reach.partition_point(|(_, to)| *to < first);
    reach.get(at).is_some_and(|(from, _)| *from <= last + 1)
}

/// Grows ranges of runs to hold these, which are near one of them.
fn cover(reach: &mut Vec<(usize, usize)>, (first, last): (usize, usize)) {
    let from = reach.partition_point(|(_, to)| *to < first);
    let to = reach.partition_point(|(from, _)| *from <= last + 1);
    if from < to {
        let all = (reach[from].0.min(first), reach[to - 1].1.max(last + 1));
        reach.splice(from..to, [all]);
    }
}

impl Trial<'_> {
    /// Whether something of the new text is not explained.
    fn is_open(&self) -> bool {
        self.stretches.iter().any(|stretch| stretch.unmatched() > 0)
    }

    /// What of a plan is still to be done; none where nothing is, or where the hunks would not fit together.
    fn open_part(&self, plan: &Plan) -> Option<Plan> {
        let mut open = plan.clone();
        open.on.retain(|hunk| !self.on[hunk.index()]);
        open.off.retain(|hunk| self.on[hunk.index()]);
        let on =
            |hunk: &HunkId| (self.on[hunk.index()] || open.on.contains(hunk)) && !open.off.contains(hunk);
        let valid = open.on.iter().all(|id| {
            let hunk = self.weave.hunk(*id);
            hunk.depends.iter().all(on) && !hunk.collides.iter().any(on)
        }) && open.off.iter().all(|id| !self.weave.hunk(*id).dependents.iter().any(on));
        let idle = open.on.is_empty() && open.off.is_empty() && open.only_switches();
        (valid && !idle).then_some(open)
    }

    /// Switches a plan if the new text shows it.
    fn attempt(&mut self, plan: &Plan, how: How, marked: bool) -> Verdict {
        let toggled: Vec<Vec<usize>> =
            self.stretches.iter().map(|stretch| self.toggled(stretch, plan)).collect();
        let wished = marked || matches!(how, How::Asked(_));
        let lines: usize = toggled.iter().map(Vec::len).sum();
        let plausible = |(stretch, toggled): (&Stretch, &Vec<usize>)| {
            toggled.iter().any(|at| {
                let item = &stretch.items[*at];
                if item.visible { item.pair.is_none() } else { stretch.open[item.name as usize] > 0 }
            })
        };
        let plausible = self.stretches.iter().zip(&toggled).any(plausible);
        if lines == 0 || self.lines == 0 || !(plausible || wished) {
            return Verdict::Implausible;
        }
        let (mut was, mut would) = (Misfit::default(), Misfit::default());
        let mut found = Vec::new();
        // The lines that it would show, and those of them that are in the text.
        let (mut shown, mut found_lines) = (0, 0);
        for (index, toggled) in toggled.iter().enumerate() {
            let (stretch, contents) = (&self.stretches[index], &self.contents[index]);
            let contents = wished.then_some(contents);
            shown += toggled.iter().filter(|at| !stretch.items[**at].visible).count();
            for window in stretch.windows(toggled) {
                let new = window.pairs.iter().filter(|(item, _)| !stretch.items[*item].visible);
                found_lines += new.count();
                self.lines = self.lines.saturating_sub(window.items.len() + window.new.len());
                was += stretch.misfit(&window, contents);
                would += stretch.misfit_toggled(&window, toggled, contents);
                found.push((index, window));
            }
        }
        let full = was.old + was.new == would.old + would.new + lines;
        // What the lines that are there explain has to stay explained.
        let whole = would.new <= was.new;
        let kept = match how {
            How::Seen => full,
            _ if wished => whole && would.bytes < was.bytes,
            // Nobody says so: only on the word of at least half of the lines that it would show.
            _ => whole && would.gaps < was.gaps && (full || (shown > 0 && 2 * found_lines >= shown)),
        };
        if !kept {
            return if plausible { Verdict::Partly } else { Verdict::No };
        }
        for (stretch, toggled) in self.stretches.iter_mut().zip(&toggled) {
            for at in toggled {
                stretch.items[*at].visible = !stretch.items[*at].visible;
            }
        }
        for (index, window) in found {
            self.stretches[index].take(window);
        }
        plan.switches().for_each(|(hunk, on)| self.on[hunk.index()] = on);
        for (ids, gone) in plan.moves() {
            let all = self.stretches.iter_mut().flat_map(|stretch| &mut stretch.items);
            all.filter(|item| ids.contains(self.weave.runs[item.run].ids.at(item.at)))
                .for_each(|item| item.gone = gone);
        }
        Verdict::Kept { full }
    }

    /// The items of a stretch that a plan shows or hides.
    fn toggled(&self, stretch: &Stretch, plan: &Plan) -> Vec<usize> {
        let on =
            |hunk: HunkId| (self.on[hunk.index()] || plan.on.contains(&hunk)) && !plan.off.contains(&hunk);
        let mut runs: Vec<usize> = if plan.only_switches() {
            let spans = plan.switches().filter_map(|(hunk, _)| self.spans[hunk.index()]);
            spans.flat_map(|(first, last)| first..=last).filter(|run| stretch.runs.contains(run)).collect()
        } else {
            stretch.runs.clone().collect()
        };
        runs.sort_unstable();
        runs.dedup();
        let mut toggled = Vec::new();
        for index in runs {
            let run = &self.weave.runs[index];
            let allowed = run.allowed(on);
            for at in stretch.items_of(index) {
                let item = &stretch.items[at];
                let moved = plan.moves().find(|(ids, _)| ids.contains(run.ids.at(item.at)));
                let gone = moved.map_or(item.gone, |(_, gone)| gone);
                if item.visible == (gone || !allowed) {
                    toggled.push(at);
                }
            }
        }
        toggled
    }
}
