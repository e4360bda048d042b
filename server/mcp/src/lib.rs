//! The agents' face: MCP tools over stdio, and the router that finds the sidecar.
//!
//! [`Toolbox`] is the tools over one [`Workspace`](hashline_workspace::Workspace): every face calls them through it and gets a
//! [`CallToolResult`](rmcp::model::CallToolResult). [`Router`] is the toolbox of `hashline mcp`: for each call it finds the sidecar
//! that has the document and passes the call on, or serves the disk itself. [`Server`] speaks MCP over it, in the protocol with
//! sessions and in the one without. A sidecar runs the calls that come in at its socket through a toolbox of its own, which keeps each
//! caller to its roots.
//!
//! # Rules
//!
//! - Whatever an agent can mend is a result with `isError`, complete in its words; JSON-RPC errors are for unknown tools and
//!   malformed requests alone.
//! - Reads and edits answer in plain text: clients hide it where there is structured content too. The tools of the toolset `text` answer
//!   in JSON, which is the same in both; what fails answers in words alone.
//! - A path that begins at the root is made absolute by the router, and said to the agent as it was spelt: the toolbox, here and in a
//!   sidecar whose roots are others, knows absolute paths.
//! - The list of tools does not depend on the connection.
//! - An edit is passed on once. If it is not known whether it was made, the reply says so.
//!
//! # Limitations
//!
//! - A line of more than 16 MiB on stdin is dropped by the transport, and has no answer.
//! - Edits that were made without an editor are not known to an editor that starts later.

#![forbid(unsafe_code)]

mod arguments;
mod client_roots;
mod instructions;
mod limits;
mod own_edits;
mod reply;
mod router;
mod server;
mod stdio;
mod toolbox;
mod tools;
mod toolset;

pub use instructions::INSTRUCTIONS;
pub use router::Router;
pub use server::Server;
pub use stdio::{ServeError, serve_stdio};
pub use toolbox::Toolbox;
pub use toolset::{NameStyle, ToolName, Toolset, UnknownToolset, list};
