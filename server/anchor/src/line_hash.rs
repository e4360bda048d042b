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
    LineHash(trim_end(content).as_bytes().iter().fold(BASIS, |hash, byte| step(hash, *byte)))
}

// FNV-1a is "xor the byte, multiply by the prime". The lowest byte of a product depends on the lowest bytes of its factors
// alone, so the lowest byte of the hash is a recurrence of its own: basis 0x..25, prime 0x..b3. A test ties it to the
// fnv crate.
const BASIS: u8 = 0x25;
const PRIME: u8 = 0xb3;
/// The byte that leaves the basis as it is, so that a line can have any number of them before it.
const PAD: u8 = 0xe2;
const _: () = assert!(step(BASIS, PAD) == BASIS);

const fn step(hash: u8, byte: u8) -> u8 {
    (hash ^ byte).wrapping_mul(PRIME)
}

/// How many lines are hashed side by side.
pub(crate) const LANES: usize = 32;
/// Lines that are longer are hashed one by one, so that one of them does not make room for all.
const LONG: usize = 256;

/// The hashes of up to [`LANES`] lines. Each step of a hash waits for the one before it; side by side, a step of all of
/// them is a few instructions on vectors of bytes.
pub(crate) fn line_hashes<T: AsRef<str>>(contents: &[T]) -> [LineHash; LANES] {
    let lines = contents.iter().map(|content| trim_end(content.as_ref()).as_bytes());
    let short = || lines.clone().map(|line| if line.len() > LONG { &[] } else { line });
    let longest = short().map(<[u8]>::len).max().unwrap_or_default();
    // All end together; the shorter ones begin later.
    let mut columns = vec![[PAD; LANES]; longest];
    for (lane, line) in short().enumerate().take(LANES) {
        for (column, byte) in columns[longest - line.len()..].iter_mut().zip(line) {
            column[lane] = *byte;
        }
    }
    let mut hashes = [BASIS; LANES];
    for column in &columns {
        for (hash, byte) in hashes.iter_mut().zip(column) {
            *hash = step(*hash, *byte);
        }
    }
    let mut hashes = hashes.map(LineHash);
    for (hash, line) in hashes.iter_mut().zip(contents) {
        if line.as_ref().len() > LONG {
            *hash = line_hash(line.as_ref());
        }
    }
    hashes
}

/// As `str::trim_end`, with a short cut for the common last character.
fn trim_end(content: &str) -> &str {
    match content.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => content,
        _ => content.trim_end(),
    }
}
