//! Publishing as people do it: the program, a registry that runs, and a server of files.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test may stop where it is")]

#[path = "../../../package/tests/package/file_server.rs"]
#[allow(dead_code, reason = "it is made for all tests")]
mod file_server;
#[path = "../../../terminal/tests/pty/mod.rs"]
mod pty;

mod binary;
mod commands;
mod crash;
mod login;
mod program;
mod publishing;
mod trust;
