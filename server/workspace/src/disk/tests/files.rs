//! Reading: regular files only, of bounded size, whole.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::super::file::{Folder, read_up_to};
use super::super::{DiskError, Expect, FileKind, QUIET, read, stamp, write};
use super::{House, StopWhenDropped, assert_complete, link};

fn mkfifo(house: &House, name: &str) {
    assert!(Command::new("mkfifo").arg(house.path(name)).status().unwrap().success());
}

#[test]
fn bytes_come_as_they_are() {
    let house = House::new();
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for bytes in [&b""[..], b"\xEF\xBB\xBFa\r\nb\rc", &all] {
        fs::write(house.path("root/a.txt"), bytes).unwrap();
        let file = read(&house.place("a.txt")).unwrap();
        assert_eq!(file.bytes, bytes);
        assert_eq!(file.stamp.size(), bytes.len() as u64);
        assert_eq!(stamp(&house.place("a.txt")).unwrap(), file.stamp);
    }
}

#[test]
fn only_regular_files_are_opened() {
    let house = House::new();
    mkfifo(&house, "root/fifo");
    link("fifo", house.path("root/to_fifo"));
    let _socket = UnixListener::bind(house.path("root/socket")).unwrap();
    let started = Instant::now();
    for (given, kind) in [
        ("fifo", FileKind::Fifo),
        ("to_fifo", FileKind::Fifo),
        ("socket", FileKind::Socket),
        ("src", FileKind::Folder),
        (".", FileKind::Folder),
    ] {
        let place = house.place(given);
        for error in [
            read(&place).unwrap_err(),
            stamp(&place).unwrap_err(),
            write(&place, b"x", Expect::Absent).unwrap_err(),
        ] {
            assert!(
                matches!(&error, DiskError::NotRegular { kind: k, .. } if *k == kind),
                "{given}: {error}"
            );
            assert_complete(&error.to_string());
        }
    }
    let dev = super::Roots::open(["/dev"]).unwrap();
    for (given, kind) in [("zero", FileKind::Device), ("null", FileKind::Device)] {
        let error = read(&dev.resolve(given, super::PathStyle::Any).unwrap()).unwrap_err();
        assert!(matches!(&error, DiskError::NotRegular { kind: k, .. } if *k == kind), "{given}: {error}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_comes_between_the_look_and_the_opening_is_refused() {
    let house = House::new();
    let place = house.place("a.txt");
    let folder = Folder::of(&place).unwrap();
    fs::remove_file(house.path("root/a.txt")).unwrap();
    link(".mcp/edit_history/log", house.path("root/a.txt"));
    assert!(matches!(folder.read(&place, 100), Err(DiskError::PathChanged { .. })));
    fs::remove_file(house.path("root/a.txt")).unwrap();
    mkfifo(&house, "root/a.txt");
    assert!(matches!(folder.read(&place, 100), Err(DiskError::NotRegular { kind: FileKind::Fifo, .. })));
}

#[test]
fn what_is_missing_is_not_found() {
    let house = House::new();
    for given in ["none", "src/none", "none/none"] {
        let error = read(&house.place(given)).unwrap_err();
        assert!(matches!(error, DiskError::NotFound { .. }), "{given}: {error}");
        assert!(error.to_string().contains(house.place(given).absolute().to_str().unwrap()));
        assert_complete(&error.to_string());
    }
}

#[test]
fn a_sparse_file_of_2_gb_is_refused_at_once() {
    let house = House::new();
    File::create(house.path("root/sparse")).unwrap().set_len(2 << 30).unwrap();
    let started = Instant::now();
    let error = read(&house.place("sparse")).unwrap_err();
    assert!(matches!(error, DiskError::TooLarge { size: 2_147_483_648, .. }), "{error}");
    assert_complete(&error.to_string());
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn the_limit_is_exact() {
    let house = House::new();
    house.put("root/ten", "0123456789");
    let place = house.place("ten");
    assert_eq!(read_up_to(&place, 10).unwrap().bytes.len(), 10);
    assert!(matches!(read_up_to(&place, 9), Err(DiskError::TooLarge { size: 10, limit: 9, .. })));
}

#[test]
fn a_file_of_100_mb_is_served() {
    let house = House::new();
    File::create(house.path("root/large")).unwrap().set_len(100_000_000).unwrap();
    assert_eq!(read(&house.place("large")).unwrap().bytes.len(), 100_000_000);
}

#[test]
fn a_file_that_is_written_meanwhile_is_read_whole_or_not_at_all() {
    let house = House::new();
    let path = house.put("root/a.txt", "");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut length = 0;
            while !stop.load(Ordering::Relaxed) {
                length = (length + 7_919) % 200_000;
                fs::write(&path, vec![b'x'; length]).unwrap();
            }
        });
        let _stop = StopWhenDropped(&stop);
        let place = house.place("a.txt");
        for _ in 0..2_000 {
            match read(&place) {
                Ok(file) => assert_eq!(file.bytes.len() as u64, file.stamp.size()),
                Err(error) => assert!(matches!(error, DiskError::BeingWritten { .. }), "{error}"),
            }
        }
    });
}

#[test]
fn a_stamp_tells_states_apart() {
    let house = House::new();
    let place = house.place("a.txt");
    let first = read(&place).unwrap();
    assert!(!first.stamp.is_quiet(SystemTime::now()), "too young");
    assert!(first.stamp.is_quiet(SystemTime::now() + QUIET));
    assert_eq!(stamp(&place).unwrap(), first.stamp);
    fs::write(house.path("root/a.txt"), "other length\n").unwrap();
    assert_ne!(stamp(&place).unwrap(), first.stamp);
    // Times put back do not hide a change: the kernel's own change time stays.
    let file = File::options().write(true).open(house.path("root/a.txt")).unwrap();
    file.set_len(first.stamp.size()).unwrap();
    file.set_modified(first.stamp.modified()).unwrap();
    assert_eq!(stamp(&place).unwrap().size(), first.stamp.size());
    assert_ne!(stamp(&place).unwrap(), first.stamp);
}
