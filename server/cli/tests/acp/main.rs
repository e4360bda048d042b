//! `hashline acp` between a client and an agent, beside an editor that has files open.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod editor;
mod place;

use std::fs;

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::place::{Agent, Place, until};

const DISK: &str = "one\ntwo\nthree\n";
const LIVE: &str = "one\ntwo, unsaved\nthree\n";

/// What a client says first that can do all of this with files.
fn initialize() -> Vec<u8> {
    let fs = json!({ "readTextFile": true, "writeTextFile": true });
    let params = json!({ "protocolVersion": 1, "clientCapabilities": { "fs": fs } });
    line(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))
}

/// The same, and what its agent answers once it has heard it.
fn greet(agent: &mut Agent) {
    agent.client_says(&initialize());
    agent.agent_hears_of("initialize");
    let result = json!({ "protocolVersion": 1, "agentInfo": { "name": "puppet", "version": "1" } });
    agent.agent_says(&line(&json!({ "jsonrpc": "2.0", "id": 0, "result": result })));
}

/// Opens a session in the folder; returns its servers as the agent hears of them.
fn open_session(agent: &mut Agent, place: &Place, servers: &Value) -> Value {
    let params = json!({ "cwd": place.root, "mcpServers": servers });
    agent
        .client_says(&line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params })));
    let heard = agent.agent_hears_of("session/new");
    agent.agent_says(&line(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "s-1" } })));
    heard["params"]["mcpServers"].clone()
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn request(id: &str, method: &str, mut params: Value) -> Vec<u8> {
    params["sessionId"] = "s-1".into();
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

#[test]
fn what_both_say_goes_through_byte_for_byte() {
    let place = Place::new();
    let mut agent = Agent::puppet(&place, "echo careful >&2", "exit 7");
    let mut said = Vec::new();
    for odd in [
        &b"{ \"jsonrpc\" : \"2.0\",\t\"id\":1.0 , \"method\":\"initialize\", \"params\":{} }\r\n"[..],
        b"\n",
        b"  not JSON at all {\n",
        b"\xff\xfe\x00\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1e400,\"b\":\"\\ud800 ü 漢 😀\"}}\n".as_bytes(),
        b"{\"id\":1,\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\",\"mcpServers\":[]}}\n",
        b"[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\",\"mcpServers\":[]}}]\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/new\",\"params\":{\"cwd\":\"/nowhere/at/all\",\"mcpServers\":[]}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"s\",\"path\":\"/a\"}}\n",
    ] {
        said.extend_from_slice(odd);
    }
    // More than is kept of a line.
    said.extend(std::iter::repeat_n(b'x', 17 << 20));
    said.extend_from_slice(b"\nand then\n{\"jsonrpc\":\"2.0\",\"id\":9");
    agent.client_says(&said);
    agent.agent_says(&said);
    let ended = agent.ends();
    assert!(ended.heard == said, "the client hears what the agent says");
    assert!(fs::read(place.heard()).unwrap() == said, "the agent hears what the client says");
    assert_eq!(ended.code, Some(7));
    assert!(ended.told.contains("careful\n"), "{}", ended.told);
}

#[test]
fn a_session_gets_the_server_once() {
    let place = Place::new();
    let mut agent = Agent::puppet(&place, "", "");
    greet(&mut agent);
    let other = json!({ "name": "other", "command": "/bin/other", "args": [], "env": [] });
    let servers = open_session(&mut agent, &place, &json!([other]));
    assert_eq!((servers.as_array().unwrap().len(), &servers[0]), (2, &other));
    let own = &servers[1];
    assert_eq!((&own["name"], &own["env"], own.get("type")), (&json!("hashline"), &json!([]), None));
    let state = place.state.to_str().unwrap();
    assert_eq!(own["args"], json!(["mcp", "--state-dir", state, "--root", place.root]));
    assert_eq!(own["command"], env!("CARGO_BIN_EXE_hashline"));

    // Its own stays as it is, in a line that stays as it is.
    let again = format!(
        "{{\"jsonrpc\":\"2.0\", \"id\":2,\"method\":\"session/load\",\"params\":{{\"sessionId\":\"s\",\"cwd\":{},\
         \"mcpServers\":[ {{\"name\":\"hashline\",\"command\":\"/mine\"}} ]}}}}\n",
        json!(place.root)
    );
    agent.client_says(again.as_bytes());
    until("the agent hears it", || fs::read_to_string(place.heard()).unwrap().ends_with(&again));
    assert_eq!(agent.ends().code, Some(0));
}

#[test]
fn an_open_document_is_read_and_written_as_it_is_in_the_editor() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let closed = place.write("closed.txt", DISK);
    let editor = Editor::start(&place);
    editor.open(&path, LIVE);
    let mut agent = Agent::puppet(&place, "", "");
    greet(&mut agent);
    open_session(&mut agent, &place, &json!([]));
    agent.client_says(&request("p", "session/prompt", json!({ "prompt": [] })));

    agent.agent_says(&request("r-1", "fs/read_text_file", json!({ "path": path })));
    assert_eq!(agent.agent_is_answered("r-1")["result"], json!({ "content": LIVE }));
    agent.agent_says(&request("r-2", "fs/read_text_file", json!({ "path": path, "line": 2, "limit": 1 })));
    assert_eq!(agent.agent_is_answered("r-2")["result"]["content"], "two, unsaved\n");

    let written = LIVE.replace("three", "3");
    agent.agent_says(&request("w-1", "fs/write_text_file", json!({ "path": path, "content": written })));
    assert_eq!(agent.agent_is_answered("w-1")["result"], json!({}));
    assert_eq!(fs::read_to_string(&path).unwrap(), DISK, "the disk is as it was");
    assert!(editor.is_asked_for_nothing(), "the editor's text is as it was");
    until("the editor shows what puppet wants", || {
        editor.actions(&path).iter().any(|title| title.contains("Accept") && title.contains("puppet"))
    });
    let listed = place.run(&["diff", "status"]);
    assert!(listed.contains("pending, held"), "{listed}");
    // What is held is read, too.
    agent.agent_says(&request("r-3", "fs/read_text_file", json!({ "path": path, "line": 3 })));
    assert_eq!(agent.agent_is_answered("r-3")["result"]["content"], "3\n");

    // What the agent has written to the file by itself is not held once more.
    let by_itself = DISK.replace("one", "1");
    fs::write(&path, &by_itself).unwrap();
    agent.agent_says(&request("w-0", "fs/write_text_file", json!({ "path": path, "content": by_itself })));
    assert_eq!(agent.agent_is_answered("w-0")["result"], json!({}));
    let listed = place.run(&["diff", "status"]);
    assert_eq!(listed.matches("turn_").count(), 1, "{listed}");

    // Whatever has to do with these requests the client does not hear of; of all else it does, in its order.
    let before = agent.client_heard().len();
    let cancel = |id: &str| {
        line(&json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } }))
    };
    let passed = request("r-4", "fs/read_text_file", json!({ "path": closed }));
    let written = request("w-2", "fs/write_text_file", json!({ "path": closed, "content": "new\n" }));
    let outside = request("r-5", "fs/read_text_file", json!({ "path": "/etc/hostname" }));
    let heard = [passed.clone(), written.clone(), outside.clone(), cancel("r-4")].concat();
    agent.agent_says(&[cancel("w-1"), passed, written, outside, cancel("r-4")].concat());
    until("the client hears of it", || agent.client_heard().len() >= before + heard.len());
    assert_eq!(String::from_utf8_lossy(&agent.client_heard()[before..]), String::from_utf8_lossy(&heard));
    let all = String::from_utf8(agent.client_heard()).unwrap();
    assert!(!all.contains("r-1") && !all.contains("w-1"), "{all}");
    let answer = b"{\"id\":\"r-4\", \"jsonrpc\":\"2.0\",\"result\":{\"content\":\"the client's\"}}\n";
    agent.client_says(answer);
    assert_eq!(agent.agent_is_answered("r-4")["result"]["content"], "the client's");
    assert_eq!(fs::read_to_string(&closed).unwrap(), DISK, "it is the client's to write");
    assert_eq!(agent.ends().code, Some(0));
}

#[test]
fn without_an_editor_the_client_is_asked() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let mut agent = Agent::puppet(&place, "", "");
    greet(&mut agent);
    open_session(&mut agent, &place, &json!([]));
    until("the client hears of the session", || agent.client_heard().ends_with(b"\"s-1\"}}\n"));
    let before = agent.client_heard().len();
    let asked = [
        request("1", "fs/read_text_file", json!({ "path": path })),
        request("2", "fs/write_text_file", json!({ "path": path, "content": "" })),
    ]
    .concat();
    agent.agent_says(&asked);
    until("the client is asked", || agent.client_heard().len() >= before + asked.len());
    assert_eq!(agent.client_heard()[before..], asked);
    assert_eq!(agent.ends().code, Some(0));
}

#[test]
fn it_ends_as_the_agent_does() {
    let place = Place::new();
    // By itself, while the client goes on; by a signal of its own; and by one that is passed on.
    let by_itself = Agent::of(&place, &["sh", "-c", "exit 3"]);
    assert_eq!(by_itself.ended().code, Some(3));
    let by_a_signal = Agent::of(&place, &["sh", "-c", "kill -9 $$"]);
    assert_eq!(by_a_signal.ended().code, Some(128 + 9));
    for (name, code) in [("INT", 41), ("TERM", 42), ("HUP", 43)] {
        let script = format!("trap 'exit {code}' {name}; echo ready; while :; do sleep 0.05; done");
        let told = Agent::of(&place, &["sh", "-c", &script]);
        until("the agent is ready", || told.client_heard() == b"ready\n");
        told.signal(name);
        assert_eq!(told.ended().code, Some(code), "{name}");
    }
}

#[test]
fn what_an_agent_leaves_behind_does_not_keep_it() {
    let place = Place::new();
    // Keeps the output open, until it is ended here.
    let agent = Agent::of(&place, &["sh", "-c", "sleep 600 2>/dev/null & echo $!; exit 5"]);
    until("the agent has started something", || agent.client_heard().ends_with(b"\n"));
    let left = String::from_utf8(agent.client_heard()).unwrap();
    let ended = agent.ended();
    place::signal(left.trim(), "KILL");
    assert_eq!(ended.code, Some(5));
}

#[test]
fn an_agent_that_cannot_be_started_is_told_of() {
    let place = Place::new();
    let ended = Agent::of(&place, &["/nowhere/an-agent", "--acp"]).ended();
    assert_eq!(ended.code, Some(1));
    assert!(ended.told.contains("/nowhere/an-agent cannot be started"), "{}", ended.told);
    assert!(ended.told.contains("absolute path"), "{}", ended.told);
    let ended = Agent::of(&place, &[]).ended();
    assert!(ended.code == Some(2) && ended.told.contains("COMMAND"), "{}", ended.told);
}

#[test]
fn an_agent_that_writes_before_it_reads_gets_on() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = Editor::start(&place);
    editor.open(&path, LIVE);
    let mut agent = Agent::deaf(&place);
    agent.client_says(&initialize());
    open_session_unheard(&mut agent, &place);
    // More than a pipe holds, in both directions, with a request between.
    let long = line(&json!({ "jsonrpc": "2.0", "method": "x", "params": "y".repeat(1 << 20) }));
    agent.client_says_meanwhile(long.clone());
    agent.agent_says(&[request("r", "fs/read_text_file", json!({ "path": path })), long.clone()].concat());
    until("the client hears what the agent says", || agent.client_heard().ends_with(&long));
    agent.listen();
    assert_eq!(agent.agent_is_answered("r")["result"]["content"], LIVE);
    assert_eq!(agent.ends().code, Some(0));
}

/// Opens a session of which an agent hears later; returns when its folder is served.
fn open_session_unheard(agent: &mut Agent, place: &Place) {
    let params = json!({ "cwd": place.root, "mcpServers": [] });
    agent
        .client_says(&line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params })));
    // It is read in its order, so what is answered behind it is answered with it.
    let path = place.root.join("a.txt");
    let mut tries = 0;
    until("the folder is served", || {
        tries += 1;
        let before = agent.client_heard().len();
        let asked = request(&format!("t-{tries}"), "fs/read_text_file", json!({ "path": path }));
        let then = line(&json!({ "jsonrpc": "2.0", "method": "then", "params": tries }));
        agent.agent_says(&[asked, then.clone()].concat());
        until("the client hears what follows", || agent.client_heard().ends_with(&then));
        agent.client_heard().len() == before + then.len()
    });
}
