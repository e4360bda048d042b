//! What a tool answers: one text, and beside it what programs need.

use hashline_workspace::Refusal;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde::Deserialize;
use serde_json::Value;

/// In `_meta`: all digits of a file hash, of which the text shows the first.
pub(crate) const FILE_HASH: &str = "file_hash";
/// In `_meta`: the ids of the edits that the text tells of.
pub(crate) const EDITS: &str = "edits";
/// In `_meta`: how many things the text lists.
pub(crate) const COUNT: &str = "count";
/// In `_meta`: whether a wait ended without news.
pub(crate) const TIMED_OUT: &str = "timed_out";
/// In `_meta`: whether the text tells of a decision that its agent had not heard of.
pub(crate) const NEWS: &str = "news";
/// In `_meta`: that a wait ended because its editor does.
pub(crate) const GIVEN_UP: &str = "given_up";
/// In `_meta`: how many hunks of the edits are left to decide.
pub(crate) const UNDECIDED: &str = "undecided";
/// In `_meta`: that what was asked for is not known here and may be known elsewhere.
pub(crate) const NOT_HERE: &str = "not_here";
/// In `_meta`: that an editor could not be asked.
pub(crate) const UNREACHED: &str = "unreached";
/// In `_meta`: that an editor has opened the file since the call was begun here, or may have it and does not answer.
pub(crate) const TAKEN_OVER: &str = "taken_over";
/// In `_meta`: the conversation that an edit belongs to, where the text has no room for it.
pub(crate) const CONVERSATION: &str = "mcp_conversation_id";
/// In `_meta`: how long a result Claude Code shall show whole.
pub(crate) const MAX_SIZE: &str = "anthropic/maxResultSizeChars";

/// The texts that a list in `_meta` holds.
pub(crate) fn texts_of(meta: &JsonObject, key: &str) -> Vec<String> {
    let listed = meta.get(key).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// An answer in the making, or one that another process has made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Written")]
pub(crate) struct Reply {
    pub text: String,
    /// The same as JSON, where the text is that.
    pub structured: Option<Value>,
    pub meta: JsonObject,
    pub failed: bool,
}

impl Reply {
    /// An answer of this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer of this JSON, as text and as structured content: some clients show the one and some the other.
    pub(crate) fn structured(json: Value) -> Self {
        Self { text: json.to_string(), structured: Some(json), ..Self::default() }
    }

    /// A refusal in these words, which are all that some clients show.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::new(text) }
    }

    /// With this in `_meta`.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(key.to_owned(), value.into());
        self
    }

    /// What `_meta` has.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.meta.contains_key(key)
    }

    /// A path in the first line, which is no line of a file, said in another way; of a refusal, which may be about its folder, that too.
    pub(crate) fn renamed(mut self, path: &str, other: &str) -> Self {
        if self.structured.is_none() {
            let first = self.text.find('\n').unwrap_or(self.text.len());
            let mut renamed = self.text[..first].replace(path, other);
            if let Some((folder, _)) =
                path.rsplit_once('/').filter(|(folder, _)| self.failed && !folder.is_empty())
            {
                let other = other.rsplit_once('/').map_or("", |(folder, _)| folder);
                renamed = renamed.replace(folder, if other.is_empty() { "/" } else { other });
            }
            self.text.replace_range(..first, &renamed);
        }
        self
    }

    /// The same as MCP has it.
    pub(crate) fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text)];
        let mut result =
            if self.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = self.structured;
        if !self.meta.is_empty() {
            result.meta = Some(MetaObject(self.meta));
        }
        result
    }
}

/// A result as MCP has it, as far as answers of ours go: read in one pass, where the library's own type takes several.
#[derive(Deserialize)]
struct Written {
    content: Vec<Block>,
    #[serde(rename = "isError", default)]
    failed: Option<bool>,
    #[serde(rename = "structuredContent", default)]
    structured: Option<Value>,
    #[serde(rename = "_meta", default)]
    meta: Option<JsonObject>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    text: String,
}

impl From<Written> for Reply {
    fn from(written: Written) -> Self {
        let mut blocks = written.content.into_iter().map(|block| block.text);
        let mut text = blocks.next().unwrap_or_default();
        text.extend(blocks);
        Self {
            text,
            structured: written.structured,
            meta: written.meta.unwrap_or_default(),
            failed: written.failed.unwrap_or_default(),
        }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let reply = Self::refused(refusal.to_string());
        match refusal {
            Refusal::NoSuchEdit(_) | Refusal::Path(hashline_workspace::disk::PathRefusal::NotAFile(_)) => {
                reply.with(NOT_HERE, true)
            }
            Refusal::TakenOver { .. } | Refusal::NoAnswer { .. } => reply.with(TAKEN_OVER, true),
            _ => reply,
        }
    }
}

#[cfg(test)]
mod tests {
    use hashline_workspace::disk::DiskError;

    use super::*;

    #[test]
    fn a_folder_is_called_as_the_path_in_it_was() {
        let told = |file: &str, given: &str| {
            let (path, folder) = (file.into(), file.rsplit_once('/').unwrap().0.into());
            Reply::from(Refusal::Disk(DiskError::ReadOnlyFolder { path, folder })).renamed(file, given).text
        };
        for (file, given, folder) in [
            ("/home/me/w/src/a.txt", "src/a.txt", "its folder src is"),
            ("/home/me/w/src/a.txt", "/src/a.txt", "its folder /src is"),
            ("/home/me/w/src/a.txt", "w-2/src/a.txt", "its folder w-2/src is"),
            ("/home/me/w/a.txt", "a.txt", "its folder / is"),
            ("/home/me/w/a.txt", "/a.txt", "its folder / is"),
        ] {
            let told = told(file, given);
            assert!(told.starts_with(&format!("{given} cannot")) && told.contains(folder), "{told}");
            assert!(!told.contains("/home/me"), "{told}");
        }
        let read =
            Reply::new("[/w/src/a.txt · lines 1-1 of 1]\n1:00|/w/src/a.txt").renamed("/w/src/a.txt", "a.txt");
        assert_eq!(read.text, "[a.txt · lines 1-1 of 1]\n1:00|/w/src/a.txt");
    }
}
