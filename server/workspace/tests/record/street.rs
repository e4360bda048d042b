//! The processes that serve one folder, as they know of each other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hashline_workspace::{OpenElsewhere, Others, Workspace};

/// The processes that run, the oldest first.
#[derive(Clone, Default)]
pub struct Street {
    houses: Arc<Mutex<Vec<(String, Workspace)>>>,
}

impl Street {
    /// How a process that is to begin sees the others.
    pub fn seen_by(&self, name: &str) -> Arc<dyn Others> {
        Arc::new(House { street: self.clone(), own: format!("{name}-id") })
    }

    /// It has begun.
    pub fn joined_by(&self, name: &str, workspace: &Workspace) {
        self.houses.lock().unwrap().push((name.to_owned(), workspace.clone()));
    }

    /// A process ends without a word.
    pub fn left_by(&self, name: &str) {
        self.houses.lock().unwrap().retain(|(house, _)| house != name);
    }
}

/// A process, as it sees the others.
struct House {
    street: Street,
    own: String,
}

impl House {
    fn others(&self) -> Vec<(String, Workspace)> {
        let houses = self.street.houses.lock().unwrap();
        houses.iter().filter(|(name, _)| format!("{name}-id") != self.own).cloned().collect()
    }
}

impl Others for House {
    fn has(&self, path: &Path) -> OpenElsewhere {
        let is_open = |other: &Workspace| other.holding(path).is_some_and(|held| held.open);
        if self.others().iter().any(|(_, other)| is_open(other)) {
            OpenElsewhere::Yes
        } else {
            OpenElsewhere::No
        }
    }

    fn answer_for(&self, _: &Path) -> bool {
        let houses = self.street.houses.lock().unwrap();
        houses.first().is_some_and(|(name, _)| format!("{name}-id") != self.own)
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.others().iter().flat_map(|(_, other)| other.roots()).collect()
    }

    fn own_name(&self) -> Option<&str> {
        Some(&self.own)
    }

    fn editor_of(&self, name: &str) -> Option<String> {
        self.others().into_iter().map(|(other, _)| other).find(|other| format!("{other}-id") == name)
    }
}
