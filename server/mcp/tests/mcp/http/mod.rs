//! The server over HTTP, on real sockets.

mod client;
mod ending;
mod eras;
mod hardship;
mod notices;
mod scopes;
mod statuses;
