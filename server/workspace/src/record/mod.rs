//! The record on the disk: what happens to documents goes into it, and what it has comes back with them (rules W15 to W17).
//!
//! An agent's edit is recorded before it is shown to anybody, and a change of a file before it is written: the call waits for it. What
//! the editor shows, and what a person decides, is recorded by the recorder as soon as it can; until it is, the document takes
//! no further edits, as those would be recorded after it. A person's decision that changes the editor's text is recorded twice: as
//! wanted, before it is sent, and as made, when the text shows it. One that cannot be recorded as wanted is not sent.
//!
//! A document that no editor has open is what its record and its file say: it is made of the two when either has changed. Where the two do
//! not go together they are looked at again with the history taken: another process may have been in the middle of writing both.
//!
//! # Limitations
//!
//! - Documents without a file, and those outside the folders that are served, are kept in memory.
//! - Where the line endings of a file were converted while nobody watched, held edits come with the endings that they were proposed with.
//! - A line of the record that was refused and could not be cut off counts as recorded if the process ends before it can be.

mod append;
mod decider;
mod find_history;
mod histories;
mod owner;
mod recorded;
mod recorder;
mod recorder_jobs;
mod restore;
mod user_files;

pub(crate) use append::{Provisional, Unfinished, draft, is_beaten};
pub(crate) use decider::{OtherEditor, Whose};
pub(crate) use find_history::name_in_record;
pub use histories::{Histories, name_of_process};
pub(crate) use recorded::Recorded;
pub(crate) use recorder_jobs::{Job, Jobs};
pub(crate) use restore::{Look, uri_of};
