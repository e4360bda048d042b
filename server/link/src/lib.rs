//! Finding sidecars and talking to them.
//!
//! An editor's sidecar owns the documents that are open in it. Every other process of the user (the router that an
//! agent starts, a headless server, the command line) finds the sidecars through this crate and hands over what
//! concerns their documents.
//!
//! - A sidecar opens a [`Listener`], [`serve`]s a [`Handler`] on it, and then [`announce`]s itself in the [`StateDir`].
//! - Before that its editor's plugin leaves a [`Mark`], so that nobody writes files under an editor that is starting.
//! - Others look with [`discover`] once or with a [`Finder`] often, and ask through a [`Client`].
//!
//! # Invariants
//! - Only processes of one user talk to each other: folders and files are private, and both ends ask the kernel.
//! - A discovery file is removed by others only when its socket refuses. Slowness is not absence.
//! - Each request has exactly one answer, or the connection ends. What comes in is limited in size and in number.
//! - Nothing that the other side sends ends this process, and nothing here does more than end a connection.
//! - A request that is taken back is only told so; whether its work stops is the handler's choice.
//!
//! # Limitations
//! - There are no notices from a sidecar to its clients: whoever wants news makes a call that waits.
//! - Raw JSON is passed on unread, so what a sidecar sends is only as well formed as the sidecar is.
//!
//! # Example
//! ```
//! use hashline_link::*;
//! # use std::{path::PathBuf, sync::Arc};
//! # struct Echo;
//! # impl Handler for Echo {
//! #     async fn call(&self, call: Call, _: CancellationToken) -> Result<Raw, RemoteError> {
//! #         Raw::of(&call.arguments).map_err(|e| RemoteError::failed(e.to_string()))
//! #     }
//! #     async fn holds(&self, _: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> { Ok(Vec::new()) }
//! #     async fn status(&self) -> Result<SidecarStatus, RemoteError> { Ok(SidecarStatus::default()) }
//! #     async fn decide(&self, _: Decide) -> Result<DecideOutcome, RemoteError> { Err(RemoteError::cancelled()) }
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! # let temp = tempfile::tempdir().unwrap();
//! let state = StateDir::new(Some(temp.path())).unwrap();
//!
//! // The sidecar:
//! let id = SidecarId::random();
//! let listener = Listener::bind(&state, &id).unwrap();
//! let sidecar = Sidecar::new(id, &listener, "helix", vec!["/project".into()]);
//! let stop = CancellationToken::new();
//! let serving = tokio::spawn(serve(listener, Arc::new(Echo), stop.clone()));
//! let announcement = announce(&state, sidecar).unwrap();
//!
//! // The router:
//! let finder = Finder::new(state);
//! let sidecars = finder.sidecars();
//! let client = Client::connect(&sidecars[0]).await.unwrap();
//! let caller = CallerInfo { agent: "claude-code".into(), connection: "1".into(), roots: None, grants: None, reviews: true, no_hard_links: false };
//! let call = Call { caller, tool: "read_text_file".into(), arguments: Default::default() };
//! assert_eq!(client.call(&call).await.unwrap().as_str(), "{}");
//!
//! drop(announcement);
//! stop.cancel();
//! serving.await.unwrap();
//! # });
//! ```

#![forbid(unsafe_code)]

#[cfg(test)]
#[path = "../../text/tests/text/cases.rs"]
mod cases;
mod client;
mod discovery;
mod error;
mod folder;
mod frame;
mod heavy_work;
mod id;
mod message;
mod outbox;
mod private_socket;
mod secret;
mod server;
mod starting;
mod state_dir;
mod stream;

pub use client::{Begun, Client};
pub use discovery::{Announcement, Finder, Sidecar, announce, discover};
pub use error::{Error, RemoteError, RemoteKind, Result};
pub use frame::FRAME_LIMIT;
pub use heavy_work::{apart, done_apart};
pub use id::SidecarId;
pub use message::{
    AgentStatus, Along, Call, CallerInfo, Decide, DecideOutcome, DecideResult, Decision, DocumentStatus,
    FileThen, GrantInfo, Held, Hello, Holds, Mine, PROTOCOL, Raw, Refused, Request, SidecarStatus, Status,
};
pub use private_socket::Listener;
pub use secret::Secret;
pub use server::{Handler, IN_FLIGHT, serve};
pub use starting::{Mark, PATIENCE, has_ended};
pub use state_dir::{StateDir, home, private_folder};
/// How a handler learns that nobody waits for it any more.
pub use tokio_util::sync::CancellationToken;
