//! Hashes of files, as the indexes of packages write them.

use std::fmt;
use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hashline_binary::{FileHash, digest_of};
use sha2::Sha512;

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
        let sha256 = || Some(Self::Sha256(<[u8; 32]>::try_from(of("sha256")?).ok()?.into()));
        sha512().or_else(sha256)
    }

    /// The hash of the same kind that all that a reader gives has.
    pub fn same_kind(&self, reader: impl Read) -> io::Result<Self> {
        match self {
            Self::Sha256(_) => FileHash::of(reader).map(Self::Sha256),
            Self::Sha512(_) => {
                let hash = digest_of::<Sha512>(reader)?;
                Ok(Self::Sha512(Box::new(hash.into())))
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

#[cfg(test)]
mod tests {
    use super::*;

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
