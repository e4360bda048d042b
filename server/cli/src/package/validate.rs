//! `validate`: mistakes in a server.json.

use std::process::ExitCode;

use hashline_package::{Issue, Severity, is_publishable};
use serde_json::json;

use super::arguments::Document;
use super::{read, words};
use crate::Failure;
use crate::screen::{Screen, tell};

/// Prints them.
pub fn run(options: &Document, screen: Screen) -> Result<ExitCode, Failure> {
    let issues = hashline_package::validate(&read(&options.file)?);
    let valid = is_publishable(&issues);
    screen.print_json(&json!({"valid": valid, "issues": issues}))?;
    for issue in issues.iter().filter(|issue| issue.severity == Severity::Warning) {
        tell(&words::advice(issue));
    }
    if !valid {
        return Err(Failure::broken(words::issues(&options.file, &errors(&issues))));
    }
    tell(&words::valid(&options.file));
    Ok(ExitCode::SUCCESS)
}

/// Those that stand against publishing.
pub fn errors(issues: &[Issue]) -> Vec<Issue> {
    issues.iter().filter(|issue| issue.severity == Severity::Error).cloned().collect()
}
