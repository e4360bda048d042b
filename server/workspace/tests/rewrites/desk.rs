//! A file, and an editor that does what it is told.

use std::path::PathBuf;

use hashline_anchor::{Patch, Replacement};
use hashline_history::HunkRef;
use hashline_text::{DocVersion, Encoding, FileHash, HashPrefix, Text};
use hashline_weave::{TextEdit, View, apply_text_edits};
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Change, Choice, ContentChange, Request, Target};
use hashline_workspace::{Caller, Histories, Refusal, Settings, Workspace};

/// A file, and an editor that may have it open.
pub struct Desk {
    pub workspace: Workspace,
    folder: tempfile::TempDir,
    pub text: Text,
    version: i32,
}

impl Desk {
    /// A file with these bytes, which no editor has open.
    pub fn on_disk(bytes: impl AsRef<[u8]>) -> Self {
        Self::with(Settings::default(), bytes)
    }

    pub fn with(settings: Settings, bytes: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), bytes).unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, _) = Workspace::new(roots, settings, Histories::of("a test"));
        Self { workspace, folder, text: Text::new(), version: 0 }
    }

    /// The same file open in an editor, with this text.
    pub fn open(mut self, text: &str) -> Self {
        self.text = Text::from(text);
        self.version = 1;
        self.workspace.did_open(&self.uri(), "text", DocVersion(1), Encoding::Utf16, text);
        self
    }

    pub fn live(text: &str) -> Self {
        Self::on_disk(text).open(text)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("a.txt")
    }

    pub fn uri(&self) -> String {
        url::Url::from_file_path(self.path()).unwrap().to_string()
    }

    pub fn bytes(&self) -> String {
        String::from_utf8(std::fs::read(self.path()).unwrap()).unwrap()
    }

    pub async fn read(&self) -> (Text, FileHash) {
        let request = ReadRequest { path: self.path().display().to_string(), view: View::Agent };
        let reply = self.workspace.read(&caller(), &request).await.unwrap();
        self.workspace.shown(&reply, 0..reply.text().line_count());
        (reply.text().clone(), reply.hash)
    }

    pub async fn edit(&self, hash: Option<FileHash>, change: Change) -> Result<EditReply, Refusal> {
        let request = EditRequest {
            path: self.path().display().to_string(),
            file_hash: hash.map(HashPrefix::from),
            change,
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        self.workspace.edit(&caller(), request).await
    }

    /// The person makes the whole text this one.
    pub fn types(&mut self, text: &str) {
        self.text = Text::from(text);
        self.version += 1;
        let change = ContentChange { span: None, text: text.into() };
        self.workspace.did_change(&self.uri(), DocVersion(self.version), &[change]).unwrap();
    }

    /// The editor carries out what it is sent.
    pub fn deliver(&mut self) {
        while let (Some(delivery), _) = self.workspace.poll(&self.uri()) {
            let edits: Vec<TextEdit> = delivery.edits.clone();
            apply_text_edits(&mut self.text, &edits, Encoding::Utf16).unwrap();
            self.version += 1;
            let changes: Vec<ContentChange> = edits
                .iter()
                .rev()
                .map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() })
                .collect();
            self.workspace.did_change(&self.uri(), DocVersion(self.version), &changes).unwrap();
            self.workspace.answered(&self.uri(), delivery.number, true);
        }
    }

    pub async fn decide(&mut self, choice: Choice, target: Target) {
        let request = Request::of(choice, target);
        let uri = self.uri();
        let decided = self.workspace.decide(Some(&uri), &request).await;
        assert_eq!(decided.refused, []);
        if self.version > 0 {
            self.deliver();
        }
    }
}

pub fn caller() -> Caller {
    Caller::anywhere("tester", "1")
}

pub fn pieces(edits: &[(&str, &str)]) -> Change {
    Change::Replacements(edits.iter().map(|(old, new)| Replacement::new(*old, *new)).collect())
}

pub fn diff(text: &str) -> Change {
    Change::Patch(Patch::parse(text, "a.txt").unwrap())
}

pub fn hunk(reply: &EditReply, number: u32) -> Target {
    Target::Hunk(HunkRef { edit: reply.edit.clone(), number })
}
