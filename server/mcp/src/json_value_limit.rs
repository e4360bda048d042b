//! JSON of no more values than there may be. A text of a few million empty lists is small, and takes many times its size in memory.

use std::cell::Cell;
use std::fmt;

use rmcp::model::JsonObject;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::argument_limits::VALUES;

/// Why a text was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It holds more values than there may be.
    TooMuch,
    /// It is not JSON.
    NotJson(serde_json::Error),
}

/// The value that a text is.
pub(crate) fn read(text: &[u8]) -> Result<Value, Unread> {
    let left = Cell::new(VALUES);
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = Counted(&left).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    read.map_err(|error| match left.get() {
        0 => Unread::TooMuch,
        _ => Unread::NotJson(error),
    })
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
