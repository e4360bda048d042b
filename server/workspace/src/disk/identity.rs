//! The identity of a file that an editor has open.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The most bytes of a path: Linux's `PATH_MAX`. No other system goes beyond it by default.
pub(super) const MAX_PATH: usize = 4096;

/// The most links that are followed on one way; Linux has the same number.
pub(super) const MAX_LINKS: usize = 40;

/// The identity of the file that an editor has open under an absolute path, also outside of all roots: the path with
/// all links followed, as far as it exists. Equal to [`Place::absolute`](super::Place::absolute) for every name of a file inside a root.
///
/// Follows any link, as the editor does. Not for paths that agents give.
#[must_use]
pub fn identity(path: &Path) -> PathBuf {
    let path = lexical(path);
    real(&path, MAX_LINKS).unwrap_or(path)
}

/// `.` and `..` taken out without a look at the disk.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Where the system says that a path leads; its end need not exist, not even where a link names it. What is too long for a path leads
/// nowhere: each name of it that is missing costs a frame of the stack.
pub(super) fn real(path: &Path, links: usize) -> Option<PathBuf> {
    if path.as_os_str().len() > MAX_PATH {
        return None;
    }
    match path.canonicalize() {
        Ok(real) => Some(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name()?;
            let folder = real(path.parent()?, links)?;
            match folder.join(name).read_link() {
                Ok(target) => real(&folder.join(target), links.checked_sub(1)?),
                Err(_) => Some(folder.join(name)),
            }
        }
        Err(_) => None,
    }
}
