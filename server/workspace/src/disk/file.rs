//! Reading files.
//!
//! A place is reached by opening each folder of its way on the handle of the one above, following no link. So what
//! is opened is what was resolved, or nothing: a link or another file that has come between is refused, whatever
//! happens at the same time.
//!
//! Only regular files are opened: they are looked at first (opening a FIFO waits for its writer, opening a device can
//! do anything), then opened without waiting, then looked at again.
//!
//! # Limitations
//! - A folder that is moved out of the root between the opening of its handle and the read is still read from; it
//!   was inside when it was reached.
//! - Files of `/proc` and their like, which claim to have no bytes, cannot be read.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::clock::is_at_rest;
use super::content::FileContent;
use super::error::{Action, DiskError};
use super::file_stamp::Stamp;
use super::kind::FileKind;
use super::path::Place;

/// The most bytes of a file that is served. Such a file and its rope fit in memory together.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

/// How often a file that changes while it is read is read anew.
const READ_ATTEMPTS: usize = 3;

/// A file's content and the state it was read in.
#[derive(Debug)]
pub struct FileBytes {
    /// All bytes.
    pub bytes: FileContent,
    /// The file's stamp, the same before the first byte was read and after the last.
    pub stamp: Stamp,
    /// Its mode bits, where the system has such.
    pub mode: Option<u32>,
    /// Whether any later change gives the file another stamp.
    pub(super) settled: bool,
}

impl FileBytes {
    /// Whether any later change gives the file another stamp.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.settled
    }
}

/// Reads a regular file whole.
///
/// # Errors
/// There is none, it is something else, too large, not readable, or changes all the time.
pub fn read(place: &Place) -> Result<FileBytes, DiskError> {
    read_up_to(place, MAX_FILE_BYTES)
}

pub(super) fn read_up_to(place: &Place, limit: u64) -> Result<FileBytes, DiskError> {
    for _ in 0..READ_ATTEMPTS {
        let folder = Folder::of(place)?;
        folder.existing(place)?;
        if let Some(read) = folder.read(place, limit)? {
            return Ok(read);
        }
    }
    Err(DiskError::BeingWritten { path: place.absolute().into() })
}

/// The state of a regular file.
///
/// # Errors
/// There is none, or it is something else.
pub fn stamp(place: &Place) -> Result<Stamp, DiskError> {
    Ok(Stamp::of(&Folder::of(place)?.existing(place)?))
}

/// The folder of a place, reached without following a link, and the name in it.
pub(super) struct Folder<'p> {
    /// None if it is the root.
    opened: Option<Dir>,
    root: &'p Dir,
    pub(super) name: &'p Path,
}

impl<'p> Folder<'p> {
    /// # Errors
    /// A folder of the way is missing, is something else by now, or the place is the root itself.
    pub(super) fn of(place: &'p Place) -> Result<Folder<'p>, DiskError> {
        let relative = place.relative();
        let (Some(name), Some(folders)) = (relative.file_name(), relative.parent()) else {
            return Err(DiskError::NotRegular { path: place.absolute().into(), kind: FileKind::Folder });
        };
        let mut folder = Folder { opened: None, root: &place.root.dir, name: Path::new(name) };
        for name in folders {
            folder.opened = Some(step_into(folder.dir(), Path::new(name), place)?);
        }
        Ok(folder)
    }

    pub(super) fn dir(&self) -> &Dir {
        self.opened.as_ref().unwrap_or(self.root)
    }

    /// What is there, if it is a regular file, or none if nothing is. A link is refused: the place had none.
    pub(super) fn look(&self, place: &Place) -> Result<Option<Metadata>, DiskError> {
        let path = place.absolute();
        match self.dir().symlink_metadata(self.name) {
            Ok(metadata) if metadata.is_file() => {
                place.hard_links().check(path, &metadata)?;
                Ok(Some(metadata))
            }
            Ok(metadata) if metadata.is_symlink() => Err(DiskError::PathChanged { path: path.into() }),
            Ok(metadata) => Err(DiskError::NotRegular { path: path.into(), kind: FileKind::of(&metadata) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DiskError::from_io(path, Action::Look, &error)),
        }
    }

    pub(super) fn existing(&self, place: &Place) -> Result<Metadata, DiskError> {
        self.look(place)?.ok_or_else(|| DiskError::NotFound { path: place.absolute().into() })
    }

    /// Opens the file to read it.
    pub(super) fn open(&self, place: &Place) -> Result<File, DiskError> {
        let path = place.absolute();
        let failed = |error: io::Error| DiskError::from_io(path, Action::Read, &error);
        let mut options = OpenOptions::new();
        // No effect on regular files; a FIFO that came since the look opens at once and is refused below.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match self.dir().open_with(self.name, &options) {
            Ok(file) => file,
            // A link or another special file has taken the name since the look, which now tells what it is.
            Err(error) => return Err(self.existing(place).err().unwrap_or_else(|| failed(error))),
        };
        let there = file.metadata().map_err(failed)?;
        if !there.is_file() {
            return Err(DiskError::NotRegular { path: path.into(), kind: FileKind::of(&there) });
        }
        place.hard_links().check_opened(path, (&file, &there), (self.dir(), self.name.as_os_str()))?;
        Ok(file)
    }

    /// Reads the file; none if it changed in the middle.
    pub(super) fn read(&self, place: &Place, limit: u64) -> Result<Option<FileBytes>, DiskError> {
        let path = place.absolute();
        let failed = |error: io::Error| DiskError::from_io(path, Action::Read, &error);
        let file = self.open(place)?;
        let began = SystemTime::now();
        let before = file.metadata().map_err(failed)?;
        let size = before.len();
        let too_large = |size| DiskError::TooLarge { path: path.into(), size, limit };
        if size > limit {
            return Err(too_large(size));
        }
        let file: fs::File = file.into_std();
        let stamp = Stamp::of(&before);
        // In this order: what is under way since before the clock had gone on is waited for, and what begins later gives another stamp.
        let settled = stamp.is_quiet(began)
            || place.root.clock.has_passed(&place.root.dir, &stamp) && is_at_rest(&file);
        // Room for one byte more, so that one that has grown is seen.
        let room = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
        let mut bytes = FileContent::with_room(room).map_err(|_| too_large(size))?;
        bytes.read(&file).map_err(failed)?;
        let after = Metadata::from_file(&file).map_err(failed)?;
        let whole = u64::try_from(bytes.len()).is_ok_and(|read| read == size);
        let mode = mode_of(&before);
        Ok((whole && stamp == Stamp::of(&after)).then_some(FileBytes { bytes, stamp, mode, settled }))
    }
}

#[cfg(unix)]
fn mode_of(metadata: &cap_std::fs::Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    Some(metadata.mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &cap_std::fs::Metadata) -> Option<u32> {
    None
}

/// Opens a folder in a folder, if it is one and no link to one.
pub(super) fn step_into(dir: &Dir, name: &Path, place: &Place) -> Result<Dir, DiskError> {
    let path = place.absolute();
    dir.open_dir_nofollow(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DiskError::NotFound { path: path.into() },
        // A link is refused as no folder or as a circle, which has no stable kind.
        _ if dir.symlink_metadata(name).is_ok_and(|metadata| !metadata.is_dir()) => {
            DiskError::PathChanged { path: path.into() }
        }
        _ => DiskError::from_io(path, Action::OpenFolder, &error),
    })
}
