//! A folder with files, a workspace over it, and a person with an editor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{Decision, Document as Past, DocumentName, HunkRef, Location, Status, Store};
use hashline_text::{DocVersion, Encoding, FileHash, HashPrefix, Line, Text, decode};
use hashline_weave::{TextEdit, View, apply_text_edits};
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{
    Along, Cause, Change, Choice, ContentChange, Decided, HunkState, HunkView, Request, Target, Unseen, Why,
};
use hashline_workspace::{Caller, Event, Histories, Others, Refusal, Settings, Workspace};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long something may take that is waited for.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The folder that everything happens in. The one who made it removes it.
pub struct Folder {
    path: PathBuf,
    _made: Option<TempDir>,
}

impl Folder {
    pub fn at(path: impl Into<PathBuf>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), _made: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A document as the editor has it.
pub struct Page {
    pub text: Text,
    pub version: i32,
}

pub struct Desk {
    pub workspace: Workspace,
    events: UnboundedReceiver<Event>,
    pub folder: Arc<Folder>,
    pub settings: Settings,
    pub pages: BTreeMap<String, Page>,
    said: Vec<String>,
    /// What the person wants to become of changes that nobody watched.
    pub unseen: Unseen,
}

impl Desk {
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, Histories::of("a test"))
    }

    pub fn with(files: &[(&str, &str)], histories: Histories) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, stored) in files {
            std::fs::write(folder.path().join(name), stored).unwrap();
        }
        let folder = Folder { path: folder.path().canonicalize().unwrap(), _made: Some(folder) };
        Self::over(Arc::new(folder), Settings::default(), histories)
    }

    /// A process that begins to serve a folder.
    pub fn over(folder: Arc<Folder>, settings: Settings, histories: Histories) -> Self {
        Self::beside(None, folder, settings, histories)
    }

    /// The same, with other processes about.
    pub fn beside(
        others: Option<Arc<dyn Others>>,
        folder: Arc<Folder>,
        settings: Settings,
        histories: Histories,
    ) -> Self {
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, events) = Workspace::new(roots.clone(), settings.clone(), histories);
        if let Some(others) = others {
            workspace.mind(others);
        }
        workspace.set_roots(roots);
        let (pages, said, unseen) = (BTreeMap::new(), Vec::new(), Unseen::Refuse);
        Self { workspace, events, folder, settings, pages, said, unseen }
    }

    /// The process ends without a word, and another one begins. The editor's windows are gone with it.
    pub fn restarted(self) -> Self {
        self.restarted_with(Histories::of("a test"))
    }

    pub fn restarted_with(self, histories: Histories) -> Self {
        let Self { workspace, folder, settings, unseen, .. } = self;
        drop(workspace);
        let next = Self { unseen, ..Self::over(folder, settings, histories) };
        next.settle();
        next
    }

    /// Waits until what has happened is recorded, and what came of that as well.
    pub fn settle(&self) {
        self.workspace.settle_record();
        self.workspace.settle_record();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        url::Url::from_file_path(self.path(name)).unwrap().to_string()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn stored(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Something else writes a file.
    pub fn write(&self, name: &str, stored: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), stored).unwrap();
    }

    pub fn history(&self) -> PathBuf {
        self.folder.path().join(".mcp/edit_history")
    }

    /// The person opens a file.
    pub fn open(&mut self, name: &str) {
        let text = decode(&self.bytes(name)).unwrap().0;
        self.open_as(name, &text.to_string());
    }

    /// The editor opens a document with this text, whatever the file has.
    pub fn open_as(&mut self, name: &str, text: &str) {
        self.opens(name, text);
        self.settle();
    }

    /// The same, and its edits may not be there yet.
    pub fn opens(&mut self, name: &str, text: &str) {
        self.pages.insert(name.to_owned(), Page { text: Text::from(text), version: 1 });
        self.workspace.did_open(&self.uri(name), "text", DocVersion(1), Encoding::Utf16, text);
    }

    pub fn close(&mut self, name: &str) {
        self.pages.remove(name);
        self.workspace.did_close(&self.uri(name));
    }

    /// Closes a document and waits until its file has had the last word.
    pub async fn close_for_good(&mut self, name: &str) {
        self.close(name);
        self.settle();
        // There is nothing to see where the file has nothing new to say.
        tokio::time::sleep(Duration::from_millis(2300)).await;
        self.settle();
    }

    fn told_of(&mut self, name: &str, changes: &[ContentChange]) {
        let uri = self.uri(name);
        let page = self.pages.get_mut(name).unwrap();
        page.version += 1;
        self.workspace.did_change(&uri, DocVersion(page.version), changes).unwrap();
        assert_eq!(self.workspace.text_of(&uri).unwrap().1, page.text);
    }

    /// The person changes the text; the editor tells of it as one edit per place.
    pub fn make(&mut self, name: &str, edits: &[TextEdit]) {
        apply_text_edits(&mut self.pages.get_mut(name).unwrap().text, edits, Encoding::Utf16).unwrap();
        let change = |edit: &TextEdit| ContentChange { span: Some(edit.span), text: edit.new.clone() };
        let changes: Vec<_> = edits.iter().rev().map(change).collect();
        self.told_of(name, &changes);
    }

    /// The whole text is replaced.
    pub fn becomes(&mut self, name: &str, text: &str) {
        self.pages.get_mut(name).unwrap().text = Text::from(text);
        self.told_of(name, &[ContentChange { span: None, text: text.to_owned() }]);
    }

    /// The same by an editor whose plugin says why.
    pub fn becomes_by(&mut self, cause: Cause, name: &str, text: &str) {
        let version = DocVersion(self.pages[name].version + 1);
        self.workspace.did_cause(&self.uri(name), version, cause);
        self.becomes(name, text);
    }

    pub fn text(&self, name: &str) -> String {
        self.pages[name].text.to_string()
    }

    /// The editor writes the document.
    pub fn save(&mut self, name: &str) {
        let form = hashline_text::DiskForm::of_bytes(&self.bytes(name));
        self.write(name, form.to_bytes(&self.pages[name].text));
        self.workspace.did_save(&self.uri(name));
        self.settle();
    }

    /// The editor carries out what is sent to it. Returns whether anything was.
    pub fn deliver(&mut self, name: &str) -> bool {
        let uri = self.uri(name);
        let mut any = false;
        while let (Some(delivery), _) = self.workspace.poll(&uri) {
            assert_eq!(delivery.version, DocVersion(self.pages[name].version));
            self.make(name, &delivery.edits);
            self.workspace.answered(&uri, delivery.number, true);
            any = true;
        }
        any
    }

    pub async fn read(&self, name: &str) -> (Text, FileHash) {
        self.try_read(name).await.unwrap()
    }

    pub async fn try_read(&self, name: &str) -> Result<(Text, FileHash), Refusal> {
        let request = ReadRequest { path: self.path(name).display().to_string(), view: View::Agent };
        let reply = self.workspace.read(&agent("tester"), &request).await?;
        self.workspace.shown(&reply, 0..reply.text().line_count());
        Ok((reply.text().clone(), reply.hash))
    }

    /// An agent edits what it has read.
    pub async fn edit_as(
        &self,
        who: &str,
        conversation: Option<&str>,
        name: &str,
        read: &(Text, FileHash),
        operations: &[Op<'_>],
    ) -> Result<EditReply, Refusal> {
        let request = request_of(&self.path(name), conversation, read, operations);
        self.workspace.edit(&agent(who), request).await
    }

    pub async fn try_edit(&self, name: &str, operations: &[Op<'_>]) -> Result<EditReply, Refusal> {
        let read = self.try_read(name).await?;
        self.edit_as("tester", None, name, &read, operations).await
    }

    pub async fn edit(&self, name: &str, operations: &[Op<'_>]) -> EditReply {
        self.try_edit(name, operations).await.unwrap()
    }

    /// Decides, and lets the editor carry it out.
    pub async fn decide(&mut self, request: &Request) -> Decided {
        let decided = self.workspace.decide(None, request).await;
        for name in self.pages.keys().cloned().collect::<Vec<_>>() {
            self.deliver(&name);
        }
        decided
    }

    pub async fn decides(&mut self, choice: Choice, target: Target) -> Vec<Why> {
        let request = Request { along: Along::All, unseen: self.unseen, ..request(choice, target) };
        let decided = self.decide(&request).await;
        decided.refused.into_iter().map(|undecided| undecided.why).collect()
    }

    pub async fn accept(&mut self, edit: &EditReply) -> Vec<Why> {
        self.decides(Choice::Accept, Target::Edit(edit.edit.to_string())).await
    }

    pub async fn reject(&mut self, edit: &EditReply) -> Vec<Why> {
        self.decides(Choice::Reject, Target::Edit(edit.edit.to_string())).await
    }

    /// What is recorded of a file.
    pub fn past(&self, name: &str) -> Past {
        self.try_past(name).unwrap()
    }

    /// The same, if anything is.
    pub fn try_past(&self, name: &str) -> Option<Past> {
        let root = self.folder.path().canonicalize().unwrap();
        let name = DocumentName::Path(root.join(name));
        Store::new(root, "a look").document(&name).ok()
    }

    pub fn status(&self, name: &str, edit: &EditReply) -> Status {
        self.past(name).edit(&edit.edit).unwrap().status()
    }

    /// The decision about the first hunk of an edit, and where it is.
    pub fn recorded(&self, name: &str, edit: &EditReply) -> (Decision, Location) {
        let past = self.past(name);
        let hunk = past.hunk(&first(edit)).unwrap();
        (hunk.decision, hunk.location)
    }

    /// The undecided edit of this id as it is offered.
    pub fn offered(&self, edit: &EditReply) -> Option<Vec<HunkView>> {
        let reviews = self.workspace.reviews();
        let mut edits = reviews.iter().flat_map(|review| &review.review.edits);
        edits.find(|offered| offered.edit.id == edit.edit).map(|offered| offered.hunks.clone())
    }

    /// How the first hunk of an undecided edit is offered.
    pub fn state(&self, edit: &EditReply) -> Option<(HunkState, Decision)> {
        self.offered(edit).map(|hunks| (hunks[0].state, hunks[0].decision))
    }

    /// What the person was told so far, and whether these words were among it.
    pub fn was_told(&mut self, words: &str) -> bool {
        while let Ok(event) = self.events.try_recv() {
            if let Event::Notice(said) = event {
                self.said.push(said);
            }
        }
        self.said.iter().any(|said| said.contains(words))
    }

    /// All that the person was told.
    pub fn told(&mut self) -> Vec<String> {
        self.was_told("");
        self.said.clone()
    }

    /// Waits until something is so.
    pub async fn until(&mut self, what: &str, mut so: impl FnMut(&mut Self) -> bool) {
        let started = Instant::now();
        while !so(self) {
            assert!(started.elapsed() < PATIENCE, "{what} never came; told: {:?}", self.told());
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.settle();
        }
    }
}

fn request_of(
    path: &Path,
    conversation: Option<&str>,
    (text, hash): &(Text, FileHash),
    operations: &[Op<'_>],
) -> EditRequest {
    let operations = operations.iter().enumerate().map(|(at, op)| op.of(at, text)).collect();
    EditRequest {
        path: path.display().to_string(),
        file_hash: Some(HashPrefix::from(*hash)),
        change: Change::Operations(operations),
        strict: false,
        dry_run: false,
        conversation: conversation.map(str::to_owned),
        tool: "edit_text_file".into(),
        reason: None,
    }
}

/// An agent edits what it has read, while other things happen at the desk.
pub async fn edit_of(
    workspace: &Workspace,
    path: PathBuf,
    read: (Text, FileHash),
    operation: Op<'_>,
) -> Result<EditReply, Refusal> {
    workspace.edit(&agent("tester"), request_of(&path, None, &read, &[operation])).await
}

/// An operation on lines that were read, by their numbers from 0.
#[derive(Clone, Debug)]
pub enum Op<'a> {
    Replace(usize, usize, &'a str),
    After(usize, &'a str),
    /// Before the first line.
    Top(&'a str),
    Delete(usize, usize),
}

impl Op<'_> {
    pub fn of(&self, at: usize, text: &Text) -> Operation {
        let anchor = |line: usize| {
            let read = text.line(Line(line)).unwrap_or_else(|| panic!("no line {line} in {text:?}"));
            format!("{}:{}", line + 1, line_hash(&read.content()))
        };
        let raw = match self {
            Op::Replace(from, to, new) if from + 1 == *to => {
                RawOperation::new("replace", anchor(*from)).content(*new)
            }
            Op::Replace(from, to, new) => {
                RawOperation::new("replace_range", anchor(*from)).end(anchor(to - 1)).content(*new)
            }
            Op::After(line, new) => RawOperation::new("insert_after", anchor(*line)).content(*new),
            Op::Top(new) => RawOperation::new("insert_after", "0:").content(*new),
            Op::Delete(from, to) if from + 1 == *to => RawOperation::new("delete", anchor(*from)),
            Op::Delete(from, to) => RawOperation::new("delete_range", anchor(*from)).end(anchor(to - 1)),
        };
        Operation::parse(at, raw).unwrap()
    }
}

pub fn agent(name: &str) -> Caller {
    Caller::anywhere(name, name)
}

pub fn first(edit: &EditReply) -> HunkRef {
    hunk(edit, 1)
}

pub fn hunk(edit: &EditReply, number: u32) -> HunkRef {
    HunkRef { edit: edit.edit.clone(), number }
}

pub fn request(choice: Choice, target: Target) -> Request {
    Request::of(choice, target)
}

/// Sees to it that everything in a history is whole, and that logs and diffs are what the record says.
pub fn assert_whole(folder: &Path) {
    let store = Store::new(folder.canonicalize().unwrap(), "a check");
    let mut session = store.session(&Disk).unwrap();
    assert_eq!(session.repairs(), Vec::<String>::new());
    // What was never finished and never named takes up room, and no more.
    let mut checked = session.check().unwrap();
    checked.retain(|said| !said.contains(".new-") && !said.starts_with("checkpoints/"));
    assert_eq!(checked, Vec::<String>::new());
    drop(session);
    assert_eq!(store.damage().unwrap(), []);
    for document in store.documents().unwrap() {
        store.file(document.file).unwrap();
    }
}

/// The files themselves.
pub struct Disk;

impl hashline_history::FilesNow for Disk {
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(FileHash::of(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
