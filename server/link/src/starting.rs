//! Who is starting: a *mark* beside the discovery files, which an editor's plugin leaves before it starts the sidecar, and takes away when
//! the sidecar has the documents that are open.
//!
//! An editor reads files, and brings back unsaved work in them, before its sidecar can tell anybody. What is written to the disk in that
//! time the editor's text lacks. So whoever is about to serve a file leaves it alone while a mark is on its folder.
//!
//! Nothing in this crate writes marks: `editors/PROTOCOL.md` has the format.
//!
//! # Invariants
//! - A mark is on for [`PATIENCE`] from the moment that it tells, at most, and no longer than its process runs.
//! - A file that is no mark in every part counts for nothing, whatever it holds.
//!
//! # Limitations
//! - Whether a process has ended is asked on Unix alone; elsewhere a mark that was left behind is on until its time is over. A process
//!   of another container that shares the home is taken for one that has ended.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::folder::{is_hidden, own_file};
use crate::state_dir;

/// For how long a mark is on. An editor on a busy machine needs some seconds from the start of its plugin until the sidecar has its
/// documents, six of them where two more programs take all that two cores have; agents give a call half a minute or more.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What a mark may hold at most, in bytes and in folders.
const LIMIT: (u64, usize) = (64 * 1024, 64);

/// How old a file is when it is removed, whatever it holds.
const OLD: Duration = Duration::from_secs(60);

/// How far clocks may differ that tell the same time: a moment in the future is none.
const SKEW: Duration = Duration::from_secs(1);

const EXTENSION: &str = "starting";

/// What is told of an editor that is starting. Fields that a later release adds are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Mark {
    /// The process whose end ends it.
    pub pid: u32,
    /// The machine it runs on; empty for this one.
    #[serde(default)]
    pub host: String,
    /// The folders that the editor is going to have open.
    #[serde(deserialize_with = "hashline_history::path::deserialize")]
    pub roots: Vec<PathBuf>,
    /// When it was made, in milliseconds since 1970.
    pub started: u64,
}

impl Mark {
    /// Whether the editor is still to be waited for.
    #[must_use]
    pub fn is_on(&self) -> bool {
        let now = since_1970();
        let made = Duration::from_millis(self.started);
        made <= now + SKEW && now < made.saturating_add(PATIENCE) && !has_ended(self.pid)
    }

    /// What is wrong with it, if anything.
    fn fault(&self) -> Option<&'static str> {
        let plain = |root: &PathBuf| {
            let goes_up = root.components().any(|part| part == Component::ParentDir);
            root.is_absolute() && root.parent().is_some() && !goes_up
        };
        if !(1..=LIMIT.1).contains(&self.roots.len()) {
            Some("names no folder, or too many")
        } else if !self.roots.iter().all(plain) {
            Some("names a folder that is not absolute, has .. in it or is the whole disk")
        } else if !i32::try_from(self.pid).is_ok_and(|pid| pid > 0) {
            Some("names no process")
        } else if !cfg!(windows) && !self.host.is_empty() && self.host != state_dir::host() {
            Some("is of another machine")
        } else {
            None
        }
    }
}

/// Every mark of the folder that may be on. Removes those that were left behind.
pub(crate) fn read_marks(folder: &Path) -> Vec<Mark> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut marks = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if is_hidden(&path) || path.extension() != Some(OsStr::new(EXTENSION)) {
            continue;
        }
        match read(&path) {
            Ok(Some(mark)) => marks.push(mark),
            Ok(None) => {}
            Err(reason) => tracing::debug!(file = %path.display(), reason, "skipped what is no mark"),
        }
    }
    marks
}

/// One mark; none if it went away or was left behind.
fn read(path: &Path) -> Result<Option<Mark>, String> {
    let Some(metadata) = own_file(path, LIMIT.0)? else { return Ok(None) };
    let is_old = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > OLD);
    if metadata.modified().is_ok_and(is_old) {
        let _ = fs::remove_file(path);
        return Ok(None);
    }
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mark: Mark = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    match mark.fault() {
        Some(fault) => Err(fault.to_owned()),
        None => Ok(Some(mark)),
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Whether there is certainly no such process.
#[cfg(unix)]
#[must_use]
pub fn has_ended(pid: u32) -> bool {
    use nix::errno::Errno;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    // Nothing is sent; that it belongs to another user shows that there is one.
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None::<Signal>) == Err(Errno::ESRCH))
}

/// Whether there is certainly no such process.
#[cfg(windows)]
#[must_use]
pub fn has_ended(_: u32) -> bool {
    false
}
