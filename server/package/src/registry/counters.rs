//! What an operator watches: how many versions were published, and how many were not and why. "Monitor validation failures".

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::hashes::{HashFailures, HashStatus};

/// Each with its name.
const STATUSES: [(HashStatus, &str); 7] = [
    (HashStatus::Mismatch, "mismatch"),
    (HashStatus::Unreachable, "unreachable"),
    (HashStatus::TooLarge, "too_large"),
    (HashStatus::Refused, "refused"),
    (HashStatus::InvalidHash, "invalid_hash"),
    (HashStatus::UnknownIdentifier, "unknown_identifier"),
    (HashStatus::IndexMismatch, "index_mismatch"),
];

/// Counts since the registry began.
#[derive(Debug, Default)]
pub struct Counters {
    published: AtomicU64,
    rejected: AtomicU64,
    hashes: [AtomicU64; STATUSES.len()],
}

impl Counters {
    /// A version was published.
    pub fn published(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    /// A version was not published, because of its hashes.
    pub fn rejected(&self, failures: &HashFailures) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        for failure in failures.0.values() {
            if let Some(at) = STATUSES.iter().position(|(status, _)| *status == failure.status) {
                self.hashes[at].fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// In the form that monitors read.
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        writeln!(f, "# TYPE hashline_registry_versions_total counter")?;
        writeln!(f, "hashline_registry_versions_total{{result=\"published\"}} {}", count(&self.published))?;
        writeln!(f, "hashline_registry_versions_total{{result=\"rejected\"}} {}", count(&self.rejected))?;
        writeln!(f, "# TYPE hashline_registry_hash_failures_total counter")?;
        for ((_, name), counter) in STATUSES.iter().zip(&self.hashes) {
            writeln!(f, "hashline_registry_hash_failures_total{{status=\"{name}\"}} {}", count(counter))?;
        }
        Ok(())
    }
}
