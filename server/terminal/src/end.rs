//! How a program ends.

use std::process::ExitCode;

use crate::{Failure, tell};

/// The exit code of a program; what it failed at is told to the person.
#[must_use]
pub fn end(program: &str, result: Result<ExitCode, Failure>) -> ExitCode {
    result.unwrap_or_else(|failure| {
        tell(&format!("{program}: {failure}"));
        ExitCode::from(failure.code)
    })
}
