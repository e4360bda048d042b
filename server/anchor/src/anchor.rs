//! Anchors as agents write them: `2:98`.

use std::fmt;
use std::str::FromStr;

use hashline_text::Line;
use thiserror::Error;

use crate::LineHash;

/// A place named by an agent.
///
/// ```
/// use hashline_anchor::Anchor;
/// let anchor: Anchor = ">>> 2:A5|b".parse().unwrap();
/// assert_eq!(anchor.to_string(), "2:a5");
/// assert_eq!("0:".parse(), Ok(Anchor::Start));
/// assert!("2".parse::<Anchor>().unwrap_err().to_string().contains("2:98"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// `0:`, the place before the first line. Only an insert_after can name it.
    Start,
    /// A line.
    Line(LineAnchor),
}

/// A line named by an agent: its number and its hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineAnchor {
    /// The line as numbered in what the agent read.
    pub line: Line,
    /// The hash that was copied.
    pub hash: LineHash,
    /// The text that was copied along with the tag, `12:ab|text`. It has to agree with the line.
    pub copied: Option<String>,
}

/// One anchor, or two written as a range: `1:d3..3:88`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnchorSpan {
    /// The first, or the only one.
    pub start: Anchor,
    /// The last one of a range.
    pub end: Option<Anchor>,
}

/// Why a text is no anchor. Each message says what an anchor looks like.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnchorError {
    /// There is nothing.
    #[error("the anchor is empty; {SHAPE}")]
    Empty,
    /// It does not start with a line number.
    #[error("the anchor {found:?} does not start with a line number; {SHAPE}")]
    NoNumber {
        /// The anchor as given.
        found: String,
    },
    /// The line number has too many digits.
    #[error("the line number of the anchor {found:?} is too large; {SHAPE}")]
    NumberTooLarge {
        /// The anchor as given.
        found: String,
    },
    /// The hash is missing.
    #[error("the anchor {found:?} lacks the hash of the line; {SHAPE}")]
    NoHash {
        /// The anchor as given.
        found: String,
    },
    /// What should be the hash is not two hex digits.
    #[error("the anchor {found:?} has no two-digit hash behind the colon; {SHAPE}")]
    BadHash {
        /// The anchor as given.
        found: String,
    },
    /// Something stands behind the hash.
    #[error("the anchor {found:?} goes on behind its hash; {SHAPE}")]
    Trailing {
        /// The anchor as given.
        found: String,
    },
    /// Several lines were given.
    #[error(
        "the anchor {found:?} is several lines; name one line, or the first and the last: anchor and end_anchor"
    )]
    SeveralLines {
        /// The anchor as given.
        found: String,
    },
    /// A range was given where one anchor is expected.
    #[error("the anchor {found:?} is a range; one line is expected here, such as 2:98")]
    Range {
        /// The anchor as given.
        found: String,
    },
}

const SHAPE: &str = "an anchor is the line number, a colon and the line's two-digit hash as the read showed them, such as 2:98";

impl LineAnchor {
    /// An anchor without copied text.
    #[must_use]
    pub fn new(line: Line, hash: LineHash) -> Self {
        Self { line, hash, copied: None }
    }
}

impl fmt::Display for LineAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.hash)
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Anchor::Start => f.write_str("0:"),
            Anchor::Line(line) => line.fmt(f),
        }
    }
}

impl fmt::Display for AnchorSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            Some(end) => write!(f, "{}..{end}", self.start),
            None => self.start.fmt(f),
        }
    }
}

impl FromStr for Anchor {
    type Err = AnchorError;

    fn from_str(text: &str) -> Result<Self, AnchorError> {
        let span: AnchorSpan = text.parse()?;
        match span.end {
            None => Ok(span.start),
            Some(_) => Err(AnchorError::Range { found: shown(text) }),
        }
    }
}

impl FromStr for AnchorSpan {
    type Err = AnchorError;

    fn from_str(text: &str) -> Result<Self, AnchorError> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(AnchorError::Empty);
        }
        if rest.contains(['\n', '\r']) {
            return Err(AnchorError::SeveralLines { found: shown(text) });
        }
        let start = take_anchor(text, &mut rest)?;
        let Some(second) = rest.strip_prefix("..") else {
            return match rest {
                "" => Ok(Self { start, end: None }),
                _ => Err(AnchorError::Trailing { found: shown(text) }),
            };
        };
        rest = second;
        let end = take_anchor(text, &mut rest)?;
        if rest.is_empty() {
            Ok(Self { start, end: Some(end) })
        } else {
            Err(AnchorError::Trailing { found: shown(text) })
        }
    }
}

/// Takes one anchor off the front; copied text reaches to the end, as it may hold anything.
fn take_anchor(whole: &str, rest: &mut &str) -> Result<Anchor, AnchorError> {
    let found = || shown(whole);
    let mut text = rest.trim_start();
    text = text.strip_prefix(">>>").unwrap_or(text).trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Err(AnchorError::NoNumber { found: found() });
    }
    let (number, behind) = text.split_at(digits);
    let number: usize = number.parse().map_err(|_| AnchorError::NumberTooLarge { found: found() })?;
    let line = Line::from_number(number);
    let Some(behind) = behind.trim_start().strip_prefix(':') else {
        *rest = behind.trim_start();
        // A lone 0 can mean but one thing.
        let lone = rest.is_empty() || rest.starts_with("..");
        return match line {
            None if lone => Ok(Anchor::Start),
            _ => Err(AnchorError::NoHash { found: found() }),
        };
    };
    let behind = behind.trim_start();
    if behind.is_empty() || behind.starts_with(['|', '.']) {
        let copied = behind.strip_prefix('|');
        *rest = if copied.is_some() { "" } else { behind };
        return match line {
            None => Ok(Anchor::Start),
            Some(_) => Err(AnchorError::NoHash { found: found() }),
        };
    }
    let hex = behind.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (hash, behind) = behind.split_at(hex);
    let hash: LineHash = hash.parse().map_err(|_| AnchorError::BadHash { found: found() })?;
    let copied = behind.strip_prefix('|');
    *rest = if copied.is_some() { "" } else { behind.trim_start() };
    Ok(match line {
        None => Anchor::Start,
        Some(line) => Anchor::Line(LineAnchor { line, hash, copied: copied.map(str::to_owned) }),
    })
}

/// What was given, not longer than a message bears.
fn shown(text: &str) -> String {
    const MAX: usize = 80;
    let text = text.trim();
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
