//! The lines one by one, for tests that compare them with a plain model of what a weave is.

use hashline_text::{OwnedLine, Text};

use crate::model::hunk::HunkId;
use crate::model::line::LineId;
use crate::model::state::Model;

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

impl Model {
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

    /// The agent view as it is without a look at what it was.
    #[doc(hidden)]
    #[must_use]
    pub fn agent_anew(&self) -> Text {
        let mut copy = self.clone();
        copy.reshape();
        copy.agent().clone()
    }

    /// How many runs there are.
    #[doc(hidden)]
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }
}
