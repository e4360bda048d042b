//! Files that are renamed and removed through the editor that has them open.

use std::time::{Duration, Instant};

use hashline_history::{Decision, HunkRef, Status};
use hashline_text::DocVersion;
use hashline_weave::TakeOut;
use hashline_workspace::Settings;
use hashline_workspace::agent::{FileAction, FileRequest, ReviewScope};
use hashline_workspace::document::{
    Choice, ContentChange, FileAnswer, FileOperation, FileOperations, Mode, Request, Target, Why,
};

use crate::agent::caller;
use crate::desk::{BOTH, Desk, TEXT};

/// How long a closed file waits for its editor, and a little.
const CLOSED_FOR_GOOD: Duration = Duration::from_millis(2300);

#[tokio::test]
async fn an_open_file_is_removed_by_its_editor_and_comes_back_when_that_is_rejected() {
    let mut desk = Desk::new(BOTH);
    let removed = desk.change("a.txt", FileAction::Delete).await;
    let delivery = desk.asked(Choice::Accept, &removed, "a.txt").await;
    assert_eq!((&delivery.operation, delivery.version), (&FileOperation::Remove, DocVersion(1)));
    assert!(delivery.switch.on && delivery.switch.decided && delivery.switch.agent.as_str() == "tester");
    assert_eq!(desk.status(&removed).await, Status::Pending, "until the disk shows it");
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    desk.close("a.txt");
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.until(&removed, Status::Accepted).await;
    assert_eq!(desk.read("a.txt").await, None);
    desk.workspace.settle_record();
    desk.restart();
    let decided = desk.decide(Choice::Reject, &removed).await;
    assert_eq!((decided.refused, desk.file("a.txt").unwrap()), (vec![], TEXT.to_owned()));
    assert_eq!(desk.status(&removed).await, Status::Rejected);
}

/// In the order in which editors tell of it.
#[tokio::test]
async fn an_open_file_is_renamed_by_its_editor_and_goes_on_with_its_edits() {
    for opens_first in [true, false] {
        let mut desk = Desk::new(BOTH);
        let line = desk.replace_first("a.txt", "1").await;
        let moved = desk.moved().await;
        let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
        let there = desk.path("sub/b.txt").display().to_string();
        let FileOperation::Rename(to) = &delivery.operation else { panic!("{delivery:?}") };
        assert_eq!(to.to_text(), there);
        desk.rename("a.txt", "sub/b.txt");
        let open = || desk.open("sub/b.txt", 1, TEXT);
        let close = || desk.close("a.txt");
        if opens_first {
            open();
            desk.workspace.settle_record();
            assert_eq!(desk.status(&moved).await, Status::Pending);
            close();
        } else {
            close();
            desk.workspace.settle_record();
            open();
        }
        desk.workspace.answered_file(&delivery, FileAnswer::Done);
        desk.until(&moved, Status::Accepted).await;
        assert_eq!(desk.read("sub/b.txt").await.unwrap(), "1\ntwo\nthree\n", "with what is held");
        assert_eq!(desk.read("a.txt").await, None);
        let review = desk.workspace.review(&desk.uri("sub/b.txt")).unwrap();
        assert_eq!(review.version, Some(DocVersion(1)));
        assert_eq!(review.review.edits.len(), 1);
        // The line is decided under the new name, and saved.
        let accept = Request::of(Choice::Accept, Target::Edit(line));
        assert_eq!(desk.workspace.decide(None, &accept).await.refused, []);
        let (text, _) = desk.workspace.poll(&desk.uri("sub/b.txt"));
        assert_eq!(text.unwrap().edits.len(), 1);
        let change = ContentChange { span: None, text: "1\ntwo\nthree\n".into() };
        desk.workspace.did_change(&desk.uri("sub/b.txt"), DocVersion(2), &[change]).unwrap();
        let refused = desk.decide(Choice::Reject, &moved).await.refused;
        assert!(refused[0].message.contains("Save it first"), "{refused:?}");
        std::fs::write(desk.path("sub/b.txt"), "1\ntwo\nthree\n").unwrap();
        desk.workspace.did_save(&desk.uri("sub/b.txt"));
        // Back again, in the same way.
        let delivery = desk.asked(Choice::Reject, &moved, "sub/b.txt").await;
        assert!(!delivery.switch.on);
        desk.rename("sub/b.txt", "a.txt");
        desk.close("sub/b.txt");
        desk.open("a.txt", 1, "1\ntwo\nthree\n");
        desk.until(&moved, Status::Rejected).await;
        desk.workspace.settle_record();
        assert_eq!(desk.read("a.txt").await.unwrap(), "1\ntwo\nthree\n");
        // And what is closed is renamed without any editor, by whoever comes.
        desk.close("a.txt");
        desk.workspace.settle_record();
        desk.restart();
        assert_eq!(desk.decide(Choice::Accept, &moved).await.refused, []);
        assert_eq!((desk.file("a.txt"), desk.file("sub/b.txt").unwrap()), (None, "1\ntwo\nthree\n".into()));
    }
}

/// The editor has opened the new name already when the process comes to look, and another file was removed under it.
#[tokio::test]
async fn a_file_that_is_renamed_is_not_taken_for_one_that_had_the_name_before() {
    let desk = Desk::new(BOTH);
    std::fs::write(desk.path("b.txt"), "b\n").unwrap();
    let remove = FileRequest {
        path: "b.txt".into(),
        change: FileAction::Delete,
        conversation: None,
        tool: "a_tool".into(),
        reason: None,
    };
    let removed = desk.workspace.change_file(&caller(), remove).await.unwrap();
    let moved = desk.change("a.txt", FileAction::Move("b.txt".into())).await;
    let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
    let busy = desk.is_recording_elsewhere().await;
    desk.rename("a.txt", "b.txt");
    desk.close("a.txt");
    desk.open("b.txt", 1, TEXT);
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    drop(busy);
    desk.until(&moved, Status::Accepted).await;
    let delivery = desk.asked(Choice::Reject, &moved, "b.txt").await;
    desk.rename("b.txt", "a.txt");
    desk.close("b.txt");
    desk.open("a.txt", 1, TEXT);
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.until(&moved, Status::Rejected).await;
    desk.workspace.settle_record();
    assert_eq!(desk.decide(Choice::Reject, &removed).await.refused, []);
    assert_eq!(
        (desk.file("a.txt").unwrap(), desk.file("b.txt").unwrap()),
        (TEXT.to_owned(), "b\n".to_owned())
    );
}

/// What the document of the old name leaves behind is settled some time later, and is not asked about another file of that name.
#[tokio::test]
async fn a_file_that_takes_a_name_that_was_left_is_another() {
    for opens_first in [true, false] {
        let desk = Desk::new(BOTH);
        let (moved, delivery) = desk.renamed().await;
        if opens_first {
            desk.open("sub/b.txt", 1, TEXT);
            desk.close("a.txt");
        } else {
            desk.close("a.txt");
            desk.open("sub/b.txt", 1, TEXT);
        }
        desk.workspace.answered_file(&delivery, FileAnswer::Done);
        desk.until(&moved, Status::Accepted).await;

        let change = FileAction::Create("one\n".into());
        let make = FileRequest {
            path: "a.txt".into(),
            change,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        let made = desk.workspace.change_file(&caller(), make).await.unwrap();
        desk.open("a.txt", 1, "one\n");
        let line = Target::Hunk(HunkRef { edit: made.edit.clone(), number: 2 });
        let decided = desk.workspace.decide(None, &Request::of(Choice::Reject, line)).await;
        assert_eq!(decided.refused, []);
        desk.delivered("a.txt").await;
        let change = ContentChange { span: None, text: String::new() };
        desk.workspace.did_change(&desk.uri("a.txt"), DocVersion(2), &[change]).unwrap();
        desk.workspace.settle_record();
        assert_eq!(desk.waits(&made), [(1, false)], "the line is rejected, and not saved");

        tokio::time::sleep(CLOSED_FOR_GOOD).await;
        desk.workspace.settle_record();
        let line = HunkRef { edit: made.edit.clone(), number: 2 };
        let recorded = desk.past("a.txt").hunk(&line).unwrap().decision;
        assert_eq!(recorded, Decision::Rejected, "it stays so; opened first: {opens_first}");
    }
}

/// Whoever decides next from elsewhere finds it open.
#[tokio::test]
async fn what_an_editor_has_renamed_is_awaited_until_it_is_open_again() {
    let desk = Desk::new(BOTH);
    let (moved, delivery) = desk.renamed().await;
    let closed = Instant::now();
    desk.close("a.txt");
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.until(&moved, Status::Accepted).await;
    let hunk = [HunkRef { edit: moved.edit.clone(), number: 1 }];
    let is_there = desk.workspace.recorded_by_now(&hunk).await;
    // It is not awaited for ever.
    assert!(!is_there || closed.elapsed() > Duration::from_secs(1));
    desk.open("sub/b.txt", 1, TEXT);
    assert!(desk.workspace.recorded_by_now(&hunk).await);
    desk.close("sub/b.txt");
    assert!(desk.workspace.recorded_by_now(&hunk).await);
}

/// The editor may have heard that the edit is under the new name, and not yet that it is no longer under the old one.
#[tokio::test]
async fn an_edit_that_is_named_is_decided_though_its_file_has_another_name_by_now() {
    for old_name_is_open in [false, true] {
        let desk = Desk::new(BOTH);
        let line = desk.replace_first("a.txt", "1").await;
        let (moved, delivery) = desk.renamed().await;
        desk.close("a.txt");
        desk.open("sub/b.txt", 1, TEXT);
        desk.workspace.answered_file(&delivery, FileAnswer::Done);
        desk.until(&moved, Status::Accepted).await;
        if old_name_is_open {
            desk.open("a.txt", 1, "another\n");
        }
        let a = desk.uri("a.txt");
        // What has no name of its own is meant where the person sees it.
        let all = desk.workspace.decide(Some(&a), &Request::of(Choice::Accept, Target::All)).await;
        assert_eq!(all.queued, []);
        let hunk = HunkRef { edit: line.into(), number: 1 };
        let accept = Request::of(Choice::Accept, Target::Hunk(hunk.clone()));
        let decided = desk.workspace.decide(Some(&a), &accept).await;
        assert_eq!((decided.queued, decided.refused), (vec![hunk], vec![]), "{old_name_is_open}");
        assert_eq!(desk.delivered("sub/b.txt").await.edits.len(), 1);
    }
}

/// In each order in which editors tell of it, and where it is not renamed after all.
#[tokio::test]
async fn what_an_agent_takes_back_while_a_file_is_renamed_leaves_it_under_its_new_name() {
    for how in ["close, settle, open", "close, open", "open, close", "not done"] {
        let desk = Desk::new(BOTH);
        desk.workspace.set_settings(Settings { open: Mode::Apply, ..Settings::default() });
        let line = desk.replace_first("a.txt", "1").await;
        let uri = desk.uri("a.txt");
        let (text, _) = desk.workspace.poll(&uri);
        assert_eq!(text.unwrap().edits.len(), 1);
        let change = ContentChange { span: None, text: "1\ntwo\nthree\n".into() };
        desk.workspace.did_change(&uri, DocVersion(2), &[change]).unwrap();
        std::fs::write(desk.path("a.txt"), "1\ntwo\nthree\n").unwrap();
        desk.workspace.did_save(&uri);
        let moved = desk.moved().await;
        let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
        desk.workspace.withdraw(&caller(), &line).await.unwrap();
        assert_eq!(desk.workspace.poll(&uri).0, None, "{how}");
        let renames = how != "not done";
        if renames {
            desk.rename("a.txt", "sub/b.txt");
        }
        let open = || desk.open("sub/b.txt", 1, "1\ntwo\nthree\n");
        match how {
            "close, settle, open" => {
                desk.close("a.txt");
                desk.until(&moved, Status::Accepted).await;
                open();
            }
            "close, open" => {
                desk.close("a.txt");
                open();
            }
            "open, close" => {
                open();
                desk.close("a.txt");
            }
            _ => {}
        }
        let (answer, name, wanted) = match renames {
            true => (FileAnswer::Done, "sub/b.txt", Status::Accepted),
            false => (FileAnswer::NotDone(None), "a.txt", Status::Pending),
        };
        desk.workspace.answered_file(&delivery, answer);
        desk.until(&moved, wanted).await;
        desk.workspace.settle_record();
        let delivery = desk.delivered(name).await;
        assert_eq!(delivery.edits.len(), 1, "{how}");
        let change = ContentChange { span: None, text: TEXT.into() };
        let version = DocVersion(delivery.version.0 + 1);
        desk.workspace.did_change(&desk.uri(name), version, &[change]).unwrap();
        let scope = ReviewScope { edits: vec![line], ..ReviewScope::default() };
        let edit = &desk.workspace.edits(&caller(), &scope).await.unwrap()[0];
        assert_eq!(edit.hunks[0].view.decision, Decision::Withdrawn, "{how}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_stands_in_the_way_of_no_other() {
    let desk = Desk::new(BOTH);
    desk.moved().await;
    desk.close("a.txt");
    desk.workspace.settle_record();
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    std::fs::create_dir(desk.path("a.txt")).unwrap();
    desk.made().await;
    assert_eq!(desk.file("new.txt").unwrap(), "one\n");
}

#[tokio::test]
async fn what_is_not_saved_is_neither_renamed_nor_removed() {
    for change in [FileAction::Delete, FileAction::Move("b.txt".into())] {
        let desk = Desk::new(BOTH);
        let held = desk.change("a.txt", change).await;
        let uri = desk.uri("a.txt");
        let typed = |version, text: &str| {
            let change = ContentChange { span: None, text: text.into() };
            desk.workspace.did_change(&uri, DocVersion(version), &[change]).unwrap();
        };
        typed(2, "mine\n");
        let decided = desk.decide(Choice::Accept, &held).await;
        assert!(decided.refused[0].message.contains("Save it first"), "{decided:?}");
        assert_eq!(desk.workspace.poll_file(&uri), None);
        // Typed after the decision and before the editor is asked.
        typed(3, TEXT);
        assert_eq!(desk.decide(Choice::Accept, &held).await.refused, []);
        typed(4, "mine\n");
        assert_eq!(desk.workspace.poll_file(&uri), None);
        assert_eq!((desk.status(&held).await, desk.file("a.txt").unwrap()), (Status::Pending, TEXT.into()));
    }
}

#[tokio::test]
async fn a_file_is_not_renamed_to_what_is_there_by_now() {
    let desk = Desk::new(BOTH);
    let moved = desk.moved().await;
    std::fs::create_dir(desk.path("sub")).unwrap();
    std::fs::write(desk.path("sub/b.txt"), "mine\n").unwrap();
    let decided = desk.decide(Choice::Accept, &moved).await;
    assert!(decided.refused[0].message.contains("there already"), "{decided:?}");
    assert_eq!(desk.file("sub/b.txt").unwrap(), "mine\n");
}

#[tokio::test]
async fn an_editor_that_does_not_do_it_leaves_the_edit_held() {
    let mut desk = Desk::new(BOTH);
    let moved = desk.moved().await;
    let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
    let other = desk.decide(Choice::Reject, &moved).await;
    assert!(other.refused[0].message.contains("has been asked"), "{other:?}");
    desk.workspace.answered_file(&delivery, FileAnswer::NotDone(Some("a window is modified".into())));
    desk.told("a window is modified").await;
    assert_eq!(desk.status(&moved).await, Status::Pending);
    // One that says it did, and did not.
    let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.told("the disk does not show it").await;
    assert_eq!(desk.status(&moved).await, Status::Pending);
    // And does it much later.
    desk.rename("a.txt", "sub/b.txt");
    desk.close("a.txt");
    desk.open("sub/b.txt", 1, TEXT);
    desk.until(&moved, Status::Accepted).await;
    assert_eq!(desk.read("sub/b.txt").await.unwrap(), TEXT);
    let decided = desk.decide(Choice::Reject, &moved).await;
    assert_eq!(decided.refused, []);
}

#[tokio::test]
async fn an_editor_that_keeps_the_document_open_loses_nothing_of_it() {
    let desk = Desk::new(BOTH);
    let (moved, delivery) = desk.renamed().await;
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.until(&moved, Status::Accepted).await;
    assert_eq!(desk.workspace.text_of(&desk.uri("a.txt")).unwrap().1.to_string(), TEXT);
    let change = ContentChange { span: None, text: "mine\n".into() };
    desk.workspace.did_change(&desk.uri("a.txt"), DocVersion(2), &[change]).unwrap();
    assert_eq!(desk.workspace.text_of(&desk.uri("a.txt")).unwrap().1.to_string(), "mine\n");
    assert_eq!(desk.read("sub/b.txt").await.unwrap(), TEXT);
}

#[tokio::test]
async fn a_file_is_closed_first_where_the_editor_does_not_do_such_things() {
    let only_removes = FileOperations { removes: true, renames: false };
    for (operations, change) in
        [(FileOperations::default(), FileAction::Delete), (only_removes, FileAction::Move("b.txt".into()))]
    {
        let desk = Desk::new(operations);
        let held = desk.change("a.txt", change).await;
        let decided = desk.decide(Choice::Accept, &held).await;
        assert!(decided.refused[0].message.contains("Close it first"), "{decided:?}");
        assert_eq!(desk.workspace.poll_file(&desk.uri("a.txt")), None);
    }
}

#[tokio::test]
async fn an_open_file_that_was_made_is_removed_by_its_editor_when_that_is_rejected() {
    for closes in [true, false] {
        let mut desk = Desk::new(BOTH);
        let made = desk.made().await;
        let uri = desk.uri("new.txt");
        let decided = desk.decide(Choice::Reject, &made).await;
        assert_eq!((decided.refused, decided.queued.len()), (vec![], 2), "the file, and its line with it");
        assert_eq!(desk.workspace.poll(&uri).0, None, "the line goes with the file, and not before it");
        assert_eq!(desk.waits(&made), [(1, true), (2, true)]);
        let line = HunkRef { edit: made.edit.clone(), number: 2 };
        for target in [Target::Edit(made.edit.to_string()), Target::Hunk(line)] {
            let other = desk.workspace.decide(None, &Request::of(Choice::Accept, target)).await;
            assert!(other.refused[0].message.contains("when that is done"), "{other:?}");
        }
        let delivery = desk.workspace.poll_file(&uri).unwrap();
        assert_eq!((&delivery.operation, delivery.switch.on), (&FileOperation::Remove, false));
        std::fs::remove_file(desk.path("new.txt")).unwrap();
        if closes {
            desk.close("new.txt");
        }
        desk.workspace.answered_file(&delivery, FileAnswer::Done);
        desk.until(&made, Status::Rejected).await;
        desk.workspace.settle_record();
        assert_eq!(desk.waits(&made), []);
        if closes {
            assert_eq!(desk.read("new.txt").await, None);
        } else {
            // It is the person's to save again, or to close.
            assert_eq!(desk.workspace.text_of(&uri).unwrap().1.to_string(), "one\n");
            assert_eq!(desk.workspace.poll(&uri).0, None);
            desk.close("new.txt");
            desk.workspace.settle_record();
        }
        desk.restart();
        assert_eq!(desk.read("new.txt").await, None);
        assert_eq!(desk.decide(Choice::Accept, &made).await.refused, []);
        assert_eq!(
            (desk.file("new.txt").unwrap(), desk.status(&made).await),
            ("one\n".into(), Status::Accepted)
        );
    }
}

#[tokio::test]
async fn a_rejection_that_cannot_unmake_an_open_file_leaves_all_of_it() {
    let none = FileOperations::default();
    for (operations, typed, words) in [(none, None, "Close it first"), (BOTH, Some("1\n"), "Save it first")] {
        let desk = Desk::new(operations);
        let made = desk.made().await;
        let uri = desk.uri("new.txt");
        let request = Request::of(Choice::Reject, Target::Edit(made.edit.to_string()));
        let mine = Request { edited: Some(TakeOut::WithMyChanges), ..request.clone() };
        if let Some(typed) = typed {
            let change = ContentChange { span: None, text: typed.into() };
            desk.workspace.did_change(&uri, DocVersion(2), &[change]).unwrap();
        }
        let decided = desk.workspace.decide(None, &mine).await;
        assert!(decided.refused[0].message.contains(words), "{decided:?}");
        assert_eq!(decided.queued, []);
        assert_eq!(desk.workspace.poll(&uri).0, None);
        assert_eq!(desk.workspace.poll_file(&uri), None);
        assert_eq!(desk.waits(&made), [(1, false), (2, false)]);
        // Nor does its agent take the lines out of a file that stays.
        desk.workspace.withdraw(&caller(), made.edit.as_str()).await.unwrap();
        assert_eq!(desk.workspace.poll(&uri).0, None);
        assert_eq!(desk.waits(&made), [(1, false), (2, false)]);
        desk.close("new.txt");
        assert_eq!(desk.workspace.decide(None, &request).await.refused, []);
        assert_eq!(desk.file("new.txt"), None);
    }
}

#[tokio::test]
async fn what_the_person_wrote_in_a_file_that_goes_is_asked_for_and_kept() {
    let mut desk = Desk::new(BOTH);
    let made = desk.made().await;
    let uri = desk.uri("new.txt");
    let change = ContentChange { span: None, text: "one\nmine\n".into() };
    desk.workspace.did_change(&uri, DocVersion(2), &[change]).unwrap();
    std::fs::write(desk.path("new.txt"), "one\nmine\n").unwrap();
    desk.workspace.did_save(&uri);
    let request = Request::of(Choice::Reject, Target::Edit(made.edit.to_string()));
    let decided = desk.workspace.decide(None, &request).await;
    assert_eq!((decided.queued.len(), decided.refused[0].why), (0, Why::Edited));
    assert_eq!((desk.workspace.poll(&uri).0, desk.workspace.poll_file(&uri)), (None, None));
    let request = Request { edited: Some(TakeOut::WithMyChanges), ..request };
    let decided = desk.workspace.decide(None, &request).await;
    assert_eq!(decided.refused, []);
    assert_eq!(std::fs::read_to_string(&decided.kept[0]).unwrap(), "one\nmine\n");
    let delivery = desk.workspace.poll_file(&uri).unwrap();
    std::fs::remove_file(desk.path("new.txt")).unwrap();
    desk.close("new.txt");
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.until(&made, Status::Rejected).await;
    desk.workspace.settle_record();
    desk.restart();
    assert_eq!((desk.read("new.txt").await, desk.status(&made).await), (None, Status::Rejected));
}

/// Of one turn, so that one decision is about all of it: lines in the file, and one that is only proposed.
#[tokio::test]
async fn all_that_came_into_a_file_goes_with_it_and_what_is_held_is_rejected() {
    let desk = Desk::new(BOTH);
    let made = desk.made().await;
    let held = desk.replace_first("new.txt", "1").await;
    let uri = desk.uri("new.txt");
    let reject = Request::of(Choice::Reject, Target::All);
    let decided = desk.workspace.decide(Some(&uri), &reject).await;
    assert_eq!((decided.refused, decided.queued.len()), (vec![], 3));
    let delivery = desk.workspace.poll_file(&uri).unwrap();
    std::fs::remove_file(desk.path("new.txt")).unwrap();
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    desk.close("new.txt");
    desk.until(&made, Status::Rejected).await;
    let scope = ReviewScope { edits: vec![held], ..ReviewScope::default() };
    assert_eq!(desk.workspace.edits(&caller(), &scope).await.unwrap()[0].status, Status::Rejected);
    assert_eq!(desk.read("new.txt").await, None);
}

/// The process ends between what the editor does and the record of it (rule W16).
#[tokio::test]
async fn what_the_disk_shows_of_a_held_change_is_accepted_after_a_restart() {
    // Renamed often: what is read then is sometimes read before the new name is recorded.
    let moves = std::iter::repeat_n(FileAction::Move("sub/b.txt".into()), 30);
    for change in [FileAction::Delete].into_iter().chain(moves) {
        let mut desk = Desk::new(BOTH);
        let line = desk.replace_first("a.txt", "1").await;
        let held = desk.change("a.txt", change.clone()).await;
        desk.asked(Choice::Accept, &held, "a.txt").await;
        desk.restart();
        if change == FileAction::Delete {
            std::fs::remove_file(desk.path("a.txt")).unwrap();
            desk.until(&held, Status::Accepted).await;
            continue;
        }
        desk.rename("a.txt", "sub/b.txt");
        desk.until(&held, Status::Accepted).await;
        assert_eq!(desk.read("sub/b.txt").await.unwrap(), "1\ntwo\nthree\n");
        assert_eq!(
            desk.workspace.decide(None, &Request::of(Choice::Accept, Target::Edit(line))).await.refused,
            []
        );
        assert_eq!(desk.file("sub/b.txt").unwrap(), "1\ntwo\nthree\n");
    }
}

/// The same of a file that an agent made: it goes, or not, and the process ends before the record has it. What was decided is asked again,
/// and decided by the same word.
#[tokio::test]
async fn a_rejected_creation_is_asked_again_after_a_restart() {
    for removed in [true, false] {
        let mut desk = Desk::new(BOTH);
        let made = desk.made().await;
        assert_eq!(desk.decide(Choice::Reject, &made).await.queued.len(), 2);
        assert_eq!(desk.workspace.poll_file(&desk.uri("new.txt")).unwrap().operation, FileOperation::Remove);
        if removed {
            std::fs::remove_file(desk.path("new.txt")).unwrap();
        }
        desk.restart();
        assert_eq!(desk.read("new.txt").await.is_some(), !removed);
        assert_eq!(desk.status(&made).await, Status::Pending);
        assert_eq!(desk.decide(Choice::Reject, &made).await.refused, [], "removed {removed}");
        assert_eq!((desk.file("new.txt"), desk.status(&made).await), (None, Status::Rejected));
        desk.restart();
        assert_eq!(desk.decide(Choice::Accept, &made).await.refused, []);
        assert_eq!(
            (desk.file("new.txt").unwrap(), desk.status(&made).await),
            ("one\n".into(), Status::Accepted)
        );
    }
}
