//! What can go wrong between two processes, told apart by what the caller does next.

use std::io;
use std::path::{Path, PathBuf};

use hashline_history::path::to_text;
use serde::{Deserialize, Serialize};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure to find a sidecar or to talk to one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", to_text(path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The system knows no home folder for the user.
    #[error("the system names no home folder for this user; pass --state-dir")]
    NoHome,
    /// A folder or file that must be the user's alone is not.
    #[error("{}: {reason}", to_text(path))]
    NotPrivate {
        /// The folder or file.
        path: PathBuf,
        /// Why it cannot be trusted.
        reason: &'static str,
    },
    /// No folder is private and short enough for a socket.
    #[error("no folder for the socket: {tried}; pass a --state-dir with a short path")]
    NoSocketFolder {
        /// Each folder tried, and why not.
        tried: String,
    },
    /// Nobody listens at the socket: the sidecar is gone and its file is stale.
    #[error("no sidecar listens at {socket}")]
    Refused {
        /// The socket.
        socket: String,
    },
    /// No answer within the time allowed. The sidecar may be alive and busy.
    #[error("no answer in time while {during}")]
    Timeout {
        /// What was being done.
        during: &'static str,
    },
    /// The connection ended before the answer came. What was asked may or may not have happened.
    #[error("the connection to the sidecar ended")]
    Closed,
    /// The two sides speak different versions of the protocol.
    #[error(
        "the other side is hashline {version}, which speaks protocol {theirs}; this one speaks {ours}: \
         use the same release in the editor and for the agent"
    )]
    Version {
        /// The protocol of this process.
        ours: u32,
        /// The protocol of the other.
        theirs: u32,
        /// The release of the other.
        version: String,
    },
    /// The other side sent, or complained about, something that is not the protocol.
    #[error("{0}")]
    Protocol(String),
    /// A message is larger than a frame may be.
    #[error("a message of {size} bytes is over the limit of {limit}")]
    TooLarge {
        /// Its size, or how much of it had arrived when it was refused.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The process at the other end of the socket is another user's.
    #[error("{socket} belongs to another user")]
    OtherUser {
        /// The socket.
        socket: String,
    },
    /// The other side understood the request and refused it.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl Error {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Whether the sidecar is certainly gone, so that its discovery file may be removed.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

/// Why the other side did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemoteKind {
    /// The request is not one that this side knows, or its fields are wrong.
    BadRequest,
    /// What was asked about does not exist.
    NotFound,
    /// More requests are waiting than one connection may have.
    Busy,
    /// The wait was given up because the asker took the request back or a side is going away.
    Cancelled,
    /// Anything else. Also the meaning of a kind from a later release.
    #[serde(other)]
    Failed,
}

/// A refusal as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RemoteError {
    /// What sort of refusal it is.
    pub kind: RemoteKind,
    /// A sentence for a person or a model.
    pub message: String,
}

impl RemoteError {
    /// A refusal of the given kind.
    #[must_use]
    pub fn new(kind: RemoteKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// A refusal with no more to it than its words.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(RemoteKind::Failed, message)
    }

    /// The answer to a wait that was taken back.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(RemoteKind::Cancelled, "cancelled")
    }
}
