//! `mcpdiff` as a shell starts it, on histories that a store has written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod agent;
#[path = "../../../weave/tests/common/chance.rs"]
mod chance;
mod changed;
mod commands;
mod decisions;
mod editor;
mod export;
mod faults;
mod files;
mod folders;
mod foreign;
mod hostile;
mod killed;
mod live;
mod names;
mod obeyed;
mod open_files;
mod plain_editor;
mod project;
#[path = "../../../terminal/tests/pty/mod.rs"]
mod pty;
mod reused_names;
mod starting;
mod taken_names;
mod terminal;
mod trees;
mod two_editors;
