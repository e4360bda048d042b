//! An undo that leads behind what its process knows: to a text from before the file was read again, or from before the process began. The record
//! has it, and with it how the edits stood (rules W9, W17).

use std::io::ErrorKind;
use std::sync::Arc;

use hashline_history::{Decision, Location};
use hashline_text::Text;
use hashline_weave::Turn;
use hashline_workspace::Histories;
use hashline_workspace::agent::EditReply;
use hashline_workspace::document::{Cause, Choice, HunkState, Reports, Target};

use crate::desk::{Desk, Op};
use crate::faults::{Breaks, Fault};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const EDITED: &str = "one\ntwo\nthree\nnew\nfour\nfive\nsix\nseven\neight\n";
const TYPED: &str = "one\ntwo\nthree\nnew\nfour\nfive\nsix\nseven\neight\ntyped\n";
const UNDO: Cause = Cause::Turn(Turn::Undo);
const REDO: Cause = Cause::Turn(Turn::Redo);

type How = (Decision, Location);
const ACCEPTED: How = (Decision::Accepted, Location::Buffer);
const UNDECIDED: How = (Decision::Undecided, Location::None);

fn with_plugin(mut desk: Desk, text: &str) -> Desk {
    desk.workspace.set_reports(Reports::Causes);
    desk.open_as("a.txt", text);
    desk
}

/// An accepted insertion that is in the text of an editor with a plugin, and not in the file.
async fn delivered() -> (Desk, EditReply) {
    let mut desk = with_plugin(Desk::new(&[("a.txt", FILE)]), FILE);
    let edit = desk.edit("a.txt", &[Op::After(2, "new")]).await;
    assert_eq!(desk.accept(&edit).await, []);
    desk.settle();
    assert_eq!(how(&desk, &edit), (EDITED.to_owned(), ACCEPTED));
    (desk, edit)
}

/// The change that an editor says to be this, and all that comes of it.
fn becomes(desk: &mut Desk, cause: Cause, text: &str) {
    desk.becomes_by(cause, "a.txt", text);
    desk.settle();
}

fn how(desk: &Desk, edit: &EditReply) -> (String, How) {
    (desk.text("a.txt"), desk.recorded("a.txt", edit))
}

/// The edit can be decided either way, and its line is there once or not at all.
async fn can_be_decided(desk: &mut Desk, edit: &EditReply) {
    for (choice, text) in [(Choice::Reject, FILE), (Choice::Accept, EDITED)] {
        let why = desk.decides(choice, Target::Edit(edit.edit.to_string())).await;
        assert_eq!((why, desk.text("a.txt").as_str()), (vec![], text));
    }
}

#[tokio::test]
async fn an_undo_leads_behind_a_reload() {
    for settles in [true, false] {
        let (mut desk, edit) = delivered().await;
        desk.becomes_by(Cause::Reload, "a.txt", FILE);
        if settles {
            desk.settle();
            assert_eq!(how(&desk, &edit), (FILE.to_owned(), UNDECIDED));
        }
        becomes(&mut desk, UNDO, EDITED);
        assert_eq!(how(&desk, &edit), (EDITED.to_owned(), ACCEPTED));
        can_be_decided(&mut desk, &edit).await;
    }
}

#[tokio::test]
async fn what_was_typed_before_a_reload_comes_back_with_the_edit() {
    let (mut desk, edit) = delivered().await;
    desk.becomes("a.txt", TYPED);
    becomes(&mut desk, Cause::Reload, FILE);
    for _ in 0..2 {
        becomes(&mut desk, UNDO, TYPED);
        assert_eq!(how(&desk, &edit), (TYPED.to_owned(), ACCEPTED));
        becomes(&mut desk, REDO, FILE);
        assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    }
    becomes(&mut desk, UNDO, TYPED);
    becomes(&mut desk, UNDO, EDITED);
    becomes(&mut desk, UNDO, FILE);
    assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    can_be_decided(&mut desk, &edit).await;
}

#[tokio::test]
async fn an_undo_leads_behind_a_process_that_has_ended() {
    let (mut desk, edit) = delivered().await;
    let rejected = desk.reject(&edit).await;
    desk.settle();
    assert_eq!((rejected, desk.text("a.txt").as_str()), (vec![], FILE));
    let mut desk = with_plugin(desk.restarted(), FILE);
    becomes(&mut desk, UNDO, EDITED);
    // What is in such a text is not rejected, and the person is asked again.
    assert_eq!(how(&desk, &edit), (EDITED.to_owned(), (Decision::Undecided, Location::Buffer)));
    can_be_decided(&mut desk, &edit).await;
}

#[tokio::test]
async fn what_no_record_has_is_typing() {
    let (mut desk, edit) = delivered().await;
    becomes(&mut desk, Cause::Reload, FILE);
    becomes(&mut desk, UNDO, &format!("{FILE}once\n"));
    assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    assert_eq!(desk.accept(&edit).await, []);
    assert_eq!(desk.text("a.txt"), format!("{EDITED}once\n"));
}

/// What became of the edits in a text that was read again waits for a disk that is full. The window is closed meanwhile.
#[tokio::test]
async fn a_window_is_closed_before_the_record_has_what_was_in_it() {
    let breaks = Arc::new(Breaks::default());
    let desk = Desk::with(&[("a.txt", FILE)], Histories::of("a test").with_probe(breaks.clone()));
    let mut desk = with_plugin(desk, FILE);
    let edit = desk.edit("a.txt", &[Op::After(2, "new")]).await;
    assert_eq!(desk.accept(&edit).await, []);
    desk.settle();
    desk.becomes("a.txt", TYPED);
    breaks.arm(Fault::From(ErrorKind::StorageFull), 0);
    becomes(&mut desk, Cause::Reload, FILE);
    desk.close("a.txt");
    breaks.mend();
    let file = Text::from(FILE);
    desk.until("the record", |desk| *desk.past("a.txt").weave().unwrap().buffer() == file).await;
    desk.open("a.txt");
    desk.settle();
    assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    assert_eq!(how(&desk, &edit), (FILE.to_owned(), UNDECIDED));
}
