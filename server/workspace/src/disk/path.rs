//! From what a caller writes to the one place that is meant, inside a root.
//!
//! A [`Place`] is free of links: they are followed here, name by name, on the handles of the roots. So two names of
//! one file give one place, and whoever uses a place need follow no link at all: one that has come since then is
//! refused at the moment of use (see `file.rs`). Only a link whose target leaves the folder tree of its root, or is
//! written as an absolute path, is asked of the system by name; what comes back has to lie in a root again and is
//! walked anew on that root's handle.
//!
//! # Limitations
//! - Two hard links of one file are two places, where they are served at all (`hard_links.rs`). So are two spellings on a file system that ignores case.
//! - A `.mcp` folder that is mounted a second time under another name is not recognised; the folder that is closed is.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use hashline_history::path::to_text;

use super::error::PathRefusal;
use super::forbidden_folder::Shut;
use super::git::repository_of;
use super::hard_links::HardLinks;
use super::identity::{MAX_LINKS, lexical, real};
use super::roots::{Root, Roots};
use super::spelling::{Guarded, PathStyle, Spelling, guarded, guarded_path, read_spelling};

/// Where a file is or could be: a root and a way inside it without links.
///
/// Only [`Roots::resolve`] and [`Roots::identify`] make one, so each lies inside a root and outside of `.mcp` and of the folder that is closed. Places are equal when their absolute paths are. The file itself may not exist, nor its folder.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) root: Arc<Root>,
    index: usize,
    relative: PathBuf,
    absolute: PathBuf,
    links: Vec<PathBuf>,
    in_git: bool,
    hard_links: HardLinks,
}

impl Place {
    /// Which root it lies in: the first in order that holds it.
    #[must_use]
    pub fn root_index(&self) -> usize {
        self.index
    }

    /// The root it lies in.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The way from the root; empty for the root itself.
    #[must_use]
    pub fn relative(&self) -> &Path {
        &self.relative
    }

    /// The identity of the document: the path with all links followed.
    #[must_use]
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Whether its file is served where that has more than one name.
    #[must_use]
    pub fn hard_links(&self) -> HardLinks {
        self.hard_links
    }

    /// The same place, with its file served or refused where that has more than one name.
    #[must_use]
    pub fn with_hard_links(&self, hard_links: HardLinks) -> Place {
        Place { hard_links, ..self.clone() }
    }

    /// All absolute paths that the way here went by, as links were followed; the last is the one without.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().chain([&self.absolute]).map(PathBuf::as_path)
    }

    /// The same as a text that tools take back ([`to_text`]).
    #[must_use]
    pub fn to_text(&self) -> String {
        to_text(&self.absolute).into_owned()
    }

    /// Whether no file can have this name as it is: a folder has it, or what should be a folder above it is a file.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        match self.absolute.symlink_metadata() {
            Ok(there) => there.is_dir(),
            Err(error) => error.kind() == io::ErrorKind::NotADirectory,
        }
    }

    /// Whether it may be written. Blocks as long as the file system does.
    ///
    /// # Errors
    /// It lies in `.git`, or in a repository of another name, or would make its folder one.
    pub fn check_write(&self) -> Result<(), PathRefusal> {
        if self.in_git {
            return Err(PathRefusal::GitWrite { path: self.to_text() });
        }
        match repository_of(&self.absolute) {
            Some(folder) => {
                let folder = to_text(&folder).into_owned();
                Err(PathRefusal::RepositoryWrite { path: self.to_text(), folder })
            }
            None => Ok(()),
        }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.absolute == other.absolute
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.absolute.hash(state);
    }
}

impl Roots {
    /// The place that a caller's path means.
    ///
    /// `..` takes back the name before it, as in URIs, before any link is looked at. Blocks as long as the file
    /// system does.
    ///
    /// # Errors
    /// See [`PathRefusal`]. [`PathRefusal::NotAFile`] is for the caller to look up among documents without a file.
    pub fn resolve(&self, given: &str, style: PathStyle) -> Result<Place, PathRefusal> {
        self.resolve_given(given, style, &|_| true)
    }

    /// The same for a caller who was given what `gives` says yes to: a link that leads to anything else is followed no further, and
    /// nothing is said of what is there.
    ///
    /// # Errors
    /// [`PathRefusal::LinkNotGiven`] besides those of [`resolve`](Self::resolve).
    pub fn resolve_given(
        &self,
        given: &str,
        style: PathStyle,
        gives: Gives<'_>,
    ) -> Result<Place, PathRefusal> {
        let resolved = self.resolve_by(given, style, gives);
        // Whoever names paths within the roots is told of others so, too.
        if style == PathStyle::WithinRoot {
            resolved.map_err(|refusal| refusal.within(|path| self.within(path)))
        } else {
            resolved
        }
    }

    fn resolve_by(&self, given: &str, style: PathStyle, gives: Gives<'_>) -> Result<Place, PathRefusal> {
        let first = self.get(0).ok_or_else(|| PathRefusal::NoRoots { given: given.into() })?;
        let spelling = read_spelling(given, style, &to_text(first.path()))?;
        let (index, names) = self.start(given, style, &spelling)?;
        let has_backslash = names.iter().any(|name| name.as_encoded_bytes().contains(&b'\\'));
        let found = Walk::new(self, given, gives).run(index, names)?;
        if spelling.folder && found.end != End::Folder {
            return Err(PathRefusal::FinalSlash { given: given.into() });
        }
        if found.end == End::Missing && has_backslash && !cfg!(windows) {
            return Err(PathRefusal::Backslash { given: given.into() });
        }
        Ok(found.place)
    }

    /// The place of a document that an editor has open under this path, if agents may reach it: the same as that of
    /// any other name of the file. A path that is not absolute, in no root, in `.mcp` or in the folder that is closed has none. One below a file has, where no link
    /// leads to that: it may be recorded from a time when that was a folder. What the person has is served to the person, hard links too.
    #[must_use]
    pub fn identify(&self, absolute: &Path) -> Option<Place> {
        if !absolute.is_absolute() {
            return None;
        }
        let (index, names) = self.locate(&lexical(absolute))?;
        let given = to_text(absolute);
        let walk = Walk { past_files: true, ..Walk::new(self, &given, &|_| true) };
        walk.run(index, names).ok().map(|found| found.place.with_hard_links(HardLinks::Served))
    }

    /// Where an absolute path without `..` leads, and what is there; none if that is not served, or not given.
    pub(super) fn follow(&self, absolute: &Path, gives: Gives<'_>) -> Option<(Place, End)> {
        let (index, names) = self.locate(absolute)?;
        Walk::new(self, &to_text(absolute), gives)
            .run(index, names)
            .ok()
            .map(|found| (found.place, found.end))
    }

    /// Whether a path within the roots means what is above all of them.
    pub(super) fn is_top(&self, given: &str) -> Result<bool, PathRefusal> {
        let first = self.get(0).ok_or_else(|| PathRefusal::NoRoots { given: given.into() })?;
        Ok(read_spelling(given, PathStyle::WithinRoot, &to_text(first.path()))?.names.is_empty())
    }

    /// The absolute path that a caller's words mean before any link is followed, in the spelling of its root; none where the words
    /// lead into no root.
    ///
    /// # Errors
    /// As of [`resolve`](Self::resolve), as far as words can be wrong by themselves.
    pub fn spelled(&self, given: &str, style: PathStyle) -> Result<Option<PathBuf>, PathRefusal> {
        let first = self.get(0).ok_or_else(|| PathRefusal::NoRoots { given: given.into() })?;
        let spelling = read_spelling(given, style, &to_text(first.path()))?;
        let start = self.start_by_words(given, style, &spelling)?;
        Ok(start
            .and_then(|(index, names)| Some(self.get(index)?.path().join(names.iter().collect::<PathBuf>()))))
    }

    /// The root to start in and the names to walk.
    fn start(
        &self,
        given: &str,
        style: PathStyle,
        spelling: &Spelling,
    ) -> Result<(usize, VecDeque<OsString>), PathRefusal> {
        match self.start_by_words(given, style, spelling)? {
            Some(start) => Ok(start),
            None => self
                .locate_real(&spelling.absolute_path())
                .ok_or_else(|| PathRefusal::OutsideRoots { given: given.into(), roots: self.folders() }),
        }
    }

    /// The same without a look at the disk; none for an absolute path that no root holds as it stands.
    fn start_by_words(
        &self,
        given: &str,
        style: PathStyle,
        spelling: &Spelling,
    ) -> Result<Option<(usize, VecDeque<OsString>)>, PathRefusal> {
        if spelling.absolute {
            return Ok(self.locate_by_words(&spelling.absolute_path()));
        }
        let mut names: VecDeque<OsString> = spelling.names.iter().cloned().collect();
        if style == PathStyle::Any || self.len() == 1 {
            return Ok(Some((0, names)));
        }
        let index = names.pop_front().and_then(|name| self.iter().position(|root| name == root.name()));
        index
            .map(|index| Some((index, names)))
            .ok_or_else(|| PathRefusal::UnknownRootName { given: given.into(), names: self.names() })
    }

    /// The root that an absolute path without `..` starts in, and the names to walk from there: by the path as it
    /// stands, else by where the system says that it leads.
    fn locate(&self, path: &Path) -> Option<(usize, VecDeque<OsString>)> {
        self.locate_by_words(path).or_else(|| self.locate_real(path))
    }

    fn locate_by_words(&self, path: &Path) -> Option<(usize, VecDeque<OsString>)> {
        self.holding(path).or_else(|| self.holding_spelled(path)).map(to_walk)
    }

    fn locate_real(&self, path: &Path) -> Option<(usize, VecDeque<OsString>)> {
        self.holding(&real(path, MAX_LINKS)?).map(to_walk)
    }
}

/// A path with names behind it, made at once: whoever names many pays for each of them once.
fn joined(path: &Path, names: impl IntoIterator<Item: AsRef<OsStr>>) -> PathBuf {
    let mut joined = path.to_owned();
    names.into_iter().for_each(|name| joined.push(name.as_ref()));
    joined
}

fn to_walk((index, inside): (usize, &Path)) -> (usize, VecDeque<OsString>) {
    (index, inside.iter().map(OsStr::to_owned).collect())
}

/// What the way ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Folder,
    Other,
    Missing,
}

struct Found {
    place: Place,
    end: End,
}

/// The way through a root, name by name. The folders passed are held open, so that `..` in a link's target cannot
/// be led astray by a folder that is moved meanwhile.
struct Walk<'a> {
    roots: &'a Roots,
    given: &'a str,
    gives: Gives<'a>,
    /// The links that were followed, each with the names that were to come behind it.
    links: Vec<PathBuf>,
    /// What would lie in a file is missing; else there is no such way.
    past_files: bool,
    /// The folder that nobody is served.
    shut: Option<Shut>,
}

/// What a caller was given, by absolute paths.
type Gives<'a> = &'a dyn Fn(&Path) -> bool;

/// How one root was left behind.
enum Way {
    Ended(Vec<OsString>, End),
    /// Through a link, to an absolute path that may have `..` and links in it.
    LeftRoot(PathBuf, String),
}

impl<'a> Walk<'a> {
    fn new(roots: &'a Roots, given: &'a str, gives: Gives<'a>) -> Walk<'a> {
        Walk { roots, given, gives, links: Vec::new(), past_files: false, shut: roots.shut() }
    }

    fn run(mut self, mut index: usize, mut names: VecDeque<OsString>) -> Result<Found, PathRefusal> {
        loop {
            let Some(root) = self.roots.get(index) else {
                return Err(PathRefusal::NoRoots { given: self.given.into() });
            };
            match self.through(root, names)? {
                Way::Ended(names, end) => return self.found(root, &names, end),
                Way::LeftRoot(target, link) => {
                    // A target with `..` in it is what the system takes it for; one without that lies in a root
                    // by its very words needs no such help.
                    self.check_given(&target)?;
                    let plain = !target.components().any(|part| part == Component::ParentDir);
                    let inside =
                        if plain { self.roots.locate(&target) } else { self.roots.locate_real(&target) };
                    (index, names) =
                        inside.ok_or_else(|| PathRefusal::LinkLeadsOut { given: self.given.into(), link })?;
                    if let Some(root) = self.roots.get(index) {
                        self.check_given(&joined(root.path(), &names))?;
                    }
                }
            }
        }
    }

    /// Walks within one root until the names are used up or a link leads out of it.
    fn through(&mut self, root: &Root, mut todo: VecDeque<OsString>) -> Result<Way, PathRefusal> {
        let mut done: Vec<OsString> = Vec::new();
        let mut open: Vec<Dir> = Vec::new();
        let mut end = End::Folder;
        let mut last_link = String::new();
        while let Some(name) = todo.pop_front() {
            let here = || joined(root.path(), &done);
            if name == ".." {
                if done.pop().is_none() {
                    let rest: PathBuf = todo.iter().collect();
                    return Ok(Way::LeftRoot(root.path().join("..").join(rest), last_link));
                }
                open.pop();
                continue;
            }
            self.check_name(&name)?;
            if end == End::Missing {
                done.push(name);
                continue;
            }
            let dir = open.last().unwrap_or(&root.dir);
            let kind = match dir.symlink_metadata(&name) {
                Ok(there) if self.shut.as_ref().is_some_and(|shut| shut.is(&there)) => {
                    return Err(PathRefusal::State { given: self.given.into() });
                }
                Ok(metadata) => metadata.file_type(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    end = End::Missing;
                    // `..` behind a name that does not exist leads nowhere, and `done` no longer matches `open`.
                    if todo.iter().any(|name| name == "..") {
                        return Err(self.unreadable("a link on its way points to nothing"));
                    }
                    done.push(name);
                    continue;
                }
                Err(error) => return Err(self.unreadable(&error.to_string())),
            };
            if kind.is_symlink() {
                let link = here().join(&name);
                last_link = to_text(&link).into_owned();
                self.links.push(lexical(&joined(&link, &todo)));
                let target = self.target(dir, &name)?;
                let names = todo.drain(..);
                if target.has_root() || target.is_absolute() {
                    return Ok(Way::LeftRoot(joined(&target, names), last_link));
                }
                todo = target.iter().map(OsStr::to_owned).filter(|name| name != ".").chain(names).collect();
                self.check_given(&joined(&here(), &todo))?;
            } else if kind.is_dir() {
                if !todo.is_empty() {
                    let next = dir.open_dir_nofollow(&name);
                    open.push(next.map_err(|error| self.unreadable(&error.to_string()))?);
                }
                done.push(name);
            } else if todo.is_empty() {
                done.push(name);
                end = End::Other;
            } else if self.past_files && self.links.is_empty() && !todo.iter().any(|name| name == "..") {
                done.push(name);
                end = End::Missing;
            } else {
                let part = to_text(&here().join(&name)).into_owned();
                return Err(PathRefusal::NotAFolder { given: self.given.into(), part });
            }
        }
        Ok(Way::Ended(done, end))
    }

    fn check_name(&self, name: &OsStr) -> Result<(), PathRefusal> {
        if !cfg!(unix) && name.to_str().is_none() {
            return Err(PathRefusal::NameNotText { given: self.given.into() });
        }
        match guarded(&name.to_string_lossy()) {
            Some(Guarded::Store) => Err(PathRefusal::Store { given: self.given.into() }),
            Some(Guarded::Git) | None => Ok(()),
        }
    }

    /// Whether the caller was given what a link leads to, by its words: nothing there is looked at before that is known.
    fn check_given(&self, target: &Path) -> Result<(), PathRefusal> {
        let path = lexical(target);
        if self.roots.holding(&path).is_none() || (self.gives)(&path) {
            return Ok(());
        }
        Err(PathRefusal::LinkNotGiven { given: self.given.into(), path })
    }

    fn target(&mut self, dir: &Dir, link: &OsStr) -> Result<PathBuf, PathRefusal> {
        if self.links.len() > MAX_LINKS {
            return Err(PathRefusal::LinkLoop { given: self.given.into() });
        }
        dir.read_link_contents(link).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn unreadable(&self, why: &str) -> PathRefusal {
        PathRefusal::Unreadable { given: self.given.into(), why: why.into() }
    }

    fn found(self, root: &Root, names: &[OsString], end: End) -> Result<Found, PathRefusal> {
        let absolute = joined(root.path(), names);
        if end == End::Missing && self.shut.as_ref().is_some_and(|shut| shut.would_hold(&absolute)) {
            return Err(PathRefusal::State { given: self.given.into() });
        }
        // Roots may lie in each other: the first in order that holds the place stands for it.
        let (index, relative) = self.roots.holding(&absolute).ok_or_else(|| PathRefusal::OutsideRoots {
            given: self.given.into(),
            roots: self.roots.folders(),
        })?;
        let Some(root) = self.roots.get(index).cloned() else {
            return Err(PathRefusal::NoRoots { given: self.given.into() });
        };
        // By the whole path: a root that lies in `.git` itself is not written either.
        let in_git = guarded_path(&absolute).is_some();
        let relative = relative.to_path_buf();
        let hard_links = self.roots.hard_links();
        let place = Place { root, index, relative, absolute, links: self.links, in_git, hard_links };
        Ok(Found { place, end })
    }
}
