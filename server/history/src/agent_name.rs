//! What agents call themselves.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::one_line::one_line;

/// As much of a name is kept, in characters.
const LONGEST: usize = 64;

/// What an agent calls itself: a few characters on one line, all of which show.
///
/// An agent calls itself what it likes, and editors, terminals and other agents read it. So whatever a name has that breaks a line, moves
/// a cursor, turns text around or cannot be seen is gone before anybody has it, and so is all behind its first 64 characters. That holds
/// for names in records and messages of others, too: they are made clean when they are read.
///
/// ```
/// use hashline_history::AgentName;
///
/// assert_eq!(AgentName::from("claude-code").as_str(), "claude-code");
/// assert_eq!(AgentName::from("a\n\u{1b}[2J\u{202e}b").as_str(), "a [2Jb");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct AgentName(String);

impl AgentName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentName {
    /// What an agent is called that does not say.
    fn default() -> Self {
        Self("an agent".to_owned())
    }
}

impl From<&str> for AgentName {
    fn from(given: &str) -> Self {
        match one_line(given, LONGEST) {
            nothing if nothing.is_empty() => Self::default(),
            name => Self(name),
        }
    }
}

impl From<String> for AgentName {
    fn from(given: String) -> Self {
        given.as_str().into()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl Deref for AgentName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_clean_however_it_came_in() {
        let long = "n".repeat(5_000);
        for (given, name) in [
            ("claude-code", "claude-code"),
            ("bob\n\u{1b}[2J\u{202e}", "bob [2J"),
            ("", "an agent"),
            ("\u{202e}\n", "an agent"),
            (&long, &format!("{}…", &long[..63])),
        ] {
            assert_eq!(AgentName::from(given).as_str(), name, "{given:?}");
            let json = serde_json::to_string(given).unwrap();
            let read: AgentName = serde_json::from_str(&json).unwrap();
            assert_eq!(read.as_str(), name, "{json}");
        }
    }
}
