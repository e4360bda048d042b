//! Names of edits, conversations, hunks and files.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::record::Sequence;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id! {
    /// One edit: what one tool call did to one file. A UUID.
    EditId
}

id! {
    /// One conversation: the edits of one turn of an agent.
    ConversationId
}

impl EditId {
    /// The beginning of the id that people and agents are shown: 8 characters.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }

    /// Whether the id may name files, by the rule for [conversations](ConversationId::is_safe).
    #[must_use]
    pub fn is_safe(id: &str) -> bool {
        ConversationId::is_safe(id)
    }
}

impl ConversationId {
    /// Whether the id may name files: letters, digits, `_`, `-` and `.`, not starting with a dot, 1 to 100 of them.
    #[must_use]
    pub fn is_safe(id: &str) -> bool {
        (1..=100).contains(&id.len())
            && !id.starts_with('.')
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    }
}

/// A hunk of an edit, by its number from 1. Written `EDIT:NUMBER`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HunkRef {
    /// The edit.
    pub edit: EditId,
    /// Which of its hunks, from 1.
    pub number: u32,
}

impl HunkRef {
    /// The name with the short form of the edit's id.
    #[must_use]
    pub fn short(&self) -> String {
        format!("{}:{}", self.edit.short(), self.number)
    }
}

impl fmt::Display for HunkRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.edit, self.number)
    }
}

/// As it is written: `EDIT:NUMBER`.
impl FromStr for HunkRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(edit, number)| Some((edit, number.parse().ok()?)));
        match parts {
            Some((edit, number)) if number > 0 && EditId::is_safe(edit) => {
                Ok(Self { edit: edit.into(), number })
            }
            _ => Err(format!("{text:?} names no hunk; a hunk is written EDIT:NUMBER")),
        }
    }
}

impl Serialize for HunkRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HunkRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A file as the history knows it, whatever it is called: the sequence number of the first that was recorded of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(pub Sequence);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_is_read_as_it_is_written() {
        let hunk = HunkRef { edit: EditId::from("3f2a-9c"), number: 12 };
        assert_eq!(hunk.to_string().parse(), Ok(hunk));
        for bad in ["", "a", "a:0", "a:-1", ":1", "../a:1", "a:99999999999"] {
            assert!(bad.parse::<HunkRef>().is_err(), "{bad}");
        }
    }
}
