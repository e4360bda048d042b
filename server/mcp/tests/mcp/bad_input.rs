//! What must be refused in clear words, with nothing changed and the next call served.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::Duration;

use hashline_workspace::Settings;
use hashline_workspace::document::{Choice, Mode, Request, Target, Why};
use serde_json::{Value, json};

use crate::desk::{Answer, Desk, shows};

/// A refusal: it says what was wrong by name, and the file is as it was.
async fn refused(desk: &Desk, tool: &str, arguments: Value, words: &[&str]) -> Answer {
    let call = desk.call(tool, arguments.clone());
    let answer = tokio::time::timeout(Duration::from_secs(20), call).await.unwrap();
    assert!(answer.failed, "{arguments} was not refused: {}", answer.text);
    for word in words {
        assert!(answer.text.contains(word), "{arguments}: {word:?} is not in: {}", answer.text);
    }
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\nthree\n", "{arguments}");
    answer
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk
}

#[tokio::test]
async fn arguments() {
    let desk = desk();
    let read = "read_text_file";
    let missing = refused(&desk, read, json!({}), &["path is missing"]).await;
    shows!("no_path", desk, missing.text);
    let unknown =
        refused(&desk, read, json!({ "path": "a.txt", "colour": "red" }), &["colour", "start_line"]).await;
    shows!("unknown_field", desk, unknown.text);
    refused(&desk, read, json!({ "path": 7 }), &["path must be a string", "7"]).await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": "x" }), &["start_line", "whole number"])
        .await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": 1.5 }), &["start_line", "whole number"])
        .await;
    refused(&desk, read, json!({ "path": "a.txt", "view": "front" }), &["view", "agent, buffer"]).await;
    refused(&desk, "list_edits", json!({ "state": "odd" }), &["state", "pending"]).await;
    refused(&desk, "list_documents", json!({ "path": "a.txt" }), &["path", "takes no arguments"]).await;
    refused(&desk, "await_review", json!({ "timeout_s": -1 }), &["timeout_s"]).await;
    refused(&desk, "await_review", json!({ "edit_ids": [3] }), &["edit_ids", "3"]).await;
    refused(&desk, "await_review", json!({ "edit_ids": ["nothing"] }), &["nothing", "list_edits"]).await;
    refused(&desk, "withdraw_edit", json!({}), &["edit_id is missing"]).await;
    refused(&desk, "withdraw_edit", json!({ "edit_id": "" }), &["edit_id is empty"]).await;
    // What clients add is let be.
    let fine =
        desk.call(read, json!({ "path": "a.txt", "wait_for_previous": false, "end_line": null })).await;
    assert!(!fine.failed, "{}", fine.text);
}

#[tokio::test]
async fn lines_out_of_range() {
    let desk = desk();
    let read = "read_text_file";
    let beyond =
        refused(&desk, read, json!({ "path": "a.txt", "start_line": 4 }), &["start_line 4", "3 lines"]).await;
    shows!("beyond_the_end", desk, beyond.text);
    refused(&desk, read, json!({ "path": "a.txt", "start_line": 0 }), &["start_line counts from 1"]).await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": -3 }), &["start_line counts from 1"]).await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": 3, "end_line": 2 }), &["end_line 2"]).await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": u64::MAX }), &["start_line"]).await;
    refused(&desk, read, json!({ "path": "a.txt", "start_line": i64::MAX }), &["start_line", "3 lines"])
        .await;
}

#[tokio::test]
async fn edits_of_the_wrong_form() {
    let desk = desk();
    let hash = desk.read("a.txt").await.hash();
    let edit = |operations: Value| json!({ "path": "a.txt", "file_hash": hash, "operations": operations });
    let tool = "edit_text_file";
    for anchor in [
        "",
        "two",
        "2",
        "2:",
        "2:zz",
        "2:9",
        "2:123",
        "-1:aa",
        "2:98 and more",
        "1:af\n2:09",
        "99999999999999999999:aa",
    ] {
        refused(&desk, tool, edit(json!([{ "op": "delete", "anchor": anchor }])), &["operation 1", "anchor"])
            .await;
    }
    let told = refused(
        &desk,
        tool,
        edit(json!([{ "op": "delete", "anchor": "two" }, { "op": "gone", "anchor": "1:af" }])),
        &[],
    )
    .await;
    shows!("bad_anchors", desk, told.text);
    refused(&desk, tool, edit(json!([{ "op": "delete", "anchor": 2 }])), &["lacks the hash"]).await;
    // Where the number can be read, the line is shown, and the edit can be sent again without a read.
    for anchor in ["2", "2:zz", ">>> 2:", "2:09x", "2:zz|two"] {
        let operations = json!([{ "op": "delete", "anchor": anchor }]);
        let told = refused(&desk, tool, edit(operations), &["1:af|one\n2:09|two\n3:a3|three\n"]).await;
        assert_eq!(told.hash_now(), desk.read("a.txt").await.hash(), "{}", told.text);
    }
    let operations = json!([{ "op": "delete_range", "anchor": "1:af..x", "end_anchor": "3" }]);
    refused(&desk, tool, edit(operations), &["3:a3|three"]).await;
    let operations = json!([{ "op": "delete", "anchor": "2" }]);
    let elsewhere = json!({ "path": "/etc/passwd", "file_hash": "00000000", "operations": operations });
    let told = refused(&desk, tool, elsewhere, &["lacks the hash"]).await;
    assert!(!told.text.contains("root"), "{}", told.text);
    let told = refused(
        &desk,
        tool,
        edit(json!([{ "op": "delete", "anchor": "2:09", "colour": "red", "line": 2 }])),
        &["colour"],
    )
    .await;
    shows!("unknown_field_in_operation", desk, told.text);
    refused(
        &desk,
        tool,
        edit(json!([{ "op": "replace", "anchor": "2:09", "content": ["a", "b"] }])),
        &["content must be a string"],
    )
    .await;
    refused(&desk, tool, edit(json!([{ "op": "replace", "anchor": "2:09" }])), &["content is missing"]).await;
    refused(&desk, tool, edit(json!([{ "anchor": "2:09" }])), &["op is missing"]).await;
    refused(&desk, tool, edit(json!([])), &["operations is empty"]).await;
    refused(&desk, tool, edit(json!("no list")), &["operation 1", "object"]).await;
    refused(&desk, tool, edit(json!(7)), &["operations"]).await;
    refused(&desk, tool, json!({ "path": "a.txt", "file_hash": hash }), &["operations is missing"]).await;
    let delete = json!([{ "op": "delete", "anchor": "2:09" }]);
    refused(&desk, tool, json!({ "path": "a.txt", "operations": delete }), &["file_hash is missing"]).await;
    refused(&desk, tool, json!({ "path": "a.txt", "file_hash": "", "operations": delete }), &["file_hash"])
        .await;
    refused(
        &desk,
        tool,
        json!({ "path": "a.txt", "file_hash": "12ab", "operations": delete }),
        &["file_hash"],
    )
    .await;
    refused(
        &desk,
        tool,
        json!({ "path": "a.txt", "file_hash": "not hex digits", "operations": delete }),
        &["file_hash"],
    )
    .await;
    let odd =
        json!({ "path": "a.txt", "file_hash": hash, "operations": delete, "mcp_conversation_id": "../../x" });
    refused(&desk, tool, odd, &["mcp_conversation_id"]).await;
    refused(&desk, tool, edit(json!([{ "op": "delete", "anchor": "9:00" }])), &["operation 1"]).await;
    let both = json!([{ "op": "delete", "anchor": "1:af" }, { "op": "delete", "anchor": "2:00" }]);
    refused(&desk, tool, edit(both), &["operation 2", "1:af|one"]).await;
}

#[tokio::test]
async fn files_that_are_none() {
    let desk = desk();
    let folder = &desk.folder;
    std::fs::create_dir(folder.join("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    desk.write("latin1.txt", b"caf\xe9\n");
    let sparse = std::fs::File::create(folder.join("sparse")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    for (path, words) in [
        ("folder", &["folder"][..]),
        (".", &["folder"][..]),
        ("fifo", &["FIFO"][..]),
        ("latin1.txt", &["UTF-8"][..]),
        ("sparse", &["sparse"][..]),
        ("missing.txt", &["missing.txt"][..]),
        ("a.txt/b", &["a.txt"][..]),
    ] {
        refused(&desk, "read_text_file", json!({ "path": path }), words).await;
        let delete = json!([{ "op": "delete", "anchor": "1:af" }]);
        let edit = json!({ "path": path, "file_hash": "0123456789ab", "operations": delete });
        refused(&desk, "edit_text_file", edit, words).await;
    }
    assert_eq!(desk.bytes("latin1.txt"), b"caf\xe9\n");
}

/// Root may write what nobody else may, and is refused all the same.
#[tokio::test]
async fn files_without_write_permission() {
    let desk = desk();
    let path = desk.folder.join("a.txt");
    let read = desk.read("a.txt").await;
    let hash = read.hash();
    let may = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    may(0o444);
    let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]);
    let edit = json!({ "path": "a.txt", "file_hash": hash, "operations": operations });
    for (tool, arguments) in [
        ("edit_text_file", edit.clone()),
        ("write_file", json!({ "path": "a.txt", "content": "all\n", "file_hash": hash })),
        ("edit_file_diff", json!({ "path": "a.txt", "edits": [{ "old": "two", "new": "2" }] })),
        ("text_append", json!({ "path": "a.txt", "hash": hash, "content": "four" })),
    ] {
        refused(&desk, tool, arguments, &["a.txt is read-only", "write permission", "try again"]).await;
    }
    assert!(desk.call("list_edits", json!({})).await.text.contains("no edits"));
    // What changes nothing in the file is not refused, and the decision is.
    desk.workspace.set_settings(Settings { disk: Mode::Propose, ..Settings::default() });
    let held = desk.call("edit_text_file", edit).await;
    assert!(!held.failed, "{}", held.text);
    let accept = Request::of(Choice::Accept, Target::Edit(held.edit_id()));
    let decided = desk.workspace.decide(None, &accept).await;
    assert_eq!(decided.refused[0].why, Why::Failed);
    assert!(decided.refused[0].message.contains("is read-only"), "{}", decided.refused[0].message);
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\nthree\n");
    may(0o644);
    assert_eq!(desk.workspace.decide(None, &accept).await.refused, []);
    assert_eq!(desk.bytes("a.txt"), b"one\n2\nthree\n");
}

#[tokio::test]
async fn paths_out_of_the_roots() {
    let desk = desk();
    let outside = desk.folder.parent().unwrap().join("secret.txt");
    std::fs::write(&outside, "the secret\n").unwrap();
    symlink(&outside, desk.folder.join("link.txt")).unwrap();
    symlink(desk.folder.parent().unwrap(), desk.folder.join("up")).unwrap();
    symlink("loop", desk.folder.join("loop")).unwrap();
    std::fs::create_dir_all(desk.folder.join(".mcp/edit_history")).unwrap();
    desk.write(".mcp/edit_history/x", "x\n");
    let absolute = outside.to_str().unwrap();
    for path in [
        "../secret.txt",
        "folder/../../secret.txt",
        absolute,
        "/etc/passwd",
        "link.txt",
        "up/secret.txt",
        "loop",
        "a.txt\0",
        "",
        "~/x",
        "C:\\Windows\\x",
        ".mcp/edit_history/x",
        "file:///etc/passwd",
        "file://elsewhere/etc/passwd",
        "file:///a%00b",
        "http://example.com/",
    ] {
        for (tool, rest) in [
            ("read_text_file", json!({})),
            (
                "edit_text_file",
                json!({ "file_hash": "0123456789ab", "operations": [{ "op": "delete", "anchor": "1:af" }] }),
            ),
            ("list_edits", json!({})),
        ] {
            if tool == "list_edits" && path.is_empty() {
                continue;
            }
            let mut given = rest;
            given["path"] = json!(path);
            let answer = refused(&desk, tool, given, &[]).await;
            assert!(!answer.text.contains("the secret"), "{}", answer.text);
        }
    }
    assert_eq!(std::fs::read(&outside).unwrap(), b"the secret\n");
    let told = refused(&desk, "read_text_file", json!({ "path": "/etc/passwd" }), &[]).await;
    shows!("outside", desk, told.text);
    // The repository's own folder may be read but not written.
    std::fs::create_dir(desk.folder.join(".git")).unwrap();
    desk.write(".git/config", "[core]\n");
    let read = desk.read(".git/config").await;
    let delete = json!([{ "op": "delete", "anchor": read.anchor("[core]") }]);
    let edit = json!({ "path": ".git/config", "file_hash": read.hash(), "operations": delete });
    refused(&desk, "edit_text_file", edit, &[".git"]).await;
}

#[tokio::test]
async fn a_caller_reaches_its_own_roots_only() {
    let desk = desk();
    std::fs::create_dir(desk.folder.join("sub")).unwrap();
    desk.write("sub/b.txt", "b\n");
    let caller =
        hashline_workspace::Caller { roots: Some(vec![desk.folder.join("sub")]), ..desk.caller.clone() };
    let path = desk.folder.join("a.txt");
    let refused = desk.call_as(&caller, "read_text_file", json!({ "path": path })).await;
    assert!(refused.failed && !refused.text.contains("|one"), "{}", refused.text);
    let fine = desk.call_as(&caller, "read_text_file", json!({ "path": "b.txt" })).await;
    assert!(!fine.failed, "{}", fine.text);
}
