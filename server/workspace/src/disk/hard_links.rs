//! Files that have more than one name.
//!
//! Whoever can make a hard link in a root gives agents what it links to, which may lie anywhere on the same disk. Where they are refused
//! that is decided when the file is open already, so nothing can be put in its place between the look and the reading.
//!
//! # Limitations
//! - Systems other than Unix do not say how many names a file has: there each is served.
//! - A file whose other names were removed is one like any other.
//! - Without `/proc`, and on systems other than Linux, a link that is made and removed all the time may be taken for a file of one name;
//!   on Linux one that is moved between two folders in the very moment in which it is removed.

use std::ffi::OsStr;
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata};

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

    /// The same of a file that is open. A link that was opened and is gone by now leaves a file with one name, which is the other. So the
    /// names are counted first, in the file itself, and then the name that was opened must still be one of them: then it was the only one.
    ///
    /// # Errors
    /// As above, or the name that was opened is gone.
    pub(super) fn check_opened(
        self,
        path: &Path,
        (file, opened): (&File, &Metadata),
        (folder, name): (&Dir, &OsStr),
    ) -> Result<(), DiskError> {
        if !self.are_refused() {
            return Ok(());
        }
        self.check(path, opened)?;
        // What is taking the name away has counted it down before the name goes. A folder is listed when that has ended.
        let listed = folder.entries().map(|mut entries| entries.next().is_some());
        let is_there = keeps_its_name(file).unwrap_or_else(|| {
            let named = folder.symlink_metadata(name);
            named.is_ok_and(|named| is_same_file(&named, opened) && !has_other_names(&named))
        });
        match listed {
            Ok(true) if is_there => Ok(()),
            _ => Err(DiskError::PathChanged { path: path.into() }),
        }
    }
}

/// Whether the name by which a file was opened is still one of its names. None where the system does not say: what stands under that name now may be
/// another link that was made since.
#[cfg(target_os = "linux")]
fn keeps_its_name(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    // A file whose own name ends so is taken for one that is gone, too.
    let named = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    Some(!named.as_os_str().as_bytes().ends_with(b" (deleted)"))
}

#[cfg(not(target_os = "linux"))]
fn keeps_its_name(_: &File) -> Option<bool> {
    None
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
