//! Units: a line, a byte offset and a version are not to be mistaken for one another.

use std::fmt;

/// A line, counted from 0.
///
/// ```
/// use hashline_text::Line;
/// assert_eq!(Line(1).number(), 2);
/// assert_eq!(Line::from_number(2), Some(Line(1)));
/// assert_eq!(Line::from_number(0), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(pub usize);

impl Line {
    /// The number people and agents see, counted from 1.
    #[must_use]
    pub fn number(self) -> usize {
        self.0.saturating_add(1)
    }

    /// The line with this number, counted from 1; none for 0.
    #[must_use]
    pub fn from_number(number: usize) -> Option<Self> {
        number.checked_sub(1).map(Line)
    }
}

/// Shows the number counted from 1, as people and agents see it.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number(), f)
    }
}

/// A distance in bytes from the start of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteOffset(pub usize);

impl fmt::Display for ByteOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The version that an editor gives to a document's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocVersion(pub i32);

impl fmt::Display for DocVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
