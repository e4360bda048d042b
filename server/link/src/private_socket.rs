//! The socket between processes of one user: where it lies, who may connect, how to connect.
//!
//! On Unix it is a socket file with mode 0600 in a folder with mode 0700 that is checked to be the user's own and
//! no link; both ends also ask the kernel whose process is at the other. On Windows it is a named pipe whose
//! access list names only its owner.
//!
//! The path of a Unix socket is limited to about 100 bytes, which a home folder may exceed, so the folder is a
//! short one outside the home where there is one. The path travels in the discovery file; nobody else derives it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::ConnectWaitMode;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::tokio::{self as sockets, Stream};
use interprocess::local_socket::{ConnectOptions, GenericFilePath, ListenerOptions, Name, ToFsName};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::id::SidecarId;
use crate::state_dir::StateDir;

/// The longest path that fits in a socket address everywhere: 104 bytes with the final NUL on macOS, 108 on Linux.
#[cfg(unix)]
const PATH_LIMIT: usize = 103;

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// How often a refusal is tried again before it is believed. BSD kernels, macOS among them, also refuse when too
/// many connections wait to be accepted; Linux says something else then.
const REFUSALS: u32 = if cfg!(target_os = "linux") { 1 } else { 4 };

/// The time between two tries.
const RETRY: Duration = Duration::from_millis(10);

/// A socket that waits for connections. Dropping it removes the socket file.
#[derive(Debug)]
pub struct Listener {
    inner: sockets::Listener,
    address: PathBuf,
}

impl Listener {
    /// Opens the socket of a sidecar in the first folder that is private and short enough: the runtime folder of
    /// the session (`XDG_RUNTIME_DIR`), the temporary folder, the state folder.
    ///
    /// Must be called within a tokio runtime, as [`Listener::bind_in`].
    #[cfg(unix)]
    pub fn bind(state: &StateDir, id: &SidecarId) -> Result<Self> {
        let mut tried = Vec::new();
        let shared = format!("hashline-{}", crate::state_dir::user());
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        for base in runtime.into_iter().chain([std::env::temp_dir()]) {
            let folder = base.join(&shared);
            match trusted(&base).and_then(|()| Self::bind_in(&folder, id)) {
                Ok(listener) => return Ok(listener),
                Err(error) => tried.push(error.to_string()),
            }
        }
        match state.folder("run").and_then(|folder| Self::bind_in(&folder, id)) {
            Ok(listener) => Ok(listener),
            Err(error) => {
                tried.push(error.to_string());
                Err(Error::NoSocketFolder { tried: tried.join("; ") })
            }
        }
    }

    /// Opens the pipe of a sidecar.
    #[cfg(windows)]
    pub fn bind(_state: &StateDir, id: &SidecarId) -> Result<Self> {
        Self::bind_in(Path::new(r"\\.\pipe"), id)
    }

    /// Opens the socket of a sidecar in a folder of the caller's choice, which is made private (0700).
    #[cfg(unix)]
    pub fn bind_in(folder: &Path, id: &SidecarId) -> Result<Self> {
        use interprocess::os::unix::local_socket::ListenerOptionsExt;

        let address = folder.join(format!("{}.sock", id.short()));
        let size = address.as_os_str().len();
        if size > PATH_LIMIT {
            let reason = "is too long a path for a socket";
            return Err(Error::NotPrivate { path: folder.to_owned(), reason });
        }
        crate::state_dir::private_folder(folder)?;
        let bound = match ListenerOptions::new().name(name(&address)?).mode(0o600).create_tokio() {
            // The folder's mode is then the only guard, besides the kernel's word at each connection.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                ListenerOptions::new().name(name(&address)?).create_tokio()
            }
            other => other,
        };
        let inner = bound.map_err(|error| Error::io(&address, error))?;
        Ok(Self { inner, address })
    }

    /// Opens the pipe of a sidecar; `folder` is `\\.\pipe`.
    #[cfg(windows)]
    pub fn bind_in(folder: &Path, id: &SidecarId) -> Result<Self> {
        use interprocess::os::windows::local_socket::ListenerOptionsExt;
        use interprocess::os::windows::security_descriptor::SecurityDescriptor;

        let address = folder.join(format!("hashline-{id}"));
        // Full access for the owner, none for anyone else, nothing inherited.
        let access = SecurityDescriptor::deserialize(widestring::u16cstr!("D:P(A;;GA;;;OW)"))
            .map_err(|error| Error::io(&address, error))?;
        let inner = ListenerOptions::new()
            .name(name(&address)?)
            .security_descriptor(access)
            .create_tokio()
            .map_err(|error| Error::io(&address, error))?;
        Ok(Self { inner, address })
    }

    /// What a discovery file names.
    #[must_use]
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// The next connection of a process of the same user. Others are turned away without a word.
    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        loop {
            let stream = self.inner.accept().await?;
            match same_user(&stream) {
                Ok(true) => return Ok(stream),
                Ok(false) => tracing::warn!("turned away a process of another user"),
                Err(error) => tracing::debug!(%error, "a connection ended before it was accepted"),
            }
        }
    }
}

/// Connects to a sidecar's socket.
///
/// [`Error::Refused`] means that nobody listens; everything else leaves that open.
pub(crate) async fn connect(address: &Path) -> Result<Stream> {
    let deadline = Instant::now() + CONNECT_LIMIT;
    let mut refusals = 0;
    loop {
        let connecting = ConnectOptions::new().name(name(address)?);
        let tried = tokio::time::timeout_at(deadline, connecting.connect_tokio()).await;
        match tried.map_err(|_| Error::Timeout { during: "connecting to the sidecar" })? {
            // A full queue of connections is reported as success; the socket is then connected to nobody.
            Ok(stream) if !is_connected(&stream) => {}
            Ok(stream) => {
                let socket = || address.display().to_string();
                return match same_user(&stream) {
                    Ok(true) => Ok(stream),
                    Ok(false) => Err(Error::OtherUser { socket: socket() }),
                    Err(error) => Err(Error::io(address, error)),
                };
            }
            Err(error) if refused(&error) => {
                refusals += 1;
                if refusals >= REFUSALS {
                    return Err(Error::Refused { socket: address.display().to_string() });
                }
            }
            Err(error) if would_block(&error) => {}
            Err(error) => return Err(Error::io(address, error)),
        }
        if Instant::now() + RETRY >= deadline {
            return Err(Error::Timeout { during: "connecting to the sidecar" });
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Whether nobody listens at the socket. Does not wait for a listener that is busy, and says no where unsure.
pub(crate) fn is_refused(address: &Path) -> bool {
    // The wait mode that never waits exists on Unix only; a pipe answers at once anyway.
    let mode = if cfg!(unix) { ConnectWaitMode::Deferred } else { ConnectWaitMode::Unbounded };
    for attempt in 0..REFUSALS {
        if attempt > 0 {
            std::thread::sleep(RETRY);
        }
        let Ok(name) = name(address) else { return false };
        match ConnectOptions::new().name(name).wait_mode(mode).connect_sync() {
            Err(error) if refused(&error) => {}
            _ => return false,
        }
    }
    true
}

/// A socket that is not there refuses as one that nobody listens at does: nobody can ever answer from it.
fn refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
}

/// A pipe whose instances are all taken says so by `ERROR_PIPE_BUSY`.
fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || (cfg!(windows) && error.raw_os_error() == Some(231))
}

fn name(address: &Path) -> Result<Name<'_>> {
    address.to_fs_name::<GenericFilePath>().map_err(|error| Error::io(address, error))
}

#[cfg(unix)]
fn is_connected(stream: &Stream) -> bool {
    let Stream::UdSocket(stream) = stream;
    stream.inner().peer_addr().is_ok()
}

#[cfg(windows)]
fn is_connected(_: &Stream) -> bool {
    true
}

/// Asks the kernel whether the process at the other end is this user's.
#[cfg(unix)]
fn same_user(stream: &Stream) -> io::Result<bool> {
    let Stream::UdSocket(stream) = stream;
    Ok(stream.inner().peer_cred()?.uid() == crate::state_dir::user())
}

/// On Windows the pipe's access list has answered before.
#[cfg(windows)]
fn same_user(_: &Stream) -> io::Result<bool> {
    Ok(true)
}

/// Whether others could replace what lies in a folder: it must be the user's or the system's, and writable by
/// others only if it keeps them from touching what is not theirs (the sticky bit, as in `/tmp`).
#[cfg(unix)]
fn trusted(base: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    let not_private = |reason| Error::NotPrivate { path: base.to_owned(), reason };
    if !base.is_absolute() {
        return Err(not_private("is not an absolute path"));
    }
    let metadata = std::fs::metadata(base).map_err(|error| Error::io(base, error))?;
    if !metadata.is_dir() {
        return Err(not_private("is not a folder"));
    }
    if metadata.uid() != crate::state_dir::user() && metadata.uid() != 0 {
        return Err(not_private("belongs to another user"));
    }
    if metadata.mode() & 0o022 != 0 && metadata.mode() & 0o1000 == 0 {
        return Err(not_private("can be changed by other users"));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[tokio::test]
    async fn the_socket_and_its_folder_are_private() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("run");
        let listener = Listener::bind_in(&folder, &SidecarId::random()).unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        if cfg!(target_os = "linux") {
            assert_eq!(std::fs::metadata(listener.address()).unwrap().mode() & 0o777, 0o600);
        }
        let address = listener.address().to_owned();
        drop(listener);
        assert!(!address.exists());
    }

    #[tokio::test]
    async fn a_path_too_long_is_refused_before_anything_is_created() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a".repeat(90));
        let error = Listener::bind_in(&folder, &SidecarId::random()).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_full_queue_is_no_refusal() {
        let temp = tempfile::tempdir().unwrap();
        let address = temp.path().join("s");
        let socket = std::os::unix::net::UnixListener::bind(&address).unwrap();
        let mut waiting = Vec::new();
        let error = loop {
            match tokio::time::timeout(Duration::from_millis(100), connect(&address)).await {
                Ok(Ok(stream)) => waiting.push(stream),
                Ok(Err(error)) => break Some(error),
                Err(_) => break None,
            }
            assert!(waiting.len() < 100_000);
        };
        assert!(error.is_none_or(|error| !error.is_refused()));
        assert!(!is_refused(&address));
        drop(waiting);
        drop(socket);
        assert!(is_refused(&address));
        assert!(connect(&address).await.unwrap_err().is_refused());
    }

    #[test]
    fn bases_that_others_could_change_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        assert!(trusted(temp.path()).is_ok());
        std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(trusted(temp.path()).is_err());
        std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(trusted(temp.path()).is_ok());
        assert!(trusted(Path::new("relative")).is_err());
    }
}
