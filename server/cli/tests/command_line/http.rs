//! Agents over HTTP, at a server of its own and at an editor's sidecar.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hashline_link::{Sidecar, StateDir};

use crate::{Agent, hashline, run};

/// `hashline serve`, and where it listens.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(root: &Path, state: &Path) -> Self {
        let mut command = hashline(&["serve", "--listen", "127.0.0.1:0", "--root", root.to_str().unwrap()]);
        let mut child = command.arg("--state-dir").arg(state).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{line:?} is no address")).to_owned();
        Self { child, address }
    }

    fn read(&self, token: &str) -> String {
        read_over_http(&self.address, token)
    }
}

/// Reads a.txt with this token; the whole answer.
fn read_over_http(address: &str, token: &str) -> String {
    call_over_http(address, token, "read_text_file", r#"{"path":"a.txt"}"#)
}

/// Calls a tool with this token; the whole answer.
fn call_over_http(address: &str, token: &str, tool: &str, arguments: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}}}}}}}}"#
    );
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
             Content-Length: {}\r\n\r\n{body}",
        address,
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    answer
}

/// `hashline lsp`, and an editor that talks, and listens where it has asked.
struct Editor(Child, Option<BufReader<std::process::ChildStdout>>);

impl Editor {
    fn start(state: &Path) -> Self {
        let mut command = hashline(&["lsp", "--editor", "talker", "--state-dir", state.to_str().unwrap()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Self(child, stdout)
    }

    fn say(&mut self, message: &serde_json::Value) {
        let message = message.to_string();
        write!(self.0.stdin.as_mut().unwrap(), "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
    }

    fn notify(&mut self, method: &str, params: &serde_json::Value) {
        self.say(&serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks for something, which is answered within some seconds.
    fn asks(&mut self, method: &str, params: &serde_json::Value) -> serde_json::Value {
        self.say(&serde_json::json!({ "jsonrpc": "2.0", "id": "asked", "method": method, "params": params }));
        let mut stdout = self.1.take().unwrap();
        let (answered, answer) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            loop {
                let (mut length, mut line) = (0, String::new());
                while stdout.read_line(&mut line).unwrap() > 2 {
                    length = line
                        .trim()
                        .strip_prefix("Content-Length: ")
                        .map_or(length, |said| said.parse().unwrap());
                    line.clear();
                }
                let mut body = vec![0; length];
                std::io::Read::read_exact(&mut stdout, &mut body).unwrap();
                let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
                if message["id"] == "asked" {
                    let _ = answered.send((message, stdout));
                    return;
                }
            }
        });
        let answer = answer.recv_timeout(Duration::from_secs(20));
        let (message, stdout) = answer.unwrap_or_else(|_| panic!("{method} is not answered"));
        self.1 = Some(stdout);
        message
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the one sidecar serves HTTP, as soon as it says what is waited for.
fn announced(state: &StateDir, what: impl Fn(&Sidecar) -> bool) -> Option<String> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        if let Some(sidecar) = hashline_link::discover(state).into_iter().find(&what) {
            return sidecar.http;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it is not announced: {:?}", hashline_link::discover(state));
}

#[test]
fn an_editor_serves_its_folders_over_http_where_a_setting_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let (root, state) = (temp.path().canonicalize().unwrap().join("w"), temp.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "saved\n").unwrap();
    let uri = |path: &Path| format!("file://{}", path.display());
    let found_in = StateDir::new(Some(&state)).unwrap();
    let mut editor = Editor::start(&state);
    editor.say(&serde_json::json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "processId": null, "capabilities": { "workspace": { "workspaceFolders": true } },
        "workspaceFolders": [{ "uri": uri(&root), "name": "w" }] } }));
    editor.notify("initialized", &serde_json::json!({}));
    let document = serde_json::json!({ "uri": uri(&root.join("a.txt")), "languageId": "text", "version": 1, "text": "unsaved\n" });
    editor.notify("textDocument/didOpen", &serde_json::json!({ "textDocument": document }));
    assert_eq!(announced(&found_in, |sidecar| !sidecar.roots.is_empty()), None, "off unless it is set");

    let listen =
        |address: &str| serde_json::json!({ "settings": { "hashline": { "http": { "listen": address } } } });
    editor.notify("workspace/didChangeConfiguration", &listen("127.0.0.1:0"));
    let url = announced(&found_in, |sidecar| sidecar.http.is_some()).unwrap();
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    let (code, token, _) = run(&["token", "--scope", "read:/", "--state-dir", state.to_str().unwrap()]);
    assert_eq!(code, 0);
    let answer = read_over_http(address, token.trim());
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("|unsaved"), "{answer}");
    assert!(read_over_http(address, "a.b.c").starts_with("HTTP/1.1 401 "));
    let (_, shown, _) = run(&["status", "--state-dir", state.to_str().unwrap()]);
    assert!(shown.contains(&url), "{shown}");

    // It serves what is open, and nothing once nothing is.
    let gone =
        serde_json::json!({ "event": { "added": [], "removed": [{ "uri": uri(&root), "name": "w" }] } });
    editor.notify("workspace/didChangeWorkspaceFolders", &gone);
    assert_eq!(announced(&found_in, |sidecar| sidecar.roots.is_empty()).as_deref(), Some(url.as_str()));
    let answer = read_over_http(address, token.trim());
    assert!(answer.contains("no folder open") && !answer.contains("saved\\n"), "{answer}");

    editor.notify("workspace/didChangeConfiguration", &listen(""));
    assert_eq!(announced(&found_in, |sidecar| sidecar.http.is_none()), None);
    let begun = Instant::now();
    while std::net::TcpStream::connect(address).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it listens still");
    }
}

/// A name of millions of parts once cost as much as the square of them, before anybody asked what its token gives.
#[test]
fn an_editor_is_answered_beside_calls_with_names_of_millions_of_parts() {
    let temp = tempfile::tempdir().unwrap();
    let (root, state) = (temp.path().canonicalize().unwrap().join("w"), temp.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    let uri = |path: &Path| format!("file://{}", path.display());
    let mut editor = Editor::start(&state);
    let listen = serde_json::json!({ "hashline": { "http": { "listen": "127.0.0.1:0" } } });
    editor.asks(
        "initialize",
        &serde_json::json!({ "processId": null, "capabilities": {}, "initializationOptions": listen,
            "workspaceFolders": [{ "uri": uri(&root), "name": "w" }] }),
    );
    editor.notify("initialized", &serde_json::json!({}));
    let text = uri(&root.join("a.txt"));
    let document =
        serde_json::json!({ "uri": text, "languageId": "text", "version": 1, "text": "unsaved\n" });
    editor.notify("textDocument/didOpen", &serde_json::json!({ "textDocument": document }));
    let found_in = StateDir::new(Some(&state)).unwrap();
    let url = announced(&found_in, |sidecar| sidecar.http.is_some()).unwrap();
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    let (_, token, _) = run(&["token", "--scope", "read:/src", "--state-dir", state.to_str().unwrap()]);
    let arguments = serde_json::json!({ "path": "d/".repeat(2_000_000) }).to_string();
    std::thread::scope(|threads| {
        let calls: Vec<_> = (0..8)
            .map(|_| threads.spawn(|| call_over_http(address, token.trim(), "read_text_file", &arguments)))
            .collect();
        let hover =
            serde_json::json!({ "textDocument": { "uri": text }, "position": { "line": 0, "character": 0 } });
        while calls.iter().any(|call| !call.is_finished()) {
            let hovered = editor.asks("textDocument/hover", &hover);
            assert!(hovered.get("error").is_none(), "{hovered}");
        }
        for call in calls {
            let answer = call.join().unwrap();
            assert!(answer.contains("path is 4000000 bytes long"), "{answer}");
        }
    });
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_token_opens_what_is_served_over_http() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("a.txt"), "a\n").unwrap();
    let state = temp.path().join("state");
    let token = |scope: &str| {
        let (code, out, err) = run(&["token", "--scope", scope, "--state-dir", state.to_str().unwrap()]);
        assert_eq!((code, err.as_str(), out.lines().count()), (0, "", 1));
        out.trim().to_owned()
    };
    // Whoever comes first makes the secret.
    let before = token("read:/");
    let server = Server::start(temp.path(), &state);
    for token in [before, token("write:/a.txt")] {
        let answer = server.read(&token);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("|a"), "{answer}");
    }
    let answer = server.read(&token("read:/b"));
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("read:/a.txt"), "{answer}");
    assert!(server.read("a.b.c").starts_with("HTTP/1.1 401 "));

    let (code, _, err) =
        run(&["serve", "--root", ".", "--listen", &server.address, "--state-dir", state.to_str().unwrap()]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains(&server.address) && err.contains("another address"), "{err}");
}

/// Whoever could read the key there could give themselves every right.
#[test]
fn hashlines_own_folder_is_served_to_nobody() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().join(".hashline");
    let (_, token, _) = run(&["token", "--scope", "write:/", "--state-dir", state.to_str().unwrap()]);
    let server = Server::start(temp.path(), &state);
    let key = state.join("secrets/http");
    let before = std::fs::read(&key).unwrap();
    for (tool, arguments) in [
        ("read_text_file", r#"{"path":".hashline/secrets/http"}"#),
        ("search_text", r#"{"pattern":".","path":".hashline"}"#),
        ("write_file", r#"{"path":".hashline/sidecars/made.json","content":"{}"}"#),
        ("write_file", r#"{"path":".hashline/secrets/http","content":"mine"}"#),
        ("move_file", r#"{"source":".hashline/secrets/http","destination":"key"}"#),
        ("delete_file", r#"{"path":".hashline/secrets/http"}"#),
    ] {
        let answer = call_over_http(&server.address, token.trim(), tool, arguments);
        assert!(answer.contains("hashline's own folder"), "{tool} {arguments}: {answer}");
    }
    assert_eq!(std::fs::read(&key).unwrap(), before);
    assert!(!state.join("sidecars/made.json").exists());

    let (code, _, err) = run(&[
        "serve",
        "--root",
        key.parent().unwrap().to_str().unwrap(),
        "--state-dir",
        state.to_str().unwrap(),
    ]);
    assert!(code == 2 && err.contains("hashline's own folder"), "{code}: {err}");

    // The folder that is taken by itself, below the home folder, whether there is one or not.
    let home = hashline_link::home().unwrap();
    let mut agent = Agent::greet_as_it_is(hashline(&["mcp", "--root", home.to_str().unwrap()]));
    agent.call(1, "read_text_file", r#"{"path":".hashline/secrets/http"}"#);
    let answer = agent.hears();
    assert!(answer.contains("hashline's own folder"), "{answer}");
}

/// What runs by itself, and git repositories of any name.
#[test]
fn what_programs_obey_is_not_written_over_http_without_the_person() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("w");
    for file in ["bare.git/HEAD", "bare.git/objects/a", "bare.git/refs/a", "bare.git/hooks/a"] {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), "a\n").unwrap();
    }
    let state = temp.path().join("state");
    let (_, token, _) = run(&["token", "--scope", "write:/", "--state-dir", state.to_str().unwrap()]);
    let server = Server::start(&root, &state);
    for (tool, arguments, words) in [
        ("write_file", r#"{"path":".vscode/tasks.json","content":"{}"}"#, "held in every mode"),
        ("write_file", r#"{"path":"sub/../.ENVRC","content":"evil"}"#, "held in every mode"),
        ("write_file", r#"{"path":"bare.git/hooks/post-checkout","content":"evil"}"#, "Use git itself"),
        ("move_file", r#"{"source":"bare.git/hooks/a","destination":"a"}"#, "Use git itself"),
        ("delete_file", r#"{"path":"bare.git/HEAD"}"#, "Use git itself"),
    ] {
        let answer = call_over_http(&server.address, token.trim(), tool, arguments);
        assert!(answer.contains(words), "{tool} {arguments}: {answer}");
    }
    assert!(!root.join(".vscode").exists() && !root.join(".ENVRC").exists());
    assert!(root.join("bare.git/HEAD").exists() && !root.join("bare.git/hooks/post-checkout").exists());
}

#[test]
fn a_secret_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().to_str().unwrap();
    assert_eq!(run(&["token", "--scope", "read:/", "--state-dir", state]).0, 0);
    let secret = temp.path().join("secrets/http");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
    for command in [
        &["token", "--scope", "read:/", "--state-dir", state][..],
        &["serve", "--root", state, "--state-dir", state],
    ] {
        let (code, out, err) = run(command);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        assert!(err.contains("secrets/http") && err.contains("others"), "{err}");
    }
}

#[test]
fn signals_end_a_server_in_good_order() {
    for name in ["-INT", "-TERM"] {
        let temp = tempfile::tempdir().unwrap();
        let mut server = Server::start(temp.path(), &temp.path().join("state"));
        let sent = Command::new("kill").args([name, &server.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{name}");
    }
}
