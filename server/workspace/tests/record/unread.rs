//! A document that is opened with a text that lacks an edit of its file: the editor had read the file before the edit, and unsaved work
//! keeps it from reading it again (rule W17).

use hashline_history::{Decision, Location};
use hashline_workspace::Settings;
use hashline_workspace::document::{Along, Choice, HunkState, Mode, Request, Target, Why};

use crate::desk::{Desk, Op, request};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// Edits of line five as they go to the disk, and what comes of them in the file.
fn edits() -> [(Op<'static>, String); 3] {
    [
        (Op::Replace(4, 5, "5"), FILE.replace("five\n", "5\n")),
        (Op::After(4, "5a\n5b"), FILE.replace("five\n", "five\n5a\n5b\n")),
        (Op::Delete(4, 5), FILE.replace("five\n", "")),
    ]
}

/// What the person did to the text before the editor told of it, elsewhere than in line five.
const TYPED: [(&str, &str); 6] = [
    ("ten\n", "ten\ntyped\n"),
    ("one\n", "ONE\n"),
    ("four\n", "FOUR\n"),
    ("six\n", "typed\nsix\n"),
    ("two\nthree\n", ""),
    ("six\nseven\neight\nnine\nten\n", ""),
];

#[tokio::test]
async fn an_edit_of_the_file_that_an_opened_text_lacks_is_held() {
    for restarted in [false, true] {
        for (edit, edited) in edits() {
            for (old, typed) in TYPED {
                let mut desk = Desk::new(&[("a.txt", FILE)]);
                let made = desk.edit("a.txt", std::slice::from_ref(&edit)).await;
                desk.settle();
                assert_eq!(desk.stored("a.txt"), edited);
                assert_eq!(desk.recorded("a.txt", &made), (Decision::Undecided, Location::Disk));
                if restarted {
                    desk = desk.restarted();
                }
                let unsaved = FILE.replace(old, typed);
                desk.open_as("a.txt", &unsaved);
                let about = format!("{edit:?} {typed:?} {restarted}");
                assert_eq!(desk.state(&made), Some((HunkState::Held, Decision::Undecided)), "{about}");
                assert_eq!(desk.recorded("a.txt", &made), (Decision::Undecided, Location::None), "{about}");
                assert_eq!(desk.text("a.txt"), unsaved, "{about}");
                // A rejection leaves the text as it is, and an acceptance puts the edit in.
                assert_eq!(desk.reject(&made).await, [], "{about}");
                assert_eq!(desk.text("a.txt"), unsaved, "{about}");
                assert_eq!(desk.accept(&made).await, [], "{about}");
                let both = edited.replace(old, typed);
                // What the person typed at the very place of an insert may stand before it or behind it.
                let other = FILE.replace("six\n", "typed\n5a\n5b\nsix\n");
                assert!([both, other].contains(&desk.text("a.txt")), "{about} {:?}", desk.text("a.txt"));
                desk.save("a.txt");
                assert_eq!(desk.recorded("a.txt", &made), (Decision::Accepted, Location::Disk), "{about}");
            }
        }
    }
}

#[tokio::test]
async fn an_edit_of_the_file_that_an_opened_text_shows_is_in_the_text() {
    for (edit, edited) in edits() {
        for (old, typed) in [("ten\n", "ten\ntyped\n"), ("one\n", "ONE\n"), ("six\n", "SIX\n")] {
            let mut desk = Desk::new(&[("a.txt", FILE)]);
            let made = desk.edit("a.txt", std::slice::from_ref(&edit)).await;
            desk.open_as("a.txt", &edited.replace(old, typed));
            let about = format!("{edit:?} {typed:?}");
            let offered = desk.offered(&made).map(|hunks| hunks[0].clone()).unwrap();
            // With a change beside it its place is not certain, but it is there.
            assert_ne!(offered.state, HunkState::Held, "{about}");
            assert_eq!(desk.recorded("a.txt", &made).0, Decision::Undecided, "{about}");
            assert_eq!(desk.accept(&made).await, [], "{about}");
            assert_eq!(desk.text("a.txt"), edited.replace(old, typed), "{about}");
        }
    }
}

#[tokio::test]
async fn of_several_edits_an_opened_text_has_those_that_it_shows() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let shown = desk.edit("a.txt", &[Op::Replace(1, 2, "2")]).await;
    let lacked = desk.edit("a.txt", &[Op::Replace(4, 5, "5"), Op::After(9, "eleven")]).await;
    // One that rests on another goes with it.
    let upon = desk.edit("a.txt", &[Op::Replace(4, 5, "V")]).await;
    assert_eq!(desk.stored("a.txt").lines().nth(4), Some("V"));
    let unsaved = FILE.replace("two\n", "2\n").replace("seven\n", "seven\ntyped\n");
    desk.open_as("a.txt", &unsaved);
    assert_eq!(desk.state(&shown), Some((HunkState::InText, Decision::Undecided)));
    for edit in [&lacked, &upon] {
        let hunks = desk.offered(edit).unwrap();
        assert!(hunks.iter().all(|hunk| hunk.state == HunkState::Held), "{hunks:?}");
    }
    assert_eq!(desk.accept(&upon).await, []);
    assert_eq!(desk.text("a.txt"), unsaved.replace("five\n", "V\n"));
    assert_eq!(desk.accept(&lacked).await, []);
    assert_eq!(desk.text("a.txt"), unsaved.replace("five\n", "V\n").replace("ten\n", "ten\neleven\n"));
}

#[tokio::test]
async fn an_edit_that_has_no_certain_place_in_an_opened_text_can_only_be_rejected() {
    for unsaved in [
        // The person has changed the line, and what is on both sides of it.
        FILE.replace("four\nfive\nsix\n", "FOUR\nFIVE\nSIX\n"),
        // The place stands there twice.
        format!("{FILE}{FILE}"),
        // Nothing is as it was.
        "another\ntext\n".to_owned(),
    ] {
        let mut desk = Desk::new(&[("a.txt", FILE)]);
        let made = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
        desk.open_as("a.txt", &unsaved);
        let state = desk.state(&made);
        assert!(
            matches!(state, Some((HunkState::Conflicted(_), Decision::Undecided))),
            "{unsaved} {state:?}"
        );
        assert_eq!(desk.accept(&made).await.len(), 1, "{unsaved}");
        assert_eq!(desk.text("a.txt"), unsaved);
        assert_eq!(desk.recorded("a.txt", &made), (Decision::Undecided, Location::None), "{unsaved}");
        assert_eq!(desk.reject(&made).await, [], "{unsaved}");
        assert_eq!(desk.text("a.txt"), unsaved);
    }
}

#[tokio::test]
async fn a_decision_about_an_edit_that_the_text_lacks_is_about_what_is_offered() {
    // Keep, as it is asked for by one who has seen the file.
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let made = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    desk.opens("a.txt", &FILE.replace("one\n", "ONE\n"));
    let keep = Request { along: Along::All, ..request(Choice::Accept, Target::All) };
    let decided = desk.workspace.decide(Some(&desk.uri("a.txt")), &keep).await;
    assert_eq!(decided.refused.iter().map(|refused| refused.why).collect::<Vec<Why>>(), []);
    desk.settle();
    assert_eq!(desk.recorded("a.txt", &made).0, Decision::Undecided, "the text does not show it yet");
    assert!(desk.deliver("a.txt"));
    desk.settle();
    assert_eq!(desk.text("a.txt"), FILE.replace("one\n", "ONE\n").replace("five\n", "5\n"));
    assert_eq!(desk.recorded("a.txt", &made), (Decision::Accepted, Location::Buffer));
}

#[tokio::test]
async fn the_file_is_what_it_was_when_the_unsaved_text_is_given_up() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let made = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    let edited = desk.stored("a.txt");
    desk.open_as("a.txt", &FILE.replace("one\n", "ONE\n"));
    assert_eq!(desk.state(&made), Some((HunkState::Held, Decision::Undecided)));
    assert_eq!(desk.stored("a.txt"), edited);
    desk.close_for_good("a.txt").await;
    desk.read("a.txt").await;
    desk.settle();
    assert_eq!(desk.state(&made), Some((HunkState::InText, Decision::Undecided)), "{:?}", desk.told());
    // Or is read from the file again.
    desk.open_as("a.txt", &FILE.replace("one\n", "ONE\n"));
    assert_eq!(desk.state(&made), Some((HunkState::Held, Decision::Undecided)));
    desk.close("a.txt");
    desk.open("a.txt");
    assert_eq!(desk.state(&made), Some((HunkState::InText, Decision::Undecided)), "{:?}", desk.told());
    assert_eq!(desk.reject(&made).await, []);
    assert_eq!(desk.text("a.txt"), FILE);
}

#[tokio::test]
async fn an_edit_that_an_opened_text_lacks_does_not_go_in_by_itself() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    desk.workspace.set_settings(Settings { open: Mode::Apply, ..Settings::default() });
    let made = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    let unsaved = FILE.replace("one\n", "ONE\n");
    desk.open_as("a.txt", &unsaved);
    assert!(!desk.deliver("a.txt"));
    assert_eq!(desk.text("a.txt"), unsaved);
    assert_eq!(desk.state(&made), Some((HunkState::Held, Decision::Undecided)));
    // And agents see it as it is to be.
    assert_eq!(desk.read("a.txt").await.0.to_string(), unsaved.replace("five\n", "5\n"));
}
