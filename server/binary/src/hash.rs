//! The hashes of files, as `file_hashes` writes them.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use sha2::digest::Output;
use sha2::{Digest, Sha256};

/// The SHA-256 of a file's bytes. It is written with its algorithm, so that others can follow: `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileHash([u8; 32]);

impl FileHash {
    /// The hash of all that a reader gives.
    pub fn of(reader: impl Read) -> io::Result<Self> {
        Ok(Self(digest_of::<Sha256>(reader)?.into()))
    }

    /// From hex digits without the algorithm, as `fileSha256` has them.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// The hex digits without the algorithm.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl From<[u8; 32]> for FileHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// The hash of all that a reader gives, by any algorithm.
pub fn digest_of<D: Digest>(mut reader: impl Read) -> io::Result<Output<D>> {
    let mut hash = D::new();
    io::copy(&mut reader, &mut Writer(&mut hash))?;
    Ok(hash.finalize())
}

/// Only lower-case digits: a hash has one spelling.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no file hash.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no file hash: it is written sha256: and 64 lower-case hex digits")]
pub struct NoFileHash(String);

impl FromStr for FileHash {
    type Err = NoFileHash;

    fn from_str(text: &str) -> Result<Self, NoFileHash> {
        text.strip_prefix("sha256:").and_then(Self::from_hex).ok_or_else(|| NoFileHash(text.to_owned()))
    }
}

/// A hash as something to write to.
struct Writer<'a, D>(&'a mut D);

impl<D: Digest> io::Write for Writer<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Algorithm Choice": SHA-256, and the algorithm stands in the text; "Design allows future algorithm updates": what another one has
    /// made is told apart. "Hash computation correctness".
    #[test]
    fn spec_algorithm_choice() {
        let hash = FileHash::of(&b"abc"[..]).unwrap();
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse::<FileHash>().unwrap(), hash);
        assert_eq!(FileHash::from_hex(&hash.hex()), Some(hash));
        for wrong in
            ["", "sha256:", "abc", &text[7..], &text.to_uppercase(), &text[..70], &format!("{text}0")]
        {
            assert!(wrong.parse::<FileHash>().unwrap_err().to_string().contains("64 lower-case hex digits"));
        }
        for later in ["sha512:00", "blake3:00", "SHA256:ba78"] {
            assert!(later.parse::<FileHash>().is_err());
        }
    }
}
