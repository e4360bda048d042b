//! The tools as an agent meets them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod bad_input;
mod defects;
mod desk;
mod disk;
mod files;
mod listed;
mod live;
mod place;
mod protocol;
mod routed;
mod search;
mod whole_files;
