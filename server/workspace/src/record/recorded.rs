//! How far the record of a document is known to this process.

use hashline_history::{FileId, Glance, Sequence, Store};

/// How far the record of a document is known to this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The file, and the last that was recorded of it; none if that is nothing.
    pub latest: Option<(FileId, Sequence)>,
    /// How often the history had been cleaned up then.
    pub generation: u64,
    /// The file, while the record has it under the name that it had before.
    pub moved: Option<FileId>,
    /// How the history looked when that was found out.
    pub glance: Option<Glance>,
    /// The revision of the weave that was recorded.
    pub revision: u64,
}

impl Recorded {
    /// What a document was just made of: the last that was recorded of it, and how the history looked before that was looked up.
    pub fn of(store: &Store, latest: Option<(FileId, Sequence)>, glance: Option<Glance>) -> Self {
        Self { latest, moved: None, glance, generation: store.generation(), revision: 0 }
    }

    /// Whether this is still all that is recorded, and all of it is still there.
    pub fn is_current(&self, store: &Store, latest: Option<(FileId, Sequence)>) -> bool {
        self.latest == latest && (latest.is_none() || self.generation == store.generation())
    }
}
