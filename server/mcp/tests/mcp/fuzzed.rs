//! What comes from outside, of any form: paths, scopes and the bodies of requests. Each is taken for what it is or refused in words, and
//! nothing outside of the roots is reached by it.

mod hooks;

use std::ffi::OsStr;
use std::path::{Component, Path};
use std::time::Duration;

use hashline_mcp::Scope;
use hashline_workspace::disk::{PathStyle, Roots, read};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::attacks::SECRET;
use crate::cases::fuzz;
use crate::http::client::Http;
use crate::place::Place;

/// A folder with links that lead everywhere, beside what nobody is served.
fn trap() -> Place {
    let place = Place::new();
    let parent = place.root.parent().unwrap();
    for folder in ["outside/sub", "w/sub/deep", "w/.mcp", "w/.git", "w/keys", "w/größe"] {
        std::fs::create_dir_all(parent.join(folder)).unwrap();
    }
    for secret in ["outside/a.txt", "outside/sub/a.txt", "w/.mcp/a.txt", "w/keys/a.txt"] {
        std::fs::write(parent.join(secret), SECRET).unwrap();
    }
    for own in ["w/a.txt", "w/sub/a.txt", "w/sub/deep/a.txt", "w/größe/a.txt", "w/50% off.txt"] {
        std::fs::write(parent.join(own), "own\n").unwrap();
    }
    for (target, link) in [
        ("../outside", "out"),
        ("sub/deep", "in"),
        ("../../outside/a.txt", "sub/out.txt"),
        (".mcp", "store"),
        ("sub/../keys", "own"),
        ("..", "sub/up"),
        ("around", "around"),
    ] {
        std::os::unix::fs::symlink(target, place.root.join(link)).unwrap();
    }
    place
}

const NAMES: [&str; 28] = [
    "..",
    ".",
    "",
    "a.txt",
    "sub",
    "deep",
    "out",
    "in",
    "out.txt",
    "store",
    "own",
    "up",
    "around",
    ".mcp",
    ".MCP",
    ".mcp.",
    ".mcp::$DATA",
    ".git",
    "keys",
    "größe",
    "gro\u{308}ße",
    "50% off.txt",
    "~",
    "C:",
    "\0",
    "new",
    "%2e%2e",
    "%2f",
];

/// Names in a row, spelled in one of many ways.
fn spelling(root: &str) -> impl Strategy<Value = String> + use<> {
    let name = prop_oneof![6 => select(&NAMES[..]).prop_map(str::to_owned), 1 => "\\PC{0,4}"];
    let beginning = select(vec![
        String::new(),
        "/".into(),
        "//".into(),
        "./".into(),
        "file://".into(),
        "FILE:///".into(),
        "file://localhost/".into(),
        "\\".into(),
        "\\\\?\\".into(),
        format!("{root}/"),
        format!("file://{root}/"),
        format!("{root}/../"),
        format!("{root}-old/"),
    ]);
    let between = select(&["/", "/", "/", "//", "/./", "\\", "%2F", "/../"][..]);
    (beginning, prop::collection::vec((name, between), 0..7), any::<Index>(), 0..8_u8).prop_map(
        |(mut text, names, at, how)| {
            for (name, between) in names {
                text.push_str(&name);
                text.push_str(between);
            }
            let letters: Vec<char> = text.chars().collect();
            match (how, letters.is_empty()) {
                // As it is, without what ends it.
                (0..=3, _) => text.trim_end_matches('/').to_owned(),
                (4, false) => {
                    let at = at.index(letters.len());
                    let encoded: String =
                        letters[at].to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
                    letters[..at].iter().collect::<String>()
                        + &encoded
                        + &letters[at + 1..].iter().collect::<String>()
                }
                (5, false) => letters[..at.index(letters.len())].iter().collect(),
                _ => text,
            }
        },
    )
}

fn is_store(name: &OsStr) -> bool {
    name.to_string_lossy().to_lowercase().starts_with(".mcp") && !name.to_string_lossy().contains("json")
}

#[test]
fn a_path_leads_to_what_is_served_or_is_refused() {
    let place = trap();
    let roots = Roots::open([&place.root]).unwrap().closing(&place.root.join("keys")).unwrap();
    let root = place.root.to_str().unwrap().to_owned();
    fuzz(file!(), (spelling(&root), any::<bool>()), |(given, within)| {
        let style = if within { PathStyle::WithinRoot } else { PathStyle::Any };
        match roots.resolve(&given, style) {
            Ok(found) => {
                let absolute = found.absolute();
                let inside = absolute.strip_prefix(&place.root);
                prop_assert!(inside.is_ok(), "{:?} leads to {:?}", given, absolute);
                let inside = inside.unwrap_or(Path::new(""));
                let plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
                prop_assert!(plain && !inside.starts_with("keys"), "{:?} leads to {:?}", given, absolute);
                prop_assert!(!inside.iter().any(|name| name == ".mcp" || name == ".MCP"), "{:?}", given);
                // What it is called is taken back as the same, and no link is left in it.
                prop_assert_eq!(&roots.resolve(&found.to_text(), PathStyle::Any).unwrap(), &found);
                if let Ok(real) = absolute.canonicalize() {
                    prop_assert_eq!(real, absolute, "{:?}", given);
                }
                if let Ok(file) = read(&found) {
                    prop_assert_eq!(&file.bytes[..], b"own\n", "{:?}", given);
                }
                prop_assert!(!inside.iter().any(is_store) || read(&found).is_err(), "{:?}", given);
            }
            Err(refusal) => {
                let words = refusal.to_string();
                prop_assert!(words.ends_with('.') && words.len() < 20_000, "{:?}: {}", given, words);
                prop_assert!(!words.contains(SECRET.trim_end()));
            }
        }
        Ok(())
    });
}

#[test]
fn a_scope_is_one_of_what_it_says_or_none() {
    let place = trap();
    let root = place.root.to_str().unwrap().to_owned();
    let access = select(&["read:", "write:", "read", "READ:", "", "read:/", "write:/"][..]);
    let end = select(&["", "/", "/*", "*", "/**", "%", "%zz"][..]);
    fuzz(file!(), (access, spelling(&root), end), |(access, path, end)| {
        let given = format!("{access}{path}{end}");
        match given.parse::<Scope>() {
            Ok(scope) => {
                let said = scope.to_string();
                prop_assert!(
                    said.bytes().all(|byte| byte.is_ascii_graphic()),
                    "{:?} is said as {:?}",
                    given,
                    said
                );
                prop_assert!(said.starts_with("read:/") || said.starts_with("write:/"), "{:?}", said);
                let names: Vec<&str> = said.split('/').skip(1).collect();
                prop_assert!(
                    !names.iter().any(|name| [".", ".."].contains(name)),
                    "{:?} is said as {:?}",
                    given,
                    said
                );
                prop_assert_eq!(said.parse::<Scope>(), Ok(scope), "{:?}", given);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        Ok(())
    });
}

/// What may stand where something else is expected.
fn stranger() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e300)),
        "\\PC{0,9}".prop_map(Value::from),
        select(
            &[
                "tools/call",
                "initialize",
                "resources/read",
                "subscriptions/listen",
                "read_text_file",
                "../outside/a.txt",
                "\0"
            ][..]
        )
        .prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[{}]]])),
        Just(json!({ "path": "../outside/a.txt" })),
    ]
}

/// Puts something else at one of the places of a value.
fn put(value: &mut Value, ways: &[Index], stranger: Value) {
    if let (Value::Object(members), Some((way, rest))) = (&mut *value, ways.split_first())
        && !members.is_empty()
    {
        let at = way.index(members.len());
        if let Some(member) = members.values_mut().nth(at) {
            return put(member, rest, stranger);
        }
    }
    *value = stranger;
}

#[test]
fn a_body_is_answered_whatever_it_is() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let _entered = runtime.enter();
    let place = trap();
    // A folder like any other, as hashline's own is elsewhere.
    std::fs::remove_dir_all(place.root.join("keys")).unwrap();
    let root = place.root.clone();
    let http = runtime.block_on(Http::over(place, &[root]));
    let [legacy, modern] = runtime.block_on(http.both(&["read:/", "write:/sub"]));
    let requests = [
        ("tools/call", json!({ "name": "read_text_file", "arguments": { "path": "sub/a.txt" } })),
        (
            "tools/call",
            json!({ "name": "edit_file_diff", "arguments": { "path": "a.txt", "edits": [{ "old": "x", "new": "y" }] } }),
        ),
        ("tools/call", json!({ "name": "await_review", "arguments": { "edit_ids": ["1"], "timeout_s": 0 } })),
        (
            "tools/call",
            json!({ "name": "search_text", "arguments": { "pattern": "SECRET", "glob": "*", "context": 1 } }),
        ),
        ("resources/read", json!({ "uri": "list://sub" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "file://{+path}" }, "argument": { "name": "path", "value": "s" } }),
        ),
        ("tools/list", json!({})),
    ];
    let mutation = (prop::collection::vec(any::<Index>(), 1..5), stranger());
    let bytes = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let input = (
        select(requests.to_vec()),
        any::<bool>(),
        prop::collection::vec(mutation, 0..3),
        prop_oneof![4 => Just(Vec::new()), 1 => bytes],
    );
    fuzz(file!(), input, |((method, params), is_modern, mutations, bytes)| {
        let client = if is_modern { &modern } else { &legacy };
        let (mut message, named) = client.message(method, params);
        for (ways, stranger) in mutations {
            put(&mut message, &ways, stranger);
        }
        // What waits for an event as long as it likes is another matter.
        prop_assume!(message["method"] != "subscriptions/listen");
        let mut body = message.to_string().into_bytes();
        for (at, byte) in bytes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let headers: Vec<_> = client.headers().into_iter().chain(named).collect();
        let shown = String::from_utf8_lossy(&body).into_owned();
        let answer = runtime.block_on(tokio::time::timeout(
            Duration::from_secs(30),
            client.send("POST", "/mcp", &headers, body),
        ));
        let Ok(answer) = answer else { return Err(TestCaseError::fail(format!("never answered: {shown}"))) };
        prop_assert!((200..500).contains(&answer.status), "{}: {} {}", shown, answer.status, answer.body);
        prop_assert!(!answer.body.contains(SECRET.trim_end()), "{}: {}", shown, answer.body);
        Ok(())
    });
    let read = runtime.block_on(modern.tool("read_text_file", json!({ "path": "a.txt" })));
    assert!(read.text.contains("own"), "it serves on: {}", read.text);
    drop(http);
}
