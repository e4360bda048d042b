//! The editors' face: document sync, and review as code actions and workspace edits.
//!
//! [`serve`] speaks LSP with one editor over a pair of pipes, and answers other processes of the user on a socket. The
//! documents themselves, and all that happens to them, belong to [`hashline_workspace`]; this crate translates.
//!
//! The way of a message: `transport` reads it; what the editor says of its documents is taken in at once (`documents`);
//! everything else goes to a handler (`handlers`), which answers from memory. What is sent unasked goes through one task
//! (`outgoing`). What plugins and sidecar say beyond LSP is in [`protocol`].
//!
//! # Rules
//!
//! - What the editor says takes effect in the order in which it was said, before anything that was said later.
//! - No handler waits for the editor.
//! - Nothing that the editor sends ends the process: what cannot be read is answered with an error, and a change that
//!   cannot be read puts its document out of step.
//! - The protocol's types stop here: `to_proto` and `from_proto` hold all conversions.
//!
//! # Limitations
//!
//! - The URI in the edit of a code action is spelled as [`url`](tower_lsp::lsp_types::Url) spells it.

#![forbid(unsafe_code)]

mod announcement;
mod client;
mod code_actions;
mod code_lenses;
mod commands;
mod configuration;
mod decision_requests;
mod diagnostics;
mod documents;
mod from_proto;
mod handlers;
mod handover;
mod hover;
mod http;
mod hunk_choices;
mod ide;
mod link_service;
mod lock;
mod other_sidecars;
mod outgoing;
pub mod protocol;
mod raw_params;
mod serve;
mod session;
mod settings;
mod to_proto;
mod transport;

pub use http::{Listening, ServeHttp};
pub use link_service::RunTool;
pub use serve::{Agents, Options, serve};
