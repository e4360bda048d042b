//! Many calls by many agents, over HTTP and stdio: no update is lost, and the server's memory stays as it is.
//!
//! `HASHLINE_SOAK=1000000` makes as many calls; without it a few thousand are made.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may stop where it is")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

const HASHLINE: &str = env!("CARGO_BIN_EXE_hashline");
/// Agents over HTTP, and over stdio.
const AGENTS: (usize, usize) = (6, 2);
/// Of so many calls of an agent one is an edit, at the least.
const EDIT: usize = 32;
/// How many edits there are at most, about: none of them is ever decided, and each costs a little more than the one before.
const EDITS: usize = 400;
/// What the server may keep of an edit, in KiB: for half an hour also the text that its agent was shown.
const OF_AN_EDIT: usize = 96;
/// How much its memory may grow otherwise, in KiB.
const GROWTH: usize = 8 * 1024;

/// One that calls tools.
trait Agent: Send {
    fn request(&mut self, request: &Value) -> Value;
}

/// The text of an answer, and whether it is a refusal.
fn call(agent: &mut dyn Agent, tool: &str, arguments: &Value) -> (String, bool) {
    let params = json!({ "name": tool, "arguments": arguments });
    let answer =
        agent.request(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    (text.to_owned(), result["isError"] == true)
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
"clientInfo":{"name":"soak","version":"1"}}}"#;

/// A connection that is kept.
struct Http {
    stream: BufReader<TcpStream>,
    token: String,
    session: Option<String>,
}

impl Http {
    fn connect(address: &str, token: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut http = Self { stream: BufReader::new(stream), token: token.to_owned(), session: None };
        http.request(&serde_json::from_str(HELLO).unwrap());
        assert!(http.session.is_some());
        http.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        http
    }

    /// The body of the answer, whatever way it is sent.
    fn post(&mut self, message: &Value) -> String {
        let body = message.to_string();
        let session =
            self.session.as_ref().map_or_else(String::new, |id| format!("mcp-session-id: {id}\r\n"));
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        let (mut length, mut chunked, mut status) = (0, false, String::new());
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                if line.is_empty() {
                    break;
                }
                status = line;
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "transfer-encoding" => chunked = value == "chunked",
                "mcp-session-id" => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = String::new();
        while chunked {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            body += &self.take(size);
            self.line();
            chunked = size > 0;
        }
        body += &self.take(length);
        assert!(status.starts_with("HTTP/1.1 2"), "{status}: {body}");
        body
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server has closed the connection");
        line.trim_end().to_owned()
    }

    fn take(&mut self, size: usize) -> String {
        let mut bytes = vec![0; size];
        self.stream.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}

impl Agent for Http {
    fn request(&mut self, request: &Value) -> Value {
        let body = self.post(request);
        let events = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let found = events.chain([body.as_str()]).find_map(|event| {
            serde_json::from_str::<Value>(event).ok().filter(|answer| answer["id"] == request["id"])
        });
        found.unwrap_or_else(|| panic!("no answer in {body:?}"))
    }
}

/// A process of its own.
struct Pipe {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Pipe {
    fn start(root: &Path, state: &Path) -> Self {
        let mut child = hashline(&["mcp", "--root"], root, state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipe = Self { child, to, from };
        pipe.request(&serde_json::from_str(HELLO).unwrap());
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }
}

impl Agent for Pipe {
    fn request(&mut self, request: &Value) -> Value {
        self.send(request);
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has gone");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.to.take();
        let _ = self.child.wait();
    }
}

/// Ends with the test, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hashline(arguments: &[&str], root: &Path, state: &Path) -> Command {
    let mut command = Command::new(HASHLINE);
    command.args(arguments).arg(root).arg("--state-dir").arg(state).arg("--log-file").arg(state.join("log"));
    command
}

/// Resident memory, in KiB.
fn memory(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Adds one to the number in the file, by its hash; others may be quicker any number of times.
fn count_up(agent: &mut dyn Agent, conversation: &str) -> usize {
    for calls in 1.. {
        let (text, failed) = call(agent, "read_text_file", &json!({ "path": "count.txt" }));
        assert!(!failed, "{text}");
        let (anchor, number) = text.lines().nth(1).unwrap().split_once('|').unwrap();
        let (_, hash) = text.split_once("file_hash ").unwrap();
        let next = number.parse::<usize>().unwrap() + 1;
        let operation = json!({ "op": "replace", "anchor": anchor, "content": next.to_string() });
        let edit = json!({
            "path": "count.txt", "file_hash": &hash[..12], "operations": [operation],
            "mcp_conversation_id": conversation,
        });
        let (text, failed) = call(agent, "edit_text_file", &edit);
        if !failed {
            return 2 * calls;
        }
        assert!(text.contains("file_hash"), "{text}");
    }
    unreachable!()
}

/// Makes calls until as many were made, one of `every` an edit if it edits; returns how often it counted up.
fn work(
    (conversation, agent): (&str, &mut dyn Agent),
    made: &AtomicUsize,
    until: usize,
    every: usize,
    is_editing: bool,
) -> usize {
    let mut edits = 0;
    for turn in 0.. {
        let calls = match turn % every {
            0 if is_editing => {
                edits += 1;
                count_up(agent, conversation)
            }
            1 => {
                let (text, failed) = call(agent, "read_text_file", &json!({ "path": "../count.txt" }));
                assert!(failed, "{text}");
                1
            }
            2 => {
                assert!(!call(agent, "list_documents", &json!({})).1);
                1
            }
            _ => {
                let start = turn * 7 % 900 + 1;
                let lines = json!({ "path": "big.txt", "start_line": start, "end_line": start + 50 });
                let (text, failed) = call(agent, "read_text_file", &lines);
                assert!(!failed && text.contains(&format!("|line {start}\n")), "{text}");
                1
            }
        };
        if made.fetch_add(calls, Ordering::Relaxed) + calls >= until {
            break;
        }
    }
    edits
}

#[test]
fn many_calls_leave_the_server_as_it_was_and_lose_no_update() {
    let calls: usize = std::env::var("HASHLINE_SOAK").map_or(6_000, |calls| calls.parse().unwrap());
    let temp = tempfile::tempdir().unwrap();
    let (root, state) = (temp.path().join("w"), temp.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("count.txt"), "0\n").unwrap();
    let big: String = (1..=1_000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(root.join("big.txt"), big).unwrap();
    let token = Command::new(HASHLINE)
        .args(["token", "--scope", "write:/", "--state-dir"])
        .arg(&state)
        .output()
        .unwrap();
    let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    let server = hashline(&["serve", "--listen", "127.0.0.1:0", "--root"], &root, &state)
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(server.unwrap());
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();

    let mut agents: Vec<Box<dyn Agent>> = Vec::new();
    // Each has one of its own.
    let conversations: Vec<String> = (0..AGENTS.0 + AGENTS.1).map(|agent| format!("soak_{agent}")).collect();
    agents.extend((0..AGENTS.0).map(|_| Box::new(Http::connect(&address, &token)) as Box<dyn Agent>));
    agents.extend((0..AGENTS.1).map(|_| Box::new(Pipe::start(&root, &state)) as Box<dyn Agent>));
    let made = AtomicUsize::new(0);
    let every = (calls / 2 / EDITS).max(EDIT);
    let mut round = |until: usize, is_editing: bool| -> (usize, usize) {
        let edits = std::thread::scope(|scope| {
            let working: Vec<_> = agents
                .iter_mut()
                .zip(&conversations)
                .map(|(agent, conversation)| {
                    scope.spawn(|| work((conversation, agent.as_mut()), &made, until, every, is_editing))
                })
                .collect();
            working.into_iter().map(|one| one.join().unwrap()).sum()
        });
        (edits, memory(server.0.id()))
    };
    // What is remembered once is there after the first part. Edits are kept, so the other half of the calls makes none.
    let (first, at_first) = round(calls / 8, true);
    let (second, with_edits) = round(calls / 2, true);
    let (_, at_last) = round(calls, false);
    let edits = first + second;
    println!(
        "{calls} calls: {at_first} KiB after an eighth with {first} edits, {with_edits} KiB after half with {edits}, {at_last} KiB \
         after the other half without one"
    );
    let count = std::fs::read_to_string(root.join("count.txt")).unwrap();
    assert_eq!(count, format!("{edits}\n"));
    for (before, edits, after) in [(at_first, second, with_edits), (with_edits, 0, at_last)] {
        let allowed = before + GROWTH + edits * OF_AN_EDIT;
        assert!(after <= allowed, "{before} KiB became {after} KiB, and {allowed} KiB are allowed");
    }

    drop(agents);
    assert!(Command::new("kill").arg(server.0.id().to_string()).status().unwrap().success());
    assert!(server.0.wait().unwrap().success());
}
