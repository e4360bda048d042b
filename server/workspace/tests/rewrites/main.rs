//! Whole new texts, replacements and diffs, in files on the disk and in open documents.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod cases;
mod desk;
mod random;
