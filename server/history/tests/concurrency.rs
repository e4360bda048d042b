//! Many threads and many processes in one history: no entry is lost, numbers are unique, and whoever looks sees whole lines.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use common::*;
use hashline_history::{Allow, Decision, DocumentName, Draft, LogEntry, Probe, Step, Store, StoreError};
use hashline_weave::Change;

/// Makes edits of a document of its own and of one that all share; `who` is in every name.
fn write(store: &Store, who: &str, rounds: usize) {
    let folder = store.folder().to_path_buf();
    let mut own = Live::new(name_in(&folder, &format!("{who}.txt")), "one\ntwo\n");
    for round in 0..rounds {
        let change = Change { lines: 0..1, new: vec![line(&format!("{who} {round}"))] };
        let edit = own.edit(&format!("{who}-{round}"), &format!("conv-{}", round % 3), &[change], false);
        let mut session = store.session(&NoFiles).unwrap();
        session.append(&own.draft(edit)).unwrap();
        let at = own.hunks.len() - 1;
        let (decisions, locations) = own.decide(at, Decision::Accepted, None);
        session.append(&Draft { decisions, locations, ..own.draft(None) }).unwrap();
        assert_eq!(session.finish(), Vec::<String>::new());

        // What others did to the shared document is read first.
        let mut session = store.session(&NoFiles).unwrap();
        let name = name_in(&folder, "shared.txt");
        let mut shared = Live::new(name.clone(), "shared\n");
        if let Ok(document) = session.document(&name) {
            shared.weave = document.weave().unwrap().clone();
        }
        let lines = shared.weave.agent().line_count();
        let change = Change { lines: lines..lines, new: vec![line(&format!("{who} {round}"))] };
        let edit = shared.edit(&format!("shared-{who}-{round}"), &format!("own-{who}"), &[change], false);
        session.append(&shared.draft(edit)).unwrap();
        assert_eq!(session.finish(), Vec::<String>::new());
    }
}

/// Every log parses, but for a last line that is being written.
fn assert_logs_parse(folder: &Path) -> usize {
    let mut entries = 0;
    for (path, bytes) in
        files(folder).into_iter().filter(|(path, _)| path.parent().unwrap().ends_with("logs"))
    {
        if path.extension().is_none_or(|end| end != "log") {
            continue;
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            serde_json::from_slice::<LogEntry<'_>>(line).unwrap();
            entries += 1;
        }
    }
    entries
}

fn assert_all_there(folder: &Path, edits: usize) {
    let store = Store::new(folder, "the last");
    let mut session = store.session(&NoFiles).unwrap();
    assert_eq!(session.repairs(), Vec::<String>::new());
    assert_eq!(session.check().unwrap(), Vec::<String>::new());
    drop(session);
    assert_eq!(store.damage().unwrap(), Vec::new());
    let listing = store.list(None, 0, |_| true).unwrap();
    assert_eq!((listing.total, listing.damaged.len()), (edits, 0));
    let mut indexes: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for entry in &listing.entries {
        let of = indexes.entry(entry.conversation_id.to_string()).or_default();
        assert!(of.insert(entry.tool_call_index), "{} has an index twice", entry.conversation_id);
    }
    for (conversation, of) in indexes {
        assert!(of.iter().copied().eq(0..of.len() as u64), "{conversation}: {of:?}");
    }
    let record = std::fs::read_to_string(history(folder, "decisions.log")).unwrap();
    let numbers: Vec<u64> = record
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "numbers rise by one");
    let shared = store.document(&name_in(folder, "shared.txt")).unwrap();
    assert_eq!(shared.edits.len(), edits / 2);
}

#[test]
fn eight_threads_lose_nothing() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::SeqCst) {
                let entries = assert_logs_parse(folder.path());
                assert!(entries >= most, "an entry was lost");
                most = entries;
                let _ = store.documents().unwrap();
            }
        });
        let writers: Vec<_> = (0..8)
            .map(|at| {
                let store = &store;
                scope.spawn(move || write(store, &format!("t{at}"), 12))
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::SeqCst);
        watch.join().unwrap();
    });
    assert_all_there(folder.path(), 8 * 12 * 2);
}

/// Not a test by itself: what the processes of the next ones do.
#[test]
fn as_another_process() {
    let Ok(folder) = std::env::var("HASHLINE_HISTORY_FOLDER") else { return };
    let who = std::env::var("HASHLINE_HISTORY_WHO").unwrap();
    let rounds = std::env::var("HASHLINE_HISTORY_ROUNDS").unwrap().parse().unwrap();
    write(&Store::new(folder, who.clone()).with_patience(Duration::from_secs(60)), &who, rounds);
}

fn spawn(folder: &Path, who: &str, rounds: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["as_another_process", "--exact", "--nocapture"])
        .env("HASHLINE_HISTORY_FOLDER", folder)
        .env("HASHLINE_HISTORY_WHO", who)
        .env("HASHLINE_HISTORY_ROUNDS", rounds.to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn eight_processes_lose_nothing() {
    let folder = common::folder();
    let mut processes: Vec<Child> = (0..8).map(|at| spawn(folder.path(), &format!("p{at}"), 8)).collect();
    let mut most = 0;
    while processes.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        let entries = assert_logs_parse(folder.path());
        assert!(entries >= most, "an entry was lost");
        most = entries;
    }
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    assert_all_there(folder.path(), 8 * 8 * 2);
}

#[test]
fn processes_that_are_killed_leave_a_whole_history() {
    let folder = common::folder();
    let mut rng = Rng::new(7);
    for round in 0..12 {
        let mut one = spawn(folder.path(), &format!("k{round}"), 10_000);
        let mut other = spawn(folder.path(), &format!("l{round}"), 10_000);
        // There is nothing to wait for: the point is that it may be any moment.
        std::thread::sleep(Duration::from_millis(30 + rng.below(60) as u64));
        one.kill().unwrap();
        other.kill().unwrap();
        one.wait().unwrap();
        other.wait().unwrap();
        let store = Store::new(folder.path(), "the next");
        let mut session = store.session(&NoFiles).unwrap();
        let mut left = session.check().unwrap();
        left.retain(|said| !said.contains(".new-") && !said.starts_with("checkpoints/"));
        assert_eq!(left, Vec::<String>::new());
        drop(session);
        assert_eq!(store.damage().unwrap(), Vec::new());
        let edits: usize = store.documents().unwrap().iter().map(|document| document.edits).sum();
        assert_eq!(store.list(None, 0, |_| true).unwrap().total, edits);
        for document in store.documents().unwrap() {
            store.file(document.file).unwrap();
        }
    }
}

#[test]
fn who_waits_too_long_is_told() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "one").with_patience(Duration::from_millis(50));
    let other = Store::new(folder.path(), "other").with_patience(Duration::from_millis(50));
    let session = store.session(&NoFiles).unwrap();
    for refused in [&store, &other] {
        match refused.session(&NoFiles) {
            Err(error @ StoreError::Locked { .. }) => {
                assert!(error.to_string().contains("in use"), "{error}");
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
    drop(session);
    other.session(&NoFiles).unwrap();
}

#[test]
fn who_does_not_know_the_latest_changes_nothing() {
    let folder = common::folder();
    let (one, other) = (Store::new(folder.path(), "one"), Store::new(folder.path(), "other"));
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\n");
    let first = one.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap().sequence;
    let mut theirs = live.clone();
    theirs.type_line(0, "theirs\n");
    other.session(&NoFiles).unwrap().append(&theirs.draft(None)).unwrap();
    live.type_line(0, "mine\n");
    let mut session = one.session(&NoFiles).unwrap();
    let refused = session.append(&Draft { since: Some(first), ..live.draft(None) });
    assert!(matches!(refused, Err(StoreError::Stale { .. })), "{refused:?}");
    let document = session.document(&live.name).unwrap();
    assert_eq!(document.weave().unwrap().buffer().to_string(), "theirs\none\n");
}

#[test]
fn a_history_that_is_removed_begins_anew() {
    assert_begins_anew(|folder| std::fs::remove_dir_all(folder.join(".mcp")).unwrap());
}

#[test]
fn a_history_that_is_moved_away_begins_anew_and_is_not_written_to_any_more() {
    let record = |folder: &Path| folder.join("away/edit_history/decisions.log");
    let mut before = Vec::new();
    let folder = assert_begins_anew(|folder| {
        std::fs::rename(folder.join(".mcp"), folder.join("away")).unwrap();
        before = std::fs::read(record(folder)).unwrap();
    });
    assert_eq!(std::fs::read(record(folder.path())).unwrap(), before);
}

/// A store that has written goes on after its history was taken away.
fn assert_begins_anew(take_away: impl FnOnce(&Path)) -> tempfile::TempDir {
    let folder = common::folder();
    let store = Store::new(folder.path(), "one");
    let live = Live::new(name_in(folder.path(), "a.txt"), "one\n");
    store.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap();
    take_away(folder.path());
    assert!(store.documents().unwrap().is_empty());
    assert!(!folder.path().join(".mcp").exists(), "looking makes nothing");
    let appended = store.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap();
    assert_eq!(appended.sequence.0, 1);
    assert_recorded(&store, &live);
    folder
}

/// A disk on which a line can be neither made durable nor taken back, and a reader who looks in that moment.
#[derive(Default)]
struct Torn {
    reader: OnceLock<(Store, DocumentName)>,
    armed: AtomicBool,
    seen: Mutex<Vec<usize>>,
}

impl Probe for Torn {
    fn step(&self, step: Step, path: &str) -> Allow {
        if !path.contains("decisions.log") || !self.armed.load(Ordering::SeqCst) {
            return Allow::All;
        }
        match step {
            Step::Sync => {
                let (store, name) = self.reader.get().unwrap();
                self.seen.lock().unwrap().push(store.document(name).unwrap().edits.len());
                Allow::Fail(std::io::Error::other("broken"))
            }
            Step::Truncate => {
                self.armed.store(false, Ordering::SeqCst);
                Allow::Fail(std::io::Error::other("broken"))
            }
            _ => Allow::All,
        }
    }
}

#[test]
fn nobody_in_the_process_reads_a_line_that_may_be_taken_back() {
    let folder = common::folder();
    let torn = Arc::new(Torn::default());
    let store = Store::new(folder.path(), "one").with_probe(torn.clone());
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\n");
    let change = |at: usize, new: &str| Change { lines: at..at + 1, new: vec![line(new)] };
    let name = live.name.clone();
    assert!(torn.reader.set((store.clone(), name.clone())).is_ok());
    let first = live.edit("e0", "conv", &[change(0, "1")], true);
    store.session(&NoFiles).unwrap().append(&live.draft(first)).unwrap();

    torn.armed.store(true, Ordering::SeqCst);
    let mut refused = live.clone();
    let second = refused.edit("e1", "conv", &[change(1, "2")], true);
    assert!(store.session(&NoFiles).unwrap().append(&refused.draft(second)).is_err());
    assert_eq!(*torn.seen.lock().unwrap(), [1], "while it is being written");
    let edits = |store: &Store| store.document(&name).unwrap().edits.len();
    assert_eq!(edits(&store), 1, "when it was refused");

    // The next who writes takes it back.
    let third = live.edit("e2", "conv", &[change(2, "3")], true);
    store.session(&NoFiles).unwrap().append(&live.draft(third)).unwrap();
    let found = store.document(&live.name).unwrap();
    let ids: Vec<&str> = found.edits.iter().map(|edit| edit.made.id.as_str()).collect();
    assert_eq!(ids, ["e0", "e2"]);
    assert_eq!(edits(&Store::new(folder.path(), "another")), 2);
}

#[test]
fn a_line_that_was_taken_back_is_not_taken_for_another_one() {
    let folder = common::folder();
    let torn = Arc::new(Torn::default());
    let store = Store::new(folder.path(), "one").with_probe(torn.clone());
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\n");
    let change = |at: usize, new: &str| Change { lines: at..at + 1, new: vec![line(new)] };
    assert!(torn.reader.set((store.clone(), live.name.clone())).is_ok());
    let first = live.edit("e0", "conv", &[change(0, "1")], true);
    store.session(&NoFiles).unwrap().append(&live.draft(first)).unwrap();
    torn.armed.store(true, Ordering::SeqCst);
    let mut refused = live.clone();
    let second = refused.edit("e1", "conv", &[change(1, "2")], true);
    assert!(store.session(&NoFiles).unwrap().append(&refused.draft(second)).is_err());

    let other = Store::new(folder.path(), "another");
    let seen = other.latest(&live.name).unwrap().unwrap();
    let third = live.edit("e2", "conv", &[change(2, "3")], true);
    store.session(&NoFiles).unwrap().append(&live.draft(third)).unwrap();
    assert_ne!(other.latest(&live.name).unwrap(), Some(seen));
    assert_eq!(other.document(&live.name).unwrap().edits.len(), 2);
}

/// A disk that takes a part of a line once, and does not let it be cut off.
#[derive(Default)]
struct HalfWritten {
    armed: AtomicBool,
}

impl Probe for HalfWritten {
    fn step(&self, step: Step, path: &str) -> Allow {
        if !path.contains("decisions.log") || !self.armed.load(Ordering::SeqCst) {
            return Allow::All;
        }
        match step {
            Step::Truncate => {
                self.armed.store(false, Ordering::SeqCst);
                Allow::Fail(std::io::Error::other("broken"))
            }
            Step::Write(_) => Allow::Part(20),
            _ => Allow::All,
        }
    }
}

#[test]
fn what_another_process_recorded_in_the_place_of_a_refused_line_is_not_taken_back() {
    let folder = common::folder();
    let disk = Arc::new(HalfWritten::default());
    let store = Store::new(folder.path(), "one").with_probe(disk.clone());
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\n");
    let change = |at: usize, new: &str| Change { lines: at..at + 1, new: vec![line(new)] };
    let first = live.edit("e0", "conv", &[change(0, "1")], true);
    store.session(&NoFiles).unwrap().append(&live.draft(first)).unwrap();
    disk.armed.store(true, Ordering::SeqCst);
    let mut refused = live.clone();
    let long = refused.edit("e1", "conv", &[change(1, &"x".repeat(3000))], true);
    assert!(store.session(&NoFiles).unwrap().append(&refused.draft(long)).is_err());

    // It cuts the half line off, and writes a shorter one.
    let other = Store::new(folder.path(), "two");
    let short = live.edit("e2", "conv", &[change(2, "3")], true);
    other.session(&NoFiles).unwrap().append(&live.draft(short)).unwrap();
    drop(store.session(&NoFiles).unwrap());
    assert_eq!(Store::new(folder.path(), "three").document(&live.name).unwrap().edits.len(), 2);
}
