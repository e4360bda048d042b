//! How a line ends.

use std::fmt;

use memchr::memchr2;

/// How a line ends: `\n`, `\r\n` or `\r`. Nothing else ends a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

impl Ending {
    /// The characters themselves.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Ending::Lf => "\n",
            Ending::CrLf => "\r\n",
            Ending::Cr => "\r",
        }
    }

    /// The length in bytes, which is that in characters too.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an ending is never empty")]
    pub const fn len(self) -> usize {
        self.as_str().len()
    }

    /// Where the first ending in `bytes` starts, and which one it is. A `\r` at the very end is taken as alone.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<(usize, Ending)> {
        let at = memchr2(b'\n', b'\r', bytes)?;
        let ending = match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) => Ending::Lf,
            (_, Some(b'\n')) => Ending::CrLf,
            _ => Ending::Cr,
        };
        Some((at, ending))
    }

    /// Splits `line` into its content and the ending it has, if any.
    #[must_use]
    pub fn split(line: &str) -> (&str, Option<Ending>) {
        for ending in [Ending::CrLf, Ending::Lf, Ending::Cr] {
            if let Some(content) = line.strip_suffix(ending.as_str()) {
                return (content, Some(ending));
            }
        }
        (line, None)
    }
}

/// Names the ending as editors do: `LF`, `CRLF`, `CR`.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Lf => "LF",
            Ending::CrLf => "CRLF",
            Ending::Cr => "CR",
        })
    }
}
