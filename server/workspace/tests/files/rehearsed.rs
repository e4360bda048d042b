//! What decisions would do with files that an editor has open: found out, and not done.

use std::path::PathBuf;

use hashline_history::Status;
use hashline_text::DocVersion;
use hashline_workspace::Rehearsed;
use hashline_workspace::agent::{FileAction, FileReply};
use hashline_workspace::document::{Choice, ContentChange, FileOperations, Request, Target};

use crate::desk::{BOTH, Desk, TEXT};

fn request(choice: Choice, edit: &str) -> Request {
    Request::of(choice, Target::Edit(edit.to_owned()))
}

async fn rehearse(desk: &Desk, name: &str, wanted: &[(Choice, &str)]) -> Rehearsed {
    let requests = wanted.iter().map(|(choice, edit)| request(*choice, edit)).collect();
    desk.workspace.rehearse(&desk.path(name), requests).await
}

/// Where the file would be, if nothing stands against it.
async fn becomes(desk: &Desk, name: &str, wanted: &[(Choice, &FileReply)]) -> (PathBuf, bool) {
    let wanted: Vec<(Choice, &str)> =
        wanted.iter().map(|(choice, reply)| (*choice, reply.edit.as_str())).collect();
    let Rehearsed { decided, file } = rehearse(desk, name, &wanted).await;
    assert_eq!(decided.refused, []);
    assert!(!decided.queued.is_empty());
    file.unwrap()
}

/// Why not.
async fn refused(desk: &Desk, name: &str, wanted: &[(Choice, &str)]) -> String {
    let Rehearsed { decided, .. } = rehearse(desk, name, wanted).await;
    assert_eq!((decided.queued, decided.refused.len()), (vec![], 1));
    decided.refused[0].message.clone()
}

#[tokio::test]
async fn a_file_would_go_and_come_back_and_nothing_is_done() {
    for (change, then) in
        [(FileAction::Delete, ("a.txt", false)), (FileAction::Move("sub/b.txt".into()), ("sub/b.txt", true))]
    {
        let desk = Desk::new(BOTH);
        let held = desk.change("a.txt", change).await;
        let there = (desk.path(then.0), then.1);
        assert_eq!(becomes(&desk, "a.txt", &[(Choice::Accept, &held)]).await, there);
        let both = [(Choice::Accept, &held), (Choice::Reject, &held)];
        assert_eq!(becomes(&desk, "a.txt", &both).await, (desk.path("a.txt"), true));
        assert_eq!(desk.workspace.poll_file(&desk.uri("a.txt")), None);
        assert_eq!(
            (desk.status(&held).await, desk.file("a.txt").unwrap()),
            (Status::Pending, TEXT.to_owned())
        );
        assert!(!desk.path("sub").exists());
    }
}

#[tokio::test]
async fn a_file_that_an_agent_made_would_go() {
    let desk = Desk::new(BOTH);
    let made = desk.made().await;
    assert_eq!(becomes(&desk, "new.txt", &[(Choice::Reject, &made)]).await, (desk.path("new.txt"), false));
    assert_eq!(desk.file("new.txt").unwrap(), "one\n");
}

#[tokio::test]
async fn what_is_not_saved_or_would_not_be_stays() {
    for change in [FileAction::Delete, FileAction::Move("sub/b.txt".into())] {
        let desk = Desk::new(BOTH);
        let line = desk.replace_first("a.txt", "1").await;
        let held = desk.change("a.txt", change).await;
        let edit = held.edit.as_str();
        let both = [(Choice::Accept, line.as_str()), (Choice::Accept, edit)];
        let message = refused(&desk, "a.txt", &both).await;
        assert!(message.contains("save the file"), "{message}");
        let change = ContentChange { span: None, text: "mine\n".into() };
        desk.workspace.did_change(&desk.uri("a.txt"), DocVersion(2), &[change]).unwrap();
        let message = refused(&desk, "a.txt", &[(Choice::Accept, edit)]).await;
        assert!(message.contains("Save it first"), "{message}");
    }
}

#[tokio::test]
async fn an_editor_that_does_nothing_with_files_is_not_counted_on() {
    let desk = Desk::new(FileOperations { removes: true, renames: false });
    let moved = desk.moved().await;
    let message = refused(&desk, "a.txt", &[(Choice::Accept, moved.edit.as_str())]).await;
    assert!(message.contains("Close it first"), "{message}");
}
