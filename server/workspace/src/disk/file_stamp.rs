//! What tells one state of a file from the next.
//!
//! # Limitations
//! Where a file system's clock is not asked (`clock.rs`) and runs behind ours by more than [`QUIET`] (a server's, say), a young file can
//! look old. The kernel's own change time cannot be set by programs, so a changed file with all its times put back is still seen as
//! changed; on systems without it, it is not.

use std::io;
use std::time::{Duration, SystemTime};

use cap_std::fs::Metadata;

/// How long a file must have been quiet for its stamp to stand for its content, where its file system's clock is not asked. FAT counts in
/// steps of 2 s.
pub const QUIET: Duration = Duration::from_secs(2);

/// One state of a file, as far as the file system tells it: two stamps differ when the bytes do, if the first was
/// taken when the file system's clock had gone on since the last change, or the file had been quiet for [`QUIET`]. A younger one
/// can change and keep its stamp; see [`Expect::Same`](super::Expect).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    mtime: SystemTime,
    /// Of creation, where the system does not tell of change.
    ctime: SystemTime,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        let time = |time: io::Result<cap_std::time::SystemTime>| {
            time.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std)
        };
        let mtime = time(metadata.modified());
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt;
            let ctime = unix_time(metadata.ctime(), metadata.ctime_nsec());
            Stamp { device: metadata.dev(), inode: metadata.ino(), size: metadata.len(), mtime, ctime }
        }
        #[cfg(not(unix))]
        {
            let ctime = time(metadata.created());
            Stamp { device: 0, inode: 0, size: metadata.len(), mtime, ctime }
        }
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// When the content last changed.
    #[must_use]
    pub fn modified(&self) -> SystemTime {
        self.mtime
    }

    /// When the file last changed in any way, by the clock of its file system; when it was made, where the system does not tell of change.
    pub(super) fn changed(&self) -> SystemTime {
        self.ctime
    }

    /// Whether both files lie on one device.
    pub(super) fn is_on_device_of(&self, other: &Stamp) -> bool {
        self.device == other.device
    }

    /// Whether the file had not changed for [`QUIET`] at this time, so that the stamp stands for its content.
    #[must_use]
    pub fn is_quiet(&self, now: SystemTime) -> bool {
        now.duration_since(self.mtime.max(self.ctime)).is_ok_and(|age| age >= QUIET)
    }
}

#[cfg(unix)]
fn unix_time(seconds: i64, nanos: i64) -> SystemTime {
    let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let start = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    start.and_then(|start| start.checked_add(nanos)).unwrap_or(SystemTime::UNIX_EPOCH)
}
