//! A line of `logs/{conversation}.log`: exactly the 13 fields of the specification, in its order.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use crate::error::StoreError;
use crate::json_format::to_line;
use crate::record::Status;
use crate::transaction::Operation;

/// What a conversation's log says of one edit. Derived from `decisions.log`, and never trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry<'a> {
    /// The edit.
    #[serde(borrow)]
    pub edit_id: Cow<'a, str>,
    /// The conversation that it belongs to.
    #[serde(borrow)]
    pub conversation_id: Cow<'a, str>,
    /// Its place in the conversation, from 0.
    pub tool_call_index: u64,
    /// When it was recorded, in RFC 3339, UTC.
    #[serde(borrow)]
    pub timestamp: Cow<'a, str>,
    /// What it does to the file.
    pub operation: Operation,
    /// The file; for a move, what it is called afterwards.
    #[serde(borrow)]
    pub file_path: Cow<'a, str>,
    /// For a move, what the file was called before.
    #[serde(borrow, default, deserialize_with = "borrowed")]
    pub source_path: Option<Cow<'a, str>>,
    /// The tool.
    #[serde(borrow)]
    pub tool_name: Cow<'a, str>,
    /// The person's decision.
    pub status: Status,
    /// The diff, relative to the history; none for edits that change no lines.
    #[serde(borrow, default, deserialize_with = "borrowed")]
    pub diff_file: Option<Cow<'a, str>>,
    /// The nearest checkpoint, for the first edit of a file in a conversation.
    #[serde(borrow, default, deserialize_with = "borrowed")]
    pub checkpoint_file: Option<Cow<'a, str>>,
    /// SHA-256 before; none if there was no file.
    #[serde(borrow, default, deserialize_with = "borrowed")]
    pub hash_before: Option<Cow<'a, str>>,
    /// SHA-256 after; none if there is no file then.
    #[serde(borrow, default, deserialize_with = "borrowed")]
    pub hash_after: Option<Cow<'a, str>>,
}

/// A text that may be missing, borrowed where it can be: what serde does by itself copies it.
fn borrowed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Borrowed<'_>>::deserialize(from)?.map(|text| text.0))
}

impl LogEntry<'_> {
    /// The entry as a log has it. Every status takes as much room, so that it can be changed where it stands.
    pub(crate) fn to_line(&self) -> Result<Vec<u8>, StoreError> {
        let mut line = to_line(self)?;
        let room = Status::ALL.map(|status| status.as_str().len()).into_iter().max().unwrap_or(0);
        // Within a text the quotes would be escaped.
        let status = format!("\"status\":\"{}\"", self.status.as_str());
        if let Some(at) = memchr::memmem::find(&line, status.as_bytes()) {
            let end = at + status.len();
            line.splice(end..end, std::iter::repeat_n(b' ', room - self.status.as_str().len()));
        }
        Ok(line)
    }

    /// The same, owning its texts.
    #[must_use]
    pub fn into_owned(self) -> LogEntry<'static> {
        let own = |text: Cow<'_, str>| -> Cow<'static, str> { Cow::Owned(text.into_owned()) };
        LogEntry {
            edit_id: own(self.edit_id),
            conversation_id: own(self.conversation_id),
            tool_call_index: self.tool_call_index,
            timestamp: own(self.timestamp),
            operation: self.operation,
            file_path: own(self.file_path),
            source_path: self.source_path.map(own),
            tool_name: own(self.tool_name),
            status: self.status,
            diff_file: self.diff_file.map(own),
            checkpoint_file: self.checkpoint_file.map(own),
            hash_before: self.hash_before.map(own),
            hash_after: self.hash_after.map(own),
        }
    }
}
