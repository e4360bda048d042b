//! What an editor is asked to do with a file, and how far that is.

use hashline_history::{Decision, DocumentName, FileChange, HunkRef, Reason};
use hashline_text::DocVersion;

use crate::document::deliveries::retry_schedule::Delivered;
use crate::document::file::hunk::FileHunk;

/// Something that is done with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// It is removed.
    Remove,
    /// It gets this name.
    Rename(DocumentName),
}

/// What an editor does with files when it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOperations {
    /// It removes them.
    pub removes: bool,
    /// It renames them.
    pub renames: bool,
}

impl FileOperations {
    pub(super) fn has(self, operation: &FileOperation) -> bool {
        match operation {
            FileOperation::Remove => self.removes,
            FileOperation::Rename(_) => self.renames,
        }
    }
}

/// A file operation for the editor to carry out, for one version of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDelivery {
    /// Which one it is, for the answer.
    pub number: u64,
    /// The version of the text that was found to be saved.
    pub version: DocVersion,
    /// What is to be done.
    pub operation: FileOperation,
    /// What it is for.
    pub switch: Delivered,
}

/// What the editor says of a file operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAnswer {
    /// It was done.
    Done,
    /// It was not, for this reason, if the editor gives one.
    NotDone(Option<String>),
}

/// What is known of the file of an open document, as of one version of its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    pub version: DocVersion,
    /// The file holds that text.
    pub saved: bool,
    /// What the editor does with files.
    pub editor: FileOperations,
}

/// A decision about the file that the disk does not show yet.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(super) number: u64,
    pub(super) hunk: HunkRef,
    /// What the hunk says is to be so.
    pub(super) on: bool,
    pub(super) version: DocVersion,
    pub(super) operation: FileOperation,
    pub(super) decision: Decision,
    pub(super) reason: Option<Reason>,
    pub(super) stage: Stage,
    /// Why it was given up, in words for the person.
    pub(super) failure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is not recorded yet that it is wanted.
    Unrecorded,
    /// It may be sent.
    Ready,
    /// The editor may be at it.
    Sent,
    /// It was not done in time. The editor may still do it.
    GivenUp,
}

impl Asked {
    pub(super) fn is_under_way(&self) -> bool {
        self.stage != Stage::GivenUp
    }
}

/// What brings the file to what a hunk says, or back, if an editor can be asked for it.
pub(super) fn operation(hunk: &FileHunk, on: bool) -> Option<FileOperation> {
    match &hunk.change {
        FileChange { exists: Some((was, now)), .. } if !(if on { *now } else { *was }) => {
            Some(FileOperation::Remove)
        }
        FileChange { exists: None, name: Some((from, to)), .. } => {
            Some(FileOperation::Rename(if on { to } else { from }.clone()))
        }
        FileChange { .. } => None,
    }
}
