//! The runs of a weave in order, with an index that says where their lines are and which spans reach over them, so that a keystroke need
//! not walk them all.
//!
//! The index is made by one walk when it is asked for. [`Runs::put`] keeps it, as typing changes neither whose the lines are nor which hunks
//! are in which view; whoever changes the runs in another way, or says that a view shows other hunks, makes it void.
//!
//! # Limits
//!
//! A search walks the blocks, of which there is one to some hundred runs, and the runs of one of them. A clone has no index.

use std::ops::{Deref, DerefMut, Range};

use crate::model::hunk::HunkId;
use crate::model::line::LineId;
use crate::model::run::Run;
use crate::model::spans::{Cover, spans_in};
use crate::shared::Shared;

/// How many runs a block has when it is made, and how many it may come to have.
const BLOCK: usize = 64;
const FULL: usize = 4 * BLOCK;

/// The part of its length by which the list grows.
const GROWTH: usize = 16;

/// The runs, and where their lines are.
#[derive(Debug)]
pub(crate) struct Runs {
    list: Shared<Vec<Run>>,
    index: Option<Box<Index>>,
}

/// Where the lines of the runs are, and how far hunks reach.
#[derive(Debug)]
struct Index {
    blocks: Vec<Block>,
    hunks: Vec<Known>,
}

/// What the index knows of a hunk.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The first and the last line of its span (rule W4), which no typing changes.
    ends: Option<(LineId, LineId)>,
    in_agent_view: bool,
    waits: bool,
}

/// Some runs that follow one another.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    runs: usize,
    /// How many lines of them are in the buffer, and how many in the agent view.
    shown: usize,
    seen: usize,
    /// The spans that reach into it from before.
    open: Open,
}

/// How many spans reach over a place between two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    all: usize,
    /// Those of hunks that wait to come into the text.
    waiting: usize,
}

/// A run, and where it begins in the buffer and in the agent view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub run: usize,
    pub line: usize,
    pub seen: usize,
}

/// The runs around some lines of the buffer: with the line before and the line behind, and all that is hidden between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(super) runs: Range<usize>,
    /// Where they begin in the buffer, and where in the agent view.
    pub line: usize,
    pub seen: usize,
}

impl Index {
    fn known(&self, hunk: HunkId) -> Option<&Known> {
        self.hunks.get(hunk.index())
    }

    /// The spans that reach over the end of a run, of those before it.
    fn pass(&self, run: &Run, mut open: Open) -> Open {
        for (begins, ends, known) in self.borders(run) {
            let change = |count: &mut usize| *count = (*count + usize::from(begins)) - usize::from(ends);
            change(&mut open.all);
            if known.waits {
                change(&mut open.waiting);
            }
        }
        open
    }

    /// The hunks whose lines are in a run, and whether their spans begin and end with it.
    fn borders(&self, run: &Run) -> impl Iterator<Item = (bool, bool, &Known)> {
        let known = run.maker.iter().chain(&run.removers).filter_map(|hunk| self.known(*hunk));
        known.filter_map(|known| {
            let (first, last) = known.ends?;
            Some((run.ids.contains(first), run.ids.contains(last), known))
        })
    }

    fn sees(&self, run: &Run) -> bool {
        run.visible(|hunk| self.known(hunk).is_some_and(|known| known.in_agent_view))
    }

    /// How many lines of some runs are in the buffer, and in the agent view.
    fn lines(&self, runs: &[Run]) -> (usize, usize) {
        let len = |is: bool, run: &Run| if is { run.len() } else { 0 };
        runs.iter()
            .fold((0, 0), |(shown, seen), run| (shown + len(run.shown, run), seen + len(self.sees(run), run)))
    }

    /// Some runs as blocks; so many spans reach over their beginning.
    fn blocks(&self, runs: &[Run], mut open: Open) -> Vec<Block> {
        let block = |runs: &[Run]| {
            let (shown, seen) = self.lines(runs);
            let block = Block { runs: runs.len(), shown, seen, open };
            open = runs.iter().fold(open, |open, run| self.pass(run, open));
            block
        };
        runs.chunks(BLOCK).map(block).collect()
    }

    /// Notes that runs of the list have become others. `list` is as it was before.
    fn replace(&mut self, list: &[Run], runs: &Range<usize>, new: &[Run]) {
        let (was, is) = (self.lines(&list[runs.clone()]), self.lines(new));
        let mut blocks = 0..0;
        let mut end = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            if end <= runs.start {
                blocks.start = at;
            }
            end += block.runs;
            blocks.end = at + 1;
            if end >= runs.end && end > runs.start {
                break;
            }
        }
        let all = self.blocks[blocks.clone()].iter().copied();
        let Some(mut one) = all.reduce(|one, next| Block {
            runs: one.runs + next.runs,
            shown: one.shown + next.shown,
            seen: one.seen + next.seen,
            ..one
        }) else {
            self.blocks = self.blocks(new, Open::default());
            return;
        };
        let first = end - one.runs;
        one.runs = one.runs + new.len() - runs.len();
        one.shown = one.shown + is.0 - was.0;
        one.seen = one.seen + is.1 - was.1;
        if one.runs <= FULL {
            self.blocks.splice(blocks, [one]);
        } else {
            let all = [&list[first..runs.start], new, &list[runs.end..end]].concat();
            let cut = self.blocks(&all, one.open);
            self.blocks.splice(blocks, cut);
        }
    }
}

impl Runs {
    /// Makes the index: of each hunk it is said whether it is in the agent view, and whether it waits.
    pub(super) fn find_places(&mut self, hunks: &[(bool, bool)]) {
        let line = |run: &Run, at: usize| run.ids.at(at);
        let ends = |(first, last): (usize, usize)| {
            let last = &self.list[last];
            (line(&self.list[first], 0), line(last, last.len() - 1))
        };
        let spans = spans_in(&self.list, hunks.len());
        let known = |(span, (in_agent_view, waits)): (Option<_>, _)| Known {
            ends: span.map(ends),
            in_agent_view,
            waits,
        };
        let hunks = spans.into_iter().zip(hunks.iter().copied()).map(known).collect();
        let mut index = Index { blocks: Vec::new(), hunks };
        index.blocks = index.blocks(&self.list, Open::default());
        self.index = Some(Box::new(index));
    }

    /// Whether there is an index.
    pub(super) fn has_places(&self) -> bool {
        self.index.is_some()
    }

    /// Makes the index void, as a view shows other hunks.
    pub(super) fn forget_places(&mut self) {
        self.index = None;
    }

    /// The run of a line of the buffer. None without an index, or behind the last line.
    pub(super) fn find(&self, line: usize) -> Option<Found> {
        let index = self.index.as_ref()?;
        let mut found = Found::default();
        for block in &index.blocks {
            if line < found.line + block.shown {
                break;
            }
            found.run += block.runs;
            found.line += block.shown;
            found.seen += block.seen;
        }
        for run in &self.list[found.run..] {
            if run.shown && line < found.line + run.len() {
                return Some(found);
            }
            found.run += 1;
            found.line += if run.shown { run.len() } else { 0 };
            found.seen += if index.sees(run) { run.len() } else { 0 };
        }
        None
    }

    /// The runs around lines of the buffer. None without an index.
    pub(super) fn around(&self, lines: &Range<usize>) -> Option<Window> {
        self.index.as_ref()?;
        let Found { run, line, seen } = match lines.start.checked_sub(1) {
            Some(before) => self.find(before)?,
            None => Found::default(),
        };
        let end = self.find(lines.end).map_or(self.list.len(), |behind| behind.run + 1);
        Some(Window { runs: run..end, line, seen })
    }

    /// Whether a hunk that waits has to do with these runs: one of them is its, or its span reaches over them.
    pub(super) fn are_waited_for(&self, window: &Window) -> bool {
        let Some(index) = &self.index else { return true };
        let waits = |run: &Run| index.borders(run).any(|(.., known)| known.waits);
        self.open_before(index, window.runs.start).waiting > 0
            || self.list[window.runs.clone()].iter().any(waits)
    }

    /// The spans that reach over the beginning of a run.
    fn open_before(&self, index: &Index, run: usize) -> Open {
        let (mut first, mut open) = (0, Open::default());
        for block in &index.blocks {
            open = block.open;
            if run < first + block.runs {
                break;
            }
            first += block.runs;
        }
        let first = first.min(run);
        self.list[first..run].iter().fold(open, |open, run| index.pass(run, open))
    }

    /// How many spans each place among some runs lies inside, more or less the same number for all of them.
    pub(crate) fn cover_of(&self, runs: &[Run]) -> Cover {
        let mut borders = (vec![0; runs.len() + 1], vec![0; runs.len() + 1]);
        for (at, run) in runs.iter().enumerate() {
            for (begins, ends, _) in self.index.iter().flat_map(|index| index.borders(run)) {
                borders.0[at] += usize::from(begins);
                borders.1[at + 1] += usize::from(ends);
            }
        }
        // As many as end here, whether they begin here or before.
        let open = borders.1.iter().sum();
        Cover::between(borders, open)
    }

    /// Puts runs in the place of others where lines were typed, or where runs are cut.
    pub(super) fn put(&mut self, runs: Range<usize>, new: impl AsRef<[Run]> + IntoIterator<Item = Run>) {
        if let Some(index) = &mut self.index {
            index.replace(&self.list, &runs, new.as_ref());
        }
        let list = &mut *self.list;
        // It was copied as an edit was recorded, and is once more at the next: it is not to get twice the room that it needs.
        if list.capacity() - list.len() < new.as_ref().len() {
            list.reserve_exact(list.len() / GROWTH + new.as_ref().len());
        }
        list.splice(runs, new);
    }
}

impl Clone for Runs {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), index: None }
    }
}

impl From<Vec<Run>> for Runs {
    fn from(runs: Vec<Run>) -> Self {
        Self { list: runs.into(), index: None }
    }
}

impl Deref for Runs {
    type Target = Vec<Run>;

    fn deref(&self) -> &Vec<Run> {
        &self.list
    }
}

impl DerefMut for Runs {
    fn deref_mut(&mut self) -> &mut Vec<Run> {
        self.index = None;
        &mut self.list
    }
}
