//! Locking what is whole at every instant, so that a panic elsewhere does not spoil it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever happened to others who held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
