//! What an editor has said of its changes, and may still say.

use std::collections::VecDeque;

use hashline_text::{DocVersion, Text};
use hashline_weave::{Regions, Turn, Weave};

/// How many causes wait for their changes at most. An editor sends the two together, so more of them wait for changes that never come.
const SAID: usize = 64;

/// What brought a change about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The delivery of this number.
    Delivery(u64),
    /// The person undid something, or did it again.
    Turn(Turn),
    /// The editor has read the text from the file again.
    Reload,
    /// The person has settled a difference between the text and the file.
    SaveConflict,
}

/// What the editor has said, and what it may still say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Of changes that have not come yet, in the order in which it was said.
    pub(super) said: VecDeque<(DocVersion, Cause)>,
    /// A change without a cause that reads as if it had one.
    pub(super) unsaid: Option<Box<Unsaid>>,
    /// The delivery that was known by its text last, and the version that it made.
    pub(super) implied: Option<(DocVersion, Cause)>,
    /// How often what it said did not go with the text.
    pub(super) wrong: u64,
}

/// A change without a cause that reads as a delivery, or as an undo, would have made it; or that came in place of one.
#[derive(Clone, Debug)]
pub(super) struct Unsaid {
    /// The version before it.
    pub(super) after: DocVersion,
    pub(super) version: DocVersion,
    pub(super) before: Weave,
    /// The text that the cause made. What else the change did is typing.
    pub(super) text: Text,
    pub(super) regions: Regions,
    /// The delivery that would have made it.
    pub(super) delivery: Option<u64>,
    /// Whether the change reads so. Else a version between `after` and this one has not come, which may have been the delivery.
    pub(super) reads_so: bool,
}

impl Unsaid {
    /// Whether a version may have been made by a cause: this one, or for a delivery one that was left out.
    pub(super) fn covers(&self, version: DocVersion, cause: Cause) -> bool {
        version == self.version && self.reads_so
            || version > self.after
                && version < self.version
                && self.delivery.is_some_and(|number| cause == Cause::Delivery(number))
    }
}

impl Told {
    pub(crate) fn forget(&mut self) {
        *self = Self { wrong: self.wrong, ..Self::default() };
    }

    /// Forgets what was said of the changes up to a version.
    pub(crate) fn pass(&mut self, version: DocVersion) {
        self.take(version);
    }

    /// Keeps what is said of a change that has not come. Returns what is let go for it.
    pub(super) fn say(&mut self, version: DocVersion, cause: Cause) -> Option<Cause> {
        let oldest = if self.said.len() == SAID { self.said.pop_front() } else { None };
        self.said.push_back((version, cause));
        oldest.map(|(_, cause)| cause)
    }

    /// Whether all that was said of the changes up to a version is that the person undid something, or did it again.
    pub(super) fn is_turn(&self, version: DocVersion) -> bool {
        let mut due = self.said.iter().filter(|(of, _)| *of <= version).map(|(_, cause)| cause).peekable();
        due.peek().is_some() && due.all(|cause| matches!(cause, Cause::Turn(_)))
    }

    /// Takes what was said of the changes up to a version, by version.
    pub(crate) fn take(&mut self, version: DocVersion) -> Vec<Cause> {
        let (mut due, later): (Vec<_>, Vec<_>) = self.said.drain(..).partition(|(of, _)| *of <= version);
        self.said = later.into();
        due.sort_by_key(|(of, _)| *of);
        due.into_iter().map(|(_, cause)| cause).collect()
    }
}
