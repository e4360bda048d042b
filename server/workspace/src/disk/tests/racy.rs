//! Changes in the very tick of the clock in which a file was read, with its size and its times put back: none hides behind a stamp that is
//! trusted, and none is written over.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::super::{DiskError, Expect, read, stamp, write};
use super::{House, StopWhenDropped};

/// So many, or `HASHLINE_SEEDS` times as many per cent.
fn tries(usual: usize) -> usize {
    let per_cent = std::env::var("HASHLINE_SEEDS").ok().and_then(|value| value.parse().ok());
    usual * per_cent.unwrap_or(100) / 100
}

/// Another program, which changes a file to contents of the same size and lets its times be what they were.
struct Other {
    path: PathBuf,
    beside: PathBuf,
}

impl Other {
    fn of(house: &House) -> Self {
        Other { path: house.path("root/a.txt"), beside: house.path("root/b.txt") }
    }

    /// Changes the file, each time in another way.
    fn changes(&self, number: usize, size: usize) {
        let bytes = contents(number, size);
        match number % 3 {
            0 => put_back(&self.path, || write_over(&self.path, &bytes)),
            1 => write_over(&self.path, &bytes),
            _ => put_back(&self.path, || {
                fs::write(&self.beside, &bytes).unwrap();
                fs::rename(&self.beside, &self.path).unwrap();
            }),
        }
    }
}

fn contents(number: usize, size: usize) -> Vec<u8> {
    format!("{number:015}\n").into_bytes().repeat(size / 16)
}

/// Without making it shorter in between.
fn write_over(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    File::options().write(true).open(path).unwrap().write_all_at(bytes, 0).unwrap();
}

fn put_back(path: &Path, change: impl FnOnce()) {
    let before = fs::metadata(path).unwrap();
    let times =
        FileTimes::new().set_accessed(before.accessed().unwrap()).set_modified(before.modified().unwrap());
    change();
    File::open(path).unwrap().set_times(times).unwrap();
}

/// Whether a file that has just been written is trusted here: its file system's clock can be asked.
fn is_clock_asked(house: &House) -> bool {
    house.put("root/new", "new\n");
    thread::sleep(Duration::from_millis(50));
    read(&house.place("new")).unwrap().is_settled()
}

#[test]
fn what_is_trusted_is_as_it_was_read_whoever_writes_meanwhile() {
    const SIZE: usize = 256 << 10;
    let house = House::new();
    let (asked, other, place) = (is_clock_asked(&house), Other::of(&house), house.place("a.txt"));
    other.changes(1, SIZE);
    let stop = AtomicBool::new(false);
    let mut trusted = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            let rounds = 2..;
            for number in rounds.take_while(|_| !stop.load(Ordering::Relaxed)) {
                other.changes(number, SIZE);
                // Without a rest nothing would be trusted, and with one after each change none would follow in the same tick.
                if number % 2 == 0 {
                    thread::sleep(Duration::from_micros(number as u64 * 7 % 5_000));
                }
            }
        });
        let _stop = StopWhenDropped(&stop);
        for _ in 0..tries(1_000) {
            let Ok(first) = read(&place) else { continue };
            let Ok(second) = read(&place) else { continue };
            if first.is_settled() && first.stamp == second.stamp {
                trusted += 1;
                assert!(first.bytes == second.bytes, "another content has the stamp {:?}", first.stamp);
            }
        }
    });
    assert!(trusted > 0 || !asked);
}

#[test]
fn a_change_right_behind_a_read_is_seen_and_not_written_over() {
    let house = House::new();
    let (other, place) = (Other::of(&house), house.place("a.txt"));
    let (ask, asked) = mpsc::channel::<usize>();
    let (tell, told) = mpsc::channel::<()>();
    let mut trusted = 0;
    other.changes(1, 16);
    thread::scope(|scope| {
        let other = &other;
        scope.spawn(move || {
            for number in asked {
                other.changes(number, 16);
                tell.send(()).unwrap();
            }
        });
        let ask = ask;
        let changes = |number| {
            ask.send(number).unwrap();
            told.recv().unwrap();
        };
        for number in (2..).step_by(5).take(tries(1_000)) {
            changes(number);
            let file = read(&place).unwrap();
            assert!(file.bytes == contents(number, 16));
            changes(number + 1 + number % 3);
            let there = contents(number + 1 + number % 3, 16);
            trusted += usize::from(file.is_settled());
            assert!(!file.is_settled() || stamp(&place).unwrap() != file.stamp, "try {number}");
            // That takes long, as what is to be written is made durable first.
            if number % 8 == 0 {
                let error = write(&place, b"ours\n", Expect::Same(&file)).unwrap_err();
                assert!(matches!(error, DiskError::ChangedMeanwhile { .. }), "{error}");
            }
            assert!(fs::read(house.path("root/a.txt")).unwrap() == there, "a lost write in try {number}");
        }
    });
    println!("{trusted} of them were trusted");
}

#[cfg(target_os = "linux")]
#[test]
fn the_clock_of_another_file_system_says_nothing() {
    use super::super::clock::Clock;
    use cap_std::fs::Dir;
    let house = House::new();
    let asked = is_clock_asked(&house);
    let there = stamp(&house.place("a.txt")).unwrap();
    let has_passed = |folder: &Path| {
        let dir = Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap();
        Clock::default().has_passed(&dir, &there)
    };
    assert_eq!(has_passed(&house.path("root")), asked);
    let device = |path: &Path| std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).unwrap());
    for other in ["/proc", "/dev/shm", "/tmp"].map(Path::new) {
        if other.is_dir() && device(other) != device(&house.path("root")) {
            assert!(!has_passed(other), "{}", other.display());
        }
    }
}
