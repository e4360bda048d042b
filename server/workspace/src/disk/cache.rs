//! Hashes of files on disk, kept for as long as the file's stamp proves that it is the same.
//!
//! A stamp proves nothing while the file is young: a second write within the same tick of the file system's clock
//! leaves it as it was. So a value is kept only if the file had been quiet for [`QUIET`] when it was read; whatever
//! is written after that gets another time. Edits do not use the cache: they hash anew under the lock.
//!
//! # Limitations
//! A file system whose clock runs behind ours by more than [`QUIET`] (a server's, say) can make a young file look
//! old. The kernel's own change time cannot be set by programs, so a changed file with all its times put back is
//! still seen as changed; on systems without it, it is not.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::file::Stamp;

/// How long a file must have been quiet for its stamp to stand for its content. FAT counts in steps of 2 s.
pub const QUIET: Duration = Duration::from_secs(2);

/// Values by stamp. Shared by all readers; holds its lock only for a look-up.
#[derive(Debug)]
pub struct HashCache<V> {
    capacity: usize,
    entries: Mutex<Entries<V>>,
}

#[derive(Debug)]
struct Entries<V> {
    values: HashMap<Stamp, V>,
    /// Oldest first. Every key of `values` stands here once.
    order: VecDeque<Stamp>,
}

impl<V: Clone> HashCache<V> {
    /// A cache of at most `capacity` values; the oldest goes first.
    #[must_use]
    pub fn new(capacity: usize) -> HashCache<V> {
        let entries = Entries { values: HashMap::new(), order: VecDeque::new() };
        HashCache { capacity, entries: Mutex::new(entries) }
    }

    /// The value of the file that has this stamp now.
    #[must_use]
    pub fn get(&self, stamp: &Stamp) -> Option<V> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).values.get(stamp).cloned()
    }

    /// Keeps the value of a file that had this stamp when it was read at `read_at`. Does nothing if the file was
    /// not yet quiet then.
    pub fn put(&self, stamp: Stamp, value: V, read_at: SystemTime) {
        if self.capacity == 0 || !stamp.is_quiet(read_at) {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.values.insert(stamp, value).is_none() {
            entries.order.push_back(stamp);
        }
        while entries.order.len() > self.capacity {
            if let Some(oldest) = entries.order.pop_front() {
                entries.values.remove(&oldest);
            }
        }
    }

    /// How many values are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).values.len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }

    fn stamp(inode: u64, mtime: u64, ctime: u64) -> Stamp {
        Stamp::of_parts(inode, 10, at(mtime), at(ctime))
    }

    #[test]
    fn a_young_file_is_never_kept() {
        // (mtime, ctime, read at) in milliseconds, and whether the value may be kept
        let table = [
            (1_000, 1_000, 1_000, false),
            (1_000, 1_000, 2_999, false),
            (1_000, 1_000, 3_000, true),
            (1_000, 2_500, 3_000, false),
            (2_500, 1_000, 3_000, false),
            (9_000, 1_000, 3_000, false),
            (1_000, 9_000, 3_000, false),
            (0, 0, 1_000_000, true),
        ];
        for (mtime, ctime, read_at, kept) in table {
            let cache = HashCache::new(4);
            cache.put(stamp(1, mtime, ctime), "hash", at(read_at));
            assert_eq!(cache.get(&stamp(1, mtime, ctime)).is_some(), kept, "{mtime} {ctime} {read_at}");
        }
    }

    #[test]
    fn every_part_of_the_stamp_counts() {
        let cache = HashCache::new(4);
        let known = stamp(1, 5, 6);
        cache.put(known, 1, at(100_000));
        assert_eq!(cache.get(&known), Some(1));
        for other in [stamp(2, 5, 6), stamp(1, 6, 6), stamp(1, 5, 7), Stamp::of_parts(1, 11, at(5), at(6))] {
            assert_eq!(cache.get(&other), None);
        }
    }

    #[test]
    fn the_oldest_goes_first_and_the_size_is_bounded() {
        let cache = HashCache::new(3);
        for inode in 0..1_000 {
            cache.put(stamp(inode, 0, 0), inode, at(100_000));
            cache.put(stamp(inode, 0, 0), inode, at(100_000));
            assert!(cache.len() <= 3);
        }
        assert_eq!(cache.get(&stamp(999, 0, 0)), Some(999));
        assert_eq!(cache.get(&stamp(996, 0, 0)), None);
        let none: HashCache<u8> = HashCache::new(0);
        none.put(stamp(1, 0, 0), 1, at(100_000));
        assert!(none.is_empty());
    }
}
