//! The appends to a record: which of them fails, how, and what comes to the document in that very moment.

use std::sync::{Mutex, OnceLock, Weak};

use hashline_history::{Allow, Probe, Step};

use super::seat::{Meanwhile, Seat};
use crate::failing::{Failing, Failure};

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
    failing: Failing,
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
            let refused = state.failing.step(Step::Write(len));
            if !matches!(refused, Allow::All) {
                return refused;
            }
            match state.plan.take_if(|plan| plan.append == now) {
                Some(plan) => plan,
                None => return Allow::All,
            }
        };
        if let Some(seat) = self.seat.get().and_then(Weak::upgrade) {
            seat.meanwhile(plan.meanwhile);
        }
        // In some plans whoever comes next cannot take a torn line back either.
        self.state.lock().unwrap().failing.append(plan.failure, len, 1 + plan.append % 4)
    }
}

impl Probe for Appends {
    fn step(&self, step: Step, path: &str) -> Allow {
        if !path.contains("decisions.log") {
            return Allow::All;
        }
        match step {
            Step::Write(len) => self.append(len),
            _ => self.state.lock().unwrap().failing.step(step),
        }
    }
}
