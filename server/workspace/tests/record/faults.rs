//! The disk fills up, breaks or is written no more at any step: nothing is lost, the call says so, and later all goes well.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::Mutex;

use hashline_history::{Allow, Decision, Location, Probe, Status, Step};
use hashline_workspace::agent::{EditReply, FileAction, FileRequest};
use hashline_workspace::document::{Choice, HunkState, Mode, Target, Why};
use hashline_workspace::{Histories, Settings};

use crate::chance::seeds;
use crate::desk::{Desk, Op, agent, assert_whole, first, request};

/// A file that an agent makes.
const NEW: &str = "new\r\nfile";

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\n";
const TWO: Op<'static> = Op::Replace(1, 2, "2");

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One step fails so.
    Once(ErrorKind),
    /// All steps from there on fail so, until it is mended.
    From(ErrorKind),
    /// Half of what is written gets to the disk, and nothing from there on.
    Half,
}

/// All of them are played with twice as many seeds; else the first four.
const FAULTS: [Fault; 6] = [
    Fault::Once(ErrorKind::Other),
    Fault::From(ErrorKind::StorageFull),
    Fault::Half,
    Fault::From(ErrorKind::ReadOnlyFilesystem),
    Fault::From(ErrorKind::Other),
    Fault::Once(ErrorKind::StorageFull),
];

#[derive(Default)]
pub struct Breaks {
    /// The fault, and the steps until then.
    armed: Mutex<Option<(Fault, usize)>>,
    hit: Mutex<bool>,
}

impl Breaks {
    pub fn arm(&self, fault: Fault, after: usize) {
        *self.hit.lock().unwrap() = false;
        *self.armed.lock().unwrap() = Some((fault, after));
    }

    /// Returns whether anything went wrong.
    pub fn mend(&self) -> bool {
        *self.armed.lock().unwrap() = None;
        *self.hit.lock().unwrap()
    }
}

impl Probe for Breaks {
    fn step(&self, step: Step, _: &str) -> Allow {
        let mut armed = self.armed.lock().unwrap();
        let Some((fault, left)) = armed.as_mut() else { return Allow::All };
        if *left > 0 {
            *left -= 1;
            return Allow::All;
        }
        *self.hit.lock().unwrap() = true;
        match *fault {
            Fault::Once(kind) => {
                *armed = None;
                Allow::Fail(Error::from(kind))
            }
            Fault::From(kind) => Allow::Fail(Error::from(kind)),
            Fault::Half => {
                *armed = Some((Fault::From(ErrorKind::Other), 0));
                match step {
                    Step::Write(len) => Allow::Part(len / 2),
                    _ => Allow::Fail(Error::from(ErrorKind::Other)),
                }
            }
        }
    }
}

/// Lets one line of the record not be written: what comes before it is done, as if the process had been killed there.
#[derive(Default)]
struct Unwritten(Mutex<Option<usize>>);

impl Unwritten {
    /// The one behind so many others.
    fn line(&self, behind: usize) {
        *self.0.lock().unwrap() = Some(behind);
    }

    fn was_hit(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }
}

impl Probe for Unwritten {
    fn step(&self, step: Step, path: &str) -> Allow {
        let mut left = self.0.lock().unwrap();
        match left.as_mut() {
            Some(behind) if path.contains("decisions.log") && matches!(step, Step::Write(_)) => {
                if *behind > 0 {
                    *behind -= 1;
                    return Allow::All;
                }
                *left = None;
                Allow::Fail(Error::from(ErrorKind::StorageFull))
            }
            _ => Allow::All,
        }
    }
}

fn desk() -> (Desk, Arc<Breaks>) {
    let breaks = Arc::new(Breaks::default());
    let desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(breaks.clone()));
    (desk, breaks)
}

/// Plays what is done with each fault at each of its steps.
async fn at_every_step<F: Future<Output = bool>>(what: &str, play: impl Fn(Fault, usize) -> F) {
    let mut played = 0;
    let faults = seeds(2).count().clamp(2, FAULTS.len() / 2) * 2;
    for (at, fault) in FAULTS[..faults].iter().copied().enumerate() {
        // One fault at every step, and the others at some.
        let pace = if at == 0 || faults > 4 { 1 } else { 4 };
        for step in (at..).step_by(pace) {
            assert!(step < 200, "{what} has no end");
            if !play(fault, step).await {
                break;
            }
            played += 1;
        }
    }
    eprintln!("{what}: {played} faults");
    assert!(played > 4, "{what}: {played}");
}

/// What every sentence about a fault says.
fn says_so(fault: Fault, message: &str) -> bool {
    match fault {
        Fault::Once(ErrorKind::StorageFull) | Fault::From(ErrorKind::StorageFull) => {
            message.contains("the disk is full")
        }
        Fault::From(ErrorKind::ReadOnlyFilesystem) => message.contains("is read-only"),
        _ => message.contains("could not be") || message.contains("stopped"),
    }
}

/// After all: everything is whole, the record and the file are of one mind, and the edit can be taken out and put in.
async fn at_last(desk: Desk, edit: &EditReply, about: &str) {
    let mut desk = desk.restarted();
    assert_eq!(desk.past("a.txt").weave().unwrap().buffer().to_string(), desk.stored("a.txt"), "{about}");
    let edits = desk.past("a.txt").edits.into_iter();
    let standing = edits.filter(|edit| edit.hunks.iter().any(|hunk| hunk.location == Location::Disk));
    assert_eq!(standing.count(), usize::from(desk.stored("a.txt") == EDITED), "{about}");
    assert_eq!(desk.accept(edit).await, [], "{about}");
    assert_eq!(desk.stored("a.txt"), EDITED, "{about}");
    assert_eq!(desk.reject(edit).await, [], "{about}");
    assert_eq!(desk.stored("a.txt"), FILE, "{about}");
    let folder = desk.folder.clone();
    drop(desk);
    assert_whole(folder.path());
}

#[tokio::test]
async fn an_edit_on_the_disk() {
    at_every_step("an edit on the disk", |fault, step| async move {
        for dies in [false, true] {
            let about = format!("{fault:?} at {step}, dies {dies}");
            let (desk, breaks) = desk();
            breaks.arm(fault, step);
            let done = desk.try_edit("a.txt", &[TWO]).await;
            if dies {
                // What is left of the process is gone, and the disk is well.
                let hit = breaks.mend();
                let desk = desk.restarted();
                let stored = desk.stored("a.txt");
                assert!(stored == EDITED || (stored == FILE && done.is_err()), "{about}: {stored:?}");
                let edit = match done {
                    Ok(edit) => edit,
                    Err(_) if stored == FILE => desk.edit("a.txt", &[TWO]).await,
                    Err(error) => panic!("{about}: refused and written: {error}"),
                };
                at_last(desk, &edit, &about).await;
                if !hit {
                    return false;
                }
                continue;
            }
            let stored = desk.stored("a.txt");
            match &done {
                Ok(_) => assert_eq!(stored, EDITED, "{about}"),
                Err(error) => {
                    assert_eq!(stored, FILE, "{about}");
                    assert!(says_so(fault, &error.to_string()), "{about}: {error}");
                }
            }
            breaks.mend();
            let edit = match done {
                Ok(edit) => edit,
                Err(_) => desk.edit("a.txt", &[TWO]).await,
            };
            assert_eq!(desk.stored("a.txt"), EDITED, "{about}");
            at_last(desk, &edit, &about).await;
        }
        true
    })
    .await;
}

#[tokio::test]
async fn an_edit_in_an_editor() {
    at_every_step("an edit in an editor", |fault, step| async move {
        let about = format!("{fault:?} at {step}");
        let (mut desk, breaks) = desk();
        desk.open("a.txt");
        breaks.arm(fault, step);
        let done = desk.try_edit("a.txt", &[TWO]).await;
        if let Err(error) = &done {
            assert!(says_so(fault, &error.to_string()), "{about}: {error}");
            assert!(
                desk.workspace.reviews().is_empty(),
                "{about}: nothing was recorded, and nothing is shown"
            );
            assert_eq!(desk.read("a.txt").await.0.to_string(), FILE, "{about}");
        }
        let hit = breaks.mend();
        let edit = match done {
            Ok(edit) => edit,
            Err(_) => desk.edit("a.txt", &[TWO]).await,
        };
        let mut desk = desk.restarted();
        desk.open("a.txt");
        assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)), "{about}");
        assert_eq!(desk.workspace.reviews()[0].review.edits.len(), 1, "{about}");
        assert_eq!(desk.accept(&edit).await, [], "{about}");
        desk.save("a.txt");
        desk.close("a.txt");
        at_last(desk, &edit, &about).await;
        hit
    })
    .await;
}

#[tokio::test]
async fn a_decision_in_an_editor() {
    at_every_step("a decision in an editor", |fault, step| async move {
        let about = format!("{fault:?} at {step}");
        let (mut desk, breaks) = desk();
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[TWO]).await;
        desk.settle();
        breaks.arm(fault, step);
        let decided = desk.accept(&edit).await;
        desk.settle();
        let recorded = desk.recorded("a.txt", &edit) == (Decision::Accepted, Location::Buffer);
        assert_eq!(desk.text("a.txt") == EDITED, decided.is_empty(), "{about}");
        if !recorded {
            assert!(desk.told().iter().any(|said| says_so(fault, said)), "{about}: {:?}", desk.told());
            if !matches!(fault, Fault::Once(_)) {
                let refused = desk.try_edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
                assert!(
                    says_so(fault, &refused.unwrap_err().to_string()),
                    "{about}: no edit comes before it"
                );
            }
        }
        let hit = breaks.mend();
        if !decided.is_empty() {
            assert_eq!(desk.accept(&edit).await, [], "{about}");
        }
        // The next edit brings what was kept with it.
        let other = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer), "{about}");
        assert_eq!(desk.reject(&other).await, []);
        desk.save("a.txt");
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Disk), "{about}");
        desk.close("a.txt");
        at_last(desk, &edit, &about).await;
        hit
    })
    .await;
}

#[tokio::test]
async fn a_decision_that_was_seen_and_not_recorded_is_tried_again_by_itself() {
    let (mut desk, breaks) = desk();
    desk.open("a.txt");
    let edit = desk.edit("a.txt", &[TWO]).await;
    desk.settle();
    breaks.arm(Fault::From(ErrorKind::StorageFull), 0);
    // The person puts it in by hand: nobody delivers that.
    desk.becomes("a.txt", EDITED);
    desk.settle();
    assert!(desk.was_told("could not be recorded"));
    let refused = desk.try_edit("a.txt", &[Op::Replace(4, 5, "5")]).await.unwrap_err().to_string();
    assert!(refused.contains("the disk is full"), "{refused}");
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Undecided, Location::None));
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    let told = desk.told().len();
    breaks.mend();
    desk.until("the record", |desk| desk.recorded("a.txt", &edit) == (Decision::Accepted, Location::Buffer))
        .await;
    assert_eq!(desk.told().len(), told, "it was said once");
    desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
}

#[tokio::test]
async fn a_decision_that_changes_no_text_and_is_not_recorded_is_told_with_the_answer() {
    let (mut desk, breaks) = desk();
    desk.open("a.txt");
    let one = desk.edit("a.txt", &[TWO]).await;
    let two = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    desk.settle();
    breaks.arm(Fault::From(ErrorKind::StorageFull), 0);
    assert_eq!(desk.reject(&one).await, []);
    assert!(desk.was_told("the disk is full") && desk.was_told("It is kept here and tried again"));
    let withdrawn = desk.workspace.withdraw(&agent("tester"), two.edit.as_str()).await.unwrap();
    assert!(!withdrawn.is_recorded);
    breaks.mend();
    let both = [(&one, Decision::Rejected), (&two, Decision::Withdrawn)];
    desk.until("the record", |desk| both.iter().all(|(edit, of)| desk.recorded("a.txt", edit).0 == *of))
        .await;
}

#[tokio::test]
async fn a_decision_is_recorded_before_it_is_sent() {
    let (mut desk, breaks) = desk();
    desk.open("a.txt");
    let edit = desk.edit("a.txt", &[TWO]).await;
    desk.settle();
    let accept = request(Choice::Accept, Target::Edit(edit.edit.to_string()));
    breaks.arm(Fault::From(ErrorKind::StorageFull), 0);
    for _ in 0..2 {
        let decided = desk.workspace.decide(None, &accept).await;
        assert_eq!((decided.queued.len(), decided.refused[0].why), (0, Why::Failed));
        assert!(!desk.deliver("a.txt"), "it is not sent");
    }
    assert_eq!(desk.text("a.txt"), FILE);
    assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    assert!(desk.was_told("the disk is full") && desk.was_told("It was not made"), "{:?}", desk.told());
    breaks.mend();
    assert_eq!(desk.workspace.decide(None, &accept).await.refused, []);
    let record = std::fs::read_to_string(desk.history().join("decisions.log")).unwrap();
    let last: serde_json::Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    assert_eq!(last["wanted"][0]["hunk"], serde_json::to_value(first(&edit)).unwrap());
    assert_eq!(last["wanted"][0]["decision"], "accepted");
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Undecided, Location::None));
    assert!(desk.deliver("a.txt"));
    assert_eq!(desk.text("a.txt"), EDITED);
    desk.settle();
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
    // Taking it out is one as well.
    breaks.arm(Fault::From(ErrorKind::ReadOnlyFilesystem), 0);
    assert_eq!(desk.reject(&edit).await, [Why::Failed]);
    assert_eq!(desk.text("a.txt"), EDITED);
    breaks.mend();
    assert_eq!(desk.reject(&edit).await, []);
    assert_eq!(desk.text("a.txt"), FILE);
}

#[tokio::test]
async fn a_decision_on_the_disk() {
    at_every_step("a decision on the disk", |fault, step| async move {
        let about = format!("{fault:?} at {step}");
        let (mut desk, breaks) = desk();
        let edit = desk.edit("a.txt", &[TWO]).await;
        breaks.arm(fault, step);
        let wish = request(Choice::Reject, Target::Edit(edit.edit.to_string()));
        let decided = desk.decide(&wish).await;
        let stored = desk.stored("a.txt");
        if let Some(refused) = decided.refused.first() {
            assert_eq!((stored.as_str(), refused.why), (EDITED, Why::Failed), "{about}");
            assert!(says_so(fault, &refused.message), "{about}: {}", refused.message);
        } else {
            assert_eq!(stored, FILE, "{about}");
        }
        let hit = breaks.mend();
        if !decided.refused.is_empty() && step % 2 == 0 {
            assert_eq!(desk.reject(&edit).await, [], "{about}");
            assert_eq!(desk.stored("a.txt"), FILE, "{about}");
        }
        at_last(desk, &edit, &about).await;
        hit
    })
    .await;
}

#[tokio::test]
async fn a_save() {
    at_every_step("a save", |fault, step| async move {
        let about = format!("{fault:?} at {step}");
        let (mut desk, breaks) = desk();
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[TWO]).await;
        assert_eq!(desk.accept(&edit).await, []);
        desk.settle();
        breaks.arm(fault, step);
        desk.save("a.txt");
        let recorded = desk.recorded("a.txt", &edit).1 == Location::Disk;
        assert!(recorded || desk.told().iter().any(|said| says_so(fault, said)), "{about}");
        let hit = breaks.mend();
        if !recorded && step % 2 == 0 {
            desk.until("the record of the save", |desk| desk.recorded("a.txt", &edit).1 == Location::Disk)
                .await;
        }
        // Or the process ends before it can be tried again: the file says it.
        let mut desk = desk.restarted();
        assert_eq!(desk.status("a.txt", &edit), Status::Accepted, "{about}");
        desk.open("a.txt");
        assert_eq!(desk.state(&edit), None, "{about}");
        desk.save("a.txt");
        desk.close("a.txt");
        at_last(desk, &edit, &about).await;
        hit
    })
    .await;
}

#[tokio::test]
async fn held_edits_outlive_a_write_that_an_editor_finds_unfinished() {
    for restarted in [false, true] {
        let unwritten = Arc::new(Unwritten::default());
        let mut desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(unwritten.clone()));
        desk.workspace.set_settings(Settings { disk: Mode::Propose, ..Settings::default() });
        let held = desk.edit("a.txt", &[Op::Replace(5, 6, "6")]).await;
        desk.workspace.set_settings(Settings::default());
        // The file is written, and the word that it was is not.
        unwritten.line(1);
        let done = desk.edit("a.txt", &[TWO]).await;
        assert!(unwritten.was_hit());
        assert_eq!(desk.stored("a.txt"), EDITED);
        if restarted {
            desk = desk.restarted();
        }
        desk.open("a.txt");
        let third = desk.edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
        desk.settle();
        let desk = desk.restarted();
        for edit in [&held, &third] {
            assert_eq!(desk.state(edit), Some((HunkState::Held, Decision::Undecided)), "{restarted}");
        }
        assert_eq!(desk.state(&done), Some((HunkState::InText, Decision::Undecided)), "{restarted}");
        let past = desk.past("a.txt");
        assert!(past.hunks.iter().all(Option::is_some), "{restarted}: every hunk has its name");
    }
}

#[tokio::test]
async fn a_rejection_whose_file_was_renamed_and_not_written_is_asked_again() {
    let unwritten = Arc::new(Unwritten::default());
    let desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(unwritten.clone()));
    let read = desk.read("a.txt").await;
    let edit = desk.edit_as("tester", Some("turn"), "a.txt", &read, &[TWO]).await.unwrap();
    let request_move = FileRequest {
        path: desk.path("a.txt").display().to_string(),
        change: FileAction::Move(desk.path("b.txt").display().to_string()),
        conversation: Some("turn".into()),
        tool: "move_file".into(),
        reason: None,
    };
    desk.workspace.change_file(&agent("tester"), request_move).await.unwrap();
    assert_eq!(desk.stored("b.txt"), EDITED);
    unwritten.line(1);
    let whole = request(Choice::Reject, Target::Whole("turn".into()));
    assert_eq!(desk.workspace.decide(None, &whole).await.refused, []);
    assert!(unwritten.was_hit());
    assert_eq!(desk.stored("a.txt"), FILE);
    // Killed between the two: it has its old name again, and is not written yet.
    desk.write("a.txt", EDITED);
    let mut desk = desk.restarted();
    assert_eq!(desk.read("a.txt").await.0.to_string(), EDITED);
    desk.settle();
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Undecided, Location::Disk));
    assert!(desk.was_told("its process ended before it wrote the rest"), "{:?}", desk.told());
    assert!(desk.was_told("you are asked again"), "{:?}", desk.told());
    assert_eq!(desk.reject(&edit).await, []);
    assert_eq!(desk.stored("a.txt"), FILE);
}

/// What an agent does to a file, and what the person decides about it.
struct OfFile {
    name: &'static str,
    mode: Mode,
    change: FileAction,
    choice: Option<Choice>,
    /// What the file holds in the end; none for no file.
    after: Option<&'static str>,
}

/// The process ends between what it does to a file and the word that it did, or before it does it.
#[tokio::test]
async fn a_file_that_is_made_or_removed_as_the_process_ends() {
    let of = |name, mode, change: &FileAction, choice, after| OfFile {
        name,
        mode,
        change: change.clone(),
        choice,
        after,
    };
    let (make, remove) = (&FileAction::Create(NEW.into()), &FileAction::Delete);
    for OfFile { name, mode, change, choice, after } in [
        of("b.txt", Mode::Apply, make, None, Some(NEW)),
        of("b.txt", Mode::Apply, make, Some(Choice::Reject), None),
        of("b.txt", Mode::Propose, make, Some(Choice::Accept), Some(NEW)),
        of("a.txt", Mode::Apply, remove, None, None),
        of("a.txt", Mode::Apply, remove, Some(Choice::Reject), Some(FILE)),
        of("a.txt", Mode::Propose, remove, Some(Choice::Accept), None),
    ] {
        for done in [true, false] {
            let about = format!("{name} {mode:?} {choice:?}, done {done}");
            let unwritten = Arc::new(Unwritten::default());
            let histories = Histories::of("a test").with_probe(unwritten.clone());
            let mut desk = Desk::with(&[("a.txt", FILE), ("other.txt", FILE)], histories);
            // The history is there.
            desk.edit("other.txt", &[TWO]).await;
            desk.workspace.set_settings(Settings { disk: mode, ..Settings::default() });
            let file = |desk: &Desk| std::fs::read_to_string(desk.path(name)).ok();
            let mut before = file(&desk);
            let wish = FileRequest {
                path: name.into(),
                change: change.clone(),
                conversation: None,
                tool: "a_tool".into(),
                reason: None,
            };
            // Behind the line that says what is meant.
            if choice.is_none() {
                unwritten.line(1);
            }
            let edit = desk.workspace.change_file(&agent("tester"), wish).await.unwrap().edit;
            if let Some(choice) = choice {
                before = file(&desk);
                unwritten.line(1);
                assert_eq!(desk.decides(choice, Target::Edit(edit.to_string())).await, [], "{about}");
            }
            assert!(unwritten.was_hit(), "{about}");
            assert_eq!(file(&desk).as_deref(), after, "{about}");
            if !done {
                match &before {
                    Some(content) => desk.write(name, content),
                    None => std::fs::remove_file(desk.path(name)).unwrap(),
                }
            }
            let there = file(&desk);
            let mut desk = desk.restarted();
            let _ = desk.try_read(name).await;
            desk.settle();
            let status = |desk: &Desk| desk.past(name).edit(&edit).unwrap().status();
            let expected = match (choice, done) {
                (Some(Choice::Accept), true) => Status::Accepted,
                (Some(_), true) | (None, false) => Status::Rejected,
                (Some(_), false) | (None, true) => Status::Pending,
            };
            assert_eq!((status(&desk), file(&desk)), (expected, there), "{about}");
            // What was never done is not there to be decided.
            if choice.is_some() || done {
                let (with, without) = match change {
                    FileAction::Create(_) => (Some(NEW), None),
                    _ => (None, Some(FILE)),
                };
                for (choice, expected) in
                    [(Choice::Reject, without), (Choice::Accept, with), (Choice::Reject, without)]
                {
                    let refused = desk.decides(choice, Target::Edit(edit.to_string())).await;
                    assert_eq!(file(&desk).as_deref(), expected, "{about}: {choice:?}: {refused:?}");
                }
                assert_eq!(status(&desk), Status::Rejected, "{about}");
            }
            let folder = desk.folder.clone();
            drop(desk);
            assert_whole(folder.path());
        }
    }
}
