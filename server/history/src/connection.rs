//! Whose an edit is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent_name::AgentName;

/// What an edit came through. It says whose the edit is: edits of one connection are one agent's own, and nobody else's.
///
/// It is compared part by part, never as words that were joined: what a token's holder and an agent are called is for others to choose,
/// and `team` with `alice bob` is somebody else than `team alice` with `bob`.
///
/// In JSON a connection that an agent has for itself is a text. So is every connection in records of before holders of tokens had a form
/// of their own: such a text is what it always was, and the same as no holder of a token, whatever it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Connection {
    /// One that an agent has for itself, by its name; empty where it is not known.
    Own(String),
    /// Requests that come with a token each.
    Held {
        /// Who has the token.
        holder: Holder,
        /// Which of the agents that this one has.
        through: Through,
    },
}

/// Who has a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// Whoever the token names as its subject; the same with the next token of that name.
    Subject(String),
    /// Whoever has the one token of this id, which names nobody.
    Token(String),
}

/// What tells apart the agents of one holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Through {
    /// The session that the agent began.
    Session(String),
    /// What the agent calls itself, where there are no sessions.
    Agent(AgentName),
}

impl Connection {
    /// Whether anything is known of it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Own(name) if name.is_empty())
    }
}

impl From<&str> for Connection {
    fn from(name: &str) -> Self {
        Self::Own(name.to_owned())
    }
}

impl From<String> for Connection {
    fn from(name: String) -> Self {
        Self::Own(name)
    }
}

/// One text for each connection, for those who only compare it.
impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(name) => f.write_str(name),
            Self::Held { .. } => f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(holder: Holder, through: Through) -> Connection {
        Connection::Held { holder, through }
    }

    #[test]
    fn a_connection_is_recorded_with_its_parts_and_one_of_before_is_what_it_was() {
        let subject = |name: &str| Holder::Subject(name.to_owned());
        let agent = |name: &str| Through::Agent(name.into());
        let kinds = [
            ("team alice bob".into(), r#""team alice bob""#),
            ("".into(), r#""""#),
            (
                held(subject("team"), agent("alice bob")),
                r#"{"holder":{"subject":"team"},"through":{"agent":"alice bob"}}"#,
            ),
            (
                held(subject("team alice"), agent("bob")),
                r#"{"holder":{"subject":"team alice"},"through":{"agent":"bob"}}"#,
            ),
            (
                held(Holder::Token("team".to_owned()), agent("alice bob")),
                r#"{"holder":{"token":"team"},"through":{"agent":"alice bob"}}"#,
            ),
            (
                held(subject("team"), Through::Session("alice bob".to_owned())),
                r#"{"holder":{"subject":"team"},"through":{"session":"alice bob"}}"#,
            ),
        ];
        for (connection, json) in &kinds {
            assert_eq!(serde_json::to_string(connection).unwrap(), *json);
            assert_eq!(serde_json::from_str::<Connection>(json).unwrap(), *connection);
            let same = kinds.iter().filter(|(other, _)| other == connection).count();
            let told = kinds.iter().filter(|(other, _)| other.to_string() == connection.to_string()).count();
            assert_eq!((same, told), (1, 1), "{json}");
        }
        assert!(kinds[0].0.is_known() && !kinds[1].0.is_known() && kinds[2].0.is_known());
    }
}
