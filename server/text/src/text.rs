//! The text itself: what it holds, and how lines and bytes relate.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use ropey::Rope;

use crate::marks::Marks;
use crate::{ByteOffset, Ending, FileHash, Line, LineRef, Lines};

/// The text of one document. A clone costs O(1).
///
/// ```
/// use hashline_text::{Line, Text};
///
/// let text = Text::from("one\ntwo\n");
/// assert_eq!(text.line_count(), 2);
/// assert_eq!(text.line(Line(1)).unwrap().content(), "two");
/// assert!(text.line(Line(2)).is_none());
/// ```
#[derive(Clone, Default)]
pub struct Text {
    pub(crate) rope: Rope,
    pub(crate) marks: Marks,
}

impl Text {
    /// The empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The length in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Whether there is no character at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rope.len_bytes() == 0
    }

    /// The pieces of the text in order, for whoever copies or scans all of it.
    pub fn chunks(&self) -> impl Iterator<Item = &str> {
        self.rope.chunks()
    }

    /// The text between two offsets; none where they are out of bounds, reversed or inside a character.
    #[must_use]
    pub fn slice(&self, range: Range<ByteOffset>) -> Option<Cow<'_, str>> {
        if range.start > range.end {
            return None;
        }
        self.rope.get_byte_slice(range.start.0..range.end.0).map(Cow::from)
    }

    /// Whether both are clones of one another that nothing has changed since. Costs O(1); false proves nothing.
    #[must_use]
    pub fn is_same_instance(&self, other: &Text) -> bool {
        self.rope.is_instance(&other.rope)
    }

    /// How many lines of content there are: a final ending opens no further line, and the empty text has none.
    #[must_use]
    pub fn line_count(&self) -> usize {
        let open_last = !self.is_empty() && !self.ends_with_newline();
        self.rope.len_lines() - usize::from(!open_last)
    }

    /// How many lines there are as LSP counts them: one more than there are endings.
    #[must_use]
    pub fn lsp_line_count(&self) -> usize {
        self.rope.len_lines()
    }

    /// Whether the last line has an ending; false for the empty text.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        let last = self.rope.len_bytes().checked_sub(1).and_then(|at| self.rope.get_byte(at));
        matches!(last, Some(b'\n' | b'\r'))
    }

    /// One line; none where the text has no such line of content.
    #[must_use]
    pub fn line(&self, line: Line) -> Option<LineRef<'_>> {
        self.lines(line.0..line.0.checked_add(1)?).next()
    }

    /// The lines of a range in order; whatever of it lies beyond the text is left out.
    #[must_use]
    pub fn lines(&self, range: Range<usize>) -> Lines<'_> {
        let count = self.line_count();
        let end = range.end.min(count);
        let start = range.start.min(end);
        Lines::new(&self.rope, self.rope.line_to_byte(start), end - start)
    }

    /// All lines in order.
    #[must_use]
    pub fn all_lines(&self) -> Lines<'_> {
        Lines::new(&self.rope, 0, self.line_count())
    }

    /// The ending of the first line that has one.
    #[must_use]
    pub fn first_ending(&self) -> Option<Ending> {
        // The first line lacks an ending only where it is the last one.
        self.line(Line(0)).and_then(|line| line.ending())
    }

    /// The ending that a line inserted before the line `at` takes: that of the line before it, else that of the
    /// line after it, else the first of the text, else `\n`. Where the line before is a last line without an
    /// ending, the line before that one stands in for it.
    #[must_use]
    pub fn ending_for_insert(&self, at: Line) -> Ending {
        let before = at.0.min(self.line_count()).checked_sub(1);
        let found = match before {
            Some(before) => {
                // Two lines, of which only the second can lack its ending.
                let near = self.lines(before.saturating_sub(1)..before + 1);
                near.filter_map(|line| line.ending()).last()
            }
            None => self.first_ending(),
        };
        found.unwrap_or_default()
    }

    /// Where a line begins; the end of the text for a line beyond it.
    #[must_use]
    pub fn byte_of_line(&self, line: Line) -> ByteOffset {
        ByteOffset(self.rope.line_to_byte(line.0.min(self.rope.len_lines())))
    }

    /// SHA-256 over the bytes of the text, without byte-order mark. What agents are told is
    /// [`DiskForm::hash`](crate::DiskForm::hash). What was hashed before, of this text or of one that it was made of, is not hashed again.
    #[must_use]
    pub fn hash(&self) -> FileHash {
        self.marks.hash(&self.rope, None)
    }
}

/// Compares the characters; clones that were not changed compare in O(1).
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.rope == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.rope == **other
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { rope: Rope::from_str(text), marks: Marks::default() }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rope.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

/// Shows the length and the start only: documents do not belong into logs.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 120;
        let start: String = self.rope.chars().take(SHOWN).collect();
        let more = if start.len() < self.len_bytes() { ", .." } else { "" };
        write!(f, "Text({} bytes, {start:?}{more})", self.len_bytes())
    }
}
