//! What is known of a client that says nothing of its changes.

use hashline_text::{DocVersion, Text};
use hashline_weave::{Candidate, How, HunkId, Plan, Regions, Weave};

use crate::document::moment::Millis;
use crate::document::text::content_change::ContentChange;

/// What is known of a client that says nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guesses {
    /// When the text last showed a part of something that seems to be under way.
    pub(super) half_shown: Option<HalfShown>,
    /// A delivery that may be coming in several notifications.
    pub(super) begun: Option<Box<Begun>>,
    /// What the client was offered to carry out by itself, for the text of one version.
    pub(super) offered: Vec<(DocVersion, Plan)>,
    /// How often something was guessed.
    pub(super) count: u64,
}

/// A delivery or an undo of which only a part seems to be there.
#[derive(Clone, Debug)]
pub(super) struct HalfShown {
    pub(super) since: Millis,
    /// What had been asked for at that time, or before and was to be found again.
    pub(super) asked: Vec<Candidate>,
    /// The hunks that seem to have come into the text with it, or to have left it.
    pub(super) switched: Vec<HunkId>,
}

/// A delivery that the client tells of change by change, each in a notification of its own.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    /// Which one.
    pub(super) number: u64,
    /// The version of the text at whose next change it goes on.
    pub(super) reaches: DocVersion,
    /// How everything was before the first of these changes.
    pub(super) before: Weave,
    /// What they have touched so far.
    pub(super) regions: Regions,
    /// What is still to be put in, place by place, without a look at endings.
    pub(super) left: Vec<String>,
    /// The text with all of it.
    pub(super) made: Text,
}

/// What of some texts is left to be put in, if each of these changes puts in one of them.
pub(super) fn left_of(parts: &[String], changes: &[ContentChange]) -> Option<Vec<String>> {
    let mut left = parts.to_vec();
    for change in changes {
        change.span?;
        let new = without_returns(&change.text);
        let part = left.iter().position(|left| *left == new)?;
        left.swap_remove(part);
    }
    Some(left)
}

/// A text as it reads with either kind of endings.
pub(super) fn without_returns(text: &str) -> String {
    text.replace('\r', "")
}

impl Guesses {
    pub(crate) fn forget(&mut self) {
        self.half_shown = None;
        self.begun = None;
        self.offered.clear();
    }

    /// The editor has not carried out a delivery: no part of that is there.
    pub(crate) fn was_refused(&mut self, number: u64) {
        self.begun = None;
        if let Some(half) = &mut self.half_shown {
            half.asked.retain(|candidate| candidate.how != How::Asked(number));
        }
    }
}
