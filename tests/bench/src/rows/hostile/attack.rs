//! What hostile clients do, over and over. Whatever they are answered, they go on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use crate::rows::hostile::wire::{Client, message};

/// As large as a body may be, nearly.
const LARGE: usize = 15 << 20;
/// How many connections one has at a time that has many.
const MANY: usize = 40;

/// A way to keep a server busy.
#[derive(Clone, Copy, Debug)]
pub enum Attack {
    /// Bodies that come a byte a second.
    SlowBodies,
    /// Connections on which half a head comes, or nothing.
    SlowHeads,
    /// Calls as large as they may be.
    Large,
    /// Bodies of many values, and of lists in lists.
    Deep,
    /// Sessions, one after the other.
    Sessions,
    /// Paths of as many names as fit in.
    Paths,
    /// What is no request, or has no good token.
    Wrong,
    /// Searches that find everything, and waits for the person.
    Busy,
}

impl Attack {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "slow-bodies" => Self::SlowBodies,
            "slow-heads" => Self::SlowHeads,
            "large" => Self::Large,
            "deep" => Self::Deep,
            "sessions" => Self::Sessions,
            "paths" => Self::Paths,
            "wrong" => Self::Wrong,
            "busy" => Self::Busy,
            _ => return None,
        })
    }

    /// Attacks until it is over.
    pub fn go_on(self, client: &Client, over: &AtomicBool) {
        let mut turn = 0;
        while !over.load(Ordering::Relaxed) {
            turn += 1;
            // It is refused, or cut: that is what it is for.
            if self.attack(client, turn, over).is_err() {
                sleep(Duration::from_millis(1));
            }
        }
    }

    fn attack(self, client: &Client, turn: usize, over: &AtomicBool) -> Result<()> {
        match self {
            Self::SlowBodies => drip(client, &client.head("tools/call", None, 100), over),
            Self::SlowHeads => drip(client, "POST /mcp HTTP/1.1\r\nhost: local", over),
            Self::Large => {
                let change = json!({"old": "x".repeat(LARGE), "new": ""});
                client.call("edit_file_diff", &json!({"path": "agent.txt", "edits": [change]})).map(drop)
            }
            Self::Deep => {
                let many = match turn % 3 {
                    0 => "[".repeat(LARGE),
                    1 => format!("[{}[]]", "[],".repeat(LARGE / 3)),
                    _ => format!("[{}0]", r#"{"a":1},"#.repeat(LARGE / 8)),
                };
                client.send("tools/call", None, many.as_bytes()).map(drop)
            }
            Self::Sessions => {
                let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": {"name": "bench", "version": "1"}});
                let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
                client.send("initialize", None, hello.to_string().as_bytes()).map(drop)
            }
            Self::Paths => {
                let path = "d/".repeat(LARGE / 2);
                client.call("read_text_file", &json!({ "path": path })).map(drop)
            }
            Self::Wrong => {
                let rubbish: &[u8] = match turn % 4 {
                    0 => b"\x16\x03\x01\x00",
                    1 => b"GET\r\n\r\n",
                    2 => b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a.b.c\r\n\r\n",
                    _ => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                };
                let mut stream = client.connect()?;
                stream.write_all(rubbish)?;
                stream.shutdown(std::net::Shutdown::Write)?;
                stream.read_to_end(&mut Vec::new())?;
                Ok(())
            }
            Self::Busy => {
                let waits =
                    message("tools/call", json!({"name": "await_review", "arguments": {}})).to_string();
                let mut waiting = Vec::new();
                for _ in 0..MANY {
                    let mut stream = client.connect()?;
                    let head = client.head("tools/call", Some("await_review"), waits.len());
                    stream.write_all((head + &waits).as_bytes())?;
                    waiting.push(stream);
                }
                let began = Instant::now();
                while began.elapsed() < Duration::from_secs(5) && !over.load(Ordering::Relaxed) {
                    client.call("search_text", &json!({"pattern": "(a|b|.)*x?.*", "context": 20}))?;
                }
                Ok(())
            }
        }
    }
}

/// Opens many connections and sends a byte on each of them every second.
fn drip(client: &Client, begin: &str, over: &AtomicBool) -> Result<()> {
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..MANY {
        let mut stream = client.connect()?;
        stream.write_all(begin.as_bytes())?;
        open.push(stream);
    }
    for _ in 0..20 {
        sleep(Duration::from_secs(1));
        if over.load(Ordering::Relaxed) {
            break;
        }
        open.retain_mut(|stream| stream.write_all(b" ").is_ok());
    }
    Ok(())
}
