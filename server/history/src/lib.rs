//! The record of edits and decisions.
//!
//! Whatever an agent changes, and whatever a person decides about it, is recorded here before anybody is told. The rest of the
//! server writes through [`History`]; where the record lies is this crate's business alone.
//!
//! ```
//! use hashline_history::{Decision, History, HunkRef, Memory, EditId, Record};
//! let history = Memory::default();
//! let hunk = HunkRef { edit: EditId::from("3f2a9c1b"), number: 1 };
//! let first = history.append(Record::Decided { hunk, decision: Decision::Accepted, reason: None })?;
//! assert_eq!(history.records().len(), 1);
//! assert_eq!(first.0, 1);
//! # Ok::<(), hashline_history::HistoryError>(())
//! ```
//!
//! # Rules
//!
//! - Records have one order: their sequence number, given when they are written. Times are for people.
//! - A record that could be written is never changed.
//!
//! # Limitations
//!
//! - The record is kept in memory: it ends with the process.

#![forbid(unsafe_code)]

mod id;
mod memory;
mod record;

pub use id::{ConversationId, EditId, HunkRef};
pub use memory::Memory;
pub use record::{Decision, Edited, History, HistoryError, HunkLines, Location, Record, Sequence, Status};
