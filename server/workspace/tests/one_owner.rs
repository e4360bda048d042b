//! What happens to a document while a call about it is under way: it is opened, closed, typed in, or the record cannot be written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{Allow, FilesNow, Probe, Step, Store};
use hashline_text::{DocVersion, Encoding, FileHash, HashPrefix, Line, Position, Span, Text};
use hashline_weave::View;
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{
    Change, Choice, ContentChange, HunkState, Mode, Refused, Request, Target,
};
use hashline_workspace::{Caller, Event, Histories, OpenElsewhere, Refusal, Settings, Workspace};
use tokio::sync::mpsc::UnboundedReceiver;

#[path = "common/strangers.rs"]
mod strangers;

use strangers::Strangers;

/// A record that is written when the test says so, and fails when it says so.
struct Gate {
    asked: Mutex<Sender<()>>,
    answers: Mutex<Receiver<bool>>,
}

impl Probe for Gate {
    fn step(&self, step: Step, path: &str) -> Allow {
        if !path.ends_with("decisions.log") || !matches!(step, Step::Write(_)) {
            return Allow::All;
        }
        // Once the keeper has gone, everything passes.
        let _ = self.asked.lock().unwrap().send(());
        match self.answers.lock().unwrap().recv() {
            Ok(false) => Allow::Fail(std::io::ErrorKind::StorageFull.into()),
            _ => Allow::All,
        }
    }
}

struct NoFiles;

impl FilesNow for NoFiles {
    fn hash(&self, _: &std::path::Path) -> std::io::Result<Option<FileHash>> {
        Ok(None)
    }
}

/// The other side of the gate.
struct Keeper {
    asked: Receiver<()>,
    answers: Sender<bool>,
}

impl Keeper {
    /// Waits until something is to be recorded.
    fn wait(&self) {
        self.asked.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    }

    fn lets(&self, pass: bool) {
        self.answers.send(pass).unwrap();
    }
}

struct Desk {
    workspace: Workspace,
    events: Mutex<UnboundedReceiver<Event>>,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(histories: Histories, stored: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), stored).unwrap();
        // There is a history, so that what is written next is what the test is about.
        let begun = Store::new(folder.path(), "a test").session(&NoFiles).unwrap().finish();
        assert!(begun.is_empty());
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, events) = Workspace::new(roots, Settings::default(), histories);
        Self { workspace, events: Mutex::new(events), folder }
    }

    fn recorded(stored: &str) -> Self {
        Self::new(Histories::of("a test"), stored)
    }

    fn gated(stored: &str) -> (Arc<Self>, Keeper) {
        let (asked, told) = channel();
        let (answers, answered) = channel();
        let gate = Gate { asked: Mutex::new(asked), answers: Mutex::new(answered) };
        let histories = Histories::of("a test").with_probe(Arc::new(gate));
        (Arc::new(Self::new(histories, stored)), Keeper { asked: told, answers })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.txt")
    }

    fn stored(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    fn uri(&self) -> String {
        url::Url::from_file_path(self.path()).unwrap().to_string()
    }

    fn open(&self, uri: &str, text: &str) {
        self.workspace.did_open(uri, "text", DocVersion(1), Encoding::Utf16, text);
    }

    fn types(&self, uri: &str, version: i32, line: u32, text: &str) {
        let at = Position::new(line, 0);
        let change = ContentChange { span: Some(Span::new(at, at)), text: text.into() };
        self.workspace.did_change(uri, DocVersion(version), &[change]).unwrap();
    }

    fn text(&self, uri: &str) -> String {
        self.workspace.text_of(uri).unwrap().1.to_string()
    }

    fn caller() -> Caller {
        Caller::anywhere("tester", "1")
    }

    async fn read(&self) -> (Text, FileHash) {
        let request = ReadRequest { path: self.path().display().to_string(), view: View::Agent };
        let reply = self.workspace.read(&Self::caller(), &request).await.unwrap();
        self.workspace.shown(&reply, 0..reply.text().line_count());
        (reply.text().clone(), reply.hash)
    }

    /// Puts a line in the place of one, 0-based, of a text that was read.
    async fn replace(
        &self,
        (text, hash): &(Text, FileHash),
        line: usize,
        content: &str,
        dry_run: bool,
    ) -> Result<EditReply, Refusal> {
        let anchor = format!("{}:{}", line + 1, line_hash(&text.line(Line(line)).unwrap().content()));
        let raw = RawOperation::new("replace", anchor).content(content);
        let request = EditRequest {
            path: self.path().display().to_string(),
            file_hash: Some(HashPrefix::from(*hash)),
            change: Change::Operations(vec![Operation::parse(0, raw).unwrap()]),
            strict: false,
            dry_run,
            conversation: None,
            tool: "edit_text_file".into(),
            reason: None,
        };
        self.workspace.edit(&Self::caller(), request).await
    }

    async fn edits(&self) -> usize {
        self.workspace.edits(&Self::caller(), &ReviewScope::default()).await.unwrap().len()
    }

    fn notices(&self) -> Vec<String> {
        let mut events = self.events.lock().unwrap();
        std::iter::from_fn(|| events.try_recv().ok())
            .filter_map(|event| match event {
                Event::Notice(words) => Some(words),
                _ => None,
            })
            .collect()
    }
}

#[tokio::test]
async fn a_dry_run_leaves_no_trace_in_what_is_served_later() {
    let desk = Desk::recorded("one\ntwo\n");
    desk.open(&desk.uri(), "one\ntwo\n");
    let read = desk.read().await;
    let dry = desk.replace(&read, 0, "dry", true).await.unwrap();
    let real = desk.replace(&read, 1, "real", false).await.unwrap();
    assert_eq!(real.text.to_string(), "one\nreal\n");
    assert_ne!(real.hash, dry.hash);
    let (text, hash) = desk.read().await;
    assert_eq!((text.to_string().as_str(), hash), ("one\nreal\n", real.hash));
    let refused = desk.replace(&(dry.text.clone(), dry.hash), 1, "again", false).await;
    assert!(
        matches!(refused, Err(Refusal::Edit(Refused::UnknownHash { .. }))),
        "nothing of that hash was ever there"
    );
}

#[tokio::test]
async fn a_file_under_two_names_keeps_both_texts_and_survives_the_loss_of_one() {
    let desk = Desk::recorded("one\ntwo\n");
    let link = desk.folder.path().join("link.txt");
    std::os::unix::fs::symlink(desk.path(), &link).unwrap();
    let (first, second) = (desk.uri(), url::Url::from_file_path(&link).unwrap().to_string());
    desk.open(&first, "one\ntwo\n");
    desk.open(&second, "one\ntwo\n");
    assert!(desk.notices().iter().any(|words| words.contains("two names")));
    desk.types(&first, 2, 0, "a ");
    desk.types(&second, 2, 1, "b ");
    assert_eq!((desk.text(&first), desk.text(&second)), ("a one\ntwo\n".into(), "one\nb two\n".into()));
    let read = desk.read().await;
    assert_eq!(read.0.to_string(), "a one\ntwo\n", "agents work in the first");
    let edit = desk.replace(&read, 0, "held", false).await.unwrap();
    assert!(edit.open);
    desk.workspace.did_close(&first);
    desk.types(&second, 3, 1, "c ");
    assert_eq!(desk.text(&second), "one\nc b two\n");
    let (text, _) = desk.read().await;
    assert_eq!(text.to_string(), "one\nc b two\n", "the edit of a line that is not as it was is conflicted");
    assert_eq!(desk.edits().await, 1, "and it is there");
    desk.workspace.did_close(&second);
    assert_eq!(desk.stored(), "one\ntwo\n");
}

#[tokio::test]
async fn a_reload_forgets_nothing_that_was_read() {
    let desk = Desk::recorded("one\ntwo\n");
    desk.open(&desk.uri(), "one\ntwo\n");
    let read = desk.read().await;
    desk.workspace.did_close(&desk.uri());
    desk.open(&desk.uri(), "zero\none\ntwo\n");
    let edit = desk.replace(&read, 1, "2", false).await.unwrap();
    assert!(edit.carried);
    assert_eq!(edit.text.to_string(), "zero\none\n2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_is_not_recorded_yet_is_served_to_nobody() {
    for recorded in [true, false] {
        let (desk, keeper) = Desk::gated("one\ntwo\n");
        desk.open(&desk.uri(), "one\ntwo\n");
        let read = desk.read().await;
        let edit = tokio::spawn({
            let (desk, read) = (desk.clone(), read.clone());
            async move { desk.replace(&read, 0, "1", false).await }
        });
        keeper.wait();
        assert_eq!(desk.read().await.0.to_string(), "one\ntwo\n");
        assert_eq!(desk.edits().await, 0);
        desk.types(&desk.uri(), 2, 1, "my ");
        keeper.lets(recorded);
        drop(keeper);
        match edit.await.unwrap() {
            Ok(reply) if recorded => {
                assert_eq!(reply.hash, reply.text.hash(), "the reply is of what it shows");
            }
            Err(Refusal::History(_)) if !recorded => {}
            other => panic!("recorded {recorded}: {other:?}"),
        }
        let now = if recorded { "1\nmy two\n" } else { "one\nmy two\n" };
        assert_eq!(desk.read().await.0.to_string(), now);
        assert_eq!(desk.edits().await, usize::from(recorded));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_opened_while_it_is_edited_is_edited_in_the_editor() {
    let (desk, keeper) = Desk::gated("one\ntwo\n");
    let read = desk.read().await;
    let edit = tokio::spawn({
        let (desk, read) = (desk.clone(), read.clone());
        async move { desk.replace(&read, 0, "1", false).await }
    });
    keeper.wait();
    desk.open(&desk.uri(), "one\ntwo\n");
    drop(keeper);
    let reply = edit.await.unwrap().unwrap();
    assert!(reply.open && reply.mode == Mode::Propose);
    assert_eq!(reply.states, [HunkState::Held]);
    assert_eq!(desk.stored(), "one\ntwo\n", "nothing is written under an open document");
    assert_eq!(desk.text(&desk.uri()), "one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_document_that_closes_meanwhile_waits_for_it() {
    const STORED: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    let (desk, keeper) = Desk::gated(STORED);
    desk.open(&desk.uri(), &STORED.replace("seven", "unsaved"));
    let read = desk.read().await;
    let edit = tokio::spawn({
        let (desk, read) = (desk.clone(), read.clone());
        async move { desk.replace(&read, 0, "1", false).await }
    });
    keeper.wait();
    desk.workspace.did_close(&desk.uri());
    drop(keeper);
    let reply = edit.await.unwrap().unwrap();
    assert_eq!(reply.states, [HunkState::Held]);
    assert_eq!(desk.stored(), STORED);
    desk.open(&desk.uri(), STORED);
    assert_eq!(desk.edits().await, 1);
    assert_eq!(desk.read().await.0.to_string(), STORED.replace("one", "1"));
}

#[tokio::test]
async fn an_open_file_outside_the_roots_is_for_agents_whose_own_folders_hold_it() {
    let desk = Desk::recorded("one\n");
    let outside = tempfile::tempdir().unwrap();
    let hooks = outside.path().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let caller = Caller { roots: Some(vec![outside.path().to_owned()]), ..Desk::caller() };
    for (path, may_write) in [(outside.path().join("b.txt"), true), (hooks.join("pre-commit"), false)] {
        std::fs::write(&path, "one\n").unwrap();
        let uri = url::Url::from_file_path(&path).unwrap().to_string();
        let path = path.display().to_string();
        let read = ReadRequest { path: path.clone(), view: View::Agent };
        desk.workspace.read(&caller, &read).await.unwrap_err();
        desk.open(&uri, "one\n");
        desk.workspace.read(&Desk::caller(), &read).await.unwrap_err();
        let reply = desk.workspace.read(&caller, &read).await.unwrap();
        desk.workspace.shown(&reply, 0..1);
        let raw = RawOperation::new("replace", format!("1:{}", line_hash("one"))).content("1");
        let request = EditRequest {
            path,
            file_hash: Some(HashPrefix::from(reply.hash)),
            change: Change::Operations(vec![Operation::parse(0, raw).unwrap()]),
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "edit_text_file".into(),
            reason: None,
        };
        let edited = desk.workspace.edit(&caller, request).await;
        assert_eq!(edited.is_ok(), may_write, "{edited:?}");
    }
    let scope = ReviewScope::default();
    assert_eq!(desk.workspace.edits(&caller, &scope).await.unwrap().len(), 1);
    let stranger = Caller { roots: Some(vec![desk.folder.path().to_owned()]), ..Desk::caller() };
    assert_eq!(desk.workspace.edits(&stranger, &scope).await.unwrap().len(), 0);
}

#[tokio::test]
async fn nothing_is_decided_while_the_document_is_out_of_step() {
    let desk = Desk::recorded("one\ntwo\n");
    desk.open(&desk.uri(), "one\ntwo\n");
    let read = desk.read().await;
    desk.replace(&read, 0, "1", false).await.unwrap();
    let change = ContentChange { span: None, text: "behind".into() };
    let at = Position::new(9, 0);
    let outside = ContentChange { span: Some(Span::new(at, at)), ..change };
    desk.workspace.did_change(&desk.uri(), DocVersion(2), &[outside]).unwrap_err();
    let request = Request::of(Choice::Accept, Target::All);
    let decided = desk.workspace.decide(Some(&desk.uri()), &request).await;
    assert!(decided.queued.is_empty());
    assert!(decided.refused[0].message.contains("Close and open it again"), "{decided:?}");
    assert_eq!(desk.workspace.poll(&desk.uri()), (None, None), "nothing is to be asked again at once");
}

#[tokio::test]
async fn a_file_that_is_opened_while_an_edit_of_it_is_made_is_not_written() {
    let desk = Desk::recorded("one\n");
    let read = desk.read().await;
    // Everything is computed when the editor opens it, with what it has read.
    let (workspace, uri) = (desk.workspace.clone(), desk.uri());
    desk.workspace.mind(Arc::new(Strangers(move |_: &Path| {
        workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, "one\n");
        OpenElsewhere::No
    })));
    let reply = desk.replace(&read, 0, "1", false).await.unwrap();
    assert_eq!((reply.open, reply.mode), (true, Mode::Propose));
    assert_eq!(desk.stored(), "one\n");
    let review = desk.workspace.review(&desk.uri()).unwrap().review;
    assert_eq!(review.edits[0].hunks[0].state, HunkState::Held);
}
