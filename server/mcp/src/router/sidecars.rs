//! The sidecars that run, and connections to them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashline_link::{Client, Error, Finder, Sidecar, SidecarId, StateDir};
use hashline_workspace::Others;
use hashline_workspace::disk::identity;

/// The sidecars that have announced themselves.
pub(super) struct Known {
    pub list: Arc<[Sidecar]>,
    /// Their roots with all links followed, in the order of the list.
    pub roots: Vec<Vec<PathBuf>>,
}

/// Finds sidecars and keeps connections to them.
pub(super) struct Sidecars {
    finder: Finder,
    known: Mutex<Arc<Known>>,
    clients: Mutex<HashMap<SidecarId, Client>>,
}

impl Sidecars {
    pub(super) fn new(state: StateDir) -> Self {
        let known = Known { list: Arc::from([]), roots: Vec::new() };
        Self {
            finder: Finder::new(state),
            known: Mutex::new(Arc::new(known)),
            clients: Mutex::new(HashMap::new()),
        }
    }

    /// The sidecars as they are announced now. Costs a `stat` where nothing has changed.
    pub(super) fn known(&self) -> Arc<Known> {
        let list = self.finder.sidecars();
        let mut known = lock(&self.known);
        if !Arc::ptr_eq(&known.list, &list) {
            let resolved = |sidecar: &Sidecar| sidecar.roots.iter().map(|root| identity(root)).collect();
            let roots = list.iter().map(resolved).collect();
            lock(&self.clients).retain(|id, _| list.iter().any(|sidecar| sidecar.id == *id));
            *known = Arc::new(Known { list, roots });
        }
        Arc::clone(&known)
    }

    /// A connection to a sidecar, made if there is none.
    pub(super) async fn client(&self, sidecar: &Sidecar) -> Result<Client, Error> {
        let kept = lock(&self.clients).get(&sidecar.id).filter(|client| !client.is_closed()).cloned();
        if let Some(client) = kept {
            return Ok(client);
        }
        match Client::connect(sidecar).await {
            Ok(client) => {
                lock(&self.clients).insert(sidecar.id.clone(), client.clone());
                Ok(client)
            }
            Err(error) => {
                if error.is_refused() {
                    self.finder.refused(sidecar);
                }
                Err(error)
            }
        }
    }
}

impl Others for Sidecars {
    /// Whether a sidecar serves the folder of a file.
    fn may_have(&self, path: &Path) -> bool {
        self.known().roots.iter().flatten().any(|root| path.starts_with(root))
    }

    fn answer_for(&self, path: &Path) -> bool {
        self.may_have(path)
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.known().roots.concat()
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn editor_of(&self, name: &str) -> Option<String> {
        let known = self.known();
        let sidecar = known.list.iter().find(|sidecar| sidecar.id.as_str() == name)?;
        (!sidecar.has_ended()).then(|| sidecar.editor.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
