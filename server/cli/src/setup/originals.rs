//! What files held before they were set up, so that `--remove` gives back their very bytes: what is taken out of a text of JSON or TOML
//! leaves its layout a little different.
//!
//! They lie in the state folder. A file that something else has changed since is not given back; then hashline's part is taken out of it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hashline_link::StateDir;
use hashline_text::FileHash;
use serde::{Deserialize, Serialize};

/// Its name in the state folder.
const FOLDER: &str = "setup";

/// A file that was set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Original {
    /// What it held; none for no file.
    before: Option<String>,
    /// The hash of what it was made to hold.
    after: String,
    /// The folders that were made for it, the outermost first.
    folders: Vec<PathBuf>,
}

/// The originals of a user.
pub struct Originals<'a> {
    state: &'a StateDir,
}

impl<'a> Originals<'a> {
    pub fn new(state: &'a StateDir) -> Self {
        Self { state }
    }

    /// What a file held before it was set up, where it holds what it was made to hold: the inner none stands for no file.
    pub fn before(&self, file: &Path, now: Option<&str>) -> Option<Option<String>> {
        let original = self.read(file)?;
        (now.map(hash_of) == Some(original.after)).then_some(original.before)
    }

    /// Notes that a file is about to be set up.
    ///
    /// # Errors
    /// The state folder cannot be written.
    pub fn note(&self, file: &Path, before: Option<&str>, after: &str) -> io::Result<()> {
        let known = self.read(file).filter(|known| before.map(hash_of).as_ref() == Some(&known.after));
        let (first, mut folders) = match known {
            Some(known) => (known.before, known.folders),
            None => (before.map(str::to_owned), Vec::new()),
        };
        folders.extend(missing_folders(file));
        let original = Original { before: first, after: hash_of(after), folders };
        let folder = self.state.folder(FOLDER).map_err(io::Error::other)?;
        // Whole at any moment, and the user's alone: settings may hold secrets.
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(&serde_json::to_vec(&original)?)?;
        fresh.persist(self.place(file))?;
        Ok(())
    }

    /// Forgets a file, and removes the folders that were made for it and hold nothing.
    pub fn forget(&self, file: &Path) {
        let Some(original) = self.read(file) else { return };
        if !file.exists() {
            for folder in original.folders.iter().rev() {
                // One that holds something stays.
                let _ = fs::remove_dir(folder);
            }
        }
        let _ = fs::remove_file(self.place(file));
    }

    fn read(&self, file: &Path) -> Option<Original> {
        serde_json::from_slice(&fs::read(self.place(file)).ok()?).ok()
    }

    fn place(&self, file: &Path) -> PathBuf {
        let name = FileHash::of(file.as_os_str().as_encoded_bytes()).to_hex();
        self.state.path().join(FOLDER).join(format!("{name}.json"))
    }
}

fn hash_of(text: &str) -> String {
    FileHash::of(text.as_bytes()).to_hex()
}

/// The folders on the way to a file that are not there, the outermost first.
fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let above = file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_file_is_given_back_unless_something_else_has_changed_it() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        let originals = Originals::new(&state);
        let file = temp.path().join("a/b/settings.json");
        assert_eq!(originals.before(&file, Some("x")), None);
        originals.note(&file, Some("{\"a\":1}"), "tools").unwrap();
        originals.note(&file, Some("tools"), "tools and hooks").unwrap();
        assert_eq!(originals.before(&file, Some("tools and hooks")), Some(Some("{\"a\":1}".to_owned())));
        assert_eq!(originals.before(&file, Some("tools, hooks, and theirs")), None);
        // It was set up anew on what others had made of it.
        originals.note(&file, Some("theirs"), "theirs and tools").unwrap();
        assert_eq!(originals.before(&file, Some("theirs and tools")), Some(Some("theirs".to_owned())));
        originals.forget(&file);
        assert_eq!(originals.before(&file, Some("theirs and tools")), None);
    }

    #[test]
    fn folders_that_were_made_for_it_go_unless_they_hold_something() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        let originals = Originals::new(&state);
        for (theirs, left) in [(false, false), (true, true)] {
            let file = temp.path().join("a/b/new.json");
            originals.note(&file, None, "tools").unwrap();
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            if theirs {
                fs::write(temp.path().join("a/b/theirs"), "").unwrap();
            }
            assert_eq!(originals.before(&file, Some("tools")), Some(None));
            originals.forget(&file);
            assert_eq!(temp.path().join("a").exists(), left);
        }
    }
}
