//! The demo's editor: a plain LSP client with one document, unsaved work and somebody at the keys. It knows nothing of hashline but what
//! every LSP client knows: code actions and workspace edits.

use std::path::Path;
use std::sync::Arc;

use hashline_text::{Encoding, Position, Span, Text};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::{Mutex, mpsc};
use url::Url;

use super::wire::{Framing, Wire};

/// The editor.
#[derive(Clone)]
pub struct Editor {
    wire: Wire,
    uri: String,
    state: Arc<Mutex<State>>,
}

struct State {
    text: Text,
    version: i32,
    /// What the server wanted the person to know.
    messages: Vec<String>,
}

/// A code action that was offered.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What the menu says.
    pub title: String,
    action: Value,
}

impl Editor {
    /// Starts the sidecar and opens a document.
    ///
    /// # Errors
    ///
    /// The sidecar does not start or does not answer.
    pub async fn open(mut sidecar: Command, root: &Path, file: &Path, text: &str) -> std::io::Result<Self> {
        sidecar.current_dir(root);
        let (wire, incoming) = Wire::start(sidecar, Framing::Headers)?;
        let uri_of = |path: &Path| Url::from_file_path(path).map_or_else(|()| String::new(), String::from);
        let (root, uri) = (uri_of(root), uri_of(file));
        let state = State { text: Text::from(text), version: 1, messages: Vec::new() };
        let editor = Self { wire, uri, state: Arc::new(Mutex::new(state)) };
        tokio::spawn(editor.clone().serve(incoming));
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {"applyEdit": true, "workspaceFolders": true, "workspaceEdit": {"documentChanges": true}},
            "textDocument": {
                "synchronization": {"didSave": true},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}}
            }
        });
        let params = json!({
            "processId": null, "rootUri": root, "capabilities": capabilities,
            "clientInfo": {"name": "demo editor", "version": env!("CARGO_PKG_VERSION")},
            "workspaceFolders": [{"uri": root, "name": "demo"}]
        });
        editor.wire.ask("initialize", params).await?;
        editor.wire.notify("initialized", json!({})).await?;
        let document = json!({"uri": editor.uri, "languageId": "javascript", "version": 1, "text": text});
        editor.wire.notify("textDocument/didOpen", json!({"textDocument": document})).await?;
        Ok(editor)
    }

    /// The text, as the person sees it.
    pub async fn text(&self) -> String {
        self.state.lock().await.text.to_string()
    }

    /// What the server wanted the person to know since this was asked last.
    pub async fn messages(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().await.messages)
    }

    /// Types at the end of the first line that starts so.
    ///
    /// # Errors
    ///
    /// There is no such line, or the sidecar no longer reads.
    pub async fn type_behind(&self, start: &str, typed: &str) -> std::io::Result<()> {
        let mut state = self.state.lock().await;
        let text = state.text.to_string();
        let found = text.split('\n').enumerate().find(|(_, line)| line.starts_with(start));
        let (line, content) =
            found.ok_or_else(|| std::io::Error::other(format!("no line starts with {start:?}")))?;
        let at = Position::new(line as u32, content.encode_utf16().count() as u32);
        self.change(&mut state, vec![(Span::new(at, at), typed.to_owned())]).await
    }

    /// What the code action menu offers on the lines that hold a word.
    ///
    /// # Errors
    ///
    /// The sidecar does not answer.
    pub async fn offers(&self, word: &str) -> std::io::Result<Vec<Offer>> {
        let line = {
            let text = self.text().await;
            text.split('\n').position(|line| line.contains(word)).unwrap_or_default()
        };
        let here = json!({"line": line, "character": 0});
        let params = json!({
            "textDocument": {"uri": self.uri},
            "range": {"start": here, "end": here},
            "context": {"diagnostics": []}
        });
        let actions = self.wire.ask("textDocument/codeAction", params).await?;
        let offer = |action: &Value| {
            let title = action["title"].as_str().unwrap_or_default().to_owned();
            Offer { title, action: action.clone() }
        };
        Ok(actions.as_array().map(|actions| actions.iter().map(offer).collect()).unwrap_or_default())
    }

    /// Chooses a code action: makes its edit and runs its command, in this order, as editors do.
    ///
    /// # Errors
    ///
    /// The sidecar does not answer.
    pub async fn choose(&self, offer: &Offer) -> std::io::Result<()> {
        let edit = &offer.action["edit"];
        if !edit.is_null() {
            let mut state = self.state.lock().await;
            self.make(&mut state, edit).await?;
        }
        // A command may be the action itself, or a part of it.
        let command = match &offer.action["command"] {
            Value::String(_) => &offer.action,
            command => command,
        };
        if !command.is_null() {
            let params = json!({"command": command["command"], "arguments": command["arguments"]});
            self.wire.ask("workspace/executeCommand", params).await?;
        }
        Ok(())
    }

    /// Tells the sidecar that the text was saved.
    ///
    /// # Errors
    ///
    /// The sidecar no longer reads.
    pub async fn saved(&self) -> std::io::Result<()> {
        self.wire.notify("textDocument/didSave", json!({"textDocument": {"uri": self.uri}})).await
    }

    /// Ends the sidecar, as an editor does.
    pub async fn close(&self) {
        // The demo is over: whether the sidecar answers no longer matters.
        let _ = self.wire.ask("shutdown", Value::Null).await;
        let _ = self.wire.notify("exit", Value::Null).await;
        self.wire.end().await;
    }

    async fn serve(self, mut incoming: mpsc::UnboundedReceiver<Value>) {
        while let Some(message) = incoming.recv().await {
            let params = &message["params"];
            let result = match message["method"].as_str() {
                Some("workspace/applyEdit") => {
                    let mut state = self.state.lock().await;
                    let applied = self.make(&mut state, &params["edit"]).await.unwrap_or(false);
                    json!({"applied": applied})
                }
                Some("workspace/configuration") => {
                    let items = params["items"].as_array().map_or(0, Vec::len);
                    Value::Array(vec![Value::Null; items])
                }
                Some("window/showMessage") => {
                    let text = params["message"].as_str().unwrap_or_default().to_owned();
                    self.state.lock().await.messages.push(text);
                    Value::Null
                }
                _ => Value::Null,
            };
            if let Some(id) = message.get("id") {
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                if self.wire.send(&answer).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Makes a workspace edit if it is for the text as it is. Says whether it did.
    async fn make(&self, state: &mut State, edit: &Value) -> std::io::Result<bool> {
        let Some(change) = edit["documentChanges"].get(0) else { return Ok(false) };
        let document = &change["textDocument"];
        if document["uri"] != self.uri || document["version"] != state.version {
            return Ok(false);
        }
        let position = |value: &Value| {
            let number =
                |name: &str| value[name].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
            Position::new(number("line"), number("character"))
        };
        let span = |range: &Value| Span::new(position(&range["start"]), position(&range["end"]));
        let edits = change["edits"].as_array().cloned().unwrap_or_default();
        let mut edits: Vec<(Span, String)> = edits
            .iter()
            .map(|edit| (span(&edit["range"]), edit["newText"].as_str().unwrap_or_default().to_owned()))
            .collect();
        // From the last to the first, so that the places of the others stay true.
        edits.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
        self.change(state, edits).await?;
        Ok(true)
    }

    async fn change(&self, state: &mut State, edits: Vec<(Span, String)>) -> std::io::Result<()> {
        let mut changes = Vec::new();
        for (span, new) in edits {
            state.text.apply(span, Encoding::Utf16, &new).map_err(std::io::Error::other)?;
            let at = |position: Position| json!({"line": position.line, "character": position.character});
            changes.push(json!({"range": {"start": at(span.start), "end": at(span.end)}, "text": new}));
        }
        state.version += 1;
        let document = json!({"uri": self.uri, "version": state.version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.wire.notify("textDocument/didChange", params).await
    }
}
