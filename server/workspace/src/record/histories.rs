//! The histories in which a process records, each found when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dashmap::{DashMap, DashSet};
use hashline_history::{Glance, Probe, Signer, Store};

/// The histories in which a process records. Each is found when it is first needed.
pub struct Histories {
    process: String,
    signer: Option<Signer>,
    probe: Option<Arc<dyn Probe>>,
    pub(super) stores: DashMap<PathBuf, Store>,
    /// The histories of the files in a folder.
    pub(super) found: DashMap<PathBuf, Option<Store>>,
    /// How the histories looked when their undecided edits were offered last.
    pub(crate) offered: DashMap<PathBuf, Glance>,
    /// Held while they are offered: whoever comes meanwhile finds all of them afterwards.
    pub(crate) offering: Mutex<()>,
    /// Held while documents are brought up to them: whoever comes meanwhile finds that done, and makes nothing a second time.
    pub(crate) catching_up: Mutex<()>,
    /// How they looked when it was asked last what others have recorded.
    pub(crate) watched: DashMap<PathBuf, Glance>,
    /// Those that are not this user's, as far as the person knows of it.
    pub(super) foreign: DashSet<PathBuf>,
    /// How many damaged lines of each the person knows of.
    pub(super) damaged: DashMap<PathBuf, usize>,
}

/// What a process of a program is called in the record, for people.
#[must_use]
pub fn name_of_process(program: &str) -> String {
    format!("{program} {}", std::process::id())
}

impl Histories {
    /// `process` is what this process is called in the record, for people.
    #[must_use]
    pub fn of(process: impl Into<String>) -> Self {
        let process = name_of_process(&process.into());
        let (stores, found) = (DashMap::new(), DashMap::new());
        let (offered, watched) = (DashMap::new(), DashMap::new());
        let (foreign, damaged) = (DashSet::new(), DashMap::new());
        let (offering, catching_up) = (Mutex::default(), Mutex::default());
        Self {
            process,
            signer: None,
            probe: None,
            stores,
            found,
            offered,
            offering,
            catching_up,
            watched,
            foreign,
            damaged,
        }
    }

    /// The same of a user: what they did not sign is not believed.
    #[must_use]
    pub fn signed_by(self, signer: Signer) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// The same with a history that is open already: nothing of it is read twice, if the files in it are found by the name that its folder has
    /// here.
    #[must_use]
    pub fn with_store(self, store: Store) -> Self {
        self.stores.insert(store.folder().to_owned(), store);
        self
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

    pub(super) fn store(&self, folder: &Path) -> Store {
        let fresh = || {
            let mut store = Store::new(folder, self.process.clone());
            if let Some(signer) = &self.signer {
                store = store.signed_by(signer.clone());
            }
            match &self.probe {
                Some(probe) => store.with_probe(probe.clone()),
                None => store,
            }
        };
        self.stores.entry(folder.to_owned()).or_insert_with(fresh).clone()
    }
}
