//! `validate`: mistakes in a server.json.

use std::process::ExitCode;

use hashline_package::{Issue, Severity, is_publishable};
use hashline_terminal::{Failure, Screen, tell};
use serde_json::json;

use crate::arguments::Validate;
use crate::document::read;
use crate::messages;

/// Prints them.
pub fn run(options: &Validate, screen: Screen) -> Result<ExitCode, Failure> {
    let file = &options.document.file;
    let issues = hashline_package::validate(&read(file)?, &options.origins.sources());
    let valid = is_publishable(&issues);
    screen.print_json(&json!({"valid": valid, "issues": issues}))?;
    for issue in issues.iter().filter(|issue| issue.severity == Severity::Warning) {
        tell(&messages::advice(issue));
    }
    if !valid {
        return Err(Failure::broken(messages::issues(file, &errors(&issues))));
    }
    tell(&messages::valid(file));
    Ok(ExitCode::SUCCESS)
}

/// Those that stand against publishing.
pub fn errors(issues: &[Issue]) -> Vec<Issue> {
    issues.iter().filter(|issue| issue.severity == Severity::Error).cloned().collect()
}
