//! A server in a file of TOML: nothing else in it changes.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::NAME;

/// The text with the entry in it.
pub fn with(text: Option<&str>, keys: &[&str], entry: &Value) -> Result<Option<String>, String> {
    let mut document = parse(text.unwrap_or_default())?;
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for key in keys {
        let item = servers.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            // The header of what is in it names it.
            table.set_implicit(true);
            Item::Table(table)
        });
        is_inline = item.is_inline_table();
        servers = item.as_table_like_mut().ok_or_else(|| format!("{key} in it is no table"))?;
    }
    let wanted: InlineTable = fields(entry).collect();
    let known = servers.get(NAME).and_then(Item::as_table_like);
    if known.is_some_and(|known| starts_ours(known, &wanted)) {
        return Ok(text.map(str::to_owned));
    }
    let item = if is_inline { value(wanted) } else { Item::Table(wanted.into_table()) };
    servers.insert(NAME, item);
    Ok(Some(document.to_string()))
}

/// The text without the entry; none if nothing else is in it.
pub fn without(text: Option<&str>, keys: &[&str]) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    let mut document = parse(text)?;
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    for key in keys {
        match servers.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => servers = inner,
            None => return Ok(Some(text.to_owned())),
        }
    }
    if servers.remove(NAME).is_none() {
        return Ok(Some(text.to_owned()));
    }
    let left = document.to_string();
    Ok((!left.trim().is_empty()).then_some(left))
}

/// What to put into a file by hand.
pub fn snippet(keys: &[&str], entry: &Value) -> String {
    with(None, keys, entry).ok().flatten().unwrap_or_default()
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| format!("it cannot be read as TOML ({})", error.message()))
}

/// Whether an entry starts what ours does, with whatever the person has added.
fn starts_ours(known: &dyn TableLike, wanted: &InlineTable) -> bool {
    wanted.iter().all(|(name, wanted)| match (known.get(name).and_then(Item::as_value), wanted) {
        (Some(toml_edit::Value::Array(known)), toml_edit::Value::Array(wanted)) => {
            let text = |value: &toml_edit::Value| value.as_str().map(str::to_owned);
            wanted.iter().map(text).eq(known.iter().map(text).take(wanted.len()))
        }
        (Some(known), wanted) => known.as_str() == wanted.as_str(),
        (None, _) => false,
    })
}

/// The fields of an entry, what is started first.
fn fields(entry: &Value) -> impl Iterator<Item = (&str, toml_edit::Value)> {
    let named = |name: &'static str| Some((name, entry.get(name)?));
    ["command", "args"].into_iter().filter_map(named).filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text.into())),
        Value::Array(list) => {
            let texts: Array = list.iter().filter_map(Value::as_str).collect();
            Some((name, texts.into()))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use serde_json::json;

    use super::*;

    const KEYS: &[&str] = &["mcp_servers"];

    fn entry() -> Value {
        json!({ "command": "hashline", "args": ["mcp"] })
    }

    const TABLE: &str = "[mcp_servers.hashline]\ncommand = \"hashline\"\nargs = [\"mcp\"]\n";

    #[test]
    fn a_new_file_has_the_entry_alone_and_goes_with_it() {
        let made = with(None, KEYS, &entry()).unwrap().unwrap();
        assert_eq!(made, TABLE);
        assert_eq!(without(Some(&made), KEYS), Ok(None));
        assert_eq!(without(None, KEYS), Ok(None));
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        for text in [
            "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"y\"\n",
            "model   =   'x'\n",
            "[projects.\"/p\"]\ntrust_level = \"trusted\"\n\n\n# the end\n",
        ] {
            let made = with(Some(text), KEYS, &entry()).unwrap().unwrap();
            assert_eq!(made.replacen(&format!("\n{TABLE}"), "", 1).trim_end(), text.trim_end(), "{made}");
            assert_eq!(with(Some(&made), KEYS, &entry()).unwrap().as_deref(), Some(made.as_str()));
            assert_eq!(without(Some(&made), KEYS).unwrap().unwrap().trim_end(), text.trim_end());
        }
        let inline = "mcp_servers = { other = { command = \"y\" } }\n";
        let made = with(Some(inline), KEYS, &entry()).unwrap().unwrap();
        assert_eq!(made.lines().count(), 1, "{made}");
        assert!(
            made.parse::<DocumentMut>().unwrap()["mcp_servers"]["hashline"]["command"].as_str()
                == Some("hashline")
        );
    }

    #[test]
    fn an_entry_of_the_person_stays_and_what_cannot_be_read_is_not_changed() {
        let own = "[mcp_servers.hashline]\ncommand = \"hashline\"\nargs = [\"mcp\", \"--root\", \"..\"]\nenabled = false\n";
        assert_eq!(with(Some(own), KEYS, &entry()).unwrap().as_deref(), Some(own));
        let stale = "[mcp_servers.hashline]\ncommand = \"/gone/hashline\"\nargs = [\"mcp\"]\n";
        assert_eq!(with(Some(stale), KEYS, &entry()).unwrap().as_deref(), Some(TABLE));
        assert!(with(Some("a = "), KEYS, &entry()).unwrap_err().contains("cannot be read as TOML"));
        assert!(with(Some("mcp_servers = 1\n"), KEYS, &entry()).unwrap_err().contains("no table"));
        assert!(without(Some("a = "), KEYS).is_err());
        assert_eq!(without(Some("a = 1\n"), KEYS).unwrap().as_deref(), Some("a = 1\n"));
    }
}
