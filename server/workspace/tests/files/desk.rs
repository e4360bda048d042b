//! An editor that does with files as it is told, step by step.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hashline_history::{Decision, Document as Past, DocumentName, Session, Status, Store};
use hashline_text::{DocVersion, Encoding};
use hashline_workspace::agent::{FileAction, FileReply, FileRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{
    Choice, ContentChange, Decided, Delivery, FileDelivery, FileOperations, HunkView, Request, Target,
};
use hashline_workspace::{Event, Histories, Settings, Workspace};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::{caller, read, replace_first};

pub const TEXT: &str = "one\ntwo\nthree\n";
pub const BOTH: FileOperations = FileOperations { removes: true, renames: true };

/// The editor, and the workspace that it works with.
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
    pub fn restart(&mut self) {
        (self.workspace, self.events) = started(&self.folder);
        self.workspace.set_file_operations(BOTH);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        url::Url::from_file_path(self.path(name)).unwrap().to_string()
    }

    pub fn open(&self, name: &str, version: i32, text: &str) {
        self.workspace.did_open(&self.uri(name), "text", DocVersion(version), Encoding::Utf16, text);
    }

    pub fn close(&self, name: &str) {
        self.workspace.did_close(&self.uri(name));
    }

    pub fn rename(&self, from: &str, to: &str) {
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// What is recorded of a file.
    pub fn past(&self, name: &str) -> Past {
        Store::new(self.folder.path(), "a look").document(&DocumentName::Path(self.path(name))).unwrap()
    }

    pub async fn change(&self, path: &str, change: FileAction) -> FileReply {
        let request = FileRequest {
            path: path.into(),
            change,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        let held = self.workspace.change_file(&caller(), request).await.unwrap();
        assert!(held.held && held.open);
        held
    }

    /// An agent makes a file of one line, and the person opens it.
    pub async fn made(&self) -> FileReply {
        let change = FileAction::Create("one\n".into());
        let request = FileRequest {
            path: "new.txt".into(),
            change,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        let made = self.workspace.change_file(&caller(), request).await.unwrap();
        assert!(!made.held && !made.open);
        self.open("new.txt", 1, "one\n");
        made
    }

    pub async fn moved(&self) -> FileReply {
        self.change("a.txt", FileAction::Move("sub/b.txt".into())).await
    }

    pub async fn read(&self, path: &str) -> Option<String> {
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
    pub async fn asked(&self, choice: Choice, edit: &FileReply, name: &str) -> FileDelivery {
        let decided = self.decide(choice, edit).await;
        assert_eq!((decided.refused, decided.queued.len()), (vec![], 1));
        let delivery = self.workspace.poll_file(&self.uri(name)).unwrap();
        assert_eq!(self.workspace.poll_file(&self.uri(name)), None, "once");
        delivery
    }

    /// The editor has renamed the file as the person accepted it, and has yet to answer that and to close the document.
    pub async fn renamed(&self) -> (FileReply, FileDelivery) {
        let moved = self.moved().await;
        let delivery = self.asked(Choice::Accept, &moved, "a.txt").await;
        self.rename("a.txt", "sub/b.txt");
        (moved, delivery)
    }

    /// Another process has the history, and this one waits to record a decision about another document, until what is returned is dropped.
    pub async fn is_recording_elsewhere(&self) -> Session {
        self.waits_to_record(self.folder.path()).await
    }

    /// The same in the history of a second folder: what happens in this one is not looked at meanwhile.
    pub async fn is_recording_in(&self, folder: &Path) -> Session {
        self.workspace.set_roots(Roots::open([self.folder.path(), folder]).unwrap());
        self.waits_to_record(folder).await
    }

    async fn waits_to_record(&self, folder: &Path) -> Session {
        let path = folder.canonicalize().unwrap().join("other.txt");
        std::fs::write(&path, TEXT).unwrap();
        let uri = url::Url::from_file_path(&path).unwrap().to_string();
        self.workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, TEXT);
        self.replace_first(path.to_str().unwrap(), "1").await;
        self.workspace.settle_record();
        let session = Store::new(folder, "another").session(&self.workspace).unwrap();
        let change = ContentChange { span: None, text: "1\ntwo\nthree\n".into() };
        self.workspace.did_change(&uri, DocVersion(2), &[change]).unwrap();
        session
    }

    /// The hunks of an edit that wait for the person, and whether a decision about each is under way.
    pub fn waits(&self, reply: &FileReply) -> Vec<(u32, bool)> {
        let reviews = self.workspace.reviews();
        let mut edits = reviews.iter().flat_map(|review| &review.review.edits);
        let edit = edits.find(|edit| edit.edit.id == reply.edit);
        let undecided = |hunk: &&HunkView| hunk.decision == Decision::Undecided;
        let hunks = edit.iter().flat_map(|edit| &edit.hunks).filter(undecided);
        hunks.map(|hunk| (hunk.number, hunk.deciding)).collect()
    }

    /// Waits for what is sent to a document.
    pub async fn delivered(&self, name: &str) -> Delivery {
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

    pub async fn until(&self, reply: &FileReply, wanted: Status) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.status(reply).await != wanted {
            assert!(Instant::now() < deadline, "it is not {wanted:?}");
            self.workspace.settle_record();
        }
    }

    /// Waits for something that the person is told.
    pub async fn told(&mut self, what: &str) {
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
