//! Several files become others at once: whatever ends the process, and whenever, the next session finds the tree before or the tree after, and
//! says which.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../common/mod.rs"]
mod common;
mod desk;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use desk::{Desk, WANTED, Writable, tree};
use hashline_history::{
    Allow, Change as FileChange, Decision, Draft, Effect, FileId, FilesNow, Forget, Held, Located, Location,
    Probe, Sequence, Step, Store, Subject, Switched,
};
use hashline_text::FileHash;
use hashline_weave::Change;

/// Lets so many steps happen; then the process is dead, or one step fails.
struct Fails {
    left: AtomicUsize,
    dead: bool,
    part: bool,
    hit: AtomicBool,
}

impl Fails {
    fn at(steps: usize, dead: bool, part: bool) -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(steps), dead, part, hit: AtomicBool::new(false) })
    }
}

impl Probe for Fails {
    fn step(&self, step: Step, _: &str) -> Allow {
        let left =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
        let fails = match left {
            Ok(0) => self.dead,
            Ok(1) => true,
            _ => false,
        };
        if !fails {
            return Allow::All;
        }
        let first = !self.hit.swap(true, Ordering::SeqCst);
        match step {
            Step::Write(len) if self.part && first => Allow::Part(len / 2),
            _ => Allow::Fail(io::Error::other("stopped")),
        }
    }
}

#[test]
fn a_switch_is_the_tree_before_and_then_the_tree_after() {
    let desk = Desk::new();
    assert_eq!(tree(desk.path()), desk.before());
    assert!(!desk.recorded());
    let version = |record: Vec<u8>| {
        serde_json::from_slice::<serde_json::Value>(record.split(|byte| *byte == b'\n').next().unwrap())
            .unwrap()["version"]
            .clone()
    };
    assert_eq!(version(desk.record()), 1);
    let store = Store::new(desk.path(), "a process");
    // Another process that has the record open sees that it is another one.
    let other = Store::new(desk.path(), "another");
    assert_eq!(other.documents().unwrap().len(), WANTED.len());
    let switched = desk.switch(&store, &Writable).unwrap();
    assert!(matches!(&switched, Switched::Done(all) if all.len() == WANTED.len()), "{switched:?}");
    assert_eq!(tree(desk.path()), desk.after());
    assert!(desk.recorded());
    assert_eq!(version(desk.record()), 2);
    assert_eq!(other.document(&name_in(desk.path(), "a")).unwrap().file, desk.files[1].0);
    assert_eq!(desk.next(), Vec::<String>::new());
}

#[test]
fn a_process_that_ends_at_any_step_leaves_the_tree_before_or_after_it() {
    let (mut cases, mut before, mut after, mut finished) = (0, 0, 0, 0);
    for part in [false, true] {
        for steps in 1.. {
            let desk = Desk::new();
            let probe = Fails::at(steps, true, part);
            let _ = desk.switch(&Store::new(desk.path(), "a process").with_probe(probe.clone()), &Writable);
            let said = desk.next();
            let now = tree(desk.path());
            if desk.recorded() {
                assert_eq!(now, desk.after(), "{steps} {part}: {said:?}");
                after += 1;
            } else {
                assert_eq!(now, desk.before(), "{steps} {part}: {said:?}");
                before += 1;
            }
            if said.iter().any(|said| said == "A decision about 11 files was not finished before its process ended; it is finished now.") {
                finished += 1;
            }
            cases += 1;
            if !probe.hit.load(Ordering::SeqCst) {
                break;
            }
        }
    }
    println!("{cases} ends: {before} before, {after} after, {finished} of them finished by the next");
    assert!(before > 10 && after > 20 && finished > 15, "{before} {after} {finished}");
}

/// The one who finishes it may end as well.
#[test]
fn whoever_finishes_it_may_end_at_any_step() {
    for first in 1.. {
        let desk = Desk::new();
        let probe = Fails::at(first, true, false);
        let _ = desk.switch(&Store::new(desk.path(), "a process").with_probe(probe.clone()), &Writable);
        if !probe.hit.load(Ordering::SeqCst) {
            break;
        }
        for second in 1.. {
            let probe = Fails::at(second, true, false);
            let _ = Store::new(desk.path(), "the next").with_probe(probe.clone()).session(&Writable);
            if !probe.hit.load(Ordering::SeqCst) {
                break;
            }
        }
        desk.next();
        let now = tree(desk.path());
        assert_eq!(now, if desk.recorded() { desk.after() } else { desk.before() }, "{first}");
    }
}

#[test]
fn what_cannot_be_done_is_taken_back() {
    let mut taken_back = 0;
    for part in [false, true] {
        for steps in 1.. {
            let desk = Desk::new();
            let probe = Fails::at(steps, false, part);
            let done =
                desk.switch(&Store::new(desk.path(), "a process").with_probe(probe.clone()), &Writable);
            match done {
                Ok(Switched::Done(_)) => {
                    assert_eq!(tree(desk.path()), desk.after(), "{steps}");
                }
                Ok(Switched::TakenBack(_)) => {
                    taken_back += 1;
                    assert_eq!(tree(desk.path()), desk.before(), "{steps}");
                    assert!(!desk.recorded(), "{steps}");
                }
                Ok(Switched::Unfinished(why)) => unreachable!("one step failed: {why}"),
                Err(_) => assert_eq!(tree(desk.path()), desk.before(), "{steps}"),
            }
            desk.next();
            assert_eq!(tree(desk.path()), if desk.recorded() { desk.after() } else { desk.before() });
            if !probe.hit.load(Ordering::SeqCst) {
                break;
            }
        }
    }
    assert!(taken_back > 10, "{taken_back}");
}

/// A desk whose process has ended after so many steps of its switch; none if it came to the end.
fn ended_after(steps: usize) -> Option<Desk> {
    let desk = Desk::new();
    let probe = Fails::at(steps, true, false);
    let _ = desk.switch(&Store::new(desk.path(), "a process").with_probe(probe.clone()), &Writable);
    probe.hit.load(Ordering::SeqCst).then_some(desk)
}

#[test]
fn what_somebody_has_changed_since_is_theirs() {
    let mut met = 0;
    for steps in 1.. {
        let Some(desk) = ended_after(steps) else { break };
        let files = tree(desk.path()).len();
        for (at, mine) in (0..files).flat_map(|at| [(at, Some("mine\n")), (at, None)]) {
            let desk = ended_after(steps).unwrap();
            // What is set aside has another name each time.
            let there = tree(desk.path());
            let name = there.keys().nth(at).unwrap();
            let path = desk.path().join(name);
            match mine {
                Some(text) => std::fs::write(path, text).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            }
            let said = desk.next().join("\n");
            let now = tree(desk.path());
            let told = format!("{steps} {name} {mine:?}: {now:?}\n{said}");
            if let Some(text) = mine {
                assert!(now.values().any(|there| there == text), "{told}");
                if !name.starts_with(".hashline-") {
                    assert_eq!(now[name], text, "{told}");
                }
            }
            assert!(desk.documents().iter().all(|document| document.intent.is_none()), "{told}");
            met += usize::from(said.contains("changed"));
            // Of what they did not touch nothing is lost, nor left where nobody looks.
            for at in (0..WANTED.len()).filter(|at| !WANTED[*at].0.is_empty() && *at != 4) {
                let lines = format!("{at} one\n");
                let was = there.get(name).is_some_and(|text| text.starts_with(&lines));
                assert!(was || now.values().any(|text| text.starts_with(&lines)), "{at} of {told}");
            }
            for aside in now.keys().filter(|left| left.starts_with(".hashline-") && now[*left] != "mine\n") {
                assert!(said.contains(aside.as_str()), "{aside} of {told}");
            }
        }
    }
    assert!(met > 20, "{met}");
}

#[test]
fn a_group_that_was_cut_anywhere_was_never_there() {
    let desk = Desk::new();
    let (before, files) = (desk.record(), common::files(desk.path()));
    desk.switch(&Store::new(desk.path(), "a process"), &Writable).unwrap();
    let whole = desk.record();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let begin = lines[WANTED.len()];
    let end = lines[2 * WANTED.len()];
    assert_eq!(begin, before.len());
    for cut in (begin..end).rev().step_by(7).chain(lines[WANTED.len()..2 * WANTED.len()].iter().copied()) {
        std::fs::remove_dir_all(desk.path()).unwrap();
        for (path, bytes) in &files {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        for (name, text) in desk.before() {
            desk::write(desk.path(), &name, &text);
        }
        std::fs::write(history(desk.path(), "decisions.log"), &whole[..cut]).unwrap();
        // Whoever only looks does not see it either.
        assert!(!desk.recorded(), "{cut}");
        let said = desk.next();
        let torn = cut > begin;
        let first = lines.iter().find(|end| **end > begin).unwrap();
        let words = if cut >= *first {
            "A decision about 11 files was not recorded as a whole"
        } else {
            "half a line"
        };
        assert_eq!(said.iter().any(|said| said.contains(words)), torn, "{cut}: {said:?}");
        assert_eq!((tree(desk.path()), desk.recorded()), (desk.before(), false), "{cut}");
        assert_eq!(
            desk.record()[..begin].split(|byte| *byte == b'\n').skip(1).collect::<Vec<_>>(),
            before.split(|byte| *byte == b'\n').skip(1).collect::<Vec<_>>()
        );
        // And life goes on from there.
        desk.switch(&Store::new(desk.path(), "a process"), &Writable).unwrap();
        assert_eq!((tree(desk.path()), desk.recorded()), (desk.after(), true), "{cut}");
    }
}

/// Lines of a group that were forged: nothing falls over, nothing outside is touched, and no line behind them is lost.
#[test]
fn forged_lines_of_a_group_do_no_harm() {
    let outside = common::folder();
    std::fs::write(outside.path().join("victim"), "theirs\n").unwrap();
    let whole = ended_after_record();
    let group: Vec<usize> = (WANTED.len() + 1..=2 * WANTED.len()).collect();
    let away = outside.path().join("victim").display().to_string();
    let changes: Vec<(&str, serde_json::Value)> = vec![
        ("/together/of", 3.into()),
        ("/together/of", 1_000_000_000_000_u64.into()),
        ("/together/of", 0.into()),
        ("/together/from", 0.into()),
        ("/together/from", u64::MAX.into()),
        ("/together", serde_json::Value::Null),
        ("/seq", 1.into()),
        ("/file", 999.into()),
        ("/intent", serde_json::Value::Null),
        ("/intent/0/name/path", "../victim".into()),
        ("/intent/0/name/path", away.into()),
        ("/intent/0/name/path", "a".into()),
        ("/intent/0/name/path", ".mcp/edit_history/decisions.log".into()),
        ("/intent/0/after", FileHash::of(b"other").to_hex().into()),
        ("/intent/0/before", FileHash::of(b"other").to_hex().into()),
        ("/text", FileHash::of(b"other").to_hex().into()),
    ];
    for (pointer, value) in &changes {
        for at in &group {
            let (desk, record) = whole();
            let mut lines: Vec<Vec<u8>> = record.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let mut forged: serde_json::Value = serde_json::from_slice(&lines[*at]).unwrap();
            let Some(member) = forged.pointer_mut(pointer) else { continue };
            member.clone_from(value);
            lines[*at] = serde_json::to_vec(&forged).unwrap();
            std::fs::write(history(desk.path(), "decisions.log"), lines.join(&b'\n')).unwrap();
            let store = Store::new(desk.path(), "the next process");
            let said = store.session(&Confined(desk.path())).map(|session| session.repairs().to_vec());
            let now = tree(desk.path());
            for (name, text) in &now {
                let known =
                    desk.before().into_values().chain(desk.after().into_values()).any(|known| known == *text);
                assert!(known, "{pointer} {at}: {name} is {text:?}; {said:?}");
            }
            for at in (0..WANTED.len()).filter(|at| !WANTED[*at].0.is_empty() && *at != 4) {
                let lines = format!("{at} one\n");
                assert!(
                    now.values().any(|text| text.starts_with(&lines)),
                    "{pointer} {at} is lost: {said:?}"
                );
            }
            // What comes behind is read.
            let mut live = Live::new(name_in(desk.path(), "new"), "x\n");
            let edit = live.edit("later", "conv", &[Change { lines: 0..1, new: vec![line("y")] }], false);
            store.session(&Confined(desk.path())).unwrap().append(&live.draft(edit)).unwrap();
            assert_eq!(Store::new(desk.path(), "x").document(&live.name).unwrap().edits.len(), 1);
            assert_eq!(std::fs::read_to_string(outside.path().join("victim")).unwrap(), "theirs\n");
        }
    }
}

/// Desks whose process has ended right after a switch was recorded, each with that record.
fn ended_after_record() -> impl Fn() -> (Desk, Vec<u8>) {
    let is_recorded =
        |desk: &Desk| desk.record().iter().filter(|byte| **byte == b'\n').count() > WANTED.len() + 1;
    let first = (1..).find(|steps| ended_after(*steps).is_none_or(|desk| is_recorded(&desk))).unwrap();
    move || {
        // The sync has failed; the lines are there, and could not be cut off.
        let desk = ended_after(first).unwrap();
        let record = desk.record();
        assert_eq!(tree(desk.path()), desk.before());
        (desk, record)
    }
}

/// Files of one folder, not of its history.
struct Confined<'a>(&'a Path);

impl FilesNow for Confined<'_> {
    fn hash(&self, path: &Path) -> io::Result<Option<FileHash>> {
        self.check(path)?;
        Writable.hash(path)
    }

    fn change(&self, change: &FileChange<'_>) -> io::Result<Option<Held>> {
        change.paths().try_for_each(|path| self.check(path))?;
        Writable.change(change)
    }
}

impl Confined<'_> {
    fn check(&self, path: &Path) -> io::Result<()> {
        match path.strip_prefix(self.0) {
            Ok(inside) if !inside.starts_with(".mcp") => Ok(()),
            _ => Err(io::Error::other("that is not served")),
        }
    }
}

#[test]
fn a_cleanup_forgets_some_of_a_group_and_keeps_the_rest() {
    let desk = Desk::new();
    let store = Store::new(desk.path(), "a process");
    desk.switch(&store, &Writable).unwrap();
    let mut live = desk.files[5].1.clone();
    live.decide(0, Decision::Accepted, None);
    let edit = live.edit("young", "conv", &[Change { lines: 0..1, new: vec![line("y")] }], false);
    store.session(&Writable).unwrap().append(&live.draft(edit)).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    let forget = Forget { older_than: Duration::ZERO, down_to: None };
    let cleaned = store.session(&Writable).unwrap().cleanup(&forget, false, &|_| false).unwrap();
    assert!(
        cleaned.iter().any(|one| one.kept > 0) && cleaned.iter().any(|one| !one.gone.is_empty()),
        "{cleaned:?}"
    );
    let next = Store::new(desk.path(), "the next process");
    assert_eq!(next.damage().unwrap(), Vec::new());
    assert_eq!(next.session(&Writable).unwrap().repairs(), Vec::<String>::new());
    assert_eq!(next.document(&live.name).unwrap().edits.last().unwrap().made.id, "young".into());
    assert_eq!(tree(desk.path()), desk.after());
}

#[test]
fn drafts_that_cannot_count_together_are_refused() {
    let desk = Desk::new();
    let store = Store::new(desk.path(), "a process");
    let record = desk.record();
    let (file, live) = &desk.files[0];
    let hash = Some(live.hash());
    let effect = |name: &str| Effect { name: name_in(desk.path(), name), before: None, after: hash };
    let draft = |file: FileId, name: &str| Draft {
        file: Subject::File(file),
        intent: vec![effect(name)],
        ..Draft::about(name_in(desk.path(), name))
    };
    let other = desk.files[1].0;
    let mut edited = live.clone();
    let edit = edited.edit("new", "conv", &[Change { lines: 0..1, new: vec![line("y")] }], false);
    for drafts in [
        vec![draft(*file, "x"), draft(other, "x")],
        vec![draft(*file, "x"), draft(*file, "y")],
        vec![draft(*file, "x"), draft(other, "x/y")],
        vec![draft(*file, "x"), Draft { edit, ..draft(other, "y") }],
        vec![draft(*file, "x"), draft(FileId(Sequence(999)), "y")],
        vec![draft(*file, "x"), Draft { since: Some(Sequence(999)), ..draft(other, "y") }],
    ] {
        let refused = store.session(&Writable).unwrap().switch(&drafts, &Writable);
        assert!(refused.is_err(), "{drafts:?}");
        assert_eq!(tree(desk.path()), desk.before());
        assert!(!desk.recorded());
    }
    assert_eq!(desk.record().len(), record.len());
    let nothing = Located { hunk: live.hunks[0].clone(), location: Location::Buffer };
    let unsaid =
        Draft { locations: vec![nothing], file: Subject::File(*file), ..Draft::about(live.name.clone()) };
    assert!(matches!(store.session(&Writable).unwrap().switch(&[unsaid], &Writable), Ok(Switched::Done(_))));
}
