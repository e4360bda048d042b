//! hashline as an agent's program starts it: does it answer, and a hook too?

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Finding;

/// How long it may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// A server that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it in a folder, and calls its hook.
pub fn answers(command: &str, folder: &Path, state: Option<&Path>) -> Finding {
    let began = Instant::now();
    match try_it(command, folder, state) {
        Ok(()) => {
            Finding::well(format!("{command} answers agents and hooks ({} ms)", began.elapsed().as_millis()))
        }
        Err(why) => {
            let mend = format!("Run `{command} mcp` in {} and see what it says.", folder.display());
            Finding::missing(format!("{command} does not answer: {why}"), mend)
        }
    }
}

fn try_it(command: &str, folder: &Path, state: Option<&Path>) -> Result<(), String> {
    let mut start = Command::new(command);
    start.arg("mcp").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(state) = state {
        start.arg("--state-dir").arg(state);
    }
    let mut server = Running(start.spawn().map_err(|error| error.to_string())?);
    let lines = lines_of(&mut server.0).ok_or("it has no output")?;
    let client = json!({ "name": "hashline doctor", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let hook =
        json!({ "agent": "claude-code", "event": "UserPromptSubmit", "session": "doctor", "turn": "1" });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "hook", "arguments": hook } }),
    ] {
        let stdin = server.0.stdin.as_mut().ok_or("it has no input")?;
        writeln!(stdin, "{message}").map_err(|error| error.to_string())?;
        if let Some(id) = message["id"].as_u64() {
            let answer = answer_to(id, &lines)?;
            if answer["result"].is_null() || answer["result"]["isError"] == true {
                return Err(answer.to_string());
            }
        }
    }
    Ok(())
}

/// What it prints, line by line.
fn lines_of(server: &mut Child) -> Option<Receiver<String>> {
    let stdout = server.stdout.take()?;
    let (told, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if told.send(line).is_err() {
                return;
            }
        }
    });
    Some(lines)
}

fn answer_to(id: u64, lines: &Receiver<String>) -> Result<Value, String> {
    let ends = Instant::now() + LIMIT;
    loop {
        let line =
            lines.recv_timeout(ends.saturating_duration_since(Instant::now())).map_err(
                |error| match error {
                    RecvTimeoutError::Timeout => "nothing came in time".to_owned(),
                    RecvTimeoutError::Disconnected => "it ended".to_owned(),
                },
            )?;
        let message: Value = serde_json::from_str(&line).map_err(|_| format!("it said {line:?}"))?;
        if message["id"] == id {
            return Ok(message);
        }
    }
}
