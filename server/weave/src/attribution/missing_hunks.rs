//! Hunks that are on and that a text lacks (rule W17): an editor had read the file before they were written to it, and has kept unsaved
//! work since.

use std::borrow::Cow;
use std::ops::Range;

use hashline_text::Text;

use crate::align::align;
use crate::attribution::hunk_context::{Names, Surroundings};
use crate::attribution::weave::Weave;
use crate::model::{HunkId, LineChange, Model, Plan, View};

impl Weave {
    /// As [`unobserved`](Self::unobserved), for a text that may lack some of the hunks that are on. Of those that are asked about, the
    /// ones that it does not show are off afterwards, and are returned.
    ///
    /// Only of hunks whose place is not certain while they are on is it asked. One is taken to be missing if the text is no further
    /// from what it would be without the hunk, and shows no line of it where that is the same; with it goes what rests on it. Such a
    /// hunk keeps its place if its lines and three on one side of it stand as they did, and nowhere else: the person sees where it
    /// would go before it does.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let mut weave = Weave::new(Text::from("one\ntwo\nthree\nfour\n"));
    /// let hunk = weave.record(&[Change { lines: 2..3, new: vec![line("3")] }])?[0];
    /// weave.switch(&[hunk], &[])?;
    /// assert_eq!(weave.unobserved_lacking(Text::from("ONE\ntwo\nthree\nfour\n"), &[hunk]), [hunk]);
    /// assert_eq!(weave.agent().to_string(), "ONE\ntwo\n3\nfour\n");
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    pub fn unobserved_lacking(&mut self, text: Text, asked: &[HunkId]) -> Vec<HunkId> {
        if *self.buffer() == text {
            return Vec::new();
        }
        let mut missing = self.missing_in(&text, asked);
        self.take_away(&missing);
        missing.retain(|id| !self.in_buffer(*id));
        self.unobserved_but(text, &missing);
        missing
    }

    /// The hunks among these that a text lacks, in the order of record.
    fn missing_in(&self, text: &Text, asked: &[HunkId]) -> Vec<HunkId> {
        let asked: Vec<HunkId> = asked.iter().copied().filter(|id| self.in_buffer(*id)).collect();
        let mut seen = self.clone();
        let before = Surroundings::of(&mut seen.model, &[]);
        seen.unobserved(text.clone());
        let certain = before.certain_in(&seen);
        if asked.iter().all(|id| certain[id.index()]) {
            return Vec::new();
        }

        let mut without = self.clone();
        let mut names = Names::default();
        let now = names.of_text(text);
        let mut lines = names.of_text(self.buffer());
        let mut fit = Fit::of(&lines, &now);
        let mut missing = Vec::new();
        // What rests on a hunk comes after it.
        for id in asked.iter().rev().filter(|id| !certain[id.index()]) {
            let mut off = without.with_dependents(*id);
            off.retain(|hunk| without.in_buffer(*hunk));
            if off.is_empty() || off.iter().any(|hunk| !asked.contains(hunk)) {
                continue;
            }
            let Ok(changes) = without.without_lost().preview(&Plan::switch(&[], &off)) else { continue };
            let shorter = names.changed(&lines, &changes);
            let other = Fit::of(&shorter, &now);
            let is_closer = other.apart < fit.apart
                || other.apart == fit.apart && !fit.shows(&lines, &without.places_of(*id), &names);
            if is_closer {
                without.take_away(&off);
                (lines, fit) = (shorter, other);
                missing.extend(off);
            }
        }
        missing.sort_unstable();
        missing
    }

    /// Switches hunks off whose place need not be certain, as a text is taken over that lacks them.
    fn take_away(&mut self, hunks: &[HunkId]) {
        let lost = self.model.set_lost(vec![false; self.on().len()]);
        // Refused only where two endings would be read as one (rule W1): then they stay.
        let _ = self.switch(&[], hunks);
        self.model.set_lost(lost);
    }

    /// The model, with every place taken to be certain.
    fn without_lost(&self) -> Model {
        let mut model = self.model.clone();
        model.set_lost(vec![false; self.on().len()]);
        model
    }

    /// The lines of the buffer from the first to the last that a hunk made.
    fn places_of(&self, id: HunkId) -> Range<usize> {
        self.model.clone().places(View::Buffer).swap_remove(id.index()).unwrap_or_default()
    }
}

impl<'a> Names<'a> {
    fn of_text(&mut self, text: &'a Text) -> Vec<u32> {
        text.all_lines().map(|line| self.of(line.content())).collect()
    }

    /// Lines after some changes.
    fn changed(&mut self, lines: &[u32], changes: &[LineChange]) -> Vec<u32> {
        let mut result = lines.to_vec();
        for change in changes.iter().rev() {
            let new = change.new.iter().map(|line| self.of(Cow::Owned(line.content.to_string())));
            result.splice(change.old.clone(), new.collect::<Vec<u32>>());
        }
        result
    }
}

/// How well some lines fit those of a text.
struct Fit {
    /// How many lines of either have no partner.
    apart: usize,
    /// Which of the lines have one.
    paired: Vec<bool>,
}

impl Fit {
    fn of(lines: &[u32], text: &[u32]) -> Self {
        let mut paired = vec![false; lines.len()];
        let pairs = align(lines, text);
        pairs.iter().for_each(|(line, _)| paired[*line] = true);
        Self { apart: lines.len() + text.len() - 2 * pairs.len(), paired }
    }

    /// Whether the text shows one of these lines that is more than blank.
    fn shows(&self, lines: &[u32], place: &Range<usize>, names: &Names<'_>) -> bool {
        place.clone().any(|at| self.paired[at] && !names.is_blank(lines[at]))
    }
}
