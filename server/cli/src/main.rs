//! The hashline binary: wiring only.

#![forbid(unsafe_code)]

mod arguments;
mod demo;
mod log;
mod lsp;
mod mcp;
mod signals;
mod status;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    // Wrong usage ends here with code 2 and the help.
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Demo(options) => demo::run(&options),
        Command::Lsp(options) => lsp::run(&options),
        Command::Mcp(options) => mcp::run(&options),
        Command::Status(options) => status::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("hashline: {error}");
            ExitCode::from(error.code)
        }
    }
}

/// Why the program ends: words for the person, and the exit code.
#[derive(Debug)]
pub struct Failure {
    words: String,
    code: u8,
}

impl Failure {
    /// The arguments cannot be used.
    fn usage(words: impl std::fmt::Display) -> Self {
        Self { words: words.to_string(), code: 2 }
    }

    /// Something did not work.
    fn broken(words: impl std::fmt::Display) -> Self {
        Self { words: words.to_string(), code: 1 }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}
