//! What a rewritten file has besides bytes and mode bits: access control lists and other extended attributes.

use std::ffi::CStr;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr, setxattr};

use super::super::attributes::Attributes;
use super::House;
use crate::disk::{Expect, read, write};

const LIST: &CStr = c"system.posix_acl_access";
const DEFAULT_LIST: &CStr = c"system.posix_acl_default";

/// A list as Linux has it on the disk: what an entry is about, what that may do, and who it is.
fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (about, may, who) in entries {
        bytes.extend(about.to_le_bytes());
        bytes.extend(may.to_le_bytes());
        bytes.extend(who.to_le_bytes());
    }
    bytes
}

const NOBODY: u32 = u32::MAX;

/// The owner reads and writes, one other user reads, and nobody else, the group neither.
fn one_reader() -> Vec<u8> {
    list(&[(0x01, 6, NOBODY), (0x02, 4, 12_345), (0x04, 0, NOBODY), (0x10, 4, NOBODY), (0x20, 0, NOBODY)])
}

/// Gives a file an attribute; false if its file system takes none.
fn put(file: &File, name: &CStr, value: &[u8]) -> bool {
    match fsetxattr(file, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(rustix::io::Errno::NOTSUP) => {
            eprintln!("skipped {name:?}: this machine lacks extended attributes in its temporary folder");
            false
        }
        Err(error) => panic!("{name:?}: {error}"),
    }
}

fn get(house: &House, name: &CStr) -> Option<Vec<u8>> {
    let file = File::open(house.path("root/a.txt")).unwrap();
    let mut value = vec![0; 4096];
    let length = fgetxattr(&file, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

fn rewrite(house: &House, bytes: &[u8]) {
    let place = house.place("a.txt");
    let there = read(&place).unwrap();
    write(&place, bytes, Expect::Same(&there)).unwrap();
    assert_eq!(read(&place).unwrap().bytes, bytes);
}

fn mode(house: &House) -> u32 {
    house.path("root/a.txt").metadata().unwrap().mode() & 0o7777
}

/// Without the list its mask would be what the group may do.
#[test]
fn an_access_control_list_is_kept_and_opens_the_file_to_nobody_else() {
    let house = House::new();
    let file = File::open(house.path("root/a.txt")).unwrap();
    if !put(&file, LIST, &one_reader()) {
        return;
    }
    assert_eq!(mode(&house), 0o640, "the mask stands for the group");
    rewrite(&house, b"two\n");
    assert_eq!((get(&house, LIST), mode(&house)), (Some(one_reader()), 0o640));
}

#[test]
fn a_file_without_a_list_gets_none_from_its_folder() {
    let house = House::new();
    let path = house.path("root/a.txt");
    fs::set_permissions(&path, Permissions::from_mode(0o660)).unwrap();
    let folder = File::open(house.path("root")).unwrap();
    let all = list(&[
        (0x01, 7, NOBODY),
        (0x02, 7, 12_345),
        (0x04, 5, NOBODY),
        (0x10, 7, NOBODY),
        (0x20, 5, NOBODY),
    ]);
    if !put(&folder, DEFAULT_LIST, &all) {
        return;
    }
    rewrite(&house, b"two\n");
    assert_eq!((get(&house, LIST), mode(&house)), (None, 0o660));
}

#[test]
fn attributes_are_kept_but_those_of_the_old_bytes() {
    let house = House::new();
    let path = house.path("root/a.txt");
    let file = File::open(&path).unwrap();
    let long = vec![b'x'; 2_000];
    if !(put(&file, c"user.one", b"1") && put(&file, c"user.empty", b"") && put(&file, c"user.long", &long)) {
        return;
    }
    // Only root may give it; to others there is nothing to take away.
    // Version 2, and no right in it.
    let capability = [&[0, 0, 0, 2][..], &[0; 16]].concat();
    let given = setxattr(&path, c"security.capability", &capability, XattrFlags::empty());
    assert_eq!(get(&house, c"security.capability").is_some(), given.is_ok());
    rewrite(&house, b"two\n");
    assert_eq!(get(&house, c"user.one").as_deref(), Some(&b"1"[..]));
    assert_eq!(get(&house, c"user.empty").as_deref(), Some(&b""[..]));
    assert_eq!(get(&house, c"user.long"), Some(long));
    assert_eq!(get(&house, c"security.capability"), None);
}

/// A group that is another by now may do what everyone may; whom the list names may do what it says.
#[test]
fn a_list_gives_another_group_no_more_than_everyone() {
    let house = House::new();
    let file = File::open(house.path("root/a.txt")).unwrap();
    let entries = |group| {
        list(&[
            (0x01, 6, NOBODY),
            (0x02, 6, 12_345),
            (0x04, group, NOBODY),
            (0x10, 6, NOBODY),
            (0x20, 4, NOBODY),
        ])
    };
    if !put(&file, LIST, &entries(6)) {
        return;
    }
    let narrowed = Attributes::of(&file).unwrap().of_other_group();
    let new = File::create(house.path("root/new.txt")).unwrap();
    narrowed.hand_to(&new).unwrap();
    assert_eq!(Attributes::of(&new).unwrap(), narrowed);
    let mut value = vec![0; 4096];
    let length = fgetxattr(&new, LIST, &mut value[..]).unwrap();
    assert_eq!(value[..length], entries(4));
}
