//! The IDE link of Claude Code: its program finds an editor by a lock file, connects over a WebSocket, and asks before it writes.
//!
//! Claude Code shows each edit in the editor that it is linked to while it asks whether it may make it. [`serve`] holds that edit on the
//! live document, as hunks of what the file has (rule W23): the person decides about each, and the program writes the file with those
//! that were accepted. Where that cannot be, the program is answered with an error, and its own question in the terminal stays.
//!
//! # Invariants
//! - Only who can read the lock file gets in: it is the user's alone, and its token is asked for before anything else. What a browser sends is
//!   refused.
//! - There is no lock file where another program's covers a folder of this one: with two the program connects to neither.
//! - Nothing that the other side sends ends this process, and sizes and numbers are limited.
//! - No file is written here. What the person has not saved is in no answer, but where the agent proposed the same.
//! - A held edit does not outlive the question: what is undecided when the program has its answer from elsewhere, or goes, is withdrawn.
//!
//! # Limitations
//! - Selections, mentions and the diagnostics of language servers are not known to the sidecar, so the program is not told any.
//! - Files are opened and saved by the person alone.
//! - A program that was just started may find the lock file a moment late: folders are looked at every second.

#![forbid(unsafe_code)]

mod connection;
mod frames;
mod handshake;
mod listener;
mod lock_file;
mod open_diff;
mod server;
mod tabs;
mod token;
mod tools;

pub use listener::{Options, serve};
pub use lock_file::claude_folder;
