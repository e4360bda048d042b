//! What the lines between a client and its agent say, as far as it counts here.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use hashline_history::{AgentName, Connection, ConversationId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::acp::server_entry::{self, Place};
use crate::hooks::{BuiltIn, digest};
use crate::router::Origin;

/// How many ids of requests are remembered that were answered here. A request is cancelled soon or not at all.
const REMEMBERED: usize = 256;

/// What is agreed on between a client and its agent, and what goes on.
pub(super) struct Dialogue {
    agent: AgentName,
    /// The version of the protocol.
    version: u64,
    client: FileSystem,
    /// The id of the client's `initialize` until it is answered.
    greeting: Option<String>,
    /// The turn of each session.
    turns: HashMap<String, ConversationId>,
    /// The ids of the requests that were answered here last.
    answered: VecDeque<String>,
}

/// A session that is opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Where it works.
    pub folders: Vec<PathBuf>,
    /// Where the line takes hashline's server.
    pub place: Option<Place>,
    pub version: u64,
}

/// What a line of the agent is.
#[derive(Debug, PartialEq)]
pub(super) enum FromAgent {
    /// Something for the client.
    PassOn,
    /// Something that the client knows nothing of.
    Dropped,
    /// A request for the client's files.
    File(Box<FileRequest>),
}

/// A use of the client's files.
#[derive(Debug, PartialEq)]
pub(super) struct FileRequest {
    /// The id, as JSON.
    pub id: String,
    pub tool: BuiltIn,
    pub origin: Origin,
    pub turn: Option<ConversationId>,
}

/// A message of JSON-RPC.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    fn read(line: &'a str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    fn id(&self) -> Option<String> {
        self.id.map(|id| id.get().to_owned())
    }

    fn params<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.params?.get()).ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    #[serde(default)]
    client_capabilities: ClientCapabilities,
}

#[derive(Default, Deserialize)]
struct ClientCapabilities {
    #[serde(default)]
    fs: FileSystem,
}

/// What the client says that it does with its files.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FileSystem {
    read_text_file: bool,
    write_text_file: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: Option<u64>,
    #[serde(alias = "info")]
    agent_info: Option<Info>,
}

#[derive(Deserialize)]
struct Info {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenSession<'a> {
    cwd: PathBuf,
    additional_directories: Option<Vec<PathBuf>>,
    #[serde(borrow)]
    mcp_servers: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadFile {
    session_id: String,
    path: String,
    line: Option<usize>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WriteFile {
    session_id: String,
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancel<'a> {
    #[serde(borrow, alias = "id")]
    request_id: &'a RawValue,
}

impl Dialogue {
    /// With an agent that is called this until it says otherwise.
    pub(super) fn new(agent: AgentName) -> Self {
        Self {
            agent,
            version: 1,
            client: FileSystem::default(),
            greeting: None,
            turns: HashMap::new(),
            answered: VecDeque::new(),
        }
    }

    /// Hears a line of the client; returns whether it opens a session.
    pub(super) fn hear_client(&mut self, line: &[u8]) -> Option<Opening> {
        let line = std::str::from_utf8(line).ok()?;
        let message = Message::read(line)?;
        let id = message.id()?;
        match message.method.as_deref()? {
            "initialize" => {
                self.greeting = Some(id);
                let said: Option<Initialize> = message.params();
                self.client = said.map(|said| said.client_capabilities.fs).unwrap_or_default();
                None
            }
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                let OpenSession { cwd, additional_directories, mcp_servers } = message.params()?;
                let place = mcp_servers.and_then(|servers| server_entry::place(line, servers));
                let folders = std::iter::once(cwd).chain(additional_directories.unwrap_or_default());
                Some(Opening { folders: folders.collect(), place, version: self.version })
            }
            "session/prompt" => {
                let InSession { session_id } = message.params()?;
                self.turns.insert(session_id, format!("turn_{}", uuid::Uuid::new_v4().simple()).into());
                None
            }
            "session/close" | "session/delete" => {
                let InSession { session_id } = message.params()?;
                self.turns.remove(&session_id);
                None
            }
            _ => None,
        }
    }

    /// Hears a line of the agent.
    pub(super) fn hear_agent(&mut self, line: &[u8]) -> FromAgent {
        let message = std::str::from_utf8(line).ok().and_then(Message::read);
        let heard = message.and_then(|message| match message.method.as_deref() {
            Some("$/cancel_request") => {
                let Cancel { request_id } = message.params()?;
                let is_own = self.answered.iter().any(|id| id == request_id.get());
                is_own.then_some(FromAgent::Dropped)
            }
            Some(method) => {
                let id = message.id()?;
                // An id that comes again is another request.
                self.answered.retain(|answered| *answered != id);
                let (session, tool) = self.file_use(method, &message)?;
                Some(FromAgent::File(Box::new(self.file_request(id, &session, tool))))
            }
            None => {
                if message.id() == self.greeting {
                    self.greeting = None;
                    self.greeted(message.result?);
                }
                None
            }
        });
        heard.unwrap_or(FromAgent::PassOn)
    }

    /// Notes that a request was answered here.
    pub(super) fn answered(&mut self, id: String) {
        self.answered.push_back(id);
        if self.answered.len() > REMEMBERED {
            self.answered.pop_front();
        }
    }

    /// What a request does with the client's files, and in which session; none of what the client did not say that it does.
    fn file_use(&self, method: &str, message: &Message<'_>) -> Option<(String, BuiltIn)> {
        match method {
            "fs/read_text_file" if self.client.read_text_file => {
                let ReadFile { session_id, path, line, limit } = message.params()?;
                Some((session_id, BuiltIn::Read { path, first: line, count: limit }))
            }
            "fs/write_text_file" if self.client.write_text_file => {
                let WriteFile { session_id, path, content } = message.params()?;
                Some((session_id, BuiltIn::Write { path, content }))
            }
            _ => None,
        }
    }

    fn file_request(&self, id: String, session: &str, tool: BuiltIn) -> FileRequest {
        // A session's name is between the client and the agent, and a history may lie where others read it.
        let connection = Connection::Own(format!("acp session {}", digest(&[session])));
        let origin = Origin { agent: self.agent.clone(), connection, grants: None, reviews: true };
        FileRequest { id, tool, origin, turn: self.turns.get(session).cloned() }
    }

    /// Takes what the agent says of itself.
    fn greeted(&mut self, result: &RawValue) {
        let Ok(Initialized { protocol_version, agent_info }) = serde_json::from_str(result.get()) else {
            return;
        };
        self.version = protocol_version.unwrap_or(self.version);
        let name = agent_info.and_then(|info| info.name).filter(|name| !name.trim().is_empty());
        if let Some(name) = name {
            self.agent = name.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(message: &Value) -> Vec<u8> {
        format!("{message}\n").into_bytes()
    }

    /// A dialogue in which a client has said what it can, and an agent who it is.
    fn greeted(fs: &Value, result: &Value) -> Dialogue {
        let mut dialogue = Dialogue::new("npx".into());
        let params = json!({ "protocolVersion": 1, "clientCapabilities": { "fs": fs } });
        let asked = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        assert_eq!(dialogue.hear_client(&line(&asked)), None);
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": result });
        assert_eq!(dialogue.hear_agent(&line(&answer)), FromAgent::PassOn);
        dialogue
    }

    fn both() -> Dialogue {
        let result = json!({ "protocolVersion": 1, "agentInfo": { "name": "an\nagent", "version": "1" } });
        greeted(&json!({ "readTextFile": true, "writeTextFile": true }), &result)
    }

    fn file(dialogue: &mut Dialogue, request: &Value) -> FileRequest {
        let FromAgent::File(request) = dialogue.hear_agent(&line(request)) else { panic!("{request}") };
        *request
    }

    fn read(id: &Value, path: &str) -> Value {
        let params = json!({ "sessionId": "s", "path": path });
        json!({ "jsonrpc": "2.0", "id": id, "method": "fs/read_text_file", "params": params })
    }

    #[test]
    fn requests_for_files_are_told_from_all_else() {
        let mut dialogue = both();
        let request = json!({ "method": "fs/read_text_file", "id": "r-1", "jsonrpc": "2.0",
            "params": { "path": "/p/a", "sessionId": "s", "limit": 2, "line": 3, "_meta": {} } });
        let request = file(&mut dialogue, &request);
        assert_eq!(request.tool, BuiltIn::Read { path: "/p/a".into(), first: Some(3), count: Some(2) });
        assert_eq!((request.id.as_str(), request.origin.agent.as_str()), ("\"r-1\"", "an agent"));
        let request = br#"{"jsonrpc":"2.0","id":7,"method":"fs\/write_text_file","params":{"sessionId":"s","path":"/p/a","content":"\ud83d\ude00"}}"#;
        let FromAgent::File(request) = dialogue.hear_agent(request) else { panic!() };
        assert_eq!(request.tool, BuiltIn::Write { path: "/p/a".into(), content: "😀".into() });
        for other in [
            r#"{"jsonrpc":"2.0","method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/p/a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a","line":-1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"\ud800"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","path":"/p/a"}}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a"}}]"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            "{",
            "",
        ] {
            assert_eq!(dialogue.hear_agent(other.as_bytes()), FromAgent::PassOn, "{other}");
        }
        assert_eq!(dialogue.hear_agent(b"\xff\n"), FromAgent::PassOn);
    }

    #[test]
    fn what_the_client_cannot_do_is_not_done_for_it() {
        let mut dialogue = greeted(&json!({ "readTextFile": false, "writeTextFile": true }), &json!({}));
        assert_eq!(dialogue.hear_agent(&line(&read(&json!(1), "/p/a"))), FromAgent::PassOn);
        let params = json!({ "sessionId": "s", "path": "/p/a", "content": "" });
        let write = json!({ "jsonrpc": "2.0", "id": 1, "method": "fs/write_text_file", "params": params });
        // It has not said who it is, so its command's name stands.
        assert_eq!(file(&mut dialogue, &write).origin.agent.as_str(), "npx");
        let mut dialogue = Dialogue::new("npx".into());
        assert_eq!(dialogue.hear_agent(&line(&write)), FromAgent::PassOn);
    }

    #[test]
    fn sessions_are_connections_and_prompts_are_turns() {
        let mut dialogue = both();
        let first = file(&mut dialogue, &read(&json!(1), "/p/a"));
        assert_eq!(first.turn, None);
        let prompt = |session: &str| {
            let params = json!({ "sessionId": session, "prompt": [] });
            line(&json!({ "jsonrpc": "2.0", "id": 5, "method": "session/prompt", "params": params }))
        };
        dialogue.hear_client(&prompt("s"));
        dialogue.hear_client(&prompt("t"));
        let second = file(&mut dialogue, &read(&json!(2), "/p/a"));
        let same = file(&mut dialogue, &read(&json!(3), "/p/b"));
        assert!(second.turn.is_some() && second.turn == same.turn);
        assert_eq!(second.origin, first.origin);
        assert!(
            !format!("{:?}", Dialogue::file_request(&dialogue, "1".into(), "secret", first.tool))
                .contains("secret")
        );
        dialogue.hear_client(&prompt("s"));
        assert_ne!(file(&mut dialogue, &read(&json!(4), "/p/a")).turn, second.turn);
    }

    #[test]
    fn a_session_that_is_opened_takes_the_server() {
        let mut dialogue = both();
        let open = |method: &str, params: Value| {
            line(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
        };
        for method in ["session/new", "session/load", "session/resume", "session/fork"] {
            let params =
                json!({ "cwd": "/p", "mcpServers": [], "sessionId": "s", "additionalDirectories": ["/q"] });
            let opening = dialogue.hear_client(&open(method, params)).unwrap();
            assert_eq!(opening.folders, [PathBuf::from("/p"), PathBuf::from("/q")]);
            assert!(opening.place.is_some() && opening.version == 1, "{method}");
        }
        for params in [
            json!({ "cwd": "/p" }),
            json!({ "cwd": "/p", "mcpServers": null }),
            json!({ "cwd": "/p", "mcpServers": [{ "name": "hashline" }] }),
        ] {
            assert_eq!(dialogue.hear_client(&open("session/new", params)).unwrap().place, None);
        }
        assert_eq!(
            dialogue.hear_client(&open("session/list", json!({ "cwd": "/p", "mcpServers": [] }))),
            None
        );
        assert_eq!(dialogue.hear_client(&open("session/new", json!({ "mcpServers": [] }))), None);
        let fs = json!({ "readTextFile": true });
        let later = json!({ "protocolVersion": 2, "info": { "name": "later" } });
        let mut dialogue = greeted(&fs, &later);
        let opening = dialogue.hear_client(&open("session/new", json!({ "cwd": "/p", "mcpServers": [] })));
        assert_eq!(opening.unwrap().version, 2);
        assert_eq!(file(&mut dialogue, &read(&json!(1), "/p/a")).origin.agent.as_str(), "later");
    }

    #[test]
    fn the_client_does_not_hear_that_a_request_is_cancelled_of_which_it_has_not_heard() {
        let mut dialogue = both();
        let cancel = |id: &Value| {
            line(&json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } }))
        };
        let id = file(&mut dialogue, &read(&json!("a"), "/p/a")).id;
        assert_eq!(dialogue.hear_agent(&cancel(&json!("a"))), FromAgent::PassOn, "it is passed on");
        dialogue.answered(id);
        assert_eq!(dialogue.hear_agent(&cancel(&json!("a"))), FromAgent::Dropped);
        assert_eq!(dialogue.hear_agent(&cancel(&json!(1))), FromAgent::PassOn);
        // The id of another request, of which the client hears.
        let asked = json!({ "jsonrpc": "2.0", "id": "a", "method": "terminal/create", "params": {} });
        dialogue.hear_agent(&line(&asked));
        assert_eq!(dialogue.hear_agent(&cancel(&json!("a"))), FromAgent::PassOn);
        for id in 0..=REMEMBERED {
            dialogue.answered(id.to_string());
        }
        assert_eq!(dialogue.answered.len(), REMEMBERED);
    }
}
