//! The sidecars that run, connections to them, and the editors that are waited for as they are starting.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashline_link::{Client, Error, Finder, Mark, Sidecar, SidecarId, StateDir};
use hashline_workspace::disk::identity;
use hashline_workspace::{OpenElsewhere, Others};

/// How often it is looked whether an editor that is starting is there.
const GLANCE: Duration = Duration::from_millis(20);

/// The sidecars that have announced themselves.
pub(super) struct Known {
    pub list: Arc<[Sidecar]>,
    /// Their roots with all links followed, in the order of the list.
    pub roots: Vec<Vec<PathBuf>>,
    /// The marks of editors that are starting, or were.
    pub marks: Arc<[Mark]>,
    /// Their folders with all links followed, in the same order.
    marked: Vec<Vec<PathBuf>>,
}

impl Known {
    /// Whether a sidecar serves the folder of a file.
    fn serves(&self, path: &Path) -> bool {
        self.roots.iter().flatten().any(|root| path.starts_with(root))
    }

    /// Whether an editor is starting that may have a file open, and whose sidecar cannot tell it yet. Another one may serve the folder
    /// meanwhile.
    fn is_awaited(&self, path: &Path) -> bool {
        let on = |(mark, roots): (&Mark, &Vec<PathBuf>)| {
            roots.iter().any(|root| path.starts_with(root)) && mark.is_on()
        };
        self.marks.iter().zip(&self.marked).any(on)
    }
}

/// Finds sidecars and keeps connections to them.
pub(super) struct Sidecars {
    finder: Finder,
    known: Mutex<Arc<Known>>,
    clients: Mutex<HashMap<SidecarId, Client>>,
}

impl Sidecars {
    pub(super) fn new(state: StateDir) -> Self {
        let known =
            Known { list: Arc::from([]), roots: Vec::new(), marks: Arc::from([]), marked: Vec::new() };
        Self {
            finder: Finder::new(state),
            known: Mutex::new(Arc::new(known)),
            clients: Mutex::new(HashMap::new()),
        }
    }

    /// Where they announce themselves.
    pub(super) fn state(&self) -> &StateDir {
        self.finder.state()
    }

    /// The sidecars as they are announced now. Costs a `stat` where nothing has changed.
    pub(super) fn known(&self) -> Arc<Known> {
        let (list, marks) = self.finder.look();
        let mut known = lock(&self.known);
        if !Arc::ptr_eq(&known.list, &list) || !Arc::ptr_eq(&known.marks, &marks) {
            let resolved = |roots: &Vec<PathBuf>| roots.iter().map(|root| identity(root)).collect();
            let roots = list.iter().map(|sidecar| resolved(&sidecar.roots)).collect();
            let marked = marks.iter().map(|mark| resolved(&mark.roots)).collect();
            lock(&self.clients).retain(|id, _| list.iter().any(|sidecar| sidecar.id == *id));
            *known = Arc::new(Known { list, roots, marks, marked });
        }
        Arc::clone(&known)
    }

    /// The same, when no editor is starting any more that may have this file. How long that can take, the marks tell; mostly it takes
    /// no time.
    pub(super) async fn settled(&self, mut known: Arc<Known>, path: &Path) -> Arc<Known> {
        while known.is_awaited(path) {
            tokio::time::sleep(GLANCE).await;
            known = self.known();
        }
        known
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
    /// Whether a sidecar serves the folder of a file, or is going to.
    fn has(&self, path: &Path) -> OpenElsewhere {
        let known = self.known();
        if known.serves(path) || known.is_awaited(path) { OpenElsewhere::Yes } else { OpenElsewhere::No }
    }

    fn answer_for(&self, path: &Path) -> bool {
        self.known().serves(path)
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
