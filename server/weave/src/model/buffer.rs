//! Taking over a text that the buffer has become: which runs stand in it, and how it ends (rule W1).

use std::ops::Range;

use hashline_text::{Ending, Line, Text};

use crate::model::line::IdRange;
use crate::model::run::Run;
use crate::model::state::{Model, Newline};

impl Model {
    /// Takes over the text. Which runs show its lines is told [apart](Self::rebuild).
    pub(crate) fn set_buffer(&mut self, text: Text) {
        self.buffer = text;
    }

    /// Sets which runs stand in the buffer's rope to those that should.
    pub(crate) fn show(&mut self) {
        self.set_shown();
        debug_assert_eq!(
            self.runs.iter().filter(|run| run.shown).map(Run::len).sum::<usize>(),
            self.buffer.line_count(),
            "the weave shows the lines that the buffer has"
        );
    }

    /// The same, where the runs may be some of all.
    pub(crate) fn set_shown(&mut self) {
        for run in self.runs.iter_mut() {
            run.shown = run.visible(|hunk| self.on[hunk.index()]);
        }
    }

    /// Notes whether the person's text ends with a newline, where it says so and no hunk has said it. Returns what was said before and what is
    /// said now, where that is news.
    pub(crate) fn take_newline(&mut self, new: &Text) -> Option<(Newline, Newline)> {
        let last = new.line_count().checked_sub(1).and_then(|line| new.line(Line(line)))?;
        let expected = self.newline_under(|hunk| self.on[hunk.index()]);
        (!last.content_eq("") && new.ends_with_newline() != expected).then(|| {
            let is = Newline { there: new.ends_with_newline(), since: self.hunks.len() };
            (std::mem::replace(&mut self.newline, is), is)
        })
    }

    /// Notes which ending the last line of the buffer has, or would have. `stood` are lines that stood in the text before, `old`; `to_end` says
    /// whether the change reached the end.
    pub(crate) fn take_ending_of(&mut self, stood: &[(IdRange, usize)], old: &Text, to_end: bool) {
        match self.last_ending(stood, old) {
            // The line is the last by now, and lacks its ending for that alone.
            Some(own) => self.ending = own,
            None => self.take_ending(to_end),
        }
    }

    /// The same by the text alone.
    pub(crate) fn take_ending(&mut self, to_end: bool) {
        let lines = self.buffer.line_count();
        let last = lines.checked_sub(1).and_then(|line| self.buffer.line(Line(line)));
        let held = || self.runs.iter().rev().find(|run| run.shown).and_then(|run| run.lines().last());
        if let Some(ending) = last.and_then(|line| line.ending()) {
            self.ending = ending;
        } else if let Some(own) = held() {
            self.ending = own.ending;
        } else if to_end {
            self.ending = self.buffer.ending_for_insert(Line(lines));
        }
    }

    /// The lines of the buffer from one on by identity, each with the number of the first of its run.
    pub(crate) fn shown_ids(&self, mut line: usize) -> Vec<(IdRange, usize)> {
        let shown = self.runs.iter().filter(|run| run.shown);
        let counted = shown.map(|run| {
            line += run.len();
            (run.ids, line - run.len())
        });
        counted.collect()
    }

    /// Which ending the last line of the buffer had in an earlier text, if it stood there with one.
    fn last_ending(&self, stood: &[(IdRange, usize)], text: &Text) -> Option<Ending> {
        let last = self.runs.iter().rev().find(|run| run.shown)?;
        let id = last.ids.at(last.len().checked_sub(1)?);
        let (ids, line) = stood.iter().find(|(ids, _)| ids.contains(id))?;
        text.line(Line(line + (id.0 - ids.first.0) as usize))?.ending()
    }

    /// The runs between the shown line before some lines of the buffer and the shown line after them, cut so that they are whole.
    pub(crate) fn stretch_of(&mut self, lines: &Range<usize>) -> (usize, usize) {
        let first = self.cut_at(lines.start, |run| run.shown);
        let mut to = self.cut_at(lines.end, |run| run.shown);
        let mut from = first.min(to);
        while from > 0 && !self.runs[from - 1].shown {
            from -= 1;
        }
        while self.runs.get(to).is_some_and(|run| !run.shown) {
            to += 1;
        }
        (from, to)
    }
}
