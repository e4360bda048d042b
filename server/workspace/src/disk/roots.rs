//! The folders that are served, each opened once.
//!
//! # Limitations
//! A root is its folder's handle, not its name: if the folder is moved, the handle goes with it, and if another is
//! made in its place, it is not served until the roots are opened anew.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use hashline_history::path::to_text;

use super::clock::Clock;
use super::error::{Action, DiskError};
use super::forbidden_folder::{Closed, Shut};
use super::hard_links::HardLinks;
use super::identity::identity;
use super::spelling::{Guarded, guarded_path};

/// One folder that is served.
#[derive(Debug)]
pub struct Root {
    name: String,
    path: PathBuf,
    /// The same folder as callers spell it, where that differs (`/tmp` for `/private/tmp`).
    spelled: Option<PathBuf>,
    pub(super) dir: Dir,
    pub(super) clock: Clock,
}

impl Root {
    /// The base name of the folder, with `-2` and so on behind it when a root before it has the same.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder, with all links followed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The folders that are served, in order. Cheap to clone.
///
/// Invariants: paths are absolute, free of links when they were opened, different from each other, and none lies in a
/// `.mcp` folder. Names are different from each other.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    roots: Arc<[Arc<Root>]>,
    /// A folder that nobody is served, wherever it lies.
    closed: Option<Closed>,
    hard_links: HardLinks,
}

impl Roots {
    /// Opens folders as roots. One that is given twice counts once.
    ///
    /// # Errors
    /// A folder is missing, is none, lies in `.mcp`, or cannot be opened.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Roots, DiskError> {
        let opened: Result<Vec<_>, _> = paths.into_iter().map(|path| open_root(path.as_ref())).collect();
        Ok(Roots::of(opened?, None))
    }

    /// The same roots without a folder and all that lies in it, which may not be there yet: hashline's own state.
    ///
    /// # Errors
    /// A root is that folder, or lies in it.
    pub fn closing(&self, folder: &Path) -> Result<Roots, DiskError> {
        let closed = Closed::new(folder);
        let shut = closed.look();
        match self.iter().find(|root| shut.holds(&root.path)) {
            Some(root) => Err(DiskError::BadRoot {
                path: root.path.clone(),
                why: "it lies in hashline's own folder, where its keys are kept",
            }),
            None => Ok(Roots { closed: Some(closed), ..self.clone() }),
        }
    }

    /// No roots; what is closed in these is closed in those that come in their place.
    #[must_use]
    pub fn none(&self) -> Roots {
        Roots { roots: Arc::default(), ..self.clone() }
    }

    /// Opens other folders as roots, without the folder that is closed here.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and of [`closing`](Self::closing).
    pub fn others<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<Roots, DiskError> {
        let roots = Roots::open(paths)?.with_hard_links(self.hard_links);
        self.closed.as_ref().map_or_else(|| Ok(roots.clone()), |closed| roots.closing(closed.path()))
    }

    /// The same roots, with files served or refused that have more than one name.
    #[must_use]
    pub fn with_hard_links(&self, hard_links: HardLinks) -> Roots {
        Roots { hard_links, ..self.clone() }
    }

    /// Whether files are served that have more than one name.
    #[must_use]
    pub fn hard_links(&self) -> HardLinks {
        self.hard_links
    }

    /// What is closed at the moment, if anything is.
    pub(super) fn shut(&self) -> Option<Shut> {
        self.closed.as_ref().map(Closed::look)
    }

    /// What of these roots lies within the folders of a caller, in the caller's order: where one lies in the other,
    /// the inner of the two. May be empty. A folder of the caller that does not exist counts as outside.
    #[must_use]
    pub fn narrowed_to(&self, folders: &[PathBuf]) -> Roots {
        let mut narrowed = Vec::new();
        for spelled in folders {
            let folder = identity(spelled);
            for root in self.iter() {
                if root.path.starts_with(&folder) {
                    let dir = root.dir.try_clone().ok();
                    let (path, spelled) = (root.path.clone(), root.spelled.clone());
                    narrowed.extend(dir.map(|dir| Opened { dir, path, spelled }));
                } else if let Ok(inside) = folder.strip_prefix(&root.path) {
                    let dir = open_inside(&root.dir, inside);
                    let spelled = Some(spelled.clone());
                    narrowed.extend(dir.map(|dir| Opened { dir, path: folder.clone(), spelled }));
                }
            }
        }
        Roots { hard_links: self.hard_links, ..Roots::of(narrowed, self.closed.clone()) }
    }

    fn of(opened: Vec<Opened>, closed: Option<Closed>) -> Roots {
        let mut seen = HashSet::new();
        let opened: Vec<_> = opened.into_iter().filter(|opened| seen.insert(opened.path.clone())).collect();
        let bases: Vec<_> = opened.iter().map(|opened| base_name(&opened.path)).collect();
        // No name that is made up takes that of another folder.
        let mut taken: HashSet<_> = bases.iter().cloned().collect();
        let mut first = HashSet::new();
        let roots = opened
            .into_iter()
            .zip(bases)
            .map(|(Opened { dir, path, spelled }, base)| {
                let name = if first.insert(base.clone()) { base } else { free_name(&base, &taken) };
                taken.insert(name.clone());
                let spelled = spelled.filter(|spelled| spelled.is_absolute() && *spelled != path);
                Arc::new(Root { name, path, spelled, dir, clock: Clock::default() })
            })
            .collect();
        Roots { roots, closed, hard_links: HardLinks::Served }
    }

    /// The roots in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Root>> {
        self.roots.iter()
    }

    /// One root.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Arc<Root>> {
        self.roots.get(index)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The first root that holds a path free of links, and the path within it.
    pub(super) fn holding<'p>(&self, path: &'p Path) -> Option<(usize, &'p Path)> {
        self.iter().enumerate().find_map(|(index, root)| Some((index, path.strip_prefix(&root.path).ok()?)))
    }

    /// The same for the spellings in which the roots were given.
    pub(super) fn holding_spelled<'p>(&self, path: &'p Path) -> Option<(usize, &'p Path)> {
        self.iter()
            .enumerate()
            .find_map(|(index, root)| Some((index, path.strip_prefix(root.spelled.as_ref()?).ok()?)))
    }

    /// The path within the roots of an absolute path free of links, as [`PathStyle::WithinRoot`](super::PathStyle::WithinRoot) has
    /// it: of several roots the first name tells which.
    #[must_use]
    pub fn within(&self, path: &Path) -> Option<PathBuf> {
        let (index, inside) = self.holding(path)?;
        if self.len() == 1 {
            Some(inside.to_owned())
        } else {
            // For the root itself without a / at its end.
            Some(Path::new(self.get(index)?.name()).join(inside).components().collect())
        }
    }

    pub(super) fn folders(&self) -> Vec<String> {
        self.iter().map(|root| to_text(&root.path).into_owned()).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.iter().map(|root| root.name.clone()).collect()
    }
}

struct Opened {
    dir: Dir,
    path: PathBuf,
    spelled: Option<PathBuf>,
}

fn open_root(given: &Path) -> Result<Opened, DiskError> {
    let bad = |why| DiskError::BadRoot { path: given.to_path_buf(), why };
    let failed = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => bad("there is no such folder"),
        std::io::ErrorKind::NotADirectory => bad("it is not a folder"),
        _ => DiskError::from_io(given, Action::OpenRoot, error),
    };
    let path = given.canonicalize().map_err(|e| failed(&e))?;
    if guarded_path(&path) == Some(Guarded::Store) {
        return Err(bad("it lies in .mcp, where the record of edits is kept"));
    }
    let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(|e| failed(&e))?;
    Ok(Opened { dir, path, spelled: std::path::absolute(given).ok() })
}

/// A folder below a root, reached without following a link, and not in `.mcp`.
fn open_inside(root: &Dir, inside: &Path) -> Option<Dir> {
    if guarded_path(inside) == Some(Guarded::Store) {
        return None;
    }
    inside.components().try_fold(root.try_clone().ok()?, |dir, component| match component {
        Component::Normal(name) => dir.open_dir_nofollow(name).ok(),
        _ => None,
    })
}

fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
}

fn free_name(base: &str, taken: &HashSet<String>) -> String {
    let mut numbered = (2..).map(|number| format!("{base}-{number}"));
    numbered.find(|name| !taken.contains(name)).unwrap_or_default()
}
