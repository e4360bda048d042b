//! What a body says: one JSON-RPC message, of no more values than a message needs. A body of a few million empty lists is small, and takes
//! many times its size in memory.

use std::cell::Cell;
use std::fmt;

use rmcp::model::JsonObject;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::http::refused::Refused;
use crate::toolset::ToolName;

/// How many values a message may hold. An edit of ten thousand places has less than a third of them.
pub(super) const VALUES: usize = 1 << 18;

/// What is remembered of a message.
pub(super) struct Said {
    pub method: String,
    pub id: Value,
    /// Whether it calls a tool that changes something.
    pub changes: bool,
    /// The version of the protocol that an `initialize` asks for.
    pub version: Option<String>,
}

impl Said {
    pub fn of(message: &JsonObject) -> Self {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let name = || message.get("params")?.get("name")?.as_str();
        let tool = name().filter(|_| method == "tools/call").and_then(ToolName::parse);
        let changes = tool.is_some_and(|tool| !tool.is_read_only());
        let version = || message.get("params")?.get("protocolVersion")?.as_str();
        let version = version().filter(|_| method == "initialize").map(str::to_owned);
        Self { method: method.to_owned(), id: id_of(message), changes, version }
    }
}

/// The message of a body.
pub(super) fn message(body: &[u8]) -> Result<JsonObject, Refused> {
    let left = Cell::new(VALUES);
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = Counted(&left).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    let value = read.map_err(|error| match left.get() {
        0 => Refused::TooMuch,
        _ => Refused::NotJson(error),
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

/// Reads a value, and fails at the one for which nothing is left.
#[derive(Clone, Copy)]
struct Counted<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        let Some(left) = self.0.get().checked_sub(1).filter(|left| *left > 0) else {
            self.0.set(0);
            return Err(D::Error::custom("it holds too many values"));
        };
        self.0.set(left);
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = JsonObject::new();
        while let Some(name) = members.next_key::<String>()? {
            object.insert(name, members.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
