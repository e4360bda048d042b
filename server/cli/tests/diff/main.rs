//! `mcpdiff` as a shell starts it, on histories that a store has written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod commands;
mod editor;
mod hostile;
mod project;
mod terminal;
