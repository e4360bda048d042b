//! The weave line by line, for tests that compare it with a plain model.

use hashline_text::{OwnedLine, Text};

use crate::attribution::judgement::{Candidate, Judgement};
use crate::attribution::region::Regions;
use crate::model::hunk::HunkId;
use crate::model::line::LineId;
use crate::model::state::Weave;

/// A line of a weave, shown or not, with all that decides whether it is visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineState {
    /// Its identity.
    pub id: LineId,
    /// Its content and ending as they are now.
    pub line: OwnedLine,
    /// The hunk that made it.
    pub maker: Option<HunkId>,
    /// The hunks that remove it.
    pub removers: Vec<HunkId>,
    /// Whether the person removed it.
    pub gone: bool,
    /// Whether it stands in the buffer.
    pub shown: bool,
}

impl Weave {
    /// All lines in order.
    #[doc(hidden)]
    #[must_use]
    pub fn line_states(&self) -> Vec<LineState> {
        let mut states = Vec::new();
        let mut line = 0;
        for run in self.runs.iter() {
            let lines = if run.shown { self.buffer_lines(line, run.len()) } else { run.lines().to_vec() };
            for (at, line) in lines.into_iter().enumerate() {
                let (maker, removers) = (run.maker, run.removers.to_vec());
                let id = run.ids.at(at);
                states.push(LineState { id, line, maker, removers, gone: run.gone, shown: run.shown });
            }
            line += if run.shown { run.len() } else { 0 };
        }
        states
    }

    /// Whether the buffer ends with a newline as soon as its last line is not empty.
    #[doc(hidden)]
    #[must_use]
    pub fn newline_register(&self) -> bool {
        self.newline_under(|hunk| self.in_buffer(hunk))
    }

    /// As [`typed`](Self::typed), judged among all runs where any line reads otherwise.
    #[doc(hidden)]
    pub fn typed_among_all(&mut self, new: &Text, regions: &Regions) -> Judgement {
        self.typed_as(new, regions, |weave, arrival| {
            let same = arrival.touched.is_empty();
            same.then(|| weave.typed_in_place(new, regions, arrival)).flatten()
        })
    }

    /// As [`recognised`](Self::recognised), judged among all runs, but for lines that only read otherwise: those are taken over in place.
    #[doc(hidden)]
    pub fn recognised_among_all(&mut self, new: &Text, regions: &Regions, asked: &[Candidate]) -> Judgement {
        self.recognised_as(new, regions, asked, |_, _| None)
    }

    /// The agent view as it is without a look at what it was.
    #[doc(hidden)]
    #[must_use]
    pub fn agent_anew(&self) -> Text {
        let mut copy = self.clone();
        copy.reshape();
        copy.agent().clone()
    }

    /// What the journal knows of the texts before: the contents of their lines, the latest first.
    #[doc(hidden)]
    #[must_use]
    pub fn texts_before(&self) -> Vec<Vec<String>> {
        self.journal.texts_before(&self.buffer)
    }

    /// About how many bytes the journal keeps in memory.
    #[doc(hidden)]
    #[must_use]
    pub fn journal_bytes(&self) -> usize {
        self.journal.bytes()
    }

    /// How many runs there are.
    #[doc(hidden)]
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }
}
