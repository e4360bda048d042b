//! An editor in memory: speaks LSP over a pipe, keeps the texts of its documents in its own way, and carries out edits as
//! it is told. Dropping it fails the test if the sidecar said something that nobody waited for.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_link::CancellationToken;
use hashline_lsp::{Agents, Options, serve};
use hashline_text::{HashPrefix, Line};
use hashline_weave::View;
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::Change;
use hashline_workspace::{Caller, Histories, Settings, Workspace};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long the sidecar may take for anything.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to listen where nothing is to be said.
pub const SILENCE: Duration = Duration::from_millis(150);

/// What an editor says of itself.
pub struct Manners {
    pub initialize: Value,
    pub agents: Option<Agents>,
    pub editor: Option<String>,
}

impl Manners {
    /// A client without a plugin that knows versions and code actions.
    pub fn plain() -> Self {
        let initialize = json!({
            "processId": null,
            "rootUri": null,
            "clientInfo": {"name": "Test", "version": "1"},
            "initializationOptions": {"hashline": {"diagnostics": false}},
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "workspace": {"applyEdit": true, "workspaceEdit": {"documentChanges": true}},
                "textDocument": {
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
                    "hover": {"contentFormat": ["markdown"]}
                }
            }
        });
        Self { initialize, agents: None, editor: None }
    }

    /// The same where edits go in at once.
    pub fn applying() -> Self {
        let apply = json!({"mode": {"open": "apply"}, "diagnostics": false});
        Self::plain().with("/initializationOptions/hashline", apply)
    }

    /// A plain one with a plugin.
    pub fn plugin() -> Self {
        Self::plain().with("/capabilities/experimental", json!({"hashline": {"protocol": 2, "version": "9"}}))
    }

    /// With another value at a place of the initialize request.
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let mut at = &mut self.initialize;
        for key in pointer.split('/').skip(1) {
            at = &mut at[key];
        }
        *at = value;
        self
    }

    pub fn encoding(self, name: &str) -> Self {
        self.with("/capabilities/general/positionEncodings", json!([name]))
    }
}

pub struct Editor {
    pub workspace: Workspace,
    pub folder: tempfile::TempDir,
    /// What the sidecar said of itself.
    pub initialized: Value,
    encoding: String,
    to: WriteHalf<DuplexStream>,
    from: mpsc::UnboundedReceiver<Value>,
    waiting: VecDeque<Value>,
    next_id: i64,
    /// The text and version of each document.
    pub texts: HashMap<String, (i64, String)>,
    pub serving: Option<JoinHandle<()>>,
    pub stop: CancellationToken,
}

impl Editor {
    pub async fn start(manners: Manners) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), manners).await
    }

    pub async fn start_in(folder: tempfile::TempDir, manners: Manners) -> Self {
        let mut editor = Self::connect(folder, manners.agents, manners.editor);
        let mut params = manners.initialize;
        if params.get("workspaceFolders").is_none() {
            params["workspaceFolders"] = json!([{"uri": editor.folder_uri(), "name": "folder"}]);
        }
        let result = editor.request("initialize", params).await;
        editor.initialized = result["result"].clone();
        assert!(editor.initialized.is_object(), "{result}");
        let encoding = editor.initialized["capabilities"]["positionEncoding"].as_str().unwrap();
        editor.encoding = encoding.to_owned();
        editor.notify("initialized", json!({})).await;
        editor
    }

    /// A connection on which nothing has been said yet.
    pub fn connect(folder: tempfile::TempDir, agents: Option<Agents>, name: Option<String>) -> Self {
        let (workspace, events) =
            Workspace::new(Roots::default(), Settings::default(), Histories::of("a test"));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (stdin, stdout) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let options = Options {
            workspace: workspace.clone(),
            events,
            agents,
            editor: name,
            version: "0.0.1".to_owned(),
            stop: stop.clone(),
        };
        let serving = tokio::spawn(serve(stdin, stdout, options));
        let (from, to) = tokio::io::split(ours);
        let (messages, received) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut reader = BufReader::new(from);
            while let Some(message) = read(&mut reader).await {
                let _ = messages.send(message);
            }
        });
        Self {
            workspace,
            folder,
            initialized: Value::Null,
            encoding: "utf-16".to_owned(),
            to,
            from: received,
            waiting: VecDeque::new(),
            next_id: 0,
            texts: HashMap::new(),
            serving: Some(serving),
            stop,
        }
    }

    pub fn folder_uri(&self) -> String {
        uri_of(self.folder.path())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        uri_of(&self.path(name))
    }

    // Messages.

    pub async fn send_raw(&mut self, body: &[u8]) {
        let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        self.to.write_all(&bytes).await.unwrap();
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).await.unwrap();
    }

    /// Waits until the editor's folder is served.
    pub async fn in_folder(&self) {
        let folder = self.folder.path().canonicalize().unwrap();
        self.until("the folder", |workspace| workspace.roots() == [folder.clone()]).await;
    }

    /// Closes the editor's end.
    pub async fn hang_up(&mut self) {
        let _ = self.to.shutdown().await;
    }

    pub async fn send(&mut self, message: Value) {
        self.send_raw(message.to_string().as_bytes()).await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Asks without waiting for the answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Asks and waits for the whole answer.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer_to(id).await
    }

    pub async fn answer_to(&mut self, id: i64) -> Value {
        self.wait_for(|message| message["id"] == id && message.get("method").is_none(), "an answer").await
    }

    /// Waits for the next message with this method.
    pub async fn hear(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method, method).await
    }

    pub async fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool, what: &str) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at).unwrap();
        }
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            match tokio::time::timeout_at(deadline, self.from.recv()).await {
                Ok(Some(message)) if wanted(&message) => return message,
                Ok(Some(message)) => self.waiting.push_back(message),
                Ok(None) => panic!("the sidecar hung up; {what} was expected, after {:?}", self.waiting),
                Err(_) => panic!("{what} did not come, but {:?}", self.waiting),
            }
        }
    }

    /// Takes in what has come, or comes within a moment, and gives out those with this method.
    pub async fn heard(&mut self, method: &str, wait: Duration) -> Vec<Value> {
        let deadline = tokio::time::Instant::now() + wait;
        while let Ok(Some(message)) = tokio::time::timeout_at(deadline, self.from.recv()).await {
            self.waiting.push_back(message);
        }
        let (heard, rest) = self.waiting.drain(..).partition(|message: &Value| message["method"] == method);
        self.waiting = rest;
        Vec::from(heard)
    }

    pub async fn reply(&mut self, to: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": to["id"], "result": result})).await;
    }

    /// Says goodbye, and waits for the sidecar to end.
    pub async fn quit(mut self) {
        assert_eq!(self.request("shutdown", Value::Null).await["result"], Value::Null);
        self.notify("exit", Value::Null).await;
        self.ended().await;
    }

    /// The same for an editor that listens to nothing else.
    pub async fn quit_deaf(mut self) {
        self.request("shutdown", Value::Null).await;
        self.notify("exit", Value::Null).await;
        self.ended().await;
        while self.from.recv().await.is_some() {}
        self.waiting.clear();
    }

    pub async fn ended(&mut self) {
        let serving = self.serving.take().unwrap();
        tokio::time::timeout(PATIENCE, serving).await.expect("it ends").expect("it ends in peace");
    }

    // Documents.

    pub async fn open(&mut self, name: &str, text: &str) -> String {
        self.open_at(name, 1, text).await
    }

    pub async fn open_at(&mut self, name: &str, version: i64, text: &str) -> String {
        let uri = self.uri(name);
        self.texts.insert(uri.clone(), (version, text.to_owned()));
        let document = json!({"uri": uri, "languageId": "text", "version": version, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document})).await;
        uri
    }

    pub fn text(&self, uri: &str) -> &str {
        &self.texts[uri].1
    }

    /// Replaces a piece of text that occurs once, and tells the sidecar.
    pub async fn replace(&mut self, uri: &str, old: &str, new: &str) {
        let text = self.text(uri);
        let at = text.find(old).unwrap_or_else(|| panic!("{old:?} is not in {text:?}"));
        let range = json!({"start": self.position(text, at), "end": self.position(text, at + old.len())});
        self.change(uri, &[json!({"range": range, "text": new})]).await;
    }

    /// Makes changes, one after the other, and tells the sidecar in one notification.
    pub async fn change(&mut self, uri: &str, changes: &[Value]) {
        for change in changes {
            let text = self.applied(self.text(uri), change);
            self.texts.get_mut(uri).unwrap().1 = text;
        }
        let version = self.texts[uri].0 + 1;
        self.texts.get_mut(uri).unwrap().0 = version;
        self.tell(uri, version, changes).await;
    }

    pub async fn tell(&mut self, uri: &str, version: i64, changes: &[Value]) {
        let params = json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes});
        self.notify("textDocument/didChange", params).await;
    }

    /// The text after a change, worked out by walking over its characters.
    pub fn applied(&self, text: &str, change: &Value) -> String {
        let new = change["text"].as_str().or(change["newText"].as_str()).unwrap();
        let Some(range) = change.get("range") else { return new.to_owned() };
        let (start, end) = (self.offset(text, &range["start"]), self.offset(text, &range["end"]));
        format!("{}{new}{}", &text[..start], &text[end..])
    }

    fn units(&self, c: char) -> u64 {
        match self.encoding.as_str() {
            "utf-8" => c.len_utf8() as u64,
            "utf-16" => c.len_utf16() as u64,
            _ => 1,
        }
    }

    fn offset(&self, text: &str, position: &Value) -> usize {
        let (mut line, mut character) = (0, 0);
        let (want_line, want_character) =
            (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
        let mut before = '\0';
        for (at, c) in text.char_indices() {
            let at_end = c == '\n' || c == '\r';
            if line == want_line && (character >= want_character || at_end) && !(before == '\r' && c == '\n')
            {
                return at;
            }
            let inside = c == '\r' && text[at + 1..].starts_with('\n');
            if at_end && !inside {
                line += 1;
                character = 0;
            } else if !at_end {
                character += self.units(c);
            }
            before = c;
        }
        text.len()
    }

    pub fn position(&self, text: &str, offset: usize) -> Value {
        let before = &text[..offset];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let character: u64 = before[start..].chars().map(|c| self.units(c)).sum();
        json!({"line": line, "character": character})
    }

    // Edits that the sidecar sends.

    /// Waits for an edit to carry out.
    pub async fn delivery(&mut self) -> Value {
        self.hear("workspace/applyEdit").await
    }

    /// Says what brings about the next change of a document.
    pub async fn cause(&mut self, uri: &str, cause: &str, delivery: Option<u64>) -> Value {
        let version = self.texts[uri].0 + 1;
        let said = json!({"uri": uri, "version": version, "cause": cause, "delivery": delivery});
        self.notify("hashline/cause", said.clone()).await;
        said
    }

    /// Carries out an edit as a well-behaved client does, and answers; a plugin says before that this is the edit.
    pub async fn carry_out(&mut self, delivery: &Value) {
        if let Some(number) = delivery["params"]["delivery"].as_u64() {
            let (uri, ..) = one_document(&delivery["params"]["edit"]);
            self.cause(&uri, "delivery", Some(number)).await;
        }
        let applied = self.make(&delivery["params"]["edit"]).await;
        self.reply(delivery, json!({"applied": applied})).await;
    }

    pub async fn deliver(&mut self) {
        let delivery = self.delivery().await;
        self.carry_out(&delivery).await;
    }

    /// Makes a workspace edit if its version fits.
    pub async fn make(&mut self, edit: &Value) -> bool {
        let (uri, version, edits) = one_document(edit);
        if version.is_some_and(|version| version != self.texts[&uri].0) {
            return false;
        }
        let mut changes = edits.clone();
        changes.reverse();
        let changes: Vec<Value> =
            changes.iter().map(|edit| json!({"range": edit["range"], "text": edit["newText"]})).collect();
        self.change(&uri, &changes).await;
        true
    }

    // Reviews.

    pub async fn actions(&mut self, uri: &str, line: usize, only: Option<&[&str]>) -> Vec<Value> {
        let at = json!({"line": line, "character": 0});
        let mut context = json!({"diagnostics": []});
        if let Some(only) = only {
            context["only"] = json!(only);
        }
        let params =
            json!({"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context});
        let answer = self.request("textDocument/codeAction", params).await;
        answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The first action whose title begins so.
    pub async fn action(&mut self, uri: &str, line: usize, title: &str) -> Value {
        let actions = self.actions(uri, line, None).await;
        let found = actions.iter().find(|action| action["title"].as_str().unwrap().starts_with(title));
        found.unwrap_or_else(|| panic!("no {title:?} in {actions:#?}")).clone()
    }

    /// Chooses an action as editors do: first its edit, then its command.
    pub async fn choose(&mut self, action: &Value) -> bool {
        let made = match action.get("edit") {
            Some(edit) => self.make(edit).await,
            None => false,
        };
        if let Some(command) = action.get("command") {
            self.command(command).await;
        }
        made
    }

    pub async fn command(&mut self, command: &Value) -> Value {
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.request("workspace/executeCommand", params).await
    }

    /// Waits until the workspace is as it should be.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Workspace) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !wanted(&self.workspace) {
            assert!(
                tokio::time::Instant::now() < deadline,
                "{what} does not come: {:?}",
                self.workspace.reviews()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the sidecar has taken in everything so far, and compares its text.
    pub async fn in_step(&mut self, uri: &str) {
        self.request("hashline/status", Value::Null).await;
        let (version, text) = self.workspace.text_of(uri).expect("it is open");
        assert_eq!((i64::from(version.0), text.to_string().as_str()), (self.texts[uri].0, self.text(uri)));
    }

    // An agent.

    /// Edits a document as an agent does: `lines` are 1-based lines of what it reads, each with its new content.
    pub async fn agent(&self, name: &str, lines: &[(usize, &str)]) -> EditReply {
        self.agent_in(name, None, lines).await
    }

    pub async fn agent_in(
        &self,
        name: &str,
        conversation: Option<&str>,
        lines: &[(usize, &str)],
    ) -> EditReply {
        let operations = lines.iter().map(|(line, content)| ("replace", *line, Some(*content)));
        self.operate(name, conversation, &operations.collect::<Vec<_>>()).await
    }

    pub async fn operate(
        &self,
        name: &str,
        conversation: Option<&str>,
        operations: &[(&str, usize, Option<&str>)],
    ) -> EditReply {
        self.operate_as(&Caller::anywhere("claude-code", "1"), name, conversation, operations).await
    }

    /// The same of an agent that calls itself otherwise.
    pub async fn operate_as(
        &self,
        caller: &Caller,
        name: &str,
        conversation: Option<&str>,
        operations: &[(&str, usize, Option<&str>)],
    ) -> EditReply {
        // What the editor has sent has to be there first.
        for (uri, (version, _)) in self.texts.iter().filter(|(uri, _)| uri.ends_with(name)) {
            self.until("the text", |workspace| {
                workspace.text_of(uri).is_some_and(|(known, _)| i64::from(known.0) == *version)
            })
            .await;
        }
        let path = self.path(name).display().to_string();
        let request = ReadRequest { path: path.clone(), view: View::Agent };
        let read = self.workspace.read(caller, &request).await.unwrap();
        self.workspace.shown(&read, 0..read.text().line_count());
        let anchor = |line: usize| match line {
            0 => "0:".to_owned(),
            _ => format!("{line}:{}", line_hash(&read.text().line(Line(line - 1)).unwrap().content())),
        };
        let operation = |(index, (op, line, content)): (usize, &(&str, usize, Option<&str>))| {
            let raw = RawOperation::new(*op, anchor(*line));
            let raw = match content {
                Some(content) => raw.content(*content),
                None => raw,
            };
            Operation::parse(index, raw).unwrap()
        };
        let request = EditRequest {
            path,
            file_hash: Some(HashPrefix::from(read.hash)),
            change: Change::Operations(operations.iter().enumerate().map(operation).collect()),
            strict: false,
            dry_run: false,
            conversation: conversation.map(str::to_owned),
            tool: "edit_text_file".to_owned(),
            reason: None,
        };
        self.workspace.edit(caller, request).await.unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        while let Ok(message) = self.from.try_recv() {
            self.waiting.push_back(message);
        }
        assert!(self.waiting.is_empty(), "nobody waited for {:#?}", self.waiting);
    }
}

/// The document, version and edits of a workspace edit.
pub fn one_document(edit: &Value) -> (String, Option<i64>, Vec<Value>) {
    if let Some(changes) = edit["documentChanges"].as_array() {
        assert_eq!(changes.len(), 1, "one document at a time");
        let document = &changes[0]["textDocument"];
        let edits = changes[0]["edits"].as_array().unwrap().clone();
        return (document["uri"].as_str().unwrap().to_owned(), document["version"].as_i64(), edits);
    }
    let changes = edit["changes"].as_object().unwrap_or_else(|| panic!("an edit of a document: {edit}"));
    assert_eq!(changes.len(), 1, "one document at a time");
    let (uri, edits) = changes.iter().next().unwrap();
    (uri.clone(), None, edits.as_array().unwrap().clone())
}

pub fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

async fn read<R: tokio::io::AsyncRead + Unpin>(reader: &mut BufReader<R>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().unwrap(),
            None if line.trim().is_empty() => break,
            None => panic!("a header that no client knows: {line:?}"),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}
