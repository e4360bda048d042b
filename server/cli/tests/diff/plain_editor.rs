//! A plain editor over `hashline lsp`, as other people's programs are: it carries out what its server asks for, and knows nothing of hashline.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::project::Project;

/// An editor with some documents, that carries out what its server asks for. ASCII only.
pub struct Editor {
    child: Child,
    shared: Arc<Shared>,
}

struct Shared {
    stdin: Mutex<ChildStdin>,
    state: Mutex<State>,
    /// How many questions were asked after the first.
    asked: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Per document its URI, version and text.
    documents: Vec<(String, i64, String)>,
    answered: Vec<Value>,
    /// What the person was told.
    told: Vec<String>,
    /// What is locked when a delivery comes, and until it is taken away from here.
    lock: Option<File>,
    /// Why files are not renamed or removed now.
    busy: Option<&'static str>,
}

pub fn uri(path: &Path) -> String {
    let text = to_text(path);
    if text.starts_with("file://") { text.into_owned() } else { format!("file://{text}") }
}

fn path_of(uri: &str) -> PathBuf {
    PathBuf::from(uri.strip_prefix("file://").unwrap())
}

impl Editor {
    pub fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    /// One that does these operations on files when it is asked.
    pub fn start_with(project: &Project, operations: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.args(["lsp", "--editor", "an-editor", "--state-dir"]).arg(project.temp.path().join("state"));
        command.current_dir(&project.folder).env_remove("HASHLINE_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = Mutex::new(child.stdin.take().unwrap());
        let shared = Arc::new(Shared { stdin, state: Mutex::default(), asked: AtomicU64::new(0) });
        let (stdout, hears) = (BufReader::new(child.stdout.take().unwrap()), shared.clone());
        std::thread::spawn(move || hears.listen(stdout));
        let editor = Self { child, shared };
        let edits = json!({"documentChanges": true, "resourceOperations": operations});
        let capabilities = json!({"workspace": {"applyEdit": true, "workspaceEdit": edits}});
        let folder = json!({"uri": uri(&project.folder), "name": "project"});
        editor.shared.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "processId": null, "rootUri": uri(&project.folder), "workspaceFolders": [folder],
            "capabilities": capabilities, "clientInfo": {"name": "an-editor", "version": "1"},
            "initializationOptions": {"hashline": {"diagnostics": false}}
        }}));
        until("the handshake", || {
            editor.shared.state.lock().unwrap().answered.iter().any(|one| one["id"] == 1)
        });
        editor.shared.tell("initialized", &json!({}));
        editor
    }

    /// Opens a file, with a text that may not be the one on the disk.
    pub fn open(&self, path: &Path, text: &str) {
        self.shared.state.lock().unwrap().documents.push((uri(path), 1, text.to_owned()));
        let document = json!({"uri": uri(path), "languageId": "text", "version": 1, "text": text});
        self.shared.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    pub fn text(&self, path: &Path) -> String {
        let state = self.shared.state.lock().unwrap();
        state.documents.iter().find(|(name, ..)| *name == uri(path)).unwrap().2.clone()
    }

    /// Asks the server for something.
    pub fn ask(&self, method: &str, params: &Value) -> Value {
        let id = self.shared.asked.fetch_add(1, Ordering::Relaxed) + 2;
        self.shared.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer =
            || self.shared.state.lock().unwrap().answered.iter().find(|one| one["id"] == id).cloned();
        until(method, || answer().is_some());
        answer().unwrap()["result"].clone()
    }

    /// What the person was told so far.
    pub fn told(&self) -> Vec<String> {
        self.shared.state.lock().unwrap().told.clone()
    }

    /// The paths and texts of what is open.
    pub fn documents(&self) -> Vec<(PathBuf, String)> {
        let state = self.shared.state.lock().unwrap();
        state.documents.iter().map(|(uri, _, text)| (path_of(uri), text.clone())).collect()
    }

    /// The names and texts of what is open.
    pub fn texts(&self) -> Vec<(String, String)> {
        let state = self.shared.state.lock().unwrap();
        let name = |uri: &String| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let mut texts: Vec<_> =
            state.documents.iter().map(|(uri, _, text)| (name(uri), text.clone())).collect();
        texts.sort();
        texts
    }

    /// From now on files are not renamed or removed, for this reason.
    pub fn is_busy(&self, why: Option<&'static str>) {
        self.shared.state.lock().unwrap().busy = why;
    }

    /// The next deliveries wait until this is locked; none: they wait for nothing, and it is free again.
    pub fn locks_first(&self, lock: Option<File>) {
        self.shared.state.lock().unwrap().lock = lock;
    }

    /// Writes a document to the disk.
    pub fn save(&self, path: &Path) {
        let state = self.shared.state.lock().unwrap();
        let (uri, _, text) = state.documents.iter().find(|(name, ..)| *name == uri(path)).unwrap();
        std::fs::write(path, text).unwrap();
        self.shared.tell("textDocument/didSave", &json!({"textDocument": {"uri": uri}}));
    }

    /// Closes a document as it is; what is not saved is lost.
    pub fn close(&self, path: &Path) {
        let mut state = self.shared.state.lock().unwrap();
        state.documents.retain(|(name, ..)| *name != uri(path));
        self.shared.tell("textDocument/didClose", &json!({"textDocument": {"uri": uri(path)}}));
    }

    /// Ends the server as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The person replaces the first place where something stands.
    pub fn types(&self, path: &Path, old: &str, new: &str) {
        let mut state = self.shared.state.lock().unwrap();
        let text = &state.documents.iter().find(|(name, ..)| *name == uri(path)).unwrap().2;
        let from = text.find(old).unwrap_or_else(|| panic!("{old:?} is not in {text}"));
        let edit = json!({"range": {"start": place(text, from), "end": place(text, from + old.len())}, "newText": new});
        self.shared.change(&mut state, &uri(path), &[edit]);
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    json!({"line": before.matches('\n').count(), "character": at - start})
}

fn offset(text: &str, place: &Value) -> usize {
    let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    start + usize::try_from(place["character"].as_u64().unwrap()).unwrap()
}

impl Shared {
    fn say(&self, message: &Value) {
        let body = message.to_string();
        // It may have ended.
        let _ = write!(self.stdin.lock().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len());
    }

    fn tell(&self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn change(&self, state: &mut State, uri: &str, edits: &[Value]) {
        let (_, version, text) = state.documents.iter_mut().find(|(name, ..)| name == uri).unwrap();
        let mut changes = Vec::new();
        // From the last to the first, so that the places of the others stay true.
        for edit in edits.iter().rev() {
            let (start, end) = (offset(text, &edit["range"]["start"]), offset(text, &edit["range"]["end"]));
            text.replace_range(start..end, edit["newText"].as_str().unwrap());
            changes.push(json!({"range": edit["range"], "text": edit["newText"]}));
        }
        *version += 1;
        let document = json!({"uri": uri, "version": version});
        self.tell("textDocument/didChange", &json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Renames or removes the file of a document, but not over another one.
    fn operate(&self, state: &mut State, operation: &Value) -> Result<(), &'static str> {
        let path = |uri: &Value| path_of(uri.as_str().unwrap());
        let new = operation.get("newUri");
        let old = if new.is_some() { &operation["oldUri"] } else { &operation["uri"] };
        match new {
            Some(new) if path(new).exists() => return Err("something has that name"),
            Some(new) => std::fs::rename(path(old), path(new)).unwrap(),
            None => std::fs::remove_file(path(old)).unwrap(),
        }
        let at = state.documents.iter().position(|(uri, ..)| old == uri).unwrap();
        let (_, _, text) = state.documents.remove(at);
        self.tell("textDocument/didClose", &json!({"textDocument": {"uri": old}}));
        if let Some(new) = new {
            let document = json!({"uri": new, "languageId": "text", "version": 1, "text": text});
            state.documents.push((new.as_str().unwrap().to_owned(), 1, text));
            self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        }
        Ok(())
    }

    /// Does what it is asked for, where it has the very text that this is for. The reason if it does not.
    fn apply(&self, state: &mut State, changes: &[Value]) -> Result<(), Option<&'static str>> {
        let change = &changes[0];
        let (uri, version) = (&change["textDocument"]["uri"], &change["textDocument"]["version"]);
        if !state.documents.iter().any(|(name, now, _)| uri == name && version == now) {
            return Err(None);
        }
        let Some(operation) = changes.get(1) else {
            if let Some(file) = &state.lock {
                file.lock().unwrap();
            }
            self.change(state, uri.as_str().unwrap(), change["edits"].as_array().unwrap());
            return Ok(());
        };
        match state.busy {
            Some(why) => Err(Some(why)),
            None => self.operate(state, operation).map_err(Some),
        }
    }

    fn listen(&self, mut stdout: impl BufRead) {
        loop {
            let (mut length, mut line) = (0, String::new());
            while stdout.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(value) = line.trim().strip_prefix("Content-Length: ") {
                    length = value.parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if length == 0 || stdout.read_exact(&mut body).is_err() {
                return;
            }
            let message: Value = serde_json::from_slice(&body).unwrap();
            let mut state = self.state.lock().unwrap();
            let result = match message["method"].as_str() {
                None => {
                    state.answered.push(message);
                    continue;
                }
                Some("workspace/applyEdit") => {
                    let changes = message["params"]["edit"]["documentChanges"].as_array().unwrap();
                    let applied = self.apply(&mut state, changes);
                    json!({"applied": applied.is_ok(), "failureReason": applied.err().flatten()})
                }
                Some("window/showMessage") => {
                    state.told.push(message["params"]["message"].as_str().unwrap().to_owned());
                    Value::Null
                }
                Some("workspace/configuration") => json!([null]),
                Some(_) => Value::Null,
            };
            if let Some(id) = message.get("id") {
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
        }
    }
}

pub fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(15), "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
