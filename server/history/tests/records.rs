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
         \"file_path\":\"{path}\",\"source_path\":null,\"tool_name\":\"edit_text_file\",\"status\":\"pending\",\
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

#[test]
fn a_log_is_written_anew_only_when_a_status_in_it_changes() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\nfour\n");
    for at in 0..2 {
        let edit =
            live.edit(&format!("e{at}"), &format!("conv{at}"), &[change(0, "1"), change(3, "4")], false);
        store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    }
    let logs = [history(folder.path(), "logs/conv0.log"), history(folder.path(), "logs/conv1.log")];
    let identity = |at: usize| {
        let metadata = std::fs::metadata(&logs[at]).unwrap();
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = metadata.len();
        (inode, metadata.modified().unwrap())
    };
    let decide = |live: &mut Live, at: usize| {
        let (decisions, locations) = live.decide(at, Decision::Accepted, None);
        store.session(&NoFiles).unwrap().append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
    };
    let before = [identity(0), identity(1)];
    decide(&mut live, 0);
    assert_eq!(
        [identity(0), identity(1)],
        before,
        "one of two hunks is undecided: the status is what it was"
    );
    decide(&mut live, 1);
    assert_ne!(identity(0), before[0]);
    assert_eq!(identity(1), before[1]);
    let entries = store.list(None, 0, |_| true).unwrap().entries;
    let statuses: Vec<_> = entries.iter().map(|entry| entry.status.as_str()).collect();
    assert_eq!(statuses, ["pending", "accepted"], "newest first");
    let statuses: Vec<_> = store.find("e").unwrap().iter().map(|found| found.status.as_str()).collect();
    assert_eq!(statuses, ["accepted", "pending"]);
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
