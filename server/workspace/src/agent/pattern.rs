//! What is looked for, and in files of which names.

use std::ops::Range;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ParserBuilder;

use crate::refusal_messages::Refusal;

/// A regular expression that is looked for line by line.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: RegexMatcher,
}

impl Pattern {
    /// # Errors
    /// [`Refusal::BadPattern`], with the place.
    pub fn new(text: &str) -> Result<Self, Refusal> {
        // Read by itself first, as what builds it puts words of its own around it and would tell of places in those.
        if let Err(error) = ParserBuilder::new().utf8(false).build().parse(text) {
            return Err(Refusal::BadPattern(error.to_string()));
        }
        // Lines end at a lone carriage return too, so neither ending is part of one.
        let built = RegexMatcherBuilder::new().multi_line(true).crlf(true).build(text);
        match built {
            Ok(matcher) => Ok(Self { matcher }),
            Err(error) => Err(Refusal::BadPattern(error.to_string())),
        }
    }

    pub(super) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    /// Where it stands first in the content of a line, in bytes.
    pub(super) fn find(&self, content: &str) -> Option<Range<usize>> {
        let found = self.matcher.find(content.as_bytes()).ok().flatten()?;
        Some(found.start()..found.end())
    }
}

/// The files that are looked into: those that a glob names, or with `!` in front those that it does not.
#[derive(Clone, Debug)]
pub struct FileGlob {
    named: GlobSet,
    /// Whether these are left out.
    excludes: bool,
}

impl FileGlob {
    /// Without a `/` it is about names, at any depth; with one about paths, from the root or from the folder that is searched. A
    /// folder stands for all that is in it.
    ///
    /// # Errors
    /// [`Refusal::BadFileGlob`].
    pub fn new(text: &str) -> Result<Self, Refusal> {
        let bad = |error: globset::Error| Refusal::BadFileGlob {
            glob: text.to_owned(),
            why: error.kind().to_string(),
        };
        let (excludes, glob) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let glob = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
        let glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
        let mut named = GlobSetBuilder::new();
        for glob in [format!("{glob}/**"), glob] {
            named.add(GlobBuilder::new(&glob).literal_separator(true).build().map_err(bad)?);
        }
        Ok(Self { named: named.build().map_err(bad)?, excludes })
    }

    /// Whether a file is looked into; `folders` are those that the glob may count from.
    pub(super) fn takes<'a>(&self, path: &Path, mut folders: impl Iterator<Item = &'a Path>) -> bool {
        let inside =
            |folder: &Path| path.strip_prefix(folder).is_ok_and(|inside| self.named.is_match(inside));
        let named = folders.any(inside) || self.named.is_match(path);
        named != self.excludes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_glob_is_about_names_or_about_paths() {
        for (glob, taken, not) in [
            ("*.rs", "/p/src/a.rs", "/p/src/a.txt"),
            ("*.{rs,toml}", "/p/Cargo.toml", "/p/a.txt"),
            ("src/*.rs", "/p/src/a.rs", "/p/src/deep/a.rs"),
            ("src/**/*.rs", "/p/src/deep/a.rs", "/p/other/a.rs"),
            ("./src", "/p/src/deep/a.rs", "/p/other/src.rs"),
            ("src/", "/p/src/deep/a.rs", "/p/other/src.rs"),
            ("deep/*", "/p/src/deep/a.rs", "/p/src/a.rs"),
            ("!*.rs", "/p/a.txt", "/p/src/a.rs"),
            ("!src", "/p/a.rs", "/p/src/a.rs"),
            ("/p/src/*", "/p/src/a.rs", "/p/b.rs"),
        ] {
            let built = FileGlob::new(glob).unwrap();
            let takes =
                |path: &str| built.takes(Path::new(path), [Path::new("/p"), Path::new("/p/src")].into_iter());
            assert!(takes(taken), "{glob} takes {taken}");
            assert!(!takes(not), "{glob} does not take {not}");
        }
        assert!(FileGlob::new("a{b").unwrap_err().to_string().contains("a{b"));
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_shown_where_it_is() {
        let told = Pattern::new("fn (").unwrap_err().to_string();
        assert!(told.contains("    fn (\n       ^") && told.contains("unclosed group"), "{told}");
        assert!(Pattern::new("a\nb").unwrap_err().to_string().contains("line by line"));
    }

    #[test]
    fn it_is_found_within_a_line() {
        let found = |pattern: &str, line: &str| Pattern::new(pattern).unwrap().find(line);
        assert_eq!(found("^b", "ab"), None);
        assert_eq!(found("b$", "ab"), Some(1..2));
        assert_eq!(found("(?i)WORLD", "hello world"), Some(6..11));
        assert_eq!(found(r"\bä", "x ä"), Some(2..4));
    }
}
