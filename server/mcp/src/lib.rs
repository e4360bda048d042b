//! The agents' face: MCP tools and resources over stdio and HTTP, and the router that finds the sidecar.
//!
//! [`Toolbox`] is the tools over one [`Workspace`](hashline_workspace::Workspace): every face calls them through it and gets a
//! [`CallToolResult`](rmcp::model::CallToolResult). [`Router`] is the toolbox of `hashline mcp`: for each call it finds the sidecar
//! that has the document and passes the call on, or serves the disk itself. [`Server`] speaks MCP over it, in the protocol with
//! sessions and in the one without: over standard input and output to one agent ([`serve_streams`]), or over HTTP to whoever has a token
//! ([`HttpServer`]). A sidecar runs the calls that come in at its socket through a toolbox of its own, which keeps each
//! caller to its roots.
//!
//! Resources are what client programs read: folders, documents, reviews (`resources/`). They are found and confined as tools are. Who
//! subscribes to one is told when it stands otherwise in any place that has it.
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
//! - Over HTTP an agent hears of nothing, and touches nothing, that its token does not give: it is refused with status 403 where a request
//!   names such a thing, and lists and waits leave it out.
//! - A resource gives nothing that the tools refuse. A client that reads one has not told its agent of a decision.
//! - An edit is passed on once. If it is not known whether it was made, the reply says so.
//!
//! # Limitations
//!
//! - A line of more than 16 MiB on stdin is passed over. Its answer names no request, as its id may stand at its end.
//! - Subscribers hear of what other programs do to closed files and to the record by a look a second. Folders cannot be subscribed to.
//! - Edits that were made without an editor are not known to an editor that starts later.

#![forbid(unsafe_code)]

mod acp;
mod argument_limits;
mod arguments;
mod caller;
mod client_roots;
mod hooks;
mod http;
mod instructions;
mod json_value_limit;
mod message_lines;
mod own_edits;
mod program_write;
mod reply;
mod resources;
mod result_limits;
mod router;
mod server;
mod signer;
mod streams;
mod toolbox;
mod tools;
mod toolset;

pub use acp::{AcpServer, ToAgent, ToClient, between};
pub use caller::caller_of;
pub use hooks::{HookFailure, HookedProgram, answer_command, hook_failures, pass_over};
pub use http::{BadScope, DEFAULT_LISTEN, HttpOptions, HttpServer, Scope, TokenKey};
pub use instructions::instructions;
pub use router::Router;
pub use server::Server;
pub use signer::signer_of;
pub use streams::{ServeError, serve_streams};
pub use toolbox::Toolbox;
pub use toolset::{NameStyle, ToolName, Toolset, UnknownToolset, list};
