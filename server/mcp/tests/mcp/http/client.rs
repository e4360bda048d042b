//! A server over a folder, and clients of it that send what they are told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::CancellationToken;
use hashline_mcp::{HttpOptions, HttpServer, NameStyle, Router, TokenKey, Toolset};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::desk;
use crate::place::Place;

/// A server, until it is dropped.
pub struct Http {
    pub place: Arc<Place>,
    pub address: SocketAddr,
    pub key: Arc<TokenKey>,
    pub stop: CancellationToken,
    pub serving: JoinHandle<()>,
}

impl Http {
    /// Serves the folder `w`.
    pub async fn start() -> Self {
        let place = Place::new();
        let roots = [place.root.clone()];
        Self::over(place, &roots).await
    }

    pub async fn over(place: impl Into<Arc<Place>>, roots: &[std::path::PathBuf]) -> Self {
        let place = place.into();
        let key = Arc::new(TokenKey::load(&place.state()).unwrap());
        let router =
            Router::new(&Roots::open(roots).unwrap(), true, Settings::default(), place.state()).unwrap();
        let options = HttpOptions {
            key: key.clone(),
            hosts: Vec::new(),
            toolsets: Toolset::ALL.into(),
            names: NameStyle::Plain,
        };
        let server = HttpServer::bind("127.0.0.1:0", Arc::new(router), options).await.unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let serving = tokio::spawn(server.serve(stop.clone()));
        Self { place, address, key, stop, serving }
    }

    /// A token with these scopes.
    pub fn token(&self, scopes: &[&str]) -> String {
        self.token_of("tester", scopes)
    }

    /// The same of somebody else.
    pub fn token_of(&self, subject: &str, scopes: &[&str]) -> String {
        let scopes: Vec<_> = scopes.iter().map(|scope| scope.parse().unwrap()).collect();
        self.key.issue(Some(subject), &scopes, None, Duration::from_secs(60 * 60)).unwrap()
    }

    /// A client with a token of these scopes, in the protocol without sessions.
    pub fn modern(&self, scopes: &[&str]) -> Client {
        Client {
            address: self.address,
            token: Some(self.token(scopes)),
            agent: "tester",
            session: None,
            version: Some("2026-07-28"),
            modern: true,
        }
    }

    /// The same in the protocol with sessions, after the handshake.
    pub async fn legacy(&self, scopes: &[&str]) -> Client {
        let mut client = self.before_handshake(scopes);
        let answer = client.post(&initialize()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        client.session = Some(answer.headers["mcp-session-id"].to_str().unwrap().to_owned());
        let done = client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(done.status, 202, "{}", done.body);
        client
    }

    pub fn before_handshake(&self, scopes: &[&str]) -> Client {
        Client {
            address: self.address,
            token: Some(self.token(scopes)),
            agent: "tester",
            session: None,
            version: Some("2025-11-25"),
            modern: false,
        }
    }

    /// One client of each era.
    pub async fn both(&self, scopes: &[&str]) -> [Client; 2] {
        [self.legacy(scopes).await, self.modern(scopes)]
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": { "name": "tester", "version": "1" } } })
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    /// The JSON-RPC message in it, whether it came as an event or as itself.
    pub fn message(&self) -> Value {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut events = events.filter_map(|data| serde_json::from_str(data.trim()).ok());
        events.next_back().unwrap_or_else(|| {
            serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
        })
    }

    /// Whether an event in it has no message.
    pub fn has_empty_event(&self) -> bool {
        self.body.lines().any(|line| line.trim_end() == "data:")
    }

    /// The result of a tool.
    pub fn tool(&self) -> desk::Answer {
        let message = self.message();
        let result = serde_json::from_value(message["result"].clone());
        desk::Answer::of(&result.unwrap_or_else(|error| panic!("{error}: {message}")))
    }

    pub fn challenge(&self) -> &str {
        self.headers.get("www-authenticate").map_or("", |value| value.to_str().unwrap())
    }
}

/// An agent.
#[derive(Clone, Debug)]
pub struct Client {
    pub address: SocketAddr,
    pub token: Option<String>,
    /// What it calls itself in each request of the protocol without sessions.
    pub agent: &'static str,
    pub session: Option<String>,
    /// What it says that was agreed.
    pub version: Option<&'static str>,
    pub modern: bool,
}

impl Client {
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Calls a tool that nothing forbids.
    pub async fn tool(&self, tool: &str, arguments: Value) -> desk::Answer {
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer.status, 200, "{tool}: {}", answer.body);
        answer.tool()
    }

    pub async fn ask(&self, method: &str, params: Value) -> Answer {
        let (message, named) = self.message(method, params);
        let headers: Vec<_> = self.headers().into_iter().chain(named).collect();
        self.send("POST", "/mcp", &headers, message.to_string()).await
    }

    /// A request, and the headers that say once more what it is.
    pub fn message(&self, method: &str, mut params: Value) -> (Value, Vec<(&'static str, String)>) {
        let mut headers = Vec::new();
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": self.agent, "version": "1" },
            });
            headers.push(("mcp-method", method.to_owned()));
            if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
                headers.push(("mcp-name", name.to_owned()));
            }
        }
        (json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }), headers)
    }

    pub async fn post(&self, message: &Value) -> Answer {
        self.send("POST", "/mcp", &self.headers(), message.to_string()).await
    }

    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("host", self.address.to_string()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        headers.extend(self.version.map(|version| ("mcp-protocol-version", version.to_owned())));
        headers.extend(self.token.iter().map(|token| ("authorization", format!("Bearer {token}"))));
        headers.extend(self.session.iter().map(|session| ("mcp-session-id", session.clone())));
        headers
    }

    /// Sends a request on a connection of its own and reads the answer to its end.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&'static str, String)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let (parts, body) = self.exchange(method, path, headers, body.into()).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(body.into()).unwrap(),
        }
    }
    /// Opens the stream of its session's notices.
    pub async fn notices(&self) -> Notices {
        self.stream("GET", &self.headers(), String::new()).await
    }

    /// Opens a stream that goes on behind an event.
    pub async fn notices_after(&self, event: &str) -> Notices {
        let mut headers = self.headers();
        headers.push(("last-event-id", event.to_owned()));
        self.stream("GET", &headers, String::new()).await
    }

    /// Calls a tool; its answer comes over the stream.
    pub async fn begin(&self, tool: &str, arguments: Value) -> Notices {
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.stream("POST", &self.headers(), message.to_string()).await
    }

    async fn stream(&self, method: &str, headers: &[(&'static str, String)], body: String) -> Notices {
        let response = self.exchange(method, "/mcp", headers, body.into()).await;
        assert_eq!(response.status(), 200);
        Notices { body: response.into_body(), text: String::new() }
    }

    async fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> hyper::Response<Incoming> {
        let mut request = hyper::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let stream = TokioIo::new(TcpStream::connect(self.address).await.unwrap());
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap()
    }
}

/// An open stream of events.
pub struct Notices {
    body: Incoming,
    /// What has come and was not read.
    text: String,
}

impl Notices {
    /// What is told next.
    pub async fn next(&mut self) -> Value {
        self.find(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).await
    }

    /// The data of the next event, whatever it is.
    pub async fn data(&mut self) -> String {
        self.find(|line| Some(line.strip_prefix("data:")?.trim().to_owned())).await
    }

    /// The id of the next event.
    pub async fn id(&mut self) -> String {
        self.find(|line| Some(line.strip_prefix("id:")?.trim().to_owned())).await
    }

    /// The first that is found in a line.
    async fn find<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        let found = async {
            loop {
                while let Some((line, rest)) = self.text.split_once('\n') {
                    let found = find(line);
                    self.text = rest.to_owned();
                    if let Some(found) = found {
                        return found;
                    }
                }
                let frame = self.body.frame().await.expect("the stream goes on").unwrap();
                self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
            }
        };
        tokio::time::timeout(Duration::from_secs(30), found).await.expect("something is told")
    }
}
