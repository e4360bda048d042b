//! What the file has while the person types: a text that the buffer had, on which another program may go on (rule W23).

use std::sync::Arc;

use hashline_text::Text;

use crate::model::ids::Ids;
use crate::model::line::{IdRange, LineId};

/// The text of the file, as far as the weave has it: one that the buffer had, and what was recorded on it since.
#[derive(Clone, Debug)]
pub struct Base {
    pub(super) text: Text,
    pub(super) ids: Ids,
    /// Per hunk: whether it is in this text. None is that was recorded later.
    pub(super) on: Arc<[bool]>,
    /// The revision of the weave that it was taken of.
    pub(super) revision: u64,
}

impl Base {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Whether both are the same state of one weave.
    #[must_use]
    pub fn is_same_instance(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.on, &other.on)
    }

    /// The identities of its lines, in its order.
    pub(super) fn lines(&self) -> Vec<IdRange> {
        self.ids.of_lines(0..self.text.line_count())
    }
}

/// The lines of a base, to be found by their ids.
pub(super) struct BaseLines(Vec<IdRange>);

impl BaseLines {
    pub(super) fn of(base: &Base) -> Self {
        let mut ids = base.lines();
        ids.sort_unstable_by_key(|range| range.first);
        Self(ids)
    }

    pub(super) fn has(&self, id: LineId) -> bool {
        self.next(id).is_some_and(|range| range.contains(id))
    }

    /// How many of some lines are among these.
    pub(super) fn count_in(&self, ids: IdRange) -> usize {
        let from = self.0.partition_point(|range| range.end() <= ids.first.0);
        let near = self.0[from..].iter().take_while(|range| range.first.0 < ids.end());
        near.map(|range| (range.end().min(ids.end()) - range.first.0.max(ids.first.0)) as usize).sum()
    }

    /// The first range that ends behind a line.
    pub(super) fn next(&self, id: LineId) -> Option<IdRange> {
        self.0.get(self.0.partition_point(|range| range.end() <= id.0)).copied()
    }
}
