//! What else a file has besides bytes, owner and mode bits: extended attributes, access control lists among them.
//!
//! The new file that takes the place of an old one gets those of the old one and no others, or does not take it: without its list, a file
//! is open to whoever the mode bits, which stand for the mask of the list by then, let in. What says something of the old bytes (who may
//! do more by running them, whether they were tampered with) does not go over to new ones.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;

use rustix::fs::{
    XattrFlags, fgetxattr, fgetxattr_query, flistxattr, flistxattr_query, fremovexattr, fsetxattr,
};
use rustix::io::Errno;

/// The access control list of a file.
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// What is true of the old bytes alone.
const OF_BYTES: [&CStr; 3] = [c"security.capability", c"security.ima", c"security.evm"];

/// The attributes of a file, by their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes(BTreeMap<CString, Vec<u8>>);

/// An attribute that the new file cannot have, or cannot do without.
#[derive(Debug)]
pub(super) struct NotKept {
    pub name: String,
    pub why: io::Error,
}

impl Attributes {
    /// Those of a file; none where its file system has none.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let names = match grown(|| flistxattr_query(file), |room| flistxattr(file, room)) {
            Ok(names) => names,
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let mut attributes = BTreeMap::new();
        for name in names.split_inclusive(|byte| *byte == 0) {
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            match grown(|| fgetxattr_query(file, name), |room| fgetxattr(file, name, room)) {
                Ok(value) => drop(attributes.insert(name.to_owned(), value)),
                // It has gone since.
                Err(Errno::NODATA) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self(attributes))
    }

    /// Whether an access control list is among them.
    pub(super) fn has_list(&self) -> bool {
        self.0.contains_key(ACCESS_LIST)
    }

    /// Lets the access control list give a group that is not the old one no more than everyone has.
    pub(super) fn of_other_group(mut self) -> Self {
        if let Some(list) = self.0.get_mut(ACCESS_LIST) {
            narrow_group(list);
        }
        self
    }

    /// Gives a new file, which nobody else can reach yet, these and no others.
    pub(super) fn hand_to(&self, new: &File) -> Result<(), NotKept> {
        let failed = |name: &CStr| {
            let name = name.to_string_lossy().into_owned();
            move |why: io::Error| NotKept { name, why }
        };
        let has = Self::of(new).map_err(failed(c"xattr"))?.0;
        for name in has.keys().filter(|name| !self.0.contains_key(*name) && goes_over(name)) {
            match fremovexattr(new, name) {
                Ok(()) | Err(Errno::NODATA) => {}
                // The label that the system gives to every file here.
                Err(_) if name.to_bytes().starts_with(b"security.") => {}
                Err(error) => return Err(failed(name)(error.into())),
            }
        }
        for (name, value) in self.0.iter().filter(|(name, _)| goes_over(name)) {
            if has.get(name) != Some(value) {
                fsetxattr(new, name, value, XattrFlags::empty())
                    .map_err(|error| failed(name)(error.into()))?;
            }
        }
        Ok(())
    }
}

fn goes_over(name: &CStr) -> bool {
    !OF_BYTES.contains(&name)
}

/// Asks for something whose length has to be asked for first, and may be another by then.
fn grown(
    length: impl Fn() -> Result<usize, Errno>,
    ask: impl Fn(&mut [u8]) -> Result<usize, Errno>,
) -> Result<Vec<u8>, Errno> {
    loop {
        let mut room = vec![0; length()?];
        match ask(&mut room) {
            Ok(filled) => {
                room.truncate(filled);
                return Ok(room);
            }
            Err(Errno::RANGE) => {}
            Err(error) => return Err(error),
        }
    }
}

/// An entry of a list: what it is about, what that may do, and who it is, each in the byte order of Linux on disk, which is little-endian.
const ENTRY: usize = 8;
const HEADER: usize = 4;
const OWNING_GROUP: u16 = 0x04;
const EVERYONE: u16 = 0x20;

fn narrow_group(list: &mut [u8]) {
    let Some((_, entries)) = list.split_at_mut_checked(HEADER) else { return };
    let word = |entry: &[u8], at: usize| match entry.get(at..at + 2) {
        Some(&[low, high]) => u16::from_le_bytes([low, high]),
        _ => 0,
    };
    let everyone = entries.chunks(ENTRY).find(|entry| word(entry, 0) == EVERYONE);
    let may = everyone.map_or(0, |entry| word(entry, 2));
    for entry in entries.chunks_mut(ENTRY).filter(|entry| word(entry, 0) == OWNING_GROUP) {
        let narrowed = (word(entry, 2) & may).to_le_bytes();
        if let Some(permissions) = entry.get_mut(2..4) {
            permissions.copy_from_slice(&narrowed);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn what_a_file_cannot_have_is_named() {
        let new = tempfile::tempfile().unwrap();
        let name = c"system.no_such_attribute";
        let old = Attributes(BTreeMap::from([(name.to_owned(), b"1".to_vec())]));
        assert_eq!(old.hand_to(&new).unwrap_err().name.as_bytes(), name.to_bytes());
        let of_bytes = OF_BYTES.map(|name| (name.to_owned(), b"1".to_vec()));
        Attributes(BTreeMap::from(of_bytes)).hand_to(&new).unwrap();
    }
}
