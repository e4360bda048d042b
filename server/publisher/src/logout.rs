//! `logout`: the token is forgotten.

use std::process::ExitCode;

use hashline_package::Account;
use hashline_terminal::{Failure, tell};

use crate::account::account_file;
use crate::words;

/// Removes it.
pub fn run() -> Result<ExitCode, Failure> {
    let there = Account::remove(&account_file()?).map_err(Failure::broken)?;
    tell(if there { words::LOGGED_OUT } else { words::NOT_LOGGED_IN });
    Ok(ExitCode::SUCCESS)
}
