//! Names of edits, conversations, hunks, files and documents.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::record::Sequence;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
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

/// What a document is called.
///
/// Towards callers a path is absolute. In the record it is relative to the folder of the history, with `/` on every system: so
/// a project that is moved, or mounted elsewhere, keeps its history, and no path in a record can point outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentName {
    /// A file.
    Path(String),
    /// Something that has no file yet.
    Uri(String),
}

impl DocumentName {
    /// The name as one text: the path, or the URI.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            DocumentName::Path(name) | DocumentName::Uri(name) => name,
        }
    }

    /// The name as it is recorded in the history of a folder; none if it lies outside.
    pub(crate) fn relative_to(&self, folder: &Path) -> Option<Self> {
        let DocumentName::Path(path) = self else { return is_uri(self.as_str()).then(|| self.clone()) };
        let inside = Path::new(path).strip_prefix(folder).ok()?;
        let mut parts = Vec::new();
        for part in inside.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str()?),
                _ => return None,
            }
        }
        let name = parts.join("/");
        is_inside(&name).then_some(DocumentName::Path(name))
    }

    /// The name that a record means, as callers know it; none if it could be outside the folder.
    pub(crate) fn absolute_in(&self, folder: &Path) -> Option<Self> {
        let DocumentName::Path(path) = self else { return is_uri(self.as_str()).then(|| self.clone()) };
        let whole = || path.split('/').fold(PathBuf::from(folder), |whole, part| whole.join(part));
        is_inside(path).then(|| DocumentName::Path(whole().to_string_lossy().into_owned()))
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a relative path leads to something below the folder, and not into a history.
fn is_inside(path: &str) -> bool {
    // On Windows these lead elsewhere; on Unix they are letters.
    let elsewhere = cfg!(windows) && path.contains(['\\', ':']);
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".mcp");
    !elsewhere && !path.contains('\0') && path.split('/').all(plain)
}

fn is_uri(name: &str) -> bool {
    let scheme = name.split(':').next().unwrap_or_default();
    name.len() > scheme.len()
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !name.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_record_stays_in_its_folder() {
        let folder = Path::new("/home/me/project");
        let path = |path: &str| DocumentName::Path(path.to_owned());
        for (absolute, relative) in [
            ("/home/me/project/a.txt", Some("a.txt")),
            ("/home/me/project/src/b c.rs", Some("src/b c.rs")),
            ("/home/me/project", None),
            ("/home/me/project-evil/a.txt", None),
            ("/home/me/a.txt", None),
            ("/home/me/project/.mcp/edit_history/decisions.log", None),
            ("/home/me/project/../a.txt", None),
        ] {
            let found = path(absolute).relative_to(folder);
            assert_eq!(found, relative.map(path), "{absolute}");
            if let Some(relative) = found {
                assert_eq!(relative.absolute_in(folder), Some(path(absolute)), "{absolute}");
            }
        }
        for forged in ["", "/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a\0b", ".mcp/x", "a/.MCP/x"] {
            assert_eq!(path(forged).absolute_in(folder), None, "{forged}");
        }
        let uri = |uri: &str| DocumentName::Uri(uri.to_owned());
        assert_eq!(uri("untitled:Untitled-1").absolute_in(folder), Some(uri("untitled:Untitled-1")));
        for forged in ["", "a", ":a", "un titled:x", "untitled:\n"] {
            assert_eq!(uri(forged).absolute_in(folder), None, "{forged}");
        }
    }

    #[test]
    fn a_hunk_is_read_as_it_is_written() {
        let hunk = HunkRef { edit: EditId::from("3f2a-9c"), number: 12 };
        assert_eq!(hunk.to_string().parse(), Ok(hunk));
        for bad in ["", "a", "a:0", "a:-1", ":1", "../a:1", "a:99999999999"] {
            assert!(bad.parse::<HunkRef>().is_err(), "{bad}");
        }
    }
}
