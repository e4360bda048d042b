//! A client over HTTP in the protocol without sessions, each request on a connection of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// How long an answer is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// One that has a token.
pub struct Client {
    pub address: SocketAddr,
    token: String,
}

/// What came back.
pub struct Answer {
    status: u16,
    pub body: String,
}

impl Answer {
    /// Whether a tool did what it was asked for.
    pub fn is_done(&self) -> bool {
        self.status == 200 && !self.body.contains("\"isError\":true")
    }
}

impl Client {
    pub fn new(address: SocketAddr, token: String) -> Self {
        Self { address, token }
    }

    /// A connection on which nothing is asked yet.
    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        Ok(stream)
    }

    /// The head of a request with a body of this length.
    pub fn head(&self, method: &str, name: Option<&str>, length: usize) -> String {
        let name = name.map_or_else(String::new, |name| format!("mcp-name: {name}\r\n"));
        // A session begins in the protocol that has some.
        let version = match method {
            "initialize" => String::new(),
            _ => format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}"),
        };
        format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{version}connection: close\r\ncontent-length: {length}\r\n\r\n",
            self.token
        )
    }

    /// Sends a body and reads what comes back.
    pub fn send(&self, method: &str, name: Option<&str>, body: &[u8]) -> Result<Answer> {
        let mut stream = self.connect()?;
        stream.write_all(self.head(method, name, body.len()).as_bytes())?;
        stream.write_all(body)?;
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard)?;
        let heard = String::from_utf8_lossy(&heard);
        let (head, body) = heard.split_once("\r\n\r\n").context("no answer")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Answer { status, body: body.to_owned() })
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<Answer> {
        let message = message("tools/call", json!({"name": tool, "arguments": arguments}));
        self.send("tools/call", Some(tool), message.to_string().as_bytes())
    }
}

/// A request.
pub fn message(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
