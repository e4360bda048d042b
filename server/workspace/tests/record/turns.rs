//! Another process has the history, or had it in between: what waits for its turn goes on from how things are then.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use hashline_history::{
    Allow, Decided, Decision, DocumentName, Draft, Forget, Location, Probe, Session, Status, Step, Store,
};
use hashline_workspace::agent::{EditReply, FileAction, FileRequest, ReviewScope};
use hashline_workspace::disk::DiskError;
use hashline_workspace::{Histories, Refusal, Settings};

use crate::desk::{Desk, Disk, Op, PATIENCE, agent, edit_of, first};

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

/// Holds up what is being written to the record.
#[derive(Default)]
struct Gate {
    /// Whether it is shut, and whether anybody waits before it.
    state: Mutex<(bool, bool)>,
    opened: Condvar,
}

impl Gate {
    fn shut(&self) {
        *self.state.lock().unwrap() = (true, false);
    }

    fn is_reached(&self) -> bool {
        self.state.lock().unwrap().1
    }

    fn open(&self) {
        self.state.lock().unwrap().0 = false;
        self.opened.notify_all();
    }
}

impl Probe for Gate {
    fn step(&self, step: Step, path: &str) -> Allow {
        let mut state = self.state.lock().unwrap();
        while state.0 && path.contains("decisions.log") && matches!(step, Step::Write(_)) {
            state.1 = true;
            state = self.opened.wait(state).unwrap();
        }
        Allow::All
    }
}

/// What another process records: that an edit is rejected.
fn rejects(session: &mut Session<'_>, desk: &Desk, edit: &EditReply) {
    let document = DocumentName::Path(desk.path("a.txt"));
    let decisions = vec![Decided { hunk: first(edit), decision: Decision::Rejected, reason: None }];
    session.append(&Draft { decisions, ..Draft::about(document) }).unwrap();
}

/// Waits for a call, and goes on as soon as it waits for something itself: reads come and go by the same way meanwhile.
async fn begun<T>(desk: &Desk, call: &mut (impl Future<Output = T> + Unpin)) {
    let reads = async {
        for _ in 0..5 {
            let _ = desk.try_read("a.txt").await;
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
    let gate = Arc::new(Gate::default());
    let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(gate.clone()));
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    desk.becomes("a.txt", &format!("typed\n{FILE}"));
    desk.settle();
    let read = desk.read("a.txt").await;
    gate.shut();
    let (workspace, path) = (desk.workspace.clone(), desk.path("a.txt"));
    let edit = tokio::spawn(async move { edit_of(&workspace, path, read, Op::Replace(7, 8, "7")).await });
    desk.until("the record", |_| gate.is_reached()).await;
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
