//! Agents: they call a server's tools over stdio, or a sidecar's straight over its socket.
//!
//! The clock runs from the request being written until the whole reply is there; making the one and understanding the
//! other is not counted.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hashline_link::{Call, CallerInfo, Client, Sidecar};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::program::Program;

/// What a tool answered.
pub struct Reply {
    /// Its text.
    pub text: String,
    /// Whether it says that it failed.
    pub failed: bool,
    /// How long it took.
    pub took: Duration,
}

impl Reply {
    fn of(result: &Value, took: Duration) -> Result<Self> {
        let parts =
            result["content"].as_array().with_context(|| format!("an answer without content: {result}"))?;
        let text: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        Ok(Self { text: text.join("\n"), failed: result["isError"] == true, took })
    }
}

/// One that calls tools.
pub trait Agent {
    /// Calls a tool, waits for its answer and times it.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Reply>;

    /// The server's process, where it is one that this agent started.
    fn program(&self) -> Option<&Program> {
        None
    }
}

/// A server over stdio: newline-delimited JSON-RPC over pipes.
pub struct Stdio {
    program: Program,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
    next: u64,
    /// From the start of the program to its answer to `initialize`.
    pub start: Duration,
}

impl Stdio {
    /// Starts a server and makes its acquaintance.
    pub fn start(command: &mut Command, folder: &Path, log: &Path) -> Result<Self> {
        let began = Instant::now();
        let (program, to, from) = Program::start(command, folder, log)?;
        let from = BufReader::with_capacity(64 << 10, from);
        let mut agent = Self { program, to, from, line: String::new(), next: 1, start: Duration::ZERO };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": env!("CARGO_PKG_VERSION")},
        });
        let (answer, _) = agent.request("initialize", &hello)?;
        agent.start = began.elapsed();
        anyhow::ensure!(answer["error"].is_null(), "initialize was refused: {answer}");
        agent.to.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(agent)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        let id = self.next;
        self.next += 1;
        let request =
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.program.expect();
        let began = Instant::now();
        let written = self.to.write_all(request.as_bytes());
        loop {
            self.line.clear();
            if written.is_err() || self.from.read_line(&mut self.line)? == 0 {
                bail!("the server ended during {method}: {}", self.program.complaint());
            }
            let took = began.elapsed();
            let message: Value = serde_json::from_str(&self.line).context("the server answered no JSON")?;
            if message["method"].is_null() && message["id"] == id {
                self.program.satisfied();
                return Ok((message, took));
            }
            // Notices, and requests that no capability of ours invites: nothing to do.
        }
    }
}

impl Agent for Stdio {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Reply> {
        let (answer, took) = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        anyhow::ensure!(answer["error"].is_null(), "{tool}: {}", answer["error"]);
        Reply::of(&answer["result"], took)
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }
}

/// A sidecar, straight over its socket: what every other process of hashline does.
pub struct Direct {
    runtime: Arc<Runtime>,
    client: Client,
    caller: CallerInfo,
}

impl Direct {
    /// Connects to a sidecar under a name.
    pub fn connect(sidecar: &Sidecar, name: &str, root: &Path) -> Result<Self> {
        let runtime = Arc::new(Builder::new_current_thread().enable_all().build()?);
        let client = runtime.block_on(Client::connect(sidecar))?;
        Ok(Self { runtime, client, caller: caller(name, root) })
    }
}

/// Who an agent is, to a sidecar.
pub fn caller(name: &str, root: &Path) -> CallerInfo {
    let roots: Vec<PathBuf> = vec![root.to_owned()];
    CallerInfo {
        agent: name.into(),
        connection: format!("bench-{name}").into(),
        roots: Some(roots),
        grants: None,
        reviews: true,
        no_hard_links: false,
    }
}

impl Agent for Direct {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Reply> {
        let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
        let (result, took) = self.runtime.block_on(async {
            let call = Call { caller: self.caller.clone(), tool: tool.to_owned(), arguments };
            let began = Instant::now();
            let answer = tokio::time::timeout(Duration::from_secs(60), self.client.call(&call)).await;
            anyhow::Ok((answer.context("the sidecar did not answer in a minute")??, began.elapsed()))
        })?;
        Reply::of(&result.parse()?, took)
    }
}

/// Calls a tool without blocking a thread, for many agents at once.
pub async fn call_async(
    client: &Client,
    caller: &CallerInfo,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Reply> {
    let call = Call { caller: caller.clone(), tool: tool.to_owned(), arguments };
    let began = Instant::now();
    let answer = client.call(&call).await?;
    let took = began.elapsed();
    Reply::of(&answer.parse()?, took)
}
