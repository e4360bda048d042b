//! Served snapshots (W14): what an agent saw, and where those lines are now.

use std::ops::Range;

use hashline_text::Text;

use crate::line::IdRange;
use crate::run::Run;
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

    /// The identities of some lines.
    fn ids(&self, lines: Range<usize>) -> Vec<IdRange> {
        let mut found = Vec::new();
        let mut at = 0;
        for range in &self.ids {
            let from = lines.start.max(at);
            let to = lines.end.min(at + range.len);
            if from < to {
                found.push(IdRange { first: range.at(from - at), len: to - from });
            }
            at += range.len;
            if at >= lines.end {
                break;
            }
        }
        found
    }
}

/// Lines of a snapshot that are not in the agent view as they were served: 0-based, in the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The first of them.
    pub line: usize,
    /// Where that line is now in the agent view, where it is there, with another content or in another place.
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
        self.refresh();
        let mut expected: Option<usize> = None;
        let mut line = lines.start;
        for ids in from.ids(lines.clone()) {
            let mut left = ids;
            while left.len > 0 {
                let Some((now, len)) = self.stretch_in_agent_view(left) else {
                    return Err(Touched { line, now: None });
                };
                if expected.is_some_and(|expected| expected != now) {
                    return Err(Touched { line, now: Some(now) });
                }
                let then = from.text.lines(line..line + len);
                let changed = then.zip(self.agent.text.lines(now..now + len)).position(|(then, now)| {
                    if let Some(then) = then.as_str() {
                        !now.content_eq(then)
                    } else {
                        then.content() != now.content()
                    }
                });
                if let Some(at) = changed {
                    return Err(Touched { line: line + at, now: Some(now + at) });
                }
                expected = Some(now + len);
                line += len;
                left = IdRange { first: left.at(len), len: left.len - len };
            }
        }
        match expected {
            Some(end) if line == lines.end => Ok(end - lines.len()..end),
            _ if lines.is_empty() => Ok(0..0),
            _ => Err(Touched { line, now: None }),
        }
    }

    /// Where the first of these lines is in the agent view, and how many of them stand there one after the other in one run.
    fn stretch_in_agent_view(&self, ids: IdRange) -> Option<(usize, usize)> {
        let on = &self.agent.on;
        let mut at = 0;
        for run in self.runs.iter().filter(|run| run.visible(|hunk| on[hunk.index()])) {
            if run.ids.contains(ids.first) {
                let offset = (ids.first.0 - run.ids.first.0) as usize;
                return Some((at + offset, ids.len.min(Run::len(run) - offset)));
            }
            at += run.len();
        }
        None
    }
}
