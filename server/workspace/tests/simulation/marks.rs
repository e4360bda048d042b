//! What a plugin says of its changes, and how that may reach the server: in time as a rule, or late, for another version, or never.

use hashline_text::DocVersion;
use hashline_workspace::document::Cause;

use crate::dice::Dice;

/// When the server hears what brought a change about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Before,
    /// Behind the change.
    Late,
    /// Before it, but of a version that has passed.
    Stale,
    Never,
}

/// What is said of a change.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub version: DocVersion,
    pub cause: Cause,
    pub arrival: Arrival,
}

/// Whether a plugin does with its marks what it should.
#[derive(Clone, Debug)]
pub enum Marking {
    Careful,
    /// Sometimes a mark slips, or its change is sent together with what was typed.
    Careless(u64),
}

impl Marking {
    /// How the mark of a version arrives: so another step that is left out changes nothing.
    pub fn arrival(&self, version: i32) -> Arrival {
        match self {
            Self::Careful => Arrival::Before,
            Self::Careless(seed) => {
                use Arrival::{Before, Late, Never, Stale};
                Dice::new(*seed, version as u64).weighted(&[(76, Before), (8, Late), (8, Stale), (8, Never)])
            }
        }
    }

    /// Whether what was typed up to a version is sent apart from what is marked.
    pub fn flushes(&self, version: i32) -> bool {
        match self {
            Self::Careful => true,
            Self::Careless(seed) => !Dice::new(!*seed, version as u64).chance(25),
        }
    }
}
