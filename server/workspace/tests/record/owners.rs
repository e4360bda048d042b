//! Several editors over one folder: each undecided edit is decided in one of them (rule W19).

use std::path::Path;
use std::time::{Duration, Instant};

use hashline_history::{
    Decided, Decision, DocumentName, Draft, FilesNow, Location, OwnerChange, Status, Store,
};
use hashline_text::FileHash;
use hashline_workspace::agent::{FileAction, FileRequest};
use hashline_workspace::document::{Choice, Elsewhere, HunkState, Mode, Target, Why};
use hashline_workspace::{DocumentReview, Histories, Level, Refusal, Settings};

use crate::desk::{Desk, Folder, Op, PATIENCE, agent, first, request};
use crate::street::Street;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n";
const TWO: Op<'static> = Op::Replace(1, 2, "2");
const SEVEN: Op<'static> = Op::Replace(6, 7, "7");

/// A process that begins.
fn joins(street: &Street, name: &str, beside: Option<&Desk>) -> Desk {
    let (histories, others) = (Histories::of(name), street.seen_by(name));
    let folder = match beside {
        Some(other) => other.folder.clone(),
        None => Desk::new(&[("a.txt", FILE), ("b.txt", FILE)]).folder,
    };
    let desk = Desk::beside(Some(others), folder, Settings::default(), histories);
    street.joined_by(name, &desk.workspace);
    desk
}

/// Two editors over one folder.
fn two(street: &Street) -> (Desk, Desk) {
    let one = joins(street, "one", None);
    let other = joins(street, "other", Some(&one));
    (one, other)
}

/// What a process shows of a file.
fn shown(desk: &Desk, name: &str) -> Option<DocumentReview> {
    let uri = desk.uri(name);
    desk.workspace.reviews().into_iter().find(|review| review.uri == uri)
}

/// Who decides about what is shown of a file, if anything is.
fn owner(desk: &Desk, name: &str) -> Option<Option<String>> {
    shown(desk, name).map(|review| review.owner)
}

fn some(name: &str) -> Option<Option<String>> {
    Some(Some(name.to_owned()))
}

#[tokio::test]
async fn the_second_editor_shows_an_edit_that_the_first_decides_about() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    other.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    one.settle();
    assert_eq!(one.past("a.txt").owner.as_deref(), Some("one-id"));
    other.until("the other's look", |other| owner(other, "a.txt") == some("one")).await;
    assert!(shown(&other, "a.txt").unwrap().is_read_only());
    assert_eq!(other.state(&edit), Some((HunkState::Held, Decision::Undecided)));
    assert_eq!(owner(&one, "a.txt"), Some(None));

    // It is not decided there, and agents do not edit there.
    assert_eq!(other.accept(&edit).await, [Why::Elsewhere]);
    assert_eq!(other.text("a.txt"), FILE);
    let refused = other.try_edit("a.txt", &[SEVEN]).await.unwrap_err();
    assert!(matches!(refused, Refusal::TakenOver { .. }), "{refused}");
    // Nor does it count twice, and an agent that lists what is open there is told where it is decided.
    let listed = |desk: &Desk| desk.workspace.documents(&crate::desk::agent("tester"))[0].owner.clone();
    assert_eq!((listed(&one), listed(&other).as_deref()), (None, Some("one")));
    assert_eq!(other.workspace.holding(&other.path("a.txt")).unwrap().pending, 0);
    assert_eq!(one.workspace.holding(&one.path("a.txt")).unwrap().pending, 1);

    // What is typed there changes nothing of it.
    other.becomes("a.txt", &format!("typed\n{FILE}"));
    other.settle();
    let last = one.past("a.txt").sequence;
    assert_eq!(one.accept(&edit).await, []);
    one.settle();
    other.until("the decision", |other| shown(other, "a.txt").is_none()).await;
    assert!(one.past("a.txt").sequence > last);
    assert_eq!(other.text("a.txt"), format!("typed\n{FILE}"));
    assert_eq!(one.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
}

#[tokio::test]
async fn what_is_decided_and_saved_may_be_built_on_in_the_other_editor() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    other.open("a.txt");
    let first = one.edit("a.txt", &[TWO]).await;
    assert_eq!(one.accept(&first).await, []);
    one.settle();
    // Not saved, it is one's alone.
    let refused = other.try_edit("a.txt", &[SEVEN]).await.unwrap_err();
    assert!(matches!(refused, Refusal::TakenOver { .. }), "{refused}");
    one.save("a.txt");
    other.becomes("a.txt", EDITED);

    let second = other.edit("a.txt", &[SEVEN]).await;
    assert_eq!(other.past("a.txt").owner.as_deref(), Some("other-id"));
    assert_eq!(other.state(&second), Some((HunkState::Held, Decision::Undecided)));
    one.until("the other's edit", |one| owner(one, "a.txt") == some("other")).await;
    // The first edit is known there with its lines: it can be taken out again.
    assert_eq!(other.reject(&first).await, []);
    assert_eq!(other.text("a.txt"), FILE);
    assert_eq!(other.accept(&second).await, []);
    assert_eq!(other.text("a.txt"), FILE.replace("seven", "7"));
    other.save("a.txt");
    assert_eq!(other.status("a.txt", &first), Status::Rejected);
    assert_eq!(other.status("a.txt", &second), Status::Accepted);
}

#[tokio::test]
async fn an_editor_tells_that_it_has_claimed_a_file_as_long_as_others_take_no_edit_of_it() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    other.open("a.txt");
    let claimed = |desk: &Desk| desk.workspace.holding(&desk.path("a.txt")).unwrap().claimed;
    assert_eq!((claimed(&one), claimed(&other)), (false, false));
    let edit = one.edit("a.txt", &[TWO]).await;
    assert_eq!((claimed(&one), claimed(&other)), (true, false), "undecided");
    assert_eq!(one.accept(&edit).await, []);
    one.settle();
    assert_eq!((claimed(&one), claimed(&other)), (true, false), "not saved");

    // The file is written, and the other editor reads it before the first says that it has written it.
    one.write("a.txt", EDITED);
    other.becomes("a.txt", EDITED);
    let levels = [&one, &other].map(|desk| desk.workspace.holding(&desk.path("a.txt")).unwrap().level);
    assert_eq!(levels, [Level::Saved, Level::Saved]);
    let refused = other.try_edit("a.txt", &[SEVEN]).await.unwrap_err();
    assert!(matches!(refused, Refusal::TakenOver { .. }), "{refused}");
    assert_eq!((claimed(&one), claimed(&other)), (true, false), "not known to be saved");

    one.save("a.txt");
    assert_eq!((claimed(&one), claimed(&other)), (false, false));
    other.edit("a.txt", &[SEVEN]).await;
    assert_eq!((claimed(&one), claimed(&other)), (false, true));
}

#[tokio::test]
async fn the_edits_of_an_editor_that_ended_are_decided_where_the_file_is_open() {
    for opened_before in [true, false] {
        let street = Street::default();
        let (mut one, mut other) = two(&street);
        one.open("a.txt");
        if opened_before {
            other.open("a.txt");
        }
        let taken = one.edit("a.txt", &[SEVEN]).await;
        assert_eq!(one.accept(&taken).await, []);
        let held = one.edit("a.txt", &[TWO]).await;
        one.settle();
        other.until("the other's look", |other| owner(other, "a.txt") == some("one")).await;
        street.left_by("one");
        drop(one);
        if !opened_before {
            other.open("a.txt");
        }
        other.until("its edits", |other| owner(other, "a.txt") == Some(None)).await;
        assert_eq!(other.state(&held), Some((HunkState::Held, Decision::Undecided)));
        assert_eq!(other.past("a.txt").owner.as_deref(), Some("other-id"));
        // What it had not saved is asked again.
        assert_eq!(other.state(&taken), Some((HunkState::Held, Decision::Undecided)));
        assert_eq!(other.accept(&held).await, []);
        assert_eq!(other.text("a.txt"), EDITED);
    }
}

/// Both take over what an editor leaves that has ended, and the other one is quicker, just when this one has read the record.
#[tokio::test]
async fn what_a_quicker_editor_has_recorded_with_its_claim_is_shown() {
    let street = Street::default();
    let (mut one, mut slow) = two(&street);
    one.open("a.txt");
    slow.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    one.settle();
    slow.until("the first's edit", |slow| owner(slow, "a.txt") == some("one")).await;

    let name = DocumentName::Path(slow.path("a.txt"));
    let root = slow.folder.path().canonicalize().unwrap();
    let mut quick = Store::new(root, "quick").session(&NotAsked).unwrap();
    street.left_by("one");
    street.joined_by("quick", &one.workspace);
    let since = Instant::now();
    while owner(&slow, "a.txt") != Some(None) {
        // Not by `until`, as this one waits for the record from now on.
        assert!(since.elapsed() < PATIENCE, "it never takes the edit over");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rejected = Decided { hunk: first(&edit), decision: Decision::Rejected, reason: None };
    let claimed = Some(OwnerChange::Claimed("quick-id".to_owned()));
    let draft = Draft { decisions: vec![rejected], owner: claimed, ..Draft::about(name) };
    quick.append(&draft).unwrap();
    assert_eq!(quick.finish(), Vec::<String>::new());

    slow.until("the quicker one's decision", |slow| slow.offered(&edit).is_none()).await;
}

/// What this editor shows as rejected the other one has just reopened: to reject it once more would change nothing here, and is not so there.
#[tokio::test]
async fn a_decision_that_changes_nothing_holds_only_if_nobody_else_has_decided_since() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    assert_eq!(one.reject(&edit).await, []);
    one.save("a.txt");
    other.open("a.txt");
    other.settle();
    // Nothing has changed, and nothing does.
    let before = one.past("a.txt").sequence;
    assert_eq!(other.reject(&edit).await, []);
    assert_eq!(one.past("a.txt").sequence, before);

    assert_eq!(one.decides(Choice::Reopen, Target::Edit(edit.edit.to_string())).await, []);
    let refused = other.reject(&edit).await;
    assert_eq!(one.status("a.txt", &edit), Status::Pending);
    assert_eq!(refused, [Why::Elsewhere]);
}

/// A line that could be neither made durable nor cut off is read by others until its process takes it back.
#[tokio::test]
async fn an_edit_whose_line_was_taken_back_is_shown_in_no_editor() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    other.open("a.txt");
    one.edit("b.txt", &[TWO]).await;
    one.settle();
    let record = one.history().join("decisions.log");
    let before = std::fs::metadata(&record).unwrap().len();
    let edit = one.edit("a.txt", &[TWO]).await;
    one.settle();
    other.until("the first's edit", |other| other.offered(&edit).is_some()).await;
    std::fs::File::options().write(true).open(&record).unwrap().set_len(before).unwrap();
    other.until("that it is gone", |other| other.offered(&edit).is_none()).await;
    assert_eq!(other.text("a.txt"), FILE);
    // Nothing is locked.
    street.left_by("one");
    let again = other.edit("a.txt", &[SEVEN]).await;
    assert_eq!(other.accept(&again).await, []);
}

#[tokio::test]
async fn an_edit_whose_line_was_taken_back_is_shown_of_no_closed_file() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    one.settle();
    other.until("the first's edit", |other| owner(other, "a.txt") == some("one")).await;
    let record = one.history().join("decisions.log");
    let head = std::fs::read_to_string(&record).unwrap().find('\n').unwrap() + 1;
    std::fs::File::options().write(true).open(&record).unwrap().set_len(head as u64).unwrap();
    other.until("that it is gone", |other| other.offered(&edit).is_none()).await;
}

/// No file is asked about where nothing was left unfinished.
struct NotAsked;

impl FilesNow for NotAsked {
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>> {
        panic!("{} is asked about", path.display())
    }
}

#[tokio::test]
async fn a_claim_ends_when_the_file_is_closed() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    other.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    other.until("the other's look", |other| owner(other, "a.txt") == some("one")).await;
    one.close("a.txt");
    other.until("its turn", |other| owner(other, "a.txt") == Some(None)).await;
    assert_eq!(other.accept(&edit).await, []);
    assert_eq!(other.text("a.txt"), EDITED);
    one.until("the decision", |one| shown(one, "a.txt").is_none()).await;
    other.settle();
    assert_eq!(other.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
}

#[tokio::test]
async fn a_file_that_is_opened_with_a_text_that_nobody_watched_is_claimed() {
    let mut one = joins(&Street::default(), "one", None);
    let edit = one.edit("a.txt", &[TWO]).await;
    one.write("a.txt", format!("typed\n{EDITED}"));
    one.open("a.txt");
    assert_eq!(one.state(&edit), Some((HunkState::InText, Decision::Undecided)));
    assert_eq!(one.past("a.txt").owner.as_deref(), Some("one-id"));
}

/// Nobody has claimed the file, as nothing of it was undecided and all was saved.
#[tokio::test]
async fn what_another_process_finds_in_the_file_is_asked_where_it_is_open() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    assert_eq!(one.accept(&edit).await, []);
    one.save("a.txt");
    assert_eq!(one.reject(&edit).await, []);
    one.save("a.txt");
    one.becomes("a.txt", &format!("{FILE}typed\n"));
    one.settle();
    one.write("a.txt", EDITED);
    other.read("a.txt").await;
    other.settle();
    assert_eq!(other.recorded("a.txt", &edit), (Decision::Undecided, Location::Disk));
    one.until("the question", |one| one.state(&edit) == Some((HunkState::Held, Decision::Undecided))).await;
    other.until("its claim", |other| owner(other, "a.txt") == some("one")).await;
    assert_eq!(one.reject(&edit).await, []);
    one.settle();
    assert_eq!(one.text("a.txt"), format!("{FILE}typed\n"));
    other.until("the decision", |other| shown(other, "a.txt").is_none()).await;
}

#[tokio::test]
async fn what_was_typed_and_closed_unsaved_is_not_written_from_another_editor() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    one.becomes("a.txt", &format!("typed\n{FILE}"));
    let edit = one.edit("a.txt", &[Op::Replace(2, 3, "2")]).await;
    other.until("the other's look", |other| owner(other, "a.txt") == some("one")).await;
    one.close("a.txt");
    // It may be opened again in a moment, and until then it is still the first editor's.
    let refused = other.try_edit("a.txt", &[SEVEN]).await.unwrap_err();
    assert!(matches!(refused, Refusal::TakenOver { .. }), "{refused}");
    let decision = request(Choice::Accept, Target::Edit(edit.edit.to_string()));
    assert_eq!(other.workspace.decide(None, &decision).await.elsewhere.len(), 1);
    assert_eq!(other.stored("a.txt"), FILE);
    other.until("its turn", |other| owner(other, "a.txt") == Some(None)).await;
    assert_eq!(other.stored("a.txt"), FILE);
}

/// The document was closed a moment ago, and what is still to be said of it is said by the name that it had.
#[tokio::test]
async fn a_claim_that_is_given_back_leaves_a_file_its_new_name() {
    let mut one = joins(&Street::default(), "one", None);
    one.open("a.txt");
    let change = FileAction::Move(one.path("c.txt").display().to_string());
    let asked = FileRequest {
        path: one.path("a.txt").display().to_string(),
        change,
        conversation: None,
        tool: "a_tool".into(),
        reason: None,
    };
    let moved = one.workspace.change_file(&agent("tester"), asked).await.unwrap();
    assert!(moved.held);
    one.settle();
    assert_eq!(one.past("a.txt").owner.as_deref(), Some("one-id"));
    one.close("a.txt");
    let target = || Target::Edit(moved.edit.to_string());
    let decided = one.workspace.decide(None, &request(Choice::Accept, target())).await;
    assert_eq!((decided.refused, one.stored("c.txt").as_str()), (vec![], FILE));
    one.close_for_good("a.txt").await;
    assert_eq!(one.past("c.txt").owner, None);
    let decided = one.workspace.decide(None, &request(Choice::Reject, target())).await;
    assert_eq!((decided.refused, one.stored("a.txt").as_str()), (vec![], FILE));
}

#[tokio::test]
async fn of_a_file_that_only_another_has_open_the_decision_is_handed_over() {
    let street = Street::default();
    let (mut one, mut other) = two(&street);
    one.open("a.txt");
    let edit = one.edit("a.txt", &[TWO]).await;
    let kept = one.edit("a.txt", &[SEVEN]).await;
    assert_eq!(one.accept(&kept).await, []);
    one.settle();
    other.until("the other's look", |other| owner(other, "a.txt") == some("one")).await;
    assert!(!shown(&other, "a.txt").unwrap().is_read_only());

    let whole = Target::Edit(edit.edit.to_string());
    let decided = other.workspace.decide(None, &request(Choice::Accept, whole)).await;
    assert_eq!(decided.queued, []);
    assert_eq!(decided.refused, []);
    let [Elsewhere { file, refused }] = &decided.elsewhere[..] else { panic!("{decided:?}") };
    assert_eq!(*file, other.path("a.txt"));
    assert!(refused.message.contains("open in one"), "{}", refused.message);
    // What is not on the disk there is no question here.
    assert_eq!(other.stored("a.txt"), FILE);
    assert_eq!(one.recorded("a.txt", &kept), (Decision::Accepted, Location::Buffer));

    // Nor is a file written under the other editor that has no edits of it any more.
    assert_eq!(one.accept(&edit).await, []);
    one.save("a.txt");
    let back = Target::Edit(edit.edit.to_string());
    let decided = other.workspace.decide(None, &request(Choice::Reject, back)).await;
    assert_eq!((decided.queued.len(), decided.elsewhere.len()), (0, 1), "{decided:?}");
    assert_eq!(other.stored("a.txt"), one.text("a.txt"));
}

#[tokio::test]
async fn edits_of_files_that_nobody_has_open_are_shown_in_all_editors_and_told_of_by_one() {
    let street = Street::default();
    let (one, mut other) = two(&street);
    let settings = Settings { disk: Mode::Propose, ..Settings::default() };
    one.workspace.set_settings(settings);
    let edit = one.edit("a.txt", &[TWO]).await;
    other.until("the edit", |other| owner(other, "a.txt") == Some(None)).await;
    let listed = async |desk: &Desk| {
        let scope = hashline_workspace::agent::ReviewScope::default();
        desk.workspace.edits(&crate::desk::agent("tester"), &scope).await.unwrap().len()
    };
    assert_eq!((listed(&one).await, listed(&other).await), (1, 0));
    // Either may decide.
    assert_eq!(other.accept(&edit).await, []);
    assert_eq!(other.stored("a.txt"), EDITED);
    let mut one = one;
    one.until("the decision", |one| shown(one, "a.txt").is_none()).await;
}

#[tokio::test]
async fn what_was_recorded_in_a_folder_below_is_found_before_a_file_there_is_opened() {
    let street = Street::default();
    let whole = Desk::new(&[("a.txt", FILE)]);
    for folder in ["inner", "ignored"] {
        std::fs::create_dir(whole.path(folder)).unwrap();
        whole.write(&format!("{folder}/b.txt"), FILE);
    }
    whole.write(".gitignore", "ignored\n");
    let settings = Settings { disk: Mode::Propose, ..Settings::default() };
    let mut edits = Vec::new();
    for folder in ["inner", "ignored"] {
        let below = Folder::at(whole.path(folder));
        let below = Desk::over(below, settings.clone(), Histories::of("a test"));
        edits.push(below.edit("b.txt", &[TWO]).await);
        below.settle();
    }
    let mut over = joins(&street, "one", Some(&whole));
    over.until("the edit below", |over| over.offered(&edits[0]).is_some()).await;
    assert_eq!(over.offered(&edits[1]), None);
    assert_eq!(over.accept(&edits[0]).await, []);
    assert_eq!(over.stored("inner/b.txt"), EDITED);
}
