//! Another program that changes a file while agents read and edit it: to texts of the same length, with the file's times put back, by a
//! rename over it, and at any moment.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest};
use hashline_workspace::disk::{DiskError, Roots};
use hashline_workspace::document::{Change, Refused};
use hashline_workspace::{Histories, Refusal, Settings, Workspace};

use crate::agent::{caller, read};

/// So many, or `HASHLINE_SEEDS` times as many per cent.
fn tries(usual: u64) -> u64 {
    let per_cent = std::env::var("HASHLINE_SEEDS").ok().and_then(|value| value.parse().ok());
    usual * per_cent.unwrap_or(100) / 100
}

struct Desk {
    workspace: Workspace,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        let file = folder.path().canonicalize().unwrap().join("a.txt");
        Desk { workspace, file, _folder: folder }
    }

    async fn read(&self) -> String {
        read(&self.workspace, &self.file.display().to_string()).await.unwrap()
    }

    /// What asks for another text in the place of the one that the agent has read last.
    async fn request(&self, text: &str) -> EditRequest {
        let path = self.file.display().to_string();
        let read = ReadRequest { path: path.clone(), view: View::Agent };
        let read = self.workspace.read(&caller(), &read).await.unwrap();
        self.workspace.shown(&read, 0..read.text().line_count());
        EditRequest {
            path,
            file_hash: Some(read.hash.into()),
            change: Change::whole(text),
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "write_file".into(),
            reason: None,
        }
    }
}

/// As long for every number. Each line has it twice.
fn text(number: u64, lines: usize) -> String {
    format!("{number:07} {number:07}\n").repeat(lines)
}

/// The smallest number of a text. One that was read in the middle of a write has later ones too, and a line that is of both.
fn oldest(text: &str) -> u64 {
    let numbers = text.lines().filter_map(|line| line.split_once(' ').filter(|(one, other)| one == other));
    numbers.map(|(number, _)| number.parse().unwrap()).min().unwrap()
}

/// Changes a file in one of several ways.
fn change(file: &Path, number: u64, text: &str) {
    let before = fs::metadata(file).ok();
    let by_rename = number % 4 == 1;
    if by_rename || before.is_none() {
        let beside = file.with_extension("beside");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, file).unwrap();
    } else {
        use std::os::unix::fs::FileExt;
        File::options().write(true).open(file).unwrap().write_all_at(text.as_bytes(), 0).unwrap();
    }
    if let Some(before) = before.filter(|_| !number.is_multiple_of(4)) {
        let times = FileTimes::new().set_accessed(before.accessed().unwrap());
        File::open(file).unwrap().set_times(times.set_modified(before.modified().unwrap())).unwrap();
    }
}

/// Another program at work, until this is dropped.
struct Other {
    /// The last number that it has written.
    written: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Other {
    fn start(file: &Path, lines: usize) -> Self {
        let (written, stop) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicBool::new(false)));
        let other = Other { written: written.clone(), stop: stop.clone() };
        let file = file.to_owned();
        change(&file, 1, &text(1, lines));
        std::thread::spawn(move || {
            let mut numbers = 2..;
            while let Some(number) = numbers.next().filter(|_| !stop.load(Ordering::Relaxed)) {
                change(&file, number, &text(number, lines));
                written.store(number, Ordering::Release);
                if number % 3 == 0 {
                    std::thread::sleep(Duration::from_micros(number * 7 % 5_000));
                }
            }
        });
        other
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_agent_reads_nothing_older_than_what_was_written_when_it_asked() {
    let desk = Desk::new();
    let other = Other::start(&desk.file, 4_000);
    let mut seen = 0;
    for _ in 0..tries(1_000) {
        let before = other.written.load(Ordering::Acquire);
        // A file that changes all the time is refused.
        let Ok(read) = read(&desk.workspace, &desk.file.display().to_string()).await else { continue };
        assert!(oldest(&read) >= before, "{} was read when {before} had been written", oldest(&read));
        seen += 1;
    }
    assert!(seen > 0);
}

#[tokio::test]
async fn no_change_is_lost_that_comes_between_a_read_and_an_edit() {
    let mut desk = Desk::new();
    for number in (1..).step_by(10).take(tries(1_000) as usize) {
        change(&desk.file, number, &text(number, 2));
        assert_eq!(desk.read().await, text(number, 2));
        let request = desk.request("ours\n").await;
        let next = number + 1 + number / 10 % 4;
        change(&desk.file, next, &text(next, 2));
        let refused = desk.workspace.edit(&caller(), request).await.unwrap_err();
        assert!(matches!(refused, Refusal::Edit(Refused::ChangedOnDisk { .. })), "{refused}");
        assert_eq!(fs::read_to_string(&desk.file).unwrap(), text(next, 2), "a lost write");
        assert_eq!(desk.read().await, text(next, 2));
        // Nor is one that comes right behind an edit. Each edit takes some syncs.
        if number % 250 == 1 {
            let request = desk.request(&text(number + 7, 2)).await;
            desk.workspace.edit(&caller(), request).await.unwrap();
            change(&desk.file, number + 8, &text(number + 8, 2));
            assert_eq!(desk.read().await, text(number + 8, 2));
            // In a file without a history there is less to look at, and more happens in one tick.
            desk = Desk::new();
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_text_any_more_or_gone_is_not_edited() {
    let desk = Desk::new();
    change(&desk.file, 1, &text(1, 2));
    for kind in ["bytes", "gone"] {
        let request = desk.request(&text(2, 2)).await;
        match kind {
            "bytes" => fs::write(&desk.file, b"\xff\n").unwrap(),
            _ => fs::remove_file(&desk.file).unwrap(),
        }
        let refused = desk.workspace.edit(&caller(), request).await.unwrap_err();
        match kind {
            "bytes" => assert!(matches!(refused, Refusal::NotText { .. }), "{refused}"),
            _ => assert!(matches!(refused, Refusal::Disk(DiskError::NotFound { .. })), "{refused}"),
        }
        assert_eq!(fs::read(&desk.file).ok(), (kind == "bytes").then(|| b"\xff\n".to_vec()));
        fs::write(&desk.file, text(1, 2)).unwrap();
    }
}
