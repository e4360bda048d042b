//! Folders that git takes for a repository, whatever they are called: it runs the hooks in them and what their `config` names, also of one
//! that lies in another repository.
//!
//! `.git` is told by its name alone. A bare repository has any name, so what is in a folder tells. Files come one at a time, and none
//! may be the one that makes a folder such a repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::spelling::folded;

/// What git looks for in a folder.
#[derive(Clone, Copy, Debug)]
enum Part {
    Head,
    Objects,
    Refs,
    /// Of a second working tree: where the other two are.
    CommonDir,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Head => "HEAD",
            Part::Objects => "objects",
            Part::Refs => "refs",
            Part::CommonDir => "commondir",
        }
    }

    /// Whether a folder has it, or would with something of this name in it.
    fn is_in(self, folder: &Path, coming: &OsStr) -> bool {
        let there = || folder.join(self.name()).symlink_metadata();
        folded(&coming.to_string_lossy()) == self.name().to_lowercase()
            // A folder is no HEAD.
            || there().is_ok_and(|there| !(matches!(self, Part::Head) && there.is_dir()))
    }
}

/// The folder above a path that git takes for a repository, or would if something came to be at the path; none in a working tree: what
/// lies above that is not asked. Blocks as long as the file system does.
pub(super) fn repository_of(path: &Path) -> Option<PathBuf> {
    let mut coming = path.file_name()?;
    for folder in path.ancestors().skip(1) {
        if is_repository(folder, coming) {
            return Some(folder.to_owned());
        }
        if folder.join(".git").symlink_metadata().is_ok() {
            return None;
        }
        coming = folder.file_name()?;
    }
    None
}

fn is_repository(folder: &Path, coming: &OsStr) -> bool {
    let has = |part: Part| part.is_in(folder, coming);
    has(Part::Head) && (has(Part::CommonDir) || has(Part::Objects) && has(Part::Refs))
}
