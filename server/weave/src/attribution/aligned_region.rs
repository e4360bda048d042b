//! A stretch: the lines of the weave around a touched region, hidden ones too, against the new text's lines there (rule W6).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use hashline_text::Text;

use crate::align::align;
use crate::attribution::interpretation::Cost;
use crate::attribution::region::Region;
use crate::model::{Model, Run};

/// A stretch up to this many lines is always aligned as a whole.
const SMALL: usize = 256;

/// A line of a stretch.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Its run and its place there.
    pub run: usize,
    pub at: usize,
    /// Equal for lines of equal content.
    pub name: u32,
    /// Removed by the person.
    pub gone: bool,
    /// Whether the buffer should show it.
    pub visible: bool,
    /// The line of the new text that it is.
    pub pair: Option<usize>,
}

/// The lines of some runs and the lines of the new text that stand there now.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// The lines in the old and in the new text.
    pub region: Region,
    pub runs: Range<usize>,
    pub items: Vec<Item>,
    /// The new lines by name.
    pub new: Vec<u32>,
    /// The first item of each run.
    first: Vec<usize>,
    /// Per name how often it is among the items, and among the new lines.
    counts: Vec<(u32, u32)>,
    /// Per name how many new lines are without a partner.
    pub open: Vec<u32>,
}

/// The contents behind the names of a stretch.
pub(crate) type Contents<'a> = Vec<Cow<'a, str>>;

/// How badly the visible lines and the new ones fit each other.
#[derive(Debug, Default)]
pub(crate) struct Misfit {
    /// New lines without a partner, by name.
    pub new: Vec<u32>,
    /// What the gaps between lines that are the same leave to be typed.
    pub cost: Cost,
    /// Those of them in lines that a plan would show: what does not stand in the text as it would be.
    pub strange: usize,
}

impl Misfit {
    /// Whether every new line that this leaves without a partner is also left by another, in whatever place.
    pub(crate) fn leaves_no_more_than(&self, other: &Self) -> bool {
        let sorted = |names: &[u32]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        let mut others = sorted(&other.new).into_iter();
        sorted(&self.new).into_iter().all(|name| others.any(|other| other == name))
    }
}

/// Some items and new lines between two pairs, and another pairing of them.
pub(crate) struct Window {
    pub items: Range<usize>,
    pub new: Range<usize>,
    pub pairs: Vec<(usize, usize)>,
}

impl Stretch {
    /// The lines of `runs` (whole runs) against the new lines of the region, aligned.
    pub(crate) fn of<'a>(
        model: &'a Model,
        region: Region,
        runs: Range<usize>,
        new: &'a Text,
    ) -> (Self, Contents<'a>) {
        let mut names: HashMap<Cow<'a, str>, u32> = HashMap::new();
        let mut contents: Contents<'a> = Vec::new();
        let mut name = |content: Cow<'a, str>| {
            let next = contents.len() as u32;
            *names.entry(content).or_insert_with_key(|content| {
                contents.push(content.clone());
                next
            })
        };
        let mut line = region.old.start;
        let mut items = Vec::new();
        let mut first = Vec::with_capacity(runs.len() + 1);
        for index in runs.clone() {
            let run = &model.runs()[index];
            let visible = run.visible(|hunk| model.in_buffer(hunk));
            first.push(items.len());
            let item = |at, name| Item { run: index, at, name, gone: run.is_gone(), visible, pair: None };
            if run.held().is_some() {
                let held = run.lines().iter().enumerate();
                items.extend(held.map(|(at, held)| item(at, name(Cow::Borrowed(held.content.as_str())))));
            } else {
                let rope = model.buffer().lines(line..line + run.len()).enumerate();
                items.extend(rope.map(|(at, line)| item(at, name(line.content()))));
            }
            line += if run.is_shown() { run.len() } else { 0 };
        }
        first.push(items.len());
        let new: Vec<u32> = new.lines(region.new.clone()).map(|line| name(line.content())).collect();
        let mut counts = vec![(0, 0); contents.len()];
        items.iter().for_each(|item: &Item| counts[item.name as usize].0 += 1);
        new.iter().for_each(|name| counts[*name as usize].1 += 1);
        let open = counts.iter().map(|(_, news)| *news).collect();
        let mut stretch = Self { region, runs, items, new, first, counts, open };
        let whole = stretch.window(&[], |_| false);
        stretch.take(whole);
        (stretch, contents)
    }

    /// The items of a run of the stretch.
    pub(crate) fn items_of(&self, run: usize) -> Range<usize> {
        let at = run - self.runs.start;
        self.first[at]..self.first[at + 1]
    }

    /// Windows around items that would change whether they are visible, aligned as if they had.
    pub(crate) fn windows(&self, toggled: &[usize]) -> Vec<Window> {
        let mut windows: Vec<Window> = Vec::new();
        for (at, item) in toggled.iter().enumerate() {
            if windows.last().is_none_or(|window| window.items.end <= *item) {
                let window = self.window(&toggled[at..], |item| toggled.binary_search(&item).is_ok());
                windows.push(window);
            }
        }
        windows
    }

    /// The window that begins around the first of some items, or all there is.
    fn window(&self, around: &[usize], toggled: impl Fn(usize) -> bool) -> Window {
        let (mut items, mut new) = (0..self.items.len(), 0..self.new.len());
        if let Some(first) = around.first()
            && self.items.len() + self.new.len() > SMALL
        {
            // Bounded by pairs that cannot well be wrong: lines that stand once on both sides.
            let border = |at: &usize| {
                let item = &self.items[*at];
                let once = self.counts[item.name as usize] == (1, 1);
                item.pair.filter(|_| once && !toggled(*at)).map(|pair| (*at, pair))
            };
            if let Some((at, pair)) = (0..*first).rev().find_map(|at| border(&at)) {
                (items.start, new.start) = (at + 1, pair + 1);
            }
            if let Some((at, pair)) = (first + 1..items.end).find_map(|at| border(&at)) {
                (items.end, new.end) = (at, pair);
            }
        }
        let shown: Vec<usize> = items.clone().filter(|at| self.items[*at].visible != toggled(*at)).collect();
        let names: Vec<u32> = shown.iter().map(|at| self.items[*at].name).collect();
        let pairs = align(&names, &self.new[new.clone()]);
        let pairs = pairs.into_iter().map(|(old, at)| (shown[old], new.start + at)).collect();
        Window { items, new, pairs }
    }

    /// Takes a window's pairing.
    pub(crate) fn take(&mut self, window: Window) {
        for item in &mut self.items[window.items] {
            if let Some(pair) = item.pair.take() {
                self.open[self.new[pair] as usize] += 1;
            }
        }
        for (item, pair) in window.pairs {
            self.items[item].pair = Some(pair);
            self.open[self.new[pair] as usize] -= 1;
        }
    }

    /// The lines of the old text, as `runs` show it, and the lines of the new text in their place that read otherwise.
    pub(crate) fn differing(&self, runs: &[Run]) -> Vec<(Range<usize>, Range<usize>)> {
        let mut differing = Vec::new();
        let (mut old, mut new) = (self.region.old.start, 0);
        let mut line = old;
        let mut note = |to: Range<usize>, until: usize| {
            if !to.is_empty() || new < until {
                differing.push((to, self.region.new.start + new..self.region.new.start + until));
            }
            new = until + 1;
        };
        for item in self.items.iter().filter(|item| runs[item.run].is_shown()) {
            if let Some(pair) = item.pair {
                note(old..line, pair);
                old = line + 1;
            }
            line += 1;
        }
        note(old..line, self.new.len());
        differing
    }

    /// How many lines of the new text are without a partner, and how many that should be visible.
    pub(crate) fn unmatched(&self) -> usize {
        let visible = self.items.iter().filter(|item| item.visible && item.pair.is_none()).count();
        visible + self.open.iter().sum::<u32>() as usize
    }

    /// How much of it is left to be typed as it is paired now.
    pub(crate) fn cost(&self, contents: &Contents<'_>) -> Cost {
        let whole = Window { items: 0..self.items.len(), new: 0..self.new.len(), pairs: Vec::new() };
        self.misfit(&whole, contents).cost
    }

    /// How badly a window fits as it is paired now.
    pub(crate) fn misfit(&self, window: &Window, contents: &Contents<'_>) -> Misfit {
        let items = window.items.clone().filter(|at| self.items[*at].visible);
        let shown: Vec<(usize, Option<usize>)> = items.map(|at| (at, self.items[at].pair)).collect();
        self.fit(&shown, window.new.clone(), contents, |_| false)
    }

    /// How badly a window fits as it would be paired if the items had been toggled.
    pub(crate) fn misfit_toggled(
        &self,
        window: &Window,
        toggled: &[usize],
        contents: &Contents<'_>,
    ) -> Misfit {
        let visible = |at: &usize| self.items[*at].visible != toggled.binary_search(at).is_ok();
        let mut pairs = window.pairs.iter().peekable();
        let shown: Vec<(usize, Option<usize>)> = window
            .items
            .clone()
            .filter(visible)
            .map(|at| (at, pairs.next_if(|(item, _)| *item == at).map(|(_, pair)| *pair)))
            .collect();
        self.fit(&shown, window.new.clone(), contents, |at| toggled.binary_search(&at).is_ok())
    }

    fn fit(
        &self,
        shown: &[(usize, Option<usize>)],
        new: Range<usize>,
        contents: &Contents<'_>,
        comes: impl Fn(usize) -> bool,
    ) -> Misfit {
        let mut misfit = Misfit::default();
        let mut gap: Vec<usize> = Vec::new();
        let mut next = new.start;
        for (item, pair) in shown.iter().copied().chain([(usize::MAX, Some(new.end))]) {
            let Some(pair) = pair else {
                gap.push(item);
                continue;
            };
            misfit.new.extend(&self.new[next..pair]);
            misfit.cost.lines += gap.len().max(pair - next);
            let text = |name: u32| contents[name as usize].as_ref();
            let lines = gap.len().max(pair - next);
            let left = gap.iter().map(|at| text(self.items[*at].name)).chain(std::iter::repeat(""));
            let right = self.new[next..pair].iter().map(|name| text(*name)).chain(std::iter::repeat(""));
            misfit.cost.bytes += gap.len().abs_diff(pair - next);
            for (at, (left, right)) in left.zip(right).take(lines).enumerate() {
                let (left, right) = differing(left, right);
                misfit.cost.bytes += left + right;
                misfit.strange += if gap.get(at).is_some_and(|item| comes(*item)) { left } else { 0 };
            }
            gap.clear();
            next = pair + 1;
        }
        misfit
    }
}

/// The bytes of two lines between their common beginning and their common end.
fn differing(left: &str, right: &str) -> (usize, usize) {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let head = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let (left, right) = (&left[head..], &right[head..]);
    let tail = left.iter().rev().zip(right.iter().rev()).take_while(|(l, r)| l == r).count();
    (left.len() - tail, right.len() - tail)
}
