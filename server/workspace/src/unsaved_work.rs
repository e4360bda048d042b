//! How an editor's text stands to its file: which of several editors has unsaved work, and which has only not looked at the disk again,
//! depends on it (rule W19).

use std::sync::{MutexGuard, PoisonError};

use hashline_text::Text;

use crate::disk::read;
use crate::document_slot::Slot;

/// How an editor's text stands to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The file has the same text.
    Saved,
    /// The editor has unsaved work.
    Unsaved,
    /// The editor has nothing that is not saved. Something else has changed the file since, and it has not read it anew.
    Behind,
}

impl Slot {
    /// Compares the text of an open document with its file. Takes as long as the file is large.
    pub(crate) fn level(&self, text: &Text) -> Level {
        let Some(stored) = self.place().and_then(|place| read(&place).ok()) else {
            return if text.is_empty() { Level::Saved } else { Level::Unsaved };
        };
        if text.is_served_from(&stored.bytes) {
            self.file_has(text);
            return Level::Saved;
        }
        // Comparing takes a while: no lock is held meanwhile.
        if self.shared_text().as_ref() == Some(text) { Level::Behind } else { Level::Unsaved }
    }

    /// Takes over that the editor has read its text from the file, or has written it there; none where that is not known.
    pub(crate) fn share_with_file(&self, text: Option<Text>) {
        *self.shared() = text;
        let mut watched = self.watched();
        (watched.known, watched.expected) = (None, None);
    }

    /// Takes over that the file has a text of the editor's.
    pub(crate) fn file_has(&self, text: &Text) {
        self.share_with_file(Some(text.clone()));
        self.lock().note_file_has(text);
    }

    /// The text that was in the editor and in the file when both had the same.
    pub(crate) fn shared_text(&self) -> Option<Text> {
        self.shared().clone()
    }

    fn shared(&self) -> MutexGuard<'_, Option<Text>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
