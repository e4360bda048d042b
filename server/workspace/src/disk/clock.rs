//! The clock of a file system, by which it stamps what changes.
//!
//! A stamp stands for what a file holds as soon as that clock has gone on: whatever changes the file from then on gives it another stamp.
//! How far the clock is tells a file that is touched now: an unnamed one in the root, which nobody else can reach, and which is gone with
//! this process.
//!
//! It is asked on Linux, of file systems of this machine that stamp with the kernel's clock whatever the file system's own steps are. With all
//! others a file has to have been quiet for [`QUIET`](super::QUIET): FAT keeps no time of change, and what a server says of its files
//! (NFS, SMB) may be old when it is heard.
//!
//! # Limitations
//! - A write that goes past the page cache (`O_DIRECT`), or into memory that is shared with the file (`mmap`), may give the file its stamp
//!   long before its bytes. It is seen with the next change.
//! - A system clock that is set back can come to a time again at which a file has changed before.

#[cfg(target_os = "linux")]
pub(super) use linux::Clock;

/// No clock that can be asked.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
pub(super) struct Clock;

#[cfg(not(target_os = "linux"))]
impl Clock {
    pub(super) fn has_passed(&self, _: &cap_std::fs::Dir, _: &super::file_stamp::Stamp) -> bool {
        false
    }
}

/// Whether no write to an open file that began before is still under way. Leaves the file at its beginning.
#[cfg(target_os = "linux")]
pub(super) use linux::is_at_rest;

#[cfg(not(target_os = "linux"))]
pub(super) fn is_at_rest(_: &std::fs::File) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::sync::OnceLock;

    use cap_std::fs::{Dir, Metadata};
    use rustix::fs::{
        FsWord, Mode, OFlags, SeekFrom, Timespec, Timestamps, UTIME_NOW, fstatfs, futimens, openat, seek,
    };
    use rustix::io::Errno;

    use super::super::file_stamp::Stamp;

    /// The file systems whose clock is asked, by their numbers (`linux/magic.h`): ext4, tmpfs, Btrfs, XFS, F2FS, overlayfs. All of them take
    /// the time from the kernel, and write to a file and look for its data in turn, as [`is_at_rest`] needs it.
    const ASKED: [FsWord; 6] = [0xEF53, 0x0102_1994, 0x9123_683E, 0x5846_5342, 0xF2F5_2010, 0x794C_7630];

    /// The clock of the file system that a folder lies on.
    #[derive(Debug, Default)]
    pub(crate) struct Clock {
        /// What is touched to ask it, made when that is needed first. None where it cannot be asked.
        touched: OnceLock<Option<File>>,
    }

    impl Clock {
        /// Whether the clock has gone on since the file with this stamp changed. `dir` is the folder, the same each time. False also where
        /// that cannot be known, as for a file that lies on another file system than the folder.
        pub(crate) fn has_passed(&self, dir: &Dir, stamp: &Stamp) -> bool {
            let touched = self.touched.get_or_init(|| unnamed(dir).ok());
            let is_later = |file| {
                touch(file).is_ok_and(|now| now.is_on_device_of(stamp) && stamp.changed() < now.changed())
            };
            // Asked twice within one tick, kernels from 6.13 on tell the time more finely than in ticks.
            touched.as_ref().is_some_and(|file| is_later(file) || is_later(file))
        }
    }

    /// A file without a name in a folder whose file system's clock is asked.
    fn unnamed(dir: &Dir) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(dir, ".", flags, Mode::empty())?;
        match ASKED.contains(&fstatfs(&file)?.f_type) {
            true => Ok(file.into()),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Touches a file. Returns the stamp that it gets.
    fn touch(file: &File) -> io::Result<Stamp> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        futimens(file, &Timestamps { last_access: now, last_modification: now })?;
        Ok(Stamp::of(&Metadata::from_file(file)?))
    }

    /// A write stamps the file first, and then come its bytes. All that in one turn: whoever looks where the data begins waits for it.
    pub(crate) fn is_at_rest(file: &File) -> bool {
        match seek(file, SeekFrom::Data(0)) {
            // An empty file, or one that is a hole.
            Err(Errno::NXIO) | Ok(0) => true,
            Ok(_) => seek(file, SeekFrom::Start(0)).is_ok(),
            Err(_) => false,
        }
    }
}
