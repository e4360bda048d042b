//! What people say about their decisions, and agents about their edits.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use crate::one_line::one_line;

/// As much of a person's reason is kept, in characters.
const LONGEST: usize = 1_000;
/// As much of an agent's, which stands in a heading.
const LONGEST_OF_AGENT: usize = 120;

/// What a person said about a decision, or an agent about an edit: some words on one line, all of which show.
///
/// It is told to the other of the two, and to whoever looks at the record. So it is made clean as [the names of
/// agents](crate::AgentName) are, wherever it comes from. Where nothing is left of it, nothing was said.
///
/// ```
/// use hashline_history::Reason;
///
/// assert_eq!(Reason::of("wrong\nfile").unwrap().as_str(), "wrong file");
/// assert_eq!(Reason::of(" \u{200b}\n"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Reason(String);

impl Reason {
    /// The reason that these words are, if they say anything.
    #[must_use]
    pub fn of(given: &str) -> Option<Self> {
        Some(one_line(given, LONGEST)).filter(|said| !said.is_empty()).map(Self)
    }

    /// What an agent gives with an edit, likewise; at most 120 characters of it.
    #[must_use]
    pub fn of_agent(given: &str) -> Option<Self> {
        Self::of(&one_line(given, LONGEST_OF_AGENT))
    }

    /// Reads what may be one, for serde.
    ///
    /// # Errors
    ///
    /// Those of the deserializer.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let given = Option::<String>::deserialize(deserializer)?;
        Ok(given.and_then(|given| Self::of(&given)))
    }

    /// Reads what may be an agent's, likewise.
    ///
    /// # Errors
    ///
    /// Those of the deserializer.
    pub fn read_of_agent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let given = Option::<String>::deserialize(deserializer)?;
        Ok(given.and_then(|given| Self::of_agent(&given)))
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Reason {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Said {
        #[serde(default, deserialize_with = "Reason::read")]
        reason: Option<Reason>,
    }

    #[test]
    fn a_reason_is_clean_however_it_came_in() {
        let long = "n".repeat(5_000);
        for (given, reason) in [
            ("wrong file", Some("wrong file")),
            ("no:\n\n- use\tserde\u{1b}[2J\u{202e}\r\n", Some("no: - use serde[2J")),
            (" \n\u{200b}", None),
            (&long[..1_000], Some(&long[..1_000])),
            (&long, Some(format!("{}…", &long[..999]).as_str())),
        ] {
            assert_eq!(Reason::of(given).as_deref(), reason, "{given:?}");
            let read: Said = serde_json::from_value(serde_json::json!({ "reason": given })).unwrap();
            assert_eq!(read.reason.as_deref(), reason, "{given:?}");
        }
        for nothing in ["{}", r#"{"reason":null}"#] {
            assert_eq!(serde_json::from_str::<Said>(nothing).unwrap().reason, None);
        }
    }
}
