//! The hash of a file, and the prefix of it that agents copy.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

/// SHA-256 of a file's text.
///
/// ```
/// use hashline_text::{FileHash, HashPrefix};
/// let hash = FileHash::of(b"");
/// assert_eq!(hash.short(), "e3b0c44298fc");
/// let copied: HashPrefix = " E3B0C44298FC ".parse().unwrap();
/// assert!(copied.matches(&hash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileHash(pub [u8; 32]);

impl FileHash {
    /// How many digits [`short`](Self::short) shows.
    pub const SHORT: usize = 12;

    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// All 64 digits, lower case.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.digits(64)
    }

    /// The first 12 digits: what agents are shown.
    #[must_use]
    pub fn short(&self) -> String {
        self.digits(Self::SHORT)
    }

    fn digits(&self, count: usize) -> String {
        (0..count).map(|at| char::from(DIGITS[usize::from(self.nibble(at))])).collect()
    }

    fn nibble(&self, at: usize) -> u8 {
        let byte = self.0[at / 2];
        if at.is_multiple_of(2) { byte >> 4 } else { byte & 0xf }
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_hex())
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileHash({self})")
    }
}

/// Takes all 64 digits, upper or lower case, spaces around them tolerated.
impl FromStr for FileHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let prefix: HashPrefix = text.parse()?;
        if prefix.len() < 64 {
            return Err(HashError::Incomplete { len: prefix.len() });
        }
        Ok(Self(prefix.bytes))
    }
}

/// A hash that is fed piece by piece.
#[derive(Clone, Default)]
pub(crate) struct FileHasher(Sha256);

impl FileHasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> FileHash {
        FileHash(self.0.finalize().into())
    }
}

/// The first 8 to 64 digits of a file hash, as agents copy them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HashPrefix {
    bytes: [u8; 32],
    len: u8,
}

impl HashPrefix {
    /// The fewest digits that are accepted.
    pub const MIN: usize = 8;

    /// How many digits there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there are always 8 digits or more")]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether the hash begins with these digits.
    #[must_use]
    pub fn matches(&self, hash: &FileHash) -> bool {
        let own = FileHash(self.bytes);
        (0..self.len()).all(|at| own.nibble(at) == hash.nibble(at))
    }
}

impl From<FileHash> for HashPrefix {
    fn from(hash: FileHash) -> Self {
        Self { bytes: hash.0, len: 64 }
    }
}

impl fmt::Display for HashPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&FileHash(self.bytes).digits(self.len()))
    }
}

impl fmt::Debug for HashPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HashPrefix({self})")
    }
}

impl FromStr for HashPrefix {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let digits = text.trim();
        let mut bytes = [0; 32];
        let mut len = 0;
        for found in digits.chars() {
            let value = found.to_digit(16).and_then(|value| u8::try_from(value).ok());
            let value = value.ok_or(HashError::NotHex { found })?;
            if let Some(byte) = bytes.get_mut(len / 2) {
                *byte |= if len % 2 == 0 { value << 4 } else { value };
            }
            len += 1;
        }
        match u8::try_from(len) {
            Ok(0) => Err(HashError::Empty),
            Ok(short @ 1..8) => Err(HashError::TooShort { len: short.into() }),
            Ok(len @ 8..=64) => Ok(Self { bytes, len }),
            _ => Err(HashError::TooLong { len }),
        }
    }
}

/// Why a text is no file hash, in words for whoever wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HashError {
    /// There is nothing.
    #[error("the file hash is empty; give at least the first 8 hex digits of the hash that the read showed")]
    Empty,
    /// A character is no hex digit.
    #[error("the file hash holds {found:?}, which is no hex digit; copy the hash as the read showed it")]
    NotHex {
        /// The first such character.
        found: char,
    },
    /// There are fewer than 8 digits.
    #[error("the file hash has {len} digits, and at least 8 are needed")]
    TooShort {
        /// How many there are.
        len: usize,
    },
    /// There are more than 64 digits.
    #[error("the file hash has {len} digits, and a SHA-256 has 64")]
    TooLong {
        /// How many there are.
        len: usize,
    },
    /// All 64 digits were needed.
    #[error("the file hash has {len} digits, and all 64 are needed here")]
    Incomplete {
        /// How many there are.
        len: usize,
    },
}
