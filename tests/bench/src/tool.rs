//! Reading and editing a file through one tool or another, with the same words.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::agent::{Agent, Stdio};
use crate::document;
use crate::program::Program;

/// How many lines an agent reads at a time, where it reads a whole document by ranges.
pub const RANGE: usize = 2_000;

/// A line as an agent has seen it, with what its tool wants to hear of it again.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Counted from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    file_hash: String,
    range_hash: String,
}

/// What became of an attempt to edit.
pub struct Edited {
    /// Whether the tool says that it is done.
    pub done: bool,
    /// What it says.
    pub said: String,
    /// How long it took.
    pub took: Duration,
}

/// A tool at work on one file.
pub trait Tool {
    /// Reads all lines, in as many calls as the tool wants.
    fn read_all(&mut self, lines: usize) -> Result<Duration>;
    /// Reads some lines, counted from 1, both ends included.
    fn read(&mut self, first: usize, last: usize) -> Result<Duration>;
    /// Looks a line up, in order to change it.
    fn look_up(&mut self, line: usize) -> Result<Seen>;
    /// Replaces a line.
    fn edit(&mut self, seen: &Seen, with: &str) -> Result<Edited>;
    /// The server's process, where there is one.
    fn program(&self) -> Option<&Program>;
}

/// The hash that hashline's replies name: the last one, as an edit's reply may name the old one too.
pub fn file_hash(reply: &str) -> Option<&str> {
    reply
        .match_indices("file_hash")
        .filter_map(|(at, word)| {
            let rest = reply[at + word.len()..].trim_start_matches([' ', ':', '=', '`', '"']);
            let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            (end >= 8).then(|| &rest[..end])
        })
        .last()
}

/// hashline itself, over stdio or straight at a socket.
pub struct Hashline<A> {
    /// Who calls.
    pub agent: A,
    path: PathBuf,
    conversation: Option<String>,
}

impl<A: Agent> Hashline<A> {
    /// At work on this file, all edits in one conversation, which is its own.
    pub fn new(agent: A, path: &Path) -> Self {
        static CONVERSATIONS: AtomicUsize = AtomicUsize::new(0);
        let number = CONVERSATIONS.fetch_add(1, Ordering::Relaxed);
        Self { agent, path: path.to_owned(), conversation: Some(format!("bench_{number}")) }
    }

    fn lines(&mut self, first: usize, last: usize) -> Result<(String, Duration)> {
        let arguments = json!({"path": self.path, "start_line": first, "end_line": last});
        let reply = self.agent.call("read_text_file", arguments)?;
        anyhow::ensure!(!reply.failed, "read_text_file: {}", reply.text);
        Ok((reply.text, reply.took))
    }
}

/// The arguments of an edit of one line.
pub fn edit_arguments(
    path: &Path,
    hash: &str,
    anchor: &str,
    content: &str,
    conversation: Option<&str>,
) -> Value {
    let mut arguments = json!({
        "path": path, "file_hash": hash,
        "operations": [{"op": "replace", "anchor": anchor, "content": content}],
    });
    if let Some(conversation) = conversation {
        arguments["mcp_conversation_id"] = conversation.into();
    }
    arguments
}

impl<A: Agent> Tool for Hashline<A> {
    fn read_all(&mut self, lines: usize) -> Result<Duration> {
        let mut all = Duration::ZERO;
        for first in (1..=lines).step_by(RANGE) {
            all += self.read(first, (first + RANGE - 1).min(lines))?;
        }
        Ok(all)
    }

    fn read(&mut self, first: usize, last: usize) -> Result<Duration> {
        let (text, took) = self.lines(first, last)?;
        let tagged = text.lines().filter(|line| line.contains('|')).count();
        anyhow::ensure!(
            tagged == last - first + 1,
            "lines {first} to {last} were asked for and {tagged} came"
        );
        Ok(took)
    }

    fn look_up(&mut self, line: usize) -> Result<Seen> {
        let (text, _) = self.lines(line, line)?;
        let hash =
            file_hash(&text).with_context(|| format!("a read without a file_hash: {text}"))?.to_owned();
        let tag = format!("{line}:");
        let tagged =
            text.lines().find(|found| found.starts_with(&tag)).context("the line is not in the reply")?;
        let (_, content) = tagged.split_once('|').context("a tagged line without a bar")?;
        Ok(Seen { line, text: content.to_owned(), file_hash: hash, range_hash: String::new() })
    }

    fn edit(&mut self, seen: &Seen, with: &str) -> Result<Edited> {
        let anchor = document::anchor(seen.line, &seen.text);
        let arguments =
            edit_arguments(&self.path, &seen.file_hash, &anchor, with, self.conversation.as_deref());
        let reply = self.agent.call("edit_text_file", arguments)?;
        Ok(Edited { done: !reply.failed, said: reply.text, took: reply.took })
    }

    fn program(&self) -> Option<&Program> {
        self.agent.program()
    }
}

/// `@modelcontextprotocol/server-filesystem`: replaces text that it finds. It reads no ranges but the head of a file.
pub struct Filesystem {
    agent: Stdio,
    path: PathBuf,
}

impl Filesystem {
    fn call(&mut self, arguments: Value) -> Result<(String, Duration)> {
        let reply = self.agent.call("read_text_file", arguments)?;
        anyhow::ensure!(!reply.failed, "read_text_file: {}", reply.text);
        Ok((reply.text, reply.took))
    }
}

impl Tool for Filesystem {
    fn read_all(&mut self, lines: usize) -> Result<Duration> {
        let (text, took) = self.call(json!({"path": self.path}))?;
        anyhow::ensure!(text.lines().count() == lines, "{lines} lines were expected");
        Ok(took)
    }

    fn read(&mut self, first: usize, last: usize) -> Result<Duration> {
        Ok(self.call(json!({"path": self.path, "head": last - first + 1}))?.1)
    }

    fn look_up(&mut self, line: usize) -> Result<Seen> {
        let (text, _) = self.call(json!({"path": self.path}))?;
        let text = text.lines().nth(line - 1).context("the file has no such line")?.to_owned();
        Ok(Seen { line, text, file_hash: String::new(), range_hash: String::new() })
    }

    fn edit(&mut self, seen: &Seen, with: &str) -> Result<Edited> {
        let arguments = json!({"path": self.path, "edits": [{"oldText": seen.text, "newText": with}]});
        let reply = self.agent.call("edit_file", arguments)?;
        Ok(Edited { done: !reply.failed, said: reply.text, took: reply.took })
    }

    fn program(&self) -> Option<&Program> {
        self.agent.program()
    }
}

/// `mcp-text-editor`: replaces ranges of lines, with hashes of the file and of the range.
pub struct TextEditor {
    agent: Stdio,
    path: PathBuf,
}

impl TextEditor {
    fn call(&mut self, range: &Value) -> Result<(Value, Duration)> {
        let arguments = json!({"files": [{"file_path": self.path, "ranges": [range]}]});
        let reply = self.agent.call("get_text_file_contents", arguments)?;
        let files: Value = serde_json::from_str(&reply.text).context(reply.text)?;
        Ok((files[self.path.to_string_lossy().as_ref()].clone(), reply.took))
    }
}

impl Tool for TextEditor {
    fn read_all(&mut self, lines: usize) -> Result<Duration> {
        let (file, took) = self.call(&json!({"start": 1}))?;
        let text = file["ranges"][0]["content"].as_str().context("no content")?;
        anyhow::ensure!(text.lines().count() == lines, "{lines} lines were expected");
        Ok(took)
    }

    fn read(&mut self, first: usize, last: usize) -> Result<Duration> {
        Ok(self.call(&json!({"start": first, "end": last}))?.1)
    }

    fn look_up(&mut self, line: usize) -> Result<Seen> {
        let (file, _) = self.call(&json!({"start": line, "end": line}))?;
        let range = &file["ranges"][0];
        let (Some(text), Some(file_hash), Some(range_hash)) =
            (range["content"].as_str(), file["file_hash"].as_str(), range["range_hash"].as_str())
        else {
            bail!("not the answer that was expected: {file}");
        };
        Ok(Seen {
            line,
            text: text.trim_end_matches('\n').to_owned(),
            file_hash: file_hash.to_owned(),
            range_hash: range_hash.to_owned(),
        })
    }

    fn edit(&mut self, seen: &Seen, with: &str) -> Result<Edited> {
        let patch = json!({
            "line_start": seen.line, "line_end": seen.line, "contents": format!("{with}\n"),
            "range_hash": seen.range_hash,
        });
        let file = json!({"path": self.path, "file_hash": seen.file_hash, "patches": [patch]});
        let reply = self.agent.call("edit_text_file_contents", json!({"files": [file]}))?;
        let files: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        let done = files[self.path.to_string_lossy().as_ref()]["result"] == "ok";
        Ok(Edited { done, said: reply.text, took: reply.took })
    }

    fn program(&self) -> Option<&Program> {
        self.agent.program()
    }
}

/// Another tool that can be measured here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `@modelcontextprotocol/server-filesystem`, from npm.
    Filesystem,
    /// `mcp-text-editor`, from PyPI.
    TextEditor,
}

impl Peer {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Filesystem, Self::TextEditor];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filesystem => "server-filesystem",
            Self::TextEditor => "mcp-text-editor",
        }
    }

    /// Its program, in the folder that the installer filled.
    pub fn program(self, installed: &Path) -> PathBuf {
        installed.join(match self {
            Self::Filesystem => "filesystem/node_modules/.bin/mcp-server-filesystem",
            Self::TextEditor => "text-editor/bin/mcp-text-editor",
        })
    }

    /// Starts it in a folder, at work on a file there; also tells how long it took to start.
    pub fn start(
        self,
        installed: &Path,
        root: &Path,
        path: &Path,
        log: &Path,
    ) -> Result<(Box<dyn Tool>, Duration)> {
        let mut command = Command::new(self.program(installed));
        let path = path.to_owned();
        Ok(match self {
            Self::Filesystem => {
                let agent = Stdio::start(command.arg(root), root, log)?;
                let start = agent.start;
                (Box::new(Filesystem { agent, path }), start)
            }
            Self::TextEditor => {
                let agent = Stdio::start(&mut command, root, log)?;
                let start = agent.start;
                (Box::new(TextEditor { agent, path }), start)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::file_hash;

    #[test]
    fn a_hash_is_found_in_a_reply() {
        let read = "[a.txt · lines 1-1 of 1 · file_hash 0123456789ab]\n1:98|x file_hash of";
        assert_eq!(file_hash(read), Some("0123456789ab"));
        assert_eq!(file_hash("file_hash 01234567 is now file_hash: 89abcdef."), Some("89abcdef"));
        assert_eq!(file_hash("file_hash 0123"), None);
    }
}
