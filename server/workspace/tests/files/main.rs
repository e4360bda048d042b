//! Files that agents make, remove and rename: those that nobody has open, and those that an editor has.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod agent;
mod desk;
mod noticed;
mod on_disk;
mod open;
mod racy;
mod rehearsed;
mod several;
#[path = "../common/strangers.rs"]
mod strangers;
