//! What became of a decision: what is decided or under way, and what is not, and why.

use std::path::PathBuf;

use hashline_history::{HunkRef, Why};

/// A hunk that was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// Its name, or what was asked for.
    pub hunk: String,
    /// Why.
    pub why: Why,
    /// The same for the person, with the next step.
    pub message: String,
    /// The hunks that `why` speaks of.
    pub others: Vec<HunkRef>,
}

/// What became of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Decided, or under way: those that were named, and those that were decided with them.
    pub queued: Vec<HunkRef>,
    /// Not decided.
    pub refused: Vec<Undecided>,
    /// Copies of texts in which the person gave up lines.
    pub kept: Vec<PathBuf>,
    /// Not decided, as another editor decides: it can be asked.
    pub elsewhere: Vec<Elsewhere>,
}

/// What another editor decides about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The file that it has open.
    pub file: PathBuf,
    /// What to say where it cannot be asked.
    pub refused: Undecided,
}

impl Decided {
    /// For whoever asks everywhere by themselves: what another editor decides about is not decided.
    pub(crate) fn asked_everywhere(mut self) -> Self {
        self.refused.extend(self.elsewhere.drain(..).map(|elsewhere| elsewhere.refused));
        self
    }

    /// Adds what came of the same decision in another file.
    pub(crate) fn extend(&mut self, other: Self) {
        let Self { queued, refused, kept, elsewhere } = other;
        self.queued.extend(queued);
        self.refused.extend(refused);
        self.kept.extend(kept);
        self.elsewhere.extend(elsewhere);
    }

    /// Adds hunks that are decided, each once.
    pub(crate) fn add(&mut self, hunks: impl IntoIterator<Item = HunkRef>) {
        for hunk in hunks {
            if !self.queued.contains(&hunk) {
                self.queued.push(hunk);
            }
        }
    }
}
