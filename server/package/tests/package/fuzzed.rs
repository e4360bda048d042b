//! `server.json` of any form: read or refused in words, and what is said of it is the same each time.

use hashline_package::{ServerJson, Sources, issues, validate};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::cases::fuzz;

fn whole() -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.somebody/server",
        "description": "Serves.",
        "version": "1.2.3",
        "repository": { "url": "https://github.com/somebody/server", "source": "github" },
        "packages": [
            { "registryType": "npm", "identifier": "@scope/server", "version": "1.2.3", "transport": { "type": "stdio" } },
            { "registryType": "pypi", "identifier": "server", "version": "1.2.3" },
            { "registryType": "oci", "identifier": "ghcr.io/somebody/server:1.2.3" },
            { "registryType": "mcpb", "identifier": "https://github.com/somebody/server/releases/download/v1/server.mcpb",
              "fileSha256": "0".repeat(64) },
        ],
        "file_hashes": { "npm:@scope/server@1.2.3": format!("sha256:{}", "0".repeat(64)) },
        "package_location": { "type": "binary", "url": "https://example.com/server" },
    })
}

fn stranger() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "npm",
        "pypi",
        "oci",
        "mcpb",
        "cargo",
        "go",
        "nuget",
        "binary",
        "url",
        "../../etc/passwd",
        "https://",
        "https://169.254.169.254/",
        "http://[::1]/",
        "file:///etc/passwd",
        "https://user:pass@example.com:99999/%00",
        "\u{0}",
        "\u{202e}\u{1b}[2J",
        "sha256:",
        "1.2.3",
        "latest",
        "@/",
        "a/b/c/d",
        "ghcr.io/x@sha256:0",
        "%zz",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e300)),
        select(words.to_vec()).prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[{}], 1])),
    ]
}

/// Puts something else at one of the places of a value.
fn put(value: &mut Value, ways: &[Index], stranger: Value) {
    let inside = match (&mut *value, ways.split_first()) {
        (Value::Object(members), Some((way, rest))) if !members.is_empty() => {
            let at = way.index(members.len());
            members.values_mut().nth(at).map(|inside| (inside, rest))
        }
        (Value::Array(items), Some((way, rest))) if !items.is_empty() => {
            let at = way.index(items.len());
            items.get_mut(at).map(|inside| (inside, rest))
        }
        _ => None,
    };
    match inside {
        Some((inside, rest)) => put(inside, rest, stranger),
        None => *value = stranger,
    }
}

#[test]
fn a_server_json_is_read_or_refused() {
    let sources = Sources::public().unwrap();
    let mutation = (prop::collection::vec(any::<Index>(), 1..4), stranger());
    let bytes = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let input = (
        prop::collection::vec(mutation, 0..4),
        prop_oneof![4 => Just(Vec::new()), 1 => bytes],
        any::<bool>(),
    );
    fuzz(file!(), input, |(mutations, bytes, marked)| {
        let mut document = whole();
        for (ways, stranger) in mutations {
            put(&mut document, &ways, stranger);
        }
        let mut text = if marked { "\u{feff}".to_owned() } else { String::new() }.into_bytes();
        text.extend_from_slice(document.to_string().as_bytes());
        for (at, byte) in bytes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let found = validate(&text, &sources);
        prop_assert!(found.iter().all(|issue| !issue.message.is_empty()));
        match ServerJson::parse(&text) {
            Ok(server) => {
                let again = ServerJson::parse(server.value().to_string().as_bytes()).unwrap();
                prop_assert_eq!(again.value(), server.value());
                prop_assert_eq!(issues(&again, &sources), found);
                let (packages, wrong) = server.packages(&sources);
                prop_assert!(packages.len() + wrong.len() < 100);
            }
            Err(error) => {
                prop_assert!(!found.is_empty() && !error.to_string().is_empty());
            }
        }
        Ok(())
    });
}

#[test]
fn a_number_is_handed_on_as_it_was_read() {
    let mut document = whole();
    document["$schema"] = json!(6.526_759_737_487_842_4e69);
    let read = ServerJson::parse(document.to_string().as_bytes()).unwrap();
    let again = ServerJson::parse(read.value().to_string().as_bytes()).unwrap();
    assert_eq!((&read.value(), &again.value()), (&document, &document));
}
