//! Going through the files below some folders, as a search does: what ignore files name is left out, hidden files, `.git`,
//! `.mcp` and the folder that is closed are, and no link is followed.
//!
//! The names come from the system's listing; a file is opened by its way from the root's handle, as every other is. So a folder
//! that is put in the place of another meanwhile can change what is listed, and not what is read.
//!
//! Ignore files count as they do for git: those of a folder for all below it.
//!
//! # Limitations
//! Ignore files above the roots, and the person's own, count too, so they are read; nothing is told of what they hold.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::error::DiskError;
use super::file::{MAX_FILE_BYTES, stamp};
use super::forbidden_folder::Shut;
use super::kind::FileKind;
use super::path::Place;
use super::roots::{Root, Roots};
use super::spelling::{Guarded, guarded, guarded_path};

/// The most threads that go through files at once: more wait for the same disk.
const MAX_THREADS: usize = 8;

/// Whether a place is a folder.
///
/// # Errors
/// There is nothing, or something that is neither a folder nor a regular file.
pub fn is_folder(place: &Place) -> Result<bool, DiskError> {
    if place.relative().as_os_str().is_empty() {
        return Ok(true);
    }
    match stamp(place) {
        Ok(_) => Ok(false),
        Err(DiskError::NotRegular { kind: FileKind::Folder, .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a name below a folder is one that a walk leaves out.
#[must_use]
pub fn is_hidden(below: &Path) -> bool {
    below.iter().any(|name| {
        let name = name.to_string_lossy();
        name.starts_with('.') || guarded(&name).is_some()
    })
}

/// Goes through the regular files below these folders, which lie in the roots, on several threads; each has a visitor of its own.
/// A folder that lies in another one is gone through once. `enter` says whether a folder is to be gone through, and a visitor
/// whether to go on. In no certain order.
pub fn walk<V>(
    roots: &Roots,
    folders: &[PathBuf],
    enter: impl Fn(&Path) -> bool + Send + Sync + 'static,
    visitor: impl Fn() -> V,
) where
    V: FnMut(&Path, &mut Opener) -> bool + Send,
{
    // The walk itself is not asked about the folders that it begins with, nor about those above them, whose ignore files it reads.
    let plain = |folder: &&PathBuf| folder.ancestors().all(has_plain_ignore_files);
    let tops: Vec<PathBuf> = folders.iter().filter(plain).cloned().collect();
    let Some((first, more)) = tops.split_first() else { return };
    let mut builder = WalkBuilder::new(first);
    for folder in more {
        builder.add(folder);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let shut = roots.shut();
    builder
        .threads(threads)
        .require_git(false)
        .filter_entry(move |entry| may_pass(entry, &tops, shut.as_ref(), &enter));
    builder.build_parallel().run(|| {
        let mut visit = visitor();
        let mut opener = Opener { roots: roots.clone(), folder: None };
        Box::new(move |entry| {
            let file = entry.ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
            match file.is_none_or(|file| visit(file.path(), &mut opener)) {
                true => WalkState::Continue,
                false => WalkState::Quit,
            }
        })
    });
}

fn may_pass(entry: &DirEntry, tops: &[PathBuf], shut: Option<&Shut>, enter: &impl Fn(&Path) -> bool) -> bool {
    // An ignore file may name what is to be kept, hidden or not: it cannot name these.
    if entry.depth() > 0 && guarded(&entry.file_name().to_string_lossy()).is_some() {
        return false;
    }
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    if shut.is_some_and(|shut| shut.is_at(entry.path())) {
        return false;
    }
    let again = entry.depth() > 0 && tops.iter().any(|top| top == entry.path());
    !again && has_plain_ignore_files(entry.path()) && enter(entry.path())
}

/// Whether the ignore files of a folder, if it has any, are files: opening a FIFO would wait for whoever writes to it.
fn has_plain_ignore_files(folder: &Path) -> bool {
    let plain =
        |name: &str| fs::metadata(folder.join(name)).map_or(true, |found| found.is_file() || found.is_dir());
    plain(".gitignore") && plain(".ignore") && plain(".git/info/exclude")
}

/// Opens the files of a walk. Keeps the folder of the last one open, as the next is mostly in the same.
#[derive(Debug)]
pub struct Opener {
    roots: Roots,
    folder: Option<(PathBuf, Dir)>,
}

impl Opener {
    /// A regular file for reading; none if there is no such file any more, or it is larger than any that is served.
    ///
    /// # Errors
    /// It has more than one name, and the roots refuse that.
    pub fn open(&mut self, path: &Path) -> Result<Option<fs::File>, DiskError> {
        let hard_links = self.roots.hard_links();
        let Some((folder, name)) = self.folder_of(path) else { return Ok(None) };
        let Some((file, there)) = open_in(folder, name) else { return Ok(None) };
        if !there.is_file() || there.len() > MAX_FILE_BYTES {
            return Ok(None);
        }
        match hard_links.check_opened(path, (&file, &there), (folder, name)) {
            Ok(()) => Ok(Some(file.into_std())),
            Err(DiskError::PathChanged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn folder_of<'p>(&mut self, path: &'p Path) -> Option<(&Dir, &'p OsStr)> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        if self.folder.as_ref().is_none_or(|(open, _)| open != parent) {
            self.folder = None;
            let (index, inside) = self.roots.holding(parent)?;
            let root = self.roots.get(index)?;
            self.folder = Some((parent.to_owned(), open_below(root, inside)?));
        }
        self.folder.as_ref().map(|(_, folder)| (folder, name))
    }
}

fn open_in(folder: &Dir, name: &OsStr) -> Option<(File, Metadata)> {
    let mut options = OpenOptions::new();
    // The listing said that it is a regular file; should it be a FIFO by now, it opens at once and is refused by what it is.
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(name, &options).ok()?;
    let there = file.metadata().ok()?;
    Some((file, there))
}

/// A folder below a root, reached without following a link.
fn open_below(root: &Root, inside: &Path) -> Option<Dir> {
    if guarded_path(inside) == Some(Guarded::Store) {
        return None;
    }
    inside.iter().try_fold(root.dir.try_clone().ok()?, |dir, name| dir.open_dir_nofollow(name).ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::*;

    fn walked(roots: &Roots, folders: &[PathBuf]) -> BTreeSet<String> {
        let found = Mutex::new(BTreeSet::new());
        walk(
            roots,
            folders,
            |_| true,
            || {
                |path: &Path, opener: &mut Opener| {
                    if opener.open(path).unwrap().is_some() {
                        let name = path.strip_prefix(&folders[0]).unwrap().display().to_string();
                        assert!(found.lock().unwrap().insert(name.clone()), "{name} twice");
                    }
                    true
                }
            },
        );
        found.into_inner().unwrap()
    }

    #[test]
    fn what_is_ignored_hidden_or_guarded_is_left_out_and_nothing_comes_twice() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for (name, text) in [
            (".gitignore", "ignored\n!.mcp\n!.git\n!.shown\n"),
            ("a.txt", ""),
            ("ignored/b.txt", ""),
            ("inner/c.txt", ""),
            ("inner/.hidden", ""),
            (".shown", ""),
            (".mcp/d.txt", ""),
            (".git/e.txt", ""),
            ("inner/.GIT/f.txt", ""),
        ] {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let folders = [top.clone(), top.join("inner"), top.join("ignored")];
        let roots = Roots::open(&folders).unwrap();
        let expected = [".shown", "a.txt", "ignored/b.txt", "inner/c.txt"];
        assert_eq!(walked(&roots, &folders), expected.map(str::to_owned).into());
        assert!(is_hidden(Path::new("a/.b/c")) && !is_hidden(Path::new("a/b.c")));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_special_files_are_not_opened() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap().join("w");
        let outside = temp.path().join("outside");
        for folder in [&top.join("fifo/below"), &top.join("git/.git/info"), &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(top.join("a.txt"), "").unwrap();
        fs::write(outside.join("secret"), "").unwrap();
        std::os::unix::fs::symlink(&outside, top.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), top.join("file_link")).unwrap();
        for fifo in ["fifo/.gitignore", "git/.git/info/exclude", "pipe"] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                top.join(fifo),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .unwrap();
        }
        for beside in ["fifo/beside.txt", "fifo/below/b.txt", "git/c.txt"] {
            fs::write(top.join(beside), "").unwrap();
        }
        let roots = Roots::open([&top]).unwrap();
        assert_eq!(walked(&roots, std::slice::from_ref(&top)), BTreeSet::from(["a.txt".to_owned()]));
        // At the beginning of the walk, and above it.
        for folder in ["fifo", "git", "fifo/below"] {
            assert_eq!(walked(&roots, &[top.join(folder)]), BTreeSet::new(), "{folder}");
        }
        // One that has come between the listing and the opening.
        let mut opener = Opener { roots, folder: None };
        assert!(opener.open(&top.join("link/secret")).unwrap().is_none());
        assert!(opener.open(&top.join("file_link")).unwrap().is_none());
        assert!(opener.open(&top.join("pipe")).unwrap().is_none());
        assert!(opener.open(&outside.join("secret")).unwrap().is_none());
        assert!(opener.open(&top.join("a.txt")).unwrap().is_some());
    }
}
