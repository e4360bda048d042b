//! `logout`: the token is forgotten.

use std::process::ExitCode;

use hashline_package::Account;
use hashline_terminal::{Failure, tell};

use crate::account::account_file;
use crate::messages;

/// Removes it.
pub fn run() -> Result<ExitCode, Failure> {
    let there = Account::remove(&account_file()?).map_err(Failure::broken)?;
    tell(if there { messages::LOGGED_OUT } else { messages::NOT_LOGGED_IN });
    Ok(ExitCode::SUCCESS)
}
