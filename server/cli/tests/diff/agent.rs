//! An agent at a headless server, as an agent program starts it: `hashline mcp` over pipes, one process a connection.
#![allow(clippy::needless_pass_by_value, reason = "arguments are written where they are given")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::project::Project;

/// The agent and its server, which is killed when this is dropped.
pub struct Agent {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    next: u64,
}

/// What an edit came to.
#[derive(Debug)]
pub struct Edited {
    /// Its id; empty if it was refused.
    pub id: String,
    /// The conversation that it opened, if it did.
    pub conversation: String,
    pub text: String,
    pub refused: bool,
}

/// One operation of an edit: which, at the line that reads so, with this content.
pub type Op<'a> = (&'a str, &'a str, &'a str);

impl Agent {
    pub fn start(project: &Project, more: &[&str]) -> Self {
        Self::named("an-agent", project, more)
    }

    /// One that calls itself so.
    pub fn named(name: &str, project: &Project, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.arg("mcp").arg("--root").arg(&project.folder);
        command.arg("--state-dir").arg(project.temp.path().join("state")).args(more);
        command.env_remove("HASHLINE_LOG").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut agent = Self { child, lines, next: 0 };
        let client = json!({"name": name, "version": "1"});
        agent.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        );
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.next().expect("the server ended").unwrap();
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].take();
            }
        }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        (result["content"][0]["text"].as_str().unwrap_or_default().to_owned(), result)
    }

    pub fn read(&mut self, path: &Path) -> String {
        self.call("read_text_file", json!({"path": to_text(path), "start_line": 1, "end_line": 1_000_000})).0
    }

    /// Reads and edits at once, in a conversation of its own unless one is given.
    pub fn edit_in(&mut self, path: &Path, conversation: Option<&str>, operations: &[Op<'_>]) -> Edited {
        let read = self.read(path);
        let hash: String = read
            .split("file_hash ")
            .nth(1)
            .unwrap_or_else(|| panic!("{read}"))
            .chars()
            .take_while(char::is_ascii_hexdigit)
            .collect();
        let anchor = |line: &str| {
            let tagged =
                read.lines().find(|tagged| tagged.split_once('|').is_some_and(|(_, text)| text == line));
            tagged
                .and_then(|line| Some(line.split_once('|')?.0))
                .unwrap_or_else(|| panic!("{line:?} is not in\n{read}"))
        };
        let operations: Vec<Value> = operations
            .iter()
            .map(|(op, line, content)| match *op {
                "delete" => json!({"op": op, "anchor": anchor(line)}),
                _ => json!({"op": op, "anchor": anchor(line), "content": content}),
            })
            .collect();
        let mut arguments = json!({"path": to_text(path), "file_hash": hash, "operations": operations});
        if let Some(conversation) = conversation {
            arguments["mcp_conversation_id"] = conversation.into();
        }
        let (text, result) = self.call("edit_text_file", arguments);
        let behind = |word: &str| {
            let rest = text.split_once(word).map_or("", |(_, rest)| rest);
            rest.split(|letter: char| letter.is_whitespace())
                .next()
                .unwrap_or_default()
                .trim_matches('.')
                .to_owned()
        };
        Edited {
            id: result["_meta"]["edits"][0].as_str().unwrap_or_default().to_owned(),
            conversation: behind("New mcp_conversation_id: "),
            refused: result["isError"] == true,
            text,
        }
    }

    /// The same, which has to succeed.
    pub fn edit(&mut self, path: &Path, operations: &[Op<'_>]) -> Edited {
        let edited = self.edit_in(path, None, operations);
        assert!(!edited.refused && !edited.id.is_empty(), "{}", edited.text);
        edited
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Project {
    /// Writes a file of the project.
    pub fn write(&self, file: &str, text: &str) -> std::path::PathBuf {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Reads it, byte for byte.
    pub fn text(&self, file: &str) -> String {
        String::from_utf8(std::fs::read(self.folder.join(file)).unwrap()).unwrap()
    }

    /// Runs it; it must end with this code.
    pub fn must(&self, code: i32, arguments: &[&str]) -> crate::project::Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.out, ran.err);
        ran
    }

    /// The status of an edit in its log.
    pub fn status_of(&self, edit: &str) -> String {
        let (_, json) = self.json(&["status", "--json", "-n", "0"]);
        let edits = json["edits"].as_array().unwrap();
        let found = edits.iter().find(|entry| entry["edit_id"] == edit).unwrap_or_else(|| panic!("{json}"));
        found["status"].as_str().unwrap().to_owned()
    }

    /// Every line of every log and of the record is whole.
    pub fn assert_whole(&self) {
        let history = self.folder.join(".mcp/edit_history");
        let mut files = vec![history.join("decisions.log")];
        files.extend(std::fs::read_dir(history.join("logs")).unwrap().map(|entry| entry.unwrap().path()));
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.is_empty() || text.ends_with('\n'), "{} ends in half a line", file.display());
            for line in text.lines() {
                serde_json::from_str::<Value>(line)
                    .unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display()));
            }
        }
    }
}

/// Twenty lines, `line 1` to `line 20`.
pub fn twenty() -> String {
    numbered(20)
}

pub fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line}\n")).collect()
}
