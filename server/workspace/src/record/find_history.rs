//! Which history holds what happens to a file, and which there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::path::to_text;
use hashline_history::{DocumentName, Store, StoreError, has_history, history_folder};

use crate::disk::Place;
use crate::record::Job;
use crate::workspace::Workspace;

/// How deep below a root histories are looked for.
const DEPTH: usize = 6;

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

    /// Tells of a history that is not this user's, once until it is.
    pub(crate) fn tell_foreign(&self, store: &Store) {
        let known = &self.inner.histories.foreign;
        match store.check_owner() {
            Err(error @ (StoreError::Foreign { .. } | StoreError::NoKey { .. })) => {
                if known.insert(store.folder().to_owned()) {
                    self.notice(format!("Agents cannot edit here: {error}."));
                }
            }
            // What cannot be read is told by whoever needs it.
            _ => drop(known.remove(store.folder())),
        }
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
                to_text(store.folder()),
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
