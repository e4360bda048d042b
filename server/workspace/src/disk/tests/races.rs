//! Folders and links that change places while files are read and written: nothing outside is ever touched.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::{DiskError, Expect, HardLinks, Opener, PathStyle, read, walk, write};
use super::{House, StopWhenDropped, link};

const LASTS: Duration = Duration::from_millis(1_500);
/// How long to wait for the race on a machine that has much else to do.
const LASTS_AT_MOST: Duration = Duration::from_secs(30);

/// Runs `work` again and again while `swap` does the same on another thread, until the work says that it has met
/// both sides of the race.
fn while_swapping(mut swap: impl FnMut() + Send, mut work: impl FnMut() -> bool) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap();
            }
        });
        // Also when the work panics, as the scope waits for the other thread.
        let _stop = StopWhenDropped(&stop);
        let started = Instant::now();
        let mut met = false;
        while started.elapsed() < if met { LASTS } else { LASTS_AT_MOST } {
            met |= work();
        }
        assert!(met, "no race took place");
    });
}

/// `at` is in turn the real thing (kept at `real` else), a link to `other`, and nothing.
fn swap_with_link(at: &Path, real: &Path, other: &Path) {
    fs::rename(at, real).unwrap();
    link(other, at);
    thread::yield_now();
    fs::remove_file(at).unwrap();
    fs::rename(real, at).unwrap();
    thread::yield_now();
}

#[test]
fn a_folder_and_a_link_out_change_places_while_files_are_read() {
    let house = House::new();
    house.put("outside/main.rs", "secret\n");
    let roots = house.roots();
    let (at, real, out) = (house.path("root/src"), house.path("root/real"), house.path("outside"));
    let early = house.place("src/main.rs");
    let (mut read_well, mut refused) = (0, 0);
    while_swapping(
        || swap_with_link(&at, &real, &out),
        || {
            let late = roots.resolve("src/main.rs", PathStyle::Any);
            for place in [Some(early.clone()), late.ok()].into_iter().flatten() {
                assert!(place.absolute().starts_with(house.path("root")), "{place:?}");
                match read(&place) {
                    Ok(file) => {
                        assert_eq!(file.bytes, b"fn main() {}\n", "read what lies outside");
                        read_well += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            read_well > 0 && refused > 0
        },
    );
}

#[test]
fn a_file_and_a_link_out_change_places_while_files_are_read() {
    let house = House::new();
    let (at, real) = (house.path("root/a.txt"), house.path("root/real"));
    let out = house.path("outside/secret");
    let early = house.place("a.txt");
    let (mut read_well, mut refused) = (0, 0);
    while_swapping(
        || swap_with_link(&at, &real, &out),
        || {
            match read(&early) {
                Ok(file) => {
                    assert_eq!(file.bytes, b"a\n", "read what lies outside");
                    read_well += 1;
                }
                Err(_) => refused += 1,
            }
            read_well > 0 && refused > 0
        },
    );
}

/// Looked at before it is opened the link is a file of its own, and looked at after that it is gone and its other name alone is left.
#[test]
fn a_file_and_a_hard_link_change_places_while_files_are_read() {
    let house = House::new();
    let (at, real) = (house.path("root/src/main.rs"), house.path("root/real"));
    let out = house.path("outside/secret");
    let roots = house.roots().with_hard_links(HardLinks::Refused);
    let place = roots.resolve("src/main.rs", PathStyle::Any).unwrap();
    let (mut read_well, mut refused) = (0, 0);
    while_swapping(
        || {
            fs::rename(&at, &real).unwrap();
            fs::hard_link(&out, &at).unwrap();
            fs::remove_file(&at).unwrap();
            fs::rename(&real, &at).unwrap();
        },
        || {
            match read(&place) {
                Ok(file) => {
                    assert_eq!(file.bytes, b"fn main() {}\n", "read what lies outside");
                    read_well += 1;
                }
                Err(_) => refused += 1,
            }
            let folder = house.path("root/src");
            walk(
                &roots,
                std::slice::from_ref(&folder),
                |_| true,
                || {
                    |path: &Path, opener: &mut Opener| {
                        if let Ok(Some(mut file)) = opener.open(path) {
                            let mut found = String::new();
                            file.read_to_string(&mut found).unwrap();
                            assert_eq!(found, "fn main() {}\n", "searched what lies outside");
                        }
                        true
                    }
                },
            );
            read_well > 0 && refused > 0
        },
    );
}

/// Links that stay inside the root are another matter than those that lead out, which the system refuses by itself.
#[test]
fn a_link_to_the_store_takes_the_place_of_folder_or_file() {
    let house = House::new();
    house.put("root/src/log", "mine\n");
    let roots = house.roots();
    // what is swapped for a link, and what is in the link
    for (name, target) in [("root/src", ".mcp/edit_history"), ("root/src/log", "../.mcp/edit_history/log")] {
        let (at, real, target) = (house.path(name), house.path("root/real"), Path::new(target));
        let early = house.place("src/log");
        let (mut read_well, mut refused) = (0, 0);
        while_swapping(
            || swap_with_link(&at, &real, target),
            || {
                let late = roots.resolve("src/log", PathStyle::Any).ok();
                for place in [Some(early.clone()), late].into_iter().flatten() {
                    match read(&place) {
                        Ok(file) => {
                            assert_eq!(file.bytes, b"mine\n", "read the store");
                            read_well += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
                read_well > 0 && refused > 0
            },
        );
    }
}

#[test]
fn a_folder_and_a_link_out_change_places_while_files_are_written() {
    let house = House::new();
    house.put("outside/main.rs", "secret\n");
    let roots = house.roots();
    let (at, real, out) = (house.path("root/src"), house.path("root/real"), house.path("outside"));
    let early = house.place("src/main.rs");
    let (mut written, mut refused) = (0, 0);
    while_swapping(
        || swap_with_link(&at, &real, &out),
        || {
            let late = roots.resolve("src/main.rs", PathStyle::Any).ok();
            for place in [Some(early.clone()), late].into_iter().flatten() {
                let result =
                    read(&place).and_then(|file| write(&place, b"fn main() {}\n", Expect::Same(&file)));
                written += usize::from(result.is_ok());
                refused += usize::from(result.is_err());
                // New files, too.
                if let Ok(new) = roots.resolve("src/new", PathStyle::Any) {
                    let _ = write(&new, b"new\n", Expect::Absent);
                }
            }
            written > 0 && refused > 0
        },
    );
    assert_eq!(house.names("outside"), ["main.rs", "secret"]);
    assert_eq!(
        (house.text("outside/main.rs"), house.text("outside/secret")),
        ("secret\n".into(), "secret\n".into())
    );
}

#[test]
fn a_file_and_a_fifo_change_places_and_nobody_waits() {
    let house = House::new();
    let fifo = house.path("root/fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let (at, real) = (house.path("root/a.txt"), house.path("root/real"));
    let place = house.place("a.txt");
    let (mut read_well, mut refused) = (0, 0);
    while_swapping(
        || {
            fs::rename(&at, &real).unwrap();
            fs::rename(&fifo, &at).unwrap();
            thread::yield_now();
            fs::rename(&at, &fifo).unwrap();
            fs::rename(&real, &at).unwrap();
        },
        || {
            match read(&place) {
                Ok(file) => {
                    assert_eq!(file.bytes, b"a\n");
                    read_well += 1;
                }
                Err(DiskError::NotRegular { .. }) => refused += 1,
                Err(DiskError::NotFound { .. } | DiskError::BeingWritten { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            read_well > 0 && refused > 0
        },
    );
}

#[test]
fn readers_see_the_old_file_or_the_new_one() {
    let house = House::new();
    let contents: [Vec<u8>; 2] = [vec![b'a'; 100_000], vec![b'b'; 70_000]];
    fs::write(house.path("root/a.txt"), &contents[0]).unwrap();
    let (writer, reader) = (house.place("a.txt"), house.path("root/a.txt"));
    let mut seen = HashSet::new();
    let mut turn = 0;
    let mut stamp = read(&writer).unwrap().stamp;
    while_swapping(
        || {
            turn = 1 - turn;
            stamp = write(&writer, &contents[turn], Expect::Unchanged(stamp)).unwrap();
        },
        || {
            let read = fs::read(&reader).unwrap();
            assert!(contents.contains(&read), "half a file of {} bytes", read.len());
            seen.insert(read.len());
            seen.len() == contents.len()
        },
    );
}
