//! What other programs write to a file that an editor has open with unsaved work (rule W23).

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hashline_history::{Allow, Decision, HunkRef, Probe, Status, Step};
use hashline_text::{Position, Span};
use hashline_weave::TextEdit;
use hashline_workspace::agent::{EditInfo, ReviewScope};
use hashline_workspace::document::{Choice, HunkState, Target};
use hashline_workspace::{Histories, Settings};

use crate::desk::{Desk, Op, agent};
use crate::street::Street;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\n";

/// An editor with a file open, which looks for what others write.
fn desk() -> Desk {
    desk_with(Histories::of("a test"))
}

fn desk_with(histories: Histories) -> Desk {
    let folder = Desk::new(&[("a.txt", FILE)]).folder;
    let street = Street::default();
    let mut desk = Desk::beside(Some(street.seen_by("editor")), folder, Settings::default(), histories);
    street.joined_by("editor", &desk.workspace);
    desk.open("a.txt");
    desk
}

/// The person replaces a line, from 0, and has not saved it.
fn types(desk: &mut Desk, line: u32, new: &str) {
    let span = Span::new(Position::new(line, 0), Position::new(line, 99));
    desk.make("a.txt", &[TextEdit { span, new: new.to_owned() }]);
}

/// What is held of the file, newest last.
async fn held(desk: &Desk) -> Vec<EditInfo> {
    let scope = ReviewScope { pending: true, ..ReviewScope::default() };
    let mut edits = desk.workspace.edits(&agent("looker"), &scope).await.unwrap();
    edits.retain(|edit| edit.agent.as_str() == "file on disk");
    edits
}

async fn until_held(desk: &mut Desk, count: usize) -> EditInfo {
    for _ in 0..500 {
        let edits = held(desk).await;
        if edits.first().is_some_and(|edit| edit.hunks.len() == count) {
            assert_eq!(edits.len(), 1, "{edits:?}");
            return edits.into_iter().next().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{count} hunks never came: {:?}; told {:?}", held(desk).await, desk.told());
}

/// Long enough for what was written to be looked at.
async fn a_while() {
    tokio::time::sleep(Duration::from_millis(1500)).await;
}

async fn nothing_is_held(desk: &mut Desk, about: &str) {
    a_while().await;
    assert!(held(desk).await.is_empty(), "{about}: {:?}", held(desk).await);
}

#[tokio::test]
async fn what_is_written_beside_unsaved_work_is_held_on_it() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", FILE.replace("four", "FOUR").replace("two", "2"));
    let edit = until_held(&mut desk, 2).await;
    assert_eq!(desk.text("a.txt"), FILE.replace("one", "ONE"), "the person's text stays");
    let (read, _) = desk.read("a.txt").await;
    assert_eq!(read.to_string(), "ONE\n2\nthree\nFOUR\nfive\n", "agents read both");
    let hunks: Vec<_> = edit.hunks.iter().map(|hunk| hunk.view.state).collect();
    assert_eq!(hunks, [HunkState::Held, HunkState::Held]);

    let first = HunkRef { edit: edit.id.clone(), number: 1 };
    assert!(desk.decides(Choice::Reject, Target::Hunk(first)).await.is_empty());
    assert!(desk.decides(Choice::Accept, Target::Edit(edit.id.to_string())).await.is_empty());
    assert_eq!(desk.text("a.txt"), "ONE\ntwo\nthree\nFOUR\nfive\n");
    desk.save("a.txt");
    let past = desk.past("a.txt");
    let decisions: Vec<_> = past.edit(&edit.id).unwrap().hunks.iter().map(|hunk| hunk.decision).collect();
    assert_eq!(decisions, [Decision::Rejected, Decision::Accepted]);
    nothing_is_held(&mut desk, "what the editor saves is its own").await;
}

#[tokio::test]
async fn what_is_written_where_the_person_has_typed_is_in_conflict() {
    let mut desk = desk();
    types(&mut desk, 1, "mine");
    desk.write("a.txt", FILE.replace("two", "theirs"));
    let edit = until_held(&mut desk, 1).await;
    assert!(matches!(edit.hunks[0].view.state, HunkState::Conflicted(_)), "{edit:?}");
    let (read, _) = desk.read("a.txt").await;
    assert_eq!(read.to_string(), FILE.replace("two", "mine"), "agents read the person's line");
    let theirs = desk.decides(Choice::TakeTheirs, Target::Edit(edit.id.to_string())).await;
    assert!(theirs.is_empty(), "{theirs:?}");
    assert_eq!(desk.text("a.txt"), FILE.replace("two", "theirs"));
}

#[tokio::test]
async fn a_text_without_unsaved_work_is_its_editors_to_read_again() {
    let mut desk = desk();
    let written = FILE.replace("two", "2");
    desk.write("a.txt", &written);
    nothing_is_held(&mut desk, "nothing is unsaved").await;
    // Its editor reads it again, and from then on that is what the file had.
    desk.becomes("a.txt", &written);
    a_while().await;
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", written.replace("four", "4"));
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\n2\nthree\n4\nfive\n");
}

#[tokio::test]
async fn a_later_write_takes_the_place_of_an_earlier_one() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", FILE.replace("two", "2"));
    let first = until_held(&mut desk, 1).await;
    desk.write("a.txt", FILE.replace("two", "2").replace("four", "4"));
    let second = until_held(&mut desk, 2).await;
    assert_ne!(first.id, second.id);
    desk.write("a.txt", FILE);
    nothing_is_held(&mut desk, "the file is as it was").await;
    assert_eq!(desk.text("a.txt"), FILE.replace("one", "ONE"));
    desk.write("a.txt", FILE.replace("five", "5"));
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\ntwo\nthree\nfour\n5\n");
}

#[tokio::test]
async fn what_was_decided_stays_when_the_file_is_written_again() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", FILE.replace("two", "2"));
    let first = until_held(&mut desk, 1).await;
    desk.decides(Choice::Accept, Target::Edit(first.id.to_string())).await;
    desk.write("a.txt", FILE.replace("two", "2").replace("four", "4"));
    let second = until_held(&mut desk, 1).await;
    assert_ne!(first.id, second.id);
    assert_eq!(desk.text("a.txt"), "ONE\n2\nthree\nfour\nfive\n");
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\n2\nthree\n4\nfive\n");
    assert_eq!(desk.past("a.txt").edit(&first.id).unwrap().status(), Status::Accepted);
}

#[tokio::test]
async fn what_the_editor_has_as_well_is_nothing_to_decide_about() {
    let mut desk = desk();
    types(&mut desk, 1, "2");
    desk.write("a.txt", FILE.replace("two", "2").replace("five", "5"));
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "one\n2\nthree\nfour\n5\n");
}

#[tokio::test]
async fn a_held_edit_of_an_agent_and_what_is_written_in_its_place_exclude_each_other() {
    let mut desk = desk();
    let held = desk.edit("a.txt", &[Op::Replace(1, 2, "agent's")]).await;
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", FILE.replace("two", "theirs"));
    let edit = until_held(&mut desk, 1).await;
    assert!(matches!(edit.hunks[0].view.state, HunkState::Conflicted(_)), "{edit:?}");
    assert!(desk.accept(&held).await.is_empty());
    assert_eq!(desk.text("a.txt"), "ONE\nagent's\nthree\nfour\nfive\n");
}

#[tokio::test]
async fn a_save_that_is_told_of_late_is_no_write_of_another_program() {
    for is_read in [true, false] {
        let mut desk = desk();
        types(&mut desk, 0, "ONE");
        if is_read {
            desk.read("a.txt").await;
        }
        let saved = desk.text("a.txt");
        desk.write("a.txt", &saved);
        types(&mut desk, 1, "TWO");
        nothing_is_held(&mut desk, "it is the editor's own").await;
        desk.workspace.did_save(&desk.uri("a.txt"));
        nothing_is_held(&mut desk, "and is still").await;
    }
}

#[tokio::test]
async fn what_is_typed_right_after_a_save_does_not_hide_what_the_file_had() {
    let mut desk = desk();
    desk.read("a.txt").await;
    types(&mut desk, 0, "ONE");
    let saved = desk.text("a.txt");
    desk.write("a.txt", &saved);
    desk.workspace.did_save(&desk.uri("a.txt"));
    types(&mut desk, 1, "TWO");
    desk.settle();
    desk.write("a.txt", saved.replace("five", "5"));
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\nTWO\nthree\nfour\n5\n");
}

#[tokio::test]
async fn what_was_held_before_a_save_stays_pending_beside_what_is_written_on_it() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", FILE.replace("two", "2"));
    let first = until_held(&mut desk, 1).await;
    // Saved over what was written, which is undecided.
    desk.save("a.txt");
    types(&mut desk, 2, "THREE");
    desk.write("a.txt", FILE.replace("one", "ONE").replace("five", "5"));
    let mut edits = held(&desk).await;
    for _ in 0..500 {
        if edits.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        edits = held(&desk).await;
    }
    assert!(edits.iter().any(|edit| edit.id == first.id), "{edits:?}");
    assert!(edits.iter().all(|edit| edit.hunks.len() == 1), "{edits:?}");
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\n2\nTHREE\nfour\n5\n");
}

#[tokio::test]
async fn what_is_written_again_is_offered_again() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    for _ in 0..2 {
        desk.write("a.txt", FILE.replace("two", "2"));
        until_held(&mut desk, 1).await;
        desk.write("a.txt", FILE);
        nothing_is_held(&mut desk, "the file is as it was").await;
    }
}

#[tokio::test]
async fn a_file_with_a_mark_that_its_editor_does_not_show_is_compared_by_its_lines() {
    let mut desk = desk();
    desk.close("a.txt");
    let marked = |text: &str| format!("\u{feff}{text}");
    desk.write("a.txt", marked(FILE));
    desk.open_as("a.txt", FILE);
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", marked(&FILE.replace("two", "2")));
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\n2\nthree\nfour\nfive\n");
}

fn git(root: &Path, arguments: &[&str]) {
    let person =
        ["-c", "user.name=a test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    let asked = Command::new("git").current_dir(root).args(person).args(arguments).output().unwrap();
    assert!(asked.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&asked.stderr));
}

/// The desk in a working tree with another branch, on which the file reads otherwise.
fn with_branches() -> Desk {
    let mut desk = desk();
    let root = desk.folder.path().to_owned();
    let hooks = root.join("no-hooks");
    git(&root, &["init", "--quiet", "--initial-branch", "main"]);
    git(&root, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    git(&root, &["add", "a.txt"]);
    git(&root, &["commit", "--quiet", "-m", "first"]);
    git(&root, &["checkout", "--quiet", "-b", "other"]);
    desk.write("a.txt", FILE.replace("two", "of the other branch"));
    git(&root, &["commit", "--quiet", "-am", "second"]);
    git(&root, &["checkout", "--quiet", "main"]);
    types(&mut desk, 0, "ONE");
    desk
}

#[tokio::test]
async fn what_git_writes_is_taken_over_in_silence() {
    const WORKS: [&[&[&str]]; 4] = [
        &[&["checkout", "--quiet", "other"]],
        &[&["checkout", "--quiet", "other", "--", "a.txt"]],
        &[&["rebase", "--quiet", "other"]],
        &[&["reset", "--quiet", "--hard", "other"]],
    ];
    let mut desks = Vec::new();
    for work in WORKS {
        let desk = with_branches();
        work.iter().for_each(|arguments| git(desk.folder.path(), arguments));
        desks.push((work, desk));
    }
    a_while().await;
    for (work, desk) in &desks {
        assert!(held(desk).await.is_empty(), "{work:?}: {:?}", held(desk).await);
        assert_eq!(desk.text("a.txt"), FILE.replace("one", "ONE"));
    }
}

#[tokio::test]
async fn what_is_stashed_and_brought_back_is_taken_over_in_silence() {
    let mut desk = with_branches();
    let root = desk.folder.path().to_owned();
    desk.write("a.txt", FILE.replace("two", "2"));
    let first = until_held(&mut desk, 1).await;
    git(&root, &["stash", "--quiet"]);
    a_while().await;
    git(&root, &["stash", "pop", "--quiet"]);
    a_while().await;
    assert_eq!(desk.text("a.txt"), FILE.replace("one", "ONE"));
    let now = until_held(&mut desk, 1).await;
    assert_eq!(now.id, first.id, "what was offered stays, and nothing comes in its place");
}

#[tokio::test]
async fn nothing_is_held_while_git_is_not_done() {
    let mut desk = with_branches();
    let lock = desk.folder.path().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    desk.write("a.txt", FILE.replace("two", "2"));
    nothing_is_held(&mut desk, "git is not done").await;
    std::fs::remove_file(lock).unwrap();
    until_held(&mut desk, 1).await;
}

#[tokio::test]
async fn a_file_that_another_program_writes_is_held_though_git_looks_at_it() {
    let mut desk = with_branches();
    let root = desk.folder.path().to_owned();
    desk.write("a.txt", FILE.replace("two", "2"));
    git(&root, &["status", "--short"]);
    let list = std::fs::File::options().append(true).open(root.join(".git/index")).unwrap();
    list.set_modified(std::time::SystemTime::now()).unwrap();
    until_held(&mut desk, 1).await;
}

/// A disk that may be full.
#[derive(Default)]
struct Disk {
    is_full: AtomicBool,
}

impl Probe for Disk {
    fn step(&self, step: Step, _: &str) -> Allow {
        match step {
            Step::Write(_) if self.is_full.load(Ordering::Relaxed) => {
                Allow::Fail(ErrorKind::StorageFull.into())
            }
            _ => Allow::All,
        }
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_shown_and_is_tried_again() {
    let disk = Arc::new(Disk::default());
    let mut desk = desk_with(Histories::of("a test").with_probe(disk.clone()));
    types(&mut desk, 0, "ONE");
    disk.is_full.store(true, Ordering::Relaxed);
    desk.write("a.txt", FILE.replace("two", "2"));
    nothing_is_held(&mut desk, "it cannot be recorded").await;
    disk.is_full.store(false, Ordering::Relaxed);
    until_held(&mut desk, 1).await;
    assert_eq!(desk.read("a.txt").await.0.to_string(), "ONE\n2\nthree\nfour\nfive\n");
}

#[tokio::test]
async fn files_that_end_lines_otherwise_are_compared_by_their_lines() {
    let mut desk = desk();
    let endings = |text: &str| text.replace('\n', "\r\n");
    desk.close("a.txt");
    desk.write("a.txt", endings(FILE));
    // The editor serves them with its own endings.
    desk.open_as("a.txt", FILE);
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", endings(&FILE.replace("two", "2")));
    let edit = until_held(&mut desk, 1).await;
    desk.decides(Choice::Accept, Target::Edit(edit.id.to_string())).await;
    assert_eq!(desk.text("a.txt"), "ONE\n2\nthree\nfour\nfive\n");
}

#[tokio::test]
async fn what_is_no_text_or_gone_is_left_alone() {
    let mut desk = desk();
    types(&mut desk, 0, "ONE");
    desk.write("a.txt", [0xff, 0xfe, 0x00]);
    nothing_is_held(&mut desk, "no text").await;
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    nothing_is_held(&mut desk, "gone").await;
    desk.write("a.txt", FILE.replace("two", "2"));
    until_held(&mut desk, 1).await;
}
