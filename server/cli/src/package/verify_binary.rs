//! `verify-binary`: a program is started only as the bytes that were published.

use std::process::{Command, ExitCode};

use hashline_link::StateDir;
use hashline_package::{Binary, KeptBinaries, Verified};
use hashline_terminal::{Failure, Screen, tell};
use serde_json::json;

use super::arguments::{Policy, VerifyBinary};
use super::words;

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
            Policy::Require => return Err(Failure::broken(words::not_started_without_hash(&binary))),
            Policy::Warn => tell(&words::nobody_tells_its_hash(&binary)),
            Policy::Allow => {}
        }
        return Ok(binary);
    };
    let state = StateDir::new(options.state_dir.as_deref()).map_err(Failure::broken)?;
    let kept = KeptBinaries::new(state.path().join(KEPT));
    match kept.verify(&options.file, expected).map_err(Failure::broken)? {
        Verified::Given { binary, not_kept } => {
            if let Some(error) = not_kept {
                tell(&words::not_kept(&error));
            }
            Ok(binary)
        }
        Verified::Kept { binary, instead_of } => {
            tell(&words::kept_one(&binary, &instead_of));
            Ok(binary)
        }
    }
}

/// Becomes the program. On Linux it is the opened file that is run, whatever has its name by now.
#[cfg(unix)]
fn start(binary: &Binary, options: &VerifyBinary) -> Result<ExitCode, Failure> {
    use std::os::unix::process::CommandExt;

    let failed = |error| Failure::broken(words::does_not_run(binary.path(), &error));
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
    let status = status.map_err(|error| Failure::broken(words::does_not_run(binary.path(), &error)))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
