//! The appends to a record: which of them fails, how, and what comes to the document in that very moment.

use std::io::{Error, ErrorKind};
use std::sync::{Mutex, OnceLock, Weak};

use hashline_history::{Allow, Probe, Step};

use super::failure::Failure;
use super::seat::{Meanwhile, Seat};

/// What is to go wrong.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub append: usize,
    pub failure: Failure,
    pub meanwhile: Meanwhile,
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    /// The appends that were tried so far.
    count: usize,
    /// How many more are refused.
    refused: usize,
    /// How many syncs and cuts fail from now on.
    fails_sync: usize,
    fails_cut: usize,
}

/// Counts the appends and lets one of them fail.
#[derive(Default)]
pub struct Appends {
    state: Mutex<State>,
    seat: OnceLock<Weak<Seat>>,
}

impl Appends {
    pub fn play(&self, seat: Weak<Seat>, plan: Option<Plan>) {
        self.state.lock().unwrap().plan = plan;
        assert!(self.seat.set(seat).is_ok());
    }

    pub fn count(&self) -> usize {
        self.state.lock().unwrap().count
    }

    /// Lets all go well from now on.
    pub fn mend(&self) {
        let mut state = self.state.lock().unwrap();
        *state = State { count: state.count, ..State::default() };
    }

    fn append(&self, len: usize) -> Allow {
        let plan = {
            let mut state = self.state.lock().unwrap();
            let now = state.count;
            state.count += 1;
            if state.refused > 0 {
                state.refused -= 1;
                return Allow::Fail(Error::from(ErrorKind::StorageFull));
            }
            match state.plan.take_if(|plan| plan.append == now) {
                Some(plan) => plan,
                None => return Allow::All,
            }
        };
        if let Some(seat) = self.seat.get().and_then(Weak::upgrade) {
            seat.meanwhile(plan.meanwhile);
        }
        let mut state = self.state.lock().unwrap();
        match plan.failure {
            Failure::Refused => return Allow::Fail(Error::from(ErrorKind::StorageFull)),
            Failure::Full => {
                state.refused = 3;
                return Allow::Fail(Error::from(ErrorKind::StorageFull));
            }
            Failure::Half => return Allow::Part(len / 2),
            Failure::Unsynced => state.fails_sync = 1,
            // In some plans whoever comes next cannot take it back either.
            Failure::Torn => (state.fails_sync, state.fails_cut) = (1, 1 + plan.append % 4),
            Failure::Slow => {}
        }
        Allow::All
    }
}

impl Probe for Appends {
    fn step(&self, step: Step, path: &str) -> Allow {
        if !path.contains("decisions.log") {
            return Allow::All;
        }
        let fails = |left: &mut usize| {
            if *left == 0 {
                return Allow::All;
            }
            *left -= 1;
            Allow::Fail(Error::other("broken"))
        };
        match step {
            Step::Write(len) => self.append(len),
            Step::Sync => fails(&mut self.state.lock().unwrap().fails_sync),
            Step::Truncate => fails(&mut self.state.lock().unwrap().fails_cut),
            _ => Allow::All,
        }
    }
}
