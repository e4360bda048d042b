//! Whole texts, exact pieces and diffs.

use hashline_history::{EditId, HunkRef};
use hashline_workspace::Settings;
use hashline_workspace::document::{Choice, Mode, Target};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::desk::{Answer, Desk, shows};
use crate::protocol::{Agent, Connection, call, connect, server};

const HELLO: &str = "function hello() {\n  return \"world\";\n}\n";

/// A client, and a file that no editor has open.
struct Client {
    temp: tempfile::TempDir,
    connection: Connection,
}

impl Client {
    async fn new(content: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a.txt"), content).unwrap();
        let server = server(&[temp.path()], true, &temp.path().join("state"));
        let agent = Agent { name: "tester", roots: None };
        let connection = connect(server, agent, ClientLifecycleMode::Initialize).await;
        Self { temp, connection }
    }

    async fn write(&self, content: impl Into<Value>) -> Answer {
        let given = json!({ "path": "a.txt", "content": content.into() });
        call(&self.connection, "write_file", given).await
    }

    async fn edit(&self, edits: impl Into<Value>) -> Answer {
        call(&self.connection, "edit_file_diff", json!({ "path": "a.txt", "edits": edits.into() })).await
    }

    fn file(&self) -> String {
        String::from_utf8(std::fs::read(self.temp.path().join("a.txt")).unwrap()).unwrap()
    }
}

#[tokio::test]
async fn what_is_written_is_there_byte_for_byte() {
    for content in [
        // JSON is text as any other; another server has written it out anew.
        "{\"b\":1,\"a\":[1.0,2e3]}",
        "[1, 2]",
        "\"a string\"",
        "12",
        "null",
        "true\n",
        "{ \"not\": json",
        "one\r\ntwo\r\n",
        "one\ntwo\r\nthree\rfour",
        "\n\n",
        "  blanks and\ttabs  \n",
        "\u{1f980} naïve\n",
        "",
    ] {
        let client = Client::new("old\n").await;
        let done = client.write(content).await;
        assert!(!done.failed, "{content:?}: {}", done.text);
        assert_eq!(client.file(), content);
    }
}

#[tokio::test]
async fn edits_come_in_many_shapes() {
    let edit = |old: &str, new: &str| json!({ old: "two", new: "2" });
    for edits in [
        json!([edit("old", "new")]),
        edit("old", "new"),
        json!(json!([edit("old", "new")]).to_string()),
        json!(edit("old", "new").to_string()),
        json!([edit("old", "new").to_string()]),
        json!([edit("old_text", "new_text")]),
        json!([edit("oldText", "newText")]),
        json!([edit("old_string", "new_string")]),
        json!([edit("oldString", "newString")]),
        json!({ "old": "two", "new": "2", "new_text": null }),
    ] {
        let client = Client::new("one\r\ntwo\r\nthree").await;
        let done = client.edit(edits.clone()).await;
        assert!(!done.failed, "{edits}: {}", done.text);
        assert_eq!(client.file(), "one\r\n2\r\nthree", "{edits}");
    }
}

#[tokio::test]
async fn line_endings_are_the_files() {
    let client = Client::new("one\r\ntwo\r\nthree\r\nfour").await;
    let done = client.edit(json!([{ "old": "one\ntwo", "new": "1\n1b\n2" }])).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(client.file(), "1\r\n1b\r\n2\r\nthree\r\nfour");
    let diff =
        "--- a/a.txt\n+++ b/a.txt\n@@ -4,2 +4,3 @@\n three\n-four\n\\ No newline at end of file\n+4\n+5\n";
    let given = json!({ "path": "a.txt", "diff": diff, "edits": [] });
    let done = call(&client.connection, "edit_file_diff", given).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(client.file(), "1\r\n1b\r\n2\r\nthree\r\n4\r\n5\r\n");
    let done = client.write("1\n1b\n2\nthree\n4\n5\n").await;
    assert!(done.text.contains("All lines ended in CRLF before; they end in LF now"), "{}", done.text);
    assert_eq!(client.file(), "1\n1b\n2\nthree\n4\n5\n");
}

#[tokio::test]
async fn a_new_file_needs_no_read() {
    let client = Client::new("old\n").await;
    let given = json!({ "path": "new.txt", "content": "one\ntwo\n" });
    let made = call(&client.connection, "write_file", given).await;
    assert_eq!(made.tagged().len(), 2, "{}", made.text);
    let operations = json!([{ "op": "replace", "anchor": made.anchor("two"), "content": "zwei" }]);
    let given = json!({ "path": "new.txt", "file_hash": made.hash(), "operations": operations });
    let edited = call(&client.connection, "edit_text_file", given).await;
    assert!(!edited.failed, "{}", edited.text);
    let text = std::fs::read_to_string(client.temp.path().join("new.txt")).unwrap();
    assert_eq!(text, "one\nzwei\n");
}

#[tokio::test]
async fn refusals_fit_what_was_called() {
    let client = Client::new("one\n").await;
    for (tool, given, words) in [
        ("move_file", json!({ "source": "a.txt", "destination": "./a.txt" }), "is where the file is already"),
        (
            "write_file",
            json!({ "path": "a.txt", "content": "x", "file_hash": "00000000" }),
            "for the text as it is now",
        ),
        (
            "write_file",
            json!({ "path": "b.txt", "content": "x", "file_hash": "00000000" }),
            "leave out file_hash",
        ),
        ("withdraw_edit", json!({ "edit_id": "zz" }), "No edit of this connection"),
        ("withdraw_edit", json!({ "edit_id": " " }), "edit_id is empty"),
    ] {
        let refused = call(&client.connection, tool, given).await;
        assert!(refused.failed && refused.text.contains(words), "{words}: {}", refused.text);
    }
    let missing = call(&client.connection, "withdraw_edit", json!({})).await;
    assert!(missing.text.contains("is missing") && !missing.text.contains("is empty"), "{}", missing.text);
    let one = client.edit(json!([{ "old": "one", "new": "two" }])).await;
    assert!(one.text.contains(" · 1 line · "), "{}", one.text);
}

#[tokio::test]
async fn what_is_rejected_is_not_held_any_more() {
    let mut desk = Desk::new();
    desk.open("a.txt", HELLO);
    let edit = json!([{ "old": "world", "new": "moon" }]);
    let edit = desk.call("edit_file_diff", json!({ "path": "a.txt", "edits": edit })).await;
    let listed =
        async |desk: &Desk, state: &str| desk.call("list_edits", json!({ "state": state })).await.text;
    assert!(listed(&desk, "held").await.starts_with("1 held edit"));
    desk.decide(Choice::Reject, Target::Edit(edit.edit_id()), None).await;
    let held = listed(&desk, "held").await;
    assert!(held.starts_with("There are no held edits"), "{held}");
    assert!(listed(&desk, "rejected").await.starts_with("1 rejected edit"));
}

#[tokio::test]
async fn a_reply_is_enough_to_go_on() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let given = json!({ "path": "hello.js", "content": HELLO.replace("world", "moon") + "hello();\n" });
    let written = desk.call("write_file", given).await;
    shows!("written", desk, written.text);
    assert_eq!(written.meta["file_hash"].as_str().unwrap().len(), 64);
    let operations = json!([{ "op": "delete", "anchor": written.anchor("hello();") }]);
    let done = desk.edit("hello.js", &written.hash(), operations).await;
    assert!(!done.failed, "{}", done.text);
    let given = json!({
        "path": "hello.js", "file_hash": done.hash(), "edits": [{ "old": "\"moon\"", "new": "\"sun\"" }],
        "mcp_conversation_id": "conv_of_mine",
    });
    let edited = desk.call("edit_file_diff", given).await;
    shows!("edited", desk, edited.text);
    assert_eq!(desk.bytes("hello.js"), HELLO.replace("world", "sun").as_bytes());
    shows!("files_listed", desk, desk.call("list_edits", json!({})).await.text);
    // An agent that its own edit has overtaken is told so, with or without a hash in that edit.
    let late = json!({ "path": "hello.js", "content": "x\n", "file_hash": written.hash() });
    let refused = desk.call("write_file", late).await;
    assert!(refused.failed && refused.text.contains("your own edit"), "{}", refused.text);
}

/// A refusal, with the file as it was.
async fn refused(desk: &Desk, tool: &str, given: Value) -> Answer {
    let before = desk.bytes("hello.js");
    let mut given = given;
    given["path"] = json!("hello.js");
    let answer = desk.call(tool, given.clone()).await;
    assert!(answer.failed, "{given} was not refused: {}", answer.text);
    assert_eq!(desk.bytes("hello.js"), before, "{given}");
    answer
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let edit = |edits: Value| refused(&desk, "edit_file_diff", json!({ "edits": edits }));
    let wrong = edit(json!([
        { "old": "return  \"world\"", "new": "return 1" },
        { "old": "o", "new": "0" },
        { "old": "nothing of the kind", "new": "" },
        { "old": "2:98|  return \"world\";", "new": "x" },
    ]));
    shows!("edits_refused", desk, wrong.await.text);
    let form = edit(json!([
        { "old": "world", "new": 1, "replace_all": true },
        { "old": "a", "old_text": "b", "new": "" },
        { "new": "x" },
        7,
    ]));
    shows!("edits_of_wrong_form", desk, form.await.text);
    let both = json!({ "edits": [{ "old": "a", "new": "b" }], "diff": "@@\n-a\n+b\n" });
    shows!("edits_and_diff", desk, refused(&desk, "edit_file_diff", both).await.text);
    let none = refused(&desk, "edit_file_diff", json!({ "edits": [], "diff": "" })).await;
    assert!(none.text.contains("edits is missing"), "{}", none.text);

    let diff = |diff: &str| refused(&desk, "edit_file_diff", json!({ "diff": diff }));
    shows!(
        "diff_refused",
        desk,
        diff("@@ -1,2 +1,2 @@\n function hello() {\n-  return 1;\n+  return 2;\n").await.text
    );
    let other = diff("--- a/other.js\n+++ b/other.js\n@@\n-}\n+};\n").await;
    assert!(other.text.contains("it is a diff of \"b/other.js\""), "{}", other.text);

    let write = |given: Value| refused(&desk, "write_file", given);
    let object = write(json!({ "content": { "a": 1 } })).await;
    assert!(object.text.contains("content must be a string, not an object"), "{}", object.text);
    let missing = write(json!({ "text": "x" })).await;
    assert!(
        missing.text.contains("content is missing") && missing.text.contains("no field \"text\""),
        "{}",
        missing.text
    );
    let hash = write(json!({ "content": "x", "file_hash": "xyz" })).await;
    assert!(hash.text.contains("file_hash"), "{}", hash.text);
    let unknown = write(json!({ "content": HELLO.replace('1', "x") + "x\n", "file_hash": "00000000" })).await;
    shows!("write_of_unknown_hash", desk, unknown.text);
    let given = json!({ "path": "new.txt", "content": "x", "file_hash": "00000000" });
    let nowhere = desk.call("write_file", given).await;
    assert!(nowhere.failed && nowhere.text.contains("there is no file at new.txt"), "{}", nowhere.text);
    let outside = desk.call("write_file", json!({ "path": "/etc/passwd", "content": "x" })).await;
    assert!(outside.failed && outside.text.contains("outside the roots"), "{}", outside.text);
}

#[tokio::test]
async fn a_refusal_for_an_old_hash_shows_the_lines_and_serves_them() {
    let desk = Desk::new();
    desk.write("hello.js", HELLO);
    let old = desk.read("hello.js").await.hash();
    desk.write("hello.js", HELLO.replace("hello", "greet"));
    let edits = json!([{ "old": "\"world\"", "new": "\"moon\"" }]);
    let given = json!({ "edits": edits, "file_hash": old });
    let told = refused(&desk, "edit_file_diff", given).await;
    shows!("edits_of_old_hash", desk, told.text);
    let given = json!({ "path": "hello.js", "edits": edits, "file_hash": told.hash_now() });
    let done = desk.call("edit_file_diff", given).await;
    assert!(!done.failed, "{}", done.text);
}

#[tokio::test]
async fn in_an_open_document_it_is_held_and_decided_piece_by_piece() {
    let mut desk = Desk::new();
    desk.write("hello.js", HELLO);
    desk.open("hello.js", HELLO);
    let new = "function greet() {\n  return \"world\";\n}\ngreet();\n";
    let held = desk.call("write_file", json!({ "path": "hello.js", "content": new })).await;
    shows!("write_held", desk, held.text);
    assert_eq!(desk.editor_text("hello.js"), HELLO);
    assert_eq!(desk.bytes("hello.js"), HELLO.as_bytes());
    let hunk = |number| Target::Hunk(HunkRef { edit: EditId::from(held.edit_id().as_str()), number });
    desk.decide(Choice::Accept, hunk(1), None).await;
    desk.deliver("hello.js");
    desk.decide(Choice::Reject, hunk(2), Some("Do not call it.")).await;
    assert_eq!(desk.editor_text("hello.js"), HELLO.replace("hello", "greet"));
    shows!("write_decided", desk, desk.call("await_review", json!({})).await.text);
}

#[tokio::test]
async fn without_a_hash_an_open_document_waits_in_apply_mode_too() {
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    desk.write("hello.js", HELLO);
    desk.open("hello.js", HELLO);
    let edits = json!([{ "old": "world", "new": "moon" }]);
    let held = desk.call("edit_file_diff", json!({ "path": "hello.js", "edits": edits })).await;
    assert!(held.text.contains("Held for the person to accept"), "{}", held.text);
    desk.deliver("hello.js");
    assert_eq!(desk.editor_text("hello.js"), HELLO);
    let edits = json!([{ "old": "}", "new": "};" }]);
    let given = json!({ "path": "hello.js", "edits": edits, "file_hash": held.hash() });
    let applied = desk.call("edit_file_diff", given).await;
    assert!(applied.text.contains("on its way into the editor"), "{}", applied.text);
    desk.deliver("hello.js");
    assert_eq!(desk.editor_text("hello.js"), HELLO.replace('}', "};"));
}

#[tokio::test]
async fn typing_elsewhere_does_not_stop_a_piece_and_does_a_whole_text() {
    let mut desk = Desk::new();
    desk.write("hello.js", HELLO);
    desk.open("hello.js", HELLO);
    let hash = desk.read("hello.js").await.hash();
    desk.types("hello.js", &format!("// typed\n{HELLO}"));
    let given = json!({ "content": HELLO.replace("world", "sun"), "file_hash": hash });
    shows!("write_stale", desk, refused(&desk, "write_file", given).await.text);
    let edits = json!([{ "old": "\"world\"", "new": "\"moon\"" }]);
    let given = json!({ "path": "hello.js", "edits": edits, "file_hash": hash });
    let carried = desk.call("edit_file_diff", given).await;
    shows!("edits_carried", desk, carried.text);
    desk.types("hello.js", &format!("// typed\n{}", HELLO.replace("hello", "greet")));
    let given = json!({ "edits": [{ "old": "hello", "new": "hi" }], "file_hash": hash });
    shows!("edits_stale", desk, refused(&desk, "edit_file_diff", given).await.text);
}

#[tokio::test]
async fn a_large_rewrite_does_not_flood_its_agent() {
    let desk = Desk::new();
    let lines = |word: &str| {
        (0..4_000).map(|n| format!("{} {n}\n", if n % 4 == 0 { word } else { "same" })).collect::<String>()
    };
    desk.write("long.txt", lines("old"));
    let done = desk.call("write_file", json!({ "path": "long.txt", "content": lines("new") })).await;
    assert!(!done.failed, "{}", done.text);
    assert!(done.tagged().len() < 600, "{}", done.tagged().len());
    assert!(done.text.contains("more changed places"), "{}", done.text.len());
    assert_eq!(desk.bytes("long.txt"), lines("new").as_bytes());
}
