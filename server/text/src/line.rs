//! Lines: one of a text, one on its own, and the walk over many.

use std::borrow::Cow;
use std::iter::FusedIterator;

use ropey::iter::Chunks;
use ropey::{Rope, RopeSlice};

use crate::Ending;

/// A line that belongs to no text: its content and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnedLine {
    /// The characters, without the ending.
    pub content: String,
    /// How it ends. Whether a last line really has its ending is a property of the text.
    pub ending: Ending,
}

impl OwnedLine {
    /// A line of this content and ending.
    pub fn new(content: impl Into<String>, ending: Ending) -> Self {
        Self { content: content.into(), ending }
    }

    /// The length in bytes, ending included.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.content.len() + self.ending.len()
    }
}

/// One line of a text.
#[derive(Clone, Copy, Debug)]
pub struct LineRef<'a> {
    content: Content<'a>,
    ending: Option<Ending>,
}

/// A line lies in one piece of the rope or, now and then, across two; a long one across several. A slice of the rope
/// counts all that is in it when it is made, so it is made for those only.
#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Whole(&'a str),
    Two(&'a str, &'a str),
    Pieces(RopeSlice<'a>),
}

impl<'a> LineRef<'a> {
    /// The characters without the ending; borrowed where the line lies in one piece of the rope.
    #[must_use]
    pub fn content(&self) -> Cow<'a, str> {
        match self.content {
            Content::Whole(content) => Cow::Borrowed(content),
            Content::Two(head, tail) => Cow::Owned([head, tail].concat()),
            Content::Pieces(slice) => Cow::from(slice),
        }
    }

    /// The characters without the ending, where the line lies in one piece of the rope.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        match self.content {
            Content::Whole(content) => Some(content),
            Content::Two(..) => None,
            Content::Pieces(slice) => slice.as_str(),
        }
    }

    /// How the line ends; none only for a last line without a newline.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The length of the content in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self.content {
            Content::Whole(content) => content.len(),
            Content::Two(head, tail) => head.len() + tail.len(),
            Content::Pieces(slice) => slice.len_bytes(),
        }
    }

    /// Whether the line has this content. Allocates nothing.
    #[must_use]
    pub fn content_eq(&self, other: &str) -> bool {
        match self.content {
            Content::Whole(content) => content == other,
            Content::Two(head, tail) => other.strip_prefix(head) == Some(tail),
            Content::Pieces(slice) => slice == other,
        }
    }

    /// Whether both lines have the same content. Allocates nothing but where a line lies in many pieces.
    #[must_use]
    pub fn same_content(&self, other: LineRef<'_>) -> bool {
        match self.as_str() {
            Some(content) => other.content_eq(content),
            None => other.content_eq(&self.content()),
        }
    }

    /// The line on its own; `default` stands in for the ending that a last line may lack.
    #[must_use]
    pub fn to_owned_line(&self, default: Ending) -> OwnedLine {
        OwnedLine { content: self.content().into_owned(), ending: self.ending.unwrap_or(default) }
    }
}

/// A walk over lines in order, from [`Text::lines`](crate::Text::lines). Each step costs the length of the line.
#[derive(Clone)]
pub struct Lines<'a> {
    rope: &'a Rope,
    chunks: Chunks<'a>,
    /// The chunk under the cursor, where it starts in the text, and the cursor within it.
    chunk: &'a str,
    base: usize,
    at: usize,
    left: usize,
}

impl<'a> Lines<'a> {
    /// Walks `count` lines from `start`, which is where a line begins. The caller sees to it that they exist.
    pub(crate) fn new(rope: &'a Rope, start: usize, count: usize) -> Self {
        let (mut chunks, base) = match rope.get_chunks_at_byte(start) {
            Some((chunks, base, _, _)) => (chunks, base),
            None => (rope.chunks(), 0),
        };
        let chunk = chunks.next().unwrap_or_default();
        Self { rope, chunks, chunk, base, at: start - base, left: count }
    }

    /// Goes on to the next chunk; false where there is none.
    fn advance(&mut self) -> bool {
        match self.chunks.next() {
            Some(chunk) => {
                self.base += self.chunk.len();
                self.chunk = chunk;
                self.at = 0;
                true
            }
            None => false,
        }
    }

    /// The ending found at `at` in this chunk, with the cursor put behind it.
    fn take_ending(&mut self, at: usize, ending: Ending) -> Ending {
        self.at = at + ending.len();
        // A rope never parts `\r` from `\n`, so a `\r` that ends a chunk is alone; but that is a promise of its
        // present version, and to look costs nothing.
        if ending == Ending::Cr
            && self.at == self.chunk.len()
            && self.advance()
            && self.chunk.starts_with('\n')
        {
            self.at = 1;
            return Ending::CrLf;
        }
        ending
    }

    /// A line that starts in this chunk and ends in a later one, or at the end of the text.
    fn next_across(&mut self) -> LineRef<'a> {
        let start = self.base + self.at;
        let head = &self.chunk[self.at..];
        let mut chunks = 0;
        let (tail, end, ending) = loop {
            if !self.advance() {
                let tail = if chunks == 0 { "" } else { self.chunk };
                self.at = self.chunk.len();
                break (tail, self.base + self.at, None);
            }
            chunks += 1;
            if let Some((at, ending)) = Ending::find(self.chunk.as_bytes()) {
                let (tail, end) = (&self.chunk[..at], self.base + at);
                break (tail, end, Some(self.take_ending(at, ending)));
            }
        };
        let content = match (chunks, head, tail) {
            (0 | 1, head, "") => Content::Whole(head),
            (0 | 1, "", tail) => Content::Whole(tail),
            (0 | 1, head, tail) => Content::Two(head, tail),
            _ => match self.rope.get_byte_slice(start..end) {
                Some(slice) => slice.as_str().map_or(Content::Pieces(slice), Content::Whole),
                None => Content::Whole(""),
            },
        };
        LineRef { content, ending }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = LineRef<'a>;

    fn next(&mut self) -> Option<LineRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        if self.at == self.chunk.len() {
            self.advance();
        }
        let rest = &self.chunk[self.at..];
        Some(match Ending::find(rest.as_bytes()) {
            Some((len, ending)) => {
                let ending = self.take_ending(self.at + len, ending);
                LineRef { content: Content::Whole(&rest[..len]), ending: Some(ending) }
            }
            None => self.next_across(),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Lines<'_> {}
impl FusedIterator for Lines<'_> {}
