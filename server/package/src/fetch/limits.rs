//! How much is fetched, from where, and how long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// What all downloads for one server may take together: its files, what indexes say of them, and every attempt that failed.
#[derive(Debug)]
pub struct Budget {
    bytes: u64,
    left: AtomicU64,
    time: Duration,
    begun: Instant,
}

impl Budget {
    /// As many bytes as the files of a large server have.
    pub const FILES: u64 = 4;
    /// As much time as the slowest files take.
    pub const TIMES: u32 = 2;

    /// What follows from the limits of one file. The time begins now.
    #[must_use]
    pub fn of(limits: &Limits) -> Self {
        let bytes = limits.max_bytes.saturating_mul(Self::FILES);
        let time = limits.total.saturating_mul(Self::TIMES);
        Self { bytes, left: AtomicU64::new(bytes), time, begun: Instant::now() }
    }

    /// The bytes that there were at first.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes bytes, if so many are left.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// The time that there was at first.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The time that is left.
    pub(crate) fn time_left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }
}
