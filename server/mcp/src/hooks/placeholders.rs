//! Where a program writes what is held: files beside nobody's work, each of which is removed when the program has made it.
//!
//! What the program is to be told of its edit lies in the state folder. Before and after may be told to different processes, so it is not
//! kept in memory. A placeholder lies there too, where the program may write there. What is left of a program that has ended in between is
//! removed an hour later.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_link::StateDir;
use serde::{Deserialize, Serialize};

use crate::hooks::built_in::BuiltIn;

/// Its name in the state folder.
const FOLDER: &str = "held";
/// What the name of a placeholder begins with.
const PREFIX: &str = "held-";
/// How long a program may take to make a placeholder.
const KEPT: Duration = Duration::from_secs(3600);

/// What a program writes into a placeholder, for whoever finds one.
pub(super) const PLACEHOLDER: &str =
    "hashline holds an edit of an open file; this placeholder is removed in a moment.\n";

/// What a program calls a use of a tool: it names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UseId(String);

impl UseId {
    /// None if it could not name a file in a folder.
    pub(super) fn new(id: &str) -> Option<Self> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        ((1..=100).contains(&id.len()) && id.bytes().all(is_safe)).then(|| Self(id.to_owned()))
    }

    /// One for a program that has none.
    pub(super) fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    /// That of a placeholder, by its path.
    pub(super) fn of_placeholder(path: &str) -> Option<Self> {
        Path::new(path).file_name()?.to_str()?.strip_prefix(PREFIX).and_then(Self::new)
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

/// The placeholders in a folder.
pub(super) struct Placeholders {
    state: StateDir,
    folder: PathBuf,
    /// Where it lies what programs are told.
    told: PathBuf,
}

impl Placeholders {
    /// Those in the folder in which a program may write; none for the state folder.
    pub(super) fn new(state: &StateDir, place: Option<&Path>) -> Self {
        let told = state.path().join(FOLDER);
        Self { folder: place.map_or_else(|| told.clone(), Path::to_owned), told, state: state.clone() }
    }

    /// Keeps what was held by a use of a tool. Returns the path of its placeholder, which the program makes.
    pub(super) fn put(&self, id: &UseId, held: &Held) -> Result<String, String> {
        self.sweep(KEPT);
        self.state.folder(FOLDER).map_err(|error| error.to_string())?;
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

    /// Writes a text for a program to read, in the place of what it has read or written. It stays until the turn ends.
    pub(super) fn tell(&self, id: &UseId, words: &str) -> Result<String, String> {
        let file = self.file(id);
        fs::write(&file, words).map_err(|error| error.to_string())?;
        file.into_os_string().into_string().map_err(|_| "the folder's path is no UTF-8 text".to_owned())
    }

    /// Removes what is older: programs that made it, or that it was made for, have ended.
    pub(super) fn sweep(&self, age: Duration) {
        for folder in [&self.folder, &self.told] {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let is_own = folder == &self.told || name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
                let made = entry.metadata().and_then(|found| found.modified());
                let is_old = made.is_ok_and(|made| made.elapsed().is_ok_and(|since| since > age));
                if is_own && is_old {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    fn file(&self, UseId(id): &UseId) -> PathBuf {
        self.folder.join(format!("{PREFIX}{id}"))
    }

    fn told(&self, UseId(id): &UseId) -> PathBuf {
        self.told.join(format!("{id}.json"))
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
        let placeholders = Placeholders::new(&StateDir::new(Some(temp.path())).unwrap(), None);
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
        for name in [PathBuf::from(file), temp.path().join(FOLDER).join("toolu_01-x.json")] {
            fs::File::options().write(true).open(name).unwrap().set_modified(long_ago).unwrap();
        }
        placeholders.put(&UseId::new("other").unwrap(), &held).unwrap();
        assert_eq!(left(), 1);
    }

    #[test]
    fn in_a_folder_of_others_only_what_is_ours_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let (state, place) = (temp.path().join("state"), temp.path().join("place"));
        fs::create_dir(&place).unwrap();
        fs::write(place.join("theirs"), "").unwrap();
        let placeholders = Placeholders::new(&StateDir::new(Some(&state)).unwrap(), Some(&place));
        let id = UseId::random();
        let file = placeholders.tell(&id, "words").unwrap();
        assert_eq!(UseId::of_placeholder(&file), Some(id));
        assert_eq!(UseId::of_placeholder("/p/theirs"), None);
        std::thread::sleep(Duration::from_millis(10));
        placeholders.sweep(Duration::ZERO);
        let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["theirs"]);
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_none() {
        for id in ["", "..", "a/b", "a\\b", "a.json", "\u{e9}", &"x".repeat(101)] {
            assert_eq!(UseId::new(id), None, "{id:?}");
        }
    }
}
