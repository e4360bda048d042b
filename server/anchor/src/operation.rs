//! Operations as agents ask for them, checked as far as they can be without the text.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{Anchor, AnchorError, AnchorSpan, LineAnchor, content_lines};

/// An operation as it came in, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RawOperation {
    /// The name: replace, replace_range, insert_after, insert_before, delete or delete_range.
    pub op: String,
    /// The anchor, or a range such as `1:d3..3:88`.
    pub anchor: Option<String>,
    /// The last line of a range.
    pub end_anchor: Option<String>,
    /// The new lines.
    pub content: Option<String>,
}

impl RawOperation {
    /// An operation on one anchor, without content.
    pub fn new(op: impl Into<String>, anchor: impl Into<String>) -> Self {
        Self { op: op.into(), anchor: Some(anchor.into()), ..Self::default() }
    }

    /// With this last line of a range.
    #[must_use]
    pub fn end(self, end_anchor: impl Into<String>) -> Self {
        Self { end_anchor: Some(end_anchor.into()), ..self }
    }

    /// With this content.
    #[must_use]
    pub fn content(self, content: impl Into<String>) -> Self {
        Self { content: Some(content.into()), ..self }
    }
}

/// An operation whose form is right. Where it applies is for [`resolve`](crate::resolve) to find.
///
/// ```
/// use hashline_anchor::{Operation, RawOperation};
/// let raw = RawOperation::new("replace", "1:d3..3:88").content("fn hello() {}\n");
/// let Operation::Replace { start, end, content } = Operation::parse(0, raw).unwrap() else { unreachable!() };
/// assert_eq!((start.to_string(), end.unwrap().to_string()), ("1:d3".into(), "3:88".into()));
/// assert_eq!(content, ["fn hello() {}"]);
///
/// let error = Operation::parse(0, RawOperation::new("replace_range", "1:d3").content("x")).unwrap_err();
/// assert!(error.to_string().starts_with("operation 1 (replace_range): "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Puts lines in place of a line or of a range.
    Replace {
        /// The first line replaced.
        start: LineAnchor,
        /// The last one, of a range.
        end: Option<LineAnchor>,
        /// The new lines; at least one.
        content: Vec<String>,
    },
    /// Puts lines behind a line, or before the first.
    InsertAfter {
        /// The line, or [`Anchor::Start`].
        anchor: Anchor,
        /// The new lines; at least one.
        content: Vec<String>,
    },
    /// Puts lines before a line.
    InsertBefore {
        /// The line.
        anchor: LineAnchor,
        /// The new lines; at least one.
        content: Vec<String>,
    },
    /// Takes out a line or a range.
    Delete {
        /// The first line taken out.
        start: LineAnchor,
        /// The last one, of a range.
        end: Option<LineAnchor>,
    },
}

/// The name of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpName {
    /// replace
    Replace,
    /// replace_range
    ReplaceRange,
    /// insert_after
    InsertAfter,
    /// insert_before
    InsertBefore,
    /// delete
    Delete,
    /// delete_range
    DeleteRange,
}

impl OpName {
    /// All of them, in the order of the documentation.
    pub const ALL: [OpName; 6] = [
        OpName::Replace,
        OpName::ReplaceRange,
        OpName::InsertAfter,
        OpName::InsertBefore,
        OpName::Delete,
        OpName::DeleteRange,
    ];

    /// The name as agents write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OpName::Replace => "replace",
            OpName::ReplaceRange => "replace_range",
            OpName::InsertAfter => "insert_after",
            OpName::InsertBefore => "insert_before",
            OpName::Delete => "delete",
            OpName::DeleteRange => "delete_range",
        }
    }

    fn is_delete(self) -> bool {
        matches!(self, OpName::Delete | OpName::DeleteRange)
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Takes the name in any case, with `-` for `_` and spaces around it.
impl FromStr for OpName {
    type Err = OperationProblem;

    fn from_str(text: &str) -> Result<Self, OperationProblem> {
        let name = text.trim().to_ascii_lowercase().replace('-', "_");
        let known = OpName::ALL.into_iter().find(|op| op.as_str() == name);
        known.ok_or_else(|| OperationProblem::UnknownOp { found: text.chars().take(40).collect() })
    }
}

/// An operation whose form is wrong, in words for the agent that asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("operation {}{}: {problem}", .index + 1, named(*.name))]
pub struct OperationError {
    /// The operation, by its index in the call.
    pub index: usize,
    /// Its name, where that is known.
    pub name: Option<OpName>,
    /// What is wrong.
    pub problem: OperationProblem,
}

fn named(name: Option<OpName>) -> String {
    name.map(|name| format!(" ({name})")).unwrap_or_default()
}

/// What is wrong with the form of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OperationProblem {
    /// There is no such operation.
    #[error(
        "there is no operation {found:?}; op is one of replace, replace_range, insert_after, insert_before, delete, \
         delete_range"
    )]
    UnknownOp {
        /// The name given.
        found: String,
    },
    /// The anchor is missing.
    #[error("anchor is missing; give the line as the read showed it, such as 2:98")]
    NoAnchor,
    /// The anchor is not one.
    #[error("{0}")]
    BadAnchor(AnchorError),
    /// The end anchor is not one.
    #[error("in end_anchor: {0}")]
    BadEnd(AnchorError),
    /// A range operation without an end.
    #[error(
        "end_anchor is missing; give the last line of the range, or use the operation without _range for one line"
    )]
    NoEnd,
    /// An insert with an end.
    #[error(
        "an insert goes beside one line and takes no end_anchor; give the anchor alone, or use replace_range"
    )]
    EndOnInsert,
    /// The end stands in `anchor` and again, otherwise, in `end_anchor`.
    #[error("anchor is a range already and end_anchor names another end; give the end once")]
    TwoEnds,
    /// `0:` where a line is needed.
    #[error(
        "0: is no line but the place before line 1, and only insert_after takes it; name a line of the file, \
         such as 1:d3, or use insert_after with 0:"
    )]
    StartIsNoLine,
    /// The content is missing.
    #[error(
        "content is missing; give the new lines (\"\" is one empty line), or use delete to take lines out"
    )]
    NoContent,
    /// A delete with content.
    #[error("a delete takes no content; leave it out, or use replace to put lines in place of others")]
    ContentOnDelete,
}

impl Operation {
    /// Checks the form of an operation; `index` is its place in the call. An `end_anchor` or, for a delete, a
    /// `content` that is the empty string counts as not given, as some clients fill every field.
    ///
    /// # Errors
    ///
    /// [`OperationError`] with the first thing that is wrong.
    pub fn parse(index: usize, raw: RawOperation) -> Result<Self, OperationError> {
        let name: OpName = raw.op.parse().map_err(|problem| OperationError { index, name: None, problem })?;
        Self::parse_named(name, raw).map_err(|problem| OperationError { index, name: Some(name), problem })
    }

    fn parse_named(name: OpName, raw: RawOperation) -> Result<Self, OperationProblem> {
        let anchor =
            raw.anchor.filter(|anchor| !anchor.trim().is_empty()).ok_or(OperationProblem::NoAnchor)?;
        let span: AnchorSpan = anchor.parse().map_err(OperationProblem::BadAnchor)?;
        let end = raw.end_anchor.filter(|end| !end.trim().is_empty());
        let end: Option<Anchor> = end.map(|end| end.parse()).transpose().map_err(OperationProblem::BadEnd)?;
        let end = match (span.end, end) {
            (Some(one), Some(other)) if !same_place(&one, &other) => return Err(OperationProblem::TwoEnds),
            (one, other) => other.or(one),
        };
        let content = match raw.content {
            Some(content) if name.is_delete() && !content.is_empty() => {
                return Err(OperationProblem::ContentOnDelete);
            }
            Some(content) => content_lines(&content),
            None if name.is_delete() => Vec::new(),
            None => return Err(OperationProblem::NoContent),
        };
        match name {
            OpName::InsertAfter | OpName::InsertBefore if end.is_some() => Err(OperationProblem::EndOnInsert),
            OpName::InsertAfter => Ok(Operation::InsertAfter { anchor: span.start, content }),
            OpName::InsertBefore => Ok(Operation::InsertBefore { anchor: line_of(span.start)?, content }),
            OpName::ReplaceRange | OpName::DeleteRange if end.is_none() => Err(OperationProblem::NoEnd),
            OpName::Replace | OpName::ReplaceRange => {
                let (start, end) = (line_of(span.start)?, end.map(line_of).transpose()?);
                Ok(Operation::Replace { start, end, content })
            }
            OpName::Delete | OpName::DeleteRange => {
                Ok(Operation::Delete { start: line_of(span.start)?, end: end.map(line_of).transpose()? })
            }
        }
    }

    /// The new lines; none for a delete.
    #[must_use]
    pub fn content(&self) -> &[String] {
        match self {
            Operation::Replace { content, .. }
            | Operation::InsertAfter { content, .. }
            | Operation::InsertBefore { content, .. } => content,
            Operation::Delete { .. } => &[],
        }
    }

    /// The name of the operation in its shortest form.
    #[must_use]
    pub fn name(&self) -> OpName {
        match self {
            Operation::Replace { end: None, .. } => OpName::Replace,
            Operation::Replace { .. } => OpName::ReplaceRange,
            Operation::InsertAfter { .. } => OpName::InsertAfter,
            Operation::InsertBefore { .. } => OpName::InsertBefore,
            Operation::Delete { end: None, .. } => OpName::Delete,
            Operation::Delete { .. } => OpName::DeleteRange,
        }
    }
}

fn line_of(anchor: Anchor) -> Result<LineAnchor, OperationProblem> {
    match anchor {
        Anchor::Line(line) => Ok(line),
        Anchor::Start => Err(OperationProblem::StartIsNoLine),
    }
}

/// Whether both name the same line, whatever was copied along.
fn same_place(one: &Anchor, other: &Anchor) -> bool {
    match (one, other) {
        (Anchor::Line(one), Anchor::Line(other)) => one.line == other.line && one.hash == other.hash,
        _ => one == other,
    }
}
