//! The record of edits and decisions: what agents changed, what a person decided about it, and how to get back to any state of it.
//!
//! A [`Store`] is the history of one folder, in `.mcp/edit_history`. `decisions.log` is the exact record and all that a replay
//! reads: one line of JSON is one transaction about one document, with what happened to its weave since the last one. What outside
//! readers look at (`logs/{conversation}.log`, `diffs/{conversation}/{edit}.diff`) is derived from it, and can be at any time.
//! Texts that a replay begins with lie in `checkpoints/` as they are.
//!
//! ```
//! use hashline_history::{DocumentName, Draft, FilesNow, Now, Store};
//! use hashline_text::{DiskForm, FileHash, Text};
//! use hashline_weave::Weave;
//!
//! struct NoFiles;
//! impl FilesNow for NoFiles {
//!     fn hash(&self, _: &std::path::Path) -> std::io::Result<Option<FileHash>> {
//!         Ok(None)
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::new(folder.path(), "an example");
//! let name = DocumentName::Path(folder.path().join("a.txt"));
//! let weave = Weave::new(Text::from("one\ntwo\n"));
//! let now = Now::Text { weave: &weave, form: DiskForm::default(), hash: None };
//!
//! let mut session = store.session(&NoFiles)?;
//! let appended = session.append(&Draft { now: Some(now), ..Draft::about(name.clone()) })?;
//! assert!(session.finish().is_empty());
//!
//! let document = store.document(&name)?;
//! assert_eq!(document.sequence, appended.sequence);
//! assert_eq!(document.weave().unwrap().buffer().to_string(), "one\ntwo\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Whoever writes takes a [`Session`]: the kernel's lock, everything that others wrote, and whatever they left unfinished. A write to
//! the disk is recorded before it is made, as an intent together with how things are once it is done, and is ended in the same session;
//! a session that finds one open asks the disk ([`FilesNow`]) and ends it one way or the other. Reading takes no lock.
//!
//! What becomes of several files at once ([`Session::switch`]) is recorded in one write, as lines that count together or not at all, and done step by step. A
//! session that finds a switch half done finishes it, from what is recorded alone; the files themselves are changed by whoever took the session.
//!
//! # Rules
//!
//! - Records have one order: their sequence number, given under the lock. Times are for people.
//! - What an append returned for is on the disk; what it refused is not in the record. One sync makes it so; a base syncs its
//!   checkpoint first.
//! - A line is state, not operations: a replay guesses nothing, and the hash of the text is checked at every line that changes it.
//! - What a delta is told against is what a reader knows, which is less than what the weave knows (`Weave::as_told`).
//! - A record belongs to a user: each line carries a seal by a key that does not lie in the folder ([`Signer`]). To whoever reads, a record
//!   whose header has another's seal or none is none; nothing is written to it until a person adopts it or sets it aside. A line without its
//!   seal is damaged.
//! - Nothing that is read is believed: ids, paths and checkpoints are checked, a line that lies is left out and named by its number,
//!   and what rests on it is refused until the next base.
//! - Nothing outside `.mcp` is written by this crate, no link in it is followed, and nothing but regular files is opened.
//! - Paths in the record are relative to the folder, so they cannot point outside, and a folder that is moved keeps its history. Logs
//!   have absolute ones, as they are when the log is written. One that is not UTF-8 is written with `%`, as [`mod@path`] says: in logs it is
//!   a `file:` URI, in the record it is marked.
//! - Lock files are never removed.
//!
//! # Limitations
//!
//! - A conversation's log is written anew as a whole where more than one in sixteen of its lines change.
//! - A replay hashes the whole text at every record that changed it, which is more than half of what it costs.
//! - A cleanup holds the record in memory, and keeps the hunks of forgotten edits in the weaves of the documents that stay.
//! - Where a file was changed by something else between the end of a process and the next session, an unfinished write counts as
//!   made if the file is there and should be.
//! - After a power cut logs and diffs may lack what the record has; [`Session::check`] writes them anew.
//! - Conversations whose ids differ in nothing but capitals share files where the file system does not tell them apart.
//! - A file cannot be moved to a folder that another history holds.
//! - On Windows folders are not synced, and files have no modes.

#![forbid(unsafe_code)]

mod agent_name;
mod append;
mod cleanup;
mod connection;
mod derive;
mod diff;
mod document;
mod draft_delta;
mod error;
mod files;
mod find;
mod folder;
mod foreign;
mod id;
mod json_format;
mod layout;
mod ledger;
mod list_edits;
mod log_entry;
mod multi_file_switch;
mod name;
mod one_line;
pub mod path;
mod reason;
mod record;
mod record_lines;
mod recover_interrupted;
mod seal;
mod session;
mod steps;
mod store;
mod thread_lock;
mod transaction;
mod undecided_reason;
mod unix_millis;

pub use agent_name::AgentName;
pub use append::Appended;
pub use cleanup::{Cleaned, Forget, LastWord, Pin};
pub use connection::{Connection, Holder, Through};
pub use document::{Content, Document, EditState, HunkState, RecordedState};
pub use error::StoreError;
pub use files::{Change, FilesNow, Held};
pub use find::{has_history, history_folder};
#[doc(hidden)]
pub use folder::{Allow, Probe, Step};
pub use id::{ConversationId, EditId, FileId, HunkRef};
pub use ledger::Damage;
pub use list_edits::Listing;
pub use log_entry::LogEntry;
pub use multi_file_switch::Switched;
pub use name::DocumentName;
pub use one_line::{inert_json, one_line, shows};
pub use reason::Reason;
pub use record::{Decision, Location, Sequence, Status};
pub use seal::Signer;
pub use session::Session;
pub use store::{Found, Glance, Store, Summary};
pub use transaction::{
    Continuity, Decided, Draft, Effect, FileChange, IntentEnd, Located, Mode, NewEdit, NewHunk, Now,
    Operation, OwnerChange, Registers, Subject,
};
pub use undecided_reason::Why;
pub use unix_millis::UnixMillis;
