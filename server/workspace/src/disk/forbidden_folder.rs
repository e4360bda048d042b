//! A folder inside the roots that nobody is served: hashline's own state, with the keys that sign tokens and the records of sidecars.
//!
//! The folder is told by what it is and not by its name, so no link, mount or other spelling leads into it. Where there is none yet, its
//! name is closed, in any case: whoever made it would choose the keys.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Metadata;

use super::identity::identity;

/// The path of a folder that is closed. There may be none yet.
#[derive(Clone, Debug)]
pub(super) struct Closed(Arc<Path>);

/// What is closed at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// This folder.
    Folder(FolderId),
    /// This path, links followed: there is nothing yet.
    Name(PathBuf),
}

/// Which folder it is, whatever it is called: its device and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FolderId(u64, u64);

impl Closed {
    pub(super) fn new(folder: &Path) -> Self {
        Self(folder.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Looks which folder it is now.
    pub(super) fn look(&self) -> Shut {
        FolderId::at(&self.0).map_or_else(|_| Shut::Name(identity(&self.0)), Shut::Folder)
    }
}

impl Shut {
    /// Whether this is the folder itself.
    pub(super) fn is(&self, folder: &Metadata) -> bool {
        matches!(self, Shut::Folder(id) if *id == FolderId::of(folder))
    }

    /// Whether the folder at a path is the one.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        matches!(self, Shut::Folder(id) if FolderId::at(folder).is_ok_and(|other| other == *id))
    }

    /// Whether what is missing at this path, which has no links, would lie in it or be it.
    pub(super) fn would_hold(&self, missing: &Path) -> bool {
        let Shut::Name(path) = self else { return false };
        let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        lower(missing).starts_with(lower(path))
    }

    /// Whether an existing folder is it or lies in it.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        folder.ancestors().any(|above| self.is_at(above))
    }
}

impl FolderId {
    #[cfg(unix)]
    fn at(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path)?;
        Ok(Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn at(path: &Path) -> io::Result<Self> {
        let folder = cap_std::fs::Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        Ok(Self::of(&folder.dir_metadata()?))
    }

    fn of(metadata: &Metadata) -> Self {
        use cap_fs_ext::MetadataExt;
        Self(MetadataExt::dev(metadata), MetadataExt::ino(metadata))
    }
}
