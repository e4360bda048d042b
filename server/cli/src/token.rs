//! `hashline token`.

use std::io::Write;
use std::process::ExitCode;

use hashline_link::StateDir;
use hashline_mcp::TokenKey;
use hashline_terminal::Failure;
use hashline_workspace::disk::Roots;

use crate::arguments::Token;

/// Prints a token, and nothing else.
pub fn run(options: &Token) -> Result<ExitCode, Failure> {
    let state = StateDir::new(options.state_dir.as_deref()).map_err(Failure::broken)?;
    let key = TokenKey::load(&state).map_err(Failure::broken)?;
    let roots = (!options.root.is_empty()).then(|| Roots::open(&options.root)).transpose();
    let roots = roots.map_err(Failure::usage)?;
    let token = key.issue(options.subject.as_deref(), &options.scope, roots.as_ref(), options.expires);
    let token = token.map_err(|error| Failure::broken(format!("the token cannot be written: {error}")))?;
    writeln!(std::io::stdout(), "{token}").map_err(Failure::broken)?;
    Ok(ExitCode::SUCCESS)
}
