//! How much is fetched, from where, and how long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The limits of every download.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Only https, at every redirection.
    pub https_only: bool,
    /// Addresses that are not public, too.
    pub allow_private: bool,
    /// The bytes of one file.
    pub max_bytes: u64,
    /// How often a download that failed is begun again.
    pub retries: usize,
    /// How long it waits before the first time; twice as long before each further one.
    pub backoff: Duration,
    /// How long one file may take, all attempts together.
    pub total: Duration,
    /// How long a connection may take to come about.
    pub connect: Duration,
    /// How long a server may send nothing.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            https_only: true,
            allow_private: false,
            max_bytes: 512 << 20,
            retries: 4,
            backoff: Duration::from_millis(500),
            total: Duration::from_secs(600),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }
}

/// How many bytes several downloads may take together.
#[derive(Debug)]
pub struct Budget {
    all: u64,
    left: AtomicU64,
}

impl Budget {
    /// So many bytes.
    #[must_use]
    pub fn new(all: u64) -> Self {
        Self { all, left: AtomicU64::new(all) }
    }

    /// What there was at first.
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// Takes bytes, if so many are left.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}
