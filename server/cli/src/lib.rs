//! The programs `hashline` and `mcpdiff`: wiring, and what a person sees of the history in a terminal.

#![forbid(unsafe_code)]

mod acp;
mod arguments;
mod demo;
mod diff;
mod doctor;
mod duration;
mod hook;
mod lsp;
mod mcp;
mod publisher;
mod serve;
mod setup;
mod status;
mod threads;
mod token;

use std::process::ExitCode;

use clap::Parser;
use hashline_terminal::end;

use crate::arguments::{Arguments, Command};

/// The program `hashline`.
#[must_use]
pub fn hashline() -> ExitCode {
    // Wrong usage ends here with code 2 and the help.
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Acp(options) => acp::run(&options),
        Command::Demo(options) => demo::run(&options),
        Command::Diff(options) => diff::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Hook(options) => hook::run(&options),
        Command::Lsp(options) => lsp::run(&options),
        Command::Mcp(options) => mcp::run(&options),
        Command::Package(passed) => publisher::package(&passed),
        Command::Registry(passed) => publisher::registry(&passed),
        Command::Serve(options) => serve::run(&options),
        Command::Setup(options) => setup::run(&options),
        Command::Status(options) => status::run(&options),
        Command::Token(options) => token::run(&options),
    };
    end("hashline", result)
}

/// The program `mcpdiff`.
#[must_use]
pub fn mcpdiff() -> ExitCode {
    end("mcpdiff", diff::run(&diff::Mcpdiff::parse().diff))
}

/// The same with these arguments, and with every change of the disk asked for. For tests.
#[doc(hidden)]
#[must_use]
pub fn mcpdiff_with(
    arguments: impl IntoIterator<Item = std::ffi::OsString>,
    probe: std::sync::Arc<dyn hashline_history::Probe>,
) -> ExitCode {
    end("mcpdiff", diff::run_with(&diff::Mcpdiff::parse_from(arguments).diff, probe))
}
