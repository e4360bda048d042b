//! Who is running: one small file for each sidecar, and a reader that notices changes for the price of a `stat`.
//!
//! A sidecar opens its socket, then [announces](announce) itself; the file goes when the [`Announcement`] is dropped.
//! A process that is killed leaves its file behind. Such a file is recognised by one thing only: its socket
//! refuses. Process ids are reused and mean nothing in another container, so they are never asked about; a sidecar
//! that takes its time is alive.
//!
//! # Limitations
//! A home folder shared between machines shares these files too. A sidecar of another machine is not reached, and
//! its file is left alone, as its name for this machine tells it apart. Containers that share the home *and* the
//! machine's name, but not the socket's folder, can remove each other's files; [`Announcement::refresh`] puts
//! one back.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::folder::{is_hidden, own_file};
use crate::id::SidecarId;
use crate::message::PROTOCOL;
use crate::private_socket::{self, Listener};
use crate::starting::{Mark, read_marks};
use crate::state_dir::{self, StateDir};

/// What a discovery file may hold at most.
const FILE_LIMIT: u64 = 1 << 20;

/// How long after its last change a folder is read anew at each look: two changes within one tick of the file
/// system's clock (2 s on the coarsest) leave the same time.
const SETTLED: Duration = Duration::from_secs(2);

/// What a sidecar tells about itself. Fields that a later release adds are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Its name.
    pub id: SidecarId,
    /// Its process, for people to read; nothing is ever decided by it.
    pub pid: u32,
    /// The machine it runs on.
    #[serde(default)]
    pub host: String,
    /// The editor that started it.
    pub editor: String,
    /// The release of hashline.
    pub version: String,
    /// The protocol it speaks on the socket; the greeting there is what counts.
    pub protocol: u32,
    /// The editor's workspace folders.
    #[serde(with = "hashline_history::path")]
    pub roots: Vec<PathBuf>,
    /// Its socket.
    #[serde(with = "hashline_history::path")]
    pub socket: PathBuf,
    /// Where it serves HTTP, if it does.
    #[serde(default)]
    pub http: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub started: u64,
}

impl Sidecar {
    /// The announcement of this process, listening at `listener`.
    #[must_use]
    pub fn new(id: SidecarId, listener: &Listener, editor: &str, roots: Vec<PathBuf>) -> Self {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            id,
            pid: std::process::id(),
            host: state_dir::host(),
            editor: editor.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            roots,
            socket: listener.address().to_owned(),
            http: None,
            started: u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether it has certainly ended: nobody listens at its socket any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        private_socket::is_refused(&self.socket)
    }

    /// The innermost of its roots that holds `path`, by names alone: the caller resolves links before.
    #[must_use]
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let holding = self.roots.iter().filter(|root| path.starts_with(root));
        holding.max_by_key(|root| root.components().count()).map(PathBuf::as_path)
    }
}

/// Tells others of a sidecar. Its listener must be open already, or they take the file for a stale one.
pub fn announce(state: &StateDir, sidecar: Sidecar) -> Result<Announcement> {
    let path = state.folder("sidecars")?.join(format!("{}.json", sidecar.id));
    write(&path, &sidecar)?;
    Ok(Announcement { id: sidecar.id.clone(), path, sidecar: Mutex::new(sidecar) })
}

/// The announcement of a sidecar, which lasts as long as this value.
#[derive(Debug)]
#[must_use = "the announcement is taken back when this is dropped"]
pub struct Announcement {
    id: SidecarId,
    path: PathBuf,
    sidecar: Mutex<Sidecar>,
}

impl Announcement {
    /// The sidecar's name.
    #[must_use]
    pub fn id(&self) -> &SidecarId {
        &self.id
    }

    /// Its discovery file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes what is announced (roots, HTTP address, editor). Name and socket stay. If the file cannot be written,
    /// what is announced stays as it was.
    pub fn update(&self, change: impl FnOnce(&mut Sidecar)) -> Result<()> {
        let mut current = lock(&self.sidecar);
        let mut changed = current.clone();
        change(&mut changed);
        changed.id.clone_from(&current.id);
        changed.socket.clone_from(&current.socket);
        if changed != *current {
            write(&self.path, &changed)?;
            *current = changed;
        }
        Ok(())
    }

    /// Writes the file again if someone removed it. Costs a `stat` otherwise.
    pub fn refresh(&self) -> Result<()> {
        let current = lock(&self.sidecar);
        if self.path.exists() { Ok(()) } else { write(&self.path, &current) }
    }

    /// Takes the announcement back. Dropping does the same without a word about failures.
    pub fn close(self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&self.path, error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The sidecars that run, the oldest first. Removes the files of those whose sockets refuse.
///
/// Connects to each of them, which costs some 20 microseconds apiece; whoever looks often uses a [`Finder`].
#[must_use]
pub fn discover(state: &StateDir) -> Vec<Sidecar> {
    let mut sidecars = read_all(&state.sidecars());
    sidecars.retain(|sidecar| {
        let refused = private_socket::is_refused(&sidecar.socket);
        if refused {
            remove_stale(state, sidecar);
        }
        !refused
    });
    sidecars
}

/// Looks for sidecars again and again: the list is kept until the folder changes, so that a look costs one `stat`.
///
/// What it answers may name sidecars that are gone. Whoever connects to one and is
/// [refused](Error::is_refused) says so by [`Finder::refused`] and looks again.
#[derive(Debug)]
pub struct Finder {
    state: StateDir,
    folder: PathBuf,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    /// The folder's time of change when the list was read.
    stamp: Option<SystemTime>,
    /// Whether that time was old enough to tell the next change apart.
    settled: bool,
    sidecars: Arc<[Sidecar]>,
    marks: Arc<[Mark]>,
    /// Those that refused, but whose files could not be removed or are another machine's.
    refused: HashSet<SidecarId>,
}

impl Finder {
    /// A finder that has not looked yet.
    #[must_use]
    pub fn new(state: StateDir) -> Self {
        Self { folder: state.sidecars(), state, cache: Mutex::default() }
    }

    /// The state folder that it looks in.
    #[must_use]
    pub fn state(&self) -> &StateDir {
        &self.state
    }

    /// The sidecars that have announced themselves, the oldest first. The same list, to the pointer, is answered
    /// as long as nothing changes.
    #[must_use]
    pub fn sidecars(&self) -> Arc<[Sidecar]> {
        self.look().0
    }

    /// The same, and the marks of editors that are starting. Whether one is [on](Mark::is_on) changes without the list.
    #[must_use]
    pub fn look(&self) -> (Arc<[Sidecar]>, Arc<[Mark]>) {
        let stamp = fs::metadata(&self.folder).and_then(|metadata| metadata.modified()).ok();
        let mut cache = lock(&self.cache);
        if cache.settled && cache.stamp == stamp {
            return (Arc::clone(&cache.sidecars), Arc::clone(&cache.marks));
        }
        if cache.stamp != stamp {
            cache.refused.clear();
        }
        // The time is taken before the files are read: a change in between shows at the next look.
        cache.stamp = stamp;
        cache.settled =
            stamp.is_none_or(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > SETTLED));
        let mut sidecars = read_all(&self.folder);
        sidecars.retain(|sidecar| !cache.refused.contains(&sidecar.id));
        if *cache.sidecars != *sidecars {
            cache.sidecars = sidecars.into();
        }
        let marks = read_marks(&self.folder);
        if *cache.marks != *marks {
            cache.marks = marks.into();
        }
        (Arc::clone(&cache.sidecars), Arc::clone(&cache.marks))
    }

    /// Tells that connecting to a sidecar was [refused](Error::is_refused): it is no longer answered, and its file
    /// is removed if it is this machine's.
    pub fn refused(&self, sidecar: &Sidecar) {
        let mut cache = lock(&self.cache);
        remove_stale(&self.state, sidecar);
        cache.refused.insert(sidecar.id.clone());
        cache.sidecars = cache.sidecars.iter().filter(|other| other.id != sidecar.id).cloned().collect();
    }
}

/// Removes what a sidecar of this machine left behind: its file and its socket.
fn remove_stale(state: &StateDir, sidecar: &Sidecar) {
    if sidecar.host != state_dir::host() {
        return;
    }
    tracing::debug!(id = %sidecar.id, editor = sidecar.editor, "removed the file of a sidecar that is gone");
    let _ = fs::remove_file(state.sidecars().join(format!("{}.json", sidecar.id)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if fs::symlink_metadata(&sidecar.socket).is_ok_and(|found| found.file_type().is_socket()) {
            let _ = fs::remove_file(&sidecar.socket);
        }
    }
}

/// Every file of the folder that can be read, in an order that does not depend on the file system.
fn read_all(folder: &Path) -> Vec<Sidecar> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                tracing::warn!(folder = %folder.display(), %error, "cannot look for sidecars");
            }
            return Vec::new();
        }
    };
    let mut sidecars = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if is_hidden(&path) || path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match read(&path) {
            Ok(Some(sidecar)) => sidecars.push(sidecar),
            Ok(None) => {}
            Err(reason) => tracing::warn!(file = %path.display(), reason, "skipped a damaged file"),
        }
    }
    sidecars.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
    sidecars
}

/// One discovery file; `None` if it went away meanwhile.
fn read(path: &Path) -> Result<Option<Sidecar>, String> {
    if own_file(path, FILE_LIMIT)?.is_none() {
        return Ok(None);
    }
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let sidecar: Sidecar = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if path.file_stem().is_none_or(|stem| stem != sidecar.id.as_str()) {
        return Err(format!("is the file of sidecar {} under another name", sidecar.id));
    }
    if !sidecar.socket.is_absolute() {
        return Err("names a socket by a relative path".to_owned());
    }
    Ok(Some(sidecar))
}

/// Writes a discovery file so that a reader sees the old one or the new one, whole. There is no sync: after a
/// power failure the process it tells of is gone as well.
fn write(path: &Path, sidecar: &Sidecar) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    let text = serde_json::to_vec_pretty(sidecar).map_err(|error| Error::io(path, error.into()))?;
    // Temporary files are 0600 from the start.
    let mut file = tempfile::Builder::new()
        .prefix(".")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| Error::io(folder, error))?;
    file.write_all(&text).map_err(|error| Error::io(path, error))?;
    file.persist(path).map_err(|error| Error::io(path, error.error))?;
    Ok(())
}

/// What is under these locks is whole at every instant, so a panic elsewhere does not spoil it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
