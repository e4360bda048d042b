//! Roots, live and disk documents, the life of an edit, decisions.
//!
//! [`Workspace`] owns every document. The editor's changes and the agents' edits reach a document only through it: what the editor
//! says takes effect before the call returns, what an agent asks for waits its turn. [`document`] holds what can happen to one
//! document, without IO, clock or tasks; [`disk`] is the only code that touches files; the rest of the crate brings the two together.
//!
//! # Rules
//!
//! - A keystroke never waits for an agent.
//! - A file is never written under an open document.
//! - What a call refuses it has not changed.
//!
//! - What is told to anybody is recorded before.

#![forbid(unsafe_code)]

pub mod agent;
mod auto_run_files;
mod closed_documents;
mod conversation_openers;
pub mod disk;
pub mod document;
mod document_slot;
mod editor;
mod editor_decisions;
mod editor_files;
mod file_decisions;
mod foreign_writes;
mod grants;
mod record;
mod refusal_messages;
mod settings;
mod unsaved_work;
mod waiting_agents;
mod watched_file;
mod workspace;

pub use auto_run_files::Obeyed;
pub use editor::DocumentReview;
pub use file_decisions::{Rehearsal, Rehearsed};
pub use grants::{Access, Depth, Grant, Grants};
pub use record::{Histories, name_of_process};
pub use refusal_messages::Refusal;
pub use settings::{BadGlob, Hold, Rule, Settings, SettingsByFolder};
pub use unsaved_work::Level;
pub use workspace::{Caller, Event, OpenElsewhere, Others, Workspace};
