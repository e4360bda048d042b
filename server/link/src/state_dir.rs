//! Where processes leave word for each other, and how folders are kept private.
//!
//! The home folder comes from the system's user database and not from the environment, because agents start
//! their servers with an environment of their own making: two processes of one user must agree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of everything hashline keeps per user: `~/.hashline`, or what `--state-dir` names.
///
/// Nothing is created until something is put there; [`StateDir::folder`] creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// The folder that `--state-dir` names, or else the one in the user's home.
    pub fn new(over: Option<&Path>) -> Result<Self> {
        match over {
            Some(path) => {
                Ok(Self { path: std::path::absolute(path).map_err(|error| Error::io(path, error))? })
            }
            None => Ok(Self { path: home().ok_or(Error::NoHome)?.join(".hashline") }),
        }
    }

    /// The folder itself, which may not exist yet.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the discovery files lie.
    #[must_use]
    pub fn sidecars(&self) -> PathBuf {
        self.path.join("sidecars")
    }

    /// A folder in the state folder, created if need be and made the user's alone (0700).
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        self.create()?;
        let path = self.path.join(name);
        private_folder(&path)?;
        Ok(path)
    }

    /// Creates the state folder. One that is there is left as it is: it may be a link, or the user's own choice.
    fn create(&self) -> Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path).map_err(|error| Error::io(&self.path, error))
    }
}

/// The user's home folder, as the password database has it.
#[cfg(unix)]
#[must_use]
pub fn home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten()?;
    user.dir.is_absolute().then_some(user.dir)
}

/// The user's profile folder, as the system has it (not `USERPROFILE`).
#[cfg(windows)]
#[must_use]
pub fn home() -> Option<PathBuf> {
    dirs::home_dir()
}

/// The user that this process acts for.
#[cfg(unix)]
pub(crate) fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// The name of this machine. Homes can be shared between machines, sockets cannot.
#[cfg(unix)]
pub(crate) fn host() -> String {
    nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Profiles with local data are not shared between machines on Windows.
#[cfg(windows)]
pub(crate) fn host() -> String {
    String::new()
}

/// Creates a folder for this user alone, or makes sure that the one there is: a real folder, owned by the user,
/// with mode 0700 (set if it differs).
#[cfg(unix)]
pub fn private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::io(path, error)),
    }
    let not_private = |reason| Error::NotPrivate { path: path.to_owned(), reason };
    let metadata = fs::symlink_metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_dir() {
        return Err(not_private("is not a folder, or only a link to one"));
    }
    if metadata.uid() != user() {
        return Err(not_private("belongs to another user"));
    }
    if metadata.mode() & 0o7777 != 0o700 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
            .map_err(|error| Error::io(path, error))?;
    }
    Ok(())
}

/// What lies in a user's profile is private by inheritance on Windows.
#[cfg(windows)]
pub fn private_folder(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(Error::io(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn home_is_the_password_databases() {
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let uid = user().to_string();
        let Some(home) = passwd
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.get(2) == Some(&uid.as_str()))
            .and_then(|fields| fields.get(5).map(PathBuf::from))
        else {
            eprintln!("not checked: the user is not in /etc/passwd");
            return;
        };
        assert_eq!(StateDir::new(None).unwrap().path(), home.join(".hashline"));
    }

    #[test]
    fn an_override_is_made_absolute_and_creates_nothing() {
        let state = StateDir::new(Some(Path::new("no/such/folder"))).unwrap();
        assert!(state.path().is_absolute());
        assert!(!state.path().exists());
    }

    #[test]
    #[cfg(unix)]
    fn folders_are_private() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("a/b"))).unwrap();
        let folder = state.folder("sidecars").unwrap();
        assert_eq!(fs::metadata(state.path()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);

        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        state.folder("sidecars").unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);

        symlink(&folder, state.path().join("link")).unwrap();
        assert!(matches!(state.folder("link"), Err(Error::NotPrivate { .. })));

        fs::write(state.path().join("file"), "").unwrap();
        assert!(matches!(state.folder("file"), Err(Error::NotPrivate { .. })));
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_of_another_user_is_refused_and_left_alone() {
        use std::os::unix::fs::{MetadataExt, chown};

        let temp = tempfile::tempdir().unwrap();
        let path = if user() == 0 {
            let path = temp.path().join("theirs");
            fs::create_dir(&path).unwrap();
            chown(&path, Some(1), None).unwrap();
            path
        } else {
            PathBuf::from("/usr")
        };
        let before = fs::metadata(&path).unwrap().mode();
        assert!(matches!(private_folder(&path), Err(Error::NotPrivate { .. })));
        assert_eq!(fs::metadata(&path).unwrap().mode(), before);
    }
}
