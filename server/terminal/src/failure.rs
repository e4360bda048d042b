//! Why a program ends before it has done its work.

use std::fmt::{Display, Formatter};

/// Why the program ends: words for the person, and the exit code.
#[derive(Debug)]
pub struct Failure {
    words: String,
    pub(crate) code: u8,
}

impl Failure {
    /// The arguments cannot be used.
    #[must_use]
    pub fn usage(words: impl Display) -> Self {
        Self { words: words.to_string(), code: 2 }
    }

    /// Something did not work.
    #[must_use]
    pub fn broken(words: impl Display) -> Self {
        Self { words: words.to_string(), code: 1 }
    }

    /// Something could not be fetched.
    #[must_use]
    pub fn unfetched(words: impl Display) -> Self {
        Self { words: words.to_string(), code: 3 }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}
