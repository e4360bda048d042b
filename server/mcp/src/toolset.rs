//! Which tools there are, by what names, and which of them are listed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hashline_workspace::disk::PathStyle;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
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
    /// Files and their lines, each change of them by the hash that the one before returned.
    Text,
}

impl Toolset {
    /// All of them.
    pub const ALL: [Toolset; 5] =
        [Toolset::Hashline, Toolset::Files, Toolset::Review, Toolset::Search, Toolset::Text];

    /// What is listed unless something is chosen: `text` does what others do, in another way.
    pub const DEFAULT: [Toolset; 4] = [Toolset::Hashline, Toolset::Files, Toolset::Review, Toolset::Search];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Toolset::Hashline => "hashline",
            Toolset::Files => "files",
            Toolset::Review => "review",
            Toolset::Search => "search",
            Toolset::Text => "text",
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
#[error("there is no toolset {0:?}; there are hashline, files, review, search and text")]
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
    /// file_create
    FileCreate,
    /// file_remove
    FileRemove,
    /// text_read
    TextRead,
    /// text_replace
    TextReplace,
    /// text_insert
    TextInsert,
    /// text_append
    TextAppend,
}

impl ToolName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [ToolName; 17] = [
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
        ToolName::FileCreate,
        ToolName::FileRemove,
        ToolName::TextRead,
        ToolName::TextReplace,
        ToolName::TextInsert,
        ToolName::TextAppend,
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

    /// The name that is listed in a style.
    #[must_use]
    pub fn spelt(self, style: NameStyle) -> &'static str {
        match (style, self) {
            (NameStyle::Dotted, ToolName::FileCreate) => "file.create",
            (NameStyle::Dotted, ToolName::FileRemove) => "file.remove",
            (NameStyle::Dotted, ToolName::TextRead) => "text.read",
            (NameStyle::Dotted, ToolName::TextReplace) => "text.replace",
            (NameStyle::Dotted, ToolName::TextInsert) => "text.insert",
            (NameStyle::Dotted, ToolName::TextAppend) => "text.append",
            _ => self.as_str(),
        }
    }

    /// Its name: what is listed unless another style is asked for, and what is recorded.
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
            ToolName::FileCreate => "file_create",
            ToolName::FileRemove => "file_remove",
            ToolName::TextRead => "text_read",
            ToolName::TextReplace => "text_replace",
            ToolName::TextInsert => "text_insert",
            ToolName::TextAppend => "text_append",
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
            ToolName::FileCreate
            | ToolName::FileRemove
            | ToolName::TextRead
            | ToolName::TextReplace
            | ToolName::TextInsert
            | ToolName::TextAppend => Toolset::Text,
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
            | ToolName::ListDocuments
            | ToolName::TextRead => true,
            ToolName::EditTextFile
            | ToolName::WriteFile
            | ToolName::EditFileDiff
            | ToolName::MoveFile
            | ToolName::DeleteFile
            | ToolName::WithdrawEdit
            | ToolName::FileCreate
            | ToolName::FileRemove
            | ToolName::TextReplace
            | ToolName::TextInsert
            | ToolName::TextAppend => false,
        }
    }

    /// The argument that names the document, where the tool is about one. A search may be about a folder, which may be several editors'.
    pub(crate) fn path_argument(self) -> Option<&'static str> {
        self.path_arguments().first().copied().filter(|_| self != ToolName::SearchText)
    }

    /// The arguments that name documents, the first of them the one that the tool is about.
    pub(crate) fn path_arguments(self) -> &'static [&'static str] {
        match self {
            ToolName::MoveFile => &["source", "destination"],
            ToolName::ReadTextFile
            | ToolName::EditTextFile
            | ToolName::WriteFile
            | ToolName::EditFileDiff
            | ToolName::DeleteFile
            | ToolName::ListEdits
            | ToolName::SearchText
            | ToolName::FileCreate
            | ToolName::FileRemove
            | ToolName::TextRead
            | ToolName::TextReplace
            | ToolName::TextInsert
            | ToolName::TextAppend => &["path"],
            ToolName::AwaitReview | ToolName::WithdrawEdit | ToolName::ListDocuments => &[],
        }
    }

    /// How it takes paths.
    pub(crate) fn path_style(self) -> PathStyle {
        match self.toolset() {
            Toolset::Text => PathStyle::WithinRoot,
            Toolset::Hashline | Toolset::Files | Toolset::Review | Toolset::Search => PathStyle::Any,
        }
    }

    /// Whether what it does takes something away.
    fn is_destructive(self) -> bool {
        matches!(self, ToolName::DeleteFile | ToolName::FileRemove)
    }

    /// Whether its result may be long, and is whole.
    fn is_long(self) -> bool {
        matches!(self, ToolName::ReadTextFile | ToolName::TextRead)
    }

    /// What its result is, where that is JSON. Clients that know it insist on structured content.
    fn result(self) -> Option<Value> {
        let (fields, optional): (&[&str], &[&str]) = match self {
            ToolName::FileCreate => (&["hash"], &["note"]),
            ToolName::TextRead => (&["content", "hash", "total_lines"], &[]),
            ToolName::TextReplace | ToolName::TextInsert | ToolName::TextAppend => {
                (&["hash", "total_lines"], &["note"])
            }
            _ => return None,
        };
        Some(tools::hash_chain::result_schema(fields, optional))
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
            ToolName::FileCreate => tools::file_create::definition(),
            ToolName::FileRemove => tools::file_remove::definition(),
            ToolName::TextRead => tools::text_read::definition(),
            ToolName::TextReplace => tools::text_replace::definition(),
            ToolName::TextInsert => tools::text_insert::definition(),
            ToolName::TextAppend => tools::text_append::definition(),
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
    /// With a dot behind the first word, as the interface documents have it for the tools of `text`.
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
pub fn list(sets: &BTreeSet<Toolset>, style: NameStyle) -> Vec<Tool> {
    let listed = ToolName::ALL.into_iter().filter(|tool| sets.contains(&tool.toolset()));
    listed.map(|name| describe(name, style)).collect()
}

fn describe(name: ToolName, style: NameStyle) -> Tool {
    let Definition { description, properties, required } = name.definition();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    // No additionalProperties: false. Gemini adds a field of its own to every call and some clients check against
    // the schema; unknown fields are refused by name when they come.
    let schema = object(schema);
    let annotations = ToolAnnotations::new()
        .read_only(name.is_read_only())
        .destructive(name.is_destructive())
        .idempotent(false)
        .open_world(false);
    let mut tool = Tool::new(name.spelt(style), description, schema).annotate(annotations);
    tool.output_schema = name.result().map(|schema| Arc::new(object(schema)));
    if name.is_long() {
        let mut meta = rmcp::model::MetaObject::new();
        meta.0.insert(crate::reply::MAX_SIZE.to_owned(), json!(crate::result_limits::CLAUDE_CODE_MAX));
        tool.meta = Some(meta);
    }
    tool
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::default(),
    }
}
