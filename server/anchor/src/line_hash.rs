//! The hash of one line.

use std::fmt;
use std::str::FromStr;

/// The hash of one line: a check of what an agent copied, shown as two lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineHash(pub u8);

impl LineHash {
    /// The two digits as ASCII.
    pub(crate) fn digits(self) -> [u8; 2] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        [DIGITS[usize::from(self.0 >> 4)], DIGITS[usize::from(self.0 & 0xf)]]
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}", self.0)
    }
}

/// Takes exactly two hex digits, upper or lower case.
impl FromStr for LineHash {
    type Err = NoLineHash;

    fn from_str(text: &str) -> Result<Self, NoLineHash> {
        let is_hash = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(NoLineHash);
        }
        u8::from_str_radix(text, 16).map(LineHash).map_err(|_| NoLineHash)
    }
}

/// A text is no line hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line hash is two hex digits")]
pub struct NoLineHash;

/// The hash of a line's content: the lowest byte of 64-bit FNV-1a over its UTF-8 without trailing whitespace.
///
/// ```
/// use hashline_anchor::line_hash;
/// assert_eq!(line_hash("function hello() {").to_string(), "d3");
/// assert_eq!(line_hash("function hello() {  \t"), line_hash("function hello() {"));
/// ```
#[must_use]
pub fn line_hash(content: &str) -> LineHash {
    // FNV-1a is "xor the byte, multiply by the prime". The lowest byte of a product depends on the lowest bytes of
    // its factors alone, so the lowest byte of the hash is a recurrence of its own: basis 0x..25, prime 0x..b3. A
    // test ties it to the fnv crate.
    const BASIS: u8 = 0x25;
    const PRIME: u8 = 0xb3;
    let hash =
        trim_end(content).as_bytes().iter().fold(BASIS, |hash, byte| (hash ^ byte).wrapping_mul(PRIME));
    LineHash(hash)
}

/// As `str::trim_end`, with a short cut for the common last character.
fn trim_end(content: &str) -> &str {
    match content.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => content,
        _ => content.trim_end(),
    }
}
