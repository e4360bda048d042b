//! In which folder the history of a file lies (design section 6).

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::folder::Folder;

/// The folder whose history holds a file: the nearest at or above the file that already has one, searched up to the outermost root and
/// no higher; else the outermost of the roots that the call came through. `roots` are those of every live sidecar and of the
/// caller, `through` those of the caller alone; only those above the file count. None if the file lies in no root.
#[must_use]
pub fn history_folder(
    file: &Path,
    roots: &[PathBuf],
    through: &[PathBuf],
    has_history: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let outermost = |roots: &[PathBuf]| {
        let above = roots.iter().filter(|root| file != root.as_path() && file.starts_with(root));
        above.min_by_key(|root| root.components().count()).cloned()
    };
    let own = outermost(through);
    let top =
        [outermost(roots), own.clone()].into_iter().flatten().min_by_key(|root| root.components().count())?;
    let mut folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&top));
    folders.find(|folder| has_history(folder)).map(Path::to_path_buf).or(own).or(Some(top))
}

/// Whether a folder has a history. What is no folder, such as a link, is none.
///
/// # Errors
///
/// It cannot be known: something stands in the place of a history, or may not be read.
pub fn has_history(folder: &Path) -> Result<bool, StoreError> {
    Folder::open(folder, None).map(|found| found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Paths<'a> = &'a [&'a str];

    #[test]
    fn the_nearest_history_within_the_outermost_root_counts() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let cases: &[(&str, Paths<'_>, Paths<'_>, Paths<'_>, Option<&str>)] = &[
            ("/w/p/src/a.rs", &["/w/p"], &["/w/p"], &[], Some("/w/p")),
            ("/w/p/src/a.rs", &["/w/p"], &["/w/p"], &["/w/p/src"], Some("/w/p/src")),
            ("/w/p/src/a.rs", &["/w/p"], &["/w/p"], &["/w"], Some("/w/p")),
            ("/w/p/src/a.rs", &["/w", "/w/p"], &["/w/p"], &["/w"], Some("/w")),
            ("/w/p/src/a.rs", &["/w", "/w/p"], &["/w/p"], &[], Some("/w/p")),
            ("/w/p/src/a.rs", &["/w/p/src"], &["/w/p", "/w/p/src"], &[], Some("/w/p")),
            ("/w/p/a.rs", &["/w/q"], &["/w/p"], &["/w/q"], Some("/w/p")),
            ("/w/pp/a.rs", &["/w/p"], &["/w/p"], &["/w/p"], None),
            ("/w/p", &["/w/p"], &["/w/p"], &["/w/p"], None),
            ("/w/p/a.rs", &["/w/p"], &[], &[], Some("/w/p")),
        ];
        for (file, roots, through, histories, expected) in cases {
            let histories = paths(histories);
            let found = history_folder(Path::new(file), &paths(roots), &paths(through), |folder| {
                histories.iter().any(|other| other == folder)
            });
            assert_eq!(
                found.as_deref(),
                expected.map(Path::new),
                "{file} {roots:?} {through:?} {histories:?}"
            );
        }
    }
}
