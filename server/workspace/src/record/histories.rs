//! Which history holds what happens to a file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dashmap::DashMap;
use hashline_history::path::to_text;
use hashline_history::{DocumentName, FilesNow, Glance, Probe, Store, has_history, history_folder};
use hashline_text::FileHash;

use crate::disk::{DiskError, PathStyle, Place, Roots, read};
use crate::record::Job;
use crate::workspace::Workspace;

/// How deep below a root histories are looked for.
const DEPTH: usize = 6;

/// The histories in which a process records. Each is found when it is first needed.
pub struct Histories {
    process: String,
    probe: Option<Arc<dyn Probe>>,
    stores: DashMap<PathBuf, Store>,
    /// The histories of the files in a folder.
    found: DashMap<PathBuf, Option<Store>>,
    /// How the histories looked when their undecided edits were offered last.
    pub(crate) offered: DashMap<PathBuf, Glance>,
    /// Held while they are offered: whoever comes meanwhile finds all of them afterwards.
    pub(crate) offering: Mutex<()>,
    /// How they looked when it was asked last what others have recorded.
    pub(crate) watched: DashMap<PathBuf, Glance>,
    /// How many damaged lines of each the person knows of.
    damaged: DashMap<PathBuf, usize>,
}

impl Histories {
    /// `process` is what this process is called in the record, for people.
    #[must_use]
    pub fn of(process: impl Into<String>) -> Self {
        let process = format!("{} {}", process.into(), std::process::id());
        let (stores, found) = (DashMap::new(), DashMap::new());
        let (offered, watched, damaged) = (DashMap::new(), DashMap::new(), DashMap::new());
        let offering = Mutex::default();
        Self { process, probe: None, stores, found, offered, offering, watched, damaged }
    }

    /// The same, with every change of a history asked for. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_probe(self, probe: Arc<dyn Probe>) -> Self {
        Self { probe: Some(probe), ..self }
    }

    /// Looks for the histories anew when they are needed next: other folders are served now.
    pub(crate) fn forget(&self) {
        self.found.clear();
        self.offered.clear();
    }

    /// The histories that were asked for so far.
    pub(crate) fn open(&self) -> Vec<Store> {
        self.stores.iter().map(|store| store.value().clone()).collect()
    }

    fn store(&self, folder: &Path) -> Store {
        let fresh = || {
            let store = Store::new(folder, self.process.clone());
            match &self.probe {
                Some(probe) => store.with_probe(probe.clone()),
                None => store,
            }
        };
        self.stores.entry(folder.to_owned()).or_insert_with(fresh).clone()
    }
}

impl Workspace {
    /// The history of the file at a place.
    pub(crate) fn history_of(&self, place: &Place) -> Option<Store> {
        let histories = &self.inner.histories;
        let folder = place.absolute().parent()?;
        if let Some(found) = histories.found.get(folder) {
            return found.clone();
        }
        let through = self.roots();
        let mut roots = self.inner.others.get().map_or_else(Vec::new, |others| others.roots());
        roots.extend(through.iter().cloned());
        // What cannot be known has no history that could be written to, and says so when it is.
        let has = |folder: &Path| has_history(folder).unwrap_or(true);
        let store =
            history_folder(place.absolute(), &roots, &through, has).map(|folder| histories.store(&folder));
        histories.found.insert(folder.to_owned(), store.clone());
        store
    }

    /// Tells of lines of a record that were left out, each once.
    pub(crate) fn tell_damage(&self, store: &Store) {
        // What cannot be read is told by whoever needs it.
        let damage = store.damage().unwrap_or_default();
        let known = self.inner.histories.damaged.insert(store.folder().to_owned(), damage.len()).unwrap_or(0);
        if damage.len() > known {
            let lines: Vec<String> = damage
                .iter()
                .skip(known)
                .take(3)
                .map(|one| format!("line {}: {}", one.line, one.why))
                .collect();
            let more = damage.len() - known - lines.len();
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            self.notice(format!(
                "The edit history of {} is damaged, and what rests on the damaged lines cannot be decided any more ({}{more}). \
                 Everything else is as it was.",
                store.folder().display(),
                lines.join("; ")
            ));
        }
    }

    /// Looks for histories in folders below the roots, which files there were recorded in while only those folders were served; then what
    /// is undecided in them is offered. On a thread of its own, as there may be very many folders.
    pub(crate) fn look_below(&self) {
        let (roots, inner) = (self.roots(), Arc::downgrade(&self.inner));
        let search = move || {
            let found: Vec<PathBuf> = roots.iter().flat_map(|root| histories_below(root)).collect();
            if let Some(inner) = inner.upgrade().filter(|_| !found.is_empty()) {
                found.iter().for_each(|folder| drop(inner.histories.store(folder)));
                Self { inner }.later(Job::Offer);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("histories".to_owned()).spawn(search) {
            tracing::warn!("histories below the roots are found when files there are opened: {error}");
        }
    }

    /// The histories that are in use.
    pub(crate) fn histories_in_use(&self) -> Vec<Store> {
        // Those of roots come to be in use by being asked for.
        let _ = self.histories_of_roots();
        self.inner.histories.open()
    }

    /// The histories of whole roots, as far as there are any.
    pub(crate) fn histories_of_roots(&self) -> Vec<Store> {
        let mut roots = self.inner.others.get().map_or_else(Vec::new, |others| others.roots());
        let own = self.roots();
        roots.extend(own.iter().cloned());
        let has = |folder: &Path| has_history(folder).unwrap_or(false);
        let mut folders: Vec<PathBuf> = own
            .iter()
            .filter_map(|root| history_folder(&root.join("any"), &roots, &own, has))
            .filter(|folder| has(folder))
            .collect();
        folders.sort_unstable();
        folders.dedup();
        folders.iter().map(|folder| self.inner.histories.store(folder)).collect()
    }
}

/// The folders below a root, to a moderate depth, that have histories. What git ignores is not searched.
fn histories_below(root: &Path) -> Vec<PathBuf> {
    let folders = ignore::WalkBuilder::new(root)
        .max_depth(Some(DEPTH))
        .require_git(false)
        .filter_entry(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()))
        .build();
    let below =
        folders.filter_map(Result::ok).filter(|entry| entry.depth() > 0).map(ignore::DirEntry::into_path);
    below.filter(|folder| has_history(folder).unwrap_or(false)).collect()
}

/// What a file is called in the record.
pub(crate) fn name_in_record(place: &Place) -> DocumentName {
    DocumentName::Path(place.absolute().to_owned())
}

/// The files of a workspace, for a history that asks whether something was written.
pub(crate) struct OnDisk<'a>(pub &'a Workspace);

impl FilesNow for OnDisk<'_> {
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>> {
        self.0.read_roots().hash(path)
    }
}

/// The files in these folders. What does not lie in them is not read: paths come from the record.
impl FilesNow for Roots {
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>> {
        let place = self.resolve(&to_text(path), PathStyle::Any).map_err(std::io::Error::other)?;
        match read(&place) {
            Ok(bytes) => Ok(Some(FileHash::of(&bytes.bytes))),
            Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }) => Ok(None),
            Err(error) => Err(std::io::Error::other(error)),
        }
    }
}
