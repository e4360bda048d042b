//! Scopes: what a token gives, as it says it.
//!
//! A scope is `read:PATH` or `write:PATH`, and write implies read. The path is within the root; of several roots its first name tells
//! which. `/docs` and `/docs/` are the folder with all below it, `/docs/*` is the folder and what lies directly in it. Case counts.
//! What a scope cannot spell in a token (a space, a quote, letters beyond ASCII) is percent-encoded.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hashline_workspace::disk::{PathRefusal, Roots, names_within_root};
use hashline_workspace::{Access, Depth, Grant, Grants};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};

/// What RFC 6749 does not take in a scope, and what has a meaning in ours.
///
/// A person pastes a scope into a shell: what means something there is spelled in hexadecimal, too.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'\\')
    .add(b'%')
    .add(b'*')
    .add(b'?')
    .add(b'[')
    .add(b'{')
    .add(b'~')
    .add(b'\'')
    .add(b'`')
    .add(b'$')
    .add(b'!')
    .add(b'#')
    .add(b'&')
    .add(b'|')
    .add(b';')
    .add(b'<')
    .add(b'>')
    .add(b'(')
    .add(b')');

/// A part of what is served, and what may be done there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    access: Access,
    /// The names within the root.
    names: Vec<OsString>,
    depth: Depth,
}

/// Why a text is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadScope {
    /// It does not begin with what may be done.
    #[error("{0:?} is no scope: it begins with read: or write:, as in read:/src")]
    Access(String),
    /// The path is none within the root.
    #[error("{scope:?} is no scope: {why}")]
    Path {
        /// What was given.
        scope: String,
        /// What is wrong with its path.
        why: PathRefusal,
    },
    /// A star stands where none can.
    #[error("{0:?} is no scope: a * stands only at the end, for what lies directly in a folder (/docs/*)")]
    Star(String),
    /// A percent sign means nothing.
    #[error(
        "{0:?} is no scope: after a % come two hex digits (a % itself is %25), and they have to make UTF-8"
    )]
    Percent(String),
}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let (access, path) = match text.split_once(':') {
            Some(("read", path)) => (Access::Read, path),
            Some(("write", path)) => (Access::Write, path),
            _ => return Err(BadScope::Access(text.to_owned())),
        };
        let (path, depth) = match path.strip_suffix("/*") {
            // Of `/*` the root is left.
            Some("") => ("/", Depth::Children),
            Some(folder) => (folder, Depth::Children),
            None => (path, Depth::Below),
        };
        if path.contains('*') {
            return Err(BadScope::Star(text.to_owned()));
        }
        let path = decoded(path).ok_or_else(|| BadScope::Percent(text.to_owned()))?;
        let names = names_within_root(&path).map_err(|why| BadScope::Path { scope: text.to_owned(), why })?;
        Ok(Self { access, names, depth })
    }
}

fn decoded(text: &str) -> Option<String> {
    let whole = text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes();
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    });
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    whole.then(|| decoded.into_owned())
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.access)?;
        if self.names.is_empty() && self.depth == Depth::Below {
            return f.write_str("/");
        }
        for name in &self.names {
            write!(f, "/{}", percent_encode(name.as_encoded_bytes(), ENCODED))?;
        }
        if self.depth == Depth::Children { f.write_str("/*") } else { Ok(()) }
    }
}

impl Scope {
    /// The scope that it takes to do something to what lies at a path free of links.
    pub(crate) fn needed(access: Access, path: &Path, roots: &Roots) -> Self {
        let names = roots.within(path).unwrap_or_default().iter().map(ToOwned::to_owned).collect();
        Self { access, names, depth: Depth::Below }
    }

    /// The scope that it takes to do something everywhere.
    pub(crate) fn everywhere(access: Access) -> Self {
        Self { access, names: Vec::new(), depth: Depth::Below }
    }

    /// What it gives of these roots, if anything.
    ///
    /// The folder is taken by its name: a link in its place is not followed, so that no link widens a scope.
    fn grant(&self, roots: &Roots) -> Option<Grant> {
        let Self { access, names, depth } = self;
        let folder = match (names.as_slice(), roots.len()) {
            ([], _) if *depth == Depth::Below => PathBuf::new(),
            (names, 1) => join(roots.get(0)?.path(), names),
            ([first, names @ ..], _) => join(roots.iter().find(|root| first == root.name())?.path(), names),
            // The names of the roots, which are no secret.
            ([], _) => return None,
        };
        Some(Grant { access: *access, folder, depth: *depth })
    }
}

fn join(root: &Path, names: &[OsString]) -> PathBuf {
    names.iter().fold(root.to_owned(), |path, name| path.join(name))
}

/// What scopes give of these roots.
pub(crate) fn grants(scopes: &[Scope], roots: &Roots) -> Grants {
    scopes.iter().filter_map(|scope| scope.grant(roots)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(text: &str) -> Scope {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn scopes_are_read_and_said() {
        for (given, said) in [
            ("read:/docs", "read:/docs"),
            ("read:/docs/", "read:/docs"),
            ("read:docs", "read:/docs"),
            ("write:/docs/*", "write:/docs/*"),
            ("read:/", "read:/"),
            ("read:/*", "read:/*"),
            ("read:/a/./b//../c", "read:/a/c"),
            ("read:/My%20Documents/50%25%2a", "read:/My%20Documents/50%25%2A"),
            ("read:/caf%C3%A9", "read:/caf%C3%A9"),
            ("read:/My Documents", "read:/My%20Documents"),
        ] {
            assert_eq!(scope(given).to_string(), said, "{given}");
            assert_eq!(scope(said), scope(given), "{given}");
        }
    }

    #[test]
    fn what_is_no_scope_is_refused_with_the_reason() {
        for (given, word) in [
            ("/docs", "begins with read: or write:"),
            ("admin:/docs", "begins with read: or write:"),
            ("Read:/docs", "begins with read: or write:"),
            ("read:", "empty"),
            ("read:/../etc", "above"),
            ("read:C:\\docs", "C:"),
            ("read:file:///docs", "URI"),
            ("read:/*/docs", "only at the end"),
            ("read:/docs*", "only at the end"),
            ("read:/docs/%2", "two hex digits"),
            ("read:/docs/%ff", "UTF-8"),
        ] {
            let error = given.parse::<Scope>().unwrap_err().to_string();
            assert!(error.contains(word), "{given}: {error}");
        }
    }

    #[test]
    fn several_roots_are_told_apart_by_the_first_name() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap();
        let (one, two) = (folder.join("one"), folder.join("two"));
        for root in [&one, &two] {
            std::fs::create_dir(root).unwrap();
        }
        let both = Roots::open([&one, &two]).unwrap();
        let given =
            |text: &str, roots: &Roots, path: &Path| grants(&[scope(text)], roots).allow(Access::Read, path);
        assert!(given("read:/one/src", &both, &one.join("src/a")));
        assert!(!given("read:/one/src", &both, &two.join("src/a")));
        assert!(!given("read:/src", &both, &one.join("src/a")), "no root is called src");
        assert!(given("read:/", &both, &two.join("src/a")));
        assert!(
            given("read:/two/*", &both, &two.join("a")) && !given("read:/two/*", &both, &two.join("src/a"))
        );
        assert_eq!(Scope::needed(Access::Write, &two.join("a b"), &both).to_string(), "write:/two/a%20b");

        let alone = Roots::open([&one]).unwrap();
        assert!(given("read:/src", &alone, &one.join("src/a")));
        assert!(!given("read:/one/src", &alone, &one.join("src/a")));
        assert_eq!(Scope::needed(Access::Read, &one.join("src"), &alone).to_string(), "read:/src");
    }
}
