//! Positions as editors count them.

use std::fmt;

/// In what an editor counts the characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: what every editor understands.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

/// A place in a text as LSP counts: lines and characters from 0. Behind a final line ending is one more, empty line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// The character in the line, from 0, in units of an [`Encoding`].
    pub character: u32,
}

impl Position {
    /// The position of this line and character.
    #[must_use]
    pub fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.character)
    }
}

/// The run between two positions; the end is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

impl Span {
    /// The run from `start` to `end`.
    #[must_use]
    pub fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }
}
