//! What a body says: one JSON-RPC message, of no more values than a message needs.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::http::error_responses::Refused;
use crate::json_value_limit::{Unread, read};
use crate::toolset::ToolName;

/// What is remembered of a message.
pub(super) struct Said {
    pub method: String,
    pub id: Value,
    /// Whether it calls a tool that changes something.
    pub changes: bool,
    /// How many bytes it was sent in.
    pub size: usize,
    /// The version of the protocol that an `initialize` asks for.
    pub version: Option<String>,
}

impl Said {
    pub fn of(message: &JsonObject, size: usize) -> Self {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let name = || message.get("params")?.get("name")?.as_str();
        let tool = name().filter(|_| method == "tools/call").and_then(ToolName::parse);
        let changes = tool.is_some_and(|tool| !tool.is_read_only());
        let version = || message.get("params")?.get("protocolVersion")?.as_str();
        let version = version().filter(|_| method == "initialize").map(str::to_owned);
        Self { method: method.to_owned(), id: id_of(message), changes, size, version }
    }
}

/// The message of a body.
pub(super) fn message(body: &[u8]) -> Result<JsonObject, Refused> {
    let value = read(body).map_err(|unread| match unread {
        Unread::TooMuch => Refused::TooMuch,
        Unread::NotJson(error) => Refused::NotJson(error),
    });
    match value? {
        Value::Object(message) if message.get("jsonrpc").is_some_and(|version| version == "2.0") => {
            Ok(message)
        }
        Value::Object(message) => Err(Refused::NotAMessage { id: id_of(&message) }),
        Value::Array(_) => Err(Refused::Batch),
        _ => Err(Refused::NotAMessage { id: Value::Null }),
    }
}

fn id_of(message: &JsonObject) -> Value {
    match message.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::argument_limits::VALUES;

    /// A message with this in it.
    fn with(params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{params}}}"#)
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..8)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_json_is(params in any_json()) {
            let text = with(&params.to_string());
            let read = Value::Object(message(text.as_bytes()).unwrap());
            prop_assert_eq!(read, serde_json::from_str::<Value>(&text).unwrap());
        }
    }

    #[test]
    fn a_message_of_too_many_values_is_refused() {
        // Beside them there are the object, its version, its id, its method and the list.
        let list = |count: usize| with(&format!("[{}]", vec!["[]"; count].join(",")));
        assert!(message(list(VALUES - 6).as_bytes()).is_ok());
        for much in [list(VALUES), with(&format!("[{}0]", r#"{"a":0},"#.repeat(VALUES / 2)))] {
            let refused = message(much.as_bytes()).unwrap_err();
            assert!(matches!(refused, Refused::TooMuch), "{refused}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let deep = with(&"[".repeat(100_000));
        for (body, words) in [
            ("", "not JSON"),
            ("{} x", "not JSON"),
            (deep.as_str(), "not JSON"),
            ("[]", "Several messages"),
            ("1", "no JSON-RPC message"),
            ("{}", "no JSON-RPC message"),
            (r#"{"jsonrpc":"1.0"}"#, "no JSON-RPC message"),
        ] {
            let refused = message(body.as_bytes()).unwrap_err();
            assert!(refused.to_string().contains(words), "{refused}");
        }
        assert!(message(b"\xff").is_err());
    }
}
