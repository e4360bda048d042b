//! `verify-binary`: a program is started only as the bytes that were published. Publishers have it, and editors start hashline by it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, ValueEnum};
use hashline_binary::{Binary, BinaryError, FileHash, KeptBinaries, OtherBinary, Verified};
use hashline_link::StateDir;
use serde_json::json;

use crate::{Failure, Screen, inert, tell};

const VERIFY_BINARY_HELP: &str = "\
The program is hashed each time. The one with the right hash is kept below
~/.hashline/binaries; where another has taken its place, the kept one is
started, and you are told. Without --hash nothing is known of the program, and
--policy says what to do.

Examples:
  mcp-publisher verify-binary ./server --hash sha256:...
  mcp-publisher verify-binary ./server --hash sha256:... --run -- --stdio

Exit codes: 0 it may be started, 1 it may not, 2 wrong usage; with --run those
of the program.";

/// What is asked of it.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_BINARY_HELP)]
pub struct VerifyBinary {
    /// The program
    pub file: PathBuf,
    /// The hash that it has to have, from those who publish it: sha256: and 64 hex digits
    #[arg(long, value_name = "HASH")]
    pub hash: Option<FileHash>,
    /// What to do with a program whose hash nobody tells
    #[arg(long, value_name = "POLICY", default_value = "require")]
    pub policy: Policy,
    /// Run it: the very file that was hashed, with what stands after --
    #[arg(long)]
    pub run: bool,
    /// The folder instead of ~/.hashline
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// For the program
    #[arg(last = true, requires = "run")]
    pub arguments: Vec<OsString>,
}

/// What to do with a program whose hash nobody tells.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Policy {
    /// It is not started
    Require,
    /// It is started, and you are told
    Warn,
    /// It is started
    Allow,
}

/// Where programs are kept, in the state folder.
const KEPT: &str = "binaries";

/// Runs the program, or prints which one may be run.
pub fn run(options: &VerifyBinary, screen: Screen) -> Result<ExitCode, Failure> {
    let binary = trusted(options)?;
    if options.run {
        return start(&binary, options);
    }
    let verified = options.hash.is_some();
    screen.print_json(
        &json!({"file": binary.path().to_string_lossy(), "hash": binary.hash().to_string(), "verified": verified}),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn trusted(options: &VerifyBinary) -> Result<Binary, Failure> {
    let Some(expected) = options.hash else {
        let binary = Binary::open(&options.file).map_err(Failure::broken)?;
        match options.policy {
            Policy::Require => return Err(Failure::broken(not_started_without_hash(&binary))),
            Policy::Warn => tell(&nobody_tells_its_hash(&binary)),
            Policy::Allow => {}
        }
        return Ok(binary);
    };
    let state = StateDir::new(options.state_dir.as_deref()).map_err(Failure::broken)?;
    let kept = KeptBinaries::new(state.path().join(KEPT));
    match kept.verify(&options.file, expected).map_err(Failure::broken)? {
        Verified::Given { binary, not_kept } => {
            if let Some(error) = not_kept {
                tell(&could_not_be_kept(&error));
            }
            Ok(binary)
        }
        Verified::Kept { binary, instead_of } => {
            tell(&kept_one(&binary, &instead_of));
            Ok(binary)
        }
    }
}

/// Becomes the program. On Linux it is the opened file that is run, whatever has its name by now.
#[cfg(unix)]
fn start(binary: &Binary, options: &VerifyBinary) -> Result<ExitCode, Failure> {
    use std::os::unix::process::CommandExt;

    let failed = |error| Failure::broken(does_not_run(binary.path(), &error));
    let mut command = Command::new(opened(binary).map_err(failed)?);
    Err(failed(command.arg0(binary.path()).args(&options.arguments).exec()))
}

/// A name of the opened file. It stays open in the program: the interpreter of a script opens it once more.
#[cfg(target_os = "linux")]
fn opened(binary: &Binary) -> std::io::Result<std::path::PathBuf> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    use std::os::fd::AsRawFd;

    fcntl(binary.file(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(format!("/proc/self/fd/{}", binary.file().as_raw_fd()).into())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn opened(binary: &Binary) -> std::io::Result<std::path::PathBuf> {
    binary.path().canonicalize()
}

#[cfg(not(unix))]
fn start(binary: &Binary, options: &VerifyBinary) -> Result<ExitCode, Failure> {
    // It stays open meanwhile, and what is open is not replaced.
    let status = Command::new(binary.path()).args(&options.arguments).status();
    let status = status.map_err(|error| Failure::broken(does_not_run(binary.path(), &error)))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn shown(file: &Path) -> String {
    inert(&file.to_string_lossy())
}

fn nobody_tells_its_hash(binary: &Binary) -> String {
    format!("no expected hash is given for {}; its hash is {}", shown(binary.path()), binary.hash())
}

fn not_started_without_hash(binary: &Binary) -> String {
    format!(
        "{}. It is not started; give --hash, from those who publish it, or --policy warn",
        nobody_tells_its_hash(binary)
    )
}

fn kept_one(binary: &Binary, instead_of: &OtherBinary) -> String {
    format!(
        "{instead_of}. The last good one is used instead: {}; get the program anew from those who publish it",
        shown(binary.path())
    )
}

fn could_not_be_kept(error: &BinaryError) -> String {
    format!(
        "the program is the right one, but it is not kept for the day on which another has its place: {error}"
    )
}

fn does_not_run(file: &Path, error: &io::Error) -> String {
    format!("{} does not run: {error}; check that it is a program for this machine", shown(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_fits_eighty_columns() {
        assert!(VERIFY_BINARY_HELP.lines().all(|line| line.chars().count() <= 80));
    }
}
