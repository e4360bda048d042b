//! What the programs have in common that people start in a terminal: where their output goes, the streams by which another program talks with them, their log, the signals that end them, and how
//! they end.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use hashline_terminal::{Failure, Screen, end, inert, log};
//!
//! fn run() -> Result<ExitCode, Failure> {
//!     log::start(None)?;
//!     let file = std::env::args().nth(1).ok_or_else(|| Failure::usage("give a file"))?;
//!     let text = std::fs::read_to_string(&file).map_err(Failure::broken)?;
//!     Screen::of_stdout().print(&format!("{} has {} lines\n", inert(&file), text.lines().count()))?;
//!     Ok(ExitCode::SUCCESS)
//! }
//!
//! fn main() -> ExitCode {
//!     end("lines", run())
//! }
//! ```

#![forbid(unsafe_code)]

mod end;
mod failure;
pub mod log;
mod screen;
pub mod signals;
pub mod streams;
pub mod verify_binary;

pub use end::end;
pub use failure::Failure;
pub use screen::{Ink, Screen, columns, end_of, inert, inert_line, padded, tell};
