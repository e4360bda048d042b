//! A history belongs to a user: what others wrote is nothing until a person adopts it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::*;
use hashline_history::{
    Allow, ConversationId, Decision, Draft, Forget, Probe, Signer, Step, Store, StoreError,
};
use hashline_weave::Change;

/// The user of this key.
fn user(key: u8) -> Signer {
    Signer::new(move || Ok(vec![key; 32]))
}

fn store_of(folder: &Path, key: u8) -> Store {
    Store::new(folder, "a process").signed_by(user(key))
}

/// Records one more edit of a document.
fn record(store: &Store, live: &mut Live, id: &str) -> Result<(), StoreError> {
    let change = Change { lines: 0..1, new: vec![line(id)] };
    let edit = live.edit(id, "conv", &[change], false);
    let mut session = store.session(&NoFiles)?;
    session.append(&live.draft(edit))?;
    assert_eq!(session.finish(), [""; 0]);
    Ok(())
}

fn document(folder: &Path) -> Live {
    Live::new(name_in(folder, "a.txt"), "one\ntwo\n")
}

fn record_of(folder: &Path) -> PathBuf {
    folder.join(".mcp/edit_history/decisions.log")
}

fn assert_foreign(store: &Store) {
    assert!(matches!(store.check_owner(), Err(StoreError::Foreign { .. })));
    assert!(store.documents().unwrap().is_empty() && store.find("").unwrap().is_empty());
    assert_eq!(store.list(None, 0, |_| true).unwrap().total, 0);
    assert_eq!(store.diff(&ConversationId::from("conv"), &"first".into()).unwrap(), None);
    let before = std::fs::read(record_of(store.folder())).unwrap();
    assert!(matches!(store.session(&NoFiles), Err(StoreError::Foreign { .. })));
    assert_eq!(std::fs::read(record_of(store.folder())).unwrap(), before, "nothing is written to it");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_history_is_its_users_wherever_it_is_taken() {
    let folder = common::folder();
    let mut live = document(folder.path());
    let store = store_of(folder.path(), 1);
    record(&store, &mut live, "first").unwrap();
    record(&store_of(folder.path(), 1), &mut live, "second").unwrap();
    assert_eq!(store.find("").unwrap().len(), 2, "another process of the user");
    assert_foreign(&store_of(folder.path(), 2));

    let elsewhere = common::folder();
    copy(&folder.path().join(".mcp"), &elsewhere.path().join(".mcp"));
    let moved = store_of(elsewhere.path(), 1);
    assert_eq!(moved.find("").unwrap().len(), 2);
    live.name = name_in(elsewhere.path(), "a.txt");
    record(&moved, &mut live, "third").unwrap();
    assert!(moved.damage().unwrap().is_empty());
    assert_foreign(&store_of(elsewhere.path(), 2));
}

#[test]
fn a_record_that_is_put_over_ones_own_is_foreign_to_a_process_that_has_read_that() {
    let (own, theirs) = (common::folder(), common::folder());
    let store = store_of(own.path(), 1);
    record(&store, &mut document(own.path()), "mine").unwrap();
    assert_eq!(store.find("").unwrap().len(), 1);
    record(&store_of(theirs.path(), 2), &mut document(theirs.path()), "first").unwrap();
    // As git does with a file that is ignored.
    std::fs::remove_file(record_of(own.path())).unwrap();
    std::fs::copy(record_of(theirs.path()), record_of(own.path())).unwrap();
    assert_foreign(&store);
}

#[test]
fn a_line_without_its_seal_is_left_out() {
    let (folder, other) = (common::folder(), common::folder());
    let (store, mut live) = (store_of(folder.path(), 1), document(folder.path()));
    record(&store, &mut live, "mine").unwrap();
    // Lines of the same user from another record, of another user, and of nobody.
    record(&store_of(other.path(), 1), &mut document(other.path()), "elsewhere").unwrap();
    let theirs = std::fs::read_to_string(record_of(other.path())).unwrap();
    let forged = theirs.lines().nth(1).unwrap().replace("\"seq\":1", "\"seq\":2");
    for line in [theirs.lines().nth(1).unwrap(), &forged, "{\"seq\":2}"] {
        let own = std::fs::read_to_string(record_of(folder.path())).unwrap();
        std::fs::write(record_of(folder.path()), format!("{own}{line}\n")).unwrap();
        let again = store_of(folder.path(), 1);
        assert_eq!(again.find("").unwrap().len(), 1);
        let damage = again.damage().unwrap();
        assert!(damage.last().unwrap().why.contains("seal"), "{damage:?}");
    }
    record(&store_of(folder.path(), 1), &mut live, "more").unwrap();
    assert_eq!(store_of(folder.path(), 1).find("").unwrap().len(), 2);
}

#[test]
fn a_header_holds_for_its_own_lines_alone() {
    let (own, other, theirs) = (common::folder(), common::folder(), common::folder());
    let store = store_of(own.path(), 1);
    record(&store, &mut document(own.path()), "mine").unwrap();
    record(&store_of(other.path(), 1), &mut document(other.path()), "elsewhere").unwrap();
    record(&store_of(theirs.path(), 2), &mut document(theirs.path()), "first").unwrap();
    let parts = |folder: &Path| {
        let text = std::fs::read_to_string(record_of(folder)).unwrap();
        let (header, lines) = text.split_once('\n').unwrap();
        (format!("{header}\n"), lines.to_owned())
    };
    let ((mine, lines), (elsewhere, _)) = (parts(own.path()), parts(other.path()));
    let (first, others) = parts(theirs.path());

    std::fs::write(record_of(own.path()), format!("{elsewhere}{lines}")).unwrap();
    let swapped = store_of(own.path(), 1);
    swapped.check_owner().unwrap();
    assert!(swapped.find("").unwrap().is_empty() && swapped.documents().unwrap().is_empty());
    assert_eq!(swapped.damage().unwrap().len(), 1);

    for header in [&first, "", "{}\n", &mine.replace("\"version\":1", "\"version\":2")] {
        assert_ne!(*header, mine);
        std::fs::write(record_of(own.path()), format!("{header}{lines}")).unwrap();
        assert_foreign(&store_of(own.path(), 1));
    }
    std::fs::write(record_of(own.path()), format!("{mine}{others}")).unwrap();
    assert!(store_of(own.path(), 1).find("").unwrap().is_empty());
    std::fs::write(record_of(own.path()), format!("{mine}{lines}")).unwrap();
    assert_eq!(store_of(own.path(), 1).find("").unwrap().len(), 1);
}

#[test]
fn a_line_that_is_cut_is_left_out() {
    let folder = common::folder();
    let (store, mut live) = (store_of(folder.path(), 1), document(folder.path()));
    record(&store, &mut live, "first").unwrap();
    record(&store, &mut live, "second").unwrap();
    let whole = std::fs::read(record_of(folder.path())).unwrap();
    let begin = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let left = |record: &[u8]| {
        std::fs::write(record_of(folder.path()), record).unwrap();
        let store = store_of(folder.path(), 1);
        let edits: Vec<_> = store.find("").unwrap().into_iter().map(|found| found.edit.to_string()).collect();
        (edits, store.damage().unwrap().len())
    };
    let first = || vec!["first".to_owned()];
    for end in begin..whole.len() - 1 {
        assert_eq!(left(&whole[..end]), (first(), 0), "half a line, cut at byte {end}");
        if end > begin {
            assert_eq!(left(&[&whole[..end], b"\n"].concat()), (first(), 1), "a line, cut at byte {end}");
        }
    }
    let seal = whole.len() - br#","seal":"0123456789abcdef0123456789abcdef"}"#.len() - 1;
    assert_eq!(left(&[&whole[..seal], b"}\n"].concat()), (first(), 1), "all but its seal");
    assert_eq!(left(&whole), (vec!["first".to_owned(), "second".to_owned()], 0));
}

#[test]
fn what_others_wrote_says_nothing_of_its_version() {
    let folder = common::folder();
    record(&store_of(folder.path(), 2), &mut document(folder.path()), "first").unwrap();
    let newer = std::fs::read_to_string(record_of(folder.path())).unwrap();
    std::fs::write(record_of(folder.path()), newer.replacen("\"version\":1", "\"version\":99", 1)).unwrap();
    let store = store_of(folder.path(), 1);
    assert_foreign(&store);
    assert!(matches!(store.adopt(store.glance()), Err(StoreError::WrongVersion { found: 99, .. })));
    store.set_aside().unwrap();
    record(&store, &mut document(folder.path()), "mine").unwrap();
}

#[test]
fn logs_that_come_without_a_record_are_not_listed() {
    let (own, theirs) = (common::folder(), common::folder());
    record(&store_of(theirs.path(), 2), &mut document(theirs.path()), "first").unwrap();
    copy(&theirs.path().join(".mcp"), &own.path().join(".mcp"));
    std::fs::remove_file(record_of(own.path())).unwrap();
    let store = store_of(own.path(), 1);
    store.check_owner().unwrap();
    let mut live = document(own.path());
    let edit = live.edit("mine", "another", &[Change { lines: 0..1, new: vec![line("x")] }], false);
    store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    let listing = store.list(None, 0, |_| true).unwrap();
    assert_eq!(listing.entries.iter().map(|entry| &*entry.edit_id).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn what_is_adopted_is_ones_own_as_it_was_shown() {
    let folder = common::folder();
    let (theirs, mut live) = (store_of(folder.path(), 2), document(folder.path()));
    record(&theirs, &mut live, "first").unwrap();
    record(&theirs, &mut live, "second").unwrap();
    let store = store_of(folder.path(), 1);
    let shown = store.glance();
    assert_eq!(store.unbelieved().find("").unwrap().len(), 2);
    record(&theirs, &mut live, "third").unwrap();
    assert!(matches!(store.adopt(shown), Err(StoreError::Changed { .. })));
    assert_foreign(&store);

    store.adopt(store.glance()).unwrap();
    store.check_owner().unwrap();
    assert_eq!(store.find("").unwrap().len(), 3);
    assert_recorded(&store, &live);
    record(&store, &mut live, "fourth").unwrap();
    assert!(store.damage().unwrap().is_empty());
    assert_foreign(&theirs);
}

#[test]
fn a_log_that_comes_beside_ones_own_record_is_not_listed() {
    let folder = common::folder();
    let store = store_of(folder.path(), 1);
    record(&store, &mut document(folder.path()), "mine").unwrap();
    let logs = folder.path().join(".mcp/edit_history/logs");
    let own = std::fs::read_to_string(logs.join("conv.log")).unwrap();
    std::fs::write(logs.join("more.log"), own.replace("mine", "more").replace("\"conv\"", "\"more\""))
        .unwrap();
    let forged = own.replace("\"mine\"", "\"forged\"");
    std::fs::write(logs.join("conv.log"), format!("{own}{forged}")).unwrap();
    let listed = |store: &Store| {
        let listing = store.list(None, 0, |_| true).unwrap();
        assert_eq!((listing.entries.len(), listing.matching), (listing.total, listing.total));
        let mut ids: Vec<_> = listing.entries.iter().map(|entry| entry.edit_id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(listed(&store_of(folder.path(), 1)), ["mine"]);
    assert_eq!(listed(&store.unbelieved()), ["forged", "mine", "more"], "they are there");
}

/// Logs cannot be written any more.
struct NoLogs;

impl Probe for NoLogs {
    fn step(&self, _: Step, path: &str) -> Allow {
        if path.starts_with("logs/") { Allow::Fail(std::io::Error::other("full")) } else { Allow::All }
    }
}

/// Records an edit of the second line that no log gets. Returns the store that could not write it there.
fn record_without_log(folder: &Path, live: &mut Live, id: &str) -> Store {
    let store = store_of(folder, 1).with_probe(Arc::new(NoLogs));
    let edit = live.edit(id, "conv", &[Change { lines: 1..2, new: vec![line(id)] }], false);
    store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
    store
}

/// Records that the first edit is rejected.
fn reject_first(store: &Store, live: &mut Live) {
    let (decisions, locations) = live.decide(0, Decision::Rejected, None);
    let draft = Draft { decisions, locations, ..live.draft(None) };
    store.session(&NoFiles).unwrap().append(&draft).unwrap();
}

#[test]
fn what_is_recorded_is_listed_before_the_logs_have_it() {
    let folder = common::folder();
    let (store, mut live) = (store_of(folder.path(), 1), document(folder.path()));
    record(&store, &mut live, "logged").unwrap();
    let behind = record_without_log(folder.path(), &mut live, "late");
    reject_first(&behind, &mut live);
    assert!(behind.is_behind().unwrap());
    let listing = store_of(folder.path(), 1).list(None, 0, |_| true).unwrap();
    let told: Vec<_> = listing.entries.iter().map(|entry| (&*entry.edit_id, entry.status.as_str())).collect();
    assert_eq!(told, [("late", "pending"), ("logged", "rejected")]);
    assert_eq!((listing.matching, listing.total), (2, 2));
    let of_others = store.list(Some(&"another".into()), 0, |_| true).unwrap();
    assert_eq!(of_others.entries, []);

    // Lines that stand twice, and in a log of another conversation.
    let logs = folder.path().join(".mcp/edit_history/logs");
    let own = std::fs::read_to_string(logs.join("conv.log")).unwrap();
    std::fs::write(logs.join("more.log"), own.replace("\"conv\"", "\"more\"")).unwrap();
    std::fs::write(logs.join("conv.log"), own.repeat(2)).unwrap();
    let listing = store_of(folder.path(), 1).list(None, 0, |_| true).unwrap();
    assert_eq!((listing.entries.len(), listing.matching, listing.total), (2, 2, 2));
}

#[test]
fn a_log_that_is_behind_is_not_taken_for_whole() {
    let folder = common::folder();
    let (store, mut live) = (store_of(folder.path(), 1), document(folder.path()));
    record(&store, &mut live, "first").unwrap();
    record_without_log(folder.path(), &mut live, "second");
    // The next one cannot write it either, and decides.
    let only_new = store_of(folder.path(), 1).with_probe(Arc::new(NoNewLogs));
    reject_first(&only_new, &mut live);
    assert!(only_new.is_behind().unwrap());
    let store = store_of(folder.path(), 1);
    drop(store.session(&NoFiles).unwrap());
    assert!(!store.is_behind().unwrap());
    let log = std::fs::read_to_string(folder.path().join(".mcp/edit_history/logs/conv.log")).unwrap();
    assert!(log.lines().count() == 2 && log.contains("rejected"), "{log}");
}

/// Logs can be written where they stand, and not anew.
struct NoNewLogs;

impl Probe for NoNewLogs {
    fn step(&self, step: Step, path: &str) -> Allow {
        match step {
            Step::Rename if path.starts_with("logs/") => Allow::Fail(std::io::Error::other("full")),
            _ => Allow::All,
        }
    }
}

#[test]
fn what_others_made_from_a_record_is_made_anew_when_it_is_adopted() {
    let folder = common::folder();
    let (theirs, mut live) = (store_of(folder.path(), 2), document(folder.path()));
    record(&theirs, &mut live, "first").unwrap();
    let history = folder.path().join(".mcp/edit_history");
    let (log, diff) = (history.join("logs/conv.log"), history.join("diffs/conv/first.diff"));
    let made = (std::fs::read_to_string(&log).unwrap(), std::fs::read_to_string(&diff).unwrap());
    std::fs::write(&log, made.0.replace("pending", "accepted")).unwrap();
    std::fs::write(&diff, made.1.replace("+first", "+harmless")).unwrap();
    std::fs::write(history.join("logs/more.log"), made.0.replace("\"conv\"", "\"more\"")).unwrap();
    std::fs::create_dir(history.join("diffs/more")).unwrap();
    std::fs::write(history.join("diffs/more/more.diff"), &made.1).unwrap();

    let store = store_of(folder.path(), 1);
    store.adopt(store.glance()).unwrap();
    assert_eq!(store.diff(&"conv".into(), &"first".into()).unwrap().as_deref(), Some(&*made.1));
    assert_eq!(store.diff(&"more".into(), &"more".into()).unwrap(), None);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), made.0);
    assert!(!history.join("logs/more.log").exists());
    assert!(!store.is_behind().unwrap());
}

/// Every step from a certain one on fails.
struct Stops {
    left: AtomicUsize,
    stopped: AtomicBool,
}

impl Probe for Stops {
    fn step(&self, _: Step, _: &str) -> Allow {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return Allow::All;
        }
        self.stopped.store(true, Ordering::SeqCst);
        Allow::Fail(std::io::Error::other("stopped"))
    }
}

#[test]
fn a_history_is_adopted_as_a_whole_or_not_at_all() {
    let (mut foreign, mut own) = (0, 0);
    for step in 0.. {
        let folder = common::folder();
        let (theirs, mut live) = (store_of(folder.path(), 2), document(folder.path()));
        record(&theirs, &mut live, "first").unwrap();
        record(&theirs, &mut live, "second").unwrap();
        let stops = Arc::new(Stops { left: AtomicUsize::new(step), stopped: AtomicBool::new(false) });
        let store = store_of(folder.path(), 1).with_probe(stops.clone());
        let adopted = store.adopt(store.glance());
        let again = store_of(folder.path(), 1);
        if again.check_owner().is_ok() {
            own += 1;
            assert_foreign(&theirs);
        } else {
            foreign += 1;
            adopted.unwrap_err();
            assert_foreign(&again);
            assert_eq!(store_of(folder.path(), 2).find("").unwrap().len(), 2, "step {step}");
            again.adopt(again.glance()).unwrap();
        }
        assert_recorded(&again, &live);
        record(&again, &mut live, "third").unwrap();
        assert_eq!(again.list(None, 0, |_| true).unwrap().total, 3, "step {step}");
        assert!(again.diff(&"conv".into(), &"first".into()).unwrap().is_some(), "step {step}");
        if !stops.stopped.load(Ordering::SeqCst) {
            break;
        }
    }
    assert!(foreign > 2 && own > 2, "{foreign} {own}");
}

#[test]
fn git_takes_nothing_of_a_history_along_whatever_came_with_the_folder() {
    let folder = common::folder();
    let ignore = folder.path().join(".mcp/.gitignore");
    std::fs::create_dir(folder.path().join(".mcp")).unwrap();
    let mut live = document(folder.path());
    for (id, came) in [("first", "!*\n"), ("second", "*\n!edit_history\n"), ("third", "*"), ("fourth", "")] {
        std::fs::write(&ignore, came).unwrap();
        record(&store_of(folder.path(), 1), &mut live, id).unwrap();
        assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "*\n", "{came:?}");
    }
}

#[test]
fn what_is_set_aside_leaves_room_for_a_new_history() {
    let folder = common::folder();
    for number in 1..=2 {
        record(&store_of(folder.path(), 2), &mut document(folder.path()), "first").unwrap();
        let store = store_of(folder.path(), 1);
        let theirs = std::fs::read(record_of(folder.path())).unwrap();
        let aside = store.set_aside().unwrap();
        assert_eq!(aside, folder.path().join(format!(".mcp/edit_history.aside-{number}")));
        assert_eq!(std::fs::read(aside.join("decisions.log")).unwrap(), theirs);
        record(&store, &mut document(folder.path()), "mine").unwrap();
        assert_eq!(store.find("").unwrap().len(), 1);
        std::fs::remove_dir_all(folder.path().join(".mcp/edit_history")).unwrap();
    }
}

#[test]
fn a_record_that_is_cleaned_up_is_sealed_anew() {
    let folder = common::folder();
    let (store, mut live) = (store_of(folder.path(), 1), document(folder.path()));
    record(&store, &mut live, "first").unwrap();
    let (decisions, locations) = live.decide(0, Decision::Rejected, None);
    let mut session = store.session(&NoFiles).unwrap();
    session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
    let all = Forget::default();
    assert!(session.cleanup(&all, false, &|_| false).unwrap().iter().any(|cleaned| !cleaned.gone.is_empty()));
    drop(session);
    record(&store, &mut live, "second").unwrap();
    let again = store_of(folder.path(), 1);
    again.check_owner().unwrap();
    assert!(again.damage().unwrap().is_empty());
    assert_foreign(&store_of(folder.path(), 2));
}

#[test]
fn without_a_key_nothing_is_believed_and_nothing_recorded() {
    let folder = common::folder();
    record(&store_of(folder.path(), 1), &mut document(folder.path()), "first").unwrap();
    let locked = || Signer::new(|| Err("it is locked away".to_owned()));
    let store = Store::new(folder.path(), "a process").signed_by(locked());
    assert!(store.documents().unwrap().is_empty());
    let refused = store.session(&NoFiles).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("it is locked away"), "{refused}");
    let new = common::folder();
    let store = Store::new(new.path(), "a process").signed_by(locked());
    assert!(matches!(store.session(&NoFiles), Err(StoreError::NoKey { .. })));
    record(&store_of(new.path(), 1), &mut document(new.path()), "first").unwrap();
}
