//! `hashline package` and `hashline registry`: another program, `mcp-publisher`, does both, but for one command.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use hashline_terminal::verify_binary::{self, VerifyBinary};
use hashline_terminal::{Failure, Screen, inert, log};

use crate::arguments::Passed;

/// As a shell calls it.
const PUBLISHER: &str = "mcp-publisher";

/// The command that this program has itself. Editors start hashline by it, as the very file that they have hashed: another program that
/// nobody has hashed is not to come between, and beside what they start there may be none.
const VERIFY: &str = "verify-binary";

/// Start a program, or tell whether it may be started, only as the bytes that were published.
#[derive(Debug, Parser)]
#[command(bin_name = "hashline package verify-binary", max_term_width = 100)]
struct Verify {
    #[command(flatten)]
    options: VerifyBinary,
}

/// `hashline package`.
pub fn package(passed: &Passed) -> Result<ExitCode, Failure> {
    match passed.arguments.split_first() {
        Some((first, _)) if first == VERIFY => verify(&passed.arguments),
        _ => start(&[], passed),
    }
}

/// `hashline registry`.
pub fn registry(passed: &Passed) -> Result<ExitCode, Failure> {
    start(&["registry"], passed)
}

fn verify(command: &[OsString]) -> Result<ExitCode, Failure> {
    // Wrong usage ends here with code 2 and the help.
    let Verify { options } = Verify::parse_from(command);
    log::start(None)?;
    verify_binary::run(&options, Screen::of_stdout())
}

/// Starts the other program with the words that a command is there, and with what the person gave besides.
fn start(words: &[&str], passed: &Passed) -> Result<ExitCode, Failure> {
    let program = beside_this_one().unwrap_or_else(|| PUBLISHER.into());
    let mut publisher = Command::new(&program);
    let ended = give_way_to(publisher.args(words).args(&passed.arguments));
    ended.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::broken(missing()),
        _ => Failure::broken(format!(
            "{} does not run: {error}; check that it is a program for this machine",
            inert(&program.to_string_lossy())
        )),
    })
}

/// The one that was installed with this program, whatever the path has.
fn beside_this_one() -> Option<PathBuf> {
    // What is called by a link was installed where that leads.
    let this = std::env::current_exe().and_then(|this| this.canonicalize()).ok()?;
    let beside = this.with_file_name(format!("{PUBLISHER}{EXE_SUFFIX}"));
    beside.is_file().then_some(beside)
}

/// Becomes the other program: signals are sent to it, and its end is the end.
#[cfg(unix)]
fn give_way_to(program: &mut Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(program))
}

/// Waits for the other program, and ends as it does.
#[cfg(not(unix))]
fn give_way_to(program: &mut Command) -> io::Result<ExitCode> {
    let status = program.status()?;
    // All of the code: here it has more values than an `ExitCode` is made of.
    std::process::exit(status.code().unwrap_or(1))
}

fn missing() -> String {
    format!(
        "the program {PUBLISHER}, which does this, is neither beside hashline nor on the path; take it from the archive that hashline was in, or build it with `cargo install --path server/publisher`"
    )
}
