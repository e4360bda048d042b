//! Why the history refuses, in words that say what to do next.

use std::io;
use std::path::{Path, PathBuf};

use crate::id::{ConversationId, EditId, HunkRef};
use crate::name::DocumentName;
use crate::path::to_text;
use crate::record::Sequence;

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// A refusal of the history. Nothing was recorded then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The history cannot be written by this user, or lies on a read-only file system.
    #[error(
        "the edit history {} is read-only ({why}). Make it writable for this user; until then edits cannot be recorded",
        to_text(path)
    )]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// There is no room.
    #[error(
        "the disk is full: {} cannot be written. Free some space and try again; nothing was lost",
        to_text(path)
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or another thread, has the history.
    #[error(
        "the edit history {} has been in use by another process for {seconds} s. Try again; if it stays so, end the hashline or \
         mcpdiff process that hangs (a process that has ended holds nothing)",
        to_text(folder)
    )]
    Locked {
        /// The history.
        folder: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A link, a folder or a pipe stands where a file or folder of the history belongs.
    #[error(
        "{} is not what belongs there ({found}). Nothing is followed or replaced; move it away and try again",
        to_text(path)
    )]
    NotOurs {
        /// Where.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// Something else went wrong with a file.
    #[error("{} could not be {action}: {why}", to_text(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, as a participle.
        action: &'static str,
        /// What the system says.
        why: String,
    },
    /// The record is of a version that this program does not know.
    #[error(
        "{} is of version {found}, and this hashline reads version {known}. Use a newer hashline, or move the folder away to \
             begin a new history",
        to_text(path)
    )]
    WrongVersion {
        /// The record.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that can be read.
        known: u64,
    },
    /// The record does not carry this user's seal.
    #[error(
        "the edit history of {} is not yours: it came with the folder, or another user or machine has made it. Nothing of it is shown, and \
         nothing is recorded there, so agents cannot edit these files. `mcpdiff adopt` in that folder shows what is in it, and takes it over \
         or sets it aside; that is for a person to decide, in a terminal",
        to_text(folder)
    )]
    Foreign {
        /// The folder whose history it is.
        folder: PathBuf,
    },
    /// Whose a record is cannot be told.
    #[error(
        "the key that tells your edit histories from those of others cannot be used: {why}. Nothing is recorded until it can"
    )]
    NoKey {
        /// What is wrong.
        why: String,
    },
    /// A history that was to be adopted is not what was shown of it any more.
    #[error("the edit history of {} was changed meanwhile. Look at it again", to_text(folder))]
    Changed {
        /// The folder whose history it is.
        folder: PathBuf,
    },
    /// A file that the history of this folder cannot hold.
    #[error("{name} does not lie below {}, so the history there cannot hold it", to_text(folder))]
    Outside {
        /// The file.
        name: DocumentName,
        /// The folder of the history.
        folder: PathBuf,
    },
    /// An id that may not name a file.
    #[error(
        "{id:?} cannot be an id: letters, digits, \"_\", \"-\" and \".\" only, not starting with a dot, at most 100"
    )]
    UnsafeId {
        /// The id.
        id: String,
    },
    /// There is an edit of this id.
    #[error("there is an edit {id} already")]
    DuplicateEdit {
        /// The id.
        id: EditId,
    },
    /// An edit names a conversation that came about through another connection.
    #[error("the conversation {id} was opened by another agent, and takes no edits of others")]
    OthersConversation {
        /// The conversation.
        id: ConversationId,
    },
    /// A decision names a hunk that the document does not have.
    #[error("there is no hunk {hunk} of {document}")]
    UnknownHunk {
        /// The hunk.
        hunk: HunkRef,
        /// The document.
        document: DocumentName,
    },
    /// Others have recorded something about the document that the caller does not know of.
    #[error(
        "{document} was changed by another process meanwhile (record {last}). Read it again and try again"
    )]
    Stale {
        /// The document.
        document: DocumentName,
        /// The last that was recorded of it.
        last: Sequence,
    },
    /// Another process has claimed the edits of the document (rule W19).
    #[error("{editor} has {document} open, and what becomes of its edits is decided there")]
    Owned {
        /// The document.
        document: DocumentName,
        /// The editor.
        editor: String,
    },
    /// It is not known whether the last change reached the disk.
    #[error(
        "it is not known whether the last change of {document} was written, as the file cannot be read. Make it readable and try again"
    )]
    Unfinished {
        /// The document.
        document: DocumentName,
    },
    /// The draft does not make sense.
    #[error("this cannot be recorded: {0}")]
    BadDraft(&'static str),
    /// Nothing is recorded of the document.
    #[error("the history knows nothing of {0}")]
    Unknown(String),
    /// What was recorded does not lead to the text that was recorded with it.
    #[error(
        "record {sequence} of {document} cannot be replayed: {why}. Its edits cannot be switched any more; what was recorded before \
         it is still there"
    )]
    Broken {
        /// The document.
        document: DocumentName,
        /// The first record that does not fit.
        sequence: Sequence,
        /// Why.
        why: String,
    },
    /// The state was asked for of a moment that a cleanup has removed, or that is not the document's.
    #[error("{document} has no state as of record {sequence}: it begins later, or a cleanup removed it")]
    Forgotten {
        /// The document.
        document: DocumentName,
        /// The moment.
        sequence: Sequence,
    },
}

impl StoreError {
    /// The refusal that an error of the system means.
    pub(crate) fn io(path: &Path, action: &'static str, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied if action != "read" => {
                Self::ReadOnly { path, why: error.to_string() }
            }
            _ => Self::Io { path, action, why: error.to_string() },
        }
    }
}

/// What was looked for in a history: to whoever reads, there is nothing in one that is not theirs.
pub(crate) fn none_if_foreign<T>(looked: Result<Option<T>>) -> Result<Option<T>> {
    match looked {
        Err(StoreError::Foreign { .. } | StoreError::NoKey { .. }) => Ok(None),
        looked => looked,
    }
}
