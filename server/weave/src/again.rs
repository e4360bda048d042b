//! Judging a notification again together with the next (rule W9): an editor may deliver or undo a hunk in two parts, and the first alone
//! does not show what it is part of.

use hashline_text::Text;

use crate::journal::JournalId;
use crate::recognise::Candidate;
use crate::region::Regions;
use crate::typing::{How, Judgement, Switched, UndoMark};
use crate::weave::Weave;

/// The weave as it was before a notification that should be judged together with the next.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub weave: Weave,
    pub regions: Regions,
    /// What the first judgement is called in the journal.
    pub entry: Option<JournalId>,
}

impl Weave {
    /// As [`typed`](Self::typed), after a judgement that was [`half_shown`](Judgement::half_shown): judges the notification
    /// before and this one as one, against the weave before both. `regions` are those of this notification alone.
    ///
    /// The answer tells what is switched otherwise than it was after the first judgement. Where there is nothing to be judged
    /// again, or hunks were recorded, switched or refused in between, this is `typed`. How long after the first judgement
    /// this is right is for the caller to say, who has a clock: after a second it no longer is.
    pub fn typed_again(
        &mut self,
        new: &Text,
        regions: &Regions,
        asked: &[Candidate],
        mark: Option<UndoMark>,
    ) -> Judgement {
        let Some(checkpoint) = self.checkpoint.take() else { return self.typed(new, regions, asked, mark) };
        let Checkpoint { weave: mut before, regions: first, entry } = *checkpoint;
        // Numbers that were given out stay so.
        before.revision = self.revision;
        before.next_line = self.next_line;
        before.journal.number_from(&self.journal);
        let was = std::mem::replace(self, before).on;
        let mut judgement = self.typed(new, &first.then(regions), asked, mark);
        judgement.switched.retain(|switched| was[switched.hunk.index()] != switched.on);
        for hunk in self.hunks() {
            let on = self.in_buffer(hunk);
            let told = judgement.switched.iter().any(|switched| switched.hunk == hunk);
            if let Some(entry) = entry
                && was[hunk.index()] != on
                && !told
            {
                judgement.switched.push(Switched { hunk, on, how: How::Undone(entry) });
            }
        }
        judgement
    }
}
