//! Served snapshots (W14): what an agent saw, and where those lines are now.

use std::ops::Range;

use hashline_text::{Line, Text};

use crate::line::{IdRange, LineId};
use crate::weave::{View, Weave};

/// A text as it was served, with the identities of its lines.
#[derive(Clone, Debug)]
pub struct Snapshot {
    text: Text,
    ids: Vec<IdRange>,
}

impl Snapshot {
    /// The text that was served.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// About how much memory the list of identities takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ids.len() * size_of::<IdRange>()
    }

    fn id(&self, line: usize) -> Option<LineId> {
        let mut at = 0;
        for range in &self.ids {
            if line < at + range.len {
                return Some(range.at(line - at));
            }
            at += range.len;
        }
        None
    }
}

/// Lines of a snapshot that are not in the agent view as they were served: 0-based, in the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The first of them.
    pub line: usize,
    /// Where that line is now in the agent view, where it is there, with another content.
    pub now: Option<usize>,
}

/// Where lines of a snapshot are now, in the agent view.
pub type Carried = Range<usize>;

impl Weave {
    /// A snapshot of a view as it is now. What it holds stays true while the weave changes.
    pub fn snapshot(&mut self, view: View) -> Snapshot {
        let ids = match view {
            View::Buffer => self.ids(|run| run.shown),
            View::Agent => self.agent_ids(),
        };
        Snapshot { text: self.view(view).clone(), ids }
    }

    /// Where lines of a snapshot are now in the agent view: each visible with the content that was served, and without
    /// other lines between them.
    ///
    /// # Errors
    ///
    /// [`Touched`]: the first line of which that is not so.
    pub fn carry(&mut self, from: &Snapshot, lines: Range<usize>) -> Result<Carried, Touched> {
        let mut start = None;
        for line in lines.clone() {
            let now = self.position_now(from, line)?;
            let first = *start.get_or_insert(now);
            if now != first + (line - lines.start) {
                return Err(Touched { line, now: Some(now) });
            }
        }
        let start = start.unwrap_or_default();
        Ok(start..start + lines.len())
    }

    /// Where one line of a snapshot is now in the agent view, if it is there as it was served.
    fn position_now(&mut self, from: &Snapshot, line: usize) -> Result<usize, Touched> {
        self.refresh();
        let gone = Touched { line, now: None };
        let id = from.id(line).ok_or(gone.clone())?;
        let on = &self.agent.on;
        let mut at = 0;
        for run in self.runs.iter().filter(|run| run.visible(|hunk| on[hunk.index()])) {
            if run.ids.contains(id) {
                let now = at + (id.0 - run.ids.first.0) as usize;
                let (then, here) = (from.text.line(Line(line)), self.agent.text.line(Line(now)));
                return match (then, here) {
                    (Some(then), Some(here)) if here.content_eq(&then.content()) => Ok(now),
                    _ => Err(Touched { line, now: Some(now) }),
                };
            }
            at += run.len();
        }
        Err(gone)
    }
}
