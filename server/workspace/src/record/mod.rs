//! The record on the disk: what happens to documents goes into it, and what it has comes back with them (rules W15 to W17).
//!
//! An agent's edit is recorded before it is shown to anybody, and a change of a file before it is written: the call waits for it. What
//! the editor shows, and what a person decides, is recorded by the [`Recorder`] as soon as it can; until it is, the document takes
//! no further edits, as those would be recorded after it.
//!
//! A document that no editor has open is what its record and its file say: it is made of the two when either has changed.
//!
//! # Limitations
//!
//! - Documents without a file, and those outside the folders that are served, are kept in memory.

mod append;
mod histories;
mod recorder;
mod restore;

pub(crate) use append::{Provisional, Recorded, draft};
pub use histories::Histories;
pub(crate) use histories::{OnDisk, name_in_record};
pub(crate) use recorder::{Job, Recorder};
pub(crate) use restore::{Look, uri_of};
