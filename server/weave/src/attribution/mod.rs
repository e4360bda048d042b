//! What a change of the text was, and the past that this is judged by.
//!
//! A [`Weave`] is a model with the journal of its latest changes. What the editor says it did is done (`typing`, `undo`); of one that says nothing, what
//! its text shows is found by trying (`recognise_switches`, `switch_trial`, `split_changes`). Of a text that nobody watched only what is beyond doubt is believed (`unobserved`,
//! `missing_hunks`, `earlier_state`).
//!
//! # Invariants
//!
//! - Whatever text comes is taken over: a judgement says what it was, and never refuses it.
//! - Each change of the buffer is in the journal, and the journal's print is that of the buffer.
//! - The state before a half shown change is kept until something else is recorded, refused or switched.
//! - Budgets are in steps, never in time: the same changes are judged the same way.
//!
//! # Face
//!
//! What is exported here. Of the model this room knows its face alone.

mod aligned_region;
mod classify_lines;
mod earlier_state;
mod earlier_text;
mod fingerprint;
mod hunk_context;
mod interpretation;
mod journal;
mod local_typing;
mod missing_hunks;
mod recognise_switches;
mod region;
mod split_changes;
mod switch_trial;
mod test_access;
mod typing;
mod undo;
mod unobserved;
mod weave;

pub use interpretation::{Candidate, Cost, How, Judgement, Switched};
pub use journal::{JournalId, Turn};
pub use region::Regions;
pub use weave::Weave;
