//! Where a program writes what is held: files beside nobody's work, each of which is removed when the program has made it.
//!
//! Beside a placeholder lies what the program is to be told of its edit. Before and after may be told to different processes, so it is not
//! kept in memory. What is left of a program that has ended in between is removed an hour later.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_link::StateDir;
use serde::{Deserialize, Serialize};

use crate::hooks::built_in::BuiltIn;

/// Its name in the state folder.
const FOLDER: &str = "held";
/// How long a program may take to make a placeholder.
const KEPT: Duration = Duration::from_secs(3600);

/// What a program calls a use of a tool: it names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UseId(String);

impl UseId {
    /// None if it could not name a file in a folder.
    pub(super) fn new(id: &str) -> Option<Self> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        ((1..=100).contains(&id.len()) && id.bytes().all(is_safe)).then(|| Self(id.to_owned()))
    }
}

/// A write that is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    /// What the agent wanted.
    pub tool: BuiltIn,
    /// The live text before.
    pub before: String,
    /// The same with the edit in it.
    pub after: String,
    /// What the agent reads of it.
    pub words: String,
}

/// The placeholders of a user.
pub(super) struct Placeholders {
    folder: PathBuf,
}

impl Placeholders {
    pub(super) fn open(state: &StateDir) -> Result<Self, String> {
        let folder = state.folder(FOLDER).map_err(|error| error.to_string())?;
        Ok(Self { folder })
    }

    /// Keeps what was held by a use of a tool. Returns the path of its placeholder, which the program makes.
    pub(super) fn put(&self, id: &UseId, held: &Held) -> Result<String, String> {
        self.sweep();
        let told = serde_json::to_vec(held).map_err(|error| error.to_string())?;
        let file = self.file(id);
        fs::write(self.told(id), told).map_err(|error| error.to_string())?;
        file.into_os_string().into_string().map_err(|_| "the state folder's path is no UTF-8 text".to_owned())
    }

    /// What was held by a use of a tool, if the program has written to its placeholder, which is removed.
    pub(super) fn take(&self, id: &UseId, written: &str) -> Option<Held> {
        let (file, told) = (self.file(id), self.told(id));
        if Path::new(written) != file {
            return None;
        }
        let held = fs::read(&told).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        for file in [file, told] {
            if let Err(error) = fs::remove_file(&file).or_else(is_missing) {
                tracing::warn!("{} stays: {error}", file.display());
            }
        }
        held
    }

    /// Removes what is left of programs that have ended.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|found| found.modified()).map(|moment| moment.elapsed());
            if age.is_ok_and(|age| age.is_ok_and(|age| age > KEPT)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn file(&self, UseId(id): &UseId) -> PathBuf {
        self.folder.join(id)
    }

    fn told(&self, UseId(id): &UseId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

fn is_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_is_put_is_taken_once_and_nothing_stays() {
        let temp = tempfile::tempdir().unwrap();
        let placeholders = Placeholders::open(&StateDir::new(Some(temp.path())).unwrap()).unwrap();
        let id = UseId::new("toolu_01-x").unwrap();
        let tool = BuiltIn::Write { path: "/p/a".into(), content: "b".into() };
        let held = Held { tool, before: "a".into(), after: "b".into(), words: "held".into() };
        let file = placeholders.put(&id, &held).unwrap();
        assert_eq!(placeholders.take(&id, "/p/a"), None, "another file was written");
        fs::write(&file, "the program's").unwrap();
        assert_eq!(placeholders.take(&id, &file), Some(held.clone()));
        assert_eq!(placeholders.take(&id, &file), None);
        let left = || fs::read_dir(temp.path().join(FOLDER)).unwrap().count();
        assert_eq!(left(), 0);
        // Of a program that has ended.
        let file = placeholders.put(&id, &held).unwrap();
        fs::write(&file, "").unwrap();
        let long_ago = SystemTime::now() - KEPT - Duration::from_secs(1);
        for name in [file.clone(), format!("{file}.json")] {
            fs::File::options().write(true).open(name).unwrap().set_modified(long_ago).unwrap();
        }
        placeholders.put(&UseId::new("other").unwrap(), &held).unwrap();
        assert_eq!(left(), 1);
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_none() {
        for id in ["", "..", "a/b", "a\\b", "a.json", "\u{e9}", &"x".repeat(101)] {
            assert_eq!(UseId::new(id), None, "{id:?}");
        }
    }
}
