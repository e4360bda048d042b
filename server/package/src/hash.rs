//! Hashes of files, as `file_hashes` and the indexes of packages write them.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha512};

/// The SHA-256 of a file's bytes. It is written with its algorithm, so that others can follow: `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileHash([u8; 32]);

impl FileHash {
    /// The hash of all that a reader gives.
    pub fn of(mut reader: impl Read) -> io::Result<Self> {
        let mut hash = Sha256::new();
        io::copy(&mut reader, &mut Writer(&mut hash))?;
        Ok(Self(hash.finalize().into()))
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

/// What an index says that a file's hash is. A file that disagrees with its own index is nobody's to vouch for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexHash {
    /// Of PyPI, crates.io and images.
    Sha256(FileHash),
    /// Of npm.
    Sha512(Box<[u8; 64]>),
}

impl IndexHash {
    /// Reads what npm calls integrity: the strongest of the hashes in it that is known here.
    #[must_use]
    pub fn from_integrity(text: &str) -> Option<Self> {
        let of = |algorithm: &str| {
            let mut hashes = text
                .split_ascii_whitespace()
                .filter_map(|hash| hash.strip_prefix(algorithm)?.strip_prefix('-'));
            // What may stand behind a question mark are options, of which there are none so far.
            hashes.find_map(|hash| STANDARD.decode(hash.split('?').next()?).ok())
        };
        let sha512 = || Some(Self::Sha512(Box::new(of("sha512")?.try_into().ok()?)));
        let sha256 = || Some(Self::Sha256(FileHash(of("sha256")?.try_into().ok()?)));
        sha512().or_else(sha256)
    }

    /// The hash of the same kind that all that a reader gives has.
    pub fn same_kind(&self, mut reader: impl Read) -> io::Result<Self> {
        match self {
            Self::Sha256(_) => FileHash::of(reader).map(Self::Sha256),
            Self::Sha512(_) => {
                let mut hash = Sha512::new();
                io::copy(&mut reader, &mut Writer(&mut hash))?;
                Ok(Self::Sha512(Box::new(hash.finalize().into())))
            }
        }
    }
}

/// As the indexes write them.
impl fmt::Display for IndexHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(hash) => hash.fmt(f),
            Self::Sha512(bytes) => write!(f, "sha512-{}", STANDARD.encode(bytes.as_slice())),
        }
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

    #[test]
    fn an_index_has_hashes_of_its_own() {
        let sha512 =
            "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
        let sha256 = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        for (text, of_abc) in [
            (sha512, true),
            (sha256, true),
            (&format!("sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0= {sha256} {sha512}?later"), true),
            (&sha512.replace("3a81", "4a81"), false),
            // The strongest one counts.
            (&format!("{sha256} {}", sha512.replace("3a81", "4a81")), false),
        ] {
            let hash = IndexHash::from_integrity(text).unwrap();
            assert_eq!(hash.same_kind(&b"abc"[..]).unwrap() == hash, of_abc, "{text}");
        }
        assert_eq!(IndexHash::from_integrity(sha512).unwrap().to_string(), sha512);
        for unknown in ["", "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "sha512-AAAA", "sha512"] {
            assert_eq!(IndexHash::from_integrity(unknown), None, "{unknown}");
        }
    }
}
