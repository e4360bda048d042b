//! A server in a file of JSON, with comments or without: nothing else in it changes.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::NAME;

/// What programs that read JSON with comments take. What goes beyond that would not be read by them either.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const MARK: char = '\u{feff}';

/// The text with the entry in it.
pub fn with(text: Option<&str>, keys: &[&str], entry: &Value) -> Result<Option<String>, String> {
    let (mark, text) = parted(text.unwrap_or_default());
    let root = parse(text)?;
    let mut servers = root.object_value_or_create().ok_or("it holds no JSON object")?;
    for key in keys {
        servers = servers.object_value_or_create(key).ok_or_else(|| format!("{key:?} in it is no object"))?;
    }
    match servers.get(NAME) {
        Some(known) if starts_ours(known.to_serde_value().as_ref(), entry) => {}
        Some(known) => known.set_value(input(entry)),
        None => drop(servers.append(NAME, input(entry))),
    }
    let mut out = format!("{mark}{root}");
    if text.trim().is_empty() {
        out = format!("{mark}{}\n", root.to_string().trim());
    }
    Ok(Some(out))
}

/// The text without the entry; none if nothing else is in it.
pub fn without(text: Option<&str>, keys: &[&str]) -> Result<Option<String>, String> {
    let Some(all) = text else { return Ok(None) };
    let (mark, text) = parted(all);
    let root = parse(text)?;
    let servers =
        keys.iter().try_fold(root.object_value().ok_or("it holds no JSON object")?, |object, key| {
            object.object_value(key).ok_or(())
        });
    let Some(entry) = servers.ok().and_then(|servers: CstObject| servers.get(NAME)) else {
        return Ok(Some(all.to_owned()));
    };
    entry.remove();
    Ok((!is_bare(&root, text)).then(|| format!("{mark}{root}")))
}

/// Whether there is nothing in it but empty objects, and no comment in its text.
pub(super) fn is_bare(root: &CstRootNode, text: &str) -> bool {
    root.to_serde_value().is_some_and(|value| is_empty(&value))
        && !text.contains("//")
        && !text.contains("/*")
}

/// What to put into a file by hand.
pub fn snippet(keys: &[&str], entry: &Value) -> String {
    with(None, keys, entry).ok().flatten().unwrap_or_default()
}

pub(super) fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| format!("it cannot be read as JSON ({error})"))
}

/// The mark that some editors put first, and the rest.
pub(super) fn parted(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(MARK);
    text.split_at(text.len() - rest.len())
}

/// Whether an entry starts what ours does, with whatever the person has added.
fn starts_ours(known: Option<&Value>, entry: &Value) -> bool {
    let (Some(Value::Object(known)), Value::Object(entry)) = (known, entry) else { return false };
    let begins = |known: &Value, entry: &Value| match (known, entry) {
        (Value::Array(known), Value::Array(entry)) => known.starts_with(entry),
        (known, entry) => known == entry,
    };
    entry.iter().all(|(name, value)| {
        known
            .get(name)
            .map_or(name == "type" || name == "enabled", |known| begins(known, value) || name == "enabled")
    })
}

/// Whether there is nothing in it but empty objects.
fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Object(fields) if fields.values().all(is_empty))
}

pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(ordered(fields)),
    }
}

/// As people write it: what it is about, what kind it is, what is started or called, and how.
const ORDER: [&str; 9] =
    ["matcher", "type", "command", "args", "server", "tool", "agent", "event", "timeout"];

/// The fields in that order, then the others.
fn ordered(fields: &Map<String, Value>) -> Vec<(String, CstInputValue)> {
    let rank = |name: &str| ORDER.iter().position(|first| *first == name).unwrap_or(usize::MAX);
    let mut ordered: Vec<_> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| rank(name));
    ordered.into_iter().map(|(name, value)| (name.clone(), input(value))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use serde_json::json;

    use super::*;

    const KEYS: &[&str] = &["mcpServers"];

    fn entry() -> Value {
        json!({ "command": "hashline", "args": ["mcp"], "type": "stdio" })
    }

    #[test]
    fn a_new_file_has_the_entry_alone_and_goes_with_it() {
        let made = with(None, KEYS, &entry()).unwrap().unwrap();
        let expected = "{\n  \"mcpServers\": {\n    \"hashline\": {\n      \"type\": \"stdio\",\n      \"command\": \"hashline\",\n      \
                        \"args\": [\"mcp\"]\n    }\n  }\n}\n";
        assert_eq!(made, expected);
        assert_eq!(with(Some(" \n"), KEYS, &entry()).unwrap().unwrap(), expected);
        assert_eq!(without(Some(&made), KEYS), Ok(None));
        assert_eq!(without(None, KEYS), Ok(None));
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        for text in [
            "{}",
            "{\n}\n",
            "{\n\t// mine\n\t\"theme\": \"x\", /* why */\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"y\" }, // last\n\t},\n}\n",
            "{\r\n  \"mcpServers\": {},\r\n  \"a\": [1,2,  3]\r\n}\r\n",
            "\u{feff}{\n    \"a\": 1\n}",
            "// above\n{ \"a\": {\"b\": null} }\n// below\n",
        ] {
            let made = with(Some(text), KEYS, &entry()).unwrap().unwrap();
            assert_ne!(made, text);
            assert_eq!(with(Some(&made), KEYS, &entry()).unwrap().as_deref(), Some(made.as_str()), "again");
            for part in
                text.split(|c: char| c.is_whitespace() || ",{}".contains(c)).filter(|part| !part.is_empty())
            {
                assert!(made.contains(part), "{part} is gone from {made}");
            }
            if text.contains("\r\n") {
                assert!(!made.replace("\r\n", "").contains('\n'), "{made:?}");
            }
            let value =
                jsonc_parser::cst::CstRootNode::parse(made.trim_start_matches(MARK), &OPTIONS).unwrap();
            assert_eq!(value.to_serde_value().unwrap()["mcpServers"]["hashline"], entry());
            let back = without(Some(&made), KEYS).unwrap().unwrap_or_default();
            assert!(!back.contains("hashline"), "{back}");
            let before = parse(parted(text).1).unwrap().to_serde_value().unwrap();
            let mut after = parse(parted(&back).1).unwrap().to_serde_value().unwrap_or_else(|| json!({}));
            if before.get("mcpServers").is_none() {
                after.as_object_mut().unwrap().remove("mcpServers");
            }
            assert_eq!(after, before, "{back}");
        }
    }

    #[test]
    fn an_entry_of_the_person_stays_and_a_stale_one_is_renewed() {
        let own = "{\"mcpServers\": {\"hashline\": {\"command\": \"hashline\", \"args\": [\"mcp\", \"--root\", \"..\"], \"env\": {}}}}";
        assert_eq!(with(Some(own), KEYS, &entry()).unwrap().as_deref(), Some(own));
        let stale =
            "{\"mcpServers\": {\"hashline\": {\"command\": \"/gone/hashline\", \"args\": [\"mcp\"]}}}";
        let renewed = with(Some(stale), KEYS, &entry()).unwrap().unwrap();
        assert!(!renewed.contains("gone"), "{renewed}");
        let off = json!({ "type": "local", "command": ["hashline", "mcp"], "enabled": true });
        let switched_off = "{\"mcp\": {\"hashline\": {\"type\": \"local\", \"command\": [\"hashline\", \"mcp\"], \"enabled\": false}}}";
        assert_eq!(with(Some(switched_off), &["mcp"], &off).unwrap().as_deref(), Some(switched_off));
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for (text, why) in [
            ("{ \"a\": ", "cannot be read as JSON"),
            ("{ a: 1 }", "cannot be read as JSON"),
            ("[1]", "no JSON object"),
            ("{ \"mcpServers\": [] }", "\"mcpServers\" in it is no object"),
        ] {
            let told = with(Some(text), KEYS, &entry()).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
        assert!(without(Some("{"), KEYS).is_err());
        assert_eq!(without(Some("{ \"a\": 1 }"), KEYS).unwrap().as_deref(), Some("{ \"a\": 1 }"));
    }
}
