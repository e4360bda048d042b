//! The lines of a file, who made each and who took it away: the rules of the weave without any cleverness.

use std::collections::BTreeSet;
use std::ops::Range;

pub type Set = BTreeSet<usize>;

#[derive(Clone, Debug)]
struct Line {
    content: String,
    maker: Option<usize>,
    removers: Set,
    /// Typed, and not saved since.
    unsaved: bool,
}

impl Line {
    fn is_shown(&self, on: &Set) -> bool {
        self.maker.is_none_or(|maker| on.contains(&maker)) && self.removers.is_disjoint(on)
    }

    fn belongs(&self, hunk: usize) -> bool {
        self.maker == Some(hunk) || self.removers.contains(&hunk)
    }
}

/// All lines that a file ever had, by hunks that are numbered in the order of record.
#[derive(Clone, Debug)]
pub struct Lines {
    lines: Vec<Line>,
    pub hunks: usize,
}

impl Lines {
    pub fn new(text: &str) -> Self {
        let line = |content: &str| Line {
            content: content.to_owned(),
            maker: None,
            removers: Set::new(),
            unsaved: false,
        };
        Self { lines: text.lines().map(line).collect(), hunks: 0 }
    }

    /// The text with these hunks in it.
    pub fn text(&self, on: &Set) -> String {
        let shown = self.lines.iter().filter(|line| line.is_shown(on));
        shown.map(|line| format!("{}\n", line.content)).collect()
    }

    fn shown(&self, on: &Set) -> Vec<usize> {
        (0..self.lines.len()).filter(|at| self.lines[*at].is_shown(on)).collect()
    }

    fn span(&self, hunk: usize) -> Option<(usize, usize)> {
        let belongs = |line: &Line| line.belongs(hunk);
        Some((self.lines.iter().position(belongs)?, self.lines.iter().rposition(belongs)?))
    }

    /// Where lines come that are put behind so many shown ones: inside the fewest spans, and else directly behind the line before.
    fn place(&self, shown: &[usize], line: usize) -> usize {
        let first = line.checked_sub(1).map_or(0, |before| shown[before] + 1);
        let last = shown.get(line).copied().unwrap_or(self.lines.len());
        let spans: Vec<_> = (0..self.hunks).filter_map(|hunk| self.span(hunk)).collect();
        let inside = |at: &usize| spans.iter().filter(|(from, to)| from < at && at <= to).count();
        (first..=last).min_by_key(inside).unwrap()
    }

    /// An edit of the text that these hunks show: each change is one hunk.
    pub fn edit(&mut self, on: &Set, changes: &[(Range<usize>, Vec<String>)]) -> Range<usize> {
        let first = self.hunks;
        for (range, new) in changes {
            let shown = self.shown(on);
            let hunk = self.hunks;
            let at = match shown[range.clone()].last() {
                None => self.place(&shown, range.start),
                Some(last) => last + 1,
            };
            for line in &shown[range.clone()] {
                self.lines[*line].removers.insert(hunk);
            }
            let line = |content: &String| Line {
                content: content.clone(),
                maker: Some(hunk),
                removers: Set::new(),
                unsaved: false,
            };
            self.lines.splice(at..at, new.iter().map(line));
            self.hunks += 1;
        }
        first..self.hunks
    }

    /// Lines between which nothing was ever done, by their numbers in the text with these hunks in it.
    pub fn quiet(&self, on: &Set) -> Vec<usize> {
        let shown = self.shown(on);
        let plain = |at: usize| self.lines[at].maker.is_none() && self.lines[at].removers.is_empty();
        let quiet = |at: &usize| plain(shown[at - 1]) && plain(shown[*at]) && shown[at - 1] + 1 == shown[*at];
        (1..shown.len()).filter(quiet).collect()
    }

    /// A person types a line before one of the text.
    pub fn typed(&mut self, on: &Set, line: usize, content: &str) {
        let at = self.shown(on)[line];
        let content = content.to_owned();
        self.lines.insert(at, Line { content, maker: None, removers: Set::new(), unsaved: true });
    }

    pub fn saved(&mut self) {
        self.lines.iter_mut().for_each(|line| line.unsaved = false);
    }

    /// What was typed and not saved is lost. What agents did stays, wherever it is.
    pub fn lost(&mut self) {
        self.lines.retain(|line| !line.unsaved);
    }

    /// Whatever can have to do with these hunks: by shared lines, or one inside the other.
    pub fn related(&self, hunks: &Set) -> Set {
        let spans: Vec<_> = (0..self.hunks).map(|hunk| self.span(hunk)).collect();
        let mut all = hunks.clone();
        loop {
            let meets = |hunk: &usize| {
                let Some((from, to)) = spans[*hunk] else { return false };
                let spans = all.iter().filter_map(|other| spans[*other]);
                spans.into_iter().any(|(first, last)| from <= last && first <= to)
            };
            let more: Set = (0..self.hunks).filter(meets).collect();
            if more.is_subset(&all) {
                return all;
            }
            all.extend(more);
        }
    }
}
