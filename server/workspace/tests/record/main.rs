//! What is on the disk outlives every process: edits and decisions through restarts, changes that nobody watched, faults and crowds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

#[path = "../../../weave/tests/common/chance.rs"]
mod chance;
#[path = "../common/change.rs"]
mod change;
mod conversations;
mod crowd;
mod desk;
mod every_append;
#[path = "../common/failing.rs"]
mod failing;
mod faults;
mod fidelity;
mod foreign_writes;
mod held;
mod hostile;
mod lines;
#[path = "../common/order.rs"]
mod order;
mod owners;
mod record_program_writes;
mod reopened;
#[path = "../common/strangers.rs"]
mod strangers;
mod street;
mod turns;
mod undone;
mod unread;
mod unseen;
