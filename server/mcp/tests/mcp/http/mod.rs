//! The server over HTTP, on real sockets.

pub mod client;
mod ending;
mod eras;
mod hardship;
mod notices;
mod scopes;
mod starving;
mod statuses;
mod whose;
