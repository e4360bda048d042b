//! The sidecar as an editor meets it: in memory, over a pipe, message by message.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod actions;
#[path = "../../../text/tests/text/cases.rs"]
mod cases;
mod delivery;
mod editor;
mod files;
mod ide;
mod names;
mod others;
mod page;
mod review;
mod sequences;
mod settings;
mod sync;
mod transcripts;
