//! The file by which the program finds an editor: `ide/PORT.lock` in its own folder.
//!
//! With two files for one folder the program chooses neither. So there is none of this process where another one covers a folder. Of two
//! sidecars that wrote theirs in the same moment the one with the lower port keeps it, which both can tell.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hashline_link::{has_ended, private_folder};
use serde::{Deserialize, Serialize};

use crate::token::Token;

/// The most bytes of a file of another program that are read.
const LIMIT: u64 = 64 << 10;

/// Where Claude Code keeps what is its own, as it finds that itself.
#[must_use]
pub fn claude_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(dirs::home_dir()?.join(".claude")))
}

/// What stands in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lock {
    pid: Option<u32>,
    #[serde(default)]
    workspace_folders: Vec<PathBuf>,
    #[serde(default)]
    ide_name: String,
    #[serde(default)]
    transport: String,
    auth_token: Option<String>,
    /// Whether a sidecar has made it.
    #[serde(default)]
    hashline: bool,
}

/// The file of this process, which is removed when this is dropped.
pub(crate) struct LockFile {
    folder: PathBuf,
    port: u16,
    token: Token,
    editor: String,
    /// What was written.
    written: Option<Lock>,
    /// Why it could not be written last.
    failed: Option<String>,
}

impl LockFile {
    /// Nothing is written yet.
    pub fn new(claude: &Path, port: u16, token: &Token, editor: &str) -> Self {
        let folder = claude.join("ide");
        Self { folder, port, token: token.clone(), editor: editor.to_owned(), written: None, failed: None }
    }

    /// Sees to it that there is a file for these folders, or none where another program covers one of them.
    pub fn settle(&mut self, folders: &[PathBuf]) {
        let others = self.others();
        let covered = |lock: &Lock| {
            let mut theirs = lock.workspace_folders.iter();
            theirs.any(|their| folders.iter().any(|own| own.starts_with(their) || their.starts_with(own)))
        };
        if folders.is_empty() || others.iter().any(covered) {
            self.remove();
            return;
        }
        let lock = Lock {
            pid: Some(std::process::id()),
            workspace_folders: folders.to_vec(),
            ide_name: self.editor.clone(),
            transport: "ws".to_owned(),
            auth_token: Some(self.token.digits().to_owned()),
            hashline: true,
        };
        if self.written.as_ref() == Some(&lock) && self.path().exists() {
            return;
        }
        match self.write(&lock) {
            Ok(()) => (self.written, self.failed) = (Some(lock), None),
            // It is tried again every second, and said once.
            Err(why) if self.failed.as_ref() == Some(&why) => {}
            Err(why) => {
                tracing::warn!("there is no IDE link for {}: {why}", self.editor);
                self.failed = Some(why);
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.port))
    }

    /// Writes it so that a reader sees all of it or nothing.
    fn write(&self, lock: &Lock) -> Result<(), String> {
        private_folder(&self.folder).map_err(|error| error.to_string())?;
        let put = || {
            // Temporary files are 0600 from the start.
            let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(&self.folder)?;
            file.write_all(&serde_json::to_vec(lock)?)?;
            file.persist(self.path())?;
            Ok(())
        };
        put().map_err(|error: std::io::Error| format!("{}: {}", self.path().display(), error.kind()))
    }

    fn remove(&mut self) {
        if self.written.take().is_some() {
            let _ = fs::remove_file(self.path());
        }
    }

    /// The locks of live programs that go before this one. Those that sidecars have left behind are removed.
    fn others(&self) -> Vec<Lock> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut others = Vec::new();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let port =
                path.file_name().and_then(|name| name.to_str()?.strip_suffix(".lock")?.parse::<u16>().ok());
            let Some(port) = port.filter(|port| *port != self.port) else { continue };
            let Some(lock) = read(&path) else { continue };
            match lock.pid.is_some_and(has_ended) {
                true if lock.hashline => drop(fs::remove_file(&path)),
                true => {}
                false if lock.hashline && port > self.port && self.written.is_some() => {}
                false => others.push(lock),
            }
        }
        others
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The lock of a file; none of one that cannot be read, which the program cannot read either.
fn read(path: &Path) -> Option<Lock> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > LIMIT {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use serde_json::{Value, json};

    use super::*;

    struct Claude(tempfile::TempDir);

    impl Claude {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn sidecar(&self, port: u16) -> LockFile {
            LockFile::new(self.0.path(), port, &Token::new().unwrap(), "Neovim")
        }

        fn ports(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path().join("ide")).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn puts(&self, port: u16, lock: &Value) {
            let _ = fs::create_dir(self.0.path().join("ide"));
            fs::write(self.0.path().join(format!("ide/{port}.lock")), lock.to_string()).unwrap();
        }
    }

    fn folder(path: &str) -> [PathBuf; 1] {
        [PathBuf::from(path)]
    }

    #[test]
    fn the_file_is_as_the_program_reads_it_and_the_users_alone() {
        let claude = Claude::new();
        let mut own = claude.sidecar(40001);
        own.settle(&folder("/p"));
        let path = claude.0.path().join("ide/40001.lock");
        let written: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let token = own.token.digits().to_owned();
        assert_eq!(
            written,
            json!({
                "pid": std::process::id(), "workspaceFolders": ["/p"], "ideName": "Neovim", "transport": "ws",
                "authToken": token, "hashline": true
            })
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        own.settle(&folder("/q"));
        assert!(fs::read_to_string(&path).unwrap().contains("/q"));
        fs::remove_file(&path).unwrap();
        own.settle(&folder("/q"));
        assert!(path.exists(), "somebody had removed it");
        own.settle(&[]);
        assert_eq!(claude.ports(), [""; 0], "no folder is open");
        own.settle(&folder("/p"));
        drop(own);
        assert_eq!(claude.ports(), [""; 0]);
    }

    #[test]
    fn there_is_none_while_another_program_covers_a_folder() {
        let claude = Claude::new();
        let mut own = claude.sidecar(40001);
        let alive = std::process::id();
        for (theirs, pid, is_covered) in [
            ("/p", alive, true),
            ("/", alive, true),
            ("/p/sub", alive, true),
            ("/pq", alive, false),
            ("/q", alive, false),
            ("/p", i32::MAX as u32, false),
        ] {
            claude.puts(50000, &json!({ "pid": pid, "workspaceFolders": [theirs], "transport": "ws" }));
            own.settle(&folder("/p"));
            assert_eq!(claude.ports().contains(&"40001.lock".to_owned()), !is_covered, "{theirs} {pid}");
        }
        assert!(claude.ports().contains(&"50000.lock".to_owned()), "of others nothing is removed");
        claude.puts(50000, &json!({ "workspaceFolders": ["/p"] }));
        own.settle(&folder("/p"));
        assert_eq!(claude.ports(), ["50000.lock"], "one without a process counts");
        claude.puts(50000, &json!("x"));
        own.settle(&folder("/p"));
        assert_eq!(claude.ports().len(), 2, "what nobody can read covers nothing");
    }

    #[test]
    fn of_two_sidecars_one_has_the_file() {
        let claude = Claude::new();
        let (mut first, mut second) = (claude.sidecar(40002), claude.sidecar(40001));
        first.settle(&folder("/p"));
        second.settle(&folder("/p"));
        first.settle(&folder("/p"));
        assert_eq!(claude.ports(), ["40002.lock"], "it came first");
        drop(first);
        second.settle(&folder("/p"));
        assert_eq!(claude.ports(), ["40001.lock"]);
        // Both have looked before one has written.
        let mut third = claude.sidecar(40003);
        third.settle(&folder("/q"));
        claude
            .puts(40003, &json!({ "pid": std::process::id(), "workspaceFolders": ["/p"], "hashline": true }));
        second.settle(&folder("/p"));
        third.settle(&folder("/p"));
        assert_eq!(claude.ports(), ["40001.lock"]);
    }

    #[test]
    fn what_a_sidecar_has_left_behind_is_removed() {
        let claude = Claude::new();
        let dead = i32::MAX as u32;
        claude.puts(50000, &json!({ "pid": dead, "workspaceFolders": ["/q"], "hashline": true }));
        claude.puts(50001, &json!({ "pid": dead, "workspaceFolders": ["/q"] }));
        claude.sidecar(40001).settle(&folder("/p"));
        assert_eq!(claude.ports(), ["50001.lock"]);
    }
}
