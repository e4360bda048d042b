//! Held hunks that build on each other (rule W11): those of one turn of an agent are shown and decided as one, with the last text. The
//! history keeps them apart.

use std::ops::Range;

use hashline_history::Decision;
use hashline_weave::HunkId;

use crate::document::{Document, Edit};

impl Edit {
    /// Whether two edits were made in one turn: in one conversation, or, where the agent named none, through one connection.
    #[must_use]
    pub fn same_turn(&self, other: &Self) -> bool {
        self.conversation == other.conversation
            || (self.opened_conversation && other.opened_conversation && self.connection == other.connection)
    }
}

/// From the first to the last line of all that a group has of a view.
pub(crate) fn hull(group: &[HunkId], places: &[Option<Range<usize>>]) -> Option<Range<usize>> {
    let of = group.iter().filter_map(|id| places[id.order()].clone());
    of.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
}

impl Document {
    /// The held, undecided hunks that are shown and decided together with this one, itself among them, in the order of record. Just
    /// itself if it is in the text, decided, or kept out of the agent view.
    pub(crate) fn group_of(&mut self, id: HunkId) -> Vec<HunkId> {
        let mut group = vec![id];
        if !self.groups(id) {
            return group;
        }
        let mut at = 0;
        while at < group.len() {
            let linked: Vec<HunkId> = {
                let weave = self.weave();
                [weave.prerequisites(group[at]), weave.dependents(group[at])].concat()
            };
            for other in linked {
                if !group.contains(&other) && self.same_turn(id, other) && self.groups(other) {
                    group.push(other);
                }
            }
            at += 1;
        }
        group.sort_unstable();
        group
    }

    /// Whether a hunk can be part of a group. One that is on its way into the text is as good as in it.
    fn groups(&mut self, id: HunkId) -> bool {
        let comes = self.wanted.get(id).is_some_and(|wish| wish.on);
        let undecided =
            !comes && self.owner_of(id).is_some_and(|(_, hunk)| hunk.decision == Decision::Undecided);
        let weave = self.weave();
        undecided && !weave.in_buffer(id) && weave.in_agent_view(id)
    }

    /// Whether two hunks belong to edits of one turn.
    pub(crate) fn same_turn(&self, one: HunkId, other: HunkId) -> bool {
        match (self.owner_of(one), self.owner_of(other)) {
            (Some((one, _)), Some((other, _))) => one.same_turn(other),
            _ => false,
        }
    }
}
