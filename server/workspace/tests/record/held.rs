//! Held edits wait through restarts and changes of their file, and are placed right or said to be lost.

use hashline_anchor::line_hash;
use hashline_history::{Decision, Status};
use hashline_weave::Conflict;
use hashline_workspace::agent::{EditReply, FileAction, FileRequest};
use hashline_workspace::document::{Along, Choice, HunkState, Mode, Request, Target, Unseen, Why};
use hashline_workspace::{Histories, Settings};

use crate::desk::{Desk, Op, agent, first, request};

/// Lines that occur once each.
fn file(lines: usize) -> String {
    (0..lines).map(|at| format!("line {at} of the file\n")).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Three held edits, by two agents: of the lines 5, 20 and 35.
async fn three(desk: &mut Desk) -> [EditReply; 3] {
    desk.open("a.txt");
    let mut edits = Vec::new();
    for (who, at) in [("one", 5), ("other", 20), ("one", 35)] {
        let read = desk.read("a.txt").await;
        let (new, turn) = (format!("new {at}"), format!("by-{who}"));
        let operations = [Op::Replace(at, at + 1, &new)];
        edits.push(desk.edit_as(who, Some(&turn), "a.txt", &read, &operations).await.unwrap());
    }
    assert_eq!(desk.stored("a.txt"), file(40));
    edits.try_into().unwrap()
}

const HELD: Option<(HunkState, Decision)> = Some((HunkState::Held, Decision::Undecided));

fn lost(desk: &Desk, edit: &EditReply) -> bool {
    matches!(desk.state(edit), Some((HunkState::Conflicted(Conflict::Lost), Decision::Undecided)))
}

/// What the file becomes while nobody watches, and which of the three are still where they belong.
type Case = (&'static str, fn(Vec<String>) -> Vec<String>, [bool; 3]);

const CASES: [Case; 8] = [
    (
        "lines above",
        |mut all| {
            all.insert(0, "a new first line".into());
            all
        },
        [true; 3],
    ),
    (
        "a line inside",
        |mut all| {
            all.insert(20, "in between".into());
            all
        },
        [true, false, true],
    ),
    (
        "a line near by",
        |mut all| {
            all.insert(24, "near by".into());
            all
        },
        [true; 3],
    ),
    (
        "a block moved",
        |mut all| {
            let block: Vec<String> = all.drain(14..28).collect();
            all.extend(block);
            all
        },
        [true, false, false],
    ),
    (
        "one line changed",
        |mut all| {
            all[20] = "changed".into();
            all
        },
        [true, false, true],
    ),
    (
        "one line removed",
        |mut all| {
            all.remove(35);
            all
        },
        [true, true, false],
    ),
    (
        "a copy of the block",
        |mut all| {
            let copy: Vec<String> = all[15..26].to_vec();
            all.splice(0..0, copy);
            all
        },
        [true, false, true],
    ),
    ("another file", |_| (0..40).map(|at| format!("other {at}")).collect(), [false; 3]),
];

#[tokio::test]
async fn held_edits_are_carried_or_lost_and_never_placed_wrongly() {
    for opened in [true, false] {
        for (what, change, right) in CASES {
            let mut desk = Desk::new(&[("a.txt", &file(40))]);
            let edits = three(&mut desk).await;
            let changed = change(lines(&file(40)));
            let stored: String = changed.iter().map(|line| format!("{line}\n")).collect();
            desk.write("a.txt", &stored);
            let mut desk = desk.restarted();
            if opened {
                desk.open("a.txt");
            } else {
                for _ in 0..2 {
                    assert_eq!(desk.accept(&edits[0]).await, [Why::Changed], "{what}");
                }
                desk.unseen = Unseen::Keep;
            }
            assert_eq!(desk.stored("a.txt"), stored, "{what}");
            for (edit, right) in edits.iter().zip(right) {
                // A block that has moved may be found again, if that is certain.
                let (held, lost) = (desk.state(edit) == HELD, lost(&desk, edit));
                assert!(held || lost, "{what}: {:?}", desk.state(edit));
                assert!(held || !right, "{what}: an edit was lost, {edit:?}");
            }
            let mut expected = changed.clone();
            for (edit, at) in edits.iter().zip([5, 20, 35]) {
                if desk.state(edit) == HELD {
                    let old = format!("line {at} of the file");
                    let places: Vec<usize> =
                        (0..expected.len()).filter(|line| expected[*line] == old).collect();
                    assert_eq!(places.len(), 1, "{what}");
                    expected[places[0]] = format!("new {at}");
                    assert_eq!(desk.accept(edit).await, [], "{what}");
                } else {
                    assert_eq!(desk.accept(edit).await, [Why::Lost], "{what}");
                    assert_eq!(desk.reject(edit).await, [], "{what}");
                }
            }
            let text = if opened { desk.text("a.txt") } else { desk.stored("a.txt") };
            assert_eq!(lines(&text), expected, "{what}");
            assert_eq!(desk.workspace.reviews().len(), 0, "{what}");
        }
    }
}

#[tokio::test]
async fn edits_of_a_file_that_was_removed_come_back_with_it() {
    let mut desk = Desk::new(&[("a.txt", &file(40))]);
    let edits = three(&mut desk).await;
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    let mut desk = desk.restarted();
    assert!(desk.workspace.reviews().is_empty(), "there is nothing to show them in");
    for edit in &edits {
        assert_ne!(desk.accept(edit).await, [], "there is no file to put it in");
        assert_eq!(desk.status("a.txt", edit), Status::Pending);
    }
    assert!(!desk.path("a.txt").exists());
    desk.write("a.txt", file(40));
    let mut desk = desk.restarted();
    for edit in &edits {
        assert_eq!(desk.state(edit), HELD);
        assert_eq!(desk.accept(edit).await, []);
    }
    assert_eq!(lines(&desk.stored("a.txt"))[20], "new 20");
}

#[tokio::test]
async fn held_edits_outlive_another_kind_of_line_ending() {
    let mut desk = Desk::new(&[("a.txt", &file(40))]);
    let edits = three(&mut desk).await;
    let stored = file(40).replace('\n', "\r\n");
    desk.write("a.txt", &stored);
    desk.unseen = Unseen::Keep;
    let mut desk = desk.restarted();
    let mut expected = lines(&file(40));
    for (edit, at) in edits.iter().zip([5, 20, 35]) {
        let state = desk.state(edit);
        assert!(state == HELD || lost(&desk, edit), "{state:?}");
        if state == HELD {
            assert_eq!(desk.accept(edit).await, []);
            expected[at] = format!("new {at}");
        } else {
            assert_eq!(desk.reject(edit).await, []);
        }
    }
    let after = desk.stored("a.txt");
    assert_eq!(lines(&after), expected);
    // What was proposed comes as it was proposed, and everything else as it is now.
    assert!(after.matches("\r\n").count() >= 37);
}

#[tokio::test]
async fn edits_that_rest_on_others_wait_with_them() {
    let mut desk = Desk::new(&[("a.txt", &file(40))]);
    desk.open("a.txt");
    let below = desk.edit("a.txt", &[Op::Replace(10, 11, "first\nsecond\nthird")]).await;
    let read = desk.read("a.txt").await;
    assert_eq!(line_hash("second"), line_hash(&read.0.line(hashline_text::Line(11)).unwrap().content()));
    let above = desk.edit_as("other", None, "a.txt", &read, &[Op::Replace(11, 12, "better")]).await.unwrap();
    assert_eq!(above.held_below.len(), 1);
    desk.write("a.txt", format!("a new first line\n{}", file(40)));
    for opened in [false, true] {
        desk = desk.restarted();
        if opened {
            desk.open("a.txt");
        }
        assert_eq!((desk.state(&below), desk.state(&above)), (HELD, HELD));
        assert_eq!(desk.offered(&above).unwrap()[0].depends_on.len(), 1);
        assert_eq!(desk.read("a.txt").await.0.to_string().matches("first\nbetter\nthird\n").count(), 1);
    }
    let alone = crate::desk::request(
        hashline_workspace::document::Choice::Accept,
        Target::Edit(above.edit.to_string()),
    );
    let refused = desk.decide(&alone).await.refused;
    assert_eq!(refused[0].why, Why::NeedsOthers);
    assert_eq!(desk.accept(&above).await, []);
    assert_eq!(
        &lines(&desk.text("a.txt"))[10..15],
        ["line 9 of the file", "first", "better", "third", "line 11 of the file"]
    );
    desk.save("a.txt");
    let mut desk = desk.restarted();
    assert_eq!(desk.status("a.txt", &below), Status::Accepted);
    assert_eq!(desk.status("a.txt", &above), Status::Accepted);
    assert_eq!(desk.reject(&below).await, []);
    assert_eq!(desk.stored("a.txt"), format!("a new first line\n{}", file(40)));
}

#[tokio::test]
async fn edits_of_documents_that_were_never_opened_are_offered() {
    let mut desk = Desk::new(&[("a.txt", &file(40)), ("b.txt", &file(10)), ("c.txt", "c\n")]);
    let edits = three(&mut desk).await;
    let other = desk.edit("b.txt", &[Op::Delete(2, 4)]).await;
    let done = desk.edit("c.txt", &[Op::Replace(0, 1, "C")]).await;
    assert_eq!(desk.accept(&done).await, []);
    let desk = desk.restarted();
    let reviews = desk.workspace.reviews();
    let uris: Vec<&str> = reviews.iter().map(|review| review.uri.as_str()).collect();
    assert_eq!(uris, [desk.uri("a.txt"), desk.uri("b.txt")]);
    assert_eq!(reviews[0].review.edits.len(), edits.len());
    assert_eq!(desk.state(&other), Some((HunkState::InText, Decision::Undecided)));
}

#[tokio::test]
async fn lines_of_a_file_that_is_only_proposed_are_accepted_with_it() {
    // Edits of one turn are decided together anyway.
    for (who, with_others) in [("other", false), ("other", true), ("tester", false)] {
        let mut desk = Desk::new(&[]);
        desk.workspace.set_settings(Settings { disk: Mode::Propose, ..Settings::default() });
        let create = FileRequest {
            path: desk.path("n.txt").display().to_string(),
            change: FileAction::Create("one\ntwo\n".into()),
            conversation: None,
            tool: "write_file".into(),
            reason: None,
        };
        let made = desk.workspace.change_file(&agent("tester"), create).await.unwrap();
        let read = desk.read("n.txt").await;
        let edit = desk.edit_as(who, None, "n.txt", &read, &[Op::Replace(1, 2, "2")]).await.unwrap();
        let along = if with_others { Along::All } else { Along::OfTurn };
        let accept = Request { along, ..request(Choice::Accept, Target::Edit(edit.edit.to_string())) };
        let decided = desk.decide(&accept).await;
        if with_others || who == "tester" {
            assert_eq!(decided.refused, []);
            assert_eq!(desk.stored("n.txt"), "one\n2\n");
            assert_eq!(desk.past("n.txt").edit(&made.edit).unwrap().status(), Status::Accepted);
        } else {
            let why: Vec<Why> = decided.refused.iter().map(|refused| refused.why).collect();
            assert_eq!(why, [Why::NeedsOthers]);
            assert_eq!(decided.refused[0].others[0].edit, made.edit, "it says which");
            assert_eq!(decided.queued, []);
            assert_eq!(desk.status("n.txt", &edit), Status::Pending);
            assert!(!desk.path("n.txt").exists());
        }
    }
}

/// As any other decision it waits until the recorded edits are there, and is made in a file that nobody has open.
#[tokio::test]
async fn a_held_edit_is_accepted_in_words_of_the_persons_own() {
    for opens in [true, false] {
        let mut desk = Desk::new(&[("a.txt", "one\ntwo\nthree\n")]);
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[Op::Replace(1, 2, "2")]).await;
        desk.settle();
        desk = Desk::over(desk.folder.clone(), Settings::default(), Histories::of("a test"));
        if opens {
            desk.opens("a.txt", "one\ntwo\nthree\n");
        }
        let own = Some(vec!["mine".to_owned()]);
        let accept = Request { own, ..request(Choice::Accept, Target::Hunk(first(&edit))) };
        let decided = desk.decide(&accept).await;
        assert_eq!(decided.refused, [], "{opens} {:?}", desk.told());
        let text = if opens { desk.text("a.txt") } else { desk.stored("a.txt") };
        assert_eq!(text, "one\nmine\nthree\n", "{opens}");
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit).0, Decision::Accepted, "{opens}");
    }
}
