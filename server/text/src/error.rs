//! What can go wrong with a text. An error changes nothing.

use thiserror::Error;

use crate::{ByteOffset, Line, Position};

/// Why a text could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextError {
    /// The bytes are not UTF-8.
    #[error("the bytes are not UTF-8 text: byte {offset} begins no valid character")]
    NotUtf8 {
        /// Where the first invalid byte lies, counted from the start of the file.
        offset: usize,
    },
    /// A byte range does not lie within the text, or ends before it starts.
    #[error("bytes {start}..{end} do not lie within a text of {len} bytes")]
    BytesOutOfText {
        /// Where the range starts.
        start: ByteOffset,
        /// Where it ends.
        end: ByteOffset,
        /// The length of the text in bytes.
        len: usize,
    },
    /// A byte range starts or ends inside a character.
    #[error("byte {at} lies inside a character")]
    InsideCharacter {
        /// The offset in question.
        at: ByteOffset,
    },
    /// A line range does not lie within the text, or ends before it starts.
    #[error("lines {}..{} (counted from 0) do not lie within a text of {count} lines", .start.0, .end.0)]
    LinesOutOfText {
        /// The first line of the range.
        start: Line,
        /// The line behind the last one.
        end: Line,
        /// How many lines the text has.
        count: usize,
    },
    /// The content given for one line holds a line ending.
    #[error("the content given for line {} holds a line ending", .index + 1)]
    ContentHoldsEnding {
        /// Which of the given lines, counted from 0.
        index: usize,
    },
    /// A line that ends in `\r` would come before an empty one that ends in `\n`, and the two would read as one.
    #[error(
        "a line ending in CR would come before an empty line ending in LF, and the two would read as one line"
    )]
    EndingsWouldJoin,
}

/// A position names a line that the text does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("position in line {line} (counted from 0) of a text of {lines} lines")]
pub struct OutOfText {
    /// The line named, counted from 0.
    pub line: u32,
    /// How many lines the text has as LSP counts them.
    pub lines: usize,
}

/// Why a change sent by an editor cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpanError {
    /// The span starts or ends in a line that the text does not have.
    #[error(transparent)]
    OutOfText(#[from] OutOfText),
    /// The span ends before it starts.
    #[error("the span ends at {end}, before it starts at {start}")]
    Reversed {
        /// Where it starts.
        start: Position,
        /// Where it ends.
        end: Position,
    },
}
