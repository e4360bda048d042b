//! Files that are renamed and removed through the editor that has them open.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hashline_history::{Decision, HunkRef, Status};
use hashline_text::{DocVersion, Encoding};
use hashline_weave::TakeOut;
use hashline_workspace::agent::{FileAction, FileReply, FileRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{
    Choice, ContentChange, Decided, Delivery, FileAnswer, FileDelivery, FileOperation, FileOperations,
    HunkView, Mode, Request, Target, Why,
};
use hashline_workspace::{Event, Histories, Settings, Workspace};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::{caller, read, replace_first};

pub const TEXT: &str = "one\ntwo\nthree\n";
pub const BOTH: FileOperations = FileOperations { removes: true, renames: true };

/// An editor that does as it is told, step by step.
pub struct Desk {
    pub workspace: Workspace,
    events: UnboundedReceiver<Event>,
    folder: tempfile::TempDir,
}

impl Desk {
    pub fn new(operations: FileOperations) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, events) = started(&folder);
        workspace.set_file_operations(operations);
        std::fs::write(folder.path().join("a.txt"), TEXT).unwrap();
        let desk = Self { workspace, events, folder };
        desk.open("a.txt", 1, TEXT);
        desk
    }

    /// Another process takes over, without a word of this one.
    fn restart(&mut self) {
        (self.workspace, self.events) = started(&self.folder);
        self.workspace.set_file_operations(BOTH);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        url::Url::from_file_path(self.path(name)).unwrap().to_string()
    }

    fn open(&self, name: &str, version: i32, text: &str) {
        self.workspace.did_open(&self.uri(name), "text", DocVersion(version), Encoding::Utf16, text);
    }

    fn close(&self, name: &str) {
        self.workspace.did_close(&self.uri(name));
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    pub async fn change(&self, path: &str, change: FileAction) -> FileReply {
        let request = FileRequest { path: path.into(), change, conversation: None, tool: "a_tool".into() };
        let held = self.workspace.change_file(&caller(), request).await.unwrap();
        assert!(held.held && held.open);
        held
    }

    /// An agent makes a file of one line, and the person opens it.
    pub async fn made(&self) -> FileReply {
        let change = FileAction::Create("one\n".into());
        let request =
            FileRequest { path: "new.txt".into(), change, conversation: None, tool: "a_tool".into() };
        let made = self.workspace.change_file(&caller(), request).await.unwrap();
        assert!(!made.held && !made.open);
        self.open("new.txt", 1, "one\n");
        made
    }

    pub async fn moved(&self) -> FileReply {
        self.change("a.txt", FileAction::Move("sub/b.txt".into())).await
    }

    async fn read(&self, path: &str) -> Option<String> {
        read(&self.workspace, path).await.ok()
    }

    /// Puts a line in the place of the first.
    pub async fn replace_first(&self, path: &str, line: &str) -> String {
        replace_first(&self.workspace, path, line).await
    }

    pub async fn decide(&self, choice: Choice, edit: &FileReply) -> Decided {
        self.workspace.decide(None, &Request::of(choice, Target::Edit(edit.edit.to_string()))).await
    }

    /// Decides, and gives out what the editor is asked for in this document.
    async fn asked(&self, choice: Choice, edit: &FileReply, name: &str) -> FileDelivery {
        let decided = self.decide(choice, edit).await;
        assert_eq!((decided.refused, decided.queued.len()), (vec![], 1));
        let delivery = self.workspace.poll_file(&self.uri(name)).unwrap();
        assert_eq!(self.workspace.poll_file(&self.uri(name)), None, "once");
        delivery
    }

    /// The hunks of an edit that wait for the person, and whether a decision about each is under way.
    fn waits(&self, reply: &FileReply) -> Vec<(u32, bool)> {
        let reviews = self.workspace.reviews();
        let mut edits = reviews.iter().flat_map(|review| &review.review.edits);
        let edit = edits.find(|edit| edit.edit.id == reply.edit);
        let undecided = |hunk: &&HunkView| hunk.decision == Decision::Undecided;
        let hunks = edit.iter().flat_map(|edit| &edit.hunks).filter(undecided);
        hunks.map(|hunk| (hunk.number, hunk.deciding)).collect()
    }

    /// Waits for what is sent to a document.
    async fn delivered(&self, name: &str) -> Delivery {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            if let (Some(delivery), _) = self.workspace.poll(&self.uri(name)) {
                return delivery;
            }
            assert!(Instant::now() < deadline, "nothing is sent to {name}");
            self.workspace.settle_record();
        }
    }

    pub async fn status(&self, reply: &FileReply) -> Status {
        let scope = ReviewScope { edits: vec![reply.edit.to_string()], ..ReviewScope::default() };
        self.workspace.edits(&caller(), &scope).await.unwrap()[0].status
    }

    async fn until(&self, reply: &FileReply, wanted: Status) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.status(reply).await != wanted {
            assert!(Instant::now() < deadline, "it is not {wanted:?}");
            self.workspace.settle_record();
        }
    }

    /// Waits for something that the person is told.
    async fn told(&mut self, what: &str) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        let mut heard = Vec::new();
        loop {
            match tokio::time::timeout_at(deadline, self.events.recv()).await {
                Ok(Some(Event::Notice(words))) if words.contains(what) => return,
                Ok(Some(Event::Notice(words))) => heard.push(words),
                Ok(Some(_)) => {}
                _ => panic!("{what:?} was not told, but {heard:?}"),
            }
        }
    }
}

fn started(folder: &tempfile::TempDir) -> (Workspace, UnboundedReceiver<Event>) {
    let roots = Roots::open([folder.path()]).unwrap();
    Workspace::new(roots, Settings::default(), Histories::of("a test"))
}

#[tokio::test]
async fn an_open_file_is_removed_by_its_editor_and_comes_back_when_that_is_rejected() {
    let mut desk = Desk::new(BOTH);
    let removed = desk.change("a.txt", FileAction::Delete).await;
    let delivery = desk.asked(Choice::Accept, &removed, "a.txt").await;
    assert_eq!((&delivery.operation, delivery.version), (&FileOperation::Remove, DocVersion(1)));
    assert!(delivery.switch.on && delivery.switch.decided && delivery.switch.agent == "tester");
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

/// Whoever decides next from elsewhere finds it open.
#[tokio::test]
async fn what_an_editor_has_renamed_is_awaited_until_it_is_open_again() {
    let desk = Desk::new(BOTH);
    let moved = desk.moved().await;
    let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
    desk.rename("a.txt", "sub/b.txt");
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
        let moved = desk.moved().await;
        let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
        desk.rename("a.txt", "sub/b.txt");
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
    let moved = desk.moved().await;
    let delivery = desk.asked(Choice::Accept, &moved, "a.txt").await;
    desk.rename("a.txt", "sub/b.txt");
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
