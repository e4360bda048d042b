//! Many processes in one folder, and processes that are killed at any instant.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hashline_history::{Decision, Location, LogEntry};
use hashline_workspace::document::{Along, Choice, Refused, Target};
use hashline_workspace::{Histories, Refusal, Settings};

use crate::chance::Rng;
use crate::desk::{Desk, Folder, Op, PATIENCE, assert_whole, request};

const FILES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];
const START: &str = "first\nsecond\nthird\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in FILES {
        std::fs::write(folder.path().join(name), START).unwrap();
    }
    folder
}

/// What a process does: puts lines of its own into the files, and takes every other one out again.
async fn work(mut desk: Desk, who: &str, rounds: usize) {
    let mut rng = Rng::new(who.bytes().map(u64::from).sum());
    for round in 0..rounds {
        let name = FILES[round % FILES.len()];
        let new = format!("{who} {round}");
        let started = Instant::now();
        let edit = loop {
            assert!(started.elapsed() < PATIENCE * 3, "{who} never comes to write");
            let read = desk.read(name).await;
            let at = rng.below(read.0.line_count());
            match desk.edit_as(who, Some(who), name, &read, &[Op::After(at, &new)]).await {
                Ok(edit) => break edit,
                Err(
                    Refusal::Edit(Refused::ChangedOnDisk { .. })
                    | Refusal::Edit(Refused::UnknownHash { .. })
                    | Refusal::Disk(_),
                ) => {}
                Err(other) => panic!("{who}: {other}"),
            }
        };
        let choice = if round % 2 == 0 { Choice::Accept } else { Choice::Reject };
        let target = Target::Edit(edit.edit.to_string());
        while let Some(refused) = {
            let request = hashline_workspace::document::Request {
                along: Along::All,
                ..request(choice, target.clone())
            };
            desk.decide(&request).await.refused.first().cloned()
        } {
            assert!(started.elapsed() < PATIENCE * 3, "{who} never comes to decide: {}", refused.message);
        }
    }
}

/// Not a test by itself: what the processes of the next ones do.
#[tokio::test]
async fn as_another_process() {
    let Ok(folder) = std::env::var("HASHLINE_RECORD_FOLDER") else { return };
    let who = std::env::var("HASHLINE_RECORD_WHO").unwrap();
    let rounds = std::env::var("HASHLINE_RECORD_ROUNDS").unwrap().parse().unwrap();
    let desk = Desk::over(Folder::at(folder), Settings::default(), Histories::of(who.clone()));
    work(desk, &who, rounds).await;
}

fn spawn(folder: &Path, who: &str, rounds: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crowd::as_another_process", "--exact", "--nocapture"])
        .env("HASHLINE_RECORD_FOLDER", folder)
        .env("HASHLINE_RECORD_WHO", who)
        .env("HASHLINE_RECORD_ROUNDS", rounds.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Every log parses, but for a last line that is being written. Returns how many entries there are.
fn entries(folder: &Path) -> usize {
    let Ok(logs) = std::fs::read_dir(folder.join(".mcp/edit_history/logs")) else { return 0 };
    let mut entries = 0;
    for log in logs.flatten().filter(|log| log.path().extension().is_some_and(|end| end == "log")) {
        let Ok(bytes) = std::fs::read(log.path()) else { continue };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            serde_json::from_slice::<LogEntry<'_>>(line).unwrap();
            entries += 1;
        }
    }
    entries
}

/// The files are what the record says, and every edit is where it is said to be.
fn assert_of_one_mind(desk: &Desk, name: &str) {
    let stored = desk.stored(name);
    let Ok(past) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| desk.past(name))) else {
        assert_eq!(stored, START, "nothing was recorded");
        return;
    };
    assert_eq!(past.weave().unwrap().buffer().to_string(), stored);
    let mut lines = START.lines().count();
    for edit in &past.edits {
        for hunk in &edit.hunks {
            let on = hunk.location == Location::Disk;
            lines += usize::from(on);
            let is = (on, hunk.decision);
            assert!(
                matches!(
                    is,
                    (true, Decision::Undecided | Decision::Accepted)
                        | (false, Decision::Rejected | Decision::Withdrawn)
                ),
                "{is:?}"
            );
        }
    }
    assert_eq!(stored.lines().count(), lines);
}

#[tokio::test]
async fn eight_processes_lose_nothing() {
    const ROUNDS: usize = 9;
    let folder = folder();
    let names: Vec<String> = (0..8).map(|at| format!("p{at}")).collect();
    let mut processes: Vec<Child> = names.iter().map(|who| spawn(folder.path(), who, ROUNDS)).collect();
    let mut most = 0;
    while processes.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        let now = entries(folder.path());
        assert!(now >= most, "an entry was lost");
        most = now;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(entries(folder.path()), names.len() * ROUNDS);
    assert_whole(folder.path());
    let desk = Desk::over(Folder::at(folder.path()), Settings::default(), Histories::of("the last"));
    desk.settle();
    let all: String = FILES.iter().map(|name| desk.stored(name)).collect();
    for who in &names {
        for round in 0..ROUNDS {
            let line = format!("{who} {round}");
            let times = all.lines().filter(|other| **other == line).count();
            assert_eq!(times, usize::from(round % 2 == 0), "{line}");
        }
    }
    for name in FILES {
        assert_of_one_mind(&desk, name);
    }
    assert!(desk.workspace.reviews().is_empty());
}

#[tokio::test]
async fn processes_that_are_killed_leave_whole_files_and_their_entries() {
    let folder = folder();
    let mut rng = Rng::new(11);
    let mut repaired = 0;
    for round in 0..12 {
        let mut one = spawn(folder.path(), &format!("k{round}"), 10_000);
        let mut other = spawn(folder.path(), &format!("l{round}"), 10_000);
        // There is nothing to wait for: the point is that it may be any moment.
        std::thread::sleep(Duration::from_millis(40 + rng.below(120) as u64));
        for process in [&mut one, &mut other] {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        let mut desk = Desk::over(Folder::at(folder.path()), Settings::default(), Histories::of("the next"));
        for name in FILES {
            // The first that writes ends what was left open.
            let edit = desk.edit(name, &[Op::Replace(0, 1, "FIRST")]).await;
            assert_eq!(desk.decides(Choice::Reject, Target::Edit(edit.edit.to_string())).await, []);
            assert_of_one_mind(&desk, name);
        }
        repaired += desk.told().len();
        drop(desk);
        entries(folder.path());
    }
    eprintln!("{} entries, {repaired} repairs", entries(folder.path()));
    let store = hashline_history::Store::new(folder.path().canonicalize().unwrap(), "the last");
    assert_eq!(store.damage().unwrap(), []);
}
