//! What an agent's program has written by itself to files that no editor has open.

use hashline_history::{Decision, Location, Status};
use hashline_workspace::agent::WrittenFile;
use hashline_workspace::document::{Choice, HunkState, Mode, Target, Why};
use hashline_workspace::{Histories, Refusal, Settings};

use crate::desk::{Desk, Op, agent, first};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n";
const TWO: Op<'static> = Op::Replace(1, 2, "2");
const TURN: &str = "turn_1";

/// A program writes a file, or removes it, and tells of it afterwards. The edit that comes of it.
async fn writes(desk: &Desk, name: &str, text: Option<&str>) -> Result<Option<String>, Refusal> {
    writes_bytes(desk, name, text.map(str::as_bytes)).await
}

async fn writes_bytes(desk: &Desk, name: &str, bytes: Option<&[u8]>) -> Result<Option<String>, Refusal> {
    let path = desk.path(name);
    let before = std::fs::read(&path).ok();
    match bytes {
        Some(bytes) => std::fs::write(&path, bytes).unwrap(),
        None => std::fs::remove_file(&path).unwrap(),
    }
    let path = path.display().to_string();
    let file = WrittenFile { path, before, conversation: Some(TURN.to_owned()), tool: "Edit".to_owned() };
    let recorded = desk.workspace.record_written_file(&agent("tester"), file).await?;
    Ok(recorded.map(|edit| edit.to_string()))
}

fn stored(desk: &Desk, name: &str) -> Option<String> {
    std::fs::read_to_string(desk.path(name)).ok()
}

async fn decide(desk: &mut Desk, choice: Choice, edit: &str) -> Vec<Why> {
    desk.decides(choice, Target::Edit(edit.to_owned())).await
}

/// How the first hunk of an edit stands where it is offered.
fn state(desk: &Desk, edit: &str) -> Option<(HunkState, Decision)> {
    let reviews = desk.workspace.reviews();
    let mut edits = reviews.iter().flat_map(|review| &review.review.edits);
    let offered = edits.find(|offered| offered.edit.id.as_str() == edit)?;
    Some((offered.hunks[0].state, offered.hunks[0].decision))
}

#[tokio::test]
async fn what_was_written_is_an_edit_that_is_kept_or_taken_back() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let edit = writes(&desk, "a.txt", Some(EDITED)).await.unwrap().unwrap();
    let past = desk.past("a.txt");
    let recorded = &past.edits[0];
    assert_eq!((recorded.made.conversation.as_str(), recorded.made.tool.as_str()), (TURN, "Edit"));
    assert_eq!(recorded.status(), Status::Pending);
    assert_eq!(state(&desk, &edit), Some((HunkState::InText, Decision::Undecided)));

    assert_eq!(decide(&mut desk, Choice::Reject, &edit).await, []);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(FILE));
    assert_eq!(decide(&mut desk, Choice::Accept, &edit).await, []);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(EDITED));
}

#[tokio::test]
async fn a_file_that_was_made_goes_and_one_that_was_removed_comes_back() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let made = writes(&desk, "new.txt", Some("new\n")).await.unwrap().unwrap();
    let removed = writes(&desk, "a.txt", None).await.unwrap().unwrap();
    assert_eq!(decide(&mut desk, Choice::Reject, &made).await, []);
    assert_eq!(decide(&mut desk, Choice::Reject, &removed).await, []);
    assert_eq!(stored(&desk, "new.txt"), None);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(FILE));
    assert_eq!(decide(&mut desk, Choice::Accept, &made).await, []);
    assert_eq!(stored(&desk, "new.txt").as_deref(), Some("new\n"));
}

#[tokio::test]
async fn what_others_have_changed_before_is_no_part_of_it() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let first = writes(&desk, "a.txt", Some(EDITED)).await.unwrap().unwrap();
    // By a person, in an editor that nobody knows of.
    let typed = EDITED.replace("eight", "typed");
    std::fs::write(desk.path("a.txt"), &typed).unwrap();
    let second = writes(&desk, "a.txt", Some(&typed.replace("five", "5"))).await.unwrap().unwrap();
    assert_eq!(decide(&mut desk, Choice::Reject, &second).await, []);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(&*typed));
    assert_eq!(decide(&mut desk, Choice::Reject, &first).await, []);
    assert_eq!(stored(&desk, "a.txt"), Some(FILE.replace("eight", "typed")));
}

#[tokio::test]
async fn an_editor_that_opens_the_file_shows_it_and_decides_about_it() {
    let agents = Desk::new(&[("a.txt", FILE)]);
    let edit = writes(&agents, "a.txt", Some(EDITED)).await.unwrap().unwrap();
    let mut editor =
        Desk::beside(None, agents.folder.clone(), Settings::default(), Histories::of("an editor"));
    editor.open("a.txt");
    editor.until("the edit", |editor| state(editor, &edit).is_some()).await;
    assert_eq!(state(&editor, &edit), Some((HunkState::InText, Decision::Undecided)));
    assert_eq!(decide(&mut editor, Choice::Reject, &edit).await, []);
    assert_eq!(editor.text("a.txt"), FILE);
}

#[tokio::test]
async fn edits_by_tools_of_hashline_go_on_from_it() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    let tools = desk.edit("a.txt", &[Op::Replace(6, 7, "7")]).await;
    let after = stored(&desk, "a.txt").unwrap();
    let own = writes(&desk, "a.txt", Some(&after.replace("two", "2"))).await.unwrap().unwrap();
    let next = desk.edit("a.txt", &[Op::Replace(0, 1, "1")]).await;
    assert_eq!(stored(&desk, "a.txt"), Some(FILE.replace("one\ntwo", "1\n2").replace("seven", "7")));
    for edit in [tools.edit.as_str(), &own, next.edit.as_str()] {
        assert_eq!(decide(&mut desk, Choice::Reject, edit).await, []);
    }
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(FILE));
}

#[tokio::test]
async fn what_is_held_in_the_file_stays_held_beside_it() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    desk.workspace.set_settings(Settings { disk: Mode::Propose, ..Settings::default() });
    let held = desk.edit("a.txt", &[TWO]).await;
    let own = writes(&desk, "a.txt", Some(&FILE.replace("five", "5"))).await.unwrap().unwrap();
    assert_eq!(state(&desk, &own), Some((HunkState::InText, Decision::Undecided)));
    assert_eq!(desk.state(&held), Some((HunkState::Held, Decision::Undecided)));
    assert_eq!(desk.past("a.txt").hunk(&first(&held)).unwrap().location, Location::None);
    // They are decided one without the other.
    assert_eq!(desk.accept(&held).await, []);
    assert_eq!(stored(&desk, "a.txt"), Some(EDITED.replace("five", "5")));
    assert_eq!(decide(&mut desk, Choice::Reject, &own).await, []);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(EDITED));
}

#[tokio::test]
async fn what_stands_against_what_is_held_is_no_edit_and_is_found_in_the_file() {
    let mut desk = Desk::new(&[("a.txt", FILE)]);
    desk.workspace.set_settings(Settings { disk: Mode::Propose, ..Settings::default() });
    let held = desk.edit("a.txt", &[TWO]).await;
    let other = FILE.replace("two", "zwei");
    assert!(matches!(writes(&desk, "a.txt", Some(&other)).await, Ok(None)));
    assert_eq!(desk.past("a.txt").edits.len(), 1);
    assert_eq!(stored(&desk, "a.txt").as_deref(), Some(&*other));
    // As after a change by any other program.
    desk.open("a.txt");
    desk.settle();
    assert!(matches!(desk.state(&held), Some((HunkState::Conflicted(_), Decision::Undecided))));
    assert_eq!(desk.text("a.txt"), other);
}

#[tokio::test]
async fn nothing_is_recorded_of_what_is_no_change_of_a_text_here() {
    let mut desk = Desk::new(&[("a.txt", FILE), ("b.txt", FILE)]);
    assert!(matches!(writes(&desk, "a.txt", Some(FILE)).await, Ok(None)));
    std::fs::write(desk.path("c.bin"), b"\xff").unwrap();
    for bytes in [&b"text\n"[..], b"\xff"] {
        assert!(matches!(writes_bytes(&desk, "c.bin", Some(bytes)).await, Ok(None)), "{bytes:?}");
    }
    desk.open("b.txt");
    let refused = writes(&desk, "b.txt", Some(EDITED)).await;
    assert!(matches!(refused, Err(Refusal::TakenOver { .. })), "{refused:?}");
    let refused = writes(&desk, "../elsewhere.txt", Some(EDITED)).await;
    assert!(matches!(refused, Err(Refusal::Path(_))), "{refused:?}");
    for name in ["a.txt", "b.txt", "c.bin"] {
        assert!(desk.try_past(name).is_none(), "{name}");
    }
}
