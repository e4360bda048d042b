//! What lies in a folder.
//!
//! A folder is reached as a file is: on the handles of the folders above it, following no link. What a link in it leads to is told
//! only if that lies in a root and is shown.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use cap_std::fs::{Dir, FileType};

use super::error::{Action, DiskError, PathRefusal};
use super::file::{stamp, step_into};
use super::forbidden_folder::Shut;
use super::path::{End, Place};
use super::roots::Roots;
use super::spelling::{Guarded, PathStyle, guarded};

/// The most names of a folder that are listed.
pub const MAX_ENTRIES: usize = 20_000;

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder, or a link to one that is served.
    Folder,
    /// A regular file, or a link to one that is served.
    File,
    /// A link to nothing, or to what is not served or not shown.
    Link,
    /// A FIFO, a socket, a device.
    Other,
}

impl EntryKind {
    /// The word for it in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::Folder => "directory",
            EntryKind::File => "file",
            EntryKind::Link => "symlink",
            EntryKind::Other => "other",
        }
    }
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// What it stands for.
    pub kind: EntryKind,
}

impl Entry {
    /// Whether what lies below it is not served to anybody.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        guarded(&self.name.to_string_lossy()) == Some(Guarded::Store)
    }

    /// Folders first, then by name.
    fn order(&self, other: &Entry) -> Ordering {
        let rank = |entry: &Entry| entry.kind != EntryKind::Folder;
        rank(self).cmp(&rank(other)).then_with(|| self.name.cmp(&other.name))
    }
}

impl Roots {
    /// The names in a folder, `.` and `..` left out: folders first, each kind by name. An empty path is the first root; where a path
    /// within several roots is meant, it is the list of their names. What `shows` says no to, by its absolute path, is left out, and so is
    /// the folder that is closed. Blocks as long as the file system does.
    ///
    /// # Errors
    /// The path is refused, is missing or no folder, or has more than [`MAX_ENTRIES`] names.
    pub fn list(
        &self,
        given: &str,
        style: PathStyle,
        shows: impl Fn(&Path) -> bool,
    ) -> Result<Vec<Entry>, DiskError> {
        let given = if given.trim().is_empty() { "." } else { given };
        if style == PathStyle::WithinRoot && self.len() > 1 && self.is_top(given)? {
            let shown = self.iter().filter(|root| shows(root.path()));
            let entry = |name: &str| Entry { name: name.into(), kind: EntryKind::Folder };
            return Ok(sorted(shown.map(|root| entry(root.name())).collect()));
        }
        let place = self.resolve(given, style).map_err(|refusal| match refusal {
            // The way to a folder that is a file ends there too.
            PathRefusal::FinalSlash { given } => DiskError::NotAFolder { path: given.into() },
            refusal => refusal.into(),
        })?;
        let folder = open(&place)?;
        let shut = self.shut();
        let is_shut = |name: &OsStr| {
            let is = |shut: &Shut| folder.symlink_metadata(name).is_ok_and(|there| shut.is(&there));
            shut.as_ref().is_some_and(is)
        };
        let failed = |error: io::Error| DiskError::from_io(place.absolute(), Action::Read, &error);
        let mut entries = Vec::new();
        for entry in folder.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entries.len() == MAX_ENTRIES {
                return Err(DiskError::TooManyEntries { path: place.absolute().into(), limit: MAX_ENTRIES });
            }
            let name = entry.file_name();
            let kind = entry.file_type().map_err(failed)?;
            if !shows(&place.absolute().join(&name)) || (kind.is_dir() && is_shut(&name)) {
                continue;
            }
            let kind = self.kind(&place, &name, kind, &shows);
            entries.push(Entry { name, kind });
        }
        Ok(sorted(entries))
    }

    fn kind(&self, folder: &Place, name: &OsStr, kind: FileType, shows: &dyn Fn(&Path) -> bool) -> EntryKind {
        if kind.is_dir() {
            EntryKind::Folder
        } else if kind.is_file() {
            EntryKind::File
        } else if !kind.is_symlink() {
            EntryKind::Other
        } else {
            match self.follow(&folder.absolute().join(name), shows) {
                Some((_, End::Folder)) => EntryKind::Folder,
                Some((target, End::Other)) if stamp(&target).is_ok() => EntryKind::File,
                _ => EntryKind::Link,
            }
        }
    }
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by(Entry::order);
    entries
}

/// The folder of a place, reached without following a link.
fn open(place: &Place) -> Result<Dir, DiskError> {
    let path = place.absolute();
    let root = place.root.dir.try_clone();
    let mut folder = root.map_err(|error| DiskError::from_io(path, Action::OpenFolder, &error))?;
    for name in place.relative() {
        let next = step_into(&folder, Path::new(name), place);
        folder = next.map_err(|error| match (error, folder.symlink_metadata(name)) {
            (DiskError::PathChanged { path }, Ok(there)) if !there.is_symlink() => {
                DiskError::NotAFolder { path }
            }
            (error, _) => error,
        })?;
    }
    Ok(folder)
}
