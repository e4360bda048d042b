//! The arguments of a call, taken one field after the other. What is wrong is gathered, so that one refusal tells all of it.

use std::borrow::Cow;

use hashline_history::Reason;
use hashline_text::HashPrefix;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::argument_limits::{VALUES, too_many};
use crate::json_value_limit::{Unread, read};

/// What clients add on their own to every call, and no tool takes.
const ADDED_BY_CLIENTS: [&str; 1] = ["wait_for_previous"];

/// How many problems are told; the others are counted.
const TOLD: usize = 20;

/// The arguments of one call.
pub(crate) struct Arguments {
    tool: &'static str,
    /// The fields that the tool has, in the order of its schema.
    known: &'static [&'static str],
    given: JsonObject,
    problems: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(tool: &'static str, known: &'static [&'static str], mut given: JsonObject) -> Self {
        for name in ADDED_BY_CLIENTS {
            given.remove(name);
        }
        Self { tool, known, given, problems: Vec::new() }
    }

    /// A field, if it is given; null counts as not given.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.given.remove(name).filter(|value| !value.is_null())
    }

    /// Whether nothing has been found wrong yet.
    pub(crate) fn is_faultless(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes that something is wrong.
    pub(crate) fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            other => {
                self.problem(format!("{name} must be a string, not {}", shown(&other)));
                None
            }
        }
    }

    /// A text that must be there; empty if it is not, which is noted.
    pub(crate) fn required_text(&mut self, name: &str, hint: &str) -> String {
        self.note_missing(name, hint);
        self.text(name).unwrap_or_default()
    }

    fn note_missing(&mut self, name: &str, hint: &str) {
        if self.given.get(name).is_none_or(Value::is_null) {
            self.problem(format!("{name} is missing: {hint}"));
        }
    }

    /// The hash of the text that the call is for, if it is given.
    pub(crate) fn file_hash(&mut self) -> Option<HashPrefix> {
        let text = self.text("file_hash").filter(|text| !text.trim().is_empty())?;
        self.hash("file_hash", &text)
    }

    /// A hash that must be there; what is not one is noted.
    pub(crate) fn required_hash(&mut self, name: &str, hint: &str) -> Option<HashPrefix> {
        let text = self.required_text(name, hint);
        if self.is_faultless() { self.hash(name, &text) } else { None }
    }

    fn hash(&mut self, name: &str, text: &str) -> Option<HashPrefix> {
        text.parse().map_err(|error| self.problem(format!("{name}: {error}"))).ok()
    }

    /// The turn that the call belongs to, if one is named.
    pub(crate) fn conversation(&mut self) -> Option<String> {
        self.text("mcp_conversation_id").filter(|id| !id.trim().is_empty())
    }

    /// Why the call is made, as the person is to read it.
    pub(crate) fn reason(&mut self) -> Option<Reason> {
        self.text("reason").and_then(|given| Reason::of_agent(&given))
    }

    /// A whole number, also as a string of digits.
    pub(crate) fn whole(&mut self, name: &str) -> Option<i64> {
        let value = self.take(name)?;
        let number = whole_of(&value);
        if number.is_none() {
            self.problem(format!("{name} must be a whole number, such as 12, not {}", shown(&value)));
        }
        number
    }

    /// A whole number that must be there; 0 if it is not, which is noted.
    pub(crate) fn required_whole(&mut self, name: &str, hint: &str) -> i64 {
        self.note_missing(name, hint);
        self.whole(name).unwrap_or_default()
    }

    /// Two whole numbers, also as a string that holds them as JSON.
    pub(crate) fn pair(&mut self, name: &str) -> Option<(i64, i64)> {
        let value = self.take(name)?;
        let numbers = match &value {
            Value::String(text) => read(text.as_bytes()).unwrap_or_default(),
            other => other.clone(),
        };
        let pair = match numbers.as_array().map(Vec::as_slice) {
            Some([start, end]) => whole_of(start).zip(whole_of(end)),
            _ => None,
        };
        if pair.is_none() {
            let is_short = value.as_array().is_some_and(|list| list.len() <= 4);
            let given = if is_short { value.to_string().into() } else { shown(&value) };
            self.problem(format!(
                "{name} must be two whole numbers, [start, end] with end exclusive, such as [5, 6] for line 5, not {given}"
            ));
        }
        pair
    }

    /// Two whole numbers that must be there; zeros if they are not, which is noted.
    pub(crate) fn required_pair(&mut self, name: &str, hint: &str) -> (i64, i64) {
        self.note_missing(name, hint);
        self.pair(name).unwrap_or_default()
    }

    /// true or false, also as a string.
    pub(crate) fn truth(&mut self, name: &str) -> Option<bool> {
        let value = self.take(name)?;
        let truth = match &value {
            Value::Bool(truth) => Some(*truth),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if truth.is_none() {
            self.problem(format!("{name} must be true or false, not {}", shown(&value)));
        }
        truth
    }

    /// One of some words.
    pub(crate) fn word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let plain = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let word = words.iter().find(|word| **word == plain).copied();
        if word.is_none() {
            self.problem(format!("{name} must be one of {}, not {text:?}", words.join(", ")));
        }
        word
    }

    /// A list, also as a string that holds one as JSON; a single object or text counts as a list of one.
    pub(crate) fn list(&mut self, name: &str) -> Option<Vec<Value>> {
        let value = self.take(name)?;
        let value = match value {
            Value::String(text) => match read(text.as_bytes()) {
                Ok(parsed @ (Value::Array(_) | Value::Object(_))) => parsed,
                Err(Unread::TooMuch) => {
                    self.problem(format!("{name} holds more than {VALUES} values"));
                    return None;
                }
                _ => Value::String(text),
            },
            other => other,
        };
        match value {
            Value::Array(list) => match too_many(name, list.len()) {
                Some(problem) => {
                    self.problem(problem);
                    None
                }
                None => Some(list),
            },
            one @ (Value::Object(_) | Value::String(_)) => Some(vec![one]),
            other => {
                self.problem(format!("{name} must be an array, not {}", shown(&other)));
                None
            }
        }
    }

    /// Refuses the call if anything was wrong, or if a field was given that the tool does not have.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let unknown: Vec<String> = self.given.keys().cloned().collect();
        for name in unknown.iter().filter(|name| !self.known.contains(&name.as_str())) {
            let takes = match self.known {
                [] => "takes no arguments".to_owned(),
                known => format!("takes {}", known.join(", ")),
            };
            self.problems.push(format!("there is no field {name:?}: {} {takes}", self.tool));
        }
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(refusal(self.tool, &self.problems))
    }
}

/// The words of a refusal for reasons that lie in the arguments.
pub(crate) fn refusal(tool: &str, problems: &[String]) -> String {
    match problems {
        [one] => format!(
            "{tool} was refused and nothing was changed: {one}. Send the call again with that mended."
        ),
        several => {
            let mut list: String =
                several.iter().take(TOLD).map(|problem| format!("- {problem}.\n")).collect();
            if let Some(more) = several.len().checked_sub(TOLD).filter(|more| *more > 0) {
                list.push_str(&format!("- and {more} more.\n"));
            }
            format!(
                "{tool} was refused and nothing was changed:\n{list}Send the call again with these mended."
            )
        }
    }
}

/// An entry of a list. A client that writes lists as strings may write what is in them so too.
pub(crate) fn entry(value: Value) -> Value {
    match value {
        Value::String(text) => read(text.as_bytes()).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// A value as a message shows it.
pub(crate) fn shown(value: &Value) -> Cow<'static, str> {
    const MAX: usize = 60;
    match value {
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        other => {
            let json = other.to_string();
            match json.char_indices().nth(MAX) {
                Some((end, _)) => format!("{}…", &json[..end]).into(),
                None => json.into(),
            }
        }
    }
}

/// The whole number that a value is, also as a string of digits.
fn whole_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| whole_float(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The whole number that a float is, if it is one: some clients write 12.0 for 12.
fn whole_float(number: f64) -> Option<i64> {
    // Exact below 2^53, far above any line number.
    let exact = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation)]
    exact.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(json: &str) -> Arguments {
        let Value::Object(given) = serde_json::from_str(json).unwrap() else { panic!("not an object") };
        Arguments::new("tool", &["a", "b"], given)
    }

    #[test]
    fn numbers_and_truths_may_come_as_strings() {
        for (json, expected) in [
            (r#"{"a":12}"#, Some(12)),
            (r#"{"a":"12"}"#, Some(12)),
            (r#"{"a":12.0}"#, Some(12)),
            (r#"{"a":" -3 "}"#, Some(-3)),
            (r#"{"a":null}"#, None),
            ("{}", None),
        ] {
            let mut given = arguments(json);
            assert_eq!(given.whole("a"), expected, "{json}");
            assert_eq!(given.finish(), Ok(()), "{json}");
        }
        for (json, expected) in
            [(r#"{"a":true}"#, true), (r#"{"a":"True"}"#, true), (r#"{"a":"false"}"#, false)]
        {
            assert_eq!(arguments(json).truth("a"), Some(expected), "{json}");
        }
    }

    #[test]
    fn pairs_may_come_as_strings_of_json_and_of_strings() {
        for json in [r#"{"a":[1,-2]}"#, r#"{"a":"[1, -2]"}"#, r#"{"a":["1","-2"]}"#, r#"{"a":[1.0,-2]}"#] {
            assert_eq!(arguments(json).pair("a"), Some((1, -2)), "{json}");
        }
        for json in [r#"{"a":[1]}"#, r#"{"a":[1,2,3]}"#, r#"{"a":"1-2"}"#, r#"{"a":7}"#, r#"{"a":[1,null]}"#]
        {
            let mut given = arguments(json);
            assert_eq!(given.pair("a"), None, "{json}");
            assert!(given.finish().unwrap_err().contains("such as [5, 6] for line 5"), "{json}");
        }
    }

    #[test]
    fn lists_may_come_as_strings_and_alone() {
        for json in [r#"{"a":["x"]}"#, r#"{"a":"[\"x\"]"}"#, r#"{"a":"x"}"#] {
            assert_eq!(arguments(json).list("a"), Some(vec![Value::from("x")]), "{json}");
        }
        assert_eq!(arguments(r#"{"a":"{\"op\":\"delete\"}"}"#).list("a").unwrap().len(), 1);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_and_by_name() {
        let mut given = arguments(r#"{"a":"twelve","b":[1],"colour":"red","wait_for_previous":true}"#);
        assert_eq!(given.whole("a"), None);
        assert_eq!(given.text("b"), None);
        let told = given.finish().unwrap_err();
        assert_eq!(
            told,
            "tool was refused and nothing was changed:\n- a must be a whole number, such as 12, not \"twelve\".\n- b must \
             be a string, not an array.\n- there is no field \"colour\": tool takes a, b.\nSend the call again with \
             these mended."
        );
    }
}
