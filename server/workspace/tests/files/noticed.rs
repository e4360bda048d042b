//! What an editor has done with a file is noticed before the name of that file is given to another.

use hashline_history::{Status, Store};
use hashline_workspace::agent::{FileAction, FileReply, FileRequest};
use hashline_workspace::document::{Choice, FileAnswer};

use crate::agent::caller;
use crate::desk::{BOTH, Desk};

/// An agent moves a file that nobody has open.
async fn moved_on_disk(desk: &Desk, from: &str, to: &str) -> FileReply {
    std::fs::write(desk.path(from), "was there\n").unwrap();
    let request = FileRequest {
        path: from.into(),
        change: FileAction::Move(to.into()),
        conversation: None,
        tool: "a_tool".into(),
        reason: None,
    };
    desk.workspace.change_file(&caller(), request).await.unwrap()
}

#[tokio::test]
async fn what_an_editor_has_removed_is_noticed_before_another_file_has_its_name() {
    let desk = Desk::new(BOTH);
    let moved = moved_on_disk(&desk, "new.txt", "x.txt").await;
    let made = desk.made().await;
    assert_eq!(desk.decide(Choice::Reject, &made).await.refused, []);
    let delivery = desk.workspace.poll_file(&desk.uri("new.txt")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let recording = desk.is_recording_in(elsewhere.path()).await;
    std::fs::remove_file(desk.path("new.txt")).unwrap();
    desk.close("new.txt");
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    let decided = desk.decide(Choice::Reject, &moved).await;
    assert_eq!((decided.refused, desk.file("new.txt")), (vec![], Some("was there\n".to_owned())));
    drop(recording);
    desk.workspace.settle_record();
    let listed = Store::new(desk.path(""), "a look").list(None, 0, |_| true).unwrap();
    let statuses: Vec<Status> = listed.entries.iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [Status::Rejected; 2]);
}

#[tokio::test]
async fn what_an_editor_has_renamed_is_noticed_and_leaves_nothing_under_its_old_name() {
    let desk = Desk::new(BOTH);
    let another = moved_on_disk(&desk, "y.txt", "x.txt").await;
    let (moved, delivery) = desk.renamed().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let recording = desk.is_recording_in(elsewhere.path()).await;
    desk.close("a.txt");
    desk.workspace.answered_file(&delivery, FileAnswer::Done);
    assert_eq!(desk.decide(Choice::Reject, &another).await.refused, []);
    assert_eq!(desk.status(&moved).await, Status::Accepted, "at once");
    drop(recording);
    desk.workspace.settle_record();
    let documents = Store::new(desk.path(""), "a look").documents().unwrap();
    let mut names: Vec<String> = documents.iter().map(|document| document.name.to_string()).collect();
    names.sort();
    assert_eq!(names, ["sub/b.txt", "y.txt"].map(|name| desk.path(name).display().to_string()));
}
