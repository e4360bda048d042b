//! How the hunks of edits stand, and the decision that stands about each.

use hashline_history::{Decision, EditId, Reason};
use hashline_weave::HunkId;

use crate::document::{Document, HunkLines, HunkState};

impl Document {
    /// Notes that the agent was told the decisions about an edit.
    pub fn told(&mut self, id: &EditId) {
        self.edits.were_told(id);
    }

    /// What a hunk takes away and puts there.
    pub fn lines_of(&mut self, id: HunkId) -> HunkLines {
        let weave = self.weave();
        HunkLines { removed: weave.removed(id).cloned().collect(), proposed: weave.proposed(id).to_vec() }
    }

    /// Where a hunk stands now.
    pub fn state_of(&mut self, id: HunkId) -> HunkState {
        let decision = self.owner_of(id).map(|(_, hunk)| hunk.decision);
        let weave = self.weave();
        if weave.in_buffer(id) {
            let edited = weave.edited(id);
            return if edited.any() { HunkState::Edited(edited) } else { HunkState::InText };
        }
        if decision == Some(Decision::Withdrawn) {
            return HunkState::Withdrawn;
        }
        weave.conflict(id).map_or(HunkState::Held, HunkState::Conflicted)
    }

    /// Whether the place of a hunk in the text is no longer certain, as the text was changed while nobody watched (rule W17).
    #[must_use]
    pub fn is_lost(&self, id: HunkId) -> bool {
        self.text.woven().is_some_and(|weave| weave.is_lost(id))
    }

    /// Sets the decision about a hunk and marks it in the weave.
    pub(crate) fn set_decision(&mut self, id: HunkId, decision: Decision, reason: Option<Reason>) {
        let Some((decision, reason)) = self.edits.decide(id, decision, reason) else { return };
        let refused = matches!(decision, Decision::Rejected | Decision::Withdrawn);
        self.weave().set_refused(id, refused);
        if let Some((edit, hunk)) = self.owner_of(id) {
            let hunk = edit.name_of(hunk);
            self.note_decision(hunk, decision, reason);
        }
        self.news.decided();
    }
}
