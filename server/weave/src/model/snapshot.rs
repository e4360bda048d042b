//! Served snapshots (rule W14): what an agent saw, and where those lines are now.

use std::ops::Range;

use hashline_text::{Difference, Text};

use crate::model::ids::{self, Ids};
use crate::model::line::{IdRange, LineId};
use crate::model::run::Run;
use crate::model::state::{Model, View};

/// A text as it was served, with the identities of its lines.
#[derive(Clone, Debug)]
pub struct Snapshot {
    text: Text,
    ids: Ids,
}

impl Snapshot {
    /// The text that was served.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// About how much memory it takes besides what it shares with another, in bytes.
    #[must_use]
    pub fn bytes_beside(&self, other: &Self) -> usize {
        self.ids.bytes_beside(&other.ids) + self.text.bytes_beside(&other.text)
    }

    /// What makes this snapshot of another; none where that takes more memory than the snapshot does beside the other.
    #[must_use]
    pub fn difference_from(&self, other: &Self) -> Option<SnapshotDifference> {
        let ids = self.ids.difference_from(&other.ids);
        let left = self.bytes_beside(other).checked_sub(ids.bytes())?;
        Some(SnapshotDifference { text: self.text.difference_from(&other.text, left)?, ids })
    }
}

/// What makes one snapshot of another.
#[derive(Clone, Debug)]
pub struct SnapshotDifference {
    text: Difference,
    ids: ids::Difference,
}

impl SnapshotDifference {
    /// The snapshot that differs in this from the one that it was found with.
    #[must_use]
    pub fn applied_to(&self, other: &Snapshot) -> Snapshot {
        Snapshot { text: self.text.applied_to(&other.text), ids: self.ids.applied_to(&other.ids) }
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.bytes() + self.ids.bytes()
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

impl Model {
    /// A snapshot of a view as it is now. What it holds stays true while the weave changes.
    pub(crate) fn snapshot(&mut self, view: View) -> Snapshot {
        let ids = match view {
            View::Buffer => self.ids(|run| run.shown),
            View::Agent => self.agent_ids(),
        };
        self.served_ids = Ids::new(&ids, &self.served_ids);
        Snapshot { text: self.view(view).clone(), ids: self.served_ids.clone() }
    }

    /// Where lines of a snapshot are now in the agent view: each visible with the content that was served, and without
    /// other lines between them.
    ///
    /// # Errors
    ///
    /// [`Touched`]: the first line of which that is not so.
    pub(crate) fn carry(&mut self, from: &Snapshot, lines: Range<usize>) -> Result<Carried, Touched> {
        self.refresh();
        let wanted = from.ids.of_lines(lines.clone());
        let Some(first) = wanted.first().map(|ids| ids.first) else {
            let past = Touched { line: lines.start, now: None };
            return if lines.is_empty() { Ok(0..0) } else { Err(past) };
        };
        let start = self.now(first).ok_or(Touched { line: lines.start, now: None })?;
        // From there on line by line: what follows has to be what follows now.
        let mut now = self.ids_from(start);
        let mut line = lines.start;
        for ids in wanted {
            let mut left = ids;
            while left.len > 0 {
                let here = now.next().filter(|here| here.first == left.first);
                let Some(here) = here else {
                    return Err(Touched { line, now: self.now(left.first) });
                };
                let len = here.len.min(left.len);
                let at = start + (line - lines.start);
                let then = from.text.lines(line..line + len);
                let mut both = then.zip(self.agent.text.lines(at..at + len));
                if let Some(touched) = both.position(|(then, here)| !then.same_content(here)) {
                    return Err(Touched { line: line + touched, now: Some(at + touched) });
                }
                line += len;
                left = IdRange { first: left.at(len), len: left.len - len };
                if left.len == 0 && len < here.len {
                    // The rest of this run is not asked for, or it comes in another range.
                    now.put_back(IdRange { first: here.at(len), len: here.len - len });
                }
            }
        }
        if line < lines.end {
            return Err(Touched { line, now: None });
        }
        Ok(start..start + lines.len())
    }

    /// Where a line is in the agent view.
    fn now(&self, id: LineId) -> Option<usize> {
        let on = &self.agent.on;
        let mut at = 0;
        for run in self.runs.iter().filter(|run| run.visible(|hunk| on[hunk.index()])) {
            if run.ids.contains(id) {
                return Some(at + (id.0 - run.ids.first.0) as usize);
            }
            at += run.len();
        }
        None
    }

    /// The lines of the agent view from one of them on.
    fn ids_from(&self, line: usize) -> IdsFrom<'_> {
        let on = &self.agent.on;
        let mut skip = line;
        let mut rest = self.runs.iter();
        let mut first = None;
        for run in rest.by_ref().filter(|run| run.visible(|hunk| on[hunk.index()])) {
            if skip < run.len() {
                first = Some(IdRange { first: run.ids.at(skip), len: run.len() - skip });
                break;
            }
            skip -= run.len();
        }
        IdsFrom { first, runs: rest, on }
    }
}

/// A walk over the ids of the agent view, one of which can be put back.
struct IdsFrom<'a> {
    first: Option<IdRange>,
    runs: std::slice::Iter<'a, Run>,
    on: &'a [bool],
}

impl IdsFrom<'_> {
    fn put_back(&mut self, ids: IdRange) {
        self.first = Some(ids);
    }
}

impl Iterator for IdsFrom<'_> {
    type Item = IdRange;

    fn next(&mut self) -> Option<IdRange> {
        let on = self.on;
        let next = || self.runs.find(|run| run.visible(|hunk| on[hunk.index()])).map(|run| run.ids);
        self.first.take().or_else(next)
    }
}
