//! The structure itself: runs in order, hunks, and the two views.

use std::sync::Arc;

use hashline_text::{Line, OwnedLine, Text};

use crate::hunk::{Hunk, HunkId};
use crate::journal::Journal;
use crate::line::{IdRange, LineId, push_range};
use crate::run::Run;

/// A document in which every line knows which hunk made it and which hunks removed it.
///
/// Cloning copies the runs and shares the texts; a clone is how a switch is tried before it is made.
#[derive(Clone, Debug)]
pub struct Weave {
    pub(crate) runs: Vec<Run>,
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) next_line: u64,
    pub(crate) buffer: Text,
    /// Whether the person's text ends with a newline (W1). A text without lines says nothing about it; an *empty* last
    /// line always has its ending, as it would not be a line otherwise.
    pub(crate) newline: bool,
    /// Counts what changes a view.
    pub(crate) revision: u64,
    pub(crate) agent: AgentView,
    pub(crate) journal: Journal,
}

/// The agent view, as of a revision of the weave.
#[derive(Clone, Debug)]
pub(crate) struct AgentView {
    pub revision: u64,
    pub text: Text,
    /// Per hunk: whether it is in the view.
    pub on: Vec<bool>,
    /// Per hunk that is kept out by a collision: the hunk that it collides with.
    pub blocked: Vec<Option<HunkId>>,
}

/// One of the two texts of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// What the editor has.
    Buffer,
    /// What agents read: the buffer with the held hunks in it.
    Agent,
}

impl Weave {
    /// A weave without hunks over a text.
    ///
    /// ```
    /// use hashline_weave::Weave;
    /// let mut weave = Weave::new(hashline_text::Text::from("one\ntwo\n"));
    /// assert_eq!(weave.buffer().to_string(), weave.agent().to_string());
    /// ```
    #[must_use]
    pub fn new(text: Text) -> Self {
        let lines = text.line_count();
        let runs = if lines == 0 { Vec::new() } else { vec![Run::plain(LineId(0), lines)] };
        Self {
            runs,
            hunks: Vec::new(),
            next_line: lines as u64,
            newline: text.is_empty() || text.ends_with_newline(),
            revision: 0,
            agent: AgentView { revision: 0, text: text.clone(), on: Vec::new(), blocked: Vec::new() },
            buffer: text,
            journal: Journal::default(),
        }
    }

    /// The text that the editor has.
    #[must_use]
    pub fn buffer(&self) -> &Text {
        &self.buffer
    }

    /// A number that grows with every change of a view.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The hunks, in the order of record.
    pub fn hunks(&self) -> impl Iterator<Item = HunkId> + use<> {
        (0..self.hunks.len() as u32).map(HunkId)
    }

    pub(crate) fn hunk(&self, id: HunkId) -> &Hunk {
        &self.hunks[id.index()]
    }

    /// Whether the hunk is in the editor's text.
    #[must_use]
    pub fn in_buffer(&self, id: HunkId) -> bool {
        self.hunk(id).in_buffer
    }

    /// The lines that the hunk takes away, as they were when it was recorded.
    pub fn removed(&self, id: HunkId) -> impl Iterator<Item = &OwnedLine> {
        self.hunk(id).removed.iter().map(|removed| &removed.line)
    }

    /// The lines that the hunk puts there, as it was recorded.
    #[must_use]
    pub fn proposed(&self, id: HunkId) -> &[OwnedLine] {
        &self.hunk(id).proposed
    }

    pub(crate) fn fresh(&mut self, len: usize) -> IdRange {
        let first = LineId(self.next_line);
        self.next_line += len as u64;
        IdRange { first, len }
    }

    pub(crate) fn touch(&mut self) {
        self.revision += 1;
    }

    /// Whether a text whose last line is empty or not ends with a newline.
    pub(crate) fn newline_for(&self, last_is_empty: bool) -> bool {
        self.newline || last_is_empty
    }

    /// Cuts runs so that visible line `line` starts a run, and returns that run's index; where the view ends before, the
    /// index behind the last visible run. Runs that are not visible and lie between come before it.
    pub(crate) fn cut_at(&mut self, line: usize, visible: impl Fn(&Run) -> bool) -> usize {
        let mut at = 0;
        let mut behind_last = 0;
        for index in 0..self.runs.len() {
            if !visible(&self.runs[index]) {
                continue;
            }
            if at == line {
                return index;
            }
            let len = self.runs[index].len();
            if line < at + len {
                let tail = self.runs[index].split_off(line - at);
                self.runs.insert(index + 1, tail);
                return index + 1;
            }
            at += len;
            behind_last = index + 1;
        }
        behind_last
    }

    /// Gives a run that lies in the buffer's rope its own copy of its content.
    pub(crate) fn hold(&mut self, index: usize) {
        if self.runs[index].held.is_some() {
            return;
        }
        let start: usize = self.runs[..index].iter().filter(|run| run.shown).map(Run::len).sum();
        let default = self.buffer.ending_for_insert(Line(self.buffer.line_count()));
        let lines = self.buffer.lines(start..start + self.runs[index].len());
        let held: Arc<[OwnedLine]> = lines.map(|line| line.to_owned_line(default)).collect();
        self.runs[index].held = Some(held);
    }

    /// Joins neighbouring runs that need not be apart, and drops the copies that plain runs do not need.
    pub(crate) fn tidy(&mut self) {
        let mut tidy: Vec<Run> = Vec::with_capacity(self.runs.len());
        for mut run in self.runs.drain(..) {
            if run.is_plain() && run.shown {
                run.held = None;
            }
            match tidy.last_mut() {
                Some(last) if last.continues_in(&run) && last.held.is_none() == run.held.is_none() => {
                    last.ids.len += run.ids.len;
                    if let (Some(head), Some(tail)) = (&last.held, &run.held) {
                        last.held = Some(head.iter().chain(tail.iter()).cloned().collect());
                    }
                }
                _ => tidy.push(run),
            }
        }
        self.runs = tidy;
    }

    /// The ids of the lines of a view, in order.
    pub(crate) fn ids(&self, visible: impl Fn(&Run) -> bool) -> Vec<IdRange> {
        let mut ids = Vec::new();
        for run in self.runs.iter().filter(|run| visible(run)) {
            push_range(&mut ids, run.ids);
        }
        ids
    }

    /// The first and last run of each hunk: its span (W4). None for a hunk that neither made nor removed a line that is
    /// still known.
    pub(crate) fn spans(&self) -> Vec<Option<(usize, usize)>> {
        let mut spans: Vec<Option<(usize, usize)>> = vec![None; self.hunks.len()];
        for (index, run) in self.runs.iter().enumerate() {
            for hunk in run.maker.iter().chain(&run.removers) {
                let span = &mut spans[hunk.index()];
                *span = Some(span.map_or((index, index), |(first, _)| (first, index)));
            }
        }
        spans
    }
}
