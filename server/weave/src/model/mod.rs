//! The state of a document with the edits in it, and its exact operations: runs of lines, hunks, views, deltas, plans and snapshots.

pub(crate) mod comparison;
pub(crate) mod conflict;
pub(crate) mod delta;
pub(crate) mod disturb;
pub(crate) mod earlier;
pub(crate) mod emit;
pub(crate) mod error;
pub(crate) mod hunk;
pub(crate) mod inspect;
pub(crate) mod line;
pub(crate) mod plan;
pub(crate) mod rebuild;
pub(crate) mod record;
pub(crate) mod revise;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod snapshot;
pub(crate) mod spans;
pub(crate) mod state;
pub(crate) mod switch;
pub(crate) mod view;
