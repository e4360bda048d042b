//! The publisher's side and the registry's, with servers of files that do everything that servers do.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test may stop where it is")]

#[path = "../../../text/tests/text/cases.rs"]
mod cases;
mod fetch;
mod file_server;
mod fuzzed;
mod hashes;
mod indexes;
mod mutations;
mod publisher;
mod readers;
mod registry;
mod store;
