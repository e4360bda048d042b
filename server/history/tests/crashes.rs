//! A process may end at any instant, and the disk may fill up at any: nothing is lost that was said to be recorded, and the next
//! session finds everything whole.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use hashline_history::{
    Allow, Appended, Decision, Draft, Effect, FileChange, Forget, LogEntry, Operation, Probe, Registers,
    Status, Step, Store, StoreError,
};
use hashline_text::FileHash;
use hashline_weave::Change;

/// Everything that the next process sees is whole: every line parses, logs and diffs are what the record says.
fn assert_whole(folder: &Path) -> Vec<String> {
    let store = Store::new(folder, "the next process");
    let mut session = store.session(&RealFiles).unwrap();
    let repairs = session.repairs().to_vec();
    // What was never finished and never named takes up room, and no more.
    let mut checked = session.check().unwrap();
    checked.retain(|said| {
        !said.contains("/.new-") && !said.starts_with(".new-") && !said.starts_with("checkpoints/")
    });
    assert_eq!(checked, Vec::<String>::new(), "recovery has left something to do");
    drop(session);
    assert_eq!(store.damage().unwrap(), Vec::new());
    for (path, bytes) in files(folder) {
        let text = String::from_utf8(bytes).unwrap();
        if path.extension().is_some_and(|end| end == "log") {
            assert!(text.is_empty() || text.ends_with('\n'), "{}", path.display());
            for line in text.lines() {
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
        }
        assert!(!path.file_name().unwrap().to_str().unwrap().starts_with(".new-"), "{}", path.display());
    }
    repairs
}

fn change(at: usize, new: &str) -> Change {
    Change { lines: at..at + 1, new: vec![line(new)] }
}

#[test]
fn a_record_cut_at_any_byte_has_all_that_came_before() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\n");
    let record = history(folder.path(), "decisions.log");
    let mut states = Vec::new();
    for at in 0..4 {
        let edit =
            live.edit(&format!("e{at}"), "conv", &[change(at % 3, &format!("line {at}"))], at % 2 == 0);
        let mut session = store.session(&NoFiles).unwrap();
        session.append(&live.draft(Some(edit.unwrap()))).unwrap();
        let (decisions, locations) = live.decide(at, Decision::Accepted, Some("good"));
        session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
        drop(session);
        states.push((std::fs::metadata(&record).unwrap().len(), live.clone()));
    }
    let whole = std::fs::read(&record).unwrap();
    let before = files(folder.path());
    for cut in (states[1].0 as usize..=whole.len()).rev() {
        std::fs::remove_dir_all(folder.path().join(".mcp")).unwrap();
        for (path, bytes) in &before {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        std::fs::write(&record, &whole[..cut]).unwrap();
        let repairs = assert_whole(folder.path());
        let torn = whole[..cut].last() != Some(&b'\n');
        assert_eq!(repairs.iter().any(|said| said.contains("half a line")), torn, "{cut}: {repairs:?}");
        let (_, then) = states.iter().rev().find(|(len, _)| *len as usize <= cut).unwrap();
        let store = Store::new(folder.path(), "the next process");
        let document = store.document(&live.name).unwrap();
        assert!(document.edits.len() >= then.hunks.len(), "{cut}");
    }
}

/// Lets so many steps happen; then the process is dead, or the disk full for a while.
struct Fails {
    left: AtomicUsize,
    dead: bool,
    part: bool,
    hit: AtomicBool,
}

impl Probe for Fails {
    fn step(&self, step: Step, _: &str) -> Allow {
        let left =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
        match left {
            Ok(0) if self.dead => {
                self.hit.store(true, Ordering::SeqCst);
                Allow::Fail(io::Error::other("dead"))
            }
            Ok(1) => {
                self.hit.store(true, Ordering::SeqCst);
                match step {
                    Step::Write(len) if self.part => Allow::Part(len / 2),
                    _ => Allow::Fail(io::Error::from(io::ErrorKind::StorageFull)),
                }
            }
            _ => Allow::All,
        }
    }
}

/// What a process does: edits, decisions, bases, a cleanup. Returns what it was told is recorded.
fn work(store: &Store, live: &mut Live, round: usize) -> (Vec<Appended>, Option<Live>) {
    let mut told = Vec::new();
    let mut known = None;
    let mut run = |live: &mut Live| -> Result<(), StoreError> {
        for at in 0..3 {
            let mut next = live.clone();
            let name = format!("r{round}e{at}");
            next.type_line(0, &format!("typed {round} {at}\n"));
            let edit = next.edit(&name, &format!("conv{at}"), &[change(1, &format!("line {at}"))], at == 1);
            let mut session = store.session(&NoFiles)?;
            told.push(session.append(&next.draft(edit))?);
            *live = next.clone();
            known = Some(live.clone());
            let last = live.hunks.len() - 1;
            let (decisions, locations) = next.decide(last, Decision::Accepted, None);
            told.push(session.append(&Draft { decisions, locations, ..next.draft(None) })?);
            *live = next;
            known = Some(live.clone());
        }
        store.session(&NoFiles)?.cleanup(
            &Forget { older_than: Duration::from_secs(1000), down_to: None },
            false,
            &|_| true,
        )?;
        Ok(())
    };
    let _ = run(live);
    (told, known)
}

#[test]
fn a_process_that_ends_at_any_step_has_lost_nothing_that_it_was_promised() {
    for (dead, part) in [(true, false), (true, true), (false, false), (false, true)] {
        for steps in 1.. {
            let folder = common::folder();
            let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\ntwo\nthree\n");
            let probe =
                Arc::new(Fails { left: AtomicUsize::new(steps), dead, part, hit: AtomicBool::new(false) });
            let store = Store::new(folder.path(), "a process").with_probe(probe.clone());
            let (told, known) = work(&store, &mut live, 0);
            drop(store);
            assert_whole(folder.path());
            let store = Store::new(folder.path(), "the next process");
            if let Some(known) = known {
                let document = store.document(&known.name).unwrap();
                let last = told.last().unwrap();
                assert!(document.sequence >= last.sequence, "{steps} {dead} {part}");
                let then = store.file_as_of(document.file, last.sequence).unwrap();
                assert_same(&known.weave, then.weave().unwrap());
                // Who ends between writing and syncing has told nobody; who is refused has recorded nothing.
                let beyond = document.sequence.0 - last.sequence.0;
                assert!(beyond <= u64::from(dead), "nothing was recorded that was refused");
            }
            let listing = store.list(None, 0, |_| true).unwrap();
            assert_eq!(listing.damaged, Vec::new());
            let edits = told.iter().filter(|told| told.index.is_some()).count();
            assert!(
                listing.total >= edits && listing.total - edits <= usize::from(dead),
                "{steps} {dead} {part}"
            );
            if !probe.hit.load(Ordering::SeqCst) {
                assert!(steps > 50, "{steps}");
                break;
            }
        }
    }
}

#[test]
fn a_cleanup_that_ends_at_any_step_leaves_the_old_record_or_the_new() {
    for (dead, part) in [(true, false), (true, true), (false, false)] {
        for steps in 1.. {
            let folder = common::folder();
            let store = Store::new(folder.path(), "a process");
            let mut done = Live::new(name_in(folder.path(), "done.txt"), "one\ntwo\nthree\n");
            work(&store, &mut done, 0);
            let mut open = Live::new(name_in(folder.path(), "open.txt"), "one\ntwo\nthree\n");
            work(&store, &mut open, 1);
            let edit = open.edit("last", "conv1", &[change(0, "held")], false);
            store.session(&NoFiles).unwrap().append(&open.draft(edit)).unwrap();
            let before = open.weave.clone();
            std::thread::sleep(Duration::from_millis(2));

            let probe =
                Arc::new(Fails { left: AtomicUsize::new(steps), dead, part, hit: AtomicBool::new(false) });
            let failing = Store::new(folder.path(), "a process").with_probe(probe.clone());
            let cleaned = failing
                .session(&NoFiles)
                .and_then(|mut session| session.cleanup(&Forget::default(), false, &|_| true));
            drop(failing);
            assert_whole(folder.path());
            let store = Store::new(folder.path(), "the next process");
            let document = store.document(&open.name).unwrap();
            assert_same(&before, document.weave().unwrap());
            let edits = document.edits.len();
            assert!(edits == 4 || edits == 1, "{edits}");
            assert_eq!(
                store.document(&done.name).is_err(),
                edits == 1,
                "the record is the old one or the new one"
            );
            if !probe.hit.load(Ordering::SeqCst) {
                assert!(cleaned.is_ok() && edits == 1);
                break;
            }
        }
    }
}

#[test]
fn an_intent_is_done_or_taken_back_as_the_disk_says() {
    for (written, changed) in [(true, false), (false, false), (true, true)] {
        let folder = common::folder();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        let name = name_in(folder.path(), "a.txt");
        let mut live = Live::new(name.clone(), "one\ntwo\n");
        let store = Store::new(folder.path(), "a process");
        let first = live.edit("e0", "conv", &[change(0, "1")], false);
        store.session(&RealFiles).unwrap().append(&live.draft(first)).unwrap();
        let before = live.clone();

        let edit = live.edit("e1", "conv", &[change(1, "2")], true).unwrap();
        assert!(live.weave.in_buffer(hashline_weave::HunkId::from_order(1)));
        let (decisions, locations) = live.decide(0, Decision::Accepted, Some("yes"));
        let effect = Effect { name: name.clone(), before: Some(before.hash()), after: Some(live.hash()) };
        let mut session = store.session(&RealFiles).unwrap();
        let draft = Draft { intent: vec![effect], decisions, locations, ..live.draft(Some(edit)) };
        session.append(&draft).unwrap();
        let refused = session.append(&live.draft(None));
        assert!(matches!(refused, Err(StoreError::Unfinished { .. })), "{refused:?}");
        drop(session);
        if written {
            std::fs::write(&path, live.form.to_bytes(live.weave.buffer())).unwrap();
        }
        if changed {
            std::fs::write(&path, "something else\n").unwrap();
        }

        let store = Store::new(folder.path(), "the next process");
        let session = store.session(&RealFiles).unwrap();
        assert_eq!(session.repairs().len(), 1, "{:?}", session.repairs());
        drop(session);
        assert_eq!(assert_whole(folder.path()), Vec::<String>::new());
        let document = store.document(&name).unwrap();
        assert!(document.intent.is_none());
        let status = |edit: &str| document.edit(&edit.into()).unwrap().status();
        if written {
            assert_same(&live.weave, document.weave().unwrap());
            assert_eq!((status("e0"), status("e1")), (Status::Accepted, Status::Pending));
            let now = FileHash::of(&std::fs::read(&path).unwrap());
            // Of what something else has written it is not known what of the edits is in it.
            assert_eq!(document.saved, (!changed).then_some(now));
        } else {
            assert_same(&before.weave, document.weave().unwrap());
            assert_eq!((status("e0"), status("e1")), (Status::Pending, Status::Rejected));
            assert_eq!(document.edit(&"e1".into()).unwrap().hunks[0].decision, Decision::Withdrawn);
            // And life goes on from there.
            let mut live = before.clone();
            let edit = live.edit("e2", "conv", &[change(1, "zwei")], false);
            store.session(&RealFiles).unwrap().append(&live.draft(edit)).unwrap();
            assert_same(&live.weave, store.document(&name).unwrap().weave().unwrap());
        }
    }
}

#[test]
fn a_file_that_was_to_be_made_first_is_made_or_never_was() {
    for written in [true, false] {
        let folder = common::folder();
        let name = name_in(folder.path(), "new.txt");
        let mut live = Live::new(name.clone(), "");
        let mut edit =
            live.edit("e0", "conv", &[Change { lines: 0..0, new: vec![line("new")] }], true).unwrap();
        edit.operation = Operation::Create;
        edit.hash_before = None;
        edit.file = Some(FileChange { exists: Some((false, true)), ..FileChange::default() });
        edit.hunks[0].number = 2;
        edit.hunks.insert(0, hashline_history::NewHunk { number: 1, id: None, line: 0 });
        let effect = Effect { name: name.clone(), before: None, after: Some(live.hash()) };
        let store = Store::new(folder.path(), "a process");
        let draft = Draft {
            intent: vec![effect],
            registers: Some(Registers { exists: true, mode: Some(0o644) }),
            ..live.draft(Some(edit))
        };
        store.session(&RealFiles).unwrap().append(&draft).unwrap();
        if written {
            std::fs::write(folder.path().join("new.txt"), "new\n").unwrap();
        }
        let store = Store::new(folder.path(), "the next process");
        drop(store.session(&RealFiles).unwrap());
        assert_whole(folder.path());
        let document = store.document(&name).unwrap();
        assert_eq!(document.registers.exists, written);
        let text = document.weave().unwrap().buffer().to_string();
        assert_eq!(text, if written { "new\n" } else { "" });
        let log = std::fs::read(history(folder.path(), "logs/conv.log")).unwrap();
        let entry: LogEntry<'_> = serde_json::from_slice(&log).unwrap();
        assert_eq!(entry.status, if written { Status::Pending } else { Status::Rejected });
        assert_eq!((entry.checkpoint_file, entry.hash_before), (None, None));
        let diff = store.diff(&"conv".into(), &"e0".into()).unwrap().unwrap();
        assert_eq!(diff, "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n");
    }
}
