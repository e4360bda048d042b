//! `login`: the token for a registry is kept.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use hashline_package::Account;
use hashline_terminal::{Failure, tell};

use crate::account::account_file;
use crate::arguments::{Login, Method};
use crate::messages;

/// Keeps it in the person's home folder.
pub fn run(options: &Login) -> Result<ExitCode, Failure> {
    let (method, token) = match options.method {
        Method::None => ("none", String::new()),
        Method::Token => {
            let given = options.token.clone().map_or_else(|| asked(options), Ok)?;
            let token = given.trim();
            if token.is_empty() {
                return Err(Failure::usage(messages::NO_TOKEN));
            }
            ("token", token.to_owned())
        }
    };
    let file = account_file()?;
    let account = Account { token, method: method.into(), registry: options.registry.to_string() };
    account.save(&file).map_err(Failure::broken)?;
    tell(&match options.method {
        Method::Token => messages::logged_in(&options.registry, &file),
        Method::None => messages::without_token(&options.registry),
    });
    Ok(ExitCode::SUCCESS)
}

fn asked(options: &Login) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        tell(&messages::ask_for_token(&options.registry));
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(Failure::broken)?;
    Ok(line)
}
