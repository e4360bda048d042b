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
    /// Reads to the end, or so many bytes.
    pub(super) fn read(mut from: impl Read, most: usize) -> io::Result<Self> {
        let mut room = MmapMut::map_anon(most)?;
        let mut len = 0;
        while len < most {
            match from.read(&mut room[len..]) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { room, len })
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
