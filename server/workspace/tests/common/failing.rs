//! The ways in which an append to a record fails, and what fails with it.

use std::io::{Error, ErrorKind};

use hashline_history::{Allow, Step};

/// How an append fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing is written.
    Refused,
    /// Nothing is written, and nothing by the next ones.
    Full,
    /// Half of the line is written.
    Half,
    /// The line is written, and may not be durable: it is taken back.
    Unsynced,
    /// The line is written, and may be neither durable nor taken back.
    Torn,
    /// It only takes as long as what comes meanwhile.
    Slow,
}

impl Failure {
    pub const ALL: [Self; 6] =
        [Self::Refused, Self::Full, Self::Half, Self::Unsynced, Self::Torn, Self::Slow];
}

/// The steps of a record that fail from now on: so many of each kind.
#[derive(Default)]
pub struct Failing {
    appends: usize,
    syncs: usize,
    cuts: usize,
}

impl Failing {
    /// What becomes of an append of so many bytes that fails in this way. `cuts`: how often a torn line cannot be taken back.
    pub fn append(&mut self, failure: Failure, len: usize, cuts: usize) -> Allow {
        match failure {
            Failure::Refused => return full(),
            Failure::Full => {
                self.appends = 3;
                return full();
            }
            Failure::Half => return Allow::Part(len / 2),
            Failure::Unsynced => self.syncs = 1,
            Failure::Torn => (self.syncs, self.cuts) = (1, cuts),
            Failure::Slow => {}
        }
        Allow::All
    }

    /// What becomes of a step that is not to fail for itself.
    pub fn step(&mut self, step: Step) -> Allow {
        let (left, failed) = match step {
            Step::Write(_) => (&mut self.appends, full()),
            Step::Sync => (&mut self.syncs, broken()),
            Step::Truncate => (&mut self.cuts, broken()),
            _ => return Allow::All,
        };
        if *left == 0 {
            return Allow::All;
        }
        *left -= 1;
        failed
    }
}

fn full() -> Allow {
    Allow::Fail(Error::from(ErrorKind::StorageFull))
}

fn broken() -> Allow {
    Allow::Fail(Error::other("broken"))
}
