//! What is known of a client that says nothing of its changes.

use hashline_text::DocVersion;
use hashline_weave::{Candidate, How, Plan};

use crate::document::moment::Millis;

/// What is known of a client that says nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guesses {
    /// When the text last showed a part of something that seems to be under way.
    pub(super) half_shown: Option<HalfShown>,
    /// What the client was offered to carry out by itself, for the text of one version.
    pub(super) offered: Vec<(DocVersion, Plan)>,
    /// How often something was guessed.
    pub(super) count: u64,
}

/// A delivery or an undo of which only a part seems to be there.
#[derive(Clone, Debug)]
pub(super) struct HalfShown {
    pub(super) since: Millis,
    /// What had been asked for at that time.
    pub(super) asked: Vec<Candidate>,
}

impl Guesses {
    pub(crate) fn forget(&mut self) {
        self.half_shown = None;
        self.offered.clear();
    }

    /// The editor has not carried out what it was sent: no part of that is there.
    pub(crate) fn was_refused(&mut self) {
        if let Some(half) = &mut self.half_shown {
            half.asked.retain(|candidate| !matches!(candidate.how, How::Asked(_)));
        }
    }
}
