//! Files that have more than one name.
//!
//! Whoever can make a hard link in a root gives agents what it links to, which may lie anywhere on the same disk. Where they are refused
//! that is decided when the file is open already, so nothing can be put in its place between the look and the reading.
//!
//! # Limitations
//! - Systems other than Unix do not say how many names a file has: there each is served.
//! - A file whose other names were removed is one like any other.

use std::io;
use std::path::Path;

use cap_std::fs::Metadata;

use super::error::DiskError;

/// Whether files that have more than one name are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// As what they are.
    #[default]
    Served,
    /// Neither read nor written, under any of their names.
    Refused,
}

impl HardLinks {
    /// What somebody has said who could ask for no hard links.
    #[must_use]
    pub fn refused_if(refused: bool) -> Self {
        if refused { HardLinks::Refused } else { HardLinks::Served }
    }

    /// Whether they are refused.
    #[must_use]
    pub fn are_refused(self) -> bool {
        self == HardLinks::Refused
    }

    /// The stricter of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        HardLinks::refused_if(self.are_refused() || other.are_refused())
    }

    /// # Errors
    /// The regular file at `path` has more than one name, and such are refused.
    pub(super) fn check(self, path: &Path, file: &Metadata) -> Result<(), DiskError> {
        if self.are_refused() && has_other_names(file) {
            return Err(DiskError::HardLink { path: path.into() });
        }
        Ok(())
    }

    /// The same of a file that is open, by what its name stands for now: that its name stands for it, and that it has one, has to be seen
    /// in one look. A link that was opened and is gone by now leaves a file with one name, which is the other.
    ///
    /// # Errors
    /// As above, or the name does not stand for the opened file any more.
    pub(super) fn check_opened(
        self,
        path: &Path,
        opened: &Metadata,
        named: impl FnOnce() -> io::Result<Metadata>,
    ) -> Result<(), DiskError> {
        if !self.are_refused() {
            return Ok(());
        }
        match named() {
            Ok(named) if is_same_file(&named, opened) => self.check(path, &named),
            _ => Err(DiskError::PathChanged { path: path.into() }),
        }
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    file.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}
