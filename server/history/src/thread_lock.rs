//! The lock between the threads of a process: a gate before the lock of a history. The kernel gives that lock to a process, and only one of its threads is to have it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Lets one thread in at a time.
#[derive(Default)]
pub(crate) struct Gate {
    taken: Mutex<bool>,
    freed: Condvar,
}

/// Leaves the gate when dropped.
pub(crate) struct Entered(Arc<Gate>);

impl Gate {
    /// Enters as soon as nobody else is in; none if that takes longer.
    pub(crate) fn enter(self: &Arc<Self>, deadline: Instant) -> Option<Entered> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            let left = deadline.checked_duration_since(Instant::now())?;
            taken = self.freed.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        drop(taken);
        Some(Entered(self.clone()))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}
