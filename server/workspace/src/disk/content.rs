//! Room for what is read of a file.

use std::io::{self, Read};
use std::ops::Deref;

use memmap2::MmapMut;

/// The bytes of a file that was read.
///
/// They lie in memory of their own, which the system has back when they are dropped. An allocator keeps what was freed, for each
/// thread by itself: with a large file open that would be the file several times over.
#[derive(Debug)]
pub struct FileContent {
    room: MmapMut,
    len: usize,
}

impl FileContent {
    /// Nothing yet, with room for so many bytes.
    ///
    /// # Errors
    ///
    /// There is no such room.
    pub(super) fn with_room(most: usize) -> io::Result<Self> {
        Ok(Self { room: MmapMut::map_anon(most)?, len: 0 })
    }

    /// Reads to the end, or as much as there is room for.
    pub(super) fn read(&mut self, mut from: impl Read) -> io::Result<()> {
        while self.len < self.room.len() {
            match from.read(&mut self.room[self.len..]) {
                Ok(0) => break,
                Ok(more) => self.len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Deref for FileContent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

impl AsRef<[u8]> for FileContent {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for FileContent {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}
