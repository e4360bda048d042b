//! Why a file could not be fetched.

use std::io;
use std::time::Duration;

use reqwest::StatusCode;
use url::Url;

use super::address::NotPublic;
use super::limits::Budget;

/// A file that could not be fetched. Each kind says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The rules do not allow it.
    #[error("{url} is not fetched: {reason}")]
    Refused {
        /// The address, which may be one that others redirected to.
        url: Url,
        /// Why not.
        reason: Refusal,
    },
    /// It is too large.
    #[error("{url} has more than {}; HASHLINE_FETCH_MAX_BYTES is the limit", bytes(*.limit))]
    TooLarge {
        /// The address.
        url: Url,
        /// The limit.
        limit: u64,
    },
    /// All files together are too large.
    #[error(
        "{url} and all that was fetched before it have more than {limit} bytes together, {} times what HASHLINE_FETCH_MAX_BYTES allows \
         for one file; raise it, or publish fewer files at once",
        Budget::FILES
    )]
    TooLargeTogether {
        /// The address of the file with which it was too much.
        url: Url,
        /// The limit.
        limit: u64,
    },
    /// It takes too long.
    #[error(
        "{url} took longer than {} s, which HASHLINE_FETCH_TIMEOUT_S allows; check the connection, and try again",
        limit.as_secs_f32()
    )]
    TooSlow {
        /// The address.
        url: Url,
        /// The limit.
        limit: Duration,
    },
    /// All files together take too long.
    #[error(
        "{url} and all that was fetched before it took longer than {} s together, {} times what HASHLINE_FETCH_TIMEOUT_S allows for one \
         file; raise it, or publish fewer files at once",
        limit.as_secs_f32(), Budget::TIMES
    )]
    TooSlowTogether {
        /// The address of the file with which it was too much.
        url: Url,
        /// The limit.
        limit: Duration,
    },
    /// The server answered with something else than the file.
    #[error("{url} answered {status}; check that the file is published there, and try again")]
    Status {
        /// The address.
        url: Url,
        /// What it answered.
        status: StatusCode,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// How one becomes known to it, in its own words.
        challenge: Option<Box<str>>,
    },
    /// The server could not be reached, or did not send the file to its end.
    #[error("{url} could not be fetched: {reason}; check the connection, and try again")]
    Unreachable {
        /// The address.
        url: Url,
        /// What happened.
        reason: String,
    },
    /// What an index says about a package cannot be used.
    #[error("{url} says nothing that can be used: {reason}; check the name and the version")]
    Index {
        /// The address.
        url: Url,
        /// What is wrong with it.
        reason: String,
    },
    /// The temporary folder has no room, or cannot be written.
    #[error("the temporary folder cannot hold the file: {0}; make room, or set TMPDIR to a folder with more")]
    Temporary(#[from] io::Error),
    /// No connection can be made from this machine at all.
    #[error("no connection can be made: {0}; check SSL_CERT_FILE and the system's certificates")]
    Connector(String),
}

/// What forbids a download.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Anything but https.
    #[error("only https is; for a server of your own set HASHLINE_FETCH_HTTPS_ONLY=false")]
    NotHttps,
    /// Neither http nor https.
    #[error("{0} is no way to fetch a file; use https")]
    Scheme(String),
    /// A name and a password in the address.
    #[error("it holds a user's name or password; publish files that need none")]
    Credentials,
    /// No machine is named.
    #[error("it names no machine")]
    NoHost,
    /// An address that is not public.
    #[error("{0}; for a server of your own set HASHLINE_FETCH_ALLOW_PRIVATE=true")]
    NotPublic(#[from] NotPublic),
    /// A redirection that cannot be followed.
    #[error("it redirects to nowhere; publish the address that it leads to")]
    Nowhere,
    /// Too many redirections.
    #[error("more than {0} redirections lead to it; publish the address that they end at")]
    Redirections(usize),
}

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".into(),
        count => format!("{count} bytes"),
    }
}

impl FetchError {
    /// Whether it may go better the next time.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                matches!(*status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
                    || status.is_server_error()
            }
            Self::Unreachable { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
