//! JSON-RPC over the pipes of a child process, for both parts that the demo plays: with `Content-Length` headers for LSP, a line a
//! message for MCP.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, mpsc, oneshot};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// LSP: a header with the length, an empty line, the message.
    Headers,
    /// MCP: a message a line.
    Lines,
}

/// A process that speaks JSON-RPC.
#[derive(Clone)]
pub struct Wire {
    framing: Framing,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    waiting: Arc<Mutex<HashMap<i64, oneshot::Sender<Value>>>>,
    next: Arc<AtomicI64>,
    child: Arc<Mutex<Child>>,
}

impl Wire {
    /// Starts a process. What it asks or tells comes out of the receiver.
    ///
    /// # Errors
    ///
    /// The process does not start.
    pub fn start(
        mut command: Command,
        framing: Framing,
    ) -> std::io::Result<(Self, mpsc::UnboundedReceiver<Value>)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let pipe = || std::io::Error::other("the process has no pipes");
        let stdin = child.stdin.take().ok_or_else(pipe)?;
        let stdout = child.stdout.take().ok_or_else(pipe)?;
        let wire = Self {
            framing,
            stdin: Arc::new(Mutex::new(Some(stdin))),
            waiting: Arc::default(),
            next: Arc::new(AtomicI64::new(1)),
            child: Arc::new(Mutex::new(child)),
        };
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(listen(framing, BufReader::new(stdout), wire.waiting.clone(), sender));
        Ok((wire, receiver))
    }

    /// Sends a message as it is.
    ///
    /// # Errors
    ///
    /// The process no longer reads.
    pub async fn send(&self, message: &Value) -> std::io::Result<()> {
        let body = message.to_string();
        let framed = match self.framing {
            Framing::Headers => format!("Content-Length: {}\r\n\r\n{body}", body.len()),
            Framing::Lines => format!("{body}\n"),
        };
        let mut stdin = self.stdin.lock().await;
        let stdin = stdin.as_mut().ok_or_else(|| std::io::Error::other("the process was told to end"))?;
        stdin.write_all(framed.as_bytes()).await?;
        stdin.flush().await
    }

    /// Tells something.
    ///
    /// # Errors
    ///
    /// The process no longer reads.
    pub async fn notify(&self, method: &str, params: Value) -> std::io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    /// Asks something and waits for the answer.
    ///
    /// # Errors
    ///
    /// The process no longer reads, does not answer in time, or answers with an error.
    pub async fn ask(&self, method: &str, params: Value) -> std::io::Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().await.insert(id, sender);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        let answer = tokio::time::timeout(PATIENCE, receiver).await;
        let mut answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                return Err(std::io::Error::other(format!("the process ended before it answered {method}")));
            }
            Err(_) => return Err(std::io::Error::other(format!("{method} was not answered in time"))),
        };
        match answer.get("error") {
            Some(error) => Err(std::io::Error::other(format!("{method}: {error}"))),
            None => Ok(answer["result"].take()),
        }
    }

    /// Ends the process: closes its input, and waits for it a moment.
    pub async fn end(&self) {
        self.stdin.lock().await.take();
        let mut child = self.child.lock().await;
        if tokio::time::timeout(Duration::from_secs(3), child.wait()).await.is_err() {
            // It did not go by itself; the demo is over all the same.
            let _ = child.kill().await;
        }
    }
}

async fn listen(
    framing: Framing,
    mut stdout: BufReader<ChildStdout>,
    waiting: Arc<Mutex<HashMap<i64, oneshot::Sender<Value>>>>,
    others: mpsc::UnboundedSender<Value>,
) {
    while let Some(message) = receive(framing, &mut stdout).await {
        let answers = message.get("method").is_none();
        let id = message["id"].as_i64().filter(|_| answers);
        let asker = match id {
            Some(id) => waiting.lock().await.remove(&id),
            None => None,
        };
        // Nobody may be waiting any more, or listening: then nobody cares.
        match asker {
            Some(asker) => drop(asker.send(message)),
            None => drop(others.send(message)),
        }
    }
    waiting.lock().await.clear();
}

async fn receive(framing: Framing, stdout: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut line = String::new();
    let body = match framing {
        Framing::Lines => {
            stdout.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
            line.into_bytes()
        }
        Framing::Headers => {
            let mut length = 0;
            loop {
                line.clear();
                stdout.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
                match line.trim_end().split_once(':') {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.trim().parse().ok()?;
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; length];
            stdout.read_exact(&mut body).await.ok()?;
            body
        }
    };
    serde_json::from_slice(&body).ok()
}
