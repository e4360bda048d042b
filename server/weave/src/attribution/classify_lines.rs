//! From an aligned stretch to runs (rules W5, W6): which lines are the ones that were there, which the person removed, changed or typed,
//! and where typed lines go.

use std::ops::Range;

use hashline_text::{LineRef, Text};

use crate::align::align_hidden;
use crate::attribution::aligned_region::Stretch;
use crate::attribution::journal::Step;
use crate::model::{Cover, Fate, Fates, Model, Run};

/// Typed lines, and the items before one of which they go.
struct Insert {
    places: Range<usize>,
    lines: Range<usize>,
}

/// What happened to the lines of a stretch, as far as it is decided.
struct Judging<'a> {
    stretch: &'a Stretch,
    fates: Vec<Fate>,
    inserts: Vec<Insert>,
    typed_lines: usize,
}

impl Stretch {
    /// Makes the runs of the stretch show the new text's lines. `cover` says how many spans reach over each place among the runs. Returns how
    /// many lines were typed or changed.
    pub(crate) fn rebuild(
        &self,
        model: &mut Model,
        new: &Text,
        steps: &mut Vec<Step>,
        cover: impl FnOnce(&Model) -> Cover,
    ) -> usize {
        let allowed = |run: &Run| run.is_gone() && run.allowed(|hunk| model.in_buffer(hunk));
        let regainable: Vec<bool> = model.runs()[self.runs.clone()].iter().map(allowed).collect();
        let mut judging = Judging {
            stretch: self,
            fates: self.items.iter().map(|item| Fate::Hidden { gone: item.gone }).collect(),
            inserts: Vec::new(),
            typed_lines: 0,
        };
        judging.decide(&regainable);
        let Judging { fates, inserts, typed_lines, .. } = judging;
        let somewhere = inserts.iter().any(|insert| insert.places.len() > 1);
        let cover = (somewhere && !model.on().is_empty()).then(|| cover(model));
        let place = |insert: Insert| (self.place(&insert.places, cover.as_ref()), insert.lines.len());
        let typed = inserts.into_iter().map(place).collect();
        let contents: Vec<LineRef<'_>> = new.lines(self.region.new.clone()).collect();
        let (runs, line) = (self.runs.clone(), self.region.old.start);
        let done = model.rebuild(Fates { runs, line, fates: &fates, typed, contents: &contents });
        steps.extend(done.shown.into_iter().map(|(ids, was)| Step::Shown { ids, was }));
        steps.extend(done.removed.into_iter().map(Step::Removed));
        steps.extend(done.regained.into_iter().map(Step::Regained));
        steps.extend(done.typed.into_iter().map(Step::Typed));
        typed_lines
    }

    /// The item before which typed lines go (rule W5): where they are inside the fewest spans; of equals directly behind the visible line
    /// before them, or if they were typed in the first column of the next, before that.
    fn place(&self, places: &Range<usize>, cover: Option<&Cover>) -> usize {
        let Some(cover) = cover else {
            return if self.region.before_next { places.end - 1 } else { places.start };
        };
        let around = |at: usize| {
            let run = |at: usize| self.items.get(at).map(|item| item.run);
            match (at.checked_sub(1).and_then(run), run(at)) {
                (Some(left), Some(right)) if left == right => cover.inside(left),
                (_, Some(right)) => cover.before(right),
                (_, None) => cover.before(self.runs.end),
            }
        };
        let best = places.clone().map(around).min().unwrap_or_default();
        let mut equals = places.clone().filter(|at| around(*at) == best);
        let found = if self.region.before_next { equals.next_back() } else { equals.next() };
        found.unwrap_or(places.start)
    }
}

impl Judging<'_> {
    /// Goes through the gaps between the lines that are the same before and after.
    fn decide(&mut self, regainable: &[bool]) {
        let (mut item, mut line) = (0, 0);
        for at in 0..=self.stretch.items.len() {
            let pair = match self.stretch.items.get(at) {
                Some(item) => match item.pair {
                    Some(pair) => pair,
                    None => continue,
                },
                None => self.stretch.new.len(),
            };
            self.gap(item..at, line..pair, regainable);
            if let Some(fate) = self.fates.get_mut(at) {
                *fate = Fate::Shows(pair);
            }
            (item, line) = (at + 1, pair + 1);
        }
    }

    /// Lines between two that are the same: first those that the person removed before and that read as new lines do, unless as
    /// many lines went as came.
    fn gap(&mut self, items: Range<usize>, lines: Range<usize>, regainable: &[bool]) {
        let stretch = self.stretch;
        let shown = items.clone().filter(|at| stretch.items[*at].visible).count();
        self.typed_lines += shown.max(lines.len());
        let (mut item, mut line) = (items.start, lines.start);
        if shown != lines.len() && !lines.is_empty() {
            let hidden = |at: &usize| {
                let item = &stretch.items[*at];
                item.gone && regainable[item.run - stretch.runs.start]
            };
            let hidden: Vec<usize> = items.clone().filter(hidden).collect();
            let names: Vec<u32> = hidden.iter().map(|at| stretch.items[*at].name).collect();
            for (old, new) in align_hidden(&names, &stretch.new[lines.clone()]) {
                let (at, new) = (hidden[old], lines.start + new);
                self.pair_off(item..at, line..new);
                self.fates[at] = Fate::Regained(new);
                self.typed_lines -= usize::from(shown < lines.len());
                (item, line) = (at + 1, new + 1);
            }
        }
        self.pair_off(item..items.end, line..lines.end);
    }

    /// Pairs what is left first with first, as changed in place; the rest was removed or typed.
    fn pair_off(&mut self, items: Range<usize>, mut lines: Range<usize>) {
        let mut place = items.start;
        for at in items.clone().filter(|at| self.stretch.items[*at].visible) {
            self.fates[at] = match lines.next() {
                Some(line) => {
                    place = at + 1;
                    Fate::Shows(line)
                }
                None => Fate::Removed,
            };
        }
        if !lines.is_empty() {
            self.inserts.push(Insert { places: place..items.end + 1, lines });
        }
    }
}
