//! The file of a document: whether it is there, its name, what it holds where that is no text, and what the editor is asked to do with it
//! (rule W10).
//!
//! What is known of the file is a register that file hunks set and set back; whoever has the disk brings the file to it.
//!
//! The face: [`OwnFile`] has the registers, what the file holds, and what the editor is asked for. In this room edits of the file are made and carried out
//! (`file_edits`), decided (`decide_file`) and asked of an editor (`editor_requests`).

pub(crate) mod contents;
mod decide_file;
pub(crate) mod editor_request;
mod editor_requests;
mod file_edits;
pub(crate) mod hunk;

use std::sync::Arc;

use hashline_history::{DocumentName, FileChange};

use crate::document::file::editor_request::{Asked, Looked};

/// The registers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileNow {
    pub exists: bool,
    /// None for a document without a file.
    pub name: Option<DocumentName>,
    pub mode: Option<u32>,
}

impl Default for FileNow {
    fn default() -> Self {
        Self { exists: true, name: None, mode: None }
    }
}

impl FileNow {
    /// Whether the registers that a change sets have these values.
    pub(crate) fn is(&self, change: &FileChange, after: bool) -> bool {
        let exists = change.exists.is_none_or(|(was, now)| self.exists == if after { now } else { was });
        let name = change
            .name
            .as_ref()
            .is_none_or(|(was, now)| self.name.as_ref() == Some(if after { now } else { was }));
        exists && name
    }

    fn set(&mut self, change: &FileChange, after: bool) {
        if let Some((was, now)) = change.exists {
            self.exists = if after { now } else { was };
        }
        if let Some((was, now)) = &change.name {
            self.name = Some(if after { now.clone() } else { was.clone() });
        }
    }
}

/// The file of a document, as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFile {
    now: FileNow,
    /// What it holds, where that is no text.
    bytes: Option<Arc<[u8]>>,
    /// What the editor is to do with it.
    asked: Option<Asked>,
    /// What was found out of it for the next decision about it.
    looked: Option<Looked>,
}

impl OwnFile {
    pub(crate) fn of(now: FileNow, bytes: Option<Arc<[u8]>>) -> Self {
        Self { now, bytes, ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.bytes.as_ref()
    }

    pub(crate) fn set_bytes(&mut self, bytes: Option<Arc<[u8]>>) {
        self.bytes = bytes;
    }

    /// Still asks for what another state of the document has asked for.
    pub(crate) fn keep_asking(&mut self, other: &Self) {
        if other.asked.is_some() {
            self.asked.clone_from(&other.asked);
        }
    }
}
