//! The IDE link of Claude Code, over a WebSocket as its program speaks it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hashline_link::{RemoteError, StateDir};
use hashline_lsp::Agents;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::editor::{Editor, Manners};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\n";
const TOKEN: &str = "x-claude-code-ide-authorization";

/// How long something may take that is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// An editor whose sidecar has an IDE link, and the folder of Claude Code.
struct Linked {
    editor: Editor,
    claude: tempfile::TempDir,
    _state: tempfile::TempDir,
}

impl Linked {
    async fn start(manners: Manners) -> Self {
        Self::start_beside(manners, tempfile::tempdir().unwrap()).await
    }

    async fn start_beside(manners: Manners, claude: tempfile::TempDir) -> Self {
        let state = tempfile::tempdir().unwrap();
        let agents = Agents {
            state: StateDir::new(Some(state.path())).unwrap(),
            run_tool: Arc::new(|_, _, _| Box::pin(async { Err(RemoteError::cancelled()) })),
            http: None,
            claude: Some(claude.path().to_owned()),
            threads: tokio::runtime::Handle::current(),
        };
        let editor = Editor::start(Manners { agents: Some(agents), ..manners }).await;
        editor.in_folder().await;
        Self { editor, claude, _state: state }
    }

    fn locks(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.claude.path().join("ide")).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "lock")).collect()
    }

    /// The port and the token, once they are told.
    async fn lock(&self) -> (u16, String) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let [path] = self.locks().as_slice() {
                let lock: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
                let port = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
                return (port, lock["authToken"].as_str().unwrap().to_owned());
            }
            assert!(tokio::time::Instant::now() < deadline, "there is no lock file");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn claude(&self) -> Claude {
        let (port, token) = self.lock().await;
        let mut claude = Claude::connect(port, &[(TOKEN, &token)]).await.unwrap();
        claude.begin().await;
        claude
    }

    /// A file that is open, with the person's unsaved line in it.
    async fn dirty(&mut self) -> String {
        let uri = self.file(FILE).await;
        self.editor.replace(&uri, "one", "MINE").await;
        self.editor.in_step(&uri).await;
        uri
    }

    async fn file(&mut self, text: &str) -> String {
        std::fs::write(self.editor.path("a.txt"), text).unwrap();
        let uri = self.editor.open("a.txt", text).await;
        self.editor.until("the document", |workspace| workspace.text_of(&uri).is_some()).await;
        // It is known what the file has.
        let workspace = self.editor.workspace.clone();
        let settled = move || (workspace.settle_record(), workspace.settle_record());
        tokio::task::spawn_blocking(settled).await.unwrap();
        uri
    }

    fn stored(&self) -> String {
        std::fs::read_to_string(self.editor.path("a.txt")).unwrap()
    }

    /// The only edit, once it is shown with so many hunks.
    async fn held(&self, hunks: usize) -> String {
        let is_shown = |workspace: &hashline_workspace::Workspace| match workspace.reviews().as_slice() {
            [review] => matches!(review.review.edits.as_slice(), [edit] if edit.hunks.len() == hunks),
            _ => false,
        };
        self.editor.until("the edit", is_shown).await;
        self.editor.workspace.reviews()[0].review.edits[0].edit.id.to_string()
    }

    async fn nothing_is_held(&self) {
        self.editor.until("that nothing is held", |workspace| workspace.reviews().is_empty()).await;
    }

    async fn decide(&mut self, decision: &str, edit: &str, hunk: Option<u32>) {
        let asked = json!({"decision": decision, "edit": edit, "hunk": hunk});
        let answer = self.editor.request("hashline/decide", asked).await;
        assert_eq!(answer["result"]["refused"], json!([]), "{answer}");
    }

    async fn quit(self) {
        let Self { editor, claude, _state } = self;
        editor.quit().await;
        let left = std::fs::read_dir(claude.path().join("ide")).into_iter().flatten().count();
        assert_eq!(left, 0, "its lock file is removed");
    }
}

/// The program at the other end.
struct Claude {
    socket: WebSocketStream<TcpStream>,
    next: i64,
}

impl Claude {
    async fn connect(port: u16, headers: &[(&'static str, &str)]) -> Result<Self, Error> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let mut request = format!("ws://127.0.0.1:{port}/").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
        for (name, value) in headers {
            request.headers_mut().append(*name, HeaderValue::from_str(value).unwrap());
        }
        let (socket, response) = client_async(request, stream).await?;
        assert_eq!(response.headers()["sec-websocket-protocol"], "mcp");
        Ok(Self { socket, next: 0 })
    }

    /// The status with which a connection is refused.
    async fn refused(port: u16, headers: &[(&'static str, &str)]) -> u16 {
        match Self::connect(port, headers).await {
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was let in with {headers:?}"),
        }
    }

    async fn begin(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"roots": {"listChanged": true}, "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "2.1.330"}
        });
        let id = self.ask("initialize", params).await;
        assert_eq!(self.answer(id).await["result"]["serverInfo"]["name"], "hashline");
        self.says(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        self.says(&json!({"jsonrpc": "2.0", "method": "ide_connected", "params": {"pid": 4711}})).await;
    }

    async fn says(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).await.unwrap();
    }

    async fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.says(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    async fn calls(&mut self, name: &str, arguments: Value) -> i64 {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": self.next}});
        self.ask("tools/call", params).await
    }

    async fn hears(&mut self) -> Value {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("an answer");
            if let Message::Text(text) = frame.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    async fn answer(&mut self, id: i64) -> Value {
        let answer = self.hears().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The texts that a call is answered with.
    async fn texts(&mut self, id: i64) -> Vec<String> {
        let answer = self.answer(id).await;
        let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
        content.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
    }

    async fn opens(&mut self, path: &Path, content: &str) -> i64 {
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": content, "tab_name": "tab 1"
        });
        self.calls("openDiff", arguments).await
    }

    async fn closes(&mut self) -> i64 {
        self.calls("close_tab", json!({"tab_name": "tab 1"})).await
    }
}

#[tokio::test]
async fn only_who_shows_the_token_is_let_in() {
    let linked = Linked::start(Manners::plain()).await;
    let (port, token) = linked.lock().await;
    for (headers, status) in [
        (vec![], 401),
        (vec![(TOKEN, "")], 401),
        (vec![(TOKEN, "00000000000000000000000000000000")], 401),
        (vec![(TOKEN, &token[..31])], 401),
        (vec![(TOKEN, token.as_str()), (TOKEN, "0")], 401),
        (vec![(TOKEN, token.as_str()), ("origin", "http://127.0.0.1")], 403),
        (vec![(TOKEN, token.as_str()), ("origin", "null")], 403),
    ] {
        assert_eq!(Claude::refused(port, &headers).await, status, "{headers:?}");
    }
    linked.claude().await;
    linked.quit().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_token_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;

    let linked = Linked::start(Manners::plain()).await;
    linked.lock().await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let path = &linked.locks()[0];
    assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
    let lock: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((&lock["ideName"], &lock["transport"]), (&json!("Test 1"), &json!("ws")));
    assert_eq!(lock["workspaceFolders"], json!(linked.editor.workspace.roots()));
    linked.quit().await;
}

#[tokio::test]
async fn what_is_accepted_is_answered_without_what_is_not_saved() {
    for (accepted, word, written, text) in [
        (vec![1, 2], "FILE_SAVED", "one\n2\nthree\nfour\n5\n", "MINE\n2\nthree\nfour\n5\n"),
        (vec![2], "FILE_SAVED", "one\ntwo\nthree\nfour\n5\n", "MINE\ntwo\nthree\nfour\n5\n"),
        (vec![], "DIFF_REJECTED", "tab 1", "MINE\ntwo\nthree\nfour\nfive\n"),
    ] {
        let mut linked = Linked::start(Manners::plain()).await;
        let uri = linked.dirty().await;
        let mut claude = linked.claude().await;
        let call = claude.opens(&linked.editor.path("a.txt"), "one\n2\nthree\nfour\n5\n").await;
        let edit = linked.held(2).await;
        assert!(linked.editor.text(&uri).starts_with("MINE\ntwo\n"), "it is held");
        for hunk in 1..=2 {
            let is_accepted = accepted.contains(&hunk);
            linked.decide(if is_accepted { "accept" } else { "reject" }, &edit, Some(hunk)).await;
            if is_accepted {
                linked.editor.deliver().await;
            }
        }
        assert_eq!(claude.texts(call).await, [word, written], "{accepted:?}");
        assert_eq!(linked.editor.text(&uri), text, "{accepted:?}");
        assert_eq!(linked.stored(), FILE, "the program writes the file, and nobody else");
        let closed = claude.closes().await;
        assert_eq!(claude.texts(closed).await, ["TAB_CLOSED"]);
        linked.quit().await;
    }
}

/// The person has typed beside the hunk: to a comparison of texts both are one change.
#[tokio::test]
async fn what_the_program_writes_then_is_known() {
    let mut linked = Linked::start(Manners::plain()).await;
    let uri = linked.dirty().await;
    let path = linked.editor.path("a.txt");
    let mut claude = linked.claude().await;
    let call = claude.opens(&path, &FILE.replace("two", "2")).await;
    let edit = linked.held(1).await;
    linked.decide("accept", &edit, None).await;
    linked.editor.deliver().await;
    let written = FILE.replace("two", "2");
    assert_eq!(claude.texts(call).await, ["FILE_SAVED", &written]);
    assert_eq!(linked.editor.text(&uri), written.replace("one", "MINE"));
    let put = |text: &str| {
        let beside = path.with_extension("new");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(beside, &path).unwrap();
    };
    put(&written);
    // Long enough for what was written to be looked at.
    tokio::time::sleep(Duration::from_secs(2)).await;
    linked.nothing_is_held().await;
    // What another program writes then goes on from there.
    put(&written.replace("four", "4"));
    linked.held(1).await;
    linked.quit().await;
}

#[tokio::test]
async fn what_is_taken_back_is_withdrawn() {
    let mut linked = Linked::start(Manners::plain()).await;
    let uri = linked.dirty().await;
    let path = linked.editor.path("a.txt");
    let written = "one\n2\nthree\nfour\n5\n";
    // It is decided in the terminal.
    let mut claude = linked.claude().await;
    let call = claude.opens(&path, written).await;
    linked.held(2).await;
    let close = claude.closes().await;
    let (first, second) = (claude.hears().await, claude.hears().await);
    let (error, closed) = if first["id"] == call { (first, second) } else { (second, first) };
    assert!(error["error"]["message"].as_str().unwrap().contains("taken back"), "{error}");
    assert_eq!(
        (&closed["id"], &closed["result"]["content"][0]["text"]),
        (&json!(close), &json!("TAB_CLOSED"))
    );
    linked.nothing_is_held().await;
    let again = claude.closes().await;
    assert_eq!(claude.texts(again).await, ["TAB_CLOSED"], "the program says so twice");
    // What was accepted before stays.
    let call = claude.opens(&path, written).await;
    let edit = linked.held(2).await;
    linked.decide("accept", &edit, Some(1)).await;
    linked.editor.deliver().await;
    let close = claude.calls("closeAllDiffTabs", json!({})).await;
    let (first, second) = (claude.hears().await, claude.hears().await);
    let closed = if first["id"] == close { &first } else { &second };
    assert_eq!(closed["result"]["content"][0]["text"], "CLOSED_1_DIFF_TABS", "{first} {second} {call}");
    linked.nothing_is_held().await;
    assert_eq!(linked.editor.text(&uri), "MINE\n2\nthree\nfour\nfive\n");
    // The request is cancelled.
    let call = claude.opens(&path, &FILE.replace("four", "4")).await;
    linked.held(1).await;
    claude
        .says(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}))
        .await;
    linked.nothing_is_held().await;
    // The connection is cut.
    claude.opens(&path, &FILE.replace("four", "4")).await;
    linked.held(1).await;
    drop(claude);
    linked.nothing_is_held().await;
    assert_eq!(linked.editor.text(&uri), "MINE\n2\nthree\nfour\nfive\n");
    linked.quit().await;
}

/// Of a file that is closed a decision is made in the file: the program is not to write it, too.
#[tokio::test]
async fn what_is_decided_in_the_file_itself_is_taken_back_from_the_program() {
    let mut linked = Linked::start(Manners::plain()).await;
    let uri = linked.file(FILE).await;
    let mut claude = linked.claude().await;
    let call = claude.opens(&linked.editor.path("a.txt"), &FILE.replace("four", "4")).await;
    let edit = linked.held(1).await;
    linked.editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
    linked.decide("accept", &edit, None).await;
    let answer = claude.answer(call).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("taken back"), "{answer}");
    assert_eq!(linked.stored(), FILE.replace("four", "4"));
    linked.quit().await;
}

#[tokio::test]
async fn what_is_held_when_the_editor_goes_is_withdrawn() {
    let mut linked = Linked::start(Manners::plain()).await;
    linked.dirty().await;
    let mut claude = linked.claude().await;
    claude.opens(&linked.editor.path("a.txt"), &FILE.replace("four", "4")).await;
    linked.held(1).await;
    let workspace = linked.editor.workspace.clone();
    linked.quit().await;
    assert!(workspace.reviews().is_empty(), "{:?}", workspace.reviews());
}

#[tokio::test]
async fn what_cannot_be_held_is_left_to_the_programs_own_question() {
    let mut linked = Linked::start(Manners::plain()).await;
    linked.dirty().await;
    let (path, outside) = (linked.editor.path("a.txt"), linked.claude.path().join("b.txt"));
    std::fs::write(linked.editor.path("closed.txt"), FILE).unwrap();
    let mut claude = linked.claude().await;
    for (path, content, why) in [
        (linked.editor.path("closed.txt"), "x\n", "no editor here has the file open"),
        (linked.editor.path("new.txt"), "x\n", "no editor here has the file open"),
        (outside, "x\n", "outside"),
        (path.clone(), FILE, "has all of it"),
        (path, "MINE\ntwo\nthree\nfour\nfive\n", "has all of it"),
    ] {
        let call = claude.opens(&path, content).await;
        let answer = claude.answer(call).await;
        assert!(answer["error"]["message"].as_str().is_some_and(|words| words.contains(why)), "{answer}");
    }
    let call = claude.calls("openDiff", json!({"old_file_path": 7})).await;
    assert_eq!(claude.answer(call).await["error"]["code"], -32602);
    linked.nothing_is_held().await;
    linked.quit().await;
}

#[tokio::test]
async fn the_questions_of_the_program_are_answered() {
    let mut linked = Linked::start(Manners::plain()).await;
    let uri = linked.dirty().await;
    let path = linked.editor.path("a.txt");
    let mut claude = linked.claude().await;
    let list = claude.ask("tools/list", json!({})).await;
    let list = claude.answer(list).await;
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"openDiff") && !names.contains(&"getDiagnostics"), "{names:?}");
    let prompts = claude.ask("prompts/list", json!({})).await;
    assert_eq!(claude.answer(prompts).await["result"]["prompts"], json!([]));
    let mut asked = async |name: &str, arguments: Value| {
        let call = claude.calls(name, arguments).await;
        serde_json::from_str::<Value>(&claude.texts(call).await[0]).unwrap()
    };
    assert_eq!(asked("getDiagnostics", json!({"uri": uri})).await, json!([]));
    let tab = &asked("getOpenEditors", json!({})).await["tabs"][0];
    assert_eq!((&tab["uri"], &tab["isDirty"], &tab["label"]), (&json!(uri), &json!(true), &json!("a.txt")));
    assert_eq!((&tab["languageId"], &tab["isUntitled"]), (&json!("text"), &json!(false)));
    let dirty = asked("checkDocumentDirty", json!({"filePath": path})).await;
    assert_eq!((&dirty["success"], &dirty["isDirty"]), (&json!(true), &json!(true)));
    let dirty = asked("checkDocumentDirty", json!({"filePath": "/else"})).await;
    assert_eq!(dirty, json!({"success": false, "message": "Document not open: /else"}));
    let folders = asked("getWorkspaceFolders", json!({})).await;
    assert_eq!(folders["rootPath"], json!(linked.editor.workspace.roots()[0]));
    for name in ["getCurrentSelection", "getLatestSelection", "saveDocument"] {
        assert_eq!(asked(name, json!({"filePath": path})).await["success"], false, "{name}");
    }
    let call = claude.calls("executeCode", json!({"code": "1"})).await;
    assert_eq!(claude.answer(call).await["error"]["code"], -32602);
    linked.quit().await;
}

#[tokio::test]
async fn nothing_that_is_sent_ends_it() {
    let mut linked = Linked::start(Manners::plain()).await;
    linked.dirty().await;
    let (port, token) = linked.lock().await;
    let mut claude = linked.claude().await;
    for garbage in ["{", "[]", "7", "\u{0}", r#"{"jsonrpc":"2.0","id":5,"method":7}"#] {
        claude.socket.send(Message::text(garbage)).await.unwrap();
        let answer = claude.hears().await;
        assert!(answer["error"]["code"].as_i64().is_some_and(|code| code < 0), "{garbage}: {answer}");
    }
    claude.socket.send(Message::binary(vec![0xff; 64])).await.unwrap();
    claude.says(&json!({"jsonrpc": "2.0", "method": "of_another_kind", "params": 7})).await;
    let call = claude.calls("getDiagnostics", json!({})).await;
    assert_eq!(claude.texts(call).await, ["[]"]);
    // Too much for one message: that connection ends, and others go on.
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(40 << 20));
    let _ = claude.socket.send(Message::text(huge)).await;
    let ended = async { while let Some(Ok(_)) = claude.socket.next().await {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("it is closed");
    // Bytes that are no WebSocket, and one that says nothing.
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01", &[b'a'; 1 << 16]] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, bytes).await;
    }
    // A conversation that begins otherwise.
    let mut other = Claude::connect(port, &[(TOKEN, &token)]).await.unwrap();
    other.calls("openDiff", json!({})).await;
    drop(other);
    let mut claude = linked.claude().await;
    let call = claude.calls("getDiagnostics", json!({})).await;
    assert_eq!(claude.texts(call).await, ["[]"]);
    linked.quit().await;
}

#[tokio::test]
async fn there_is_no_link_where_it_is_turned_off_or_another_program_has_one() {
    let off = json!({"ideLink": false, "diagnostics": false});
    let mut linked = Linked::start(Manners::plain().with("/initializationOptions/hashline", off)).await;
    let settings = |on: bool| json!({"settings": {"hashline": {"ideLink": on, "diagnostics": false}}});
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(linked.locks(), [""; 0].map(PathBuf::from));
    linked.editor.notify("workspace/didChangeConfiguration", settings(true)).await;
    let (port, _) = linked.lock().await;
    linked.editor.notify("workspace/didChangeConfiguration", settings(false)).await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !linked.locks().is_empty() || TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        assert!(tokio::time::Instant::now() < deadline, "the link stays");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    linked.quit().await;

    let claude = tempfile::tempdir().unwrap();
    std::fs::create_dir(claude.path().join("ide")).unwrap();
    let theirs = claude.path().join("ide/1.lock");
    let lock =
        json!({"pid": std::process::id(), "workspaceFolders": ["/"], "ideName": "Else", "transport": "ws"});
    std::fs::write(&theirs, lock.to_string()).unwrap();
    let linked = Linked::start_beside(Manners::plain(), claude).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(linked.locks(), std::slice::from_ref(&theirs));
    std::fs::remove_file(&theirs).unwrap();
    linked.lock().await;
    linked.quit().await;
}

#[tokio::test]
async fn endings_and_marks_are_the_files() {
    let mut linked = Linked::start(Manners::plain()).await;
    let stored = "\u{feff}one\r\ntwo\r\nthree\r\n";
    std::fs::write(linked.editor.path("a.txt"), stored).unwrap();
    let uri = linked.editor.open("a.txt", "one\r\ntwo\r\nthree\r\n").await;
    let mut claude = linked.claude().await;
    let call = claude.opens(&linked.editor.path("a.txt"), "\u{feff}one\n2\nthree\n").await;
    let edit = linked.held(1).await;
    linked.decide("accept", &edit, None).await;
    linked.editor.deliver().await;
    assert_eq!(claude.texts(call).await, ["FILE_SAVED", "\u{feff}one\n2\nthree\n"]);
    assert_eq!(linked.editor.text(&uri), "one\r\n2\r\nthree\r\n");
    linked.quit().await;
}
