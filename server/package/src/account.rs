//! The token with which a publisher is known to a registry, in the file that other publishing tools read and write, too.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file's name, in the home folder.
pub const ACCOUNT_FILE: &str = ".mcp_publisher_token";

/// Who a publisher is, to which registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The token; empty for a registry that wants none.
    #[serde(default)]
    pub token: String,
    /// How it came about.
    #[serde(default)]
    pub method: String,
    /// The registry.
    #[serde(alias = "registry_url")]
    pub registry: String,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// It could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It holds something else.
    #[error("{} holds no token: {source}; remove it and log in again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl Account {
    /// The account in a file, if it is there.
    pub fn load(path: &Path) -> Result<Option<Self>, AccountError> {
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|source| AccountError::Unreadable { path: path.to_owned(), source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(AccountError::Io { path: path.to_owned(), source }),
        }
    }

    /// Keeps it in a file that only its owner can read. The file is whole at every moment.
    pub fn save(&self, path: &Path) -> Result<(), AccountError> {
        let wrong = |source| AccountError::Io { path: path.to_owned(), source };
        let folder = path.parent().unwrap_or(Path::new("."));
        let json = serde_json::to_vec(self).map_err(|error| wrong(error.into()))?;
        // Temporary files are private from their first moment.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
        file.write_all(&json).and_then(|()| file.as_file().sync_all()).map_err(wrong)?;
        file.persist(path).map_err(|error| wrong(error.error))?;
        Ok(())
    }

    /// Forgets it. False if there was none.
    pub fn remove(path: &Path) -> Result<bool, AccountError> {
        match std::fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(AccountError::Io { path: path.to_owned(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_kept_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACCOUNT_FILE);
        assert_eq!(Account::load(&path).unwrap(), None);
        let account = Account { token: "t".into(), method: "token".into(), registry: "https://a.b".into() };
        account.save(&path).unwrap();
        assert_eq!(Account::load(&path).unwrap().as_ref(), Some(&account));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(Account::remove(&path).unwrap() && !Account::remove(&path).unwrap());
        // As other tools write it.
        std::fs::write(
            &path,
            r#"{"token":"t","method":"token","registry_url":"https://a.b","expires_at":1}"#,
        )
        .unwrap();
        assert_eq!(Account::load(&path).unwrap(), Some(account));
        std::fs::write(&path, "t").unwrap();
        assert!(Account::load(&path).unwrap_err().to_string().contains("log in again"));
    }
}
