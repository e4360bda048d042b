//! `hashline acp`: between an editor that speaks the Agent Client Protocol (ACP) and its agent.
//!
//! The editor starts hashline in the agent's place, and hashline the agent. Every line goes through as it is, but for these:
//!
//! - `session/new`, `session/load`, `session/resume` and `session/fork` get hashline's MCP server ([`server_entry`]).
//! - `fs/read_text_file` and `fs/write_text_file` of the agent are answered here if the document is open in an editor: a read with the
//!   live text, a write by holding it there, as [hooks](crate::hooks) do ([`files`]).
//!
//! [`dialogue`] says what a line is, and knows what was agreed on; it is pure. [`relay`] moves the lines.
//!
//! # Invariants
//! - Lines of one direction keep their order and their bytes: an entry is put into the text of a line, and nothing is written anew. Hence
//!   serde_json over raw lines, and no crate with the protocol's types: those would read and write all of a message, of versions that they
//!   know, to change one list in it.
//! - What is no message, too long or cut off goes through.
//! - The client never hears of a request that is answered here, nor that it is cancelled; nothing is answered that the client did not say it
//!   can do.
//! - Whatever fails before it is known that a document is open fails open: the client is asked. A write to an open document that its text
//!   does not take is refused in words, as a client would write it past the review.
//! - Neither direction waits for the other: an agent that writes before it reads gets on.
//!
//! # Limitations
//! - While it is asked whether a document is open, what the agent says behind that waits, seconds at most.
//! - The agent's MCP server is another connection: what is written by `fs/write_text_file` is not its own there.
//! - A line of more than 16 MiB goes through, whatever it says.

mod dialogue;
mod files;
mod lines;
mod relay;
mod server_entry;

pub use relay::{ToAgent, ToClient, between};
pub use server_entry::AcpServer;
