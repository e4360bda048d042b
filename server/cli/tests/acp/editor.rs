//! An editor over `hashline lsp` that has files open.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::place::{Place, until};

pub struct Editor {
    child: Child,
    heard: Arc<Mutex<Vec<Value>>>,
    asked: std::cell::Cell<u64>,
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Editor {
    pub fn start(place: &Place) -> Self {
        let mut command = place.command(&["lsp", "--editor", "an-editor"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (output, hears) = (BufReader::new(child.stdout.take().unwrap()), heard.clone());
        std::thread::spawn(move || listen(output, &hears));
        let editor = Self { child, heard, asked: std::cell::Cell::new(0) };
        let folder = json!({ "uri": uri(&place.root), "name": "w" });
        let capabilities = json!({ "workspace": { "applyEdit": true } });
        editor.ask(
            "initialize",
            &json!({ "processId": null, "rootUri": uri(&place.root), "workspaceFolders": [folder],
                "capabilities": capabilities, "clientInfo": { "name": "an-editor", "version": "1" } }),
        );
        editor.tell("initialized", &json!({}));
        editor
    }

    /// Opens a file with unsaved work; returns when the sidecar has it.
    pub fn open(&self, path: &Path, text: &str) {
        let document = json!({ "uri": uri(path), "languageId": "text", "version": 1, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
        self.actions(path);
    }

    /// What is offered to the person in a file.
    pub fn actions(&self, path: &Path) -> Vec<String> {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let document = json!({ "uri": uri(path) });
        let params = json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } });
        let answer = self.ask("textDocument/codeAction", &params);
        let titles = answer.as_array().into_iter().flatten().filter_map(|action| action["title"].as_str());
        titles.map(str::to_owned).collect()
    }

    /// Whether nothing was to be changed in the editor.
    pub fn is_asked_for_nothing(&self) -> bool {
        !self.heard.lock().unwrap().iter().any(|message| message["method"] == "workspace/applyEdit")
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        let id = self.asked.get() + 1;
        self.asked.set(id);
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut answer = Value::Null;
        until(method, || {
            let heard = self.heard.lock().unwrap();
            let found = heard.iter().find(|one| one["id"] == id && one.get("method").is_none());
            answer = found.cloned().unwrap_or_default();
            found.is_some()
        });
        answer["result"].clone()
    }

    fn tell(&self, method: &str, params: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn say(&self, message: &Value) {
        let body = message.to_string();
        write!(self.child.stdin.as_ref().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(mut output: impl BufRead, heard: &Mutex<Vec<Value>>) {
    loop {
        let mut length = 0;
        loop {
            let mut header = String::new();
            if output.read_line(&mut header).unwrap_or(0) == 0 {
                return;
            }
            match header.trim().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        if output.read_exact(&mut body).is_err() {
            return;
        }
        heard.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
    }
}
