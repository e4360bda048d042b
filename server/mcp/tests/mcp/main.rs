//! The tools as an agent meets them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod argument_limits;
mod attacks;
mod bad_input;
#[path = "../../../text/tests/text/cases.rs"]
mod cases;
mod defects;
mod desk;
mod disk;
mod files;
mod fuzzed;
mod hard_links;
mod hooks;
mod http;
mod listed;
mod live;
mod names;
mod obeyed;
mod place;
mod protocol;
mod resources;
mod routed;
mod search;
mod several;
mod starting;
mod subscribed;
mod text;
mod unchanged;
mod whole_files;
