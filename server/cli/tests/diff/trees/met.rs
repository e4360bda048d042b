//! How often what was met.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Met(BTreeMap<String, usize>);

/// What is met in every usual run; else the plays do not show what they are to show.
const USUAL: [&str; 31] = [
    "edit: make",
    "edit: make again",
    "edit: put",
    "edit: put in several places",
    "edit: put over what was put",
    "edit: move",
    "edit: move to another case",
    "edit: remove",
    "restart",
    "patch",
    "accepted: edit",
    "accepted: hunk",
    "accepted: conversation",
    "rejected: edit",
    "rejected: hunk",
    "rejected: conversation",
    "rejected: with others",
    "refused: edit",
    "refused: hunk",
    "refused: conversation",
    "refused: with others",
    "reason: Of(BuiltOnBy)",
    "reason: Taken",
    "open",
    "save",
    "close",
    "held: in an open file",
    "edit refused: waits for the person already",
    "accepted: held hunk, lines, in the editor",
    "accepted: other hunk, lines, in the editor",
    "rejected: held hunk, lines, in the editor",
];

impl Met {
    pub fn note(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub fn add(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// What is always met and was not.
    pub fn missing(&self) -> Vec<&'static str> {
        USUAL.into_iter().filter(|what| !self.0.contains_key(*what)).collect()
    }

    pub fn told(&self) -> String {
        let told: Vec<String> = self.0.iter().map(|(what, count)| format!("  {count:>8} {what}")).collect();
        told.join("\n")
    }
}
