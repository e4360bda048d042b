//! Where a program writes what is held: files beside nobody's work, each of which is removed when the program has made it.
//!
//! What the program is to be told of its edit lies in the state folder. Before and after may be told to different processes, so it is not
//! kept in memory. A placeholder lies there too, where the program may write there. So does what a file held that no editor has open, while
//! the program writes it. What is left of a program that has ended in between is removed by a later one, after an hour.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_link::StateDir;
use hashline_text::FileHash;
use serde::{Deserialize, Serialize};

use crate::hooks::built_in::BuiltIn;

/// Its name in the state folder.
const FOLDER: &str = "held";
/// What the name of a placeholder begins with.
const PREFIX: &str = "hashline-held-";
/// What the name of a text begins with that a program reads.
const TEXT: &str = "hashline-text-";
/// How many digits the rest of a name has.
const LENGTH: usize = 64;
/// How soon a program has read what was written for it to read.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// How long a program may take to make a placeholder.
const KEPT: Duration = Duration::from_secs(3600);

/// What a program writes into a placeholder, for whoever finds one.
pub(super) const PLACEHOLDER: &str =
    "hashline holds an edit of an open file; this placeholder is removed in a moment.\n";

/// A use of a tool of a program, in a name for files that nobody else's has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UseId(String);

impl UseId {
    /// That of a use by what its program calls it. What programs call them may be anything, and the same in two sessions.
    pub(super) fn new(program: &str, session: &str, id: &str) -> Self {
        Self(FileHash::of(format!("{program}\0{session}\0{id}").as_bytes()).to_hex())
    }

    /// One for a program that has no names for them.
    pub(super) fn random() -> Self {
        Self::new("", "", &uuid::Uuid::new_v4().to_string())
    }

    /// That of a placeholder, by its path.
    pub(super) fn of_placeholder(path: &str) -> Option<Self> {
        let id = Path::new(path).file_name()?.to_str()?.strip_prefix(PREFIX)?;
        let is_one = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| Self(id.to_owned()))
    }
}

/// A write that is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// What the agent wanted.
    pub tool: BuiltIn,
    /// The live text before.
    pub before: String,
    /// The same with the edit in it.
    pub after: String,
    /// What the agent reads of it.
    pub words: String,
}

/// A file that no editor has open, before a program writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnopenedFile {
    /// Its path, as the agent spells it.
    pub path: String,
    /// What it holds; none if there is none.
    pub before: Option<String>,
    /// The kind of tool by which it is written.
    pub tool: String,
}

/// The placeholders in a folder.
pub(super) struct Placeholders {
    state: StateDir,
    folder: PathBuf,
    /// The folder of what programs are told.
    told: PathBuf,
}

impl Placeholders {
    /// Those in the folder in which a program may write; none for the state folder.
    pub(super) fn new(state: &StateDir, place: Option<&Path>) -> Self {
        let told = state.path().join(FOLDER);
        Self { folder: place.map_or_else(|| told.clone(), Path::to_owned), told, state: state.clone() }
    }

    /// Takes a use of a tool on. False if that was done: the hooks of a program may be installed twice.
    pub(super) fn claim(&self, id: &UseId) -> Result<bool, String> {
        self.sweep();
        self.state.folder(FOLDER).map_err(|error| error.to_string())?;
        match fs::File::create_new(self.told(id)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Lets a use of a tool go, of which nothing is held.
    pub(super) fn release(&self, id: &UseId) {
        let _ = fs::remove_file(self.told(id));
    }

    /// Keeps what was held by a use of a tool. Returns the path of its placeholder, which the program makes.
    pub(super) fn put(&self, id: &UseId, held: &Held) -> Result<String, String> {
        let told = serde_json::to_vec(held).map_err(|error| error.to_string())?;
        fs::write(self.told(id), told).map_err(|error| error.to_string())?;
        text_of(self.file(id))
    }

    /// What was held by a use of a tool, whose placeholder is removed. None, too, where it is known what the program has written and that is
    /// another file: then it was not the placeholder's content that it was given last.
    pub(super) fn take(&self, id: &UseId, written: Option<&str>) -> Option<Held> {
        let (file, told) = (self.file(id), self.told(id));
        let held = fs::read(&told).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        for file in [&file, &told] {
            if let Err(error) = fs::remove_file(file).or_else(is_missing) {
                tracing::warn!("{} stays: {error}", file.display());
            }
        }
        held.filter(|_| written.is_none_or(|written| Path::new(written) == file))
    }

    /// Notes what files hold that a use of a tool is about to write. It may be told of before, and have failed: what they hold now counts.
    pub(super) fn note(&self, id: &UseId, files: &[UnopenedFile]) -> Result<(), String> {
        self.sweep();
        self.state.folder(FOLDER).map_err(|error| error.to_string())?;
        let noted = serde_json::to_vec(files).map_err(|error| error.to_string())?;
        write_private(&self.noted(id), &noted).map_err(|error| error.to_string())
    }

    /// The files that were noted of a use of a tool.
    pub(super) fn take_noted(&self, id: &UseId) -> Vec<UnopenedFile> {
        let noted = self.noted(id);
        let files = fs::read(&noted).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if files.is_some() {
            let _ = fs::remove_file(noted);
        }
        files.unwrap_or_default()
    }

    /// Writes a text for a program to read, in the place of what it has read or written. It stays until the turn ends.
    pub(super) fn tell(&self, words: &str) -> Result<String, String> {
        let UseId(name) = UseId::random();
        let file = self.folder.join(format!("{TEXT}{name}"));
        write_private(&file, words.as_bytes()).map_err(|error| error.to_string())?;
        text_of(file)
    }

    /// Removes the texts that programs have read.
    pub(super) fn end_turn(&self) {
        remove(&self.folder, &[TEXT], READ_WITHIN);
    }

    /// Removes what is left of programs that have ended.
    fn sweep(&self) {
        remove(&self.folder, &[PREFIX, TEXT], KEPT);
        remove(&self.told, &[""], KEPT);
    }

    fn file(&self, UseId(id): &UseId) -> PathBuf {
        self.folder.join(format!("{PREFIX}{id}"))
    }

    fn told(&self, UseId(id): &UseId) -> PathBuf {
        self.told.join(format!("{id}.json"))
    }

    fn noted(&self, UseId(id): &UseId) -> PathBuf {
        self.told.join(format!("{id}.before.json"))
    }
}

/// Writes a file that others of this machine cannot read: it may be the person's unsaved work.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    open.open(file)?.write_all(bytes)
}

/// Removes the files of a folder that are older, and whose names begin so.
fn remove(folder: &Path, beginnings: &[&str], age: Duration) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours =
            beginnings.iter().any(|beginning| name.as_encoded_bytes().starts_with(beginning.as_bytes()));
        let made = entry.metadata().and_then(|found| found.modified());
        if is_ours && made.is_ok_and(|made| made.elapsed().is_ok_and(|since| since > age)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn text_of(file: PathBuf) -> Result<String, String> {
    file.into_os_string().into_string().map_err(|_| "the folder's path is no UTF-8 text".to_owned())
}

fn is_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn placeholders(temp: &tempfile::TempDir, place: Option<&Path>) -> Placeholders {
        Placeholders::new(&StateDir::new(Some(&temp.path().join("state"))).unwrap(), place)
    }

    fn held() -> Held {
        let tool = BuiltIn::Write { path: "/p/a".into(), content: "b".into() };
        Held { tool, before: "a".into(), after: "b".into(), words: "held".into() }
    }

    #[test]
    fn what_is_put_is_taken_once_and_nothing_stays() {
        let temp = tempfile::tempdir().unwrap();
        let placeholders = placeholders(&temp, None);
        let id = UseId::new("opencode", "1", "functions.edit:0");
        let put = || {
            assert_eq!(placeholders.claim(&id), Ok(true));
            assert_eq!(placeholders.claim(&id), Ok(false), "its hooks are installed twice");
            let file = placeholders.put(&id, &held()).unwrap();
            fs::write(&file, "the program's").unwrap();
            file
        };
        let file = put();
        assert_eq!(UseId::of_placeholder(&file), Some(id.clone()));
        assert_eq!(
            placeholders.take(&UseId::new("opencode", "2", "functions.edit:0"), None),
            None,
            "another session"
        );
        assert_eq!(placeholders.take(&id, Some(&file)), Some(held()));
        assert_eq!(placeholders.take(&id, Some(&file)), None);
        put();
        assert_eq!(placeholders.take(&id, Some("/p/a")), None, "the file itself was written");
        let left = || fs::read_dir(temp.path().join("state").join(FOLDER)).unwrap().count();
        assert_eq!(left(), 0);
        // Of a program that has ended.
        let file = put();
        let long_ago = SystemTime::now() - KEPT - Duration::from_secs(1);
        for name in [PathBuf::from(file), placeholders.told(&id)] {
            fs::File::options().write(true).open(name).unwrap().set_modified(long_ago).unwrap();
        }
        placeholders.claim(&UseId::random()).unwrap();
        assert_eq!(left(), 1);
    }

    #[test]
    fn what_files_held_is_noted_for_the_use_that_writes_them() {
        let temp = tempfile::tempdir().unwrap();
        let placeholders = placeholders(&temp, None);
        let (id, other) = (UseId::new("gemini", "1", "a"), UseId::new("gemini", "2", "a"));
        let file = |before: &str| UnopenedFile {
            path: "/p/a".into(),
            before: Some(before.into()),
            tool: "edit".into(),
        };
        placeholders.note(&id, &[file("of a use that failed")]).unwrap();
        placeholders.note(&id, &[file("one")]).unwrap();
        assert_eq!(placeholders.claim(&id), Ok(true), "it is open by now");
        assert_eq!(placeholders.take_noted(&other), []);
        assert_eq!(placeholders.take_noted(&id), [file("one")]);
        assert_eq!(placeholders.take_noted(&id), []);
    }

    #[test]
    fn in_a_folder_of_others_only_what_is_ours_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join("place");
        fs::create_dir(&place).unwrap();
        let placeholders = placeholders(&temp, Some(&place));
        fs::write(place.join("held-notes"), "").unwrap();
        let text = PathBuf::from(placeholders.tell("unsaved").unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&text).unwrap().permissions().mode() & 0o777, 0o600);
        }
        placeholders.end_turn();
        assert!(text.exists(), "it was not read yet");
        let long_ago = SystemTime::now() - KEPT - Duration::from_secs(1);
        for file in [&text, &place.join("held-notes")] {
            fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
        }
        placeholders.end_turn();
        let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["held-notes"]);
        for none in ["/p/held-notes", "/p/hashline-held-", "/p/hashline-held-../x", "/"] {
            assert_eq!(UseId::of_placeholder(none), None, "{none}");
        }
    }
}
