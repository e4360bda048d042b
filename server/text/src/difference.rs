//! One text by what it differs in from another.

use std::ops::Range;

use crate::{ByteOffset, Text};

/// What makes one text of another: one run of its bytes, and what stands there instead.
///
/// ```
/// use hashline_text::Text;
/// let (one, other) = (Text::from("a\nb\nc\n"), Text::from("a\nx\ny\nc\n"));
/// let difference = one.difference_from(&other, 1_000).unwrap();
/// assert_eq!(difference.applied_to(&other), one);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    bytes: Range<usize>,
    new: Box<str>,
}

impl Text {
    /// What makes this text of another; none where it would take more than so many bytes. Pieces that two clones still share are not
    /// looked at: this costs little where little has changed.
    #[must_use]
    pub fn difference_from(&self, other: &Text, most: usize) -> Option<Difference> {
        let (own, theirs) = (self.len_bytes(), other.len_bytes());
        let ahead = self.common_start(other);
        let behind = self.common_end(other).min(own.min(theirs) - ahead);
        // What both have at an end of the run may be the half of a character.
        let start = self.rope.char_to_byte(self.rope.byte_to_char(ahead));
        let mut end = own - behind;
        if end < own && self.rope.char_to_byte(self.rope.byte_to_char(end)) < end {
            end = self.rope.char_to_byte(self.rope.byte_to_char(end) + 1);
        }
        if size_of::<Difference>() + (end - start) > most {
            return None;
        }
        let new = self.rope.byte_slice(start..end).to_string().into_boxed_str();
        Some(Difference { bytes: start..theirs - (own - end), new })
    }
}

impl Difference {
    /// The text that differs in this from the one that it was found with; of a third text nothing sensible.
    #[must_use]
    pub fn applied_to(&self, other: &Text) -> Text {
        let mut text = other.clone();
        // Refused of a third text only.
        let _ = text.replace_bytes(ByteOffset(self.bytes.start)..ByteOffset(self.bytes.end), &self.new);
        text
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.new.len()
    }
}
