//! Writing files: whole, or not at all.
//!
//! The new content goes to a temporary file in the same folder, is synced, and takes the name of the old one by a
//! rename; then the folder is synced. Right before the rename the way is walked again and the file looked at:
//! if either is not as the caller saw it, nothing happens. Whatever fails, the temporary file is removed, and the
//! file stands as it was.
//!
//! The place has no links in it (`path.rs` followed them), so a link stays a link and its target is replaced.
//!
//! The new file gets the mode bits of the old one, and its owner and group where the system lets this user set them.
//! Where it does not, a group that is not the old one may do no more than everyone. The set-user and set-group bits are
//! never those of the old one: who may change a program does not say what it does with another's rights. On Linux it gets the extended
//! attributes of the old one, its access control list among them, or the file stays as it is (`attributes.rs`).
//!
//! # Limitations
//! - Other hard links of the file keep the old content: the name gets a new file. To write in place instead would be
//!   to risk half a file.
//! - On other systems than Linux extended attributes and access control lists of the old file are not carried over.
//! - Between the last look and the rename lies an instant in which another program's write is lost. Our own
//!   processes have a lock around both. A *new* file never replaces anything: it is renamed so where the system can do that
//!   (Linux), else linked, and only where there are no hard links either renamed as it comes.
//! - `kill -9` or a power cut can leave a temporary file behind ([`remove_leftovers`]); its name never comes again.
//! - On Windows no owner is set and folders are not synced, as there is no such thing.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use uuid::Uuid;

#[cfg(target_os = "linux")]
use super::attributes::{Attributes, NotKept};
use super::error::{Action, DiskError};
use super::file::{FileBytes, Folder, MAX_FILE_BYTES, step_into};
use super::file_stamp::Stamp;
use super::path::Place;

/// What the caller takes the file for. If it is something else, it is left alone.
#[derive(Clone, Copy, Debug)]
pub enum Expect<'a> {
    /// There is no file.
    Absent,
    /// The file has this stamp.
    Unchanged(Stamp),
    /// The file is as it was read: it has that stamp, which was [settled](FileBytes::is_settled) then, or else it has the same
    /// bytes. Also sees a change that left the stamp as it was, and takes no offence at one that left the bytes.
    Same(&'a FileBytes),
}

/// How old a temporary file must be to have been left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

const TEMPORARY_START: &str = ".hashline-";
const TEMPORARY_END: &str = ".tmp";

/// Whether a file of this name is one of our temporary files.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY_START)
        .and_then(|rest| rest.strip_suffix(TEMPORARY_END))
        .is_some_and(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Replaces a file's content, or makes the file. Returns its new stamp.
///
/// # Errors
/// The file is not as expected, or the disk refuses. But for [`DiskError::NotSynced`], all is as it was.
pub fn write(place: &Place, bytes: &[u8], expect: Expect<'_>) -> Result<Stamp, DiskError> {
    write_with(place, bytes, expect, None, || {})
}

/// Makes a file that is not there, with these mode bits as Unix has them; as any new file if none are given.
///
/// # Errors
/// As for [`write()`]; also if there is a file.
pub fn create(place: &Place, bytes: &[u8], mode: Option<u32>) -> Result<Stamp, DiskError> {
    write_with(place, bytes, Expect::Absent, mode, || {})
}

/// As [`write()`], with what writes the content to a file, from its beginning.
///
/// # Errors
/// Those of [`write()`], and what `content` says of the file that it writes to.
pub fn write_from(
    place: &Place,
    content: impl FnOnce(&mut fs::File) -> io::Result<()>,
    expect: Expect<'_>,
) -> Result<Stamp, DiskError> {
    replace(place, content, expect, None, || {})
}

/// As [`write()`], with something that happens between the writing of the temporary file and the last look.
pub(super) fn write_with(
    place: &Place,
    bytes: &[u8],
    expect: Expect<'_>,
    mode: Option<u32>,
    meanwhile: impl FnOnce(),
) -> Result<Stamp, DiskError> {
    replace(place, |file| file.write_all(bytes), expect, mode, meanwhile)
}

fn replace(
    place: &Place,
    content: impl FnOnce(&mut fs::File) -> io::Result<()>,
    expect: Expect<'_>,
    mode: Option<u32>,
    meanwhile: impl FnOnce(),
) -> Result<Stamp, DiskError> {
    place.check_write()?;
    let path = place.absolute();
    let folder = to_write_in(place)?;
    // Whether it holds what is expected is asked once, when the new content is there.
    let old = there_as_expected(&folder, place, expect)?;
    if old.as_ref().is_some_and(|old| is_read_only(&folder, old)) {
        return Err(DiskError::ReadOnlyFile { path: path.into() });
    }

    let failed = |error: io::Error| DiskError::from_io(path, Action::Write, &error);
    let mut temporary = Temporary::create(folder.dir(), old.is_some()).map_err(failed)?;
    content(&mut temporary.file).map_err(failed)?;
    let size = temporary.file.metadata().map_err(failed)?.len();
    if size > MAX_FILE_BYTES {
        return Err(DiskError::TooLarge { path: path.into(), size, limit: MAX_FILE_BYTES });
    }
    if let Some(old) = &old {
        take_over(&temporary.file, &folder, place, old)?;
    } else if let Some(mode) = mode {
        set_mode(&temporary.file, mode).map_err(failed)?;
    }
    temporary.file.sync_all().map_err(failed)?;
    meanwhile();

    let again = to_write_in(place)?;
    if !same_folder(folder.dir(), again.dir()).map_err(failed)? {
        return Err(DiskError::PathChanged { path: path.into() });
    }
    as_expected(&folder, place, expect)?;
    if old.is_some() {
        temporary.replace(folder.name).map_err(failed)?;
    } else {
        temporary.become_new(folder.name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => DiskError::AlreadyThere { path: path.into() },
            _ => failed(error),
        })?;
    }
    let unsure = |error: io::Error| DiskError::NotSynced { path: path.into(), why: error.to_string() };
    sync_folder(folder.dir()).map_err(unsure)?;
    Metadata::from_file(&temporary.file).map(|new| Stamp::of(&new)).map_err(unsure)
}

/// Sees to it that this user may write a file that is there, as far as that shows before.
///
/// # Errors
/// [`DiskError::ReadOnlyFile`], or the way there is another by now.
pub fn check_writable(place: &Place) -> Result<(), DiskError> {
    let folder = Folder::of(place)?;
    match folder.look(place)? {
        Some(metadata) if is_read_only(&folder, &metadata) => {
            Err(DiskError::ReadOnlyFile { path: place.absolute().into() })
        }
        _ => Ok(()),
    }
}

/// Sees to it that this user may make and remove files in the folder of a place, or make that where it is missing, as far as that shows
/// before.
///
/// # Errors
/// The folder, or the last one on the way to it, is not writable, or is none.
pub fn check_folder(place: &Place) -> Result<(), DiskError> {
    let mut opened: Option<Dir> = None;
    for name in place.relative().parent().into_iter().flatten() {
        let dir = opened.as_ref().unwrap_or(&place.root.dir);
        match step_into(dir, Path::new(name), place) {
            Ok(next) => opened = Some(next),
            Err(DiskError::NotFound { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    may_write_in(opened.as_ref().unwrap_or(&place.root.dir))
        .map_err(|error| DiskError::from_io(place.absolute(), Action::Write, &error))
}

#[cfg(unix)]
fn may_write_in(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, accessat};
    match accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty()) {
        Err(error @ (rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS)) => Err(error.into()),
        // Whatever other error there is, the writing will tell.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn may_write_in(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// Removes a file.
///
/// # Errors
/// The file is not as expected, or the disk refuses.
pub fn remove(place: &Place, expect: Expect<'_>) -> Result<(), DiskError> {
    place.check_write()?;
    let path = place.absolute();
    let folder = Folder::of(place)?;
    if as_expected(&folder, place, expect)?.is_none() {
        return Err(DiskError::NotFound { path: path.into() });
    }
    let failed = |error: io::Error| DiskError::from_io(path, Action::Remove, &error);
    folder.dir().remove_file(folder.name).map_err(failed)?;
    sync_folder(folder.dir())
        .map_err(|error| DiskError::NotSynced { path: path.into(), why: error.to_string() })
}

/// Gives a file another name, which nobody has yet. The folder of that name has to be there.
///
/// # Errors
/// The file is not as expected, the name is taken, or the disk refuses. But for [`DiskError::NotSynced`], all is as it was.
pub fn rename(from: &Place, to: &Place, expect: Expect<'_>) -> Result<Stamp, DiskError> {
    from.check_write()?;
    to.check_write()?;
    let path = to.absolute();
    let (old, new) = (Folder::of(from)?, to_write_in(to)?);
    if as_expected(&old, from, expect)?.is_none() {
        return Err(DiskError::NotFound { path: from.absolute().into() });
    }
    as_expected(&new, to, Expect::Absent)?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => DiskError::AlreadyThere { path: path.into() },
        _ => DiskError::from_io(path, Action::Write, &error),
    };
    rename_to_new(&old, &new).map_err(failed)?;
    let unsure = |error: io::Error| DiskError::NotSynced { path: path.into(), why: error.to_string() };
    sync_folder(new.dir()).and_then(|()| sync_folder(old.dir())).map_err(unsure)?;
    new.existing(to).map(|there| Stamp::of(&there))
}

/// Where the system can, it sees by itself to it that nothing is replaced.
fn rename_to_new(old: &Folder<'_>, new: &Folder<'_>) -> io::Result<()> {
    rename_to_free((old.dir(), old.name), (new.dir(), new.name))
        .unwrap_or_else(|| old.dir().rename(old.name, new.dir(), new.name))
}

/// Renames to a name that nobody has; none where the system cannot see to that by itself.
#[cfg(target_os = "linux")]
fn rename_to_free(old: (&Dir, &Path), new: (&Dir, &Path)) -> Option<io::Result<()>> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(old.0, old.1, new.0, new.1, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => None,
        renamed => Some(renamed.map_err(Into::into)),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_to_free(_: (&Dir, &Path), _: (&Dir, &Path)) -> Option<io::Result<()>> {
    None
}

/// Makes the folders that the place's file would lie in, as far as they are missing.
///
/// # Errors
/// One of them is something else by now, or the disk refuses. Folders made before that stay.
pub fn create_folders(place: &Place) -> Result<(), DiskError> {
    place.check_write()?;
    let path = place.absolute();
    let mut opened: Option<Dir> = None;
    for name in place.relative().parent().into_iter().flatten() {
        let dir = opened.as_ref().unwrap_or(&place.root.dir);
        match dir.create_dir(name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                // No write permission in a folder of the way is no harm if the next one is there.
                if dir.symlink_metadata(name).is_err() {
                    return Err(DiskError::from_io(path, Action::Write, &error));
                }
            }
            Err(error) => return Err(DiskError::from_io(path, Action::MakeFolder, &error)),
        }
        opened = Some(step_into(dir, Path::new(name), place)?);
    }
    Ok(())
}

/// Sees to it that a file can have a name: makes the folders above it, and removes one that has the name if there is no file in it, nor in
/// any of its folders.
///
/// # Errors
/// As for [`create_folders()`]. A folder that cannot be removed is left.
pub fn make_room(place: &Place) -> Result<(), DiskError> {
    create_folders(place)?;
    let folder = Folder::of(place)?;
    if is_without_files(folder.dir(), folder.name).unwrap_or(false) {
        remove_folders(folder.dir(), folder.name);
    }
    Ok(())
}

/// Whether a folder has nothing but such folders in it.
fn is_without_files(dir: &Dir, name: &Path) -> io::Result<bool> {
    let folder = dir.open_dir_nofollow(name)?;
    for entry in folder.entries()? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || !is_without_files(&folder, Path::new(&entry.file_name()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The system leaves what is not empty any more, and what is no folder.
fn remove_folders(dir: &Dir, name: &Path) {
    if let Ok(folder) = dir.open_dir_nofollow(name) {
        for entry in folder.entries().into_iter().flatten().flatten() {
            remove_folders(&folder, Path::new(&entry.file_name()));
        }
        let _ = dir.remove_dir(name);
    }
}

/// Removes the temporary files that a crash has left in the folder of a place an hour ago or earlier. Returns how
/// many.
///
/// # Errors
/// The folder cannot be read. A file that cannot be removed is left.
pub fn remove_leftovers(place: &Place, now: SystemTime) -> Result<usize, DiskError> {
    let folder = Folder::of(place)?;
    let failed = |error: io::Error| DiskError::from_io(place.absolute(), Action::OpenFolder, &error);
    let mut removed = 0;
    for entry in folder.dir().entries().map_err(failed)? {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        let old = |metadata: Metadata| {
            let modified = Stamp::of(&metadata).modified();
            metadata.is_file() && now.duration_since(modified).is_ok_and(|age| age >= LEFT_BEHIND)
        };
        if name.to_str().is_some_and(is_temporary)
            && folder.dir().symlink_metadata(&name).is_ok_and(old)
            && folder.dir().remove_file(&name).is_ok()
        {
            removed += 1;
        }
    }
    Ok(removed)
}

fn to_write_in(place: &Place) -> Result<Folder<'_>, DiskError> {
    Folder::of(place).map_err(|error| match error {
        DiskError::NotFound { path } => {
            let folder = path.parent().unwrap_or(&path).to_path_buf();
            DiskError::FolderMissing { path, folder }
        }
        other => other,
    })
}

/// What is there, if there is to be something, or nothing.
fn there_as_expected(
    folder: &Folder<'_>,
    place: &Place,
    expect: Expect<'_>,
) -> Result<Option<Metadata>, DiskError> {
    let path = place.absolute();
    let found = folder.look(place)?;
    match (&found, expect) {
        (None, Expect::Absent) | (Some(_), Expect::Unchanged(_) | Expect::Same(_)) => Ok(found),
        (Some(_), Expect::Absent) => Err(DiskError::AlreadyThere { path: path.into() }),
        (None, _) => Err(DiskError::ChangedMeanwhile { path: path.into() }),
    }
}

/// What is there, if it is what the caller takes it for.
fn as_expected(
    folder: &Folder<'_>,
    place: &Place,
    expect: Expect<'_>,
) -> Result<Option<Metadata>, DiskError> {
    let found = there_as_expected(folder, place, expect)?;
    let now = found.as_ref().map(Stamp::of);
    let is_same = match expect {
        Expect::Absent => true,
        Expect::Unchanged(stamp) => now == Some(stamp),
        Expect::Same(read) if read.is_settled() && now == Some(read.stamp) => true,
        Expect::Same(read) => {
            folder.read(place, MAX_FILE_BYTES)?.is_some_and(|file| file.bytes == read.bytes)
        }
    };
    match is_same {
        true => Ok(found),
        false => Err(DiskError::ChangedMeanwhile { path: place.absolute().into() }),
    }
}

/// A file that this user may not write is not replaced either, though the folder would allow it. Asked without
/// opening it, which programs that watch the file would notice. What nobody has been given leave to write root does not write either,
/// whom the system would let.
#[cfg(unix)]
fn is_read_only(folder: &Folder<'_>, metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    use rustix::fs::{Access, AtFlags, accessat};
    if metadata.mode() & 0o222 == 0 {
        return true;
    }
    // Whatever other error there is, the writing will tell.
    accessat(folder.dir(), folder.name, Access::WRITE_OK, AtFlags::empty()) == Err(rustix::io::Errno::ACCESS)
}

#[cfg(not(unix))]
fn is_read_only(_: &Folder<'_>, metadata: &Metadata) -> bool {
    metadata.permissions().readonly()
}

/// A file under a name of its own, removed when dropped unless it took its final name.
pub(super) struct Temporary<'d> {
    dir: &'d Dir,
    name: Option<String>,
    file: fs::File,
}

impl<'d> Temporary<'d> {
    /// Readable by this user alone if it is to replace a file; else as any new file.
    pub(super) fn create(dir: &'d Dir, private: bool) -> io::Result<Temporary<'d>> {
        let name = format!("{TEMPORARY_START}{}{TEMPORARY_END}", Uuid::new_v4().simple());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            use cap_std::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        #[cfg(not(unix))]
        let _ = private;
        let file = dir.open_with(&name, &options)?.into_std();
        Ok(Temporary { dir, name: Some(name), file })
    }

    fn replace(&mut self, name: &Path) -> io::Result<()> {
        let Some(temporary) = &self.name else { return Ok(()) };
        self.dir.rename(temporary, self.dir, name)?;
        self.name = None;
        Ok(())
    }

    /// Takes a name that nobody has.
    pub(super) fn become_new(&mut self, name: &Path) -> io::Result<()> {
        let Some(temporary) = &self.name else { return Ok(()) };
        // A link gives the file two names for an instant, and such files are not served to everybody.
        if let Some(renamed) = rename_to_free((self.dir, Path::new(temporary)), (self.dir, name)) {
            renamed?;
            self.name = None;
            return Ok(());
        }
        match self.dir.hard_link(temporary, self.dir, name) {
            Ok(()) => {
                self.remove();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // No hard links on this file system (FAT, some network ones). The rename itself tells of anything else.
            Err(_) => self.replace(name),
        }
    }

    fn remove(&mut self) {
        if let Some(name) = self.name.take() {
            // What cannot be removed now is removed by `remove_leftovers`.
            let _ = self.dir.remove_file(name);
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Gives the new file the owner, group, mode bits and attributes of the old one, as far as this user may.
#[cfg(unix)]
fn take_over(file: &fs::File, folder: &Folder<'_>, place: &Place, old: &Metadata) -> Result<(), DiskError> {
    use cap_std::fs::MetadataExt;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, fchown};
    let failed = |error: io::Error| DiskError::from_io(place.absolute(), Action::Write, &error);
    let new = file.metadata().map_err(failed)?;
    let mut group_kept = new.gid() == old.gid();
    if !(new.uid() == old.uid() && group_kept) {
        group_kept = fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
            || group_kept
            || fchown(file, None, Some(old.gid())).is_ok();
    }
    let has_list = take_attributes(file, folder, place, group_kept)?;
    // Where there is a list, the bits of the group are its mask.
    let mode = mode_to_set(old.mode(), group_kept || has_list);
    file.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)
}

/// Gives the new file the attributes of the old one. Says whether an access control list is among them.
#[cfg(target_os = "linux")]
fn take_attributes(
    file: &fs::File,
    folder: &Folder<'_>,
    place: &Place,
    group_kept: bool,
) -> Result<bool, DiskError> {
    let path = place.absolute();
    let old = folder.open(place)?.into_std();
    let old = Attributes::of(&old).map_err(|error| DiskError::from_io(path, Action::Read, &error))?;
    let old = if group_kept { old } else { old.of_other_group() };
    let not_kept =
        |NotKept { name, why }| DiskError::AttributeNotKept { path: path.into(), name, why: why.to_string() };
    old.hand_to(file).map_err(not_kept)?;
    Ok(old.has_list())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn take_attributes(_: &fs::File, _: &Folder<'_>, _: &Place, _: bool) -> Result<bool, DiskError> {
    Ok(false)
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Who makes a file does not get another user's rights with it.
    file.set_permissions(fs::Permissions::from_mode(mode & 0o1777))
}

#[cfg(not(unix))]
fn set_mode(_: &fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn mode_to_set(old: u32, group_kept: bool) -> u32 {
    let mode = old & 0o1777;
    if group_kept { mode } else { mode & (!0o070 | (mode & 0o007) << 3) }
}

#[cfg(not(unix))]
fn take_over(file: &fs::File, _: &Folder<'_>, place: &Place, old: &Metadata) -> Result<(), DiskError> {
    let failed = |error: io::Error| DiskError::from_io(place.absolute(), Action::Write, &error);
    let mut permissions = file.metadata().map_err(failed)?.permissions();
    permissions.set_readonly(old.permissions().readonly());
    file.set_permissions(permissions).map_err(failed)
}

#[cfg(unix)]
fn same_folder(one: &Dir, other: &Dir) -> io::Result<bool> {
    use cap_std::fs::MetadataExt;
    let (one, other) = (one.dir_metadata()?, other.dir_metadata()?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Windows does not let a folder be moved while a file in it is open, as the temporary one is.
#[cfg(not(unix))]
fn same_folder(_: &Dir, _: &Dir) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
fn sync_folder(dir: &Dir) -> io::Result<()> {
    // The handle itself may be of the kind that cannot be synced (O_PATH).
    let synced = dir.open(".").and_then(|folder| folder.sync_all());
    match synced {
        // Some file systems sync folders on their own and refuse to be told; a folder may also be writable and
        // not readable, so that it cannot be opened for this.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Dir) -> io::Result<()> {
    Ok(())
}
