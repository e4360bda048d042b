//! The text that an agent's hash names, as it was served.

use std::sync::Arc;

use hashline_text::{DiskForm, FileHash, Text};
use hashline_weave::Snapshot;

use crate::document::text::snapshots::Seen;

/// The snapshot that an agent's hash names.
#[derive(Clone, Debug)]
pub struct Located {
    pub(super) snapshot: Arc<Snapshot>,
    /// Whether it is the text as it is now.
    pub(super) current: bool,
    pub(super) hash: FileHash,
    /// The lines that were shown under the hash; all of them for the text as it is now, if it was never served.
    pub(super) seen: Option<Seen>,
    pub(super) live: bool,
    /// How the text would be stored.
    pub(super) form: DiskForm,
}

impl Located {
    /// Whether the agent was shown all of it.
    pub(super) fn seen_all(&self) -> bool {
        let all = 0..self.text().line_count();
        self.seen.as_ref().is_some_and(|seen| seen.contains(&all))
    }

    /// The text of the snapshot.
    #[must_use]
    pub fn text(&self) -> &Text {
        self.snapshot.text()
    }
}
