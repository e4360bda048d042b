//! The toolset `text`, item by item of its specification, on a file of the disk and on one that is open in an editor.

mod chain;
mod lines;
mod paths;

use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hashline_text::FileHash;
use serde_json::{Value, json};

use crate::desk::Answer;
use crate::place::{Editor, Place};
use crate::protocol::{Connection, call};

/// The file `a.txt`, and an agent that reaches it.
pub struct Case {
    pub place: Place,
    pub agent: Connection,
    pub path: PathBuf,
    pub editor: Option<Editor>,
}

impl Case {
    pub async fn on_disk(text: &str) -> Self {
        let place = Place::new();
        let path = place.write("a.txt", text);
        let agent = place.agent().await;
        Self { place, agent, path, editor: None }
    }

    /// The same, open in an editor.
    pub async fn live(text: &str) -> Self {
        let mut case = Self::on_disk(text).await;
        let editor = case.place.editor("nvim", &[&case.place.root]);
        editor.open(&case.path, text);
        case.editor = Some(editor);
        case
    }

    pub async fn both(text: &str) -> [Self; 2] {
        [Self::on_disk(text).await, Self::live(text).await]
    }

    pub async fn call(&self, tool: &'static str, arguments: Value) -> Answer {
        call(&self.agent, tool, arguments).await
    }

    pub async fn read(&self) -> Answer {
        let read = self.call("text_read", json!({ "path": "a.txt" })).await;
        assert!(!read.failed, "{}", read.text);
        read
    }

    pub async fn lines(&self, lines: Value) -> Answer {
        self.call("text_read", json!({ "path": "a.txt", "lines": lines })).await
    }

    /// A change of `a.txt`, which names the hash as it is unless another is given.
    pub async fn change(&self, tool: &'static str, arguments: Value) -> Answer {
        let mut given = json!({ "path": "a.txt", "hash": self.read().await.json["hash"] });
        for (name, value) in arguments.as_object().unwrap() {
            given[name] = value.clone();
        }
        self.call(tool, given).await
    }

    pub async fn made(&self, tool: &'static str, arguments: Value) -> Answer {
        let answer = self.change(tool, arguments.clone()).await;
        assert!(!answer.failed, "{tool} {arguments}: {}", answer.text);
        answer
    }

    pub async fn refused(&self, tool: &'static str, arguments: Value) -> String {
        let before = self.read().await;
        let answer = self.change(tool, arguments.clone()).await;
        assert!(answer.failed && answer.json.is_null(), "{tool} {arguments}: {}", answer.text);
        assert_eq!(self.read().await.json, before.json, "a refused call has changed nothing");
        answer.text
    }

    pub async fn content(&self) -> String {
        self.read().await.json["content"].as_str().unwrap().to_owned()
    }

    pub fn stored(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

pub fn hash(bytes: impl AsRef<[u8]>) -> Value {
    json!(FileHash::of(bytes.as_ref()).to_hex())
}

/// The tools of one namespace, as they are listed with dots.
fn namespace(prefix: &str) -> Vec<String> {
    let tools = hashline_mcp::list(&[hashline_mcp::Toolset::Text].into(), hashline_mcp::NameStyle::Dotted);
    tools.iter().filter_map(|tool| tool.name.strip_prefix(prefix).map(str::to_owned)).collect()
}

#[tokio::test]
async fn mcp_003_file_is_the_life_of_files_whatever_they_hold() {
    assert_eq!(namespace("file."), ["create", "remove"]);
    let case = Case::on_disk("a\n").await;
    for (path, bytes) in [("text", &b"text\n"[..]), ("b.png", b"\x89PNG\r\n\x1a\n\0\xff"), ("empty", b"")] {
        let content = BASE64_STANDARD.encode(bytes);
        let given = json!({ "path": path, "content": content, "encoding": "base64" });
        let made = case.call("file.create", given).await;
        assert!(!made.failed, "{}", made.text);
        assert_eq!(std::fs::read(case.place.root.join(path)).unwrap(), bytes);
        let removed = case.call("file.remove", json!({ "path": path, "hash": made.json["hash"] })).await;
        assert!(!removed.failed, "{}", removed.text);
        assert!(!case.place.root.join(path).exists());
    }
}

#[tokio::test]
async fn mcp_004_text_is_the_content_of_texts_and_of_nothing_else() {
    assert_eq!(namespace("text."), ["read", "replace", "insert", "append"]);
    let case = Case::on_disk("a\n").await;
    case.made("text.append", json!({ "content": "b\n" })).await;
    case.made("text.insert", json!({ "line": 1, "anchor": "a", "content": "0" })).await;
    case.made("text.replace", json!({ "lines": [2, 3], "old": "a", "new": "A" })).await;
    assert_eq!(case.call("text.read", json!({ "path": "a.txt" })).await.json["content"], "0\nA\nb\n");

    let bytes = b"\x89PNG\r\n\x1a\n\0\xff";
    std::fs::write(case.place.root.join("b.png"), bytes).unwrap();
    for (tool, arguments) in [
        ("text.read", json!({})),
        ("text.replace", json!({ "lines": [1, 2], "old": "x", "new": "y" })),
        ("text.insert", json!({ "line": 1, "anchor": "x", "content": "y" })),
        ("text.append", json!({ "content": "y" })),
    ] {
        let mut given = json!({ "path": "b.png" });
        if tool != "text.read" {
            given["hash"] = FileHash::of(bytes).to_hex().into();
        }
        for (name, value) in arguments.as_object().unwrap() {
            given[name] = value.clone();
        }
        let refused = case.call(tool, given).await;
        assert!(refused.failed && refused.text.contains("UTF-8"), "{tool}: {}", refused.text);
    }
    assert_eq!(std::fs::read(case.place.root.join("b.png")).unwrap(), bytes);
}

#[tokio::test]
async fn mcp_010_a_file_is_made_with_its_folders_and_the_hash_of_its_bytes() {
    for case in Case::both("a\n").await {
        for (path, content) in [("deep/er/b.txt", "one\r\ntwo"), ("empty", ""), ("/c.json", "{\"a\": 1}\n")] {
            let made = case.call("file_create", json!({ "path": path, "content": content })).await;
            assert_eq!(made.json, json!({ "hash": hash(content) }), "{}", made.text);
            let stored = case.place.root.join(path.trim_start_matches('/'));
            assert_eq!(std::fs::read(stored).unwrap(), content.as_bytes());
        }
        let again = case.call("file_create", json!({ "path": "a.txt", "content": "x" })).await;
        assert!(again.failed && again.text.starts_with("a.txt exists already"), "{}", again.text);
        assert_eq!(case.stored(), b"a\n");
    }
    // To save it would change nothing.
    let case = Case::live("a\n").await;
    case.editor.as_ref().unwrap().open(&case.path, "a\nunsaved\n");
    let again = case.call("file_create", json!({ "path": "a.txt", "content": "x" })).await;
    assert!(again.failed && again.text.starts_with("a.txt exists already"), "{}", again.text);
}

#[tokio::test]
async fn mcp_011_a_file_is_removed_and_where_it_is_open_when_the_person_accepts() {
    let case = Case::on_disk("a\n").await;
    let removed = case.made("file_remove", json!({})).await;
    assert!(removed.text.starts_with("[a.txt · edit "), "{}", removed.text);
    assert!(removed.text.contains("removed") && removed.json.is_null(), "it has no result: {}", removed.text);
    assert!(!case.path.exists());
    let withdrawn = case.call("withdraw_edit", json!({ "edit_id": removed.edit_id() })).await;
    assert!(!withdrawn.failed, "{}", withdrawn.text);
    assert_eq!(case.stored(), b"a\n");

    let case = Case::live("a\n").await;
    let held = case.made("file_remove", json!({})).await;
    assert!(held.text.contains("Held for the person to accept in nvim: to remove the file"), "{}", held.text);
    assert_eq!(case.stored(), b"a\n");
}

#[tokio::test]
async fn mcp_012_a_read_has_content_hash_and_the_number_of_lines() {
    for text in ["", "one", "one\ntwo\n", "one\r\ntwo\rthree\n\n"] {
        for case in Case::both(text).await {
            let lines = text.replace("\r\n", "\n").replace('\r', "\n").lines().count();
            let expected = json!({ "content": text, "hash": hash(text), "total_lines": lines });
            assert_eq!(case.read().await.json, expected);
        }
    }
}

#[tokio::test]
async fn a_read_of_an_open_file_has_the_unsaved_text_and_what_is_held() {
    let case = Case::live("a\nb\n").await;
    case.editor.as_ref().unwrap().open(&case.path, "a\nunsaved\n");
    assert_eq!(case.content().await, "a\nunsaved\n");
    case.made("text_replace", json!({ "lines": [2, 3], "old": "unsaved", "new": "held" })).await;
    assert_eq!(case.content().await, "a\nheld\n");
    assert_eq!(case.stored(), b"a\nb\n");
    let edits = case.call("list_edits", json!({ "path": "a.txt" })).await;
    assert!(edits.text.contains("held"), "{}", edits.text);
}

#[tokio::test]
async fn mcp_013_014_015_each_change_returns_the_next_hash_and_the_number_of_lines() {
    for case in Case::both("a\nb\n").await {
        for (tool, arguments, after) in [
            ("text_replace", json!({ "lines": [2, 3], "old": "b", "new": "B\nC" }), "a\nB\nC\n"),
            ("text_insert", json!({ "line": 1, "anchor": "a", "content": "first" }), "first\na\nB\nC\n"),
            ("text_append", json!({ "content": "last\n" }), "first\na\nB\nC\nlast\n"),
        ] {
            let made = case.made(tool, arguments).await;
            let expected = json!({ "hash": hash(after), "total_lines": after.lines().count() });
            assert_eq!(made.json, expected, "{tool}");
            assert_eq!(case.content().await, after, "{tool}");
        }
        let stored = if case.editor.is_some() { "a\nb\n" } else { "first\na\nB\nC\nlast\n" };
        assert_eq!(case.stored(), stored.as_bytes(), "what is open is held");
    }
}

#[tokio::test]
async fn mcp_030_031_base64_makes_a_file_of_any_bytes_and_hashes_what_it_decodes_to() {
    let case = Case::on_disk("").await;
    for (path, encoding, content, bytes) in [
        ("png", "base64", "iVBORw0KGgr/AA==", &b"\x89PNG\r\n\x1a\n\xff\x00"[..]),
        ("unpadded", "BASE64", "iVBORw0K\nGgr/AA", b"\x89PNG\r\n\x1a\n\xff\x00"),
        ("text", "base64", "b25lDQo=", b"one\r\n"),
        ("nothing", "base64", "", b""),
        ("plain", "utf-8", "b25l", b"b25l"),
    ] {
        let given = json!({ "path": path, "encoding": encoding, "content": content });
        let made = case.call("file_create", given).await;
        assert_eq!(made.json, json!({ "hash": hash(bytes) }), "{path}: {}", made.text);
        assert_eq!(std::fs::read(case.place.root.join(path)).unwrap(), bytes, "{path}");
        let removed = case.call("file_remove", json!({ "path": path, "hash": hash(bytes) })).await;
        assert!(!removed.failed, "{path}: {}", removed.text);
    }
    for (encoding, content, word) in
        [("latin-1", "x", "encoding must be utf-8 or base64"), ("base64", "*", "content is no base64")]
    {
        let given = json!({ "path": "x", "encoding": encoding, "content": content });
        let refused = case.call("file_create", given).await;
        assert!(refused.failed && refused.text.contains(word), "{}", refused.text);
    }
    let binary =
        case.call("file_create", json!({ "path": "b", "encoding": "base64", "content": "/w==" })).await;
    let read = case.call("text_read", json!({ "path": "b" })).await;
    assert!(read.failed && read.text.starts_with("b cannot be read as text"), "{}", read.text);
    case.call("withdraw_edit", json!({ "edit_id": binary.edit_id() })).await;
    assert!(!case.place.root.join("b").exists(), "the person can take it back, and so can its agent");
}

#[tokio::test]
async fn mcp_031_the_hash_is_that_of_the_stored_bytes_with_marks_and_endings() {
    for bytes in ["\u{feff}one\r\ntwo", "one\r\ntwo\n", "one\rtwo"] {
        let case = Case::on_disk(bytes).await;
        assert_eq!(case.read().await.json["hash"], hash(bytes));
        let made = case.made("text_replace", json!({ "lines": [1, 2], "old": "one", "new": "1" })).await;
        let after = bytes.replacen("one", "1", 1);
        assert_eq!((made.json["hash"].clone(), case.stored()), (hash(&after), after.into_bytes()));
    }
    // An editor that keeps the endings to itself.
    let case = Case::on_disk("\u{feff}one\r\ntwo\r\n").await;
    let editor = case.place.editor("nvim", &[&case.place.root]);
    editor.open(&case.path, "one\ntwo\n");
    let read = case.read().await;
    assert_eq!(read.json["hash"], hash("\u{feff}one\r\ntwo\r\n"));
    assert_eq!(read.json["content"], "one\r\ntwo\r\n");
    let made = case.made("text_append", json!({ "content": "three" })).await;
    assert_eq!(made.json["hash"], hash("\u{feff}one\r\ntwo\r\nthree\r\n"));
}

const CHANGES: [&str; 4] = ["file_remove", "text_replace", "text_insert", "text_append"];

/// What each change needs besides path and hash.
fn rest(tool: &str) -> Value {
    match tool {
        "text_replace" => json!({ "lines": [2, 3], "old": "b", "new": "B" }),
        "text_insert" => json!({ "line": 2, "anchor": "b", "content": "x" }),
        "text_append" => json!({ "content": "x" }),
        _ => json!({}),
    }
}

#[tokio::test]
async fn mcp_032_every_mutation_requires_a_hash() {
    for case in Case::both("a\nb\n").await {
        for tool in CHANGES {
            for (missing, word) in [
                (Value::Null, "hash is missing: give the hash that"),
                (json!(""), "the file hash is empty"),
                (json!("12ab"), "at least 8 are needed"),
                (json!("not a hash"), "no hex digit"),
            ] {
                let mut given = rest(tool);
                given["hash"] = missing;
                let told = case.refused(tool, given).await;
                assert!(told.contains(word) && told.contains("nothing was changed"), "{tool}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn a_beginning_of_the_hash_is_enough() {
    for case in Case::both("a\nb\n").await {
        let hash = case.read().await.json["hash"].as_str().unwrap()[..8].to_uppercase();
        case.made("text_append", json!({ "hash": hash, "content": "c" })).await;
    }
}

#[tokio::test]
async fn mcp_033_the_hash_of_each_mutation_is_that_of_the_next_read_and_of_the_next_change() {
    for case in Case::both("a\nb\n").await {
        let made = case.call("file_create", json!({ "path": "new", "content": "a\nb\n" })).await;
        let mut chain =
            vec![("a.txt", case.read().await.json["hash"].clone()), ("new", made.json["hash"].clone())];
        for (path, hash) in &mut chain {
            for tool in ["text_replace", "text_insert", "text_append"] {
                let mut given = rest(tool);
                if tool == "text_insert" {
                    given["anchor"] = json!("B");
                }
                (given["path"], given["hash"]) = (json!(path), hash.clone());
                let made = case.call(tool, given).await;
                assert!(!made.failed, "{tool}: {}", made.text);
                let read = case.call("text_read", json!({ "path": path })).await;
                assert_eq!(
                    (&read.json["hash"], &read.json["total_lines"]),
                    (&made.json["hash"], &made.json["total_lines"])
                );
                *hash = made.json["hash"].clone();
            }
        }
    }
}

#[tokio::test]
async fn mcp_034_a_stale_hash_is_refused_with_the_hash_and_the_lines_as_they_are() {
    for case in Case::both("a\nb\nc\n").await {
        let old = case.read().await.json["hash"].clone();
        // Also where none of the lines that are named was touched.
        case.made("text_append", json!({ "content": "d" })).await;
        for stale in [old, hash("never")] {
            for tool in CHANGES {
                let mut given = rest(tool);
                given["hash"] = stale.clone();
                let told = case.refused(tool, given).await;
                let now = case.read().await.json["hash"].as_str().unwrap().to_owned();
                assert!(told.contains(&now) && told.contains("ead it again"), "{tool}: {told}");
                let shown = match tool {
                    "file_remove" => "a.txt was left as it is",
                    "text_append" => "4|d\n",
                    _ => "1|a\n2|b\n3|c\n",
                };
                assert!(told.contains(shown), "{tool}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_person_types_makes_a_hash_stale_too() {
    let case = Case::live("a\nb\nc\n").await;
    let old = case.read().await.json["hash"].clone();
    let editor = case.editor.as_ref().unwrap();
    editor.types(&case.path, 2, "a\nb\nc typed\n");
    let told =
        case.refused("text_replace", json!({ "hash": old, "lines": [1, 2], "old": "a", "new": "A" })).await;
    assert!(told.contains("Read it again, and send the edit") && told.contains("3|c typed"), "{told}");
}

#[tokio::test]
async fn mcp_050_what_does_not_exist_is_not_found() {
    for case in Case::both("a\n").await {
        for (tool, mut given) in
            [("text_read", json!({}))].into_iter().chain(CHANGES.map(|tool| (tool, rest(tool))))
        {
            given["path"] = json!("src/none.txt");
            if tool != "text_read" {
                given["hash"] = hash("a\n");
            }
            let told = case.call(tool, given).await;
            assert!(
                told.failed && told.text == "src/none.txt does not exist. Check the name.",
                "{tool}: {}",
                told.text
            );
        }
    }
}

#[tokio::test]
async fn mcp_052_errors_tell_the_next_step_and_arguments_are_taken_as_clients_send_them() {
    for case in Case::both("a\nb\n").await {
        for lines in [json!([2, 0]), json!("[2, 0]"), json!(["2", "0"]), json!([2.0, 0.0])] {
            assert_eq!(case.lines(lines).await.json["content"], "b\n");
        }
        for (tool, given, word) in [
            ("text_read", json!({ "lines": [1] }), "such as [5, 6] for line 5, not [1]"),
            ("text_read", json!({ "lines": "1-2" }), "such as [5, 6] for line 5, not \"1-2\""),
            (
                "text_replace",
                json!({ "hash": hash("a\nb\n"), "old": "a", "new": "b" }),
                "lines is missing: give [start, end]",
            ),
            ("text_insert", json!({ "hash": hash("a\nb\n"), "content": "b" }), "- line is missing"),
            (
                "text_append",
                json!({ "hash": hash("a\nb\n"), "contents": "b" }),
                "there is no field \"contents\"",
            ),
        ] {
            let mut given = given;
            given["path"] = json!("a.txt");
            let told = case.call(tool, given).await;
            assert!(told.failed && told.text.contains(word), "{tool}: {}", told.text);
            assert!(told.text.contains("Send the call again"), "{tool}: {}", told.text);
        }
    }
}

#[tokio::test]
async fn a_change_is_recorded_in_its_conversation_and_can_be_taken_back() {
    for case in Case::both("a\nb\n").await {
        let made = case.made("text_append", json!({ "content": "c", "mcp_conversation_id": "turn" })).await;
        assert_eq!(made.meta["mcp_conversation_id"], "turn");
        let other = case.made("text_append", json!({ "content": "d" })).await;
        assert!(other.meta["mcp_conversation_id"].as_str().unwrap().starts_with("conv_"), "{}", other.meta);
        let log = case.place.root.join(".mcp/edit_history/logs/turn.log");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains("\"text_append\""), "{log}");
        case.call("withdraw_edit", json!({ "edit_id": other.edit_id() })).await;
        case.call("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
        assert_eq!(case.content().await, "a\nb\n");
    }
}
