//! What is wrong with a server.json, told in one form to people and programs.

use serde::{Deserialize, Serialize};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueKind {
    /// The text is no JSON.
    Json,
    /// A member is not what it has to be.
    Schema,
    /// Its members do not go together.
    Semantic,
    /// It can be published, and would better be otherwise.
    Linter,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot be published.
    Error,
    /// It can.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Where the rule comes from.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// Where in the document.
    pub path: String,
    /// What is wrong, and what to do.
    pub message: String,
    /// How much it matters.
    pub severity: Severity,
    /// The rule.
    pub reference: String,
}

impl Issue {
    fn new(kind: IssueKind, severity: Severity, path: impl Into<String>, message: impl Into<String>) -> Self {
        let path = path.into();
        // The rules are those of the members.
        let member = path.split(['[', '.']).next().unwrap_or_default();
        Self { kind, message: message.into(), severity, reference: format!("server.json#{member}"), path }
    }

    pub(crate) fn json(message: impl Into<String>) -> Self {
        Self::new(IssueKind::Json, Severity::Error, "", message)
    }

    pub(crate) fn schema(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(IssueKind::Schema, Severity::Error, path, message)
    }

    pub(crate) fn semantic(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(IssueKind::Semantic, Severity::Error, path, message)
    }

    pub(crate) fn advice(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(IssueKind::Linter, Severity::Warning, path, message)
    }
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}
