//! The files of the person, as a history sees them: it asks what they hold, and lets others change them.

use std::io;
use std::path::Path;

use hashline_text::FileHash;

use crate::path::to_text;

/// What is on the disk now; asked when it is not known whether something was written before a process ended, and told when a decision about
/// several files is to be finished.
pub trait FilesNow {
    /// The hash of a file's bytes; none if there is no file. The path comes from the record: check that it may be read.
    ///
    /// # Errors
    ///
    /// It cannot be known. What depends on it is left for another time.
    fn hash(&self, path: &Path) -> io::Result<Option<FileHash>>;

    /// Changes a file, whole or not at all, and only if it is what the change takes it for. The paths come from the record: check that they
    /// may be written. Returns what a file held that is no more so.
    ///
    /// # Errors
    ///
    /// Nothing was changed. Where files can only be looked at that is always so.
    fn change(&self, change: &Change<'_>) -> io::Result<Option<Held>> {
        let path = to_text(change.path());
        Err(io::Error::new(io::ErrorKind::Unsupported, format!("{path} cannot be written from here")))
    }
}

/// A change of a file.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A file is made where there is none, with the folders that it is to lie in. A folder that has its name goes if there is no file in it.
    Make {
        /// Where.
        path: &'a Path,
        /// What it holds.
        bytes: &'a [u8],
        /// Its mode bits; those of any new file if none are given.
        mode: Option<u32>,
    },
    /// A file gets other bytes.
    Write {
        /// Which.
        path: &'a Path,
        /// The hash of what it holds so far.
        was: FileHash,
        /// What it is to hold.
        bytes: &'a [u8],
    },
    /// A file is removed.
    Remove {
        /// Which.
        path: &'a Path,
        /// The hash of what it holds.
        was: FileHash,
    },
    /// A file gets a name that nobody has; the folders of that are made. A folder that has the name goes if there is no file in it.
    Rename {
        /// What it is called.
        from: &'a Path,
        /// What it is to be called.
        to: &'a Path,
        /// The hash of what it holds.
        was: FileHash,
    },
}

impl Change<'_> {
    /// The file that is changed.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Change::Make { path, .. } | Change::Write { path, .. } | Change::Remove { path, .. } => path,
            Change::Rename { from, .. } => from,
        }
    }

    /// Every name that it is about.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let to = match self {
            Change::Rename { to, .. } => Some(*to),
            _ => None,
        };
        std::iter::once(self.path()).chain(to)
    }
}

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its mode bits, where the system has such.
    pub mode: Option<u32>,
}
