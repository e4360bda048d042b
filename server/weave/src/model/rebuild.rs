//! From an aligned stretch to runs (rules W5, W6): which lines are the ones that were there, which the person removed, changed or typed,
//! and where typed lines go.

use std::ops::Range;

use hashline_text::{LineRef, OwnedLine, Text};

use crate::align::align;
use crate::attribution::journal::Step;
use crate::attribution::stretch::Stretch;
use crate::model::line::{IdRange, push_range};
use crate::model::run::{Held, Run};
use crate::model::spans::Cover;
use crate::model::state::Weave;

/// What becomes of a line of a stretch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// As it is, hidden.
    Hidden,
    /// Shown, with this line of the new text as its content.
    Shows(usize),
    /// Removed by the person now.
    Removed,
    /// Removed by the person before, and there again.
    Regained(usize),
}

/// Typed lines, and the items before one of which they go.
struct Insert {
    places: Range<usize>,
    lines: Range<usize>,
}

/// What happened to the lines of a stretch.
struct Fates<'a> {
    stretch: &'a Stretch,
    fates: Vec<Fate>,
    inserts: Vec<Insert>,
    typed_lines: usize,
}

impl Weave {
    /// Makes the runs of a stretch show the new text's lines. `cover` says how many spans reach over each place among the runs. Returns how
    /// many lines were typed or changed.
    pub(crate) fn rebuild(
        &mut self,
        stretch: &Stretch,
        new: &Text,
        steps: &mut Vec<Step>,
        cover: impl FnOnce(&Self) -> Cover,
    ) -> usize {
        let regainable: Vec<bool> = stretch
            .runs
            .clone()
            .map(|run| self.runs[run].gone && self.runs[run].allowed(|hunk| self.in_buffer(hunk)))
            .collect();
        let mut fates = Fates {
            stretch,
            fates: vec![Fate::Hidden; stretch.items.len()],
            inserts: Vec::new(),
            typed_lines: 0,
        };
        fates.decide(&regainable);
        let Fates { fates, inserts, typed_lines, .. } = fates;
        let somewhere = inserts.iter().any(|insert| insert.places.len() > 1);
        let cover = (somewhere && !self.hunks.is_empty()).then(|| cover(self));
        let mut inserts = inserts
            .into_iter()
            .map(|insert| (stretch.place(&insert.places, cover.as_ref()), insert.lines.len()))
            .peekable();

        let contents: Vec<LineRef<'_>> = new.lines(stretch.region.new.clone()).collect();
        let mut line = stretch.region.old.start;
        let mut build = Build::default();
        let (mut removed, mut regained, mut typed) = (Vec::new(), Vec::new(), Vec::new());
        let mut index = 0;
        for run in stretch.runs.clone() {
            let run = &self.runs[run];
            let start = line;
            line += if run.shown { run.len() } else { 0 };
            let rope = if run.shown { Some(start) } else { None };
            let comes = |fate: &Fate| matches!(fate, Fate::Shows(_) | Fate::Regained(_));
            if let (false, Some(was)) = (run.shown, &run.held)
                && fates[index..index + run.len()].iter().any(comes)
            {
                steps.push(Step::Shown { ids: run.ids, was: was.clone() });
            }
            for at in 0..run.len() {
                while let Some((_, len)) = inserts.next_if(|(before, _)| *before == index) {
                    let ids = IdRange { first: crate::model::line::LineId(self.next_line), len };
                    self.next_line += len as u64;
                    push_range(&mut typed, ids);
                    build.typed(ids);
                }
                let id = IdRange { first: run.ids.at(at), len: 1 };
                let (gone, content) = match fates[index] {
                    Fate::Hidden => (stretch.items[index].gone, None),
                    Fate::Removed => {
                        push_range(&mut removed, id);
                        (true, None)
                    }
                    Fate::Shows(line) => (false, Some(contents[line])),
                    Fate::Regained(line) => {
                        push_range(&mut regained, id);
                        (false, Some(contents[line]))
                    }
                };
                // What is hidden now is kept as the rope has it, endings included.
                build.line(run, id, gone, || match (content, rope) {
                    // A last line without an ending keeps the one that it would have.
                    (Some(content), _) => {
                        let own = run.lines().get(at).map_or(self.ending, |line| line.ending);
                        content.to_owned_line(own)
                    }
                    (None, Some(start)) => self.buffer_lines(start + at, 1).pop().unwrap_or_default(),
                    (None, None) => run.lines()[at].clone(),
                });
                index += 1;
            }
        }
        for (_, len) in inserts {
            let ids = self.fresh(len);
            push_range(&mut typed, ids);
            build.typed(ids);
        }
        self.runs.splice(stretch.runs.clone(), build.finish());
        steps.extend(removed.into_iter().map(Step::Removed));
        steps.extend(regained.into_iter().map(Step::Regained));
        steps.extend(typed.into_iter().map(Step::Typed));
        typed_lines
    }
}

impl Fates<'_> {
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
            for (old, new) in align(&names, &stretch.new[lines.clone()]) {
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

impl Stretch {
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

/// Puts lines together to runs again.
#[derive(Default)]
struct Build {
    runs: Vec<Run>,
    held: Vec<OwnedLine>,
}

impl Build {
    fn line(&mut self, of: &Run, id: IdRange, gone: bool, content: impl FnOnce() -> OwnedLine) {
        let plain = of.is_nobodys() && !gone;
        let fits = |last: &Run| {
            last.ids.end() == id.first.0
                && last.maker == of.maker
                && last.gone == gone
                && last.shown == of.shown
                && last.removers == of.removers
        };
        if !self.runs.last().is_some_and(fits) {
            self.close();
            self.runs.push(Run { ids: IdRange { len: 0, ..id }, gone, held: None, ..of.clone() });
        }
        if let Some(last) = self.runs.last_mut() {
            last.ids.len += 1;
        }
        if !plain {
            self.held.push(content());
        }
    }

    fn typed(&mut self, ids: IdRange) {
        self.close();
        self.runs.push(Run::plain(ids.first, ids.len));
    }

    /// Gives the last run the content that was collected for it.
    fn close(&mut self) {
        if let Some(last) = self.runs.last_mut()
            && !self.held.is_empty()
        {
            last.held = Some(Held::new(std::mem::take(&mut self.held)));
        }
    }

    fn finish(mut self) -> Vec<Run> {
        self.close();
        self.runs
    }
}
