//! What the plays met. What was never met was not tried.

use std::collections::BTreeMap;
use std::fmt;

/// What a play may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Met {
    Steps,
    Edits,
    EditsRefused,
    EditsOfOldTexts,
    EditsOnDisk,
    Withdrawn,
    Decided,
    DecisionsRefused,
    DecisionsThatWaited,
    DecisionsOnDisk,
    Delivered,
    MovedOn,
    Declined,
    Undone,
    Saved,
    AppendRefused,
    DiskFull,
    AppendTornInHalf,
    AppendNotSynced,
    AppendNotTakenBack,
    AppendSlow,
    Restarts,
    RestartsInTheMiddle,
    EditorsThatLivedOn,
    EditorsWithUnsavedWork,
    EditorsWithOldTexts,
    StillStood,
    Reloads,
    ReloadsInDelivery,
    Checkouts,
    ClosedUnsaved,
    OpenedDirty,
    SecondProcesses,
    SecondProcessesEnded,
    Shown,
    OwnersOfOthers,
    ReadAgain,
    Rests,
    RestsOfClosed,
    Ends,
}

impl Met {
    const ALL: [Self; 40] = [
        Self::Steps,
        Self::Edits,
        Self::EditsRefused,
        Self::EditsOfOldTexts,
        Self::EditsOnDisk,
        Self::Withdrawn,
        Self::Decided,
        Self::DecisionsRefused,
        Self::DecisionsThatWaited,
        Self::DecisionsOnDisk,
        Self::Delivered,
        Self::MovedOn,
        Self::Declined,
        Self::Undone,
        Self::Saved,
        Self::AppendRefused,
        Self::DiskFull,
        Self::AppendTornInHalf,
        Self::AppendNotSynced,
        Self::AppendNotTakenBack,
        Self::AppendSlow,
        Self::Restarts,
        Self::RestartsInTheMiddle,
        Self::EditorsThatLivedOn,
        Self::EditorsWithUnsavedWork,
        Self::EditorsWithOldTexts,
        Self::StillStood,
        Self::Reloads,
        Self::ReloadsInDelivery,
        Self::Checkouts,
        Self::ClosedUnsaved,
        Self::OpenedDirty,
        Self::SecondProcesses,
        Self::SecondProcessesEnded,
        Self::Shown,
        Self::OwnersOfOthers,
        Self::ReadAgain,
        Self::Rests,
        Self::RestsOfClosed,
        Self::Ends,
    ];
}

/// How often each was met.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<Met, u64>);

impl Tally {
    pub fn met(&mut self, what: Met) {
        *self.0.entry(what).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(*what).or_default() += count;
        }
    }

    /// What was never met.
    pub fn missing(&self) -> Vec<Met> {
        Met::ALL.into_iter().filter(|what| !self.0.contains_key(what)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, count)| writeln!(f, "{count:>10}  {what:?}"))
    }
}
