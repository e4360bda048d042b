//! What a caller was given of the served folders: an agent that comes with a token may do no more than that says.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What may be done to a file. Whoever may write may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reading it, and hearing of it.
    Read,
    /// Changing it, and taking changes back.
    Write,
}

impl Access {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How far below its folder a grant goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// The folder and what lies directly in it.
    Children,
    /// All below it.
    Below,
}

/// A part of the served folders, and what may be done there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// What may be done.
    pub access: Access,
    /// The folder, or the one file, by its absolute path. The empty path stands for all that is served, documents without a file
    /// among it.
    pub folder: PathBuf,
    /// How far it goes.
    pub depth: Depth,
}

impl Grant {
    fn covers(&self, path: &Path) -> bool {
        match self.depth {
            Depth::Below => path.starts_with(&self.folder),
            Depth::Children => path == self.folder || path.parent() == Some(&self.folder),
        }
    }
}

/// All that a caller was given. Nothing else may be touched. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(Arc<[Grant]>);

impl Grants {
    /// Whether something may be done to what lies at a path that is absolute and free of links.
    #[must_use]
    pub fn allow(&self, access: Access, path: &Path) -> bool {
        self.0.iter().any(|grant| grant.access >= access && grant.covers(path))
    }

    /// Whether something may be done to documents that have no file.
    #[must_use]
    pub fn allow_everywhere(&self, access: Access) -> bool {
        let all = |grant: &Grant| grant.depth == Depth::Below && grant.folder.as_os_str().is_empty();
        self.0.iter().any(|grant| grant.access >= access && all(grant))
    }

    /// Whether something may be done anywhere at all.
    #[must_use]
    pub fn allow_somewhere(&self, access: Access) -> bool {
        self.0.iter().any(|grant| grant.access >= access)
    }

    /// Whether all that others give is given by these, too.
    #[must_use]
    pub fn hold(&self, others: &Grants) -> bool {
        others.iter().all(|other| {
            let holds = |grant: &Grant| {
                let folder = match grant.depth {
                    Depth::Below => other.folder.starts_with(&grant.folder),
                    Depth::Children => other.folder == grant.folder && other.depth == Depth::Children,
                };
                grant.access >= other.access && folder
            };
            self.iter().any(holds)
        })
    }

    /// The grants one by one.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(grants.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(access: Access, folder: &str, depth: Depth) -> Grants {
        Grants::from_iter([Grant { access, folder: folder.into(), depth }])
    }

    #[test]
    fn a_folder_is_given_with_all_below_it_and_nothing_beside_it() {
        let docs = grants(Access::Read, "/p/docs", Depth::Below);
        for (path, given) in [
            ("/p/docs", true),
            ("/p/docs/a", true),
            ("/p/docs/deep/a", true),
            ("/p/docs-old/a", false),
            ("/p/Docs/a", false),
            ("/p", false),
            ("/", false),
        ] {
            assert_eq!(docs.allow(Access::Read, Path::new(path)), given, "{path}");
            assert!(!docs.allow(Access::Write, Path::new(path)), "{path}");
        }
        assert!(!docs.allow_everywhere(Access::Read));
    }

    #[test]
    fn children_are_one_level() {
        let docs = grants(Access::Read, "/p/docs", Depth::Children);
        for (path, given) in
            [("/p/docs", true), ("/p/docs/a", true), ("/p/docs/deep/a", false), ("/p/a", false)]
        {
            assert_eq!(docs.allow(Access::Read, Path::new(path)), given, "{path}");
        }
    }

    #[test]
    fn writing_implies_reading_and_nothing_is_given_by_itself() {
        let all = grants(Access::Write, "", Depth::Below);
        for access in [Access::Read, Access::Write] {
            assert!(all.allow(access, Path::new("/p/a")) && all.allow_everywhere(access));
            let none = Grants::default();
            assert!(!none.allow(access, Path::new("/p/a")));
            assert!(!none.allow_everywhere(access) && !none.allow_somewhere(access));
        }
    }

    #[test]
    fn grants_hold_those_that_give_no_more() {
        let read = |folder: &str, depth| grants(Access::Read, folder, depth);
        let (below, children) = (Depth::Below, Depth::Children);
        let everything = grants(Access::Write, "", below);
        for (one, other, holds) in [
            (read("/p", below), read("/p/docs", below), true),
            (read("/p", below), read("/p", children), true),
            (read("/p", children), read("/p", children), true),
            (read("/p", children), read("/p", below), false),
            (read("/p/docs", below), read("/p", below), false),
            (read("/p", below), read("/pp", below), false),
            (read("/p", below), grants(Access::Write, "/p", below), false),
            (grants(Access::Write, "/p", below), read("/p", below), true),
            (everything.clone(), grants(Access::Write, "/p", children), true),
            (read("/p", below), Grants::default(), true),
            (Grants::default(), read("/p", below), false),
        ] {
            assert_eq!(one.hold(&other), holds, "{one:?} {other:?}");
        }
        let both: Grants = read("/p", below).iter().chain(read("/q", below).iter()).cloned().collect();
        assert!(both.hold(&read("/q", below)) && !read("/q", below).hold(&both));
    }
}
