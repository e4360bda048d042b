//! Trying switches against a new text (rule W9): what each would show and hide is compared with what is there, in windows around its lines.

use std::collections::HashSet;

use crate::attribution::aligned_region::{Contents, Misfit, Stretch};
use crate::attribution::interpretation::{Cost, How};
use crate::model::{HunkId, Model, Plan, Spans};

/// The state while switches are tried.
pub(crate) struct Trial<'a> {
    pub model: &'a Model,
    pub spans: Spans,
    pub stretches: Vec<Stretch>,
    pub contents: Vec<Contents<'a>>,
    pub on: Vec<bool>,
    /// Lines that may still be aligned.
    pub lines: usize,
    /// Whether something of the new text is not explained.
    pub open: bool,
}

/// How the text is looked at for a plan.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// It has to show all of the plan as it is.
    pub exact: bool,
    /// Lines that are for the most part those of the plan count for them.
    pub resembling: bool,
}

/// How a plan fared.
#[derive(PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is what the text shows, in full or but for typing in it.
    Kept { full: bool },
    /// Some of it seems to be there.
    Partly,
    /// Nothing of it is there.
    No,
    /// That nothing of it is there was clear without a closer look.
    Implausible,
}

/// Which hunks are on when a plan is carried out.
pub(crate) fn switched(on: &[bool], plan: &Plan) -> Vec<bool> {
    let mut with = on.to_vec();
    plan.switches().for_each(|(hunk, on)| with[hunk.index()] = on);
    with
}

/// How the new text fits the weave without a plan, and how it would fit with it.
#[derive(Default)]
struct Fit {
    was: Sum,
    would: Sum,
    /// What the lines that are there explain stays explained, line by line.
    kept: bool,
    /// The lines that the plan would show, and those of them that are in the text.
    shown: usize,
    found: usize,
    /// How long the lines are that the plan would show, and in how much of that they differ from what stands in their place.
    brings: usize,
    strange: usize,
    /// Lines like those that an exact plan would hide stand in the text, and nothing else explains them.
    stays: bool,
}

impl Fit {
    /// Whether what the lines that are there explain stays explained: the same lines, or as many.
    fn is_whole(&self) -> bool {
        self.kept || (self.is_found() && self.explains_as_many())
    }

    /// Whether as many lines are explained beside those of the plan: which of several lines was moved is open.
    fn explains_as_many(&self) -> bool {
        self.found > 0 && self.would.new + self.found <= self.was.new
    }

    /// Whether every line that the plan would show is in the text.
    fn is_found(&self) -> bool {
        self.shown > 0 && self.found == self.shown
    }

    /// Whether the text shows every line of the plan, and less is left to be typed: a line that was typed in is one, however it is taken,
    /// and the less it differs from what it was the better.
    fn is_plain(&self) -> bool {
        self.is_whole() && self.is_found() && self.is_cheaper()
    }

    /// Whether less of the text is left to be typed with the plan: lines, then bytes.
    fn is_cheaper(&self) -> bool {
        self.would.cost < self.was.cost
    }

    /// Whether a plan that was asked for explains the text better: with lines that are there, or with one that was changed as it came
    /// and is still for the most part what it was.
    fn is_likely(&self, resembling: bool) -> bool {
        // Lines that it would take away may be gone by the person's hand: only its own lines speak for it.
        let much_like = resembling && 2 * self.strange < self.brings;
        let seen = self.found > 0 || self.shown == 0 || much_like;
        let whole = self.kept || self.explains_as_many();
        // Where all of it is there, that may be at the price of a line that another explained.
        (self.is_found() || (whole && seen)) && self.is_cheaper()
    }

    /// Whether the text shows all of the plan, and nothing of what it takes away. A line that the person has changed is not one that
    /// was taken away: fewer places have to be left open, too.
    fn is_full(&self) -> bool {
        self.is_whole() && self.found == self.shown && self.would.cost.lines < self.was.cost.lines
    }
}

/// Misfits of several windows.
#[derive(Default)]
struct Sum {
    new: usize,
    cost: Cost,
}

impl Sum {
    fn of(misfit: &Misfit) -> Self {
        Self { new: misfit.new.len(), cost: misfit.cost }
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.cost += other.cost;
    }
}

impl Trial<'_> {
    /// Sees what is not explained yet.
    pub(crate) fn look(&mut self) {
        self.open = self.stretches.iter().any(|stretch| stretch.unmatched() > 0);
    }

    /// What of a plan is still to be done; none where nothing is, where the hunks would not fit together, or where the place of one
    /// is not certain.
    pub(crate) fn open_part(&self, plan: &Plan) -> Option<Plan> {
        let mut open = plan.clone();
        open.on.retain(|hunk| !self.on[hunk.index()]);
        open.off.retain(|hunk| self.on[hunk.index()]);
        let with = switched(&self.on, &open);
        let on = |hunk: &HunkId| with[hunk.index()];
        let valid = open.on.iter().all(|id| {
            self.model.prerequisites(*id).iter().all(on) && !self.model.collisions(*id).iter().any(on)
        }) && open.off.iter().all(|id| !self.model.dependents(*id).iter().any(on));
        let certain = !open.switches().any(|(hunk, _)| self.model.is_lost(hunk));
        let idle = open.on.is_empty() && open.off.is_empty() && open.only_switches();
        (valid && certain && !idle).then_some(open)
    }

    /// Switches a plan if the new text shows it.
    pub(crate) fn attempt(&mut self, plan: &Plan, how: How, look: Look) -> Verdict {
        let Look { exact, resembling } = look;
        let toggled: Vec<Vec<usize>> =
            self.stretches.iter().map(|stretch| self.toggled(stretch, plan)).collect();
        let wished = matches!(how, How::Asked(_));
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
        let mut fit = Fit { kept: true, ..Fit::default() };
        let mut found = Vec::new();
        for (index, toggled) in toggled.iter().enumerate() {
            let (stretch, contents) = (&self.stretches[index], &self.contents[index]);
            let coming = || toggled.iter().map(|at| &stretch.items[*at]).filter(|item| !item.visible);
            fit.shown += coming().count();
            fit.brings += coming().map(|item| contents[item.name as usize].len()).sum::<usize>();
            let going = toggled.iter().map(|at| &stretch.items[*at]).filter(|item| exact && item.visible);
            let going: HashSet<u32> = going.map(|item| item.name).collect();
            for window in stretch.windows(toggled) {
                self.lines = self.lines.saturating_sub(window.items.len() + window.new.len());
                let comes =
                    |item: usize| !stretch.items[item].visible && toggled.binary_search(&item).is_ok();
                fit.found += window.pairs.iter().filter(|(item, _)| comes(*item)).count();
                let was = stretch.misfit(&window, contents);
                let would = stretch.misfit_toggled(&window, toggled, contents);
                fit.kept &= would.leaves_no_more_than(&was);
                fit.stays |= would.new.iter().any(|name| going.contains(name));
                fit.strange += would.strange;
                fit.was += Sum::of(&was);
                fit.would += Sum::of(&would);
                found.push((index, window));
            }
        }
        let full = fit.is_full();
        let kept = match how {
            _ if exact => full && !fit.stays,
            How::Seen => full || fit.is_plain(),
            _ if wished => fit.is_likely(resembling),
            // Nobody says so: only on the word of at least half of the lines that it would show.
            _ => {
                full || fit.is_plain()
                    || (fit.is_whole() && fit.is_cheaper() && fit.shown > 0 && 2 * fit.found >= fit.shown)
            }
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
            all.filter(|item| ids.contains(self.model.runs()[item.run].ids().at(item.at)))
                .for_each(|item| item.gone = gone);
        }
        self.look();
        Verdict::Kept { full }
    }

    /// The items of a stretch that a plan shows or hides.
    fn toggled(&self, stretch: &Stretch, plan: &Plan) -> Vec<usize> {
        let with = switched(&self.on, plan);
        let on = |hunk: HunkId| with[hunk.index()];
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
            let run = &self.model.runs()[index];
            let allowed = run.allowed(on);
            for at in stretch.items_of(index) {
                let item = &stretch.items[at];
                let moved = plan.moves().find(|(ids, _)| ids.contains(run.ids().at(item.at)));
                let gone = moved.map_or(item.gone, |(_, gone)| gone);
                if item.visible == (gone || !allowed) {
                    toggled.push(at);
                }
            }
        }
        toggled
    }
}
