//! Names of edits, conversations and hunks.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
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
