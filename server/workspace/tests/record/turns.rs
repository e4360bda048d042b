//! Another process has the history, or had it in between: what waits for its turn goes on from how things are then.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use hashline_history::{
    Allow, Decided, Decision, DocumentName, Draft, Forget, Location, Probe, Reason, Session, Status, Step,
    Store,
};
use hashline_weave::Conflict;
use hashline_workspace::agent::{EditReply, FileAction, FileRequest, ReviewScope};
use hashline_workspace::disk::DiskError;
use hashline_workspace::document::{Choice, HunkState, Mode, Reports, Request, Target};
use hashline_workspace::{Histories, Refusal, Settings};

use crate::desk::{Desk, Disk, Op, PATIENCE, agent, edit_of, first, request};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n";
const TWO: Op<'static> = Op::Replace(1, 2, "2");
const SEVEN: Op<'static> = Op::Replace(6, 7, "7");

fn desk() -> Desk {
    Desk::new(&[("a.txt", FILE)])
}

/// The history of a desk as another process has it.
fn other(desk: &Desk) -> Store {
    Store::new(desk.folder.path(), "another process")
}

/// Holds up what is being written to some of a history's files.
struct Gate {
    /// What their ways contain.
    before: &'static [&'static str],
    /// Whether it is shut, and whether anybody waits before it.
    state: Mutex<(bool, bool)>,
    opened: Condvar,
}

impl Gate {
    fn before(files: &'static [&'static str]) -> Arc<Self> {
        Arc::new(Self { before: files, state: Mutex::default(), opened: Condvar::default() })
    }

    fn shut(&self) {
        *self.state.lock().unwrap() = (true, false);
    }

    /// Waits until somebody waits before it.
    async fn reached(&self) {
        let waits = async {
            while !self.state.lock().unwrap().1 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.expect("something is written");
    }

    fn open(&self) {
        self.state.lock().unwrap().0 = false;
        self.opened.notify_all();
    }
}

impl Probe for Gate {
    fn step(&self, step: Step, path: &str) -> Allow {
        let mut state = self.state.lock().unwrap();
        let is_held = self.before.iter().any(|part| path.contains(part)) && matches!(step, Step::Write(_));
        while state.0 && is_held {
            state.1 = true;
            state = self.opened.wait(state).unwrap();
        }
        Allow::All
    }
}

/// What another process records: that an edit is rejected.
fn rejects(session: &mut Session, desk: &Desk, edit: &EditReply) {
    let document = DocumentName::Path(desk.path("a.txt"));
    let decisions = vec![Decided { hunk: first(edit), decision: Decision::Rejected, reason: None }];
    session.append(&Draft { decisions, ..Draft::about(document) }).unwrap();
}

/// Waits for a call, and goes on as soon as it waits for something itself: reads come and go meanwhile, and work that is handed to another
/// thread as the call's is.
async fn begun<T>(desk: &Desk, call: &mut (impl Future<Output = T> + Unpin)) {
    let reads = async {
        for _ in 0..5 {
            let _ = desk.try_read("a.txt").await;
            let waits = || std::thread::sleep(std::time::Duration::from_millis(20));
            tokio::task::spawn_blocking(waits).await.unwrap();
        }
    };
    tokio::select! {
        biased;
        _ = call => panic!("it did not wait for its turn"),
        () = reads => {}
    }
}

#[tokio::test]
async fn what_comes_between_a_save_and_its_record_is_not_saved() {
    let mut desk = desk();
    desk.open("a.txt");
    let edit = desk.edit("a.txt", &[TWO]).await;
    desk.settle();
    let store = other(&desk);
    let session = store.session(&Disk).unwrap();
    // The editor saves the text without the edit, and then a code action that it applies itself puts the edit in.
    desk.workspace.did_save(&desk.uri("a.txt"));
    desk.becomes("a.txt", EDITED);
    drop(session);
    desk.settle();
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
    assert!(store.documents().unwrap()[0].unsaved);
    let mut desk = desk.restarted();
    assert_eq!(desk.stored("a.txt"), FILE);
    desk.open("a.txt");
    desk.settle();
    assert_eq!(desk.status("a.txt", &edit), Status::Pending, "the file is without it");
}

#[tokio::test]
async fn an_agent_that_waits_learns_what_another_process_decides() {
    let desk = desk();
    let edit = desk.edit("a.txt", &[TWO]).await;
    let mut elsewhere = Desk::over(desk.folder.clone(), Settings::default(), Histories::of("mcpdiff"));
    elsewhere.settle();
    let scope = ReviewScope { edits: vec![edit.edit.to_string()], own: true, ..ReviewScope::default() };
    let caller = agent("tester");
    let mut waits = Box::pin(desk.workspace.await_review(&caller, &scope, PATIENCE));
    begun(&desk, &mut waits).await;
    assert_eq!(elsewhere.accept(&edit).await, []);
    let review = waits.await.unwrap();
    assert_eq!((review.timed_out, review.edits[0].status), (false, Status::Accepted));
}

#[tokio::test]
async fn a_decision_that_changes_no_text_is_recorded_before_it_is_answered() {
    let gate = Gate::before(&["decisions.log"]);
    let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(gate.clone()));
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    let two = desk.edit("a.txt", &[SEVEN]).await;
    desk.settle();
    let uri = desk.uri("a.txt");
    let reject = request(Choice::Reject, Target::Edit(one.edit.to_string()));
    gate.shut();
    let mut rejected = Box::pin(desk.workspace.decide(Some(&uri), &reject));
    begun(&desk, &mut rejected).await;
    gate.open();
    assert_eq!(rejected.await.refused, []);
    assert_eq!(desk.recorded("a.txt", &one), (Decision::Rejected, Location::None));
    let caller = agent("tester");
    gate.shut();
    let mut withdrawn = Box::pin(desk.workspace.withdraw(&caller, two.edit.as_str()));
    begun(&desk, &mut withdrawn).await;
    gate.open();
    assert!(withdrawn.await.unwrap().is_recorded);
    assert_eq!(desk.recorded("a.txt", &two), (Decision::Withdrawn, Location::None));
}

#[tokio::test]
async fn an_edit_that_waits_for_the_history_holds_up_nobody() {
    let mut desk = desk();
    desk.open("a.txt");
    let read = desk.read("a.txt").await;
    let store = other(&desk);
    let session = store.session(&Disk).unwrap();
    let mut edit = Box::pin(desk.edit_as("tester", None, "a.txt", &read, &[TWO]));
    begun(&desk, &mut edit).await;
    drop(session);
    edit.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_behind_a_removal_is_refused() {
    let desk = desk();
    let read = desk.read("a.txt").await;
    let store = other(&desk);
    let session = store.session(&Disk).unwrap();
    let removal = FileRequest {
        path: desk.path("a.txt").display().to_string(),
        change: FileAction::Delete,
        conversation: None,
        tool: "delete_file".into(),
        reason: None,
    };
    let caller = agent("tester");
    let mut remove = Box::pin(desk.workspace.change_file(&caller, removal));
    begun(&desk, &mut remove).await;
    let mut edit = Box::pin(desk.edit_as("tester", None, "a.txt", &read, &[TWO]));
    begun(&desk, &mut edit).await;
    drop(session);
    let (removed, edited) = tokio::join!(remove, edit);
    removed.unwrap();
    assert!(!desk.path("a.txt").exists());
    assert!(matches!(edited, Err(Refusal::Disk(DiskError::NotFound { .. }))), "{edited:?}");
}

#[tokio::test]
async fn what_is_typed_before_the_record_is_read_is_typing() {
    for closed in [false, true] {
        let mut desk = desk();
        desk.open("a.txt");
        let unsaved = FILE.replace("eight", "8");
        desk.becomes("a.txt", &unsaved);
        let delete = desk.edit("a.txt", &[Op::Delete(3, 4)]).await;
        desk.settle();
        let store = other(&desk);
        let mut desk = desk.restarted();
        desk.workspace.set_reports(Reports::Causes);
        let session = store.session(&Disk).unwrap();
        // The editor comes back with its unsaved work, and the person goes on at once.
        desk.opens("a.txt", &unsaved);
        desk.becomes("a.txt", &unsaved.replace("four\n", ""));
        if closed {
            desk.write("a.txt", unsaved.replace("four\n", ""));
            desk.close("a.txt");
        }
        drop(session);
        desk.settle();
        let by_hand = (HunkState::Conflicted(Conflict::LineRemoved), Decision::Undecided);
        assert_eq!(desk.state(&delete), Some(by_hand), "closed: {closed}");
    }
}

#[tokio::test]
async fn a_rejection_outlives_what_another_process_recorded_before_it() {
    for closed in [true, false] {
        let mut desk = desk();
        desk.open("a.txt");
        let one = desk.edit("a.txt", &[TWO]).await;
        let two = desk.edit("a.txt", &[SEVEN]).await;
        desk.settle();
        let store = other(&desk);
        let mut session = store.session(&Disk).unwrap();
        assert_eq!(desk.reject(&one).await, []);
        if closed {
            desk.close("a.txt");
        }
        rejects(&mut session, &desk, &two);
        let _ = session.finish();
        desk.until("the rejection", |desk| desk.status("a.txt", &one) == Status::Rejected).await;
        assert_eq!(desk.status("a.txt", &two), Status::Rejected, "{closed}");
        let desk = desk.restarted();
        assert_eq!((desk.state(&one), desk.state(&two)), (None, None), "{closed}");
    }
}

#[tokio::test]
async fn an_acceptance_that_another_process_was_quicker_than_is_not_said_to_be_under_way() {
    let mut desk = desk();
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    let two = desk.edit("a.txt", &[SEVEN]).await;
    desk.settle();
    let (uri, store) = (desk.uri("a.txt"), other(&desk));
    let mut session = store.session(&Disk).unwrap();
    let accept = request(Choice::Accept, Target::Edit(one.edit.to_string()));
    let mut accepted = Box::pin(desk.workspace.decide(Some(&uri), &accept));
    begun(&desk, &mut accepted).await;
    rejects(&mut session, &desk, &two);
    let _ = session.finish();
    let decided = accepted.await;
    assert_eq!((decided.queued.len(), decided.refused.len()), (0, 1));
    assert!(decided.refused[0].message.contains("another process was quicker"), "{decided:?}");
    assert!(!desk.deliver("a.txt"));
    assert_eq!(desk.accept(&one).await, []);
    assert_eq!((desk.text("a.txt").as_str(), desk.status("a.txt", &two)), (EDITED, Status::Rejected));
}

/// The document is made anew of the record while the editor is at a delivery.
#[tokio::test]
async fn a_rejection_under_way_goes_on_behind_what_another_process_recorded() {
    for changes_mind in [false, true] {
        let mut desk = desk();
        desk.workspace.set_settings(Settings { open: Mode::Apply, ..Settings::default() });
        desk.open("a.txt");
        let one = desk.edit("a.txt", &[TWO]).await;
        assert!(desk.deliver("a.txt"));
        desk.workspace.set_settings(Settings::default());
        let two = desk.edit("a.txt", &[SEVEN]).await;
        let three = desk.edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
        desk.settle();
        let uri = desk.uri("a.txt");
        let wish = |choice, edit: &EditReply| request(choice, Target::Edit(edit.edit.to_string()));
        assert_eq!(desk.workspace.decide(Some(&uri), &wish(Choice::Reject, &one)).await.refused, []);
        let sent = desk.workspace.poll(&uri).0.unwrap();
        if changes_mind {
            assert_eq!(desk.workspace.decide(Some(&uri), &wish(Choice::Accept, &one)).await.refused, []);
        }
        let store = other(&desk);
        let mut session = store.session(&Disk).unwrap();
        rejects(&mut session, &desk, &two);
        let _ = session.finish();
        // Only when this is recorded it is found out.
        assert_eq!(desk.workspace.decide(Some(&uri), &wish(Choice::Reject, &three)).await.refused, []);
        desk.until("the other's decision", |desk| desk.state(&two).is_none()).await;
        desk.make("a.txt", &sent.edits);
        desk.workspace.answered(&uri, sent.number, true);
        assert_eq!(desk.text("a.txt"), FILE);
        desk.settle();
        let wanted = match changes_mind {
            false => (Decision::Rejected, Location::None),
            true => {
                desk.until("the edit", |desk| desk.deliver("a.txt")).await;
                (Decision::Accepted, Location::Buffer)
            }
        };
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &one), wanted);
        assert_eq!(desk.text("a.txt") == EDITED, changes_mind);
        assert_eq!(desk.status("a.txt", &three), Status::Rejected);
        assert_eq!(desk.told(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_decision_under_way_does_not_go_over_what_another_process_decided() {
    let mut desk = desk();
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    let two = desk.edit("a.txt", &[SEVEN]).await;
    desk.settle();
    let uri = desk.uri("a.txt");
    let accept = request(Choice::Accept, Target::Edit(one.edit.to_string()));
    assert_eq!(desk.workspace.decide(Some(&uri), &accept).await.refused, []);
    let store = other(&desk);
    let mut session = store.session(&Disk).unwrap();
    rejects(&mut session, &desk, &one);
    let _ = session.finish();
    let reject = request(Choice::Reject, Target::Edit(two.edit.to_string()));
    assert_eq!(desk.workspace.decide(Some(&uri), &reject).await.refused, []);
    desk.until("the word of it", |desk| desk.was_told("does not count")).await;
    assert!(!desk.deliver("a.txt"));
    // What does count goes over to the document that is made anew, and is recorded from there.
    desk.until("the other decision", |desk| desk.status("a.txt", &two) == Status::Rejected).await;
    assert_eq!(desk.status("a.txt", &one), Status::Rejected);
}

#[tokio::test]
async fn a_decision_that_another_process_was_quicker_with_is_told() {
    let mut desk = desk();
    desk.open("a.txt");
    let edit = desk.edit("a.txt", &[TWO]).await;
    desk.settle();
    let store = other(&desk);
    let mut session = store.session(&Disk).unwrap();
    // It is put in by hand.
    desk.becomes("a.txt", EDITED);
    desk.close("a.txt");
    rejects(&mut session, &desk, &edit);
    let _ = session.finish();
    desk.until("the word of it", |desk| desk.was_told("does not count")).await;
    assert_eq!(desk.status("a.txt", &edit), Status::Rejected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_not_made_anew_under_an_edit_that_is_being_recorded() {
    let gate = Gate::before(&["decisions.log"]);
    let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(gate.clone()));
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    desk.becomes("a.txt", &format!("typed\n{FILE}"));
    desk.settle();
    let read = desk.read("a.txt").await;
    gate.shut();
    let (workspace, path) = (desk.workspace.clone(), desk.path("a.txt"));
    let edit = tokio::spawn(async move { edit_of(&workspace, path, read, Op::Replace(7, 8, "7")).await });
    gate.reached().await;
    // Closed without saving, and read by another agent.
    desk.close("a.txt");
    let again = tokio::time::timeout(Duration::from_secs(5), desk.try_read("a.txt")).await;
    gate.open();
    again.expect("it does not wait for the history").unwrap();
    let edited = edit.await.unwrap().unwrap();
    desk.settle();
    for edit in [&one, &edited] {
        assert_eq!(desk.status("a.txt", edit), Status::Pending);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_while_an_edit_is_being_recorded_is_recorded_and_locks_nobody_out() {
    // What is saved: the text as the editor opened it, with unsaved typing, and with an accepted edit.
    for saved in ["as it was", "typed", "accepted"] {
        let gate = Gate::before(&["decisions.log"]);
        let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(gate.clone()));
        desk.open("a.txt");
        let one = desk.edit("a.txt", &[TWO]).await;
        match saved {
            "accepted" => assert_eq!(desk.accept(&one).await, []),
            "typed" => desk.becomes("a.txt", &FILE.replace("four", "vier")),
            _ => {}
        }
        desk.settle();
        let text = desk.text("a.txt");
        let read = desk.read("a.txt").await;
        gate.shut();
        let (workspace, path) = (desk.workspace.clone(), desk.path("a.txt"));
        let edit = tokio::spawn(async move { edit_of(&workspace, path, read, SEVEN).await });
        gate.reached().await;
        std::fs::write(desk.path("a.txt"), &text).unwrap();
        desk.workspace.did_save(&desk.uri("a.txt"));
        // Nobody waits for the record meanwhile who does not write to it.
        tokio::time::timeout(PATIENCE, desk.try_read("a.txt")).await.expect("it is read").unwrap();
        gate.open();
        let edit = edit.await.unwrap().unwrap();
        desk.settle();
        assert_eq!(desk.told(), Vec::<String>::new(), "{saved}");
        let next = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
        desk.settle();
        assert!(!other(&desk).documents().unwrap()[0].unsaved, "{saved}");
        let where_is_it = if saved == "accepted" {
            (Decision::Accepted, Location::Disk)
        } else {
            (Decision::Undecided, Location::None)
        };
        assert_eq!(desk.recorded("a.txt", &one), where_is_it, "{saved}");
        let desk = desk.restarted();
        assert_eq!(desk.stored("a.txt"), text);
        for edit in [&edit, &next] {
            assert_eq!(desk.status("a.txt", edit), Status::Pending, "{saved}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_answered_before_logs_and_diffs_have_it() {
    let gate = Gate::before(&["logs/", ".new-"]);
    let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(gate.clone()));
    desk.open("a.txt");
    desk.edit("a.txt", &[SEVEN]).await;
    desk.settle();
    gate.shut();
    let edit = desk.edit("a.txt", &[TWO]).await;
    gate.reached().await;
    let (log, diff) = (
        format!("logs/{}.log", edit.conversation.0),
        format!("diffs/{}/{}.diff", edit.conversation.0, edit.edit),
    );
    assert!(!desk.history().join(&diff).exists());
    // Nobody who does not record anything waits.
    desk.becomes("a.txt", &format!("typed\n{FILE}"));
    let read = tokio::time::timeout(PATIENCE, desk.read("a.txt")).await.unwrap();
    assert!(read.0.to_string().contains("typed"));
    let mut next = Box::pin(desk.edit_as("tester", None, "a.txt", &read, &[Op::Replace(4, 5, "4")]));
    begun(&desk, &mut next).await;

    // As the next process finds it if this one ends here.
    let copy = tempfile::tempdir().unwrap();
    copy_tree(&desk.folder.path().join(".mcp"), &copy.path().join(".mcp"));
    let after = Store::new(copy.path(), "the next process");
    assert!(after.is_behind().unwrap());
    let repaired = after.session(&Disk).unwrap().repairs().join("\n");
    assert!(repaired.contains("ended before it had written everything"), "{repaired}");
    assert!(!after.is_behind().unwrap());

    gate.open();
    next.await.unwrap();
    desk.settle();
    for written in [log, diff] {
        // But for where the folder is.
        let read = |folder: &Path| {
            let text = std::fs::read_to_string(folder.join(".mcp/edit_history").join(&written)).unwrap();
            text.replace(folder.to_str().unwrap(), "")
        };
        assert_eq!(read(copy.path()), read(desk.folder.path()), "{written}");
    }
}

#[tokio::test]
async fn an_open_document_outlives_a_cleanup() {
    let mut desk = desk();
    desk.open("a.txt");
    let taken = desk.edit("a.txt", &[TWO]).await;
    let held = desk.edit("a.txt", &[SEVEN]).await;
    assert_eq!(desk.accept(&taken).await, []);
    desk.save("a.txt");
    let store = other(&desk);
    let mut session = store.session(&Disk).unwrap();
    let cleaned = session.cleanup(&Forget::default(), false, &|_| false).unwrap();
    assert_eq!(cleaned[0].gone, std::slice::from_ref(&taken.edit));
    assert_eq!(session.finish(), Vec::<String>::new());
    // The person undoes what is forgotten by now.
    desk.becomes("a.txt", FILE);
    desk.settle();
    assert_eq!(desk.told(), Vec::<String>::new());
    let next = desk.edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
    desk.settle();
    let desk = desk.restarted();
    for edit in [&held, &next] {
        assert_eq!(desk.status("a.txt", edit), Status::Pending);
        assert!(desk.state(edit).is_some(), "it is offered");
    }
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (there, here) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&there, &here),
            false => drop(std::fs::copy(there, here).unwrap()),
        }
    }
}

/// The comment is not recorded yet when another process decides: about the hunk itself, or about another one.
#[tokio::test]
async fn a_comment_goes_over_no_decision_of_another_process_and_is_not_lost_beside_one() {
    for is_about_it in [true, false] {
        let mut desk = desk();
        desk.open("a.txt");
        let one = desk.edit("a.txt", &[TWO]).await;
        let two = desk.edit("a.txt", &[SEVEN]).await;
        desk.settle();
        let store = other(&desk);
        let mut session = store.session(&Disk).unwrap();
        let (workspace, uri) = (desk.workspace.clone(), desk.uri("a.txt"));
        let comment = Request {
            reason: Reason::of("Is it used?"),
            ..request(Choice::Comment, Target::Edit(one.edit.to_string()))
        };
        let said = tokio::spawn(async move { workspace.decide(Some(&uri), &comment).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        rejects(&mut session, &desk, if is_about_it { &one } else { &two });
        let _ = session.finish();
        said.await.unwrap();
        let rejected = if is_about_it { &one } else { &two };
        desk.until("the other's decision", |desk| desk.status("a.txt", rejected) == Status::Rejected).await;
        desk.settle();
        let past = desk.past("a.txt");
        let hunk = past.edits.iter().find(|edit| edit.made.id == one.edit).unwrap().hunks[0].clone();
        if is_about_it {
            assert_eq!((hunk.decision, hunk.reason), (Decision::Rejected, None));
            desk.until("the word of it", |desk| desk.was_told("does not count")).await;
        } else {
            assert_eq!((hunk.decision, hunk.reason.as_deref()), (Decision::Undecided, Some("Is it used?")));
        }
    }
}
