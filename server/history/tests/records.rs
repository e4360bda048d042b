//! What stands in the files of a history, and what does not have to be written.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use hashline_history::{
    Allow, Content, Decision, Draft, FileChange, Located, Location, LogEntry, NewHunk, Now, Operation,
    OwnerChange, Probe, Registers, Step, Store, Subject,
};
use hashline_text::FileHash;
use hashline_weave::Change;

fn change(at: usize, new: &str) -> Change {
    Change { lines: at..at + 1, new: vec![line(new)] }
}

#[test]
fn a_log_line_has_the_13_fields_of_the_specification_in_its_order() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "src/a.rs"), "one\ntwo\n");
    let (before, path) = (live.hash(), live.name.to_string());
    let edit = live.edit("0b1c", "conv_1", &[change(1, "2")], false).unwrap();
    let after = edit.hash_after.unwrap();
    store.session(&NoFiles).unwrap().append(&live.draft(Some(edit))).unwrap();
    let log = std::fs::read_to_string(history(folder.path(), "logs/conv_1.log")).unwrap();
    let entry: LogEntry<'_> = serde_json::from_str(&log).unwrap();
    let (time, checkpoint) = (entry.timestamp.to_string(), entry.checkpoint_file.unwrap().to_string());
    let expected = format!(
        "{{\"edit_id\":\"0b1c\",\"conversation_id\":\"conv_1\",\"tool_call_index\":0,\"timestamp\":\"{time}\",\"operation\":\"edit\",\
         \"file_path\":\"{path}\",\"source_path\":null,\"tool_name\":\"edit_text_file\",\"status\":\"pending\" ,\
         \"diff_file\":\"diffs/conv_1/0b1c.diff\",\"checkpoint_file\":\"{checkpoint}\",\"hash_before\":\"{before}\",\
         \"hash_after\":\"{after}\"}}\n"
    );
    assert_eq!(log, expected);
    assert!(time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    assert!(checkpoint.starts_with("checkpoints/conv_1/src_a.rs-"), "{checkpoint}");
    assert_eq!(std::fs::read(history(folder.path(), &checkpoint)).unwrap(), b"one\ntwo\n");
    let diff = std::fs::read_to_string(history(folder.path(), "diffs/conv_1/0b1c.diff")).unwrap();
    assert_eq!(diff, "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
}

#[test]
fn a_history_that_is_moved_is_still_that_of_its_files() {
    let around = common::folder();
    let (old, new) = (around.path().join("old"), around.path().join("new"));
    std::fs::create_dir(&old).unwrap();
    let mut live = Live::new(name_in(&old, "a.txt"), "one\n");
    let edit = live.edit("e", "conv", &[change(0, "1")], false);
    Store::new(&old, "a process").session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    std::fs::rename(&old, &new).unwrap();
    live.name = name_in(&new, "a.txt");
    let store = Store::new(&new, "a process");
    assert_recorded(&store, &live);
    assert_eq!(store.damage().unwrap(), Vec::new());
}

/// How many bytes are written to logs where they stand, and how often one takes the place of another.
#[derive(Default)]
struct LogWrites {
    bytes: AtomicUsize,
    renames: AtomicUsize,
}

impl LogWrites {
    fn take(&self) -> (usize, usize) {
        (self.bytes.swap(0, Ordering::SeqCst), self.renames.swap(0, Ordering::SeqCst))
    }
}

impl Probe for LogWrites {
    fn step(&self, step: Step, path: &str) -> Allow {
        match step {
            Step::Write(bytes) if path.starts_with("logs/") => self.bytes.fetch_add(bytes, Ordering::SeqCst),
            Step::Rename if path.starts_with("logs/") => self.renames.fetch_add(1, Ordering::SeqCst),
            _ => 0,
        };
        Allow::All
    }
}

/// Edits of a conversation, so many that its log is not read in one piece.
const EDITS: usize = 300;

#[test]
fn a_decision_changes_no_more_of_a_log_than_a_status() {
    for seed in seeds(3) {
        let _replays = Replays(seed);
        decide_at_random(&mut Rng::new(seed));
    }
}

fn decide_at_random(rng: &mut Rng) {
    let folder = common::folder();
    let writes = Arc::new(LogWrites::default());
    let store = Store::new(folder.path(), "a process").with_probe(writes.clone());
    // The lines of a log have many lengths.
    let names = ["a.txt".to_owned(), format!("{}b.txt", "long/".repeat(100))];
    let mut documents =
        names.map(|name| Live::new(name_in(folder.path(), &name), &"line\n".repeat(2 * EDITS)));
    for at in 0..EDITS {
        let live = &mut documents[at % 2];
        // Two hunks each.
        let edit = live.edit(&format!("e{at}"), "conv", &[change(at, "1"), change(at + EDITS, "2")], false);
        store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    }
    let decide = |live: &mut Live, hunk: usize, decision| {
        let (decisions, locations) = live.decide(hunk, decision, None);
        writes.take();
        let draft = Draft { decisions, locations, ..live.draft(None) };
        store.session(&NoFiles).unwrap().append(&draft).unwrap();
        writes.take()
    };
    let mut statuses = ["pending"; EDITS];
    for _ in 0..60 {
        let at = rng.below(EDITS);
        let (live, hunk) = (&mut documents[at % 2], at / 2 * 2);
        if statuses[at] == "pending" {
            let half = decide(live, hunk, Decision::Accepted);
            assert_eq!(half, (0, 0), "one of two hunks is undecided: the status is what it was");
        }
        let decision = if rng.chance(50) { Decision::Accepted } else { Decision::Rejected };
        decide(live, hunk, decision);
        let (bytes, renames) = decide(live, hunk + 1, decision);
        assert!(bytes <= "rejected\"".len(), "{bytes}");
        assert_eq!(renames, 0);
        statuses[at] = if decision == Decision::Accepted { "accepted" } else { "rejected" };
    }
    let told = |store: &Store| -> Vec<&str> {
        let entries = store.list(None, 0, |_| true).unwrap().entries;
        entries.iter().rev().map(|entry| entry.status.as_str()).collect()
    };
    assert_eq!(told(&store), statuses);
    assert_eq!(store.session(&NoFiles).unwrap().check().unwrap(), [""; 0], "and all else is as it was");

    // As it was written when statuses had no more room than they need.
    let log = history(folder.path(), "logs/conv.log");
    std::fs::write(&log, std::fs::read_to_string(&log).unwrap().replace("\" ,", "\",")).unwrap();
    let at = statuses.iter().position(|status| *status == "pending").unwrap();
    let (live, hunk) = (&mut documents[at % 2], at / 2 * 2);
    decide(live, hunk, Decision::Accepted);
    assert_eq!(decide(live, hunk + 1, Decision::Accepted), (0, 1), "the whole log");
    statuses[at] = "accepted";
    assert_eq!(told(&store), statuses);
}

#[derive(Default)]
struct Counts {
    syncs: AtomicUsize,
}

impl Probe for Counts {
    fn step(&self, step: Step, _: &str) -> Allow {
        self.syncs.fetch_add(usize::from(step == Step::Sync), Ordering::SeqCst);
        Allow::All
    }
}

#[test]
fn an_append_costs_one_sync() {
    let folder = common::folder();
    let counts = Arc::new(Counts::default());
    let store = Store::new(folder.path(), "a process").with_probe(counts.clone());
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\n");
    let edit = live.edit("e0", "conv", &[change(0, "1")], false);
    store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    for at in 1..4 {
        let edit = live.edit(&format!("e{at}"), "conv", &[change(1, "2")], false);
        counts.syncs.store(0, Ordering::SeqCst);
        let mut session = store.session(&NoFiles).unwrap();
        session.append(&live.draft(edit)).unwrap();
        session
            .append(&Draft {
                owner: Some(OwnerChange::Claimed("sidecar".into())),
                ..Draft::about(live.name.clone())
            })
            .unwrap();
        drop(session);
        // The diff's name is not synced, as all that is derived.
        assert_eq!(counts.syncs.load(Ordering::SeqCst), 2, "edit {at}");
    }
    assert_eq!(store.document(&live.name).unwrap().owner.as_deref(), Some("sidecar"));
}

#[test]
fn deltas_that_outweigh_the_file_become_a_base() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\n");
    let mut session = store.session(&NoFiles).unwrap();
    for round in 0..400 {
        live.type_line(0, &format!("{}\n", "x".repeat(500 + round % 7)));
        if round % 3 == 0 {
            let end = hashline_text::Position::new(1, 0);
            live.type_at(hashline_text::Span::new(hashline_text::Position::new(0, 0), end), "");
        }
        session.append(&live.draft(None)).unwrap();
    }
    drop(session);
    let store = Store::new(folder.path(), "another");
    assert_recorded(&store, &live);
    let bases = files(folder.path())
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "chkpt"))
        .count();
    assert!((2..12).contains(&bases), "{bases}");
}

#[test]
fn a_file_keeps_its_history_through_a_chain_of_moves() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "0.txt"), "one\n");
    let file = store.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap().file;
    for at in 1..4 {
        let (from, to) = (live.name.clone(), name_in(folder.path(), &format!("{at}.txt")));
        let mut edit = live.edit(&format!("m{at}"), "conv", &[change(0, "x")], false).unwrap();
        // A move has a file hunk and nothing else: the edit of the lines is another tool's.
        live.weave.unrecord(&[edit.hunks[0].id.unwrap()]);
        live.hunks.pop();
        edit.hunks = vec![NewHunk { number: 1, id: None, line: 0 }];
        edit.operation = Operation::Move;
        edit.tool = "move_file".into();
        edit.hash_after = edit.hash_before;
        edit.file = Some(FileChange { name: Some((from.clone(), to.clone())), ..FileChange::default() });
        let hunk = hashline_history::HunkRef { edit: edit.id.clone(), number: 1 };
        live.name = to;
        let locations = vec![Located { hunk, location: Location::Disk }];
        let draft = Draft { file: Subject::File(file), locations, ..live.draft(Some(edit)) };
        assert_eq!(store.session(&NoFiles).unwrap().append(&draft).unwrap().file, file);
        assert!(store.document(&from).is_err(), "the old name is free");
        // Another file takes it.
        let other = Live::new(from.clone(), "other\n");
        let other = store.session(&NoFiles).unwrap().append(&other.draft(None)).unwrap().file;
        assert_ne!(other, file);
        assert_eq!(store.document(&from).unwrap().file, other);
    }
    let document = store.document(&live.name).unwrap();
    assert_eq!((document.file, document.edits.len()), (file, 3));
    let entries = store.list(None, 1, |_| true).unwrap().entries;
    assert_eq!(entries[0].file_path, live.name.to_text());
    assert!(entries[0].source_path.as_ref().unwrap().ends_with("/2.txt"));
    assert_eq!((entries[0].operation, &entries[0].diff_file), (Operation::Move, &None));
    let then = store.file_as_of(file, document.edits[0].sequence).unwrap();
    assert_eq!(then.name, name_in(folder.path(), "1.txt"));
}

#[test]
fn bytes_that_are_no_text_are_kept_as_they_are() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let name = name_in(folder.path(), "a.bin");
    let bytes = b"\xff\xfe\0\r\n\x80";
    let edit = {
        let mut live = Live::new(name.clone(), "x\n");
        let mut edit = live.edit("d", "conv", &[change(0, "y")], false).unwrap();
        edit.hunks = vec![NewHunk { number: 1, id: None, line: 0 }];
        edit.operation = Operation::Delete;
        (edit.hash_before, edit.hash_after) = (Some(FileHash::of(bytes)), None);
        edit.file = Some(FileChange { exists: Some((true, false)), mode: None, name: None });
        edit
    };
    let registers = Registers { exists: false, mode: Some(0o755) };
    let draft = Draft {
        now: Some(Now::Bytes(bytes)),
        edit: Some(edit),
        registers: Some(registers),
        ..Draft::about(name.clone())
    };
    store.session(&NoFiles).unwrap().append(&draft).unwrap();
    let document = Store::new(folder.path(), "another").document(&name).unwrap();
    assert_eq!(document.registers, registers);
    match &document.content {
        Content::Bytes { bytes: found, hash } => {
            assert_eq!((&found[..], *hash), (&bytes[..], FileHash::of(bytes)));
        }
        other => panic!("{other:?}"),
    }
    let entry = store.list(None, 0, |_| true).unwrap().entries.remove(0);
    assert_eq!((entry.hash_after, entry.diff_file), (None, None));
    let checkpoint = entry.checkpoint_file.unwrap();
    assert_eq!(std::fs::read(history(folder.path(), &checkpoint)).unwrap(), bytes);
    assert_eq!(store.session(&NoFiles).unwrap().check().unwrap(), Vec::<String>::new());
}
