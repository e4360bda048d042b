//! Which tools there are, by what names, and which of them are listed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::tools;

/// A group of tools that is listed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Toolset {
    /// Reading and editing text by anchors.
    Hashline,
    /// Whole files.
    Files,
    /// What became of edits.
    Review,
    /// Finding documents, and text in them.
    Search,
}

impl Toolset {
    /// All of them, which is what is listed unless something is chosen.
    pub const ALL: [Toolset; 4] = [Toolset::Hashline, Toolset::Files, Toolset::Review, Toolset::Search];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Toolset::Hashline => "hashline",
            Toolset::Files => "files",
            Toolset::Review => "review",
            Toolset::Search => "search",
        }
    }
}

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// There is no toolset of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolset {0:?}; there are hashline, files, review and search")]
pub struct UnknownToolset(String);

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(text: &str) -> Result<Self, UnknownToolset> {
        let known = Toolset::ALL.into_iter().find(|set| set.as_str() == text.trim());
        known.ok_or_else(|| UnknownToolset(text.to_owned()))
    }
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolName {
    /// read_text_file
    ReadTextFile,
    /// edit_text_file
    EditTextFile,
    /// write_file
    WriteFile,
    /// edit_file_diff
    EditFileDiff,
    /// move_file
    MoveFile,
    /// delete_file
    DeleteFile,
    /// list_edits
    ListEdits,
    /// await_review
    AwaitReview,
    /// withdraw_edit
    WithdrawEdit,
    /// search_text
    SearchText,
    /// list_documents
    ListDocuments,
}

impl ToolName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [ToolName; 11] = [
        ToolName::ReadTextFile,
        ToolName::EditTextFile,
        ToolName::WriteFile,
        ToolName::EditFileDiff,
        ToolName::MoveFile,
        ToolName::DeleteFile,
        ToolName::ListEdits,
        ToolName::AwaitReview,
        ToolName::WithdrawEdit,
        ToolName::SearchText,
        ToolName::ListDocuments,
    ];

    /// The tool of this name, also where its parts are joined by dots (`read.text.file`, `read_text.file`).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let same = |tool: &ToolName| {
            let canonical = name.bytes().map(|byte| if byte == b'.' { b'_' } else { byte });
            canonical.eq(tool.as_str().bytes())
        };
        ToolName::ALL.into_iter().find(same)
    }

    /// The name that is listed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ToolName::ReadTextFile => "read_text_file",
            ToolName::EditTextFile => "edit_text_file",
            ToolName::WriteFile => "write_file",
            ToolName::EditFileDiff => "edit_file_diff",
            ToolName::MoveFile => "move_file",
            ToolName::DeleteFile => "delete_file",
            ToolName::ListEdits => "list_edits",
            ToolName::AwaitReview => "await_review",
            ToolName::WithdrawEdit => "withdraw_edit",
            ToolName::SearchText => "search_text",
            ToolName::ListDocuments => "list_documents",
        }
    }

    /// The group that it is listed with.
    #[must_use]
    pub fn toolset(self) -> Toolset {
        match self {
            ToolName::ReadTextFile | ToolName::EditTextFile => Toolset::Hashline,
            ToolName::WriteFile | ToolName::EditFileDiff | ToolName::MoveFile | ToolName::DeleteFile => {
                Toolset::Files
            }
            ToolName::ListEdits | ToolName::AwaitReview | ToolName::WithdrawEdit => Toolset::Review,
            ToolName::SearchText | ToolName::ListDocuments => Toolset::Search,
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        match self {
            ToolName::ReadTextFile
            | ToolName::ListEdits
            | ToolName::AwaitReview
            | ToolName::SearchText
            | ToolName::ListDocuments => true,
            ToolName::EditTextFile
            | ToolName::WriteFile
            | ToolName::EditFileDiff
            | ToolName::MoveFile
            | ToolName::DeleteFile
            | ToolName::WithdrawEdit => false,
        }
    }

    /// The argument that names the document, where the tool is about one. A search may be about a folder, which may be several editors'.
    pub(crate) fn path_argument(self) -> Option<&'static str> {
        match self {
            ToolName::ReadTextFile
            | ToolName::EditTextFile
            | ToolName::WriteFile
            | ToolName::EditFileDiff
            | ToolName::DeleteFile
            | ToolName::ListEdits => Some("path"),
            ToolName::MoveFile => Some("source"),
            ToolName::AwaitReview
            | ToolName::WithdrawEdit
            | ToolName::SearchText
            | ToolName::ListDocuments => None,
        }
    }

    fn definition(self) -> Definition {
        match self {
            ToolName::ReadTextFile => tools::read_text_file::definition(),
            ToolName::EditTextFile => tools::edit_text_file::definition(),
            ToolName::WriteFile => tools::write_file::definition(),
            ToolName::EditFileDiff => tools::edit_file_diff::definition(),
            ToolName::MoveFile => tools::move_file::definition(),
            ToolName::DeleteFile => tools::delete_file::definition(),
            ToolName::ListEdits => tools::list_edits::definition(),
            ToolName::AwaitReview => tools::await_review::definition(),
            ToolName::WithdrawEdit => tools::withdraw_edit::definition(),
            ToolName::SearchText => tools::search_text::definition(),
            ToolName::ListDocuments => tools::list_documents::definition(),
        }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How names of tools are spelt in the list. In calls every spelling is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// With `_` alone, which every client takes.
    #[default]
    Plain,
    /// With a dot behind the first word, where the interface documents have one. None of the tools here has.
    Dotted,
}

/// What a tool says of itself.
pub(crate) struct Definition {
    pub description: &'static str,
    /// The fields of its arguments, in order.
    pub properties: Value,
    pub required: &'static [&'static str],
}

/// The list of tools, the same for every connection.
#[must_use]
pub fn list(sets: &BTreeSet<Toolset>, _style: NameStyle) -> Vec<Tool> {
    let listed = ToolName::ALL.into_iter().filter(|tool| sets.contains(&tool.toolset()));
    listed.map(describe).collect()
}

fn describe(name: ToolName) -> Tool {
    let Definition { description, properties, required } = name.definition();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    // No additionalProperties: false. Gemini adds a field of its own to every call and some clients check against
    // the schema; unknown fields are refused by name when they come.
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => rmcp::model::JsonObject::default(),
    };
    let annotations = ToolAnnotations::new()
        .read_only(name.is_read_only())
        .destructive(name == ToolName::DeleteFile)
        .idempotent(false)
        .open_world(false);
    let mut tool = Tool::new(name.as_str(), description, schema).annotate(annotations);
    if name == ToolName::ReadTextFile {
        let mut meta = rmcp::model::MetaObject::new();
        meta.0.insert(crate::reply::MAX_SIZE.to_owned(), json!(crate::limits::CLAUDE_CODE_MAX));
        tool.meta = Some(meta);
    }
    tool
}
