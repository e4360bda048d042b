//! A stand-in editor: an LSP client that keeps the text of what it has open, types into it, applies what the sidecar
//! asks it to and sends the change, as editors do.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::program::{Program, lock};

/// How long anything that the editor waits for may take.
const LIMIT: Duration = Duration::from_secs(60);

/// An editor with a language server, and one document open in it.
pub struct Editor {
    /// What the person's hands do; it may be taken to another thread.
    pub keys: Keyboard,
    program: Program,
    shared: Arc<Shared>,
    answers: Receiver<Value>,
    next: u64,
}

/// The person's side of an editor.
#[derive(Clone)]
pub struct Keyboard {
    shared: Arc<Shared>,
}

struct Shared {
    /// How many bytes the server has sent.
    heard: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Has a lock of its own, so that the server can be heard while much is being said. Taken after the state's.
    to: Arc<Mutex<ChildStdin>>,
    uri: String,
    version: i64,
    lines: Vec<String>,
    /// What `hashline/pendingEdits` said last of each document.
    pending: HashMap<String, Value>,
    settings: Value,
    ended: bool,
}

impl Editor {
    /// Starts a server in a folder and initialises it, with these settings of hashline.
    pub fn start(command: &mut Command, root: &Path, log: &Path, settings: &Value) -> Result<Self> {
        let (program, to, from) = Program::start(command, root, log)?;
        let state = State {
            to: Arc::new(Mutex::new(to)),
            uri: String::new(),
            version: 0,
            lines: Vec::new(),
            pending: HashMap::new(),
            settings: settings.clone(),
            ended: false,
        };
        let shared =
            Arc::new(Shared { heard: AtomicU64::new(0), state: Mutex::new(state), changed: Condvar::new() });
        let (sender, answers) = channel();
        let reading = shared.clone();
        std::thread::spawn(move || read(from, &reading, &sender));
        let mut editor =
            Self { keys: Keyboard { shared: shared.clone() }, program, shared, answers, next: 1 };
        let uri = uri_of(root);
        let answer = editor.request(
            "initialize",
            &json!({
                "processId": null, "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "bench"}],
                "clientInfo": {"name": "bench", "version": env!("CARGO_PKG_VERSION")},
                "initializationOptions": {"hashline": settings},
                "capabilities": {
                    "workspace": {"applyEdit": true, "configuration": true, "workspaceFolders": true,
                        "workspaceEdit": {"documentChanges": true}},
                    "textDocument": {"synchronization": {"didSave": true}},
                    "experimental": {"hashline": {"protocol": 2, "version": env!("CARGO_PKG_VERSION")}},
                },
            }),
        )?;
        anyhow::ensure!(answer["error"].is_null(), "initialize was refused: {answer}");
        editor.notify("initialized", &json!({}))?;
        Ok(editor)
    }

    /// The server's process.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Opens a document.
    pub fn open(&mut self, path: &Path, text: &str) -> Result<()> {
        let mut state = lock(&self.shared.state);
        state.uri = uri_of(path);
        state.version = 1;
        state.lines = text.split('\n').map(str::to_owned).collect();
        let item = json!({"uri": state.uri, "languageId": "rust", "version": 1, "text": text});
        state.send(
            &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}),
        )
    }

    /// Types so many characters all over the document, or rubs them out again, without waiting in between; then waits
    /// until all has been taken in.
    pub fn storm(&mut self, keys: usize, rub_out: bool) -> Result<Duration> {
        let (frames, to) = {
            let mut state = lock(&self.shared.state);
            let mut frames = Vec::new();
            let lines = state.lines.len() - 1;
            for key in 0..keys {
                // Ten in one place, then elsewhere.
                let line = key / 10 * 7 % lines;
                let column = state.lines[line].len();
                let change =
                    if rub_out { state.erase(line, column - 1) } else { state.insert(line, column, 'x') };
                frames.extend(frame(&change)?);
            }
            (frames, state.to.clone())
        };
        let began = Instant::now();
        lock(&to).write_all(&frames).context("the language server has ended")?;
        self.fence(0)?;
        Ok(began.elapsed())
    }

    /// How many hunks the person has yet to decide, as far as the sidecar has told.
    pub fn undecided(&self) -> usize {
        let state = lock(&self.shared.state);
        open_hunks(&state.pending, &state.uri).0
    }

    /// How many bytes the server has sent.
    pub fn heard(&self) -> u64 {
        self.shared.heard.load(Ordering::Relaxed)
    }

    /// A request that is answered from the document but finds nothing to say: what was sent before it has been taken in
    /// when its answer is there.
    pub fn fence(&mut self, line: usize) -> Result<()> {
        let uri = lock(&self.shared.state).uri.clone();
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}});
        let answer = self.request("textDocument/hover", &params)?;
        anyhow::ensure!(answer["error"].is_null(), "hover: {}", answer["error"]);
        Ok(())
    }

    /// Decides about all hunks of the document, and waits until the text shows it.
    pub fn decide_all(&mut self, decision: &str) -> Result<()> {
        let uri = lock(&self.shared.state).uri.clone();
        let answer = self.request("hashline/decide", &all_of(&uri, decision))?;
        anyhow::ensure!(answer["error"].is_null(), "hashline/decide: {}", answer["error"]);
        self.wait(
            &format!("every hunk to be decided (the answer was {})", brief(&answer["result"])),
            |state| open_hunks(&state.pending, &state.uri) == (0, 0),
        )
    }

    /// Accepts what is undecided of a file, which need not be open.
    pub fn accept_all_in(&mut self, path: &Path) -> Result<()> {
        let answer = self.request("hashline/decide", &all_of(&uri_of(path), "accept"))?;
        anyhow::ensure!(answer["error"].is_null(), "hashline/decide: {}", answer["error"]);
        Ok(())
    }

    /// Waits until the sidecar has told of hunks to be decided, and none of them is on its way.
    pub fn wait_for_offer(&self) -> Result<()> {
        self.wait("hunks to decide", |state| {
            let (undecided, deciding) = open_hunks(&state.pending, &state.uri);
            undecided > 0 && deciding == 0
        })
    }

    fn wait(&self, what: &str, done: impl Fn(&State) -> bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut state = lock(&self.shared.state);
        while !done(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.ended {
                bail!(
                    "the editor waited in vain for {what}; last told: {}",
                    brief(state.pending.get(&state.uri).unwrap_or(&Value::Null))
                );
            }
            state = match self.shared.changed.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        Ok(())
    }

    /// Asks the server and waits for its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            request["params"] = params.clone();
        }
        self.notify_raw(&request)?;
        loop {
            match self.answers.recv_timeout(LIMIT) {
                Ok(answer) if answer["id"] == id => return Ok(answer),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => bail!("no answer to {method} in a minute"),
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the language server ended during {method}: {}", self.program.complaint());
                }
            }
        }
    }

    fn notify(&self, method: &str, params: &Value) -> Result<()> {
        self.notify_raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn notify_raw(&self, message: &Value) -> Result<()> {
        lock(&self.shared.state).send(message)
    }
}

impl Keyboard {
    /// Types at the end of a line, counted from 0.
    pub fn key(&self, line: usize, key: char) -> Result<()> {
        let mut state = lock(&self.shared.state);
        let column = state.lines[line].len();
        let change = state.insert(line, column, key);
        state.send(&change)
    }

    /// Tells the server that the document was saved, and writes it.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut state = lock(&self.shared.state);
        std::fs::write(path, state.lines.join("\n"))?;
        let params = json!({"textDocument": {"uri": state.uri}});
        state.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": params}))
    }

    /// The text as the editor has it.
    pub fn text(&self) -> String {
        lock(&self.shared.state).lines.join("\n")
    }
}

/// A decision about all that is undecided of a document.
fn all_of(uri: &str, decision: &str) -> Value {
    json!({
        "decision": decision, "uri": uri, "edit": null, "hunk": null, "conversation": null,
        "lines": null, "reason": null, "text": null, "edited": null, "withOthers": true,
    })
}

/// The beginning of a value, for messages.
fn brief(value: &Value) -> String {
    value.to_string().chars().take(600).collect()
}

/// A message as it goes over the pipe.
fn frame(message: &Value) -> Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(&body);
    Ok(frame)
}

impl State {
    fn send(&mut self, message: &Value) -> Result<()> {
        lock(&self.to).write_all(&frame(message)?).context("the language server has ended")
    }

    /// Puts a character into the text; what to tell the server of it.
    fn insert(&mut self, line: usize, column: usize, key: char) -> Value {
        self.lines[line].insert(column, key);
        self.change_in_line(line, column, column, key.encode_utf8(&mut [0; 4]))
    }

    /// Takes a character out of the text; what to tell the server of it.
    fn erase(&mut self, line: usize, column: usize) -> Value {
        self.lines[line].remove(column);
        self.change_in_line(line, column, column + 1, "")
    }

    fn change_in_line(&mut self, line: usize, start: usize, end: usize, text: &str) -> Value {
        let range = json!({
            "start": {"line": line, "character": start}, "end": {"line": line, "character": end},
        });
        self.change(&json!([{"range": range, "text": text}]))
    }

    fn change(&mut self, changes: &Value) -> Value {
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})
    }

    /// Applies a delivery if it was made for the text as it is, and says that it is one.
    fn deliver(&mut self, params: &Value) -> Result<bool> {
        let documents = params["edit"]["documentChanges"].as_array().map_or(&[][..], Vec::as_slice);
        let [document] = documents else { return Ok(false) };
        let version = &document["textDocument"]["version"];
        if document["textDocument"]["uri"] != self.uri.as_str()
            || (!version.is_null() && *version != self.version)
        {
            return Ok(false);
        }
        let mut edits: Vec<Place> =
            document["edits"].as_array().map_or(&[][..], Vec::as_slice).iter().map(Place::of).collect();
        // From the end, so that the places before stay; at one place, the last of the request first.
        edits.reverse();
        edits.sort_by_key(|place| std::cmp::Reverse(place.start));
        let mut changes = Vec::with_capacity(edits.len());
        for place in edits {
            place.apply(&mut self.lines);
            changes.push(place.sent);
        }
        let change = self.change(&Value::Array(changes));
        let cause = json!({
            "uri": self.uri, "version": self.version, "cause": "delivery", "delivery": params["delivery"],
        });
        self.send(&json!({"jsonrpc": "2.0", "method": "hashline/cause", "params": cause}))?;
        self.send(&change)?;
        Ok(true)
    }
}

/// One replacement in the text, by line and byte (all documents here are ASCII).
struct Place {
    start: (usize, usize),
    end: (usize, usize),
    text: String,
    sent: Value,
}

impl Place {
    fn of(edit: &Value) -> Self {
        let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        let at = |end: &Value| (number(&end["line"]), number(&end["character"]));
        let text = edit["newText"].as_str().unwrap_or_default().to_owned();
        let sent = json!({"range": edit["range"], "text": text});
        Self { start: at(&edit["range"]["start"]), end: at(&edit["range"]["end"]), text, sent }
    }

    /// Positions past an end mean that end, as in LSP.
    fn apply(&self, lines: &mut Vec<String>) {
        let clamp = |(line, byte): (usize, usize)| match lines.get(line) {
            Some(text) => (line, byte.min(text.len())),
            None => (lines.len() - 1, lines.last().map_or(0, String::len)),
        };
        let (start, end) = (clamp(self.start), clamp(self.end));
        let joined = format!("{}{}{}", &lines[start.0][..start.1], self.text, &lines[end.0][end.1..]);
        lines.splice(start.0..=end.0, joined.split('\n').map(str::to_owned));
    }
}

/// Takes in what the server says, until it ends.
fn read(from: ChildStdout, shared: &Shared, answers: &Sender<Value>) {
    let mut from = BufReader::with_capacity(64 << 10, from);
    while let Ok(Some(message)) = next(&mut from, &shared.heard) {
        let method = message["method"].as_str();
        let outcome = match method {
            None => answers.send(message).map_err(anyhow::Error::from),
            Some(method) if message["id"].is_null() => {
                if method == "hashline/pendingEdits" {
                    let mut state = lock(&shared.state);
                    let uri = message["params"]["uri"].as_str().unwrap_or_default().to_owned();
                    state.pending.insert(uri, message["params"].clone());
                }
                Ok(())
            }
            Some(method) => serve(&mut lock(&shared.state), method, &message),
        };
        shared.changed.notify_all();
        if outcome.is_err() {
            break;
        }
    }
    lock(&shared.state).ended = true;
    shared.changed.notify_all();
}

/// Answers what the server asks.
fn serve(state: &mut State, method: &str, message: &Value) -> Result<()> {
    let result = match method {
        "workspace/applyEdit" => json!({"applied": state.deliver(&message["params"])?}),
        "workspace/configuration" => {
            let asked = message["params"]["items"].as_array().map_or(0, Vec::len);
            Value::Array(vec![state.settings.clone(); asked])
        }
        _ => Value::Null,
    };
    state.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// The next message; none at the end.
fn next(from: &mut impl BufRead, heard: &AtomicU64) -> Result<Option<Value>> {
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("Content-Length: ") {
            length = Some(value.parse::<usize>()?);
        }
    }
    let mut body = vec![0; length.context("a message without a length")?];
    from.read_exact(&mut body)?;
    heard.fetch_add(body.len() as u64, Ordering::Relaxed);
    Ok(Some(serde_json::from_slice(&body)?))
}

/// How many hunks of a document nobody has decided, and how many are on their way into the text or out of it.
fn open_hunks(pending: &HashMap<String, Value>, uri: &str) -> (usize, usize) {
    let edits = pending.get(uri).and_then(|told| told["edits"].as_array()).map_or(&[][..], Vec::as_slice);
    let hunks = || edits.iter().filter_map(|edit| edit["hunks"].as_array()).flatten();
    let undecided = hunks().filter(|hunk| hunk["decision"] == "undecided").count();
    (undecided, hunks().filter(|hunk| hunk["deciding"] == true).count())
}

/// The URI of a path; those of the benchmark need no escapes.
fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, range: [u64; 4], with: &str) -> String {
        let mut lines = text.split('\n').map(str::to_owned).collect();
        let range = json!({
            "start": {"line": range[0], "character": range[1]}, "end": {"line": range[2], "character": range[3]},
        });
        Place::of(&json!({"range": range, "newText": with})).apply(&mut lines);
        lines.join("\n")
    }

    #[test]
    fn deliveries_are_applied_as_editors_do() {
        assert_eq!(applied("a\nb\nc\n", [1, 0, 2, 0], "x\ny\n"), "a\nx\ny\nc\n");
        assert_eq!(applied("a\nb\nc", [1, 0, 1, 1], "x"), "a\nx\nc");
        assert_eq!(applied("a\nb", [1, 1, 9, 0], "\nc"), "a\nb\nc");
        assert_eq!(applied("", [0, 0, 0, 0], "a\n"), "a\n");
    }

    #[test]
    fn open_hunks_are_counted() {
        let told = json!({"edits": [{"hunks": [
            {"decision": "undecided", "deciding": false}, {"decision": "accepted", "deciding": true},
            {"decision": "rejected", "deciding": false}]}]});
        let pending = HashMap::from([("file:///a".to_owned(), told)]);
        assert_eq!(open_hunks(&pending, "file:///a"), (1, 1));
        assert_eq!(open_hunks(&pending, "file:///b"), (0, 0));
    }
}
