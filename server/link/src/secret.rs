//! A secret that the user's processes share: what signs tokens, and what tells a good one.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::state_dir::StateDir;

/// Bytes of chance in a new secret.
const BYTES: usize = 32;
/// What the file may hold at most; someone may have put a longer secret there.
const FILE_LIMIT: u64 = 4096;

/// A secret of this user.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret of this name in the state folder, made if there is none: a file that nobody but the user can read.
    ///
    /// # Errors
    ///
    /// It cannot be read or made, others can read it, or it is too short to be one.
    pub fn load(state: &StateDir, name: &str) -> Result<Self> {
        let path = state.folder("secrets")?.join(name);
        match read(&path) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                make(&path)?;
                read(&path)
            }
            known => known,
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

fn read(path: &Path) -> Result<Secret> {
    let not_private = |reason| Error::NotPrivate { path: path.to_owned(), reason };
    // Looked at before it is opened: a FIFO would wait for a writer.
    let metadata = fs::symlink_metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_file() {
        return Err(not_private("is not a regular file; remove it, and a new secret is made"));
    }
    let file = fs::File::open(path).map_err(|error| Error::io(path, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Of the file that is open, whatever lies under its name by now.
        let metadata = file.metadata().map_err(|error| Error::io(path, error))?;
        if metadata.uid() != crate::state_dir::user() {
            return Err(not_private("belongs to another user; remove it, and a new secret is made"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(not_private(
                "can be read by others, who may know the secret; remove it, and a new one is made (what this one signed counts no more)",
            ));
        }
    }
    let mut text = Vec::new();
    file.take(FILE_LIMIT).read_to_end(&mut text).map_err(|error| Error::io(path, error))?;
    let secret = text.trim_ascii().to_vec();
    if secret.len() < BYTES {
        return Err(not_private("is too short for a secret; remove it, and a new one is made"));
    }
    Ok(Secret(secret))
}

/// Makes a secret, unless another process has made one meanwhile. The file is there whole or not at all.
fn make(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut chance = [0; BYTES];
    getrandom::fill(&mut chance).map_err(|error| Error::io(path, io::Error::other(error.to_string())))?;
    let text: String = chance.iter().map(|byte| format!("{byte:02x}")).collect();
    // Temporary files are 0600 from the start.
    let mut file = tempfile::Builder::new()
        .prefix(".")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| Error::io(folder, error))?;
    let written = writeln!(file, "{text}").and_then(|()| file.as_file().sync_all());
    written.map_err(|error| Error::io(path, error))?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(Error::io(path, error.error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, StateDir) {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        (temp, state)
    }

    #[test]
    fn it_is_made_once_and_is_the_same_for_all() {
        let (_temp, state) = state();
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let state = state.clone();
                std::thread::spawn(move || Secret::load(&state, "http").unwrap().as_bytes().to_vec())
            })
            .collect();
        let secrets: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(secrets.iter().all(|secret| *secret == secrets[0] && secret.len() == 2 * BYTES));
        let (_other, elsewhere) = self::state();
        assert_ne!(Secret::load(&elsewhere, "http").unwrap().as_bytes(), secrets[0]);
        assert_eq!(format!("{:?}", Secret::load(&state, "http").unwrap()), "Secret(..)");
    }

    #[test]
    #[cfg(unix)]
    fn one_that_others_can_read_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let (_temp, state) = state();
        Secret::load(&state, "http").unwrap();
        let path = state.path().join("secrets/http");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = Secret::load(&state, "http").unwrap_err();
            assert!(refused.to_string().contains("others"), "{mode:o}: {refused}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, state.path().join("secrets/link")).unwrap();
        fs::write(state.path().join("secrets/short"), "abc").unwrap();
        fs::set_permissions(state.path().join("secrets/short"), fs::Permissions::from_mode(0o600)).unwrap();
        for name in ["link", "short"] {
            assert!(matches!(Secret::load(&state, name), Err(Error::NotPrivate { .. })), "{name}");
        }
        // What was refused is as it was.
        assert_eq!(Secret::load(&state, "http").unwrap().as_bytes().len(), 2 * BYTES);
    }
}
