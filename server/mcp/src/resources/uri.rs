//! What the URI of a resource means.

use hashline_workspace::Refusal;
use hashline_workspace::disk::PathRefusal;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::argument_limits::PATH;
use crate::resources::Topic;

/// How much of a URI is told of one that is too long.
const TOLD: usize = 60;

/// Something that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Resource {
    /// `list://`: the names in a folder, by a path within the roots.
    Folder(String),
    /// `file://`: the text of a document, by a path as tools take it, or by its URI.
    Document(String),
    /// `review://`: the edits of a document, or all of them.
    Review(Option<String>),
}

impl Resource {
    /// What a URI means. Nobody else decodes it: clients put a path into a template as it is, or encoded.
    ///
    /// # Errors
    ///
    /// It cannot be a path in any spelling.
    pub(crate) fn parse(uri: &str) -> Result<Self, Refusal> {
        // It is kept where it is subscribed to, and decoded before anybody knows whether it is a path.
        if uri.len() > PATH {
            let given = uri.chars().take(TOLD).chain(['…']).collect();
            return Err(PathRefusal::TooLong { given, part: "a URI", most: PATH }.into());
        }
        let decoded = |path: &str| match percent_decode_str(path).decode_utf8() {
            Ok(path) => Ok(path.into_owned()),
            Err(_) => Err(Refusal::from(PathRefusal::NameNotText { given: uri.to_owned() })),
        };
        Ok(match uri.split_once("://") {
            Some((scheme, path)) if scheme.eq_ignore_ascii_case("list") => Self::Folder(decoded(path)?),
            Some((scheme, "")) if scheme.eq_ignore_ascii_case("review") => Self::Review(None),
            Some((scheme, path)) if scheme.eq_ignore_ascii_case("review") => {
                Self::Review(Some(document(path, decoded)?))
            }
            Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => {
                Self::Document(document(path, decoded)?)
            }
            // A document that has no file.
            _ => Self::Document(uri.to_owned()),
        })
    }

    /// What is watched where it is subscribed to. Folders are not: nothing tells of what other programs do in them.
    pub(crate) fn topic(self) -> Option<Topic> {
        match self {
            Self::Folder(_) => None,
            Self::Document(path) => Some(Topic::Document(path)),
            Self::Review(path) => Some(Topic::Review(path)),
        }
    }
}

/// The document behind `file://` or `review://`: an absolute path makes a URI of a file, which is decoded with all its bytes; another is
/// relative, as the template makes it of a relative path.
fn document(path: &str, decoded: impl Fn(&str) -> Result<String, Refusal>) -> Result<String, Refusal> {
    if path.starts_with('/') || path.starts_with("localhost/") {
        // What names and fragments of web pages have is part of a path here.
        let plain = path.replace('?', "%3F").replace('#', "%23");
        return Ok(format!("file://{plain}"));
    }
    decoded(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_decoded_once() {
        let document = |path: &str| Resource::Document(path.to_owned());
        for (uri, expected) in [
            ("list://", Resource::Folder(String::new())),
            ("LIST:///src", Resource::Folder("/src".into())),
            ("list://a%20b/%2e%2e", Resource::Folder("a b/..".into())),
            ("list://100%25", Resource::Folder("100%".into())),
            ("list://50% off#1?", Resource::Folder("50% off#1?".into())),
            ("file:///p/a%20b.txt", document("file:///p/a%20b.txt")),
            ("file:///p/what?#1", document("file:///p/what%3F%231")),
            ("file://localhost/p/a", document("file://localhost/p/a")),
            ("file://src/main.rs", document("src/main.rs")),
            ("file://a%20b", document("a b")),
            ("file://C%3A/x", document("C:/x")),
            ("untitled:1", document("untitled:1")),
            ("review://", Resource::Review(None)),
            ("review:///p/a", Resource::Review(Some("file:///p/a".into()))),
            ("review://src/a", Resource::Review(Some("src/a".into()))),
            ("review://untitled:1", Resource::Review(Some("untitled:1".into()))),
        ] {
            assert_eq!(Resource::parse(uri).unwrap(), expected, "{uri}");
        }
        assert!(Resource::parse("list://a%FF").is_err());
        let long = Resource::parse(&format!("untitled:{}", "x".repeat(PATH))).unwrap_err().to_string();
        assert!(long.len() < 300 && long.contains(&PATH.to_string()), "{long}");
    }
}
