//! What is on the disk outlives every process: edits and decisions through restarts, changes that nobody watched, faults and crowds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

#[path = "../../../weave/tests/common/chance.rs"]
mod chance;
mod conversations;
mod crowd;
mod desk;
mod every_append;
mod faults;
mod fidelity;
mod held;
mod hostile;
mod lines;
mod owners;
mod reopened;
mod street;
mod turns;
mod unread;
mod unseen;
