//! A folder, a workspace over it, an agent, and an editor that does what it is told.

use std::path::{Path, PathBuf};

use hashline_link::CancellationToken;
use hashline_mcp::Toolbox;
use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::apply_text_edits;
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Choice, ContentChange, Delivery, Request, Target};
use hashline_workspace::{Caller, Histories, Settings, Workspace};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

pub struct Desk {
    pub workspace: Workspace,
    pub toolbox: Toolbox,
    pub caller: Caller,
    pub folder: PathBuf,
    text: Text,
    version: i32,
    _temp: tempfile::TempDir,
}

/// An answer as the model gets it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub text: String,
    pub failed: bool,
    /// The JSON that the text is, where it is that; else null.
    pub json: Value,
    pub meta: Value,
}

impl Answer {
    pub fn of(result: &CallToolResult) -> Self {
        let [ContentBlock::Text(block)] = result.content.as_slice() else {
            panic!("not one text: {result:?}")
        };
        let json = result.structured_content.clone().unwrap_or_default();
        if !json.is_null() {
            assert_eq!(json.to_string(), block.text, "structured content hides the text, so it is the same");
        }
        Self {
            text: block.text.clone(),
            failed: result.is_error.unwrap_or_default(),
            json,
            meta: result.meta.as_ref().map_or(Value::Null, |meta| Value::Object(meta.0.clone())),
        }
    }

    /// The hash in the first line.
    pub fn hash(&self) -> String {
        let (_, rest) =
            self.text.split_once("file_hash ").unwrap_or_else(|| panic!("no hash: {}", self.text));
        rest.chars().take_while(char::is_ascii_hexdigit).collect()
    }

    /// The anchor of the line that reads so.
    pub fn anchor(&self, content: &str) -> String {
        let tagged = self.text.lines().find_map(|line| {
            let (anchor, rest) = line.split_once('|')?;
            (rest == content && anchor.contains(':')).then(|| anchor.to_owned())
        });
        tagged.unwrap_or_else(|| panic!("no line {content:?} in {}", self.text))
    }

    pub fn tagged(&self) -> Vec<&str> {
        let tagged = |line: &&str| {
            line.starts_with(|c: char| c.is_ascii_digit())
                && line.split_once('|').is_some_and(|(tag, _)| tag.contains(':'))
        };
        self.text.lines().filter(tagged).collect()
    }

    pub fn edit_id(&self) -> String {
        self.meta["edits"][0].as_str().unwrap().to_owned()
    }
}

impl Desk {
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap().join("w");
        std::fs::create_dir(&folder).unwrap();
        let roots = Roots::open([&folder]).unwrap();
        let (workspace, _) = Workspace::new(roots, settings, Histories::of("a test"));
        let toolbox = Toolbox::new(workspace.clone()).of_editor("the editor");
        let caller = Caller::anywhere("tester", "1");
        Self { workspace, toolbox, caller, folder, text: Text::new(), version: 0, _temp: temp }
    }

    /// A sidecar that comes after this one, which no editor has opened anything in.
    pub fn restart(&mut self) {
        let roots = Roots::open([&self.folder]).unwrap();
        let (workspace, _) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        self.toolbox = Toolbox::new(workspace.clone()).of_editor("the editor");
        self.workspace = workspace;
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap()
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_as(&self.caller, tool, arguments).await
    }

    pub async fn call_as(&self, caller: &Caller, tool: &str, arguments: Value) -> Answer {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        Answer::of(&self.toolbox.call(caller, tool, arguments, &CancellationToken::new()).await)
    }

    pub async fn read(&self, path: &str) -> Answer {
        let answer = self.call("read_text_file", serde_json::json!({ "path": path })).await;
        assert!(!answer.failed, "{}", answer.text);
        answer
    }

    pub async fn edit(&self, path: &str, hash: &str, operations: Value) -> Answer {
        let given = serde_json::json!({ "path": path, "file_hash": hash, "operations": operations });
        self.call("edit_text_file", given).await
    }

    /// Opens a document in the editor.
    pub fn open(&mut self, name: &str, text: &str) {
        self.text = Text::from(text);
        self.version = 1;
        self.workspace.did_open(&self.uri(name), "text", DocVersion(1), Encoding::Utf16, text);
    }

    pub fn uri(&self, name: &str) -> String {
        uri(&self.folder.join(name))
    }

    /// The person makes the whole text this one.
    pub fn types(&mut self, name: &str, text: &str) {
        self.text = Text::from(text);
        self.version += 1;
        let change = ContentChange { span: None, text: text.into() };
        self.workspace.did_change(&self.uri(name), DocVersion(self.version), &[change]).unwrap();
    }

    /// The editor carries out what it is sent.
    pub fn deliver(&mut self, name: &str) {
        while let (Some(delivery), _) = self.workspace.poll(&self.uri(name)) {
            self.make(name, &delivery);
        }
    }

    /// The editor carries out a delivery.
    pub fn make(&mut self, name: &str, delivery: &Delivery) {
        apply_text_edits(&mut self.text, &delivery.edits, Encoding::Utf16).unwrap();
        self.version += 1;
        let edits = delivery.edits.iter().rev();
        let changes: Vec<ContentChange> =
            edits.map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() }).collect();
        self.workspace.did_change(&self.uri(name), DocVersion(self.version), &changes).unwrap();
        self.workspace.answered(&self.uri(name), delivery.number, true);
    }

    pub fn editor_text(&self, name: &str) -> String {
        self.workspace.text_of(&self.uri(name)).unwrap().1.to_string()
    }

    pub async fn decide(&self, choice: Choice, target: Target, reason: Option<&str>) {
        let reason = reason.and_then(hashline_history::Reason::of);
        let request = Request { reason, ..Request::of(choice, target) };
        let decided = self.workspace.decide(None, &request).await;
        assert_eq!(decided.refused, []);
    }

    /// The text without what differs from run to run.
    pub fn plain(&self, text: &str) -> String {
        plain(text, &self.folder)
    }
}

pub fn uri(path: &Path) -> String {
    url::Url::from_file_path(path).unwrap().to_string()
}

pub fn plain(text: &str, folder: &Path) -> String {
    text.replace(folder.parent().unwrap().to_str().unwrap(), "")
}

/// Compares with a snapshot, ids and the folder taken out.
macro_rules! shows {
    ($name:literal, $desk:expr, $text:expr) => {{
        let shown = $desk.plain(&$text);
        insta::with_settings!({ filters => vec![
            (r"conv_\d+_[0-9a-f]{8}", "conv_1764000000000_0a1b2c3d"),
            (r"([Ee]dit |builds on |needs |out: )[0-9a-f]{8}", "${1}3f2a9c1b"),
        ], omit_expression => true }, {
            insta::assert_snapshot!($name, shown);
        });
    }};
}
pub(crate) use shows;

impl Answer {
    /// The hash that a refusal tells.
    pub fn hash_now(&self) -> String {
        let (_, rest) =
            self.text.split_once("file_hash is ").unwrap_or_else(|| panic!("no hash: {}", self.text));
        rest.chars().take_while(char::is_ascii_hexdigit).collect()
    }
}
