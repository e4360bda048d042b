//! The program `mcp-publisher`: servers are published with the hashes of their files, those are checked, and a registry compares them.
//!
//! [`messages`] has all that is said about it, [`document`] and [`account`] are what most commands begin with, [`work`] is what they do over the
//! network, [`progress`] shows how far downloads are, and the other modules are the commands.

#![forbid(unsafe_code)]

mod account;
mod arguments;
mod document;
mod hash_gen;
mod init;
mod login;
mod logout;
mod messages;
mod progress;
mod publish;
mod registry;
mod status;
mod validate;
mod verify;
mod work;

use std::process::ExitCode;

use clap::Parser;
use hashline_terminal::{Failure, Screen, end, log, verify_binary};

use crate::arguments::{Command, McpPublisher};

fn main() -> ExitCode {
    // Wrong usage ends here with code 2 and the help.
    end("mcp-publisher", run(&McpPublisher::parse().command))
}

/// Carries out a command.
fn run(command: &Command) -> Result<ExitCode, Failure> {
    log::start(command.log_file())?;
    let screen = Screen::of_stdout();
    match command {
        Command::Init(options) => init::run(options),
        Command::Validate(options) => validate::run(options, screen),
        Command::HashGen(options) => hash_gen::run(options, screen),
        Command::Verify(options) => verify::run(options, screen),
        Command::VerifyBinary(options) => verify_binary::run(options, screen),
        Command::Publish(options) => publish::run(options, screen),
        Command::Status(options) => status::run(options, screen),
        Command::Login(options) => login::run(options),
        Command::Logout => logout::run(),
        Command::Registry(options) => registry::run(options),
    }
}
