//! What two texts have in common.

use std::ops::Range;

use ropey::iter::Chunks;

use crate::{Line, Text};

impl Text {
    /// Whether two texts are the same, byte for byte, without a look at pieces that two clones still share.
    pub(crate) fn is_same(&self, other: &Text) -> bool {
        let len = self.len_bytes();
        self.is_same_instance(other) || (len == other.len_bytes() && len == self.common_start(other))
    }

    /// Whether two texts differ in nothing but the endings between their lines.
    ///
    /// ```
    /// use hashline_text::Text;
    /// assert!(Text::from("a\nb").same_contents(&Text::from("a\r\nb")));
    /// assert!(!Text::from("a\nb").same_contents(&Text::from("a\nb\n")));
    /// ```
    #[must_use]
    pub fn same_contents(&self, other: &Text) -> bool {
        let sizes = |text: &Text| (text.line_count(), text.ends_with_newline());
        let mut both = self.all_lines().zip(other.all_lines());
        self.is_same(other)
            || (sizes(self) == sizes(other) && both.all(|(left, right)| left.same_content(right)))
    }

    /// How many lines at the beginning and at the end of a range are the same, byte for byte, as those of the range of that length
    /// which begins at the line `from` of another text. A line beside a difference may be left out, and so is one without an
    /// ending.
    ///
    /// Pieces that two clones still share are not looked at: this costs little where little has changed.
    ///
    /// ```
    /// use hashline_text::Text;
    /// let (one, other) = (Text::from("a\nb\nc\nd\n"), Text::from("0\na\nb\nx\nd\n"));
    /// let (ahead, behind) = one.same_lines(0..4, &other, 1);
    /// assert!(ahead <= 2 && behind <= 1);
    /// ```
    #[must_use]
    pub fn same_lines(&self, lines: Range<usize>, other: &Text, from: usize) -> (usize, usize) {
        let own = self.bytes_of(&lines);
        let theirs = other.bytes_of(&(from..from.saturating_add(lines.len())));
        let most = own.len().min(theirs.len());
        let ahead = common(Walk::onwards(self, own.start), Walk::onwards(other, theirs.start), most);
        // What follows a `\r` may belong to it.
        let cut = ahead < theirs.len() && self.byte_before(own.start + ahead) == Some(b'\r');
        let ahead = self.rope.byte_to_line(own.start + ahead).saturating_sub(lines.start + usize::from(cut));
        let left = lines.len().saturating_sub(ahead);
        let unended = lines.end >= self.line_count() && !self.ends_with_newline();
        if left == 0 || unended {
            return (lines.len() - left, 0);
        }
        let behind = common(Walk::back(self, own.end), Walk::back(other, theirs.end), most);
        // In the line where they begin to be the same they may differ before that.
        let first = self.rope.byte_to_line(own.end - behind) + 1;
        (ahead, lines.end.saturating_sub(first).min(left))
    }

    /// How many bytes at the start are those of another text.
    pub(crate) fn common_start(&self, other: &Text) -> usize {
        common(Walk::onwards(self, 0), Walk::onwards(other, 0), self.len_bytes().min(other.len_bytes()))
    }

    /// How many bytes at the end are those of another text.
    pub(crate) fn common_end(&self, other: &Text) -> usize {
        let (own, theirs) = (self.len_bytes(), other.len_bytes());
        common(Walk::back(self, own), Walk::back(other, theirs), own.min(theirs))
    }

    fn bytes_of(&self, lines: &Range<usize>) -> Range<usize> {
        self.byte_of_line(Line(lines.start)).0..self.byte_of_line(Line(lines.end)).0
    }

    fn byte_before(&self, at: usize) -> Option<u8> {
        self.rope.get_byte(at.checked_sub(1)?)
    }
}

/// How many bytes two walks have in common before they differ, `most` at most.
fn common(mut one: Walk<'_>, mut other: Walk<'_>, most: usize) -> usize {
    let mut same = 0;
    while same < most && one.arrive() && other.arrive() {
        let len = one.piece.len().min(other.piece.len()).min(most - same);
        let (left, right) = (one.take(len), other.take(len));
        if !std::ptr::eq(left, right) && left != right {
            return same + one.alike(left, right);
        }
        same += len;
    }
    same
}

/// A walk over the bytes of a text from one place, in one direction.
struct Walk<'a> {
    chunks: Chunks<'a>,
    /// What is left of the chunk.
    piece: &'a [u8],
    back: bool,
}

impl<'a> Walk<'a> {
    fn onwards(text: &'a Text, from: usize) -> Self {
        let (mut chunks, base, ..) = text.rope.chunks_at_byte(from);
        let piece = chunks.next().map_or(&[][..], |chunk| &chunk.as_bytes()[from - base..]);
        Self { chunks, piece, back: false }
    }

    fn back(text: &'a Text, from: usize) -> Self {
        let (chunks, base, ..) = text.rope.chunks_at_byte(from);
        let piece = chunks.clone().next().map_or(&[][..], |chunk| &chunk.as_bytes()[..from - base]);
        Self { chunks, piece, back: true }
    }

    /// Goes on to where there is something; false if there is nothing more.
    fn arrive(&mut self) -> bool {
        while self.piece.is_empty() {
            let next = if self.back { self.chunks.prev() } else { self.chunks.next() };
            let Some(next) = next else { return false };
            self.piece = next.as_bytes();
        }
        true
    }

    /// The next bytes of the piece, in the order of the text.
    fn take(&mut self, len: usize) -> &'a [u8] {
        if self.back {
            let (rest, taken) = self.piece.split_at(self.piece.len() - len);
            self.piece = rest;
            return taken;
        }
        let (taken, rest) = self.piece.split_at(len);
        self.piece = rest;
        taken
    }

    /// How many bytes are the same before two pieces differ.
    fn alike(&self, one: &[u8], other: &[u8]) -> usize {
        let same = |(one, other): &(&u8, &u8)| one == other;
        match self.back {
            true => one.iter().rev().zip(other.iter().rev()).take_while(same).count(),
            false => one.iter().zip(other).take_while(same).count(),
        }
    }
}
