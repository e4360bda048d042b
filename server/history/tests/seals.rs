//! A history belongs to a user: what others wrote is nothing until a person adopts it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::path::{Path, PathBuf};

use common::*;
use hashline_history::{ConversationId, Decision, Draft, Forget, Signer, Store, StoreError};
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
