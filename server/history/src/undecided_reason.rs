//! Why something was not decided: one vocabulary for those who decide, those who hand decisions on, and those who tell the person.

use serde::{Deserialize, Serialize};

/// Why a hunk was not decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// There is no such undecided hunk.
    Gone,
    /// The file was changed while nobody watched.
    Changed,
    /// The file was removed while nobody watched.
    Removed,
    /// Something stands against it.
    Conflicted,
    /// The file was changed while nobody watched, and where the hunk is now is not certain.
    Lost,
    /// The person has changed lines inside it.
    Edited,
    /// Other hunks have to be decided with it.
    NeedsOthers,
    /// Another hunk that is in the text changes the same place.
    Collides,
    /// The file is open in an editor, and has to be closed first.
    Open,
    /// It could not be written.
    Failed,
    /// Another editor decides about it and has not, or it is what a later release says; the sentence has it.
    #[default]
    #[serde(rename = "other", other)]
    Elsewhere,
}
