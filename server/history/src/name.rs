//! What documents are called, towards callers and in the record.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::path;

/// What a document is called.
///
/// Towards callers a path is absolute. In the record it is relative to the folder of the history, with `/` on every system: so
/// a project that is moved, or mounted elsewhere, keeps its history, and no path in a record can point outside. There a path that is
/// not UTF-8 is called `escaped` instead of `path`, and is written with `%` as in a URI.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentName {
    /// A file.
    Path(PathBuf),
    /// Something that has no file yet.
    Uri(String),
}

/// The same in JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wire<'a> {
    Path(#[serde(borrow)] Cow<'a, str>),
    Escaped(#[serde(borrow)] Cow<'a, str>),
    Uri(#[serde(borrow)] Cow<'a, str>),
}

impl DocumentName {
    /// The name as one text, which tools take back: the path ([`path::to_text`]), or the URI.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            DocumentName::Path(path) => path::to_text(path),
            DocumentName::Uri(uri) => uri.into(),
        }
    }

    /// The path, or the URI, as it is.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        match self {
            DocumentName::Path(path) => path.as_os_str(),
            DocumentName::Uri(uri) => OsStr::new(uri),
        }
    }

    /// The path; of something that has no file, its URI, which is the path of nothing.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(self.as_os_str())
    }

    /// The name as it is recorded in the history of a folder; none if it lies outside.
    pub(crate) fn relative_to(&self, folder: &Path) -> Option<Self> {
        let path = match self {
            DocumentName::Path(path) => path,
            DocumentName::Uri(uri) => return is_uri(uri).then(|| self.clone()),
        };
        let mut name = OsString::new();
        for part in path.strip_prefix(folder).ok()?.components() {
            let Component::Normal(part) = part else { return None };
            if !name.is_empty() {
                name.push("/");
            }
            name.push(part);
        }
        is_inside(&name).then(|| DocumentName::Path(name.into()))
    }

    /// The name that a record means, as callers know it; none if it could be outside the folder.
    pub(crate) fn absolute_in(&self, folder: &Path) -> Option<Self> {
        let path = match self {
            DocumentName::Path(path) => path,
            DocumentName::Uri(uri) => return is_uri(uri).then(|| self.clone()),
        };
        // The parts are put together as this system does it.
        is_inside(path.as_os_str())
            .then(|| DocumentName::Path(folder.join(path.components().collect::<PathBuf>())))
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_text())
    }
}

impl Serialize for DocumentName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = match self {
            DocumentName::Path(path) => match path.to_str() {
                Some(text) => Wire::Path(text.into()),
                None => Wire::Escaped(path::escape(path.as_os_str()).into()),
            },
            DocumentName::Uri(uri) => Wire::Uri(uri.into()),
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DocumentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unknown = || D::Error::custom("a name that no file can have on this system");
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Path(path) => DocumentName::Path(PathBuf::from(path.into_owned())),
            Wire::Escaped(escaped) => {
                DocumentName::Path(path::unescape(&escaped).ok_or_else(unknown)?.into())
            }
            Wire::Uri(uri) => DocumentName::Uri(uri.into_owned()),
        })
    }
}

/// Whether a relative path leads to something below the folder, and not into a history.
fn is_inside(path: &OsStr) -> bool {
    let path = path.as_encoded_bytes();
    // On Windows these lead elsewhere; on Unix they are letters.
    let elsewhere = cfg!(windows) && path.iter().any(|byte| b"\\:".contains(byte));
    let plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".mcp");
    !elsewhere && !path.contains(&0) && path.split(|byte| *byte == b'/').all(plain)
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
        let path = |path: &str| DocumentName::Path(path.into());
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
    fn a_name_is_recorded_as_it_always_was() {
        for (name, json) in [
            (DocumentName::Path("src/é\"%41.txt".into()), r#"{"path":"src/é\"%41.txt"}"#),
            (DocumentName::Uri("untitled:1".into()), r#"{"uri":"untitled:1"}"#),
        ] {
            assert_eq!(serde_json::to_string(&name).unwrap(), json);
            assert_eq!(serde_json::from_str::<DocumentName>(json).unwrap(), name);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_recorded_byte_for_byte() {
        let folder = PathBuf::from(path::from_bytes(b"/home/\xfe").unwrap());
        for (relative, json) in [
            (&b"src/a\xff.txt"[..], r#"{"escaped":"src/a%FF.txt"}"#),
            (b"\xff\xfe/%FF \xc3\xa9", r#"{"escaped":"%FF%FE/%25FF%20%C3%A9"}"#),
            (b".mcp\xff/a", r#"{"escaped":".mcp%FF/a"}"#),
        ] {
            let relative = DocumentName::Path(path::from_bytes(relative).unwrap().into());
            assert_eq!(serde_json::to_string(&relative).unwrap(), json);
            assert_eq!(serde_json::from_str::<DocumentName>(json).unwrap(), relative);
            let absolute = relative.absolute_in(&folder).unwrap();
            assert!(absolute.as_path().starts_with(&folder), "{absolute}");
            assert_eq!(absolute.relative_to(&folder), Some(relative));
        }
        for forged in ["%2Fetc/passwd", "%2E%2E/a", "a%00b", "..%2Fa", ".m%63p/x", "a%2F%2Fb", ""] {
            let name: DocumentName = serde_json::from_str(&format!("{{\"escaped\":{forged:?}}}")).unwrap();
            assert_eq!(name.absolute_in(&folder), None, "{forged}");
        }
    }
}
