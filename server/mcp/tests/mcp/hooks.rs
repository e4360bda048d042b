//! Hooks as Claude Code sends them: its own tools beside an editor.

use std::path::Path;

use rmcp::model::ReadResourceRequestParams;
use serde_json::{Value, json};

use crate::place::Place;
use crate::protocol::{Connection, call};

const DISK: &str = "one\ntwo\nthree\n";
const LIVE: &str = "one\ntwo, unsaved\nthree\n";

/// What a hook is told of a session's first turn, with these besides.
fn told(event: &str, more: &Value) -> Value {
    let mut told = json!({ "agent": "claude-code", "event": event, "session": "5f9e", "turn": "77aa" });
    for (name, value) in more.as_object().unwrap() {
        told[name] = match value {
            Value::String(text) => text.as_str().into(),
            // What is no text travels as one.
            other => other.to_string().into(),
        };
    }
    told
}

/// What a hook's answer says, and null for none.
async fn hook(agent: &Connection, event: &str, more: Value) -> Value {
    let answer = call(agent, "hook", told(event, &more)).await;
    assert!(!answer.failed, "{}", answer.text);
    if answer.text.is_empty() {
        return Value::Null;
    }
    let said: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], event);
    said["hookSpecificOutput"].clone()
}

fn edit(path: &Path, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false })
}

/// A use of a tool from its beginning to its end: what the program is answered before, and after.
async fn used(agent: &Connection, tool: &str, id: &str, input: Value) -> (Value, Value) {
    let before = hook(agent, "PreToolUse", json!({ "tool": tool, "id": id, "input": input })).await;
    if before["permissionDecision"] != "allow" {
        return (before, Value::Null);
    }
    let updated = before["updatedInput"].clone();
    let placeholder = Path::new(updated["file_path"].as_str().unwrap()).to_owned();
    assert!(!placeholder.exists(), "the program would have to read it first");
    let content = if tool == "Edit" { &updated["new_string"] } else { &updated["content"] };
    std::fs::write(&placeholder, content.as_str().unwrap()).unwrap();
    let after = json!({ "tool": tool, "id": id, "input": updated, "response": {} });
    let after = hook(agent, "PostToolUse", after).await;
    assert!(!placeholder.exists(), "a placeholder stays");
    assert_eq!(std::fs::read_dir(placeholder.parent().unwrap()).unwrap().count(), 0, "something stays");
    (before, after)
}

fn context(said: &Value) -> &str {
    said["additionalContext"].as_str().unwrap_or_else(|| panic!("no context in {said}"))
}

#[tokio::test]
async fn a_built_in_edit_is_held_on_the_live_text_and_reads_as_made() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;

    let (_, after) = used(&agent, "Edit", "toolu_1", edit(&path, "three", "3")).await;
    let made = &after["updatedToolOutput"];
    assert_eq!(made["filePath"], path.to_str().unwrap());
    assert_eq!(made["originalFile"], LIVE);
    let lines = json!([" one", " two, unsaved", "-three", "+3"]);
    assert_eq!(made["structuredPatch"][0]["lines"], lines, "{made}");
    let words = context(&after);
    assert!(words.contains("Held for the person to accept in nvim") && words.contains("|3"), "{words}");
    assert!(words.contains("use the tools of the MCP server hashline"), "{words}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), DISK);

    let (_, after) =
        used(&agent, "Write", "toolu_2", json!({ "file_path": path, "content": "all new\n" })).await;
    let made = &after["updatedToolOutput"];
    assert_eq!((&made["type"], &made["content"]), (&json!("update"), &json!("all new\n")));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), DISK);

    // Both are the agent's own, of one turn.
    let reviews = editor.workspace.reviews();
    let edits: Vec<_> = reviews.iter().flat_map(|review| &review.review.edits).collect();
    assert_eq!(edits.len(), 2);
    let conversations: Vec<&str> = edits.iter().map(|edit| edit.edit.conversation.as_str()).collect();
    assert!(conversations[0] == conversations[1] && !conversations[0].contains("5f9e"), "{conversations:?}");
    let listed = call(&agent, "list_edits", json!({ "path": "a.txt" })).await;
    assert!(!listed.text.contains("by agent") && listed.text.contains("held"), "{}", listed.text);
}

#[tokio::test]
async fn a_built_in_read_shows_the_live_text() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;
    let read = async |input: Value, response: Value| {
        let told = json!({ "tool": "Read", "id": "toolu_1", "input": input, "response": response });
        hook(&agent, "PostToolUse", told).await
    };
    let text = |content: &str| {
        let lines = content.split('\n').count();
        json!({ "type": "text", "file": {
            "filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines,
        }})
    };
    let said = read(json!({ "file_path": path }), text(DISK)).await;
    assert_eq!(said["updatedToolOutput"], text(LIVE));
    assert!(context(&said).contains("open in nvim"), "{said}");
    let unchanged = json!({ "type": "file_unchanged", "file": { "filePath": path } });
    let said = read(json!({ "file_path": path, "offset": 2, "limit": 1 }), unchanged).await;
    assert_eq!(said["updatedToolOutput"]["file"]["content"], "two, unsaved");
    // Held edits are in it.
    used(&agent, "Edit", "toolu_2", edit(&path, "three", "3")).await;
    let said = read(json!({ "file_path": path }), text(LIVE)).await;
    assert_eq!(said["updatedToolOutput"]["file"]["content"], LIVE.replace("three", "3"));
    // Nothing is said of what reads the same, nor where the disk has it.
    assert_eq!(read(json!({ "file_path": path }), text(&LIVE.replace("three", "3"))).await, Value::Null);
    let saved = place.write("saved.txt", DISK);
    editor.open(&saved, DISK);
    let unchanged = json!({ "type": "file_unchanged", "file": { "filePath": saved } });
    assert_eq!(read(json!({ "file_path": saved }), unchanged).await, Value::Null);
}

#[tokio::test]
async fn an_edit_that_fails_on_the_disk_is_made_on_the_live_text() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let closed = place.write("closed.txt", DISK);
    let agent = place.agent().await;
    let failed = |path: &Path, old: &str| {
        let told =
            format!("<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>");
        json!({ "tool_name": "Edit", "tool_use_id": "1", "tool_input": edit(path, old, "2"), "tool_response": told })
    };
    let calls = json!([failed(&path, "two, unsaved"), failed(&closed, "nowhere")]);
    let said = hook(&agent, "PostToolBatch", json!({ "calls": calls })).await;
    let words = context(&said);
    assert!(words.contains("hashline holds it there") && words.contains("Held for the person"), "{words}");
    assert!(!words.contains("closed.txt"), "{words}");
    assert_eq!(editor.workspace.reviews()[0].review.edits.len(), 1);
    // Where the live text has not what it is for, either, nothing is made, and the lines are told as they are.
    let said = hook(&agent, "PostToolBatch", json!({ "calls": [failed(&path, "two, unsafed")] })).await;
    let words = context(&said);
    assert!(
        words.contains("its text there is what counts") && words.contains("nothing was changed"),
        "{words}"
    );
    assert_eq!(editor.workspace.reviews()[0].review.edits.len(), 1);
}

#[tokio::test]
async fn what_the_live_text_does_not_take_is_refused_in_words() {
    let place = Place::new();
    let path = place.write("a.txt", "a\nb\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "a\na\n");
    let agent = place.agent().await;
    for (old, words) in [("b", "does not stand"), ("a", "in 2 places")] {
        let (said, _) = used(&agent, "Edit", "toolu_1", edit(&path, old, "c")).await;
        assert_eq!(said["permissionDecision"], "deny");
        let reason = said["permissionDecisionReason"].as_str().unwrap();
        assert!(
            reason.contains("open in nvim")
                && reason.contains(words)
                && reason.contains("nothing was changed"),
            "{reason}"
        );
    }
    assert!(editor.workspace.reviews().iter().all(|review| review.review.edits.is_empty()));
    // Wherever it stands.
    let mut all = edit(&path, "a", "c");
    all["replace_all"] = true.into();
    let (_, after) = used(&agent, "Edit", "toolu_2", all).await;
    assert!(context(&after).contains("|c"), "{after}");
}

#[tokio::test]
async fn nothing_is_said_of_files_that_no_editor_has_open() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    let outside = place.temp.path().join("outside.txt");
    std::fs::write(&outside, DISK).unwrap();
    let agent = place.agent().await;
    let new = place.root.join("new.txt");
    for path in [&path, &new, &outside] {
        let (before, _) = used(&agent, "Edit", "toolu_1", edit(path, "two", "2")).await;
        assert_eq!(before, Value::Null, "{}", path.display());
        let write =
            json!({ "tool": "Write", "id": "toolu_2", "input": { "file_path": path, "content": "x" } });
        assert_eq!(hook(&agent, "PreToolUse", write).await, Value::Null, "{}", path.display());
    }
    assert!(editor.workspace.reviews().is_empty());
}

/// A program uses a tool of its own on a file that no editor has open.
async fn written(agent: &Connection, id: &str, input: Value, write: impl FnOnce()) {
    let before = json!({ "tool": "Edit", "id": id, "input": input });
    assert_eq!(hook(agent, "PreToolUse", before.clone()).await, Value::Null);
    write();
    assert_eq!(hook(agent, "PostToolUse", before).await, Value::Null, "the agent reads nothing of it");
}

#[tokio::test]
async fn what_is_written_to_a_file_that_no_editor_has_open_is_kept_or_taken_back() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    let agent = place.agent().await;
    let write = || std::fs::write(&path, DISK.replace("two", "2")).unwrap();
    written(&agent, "toolu_1", edit(&path, "two", "2"), write).await;
    // A use that fails writes nothing, and one that the program does not tell the end of is over.
    written(&agent, "toolu_2", edit(&path, "nine", "9"), || {}).await;
    let listed = call(&agent, "list_edits", json!({ "path": "a.txt" })).await;
    assert!(listed.text.contains("1 edit"), "{}", listed.text);

    let id = editor.workspace.reviews()[0].review.edits[0].edit.id.to_string();
    editor.reject(&id, "Use the word.").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), DISK);
    let said = hook(&agent, "UserPromptSubmit", json!({})).await;
    assert!(context(&said).contains("Use the word."), "{said}");
    assert!(!place.state.join("held").read_dir().unwrap().any(|_| true), "something stays");
}

#[tokio::test]
async fn a_patch_of_files_that_no_editor_has_open_is_recorded_file_by_file() {
    let place = Place::new();
    let (changed, removed) = (place.write("a.txt", DISK), place.write("b.txt", DISK));
    let open = place.write("open.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&open, LIVE);
    let agent = place.agent().await;
    let patch = "*** Begin Patch\n*** Update File: a.txt\n-two\n+2\n*** Update File: open.txt\n-three\n+3\n*** Delete File: b.txt\n*** \
                 Add File: c.txt\n+new\n*** End Patch";
    let told = |event: &str| {
        json!({
            "agent": "codex", "event": event, "tool": "apply_patch", "id": "call_1", "session": "5f9e", "turn": "7",
            "cwd": place.root, "input": { "command": patch },
        })
    };
    let before = call(&agent, "hook", told("PreToolUse")).await;
    assert!(
        before.text.contains("Add File: c.txt") && !before.text.contains("Update File: open.txt"),
        "{}",
        before.text
    );
    std::fs::write(&changed, DISK.replace("two", "2")).unwrap();
    std::fs::remove_file(&removed).unwrap();
    std::fs::write(place.root.join("c.txt"), "new\n").unwrap();
    let after = call(&agent, "hook", told("PostToolUse")).await;
    assert_eq!(after.text, "");
    let listed = call(&agent, "list_edits", json!({})).await;
    for name in ["a.txt", "b.txt", "c.txt", "open.txt"] {
        assert!(listed.text.contains(name), "{name}: {}", listed.text);
    }
    assert!(listed.text.contains("4 edits"), "{}", listed.text);
}

#[tokio::test]
async fn what_the_person_decided_is_told_with_their_next_message() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;
    assert_eq!(hook(&agent, "UserPromptSubmit", json!({})).await, Value::Null);
    used(&agent, "Edit", "toolu_1", edit(&path, "three", "3")).await;
    assert_eq!(hook(&agent, "UserPromptSubmit", json!({})).await, Value::Null, "nothing is decided");
    let id = editor.workspace.reviews()[0].review.edits[0].edit.id.to_string();
    editor.reject(&id, "Use the helper.").await;
    // The session goes on in another process.
    let next = place.agent().await;
    let said = hook(&next, "UserPromptSubmit", json!({})).await;
    assert!(context(&said).contains("rejected · the person says: \"Use the helper.\""), "{said}");
    assert_eq!(hook(&next, "UserPromptSubmit", json!({})).await, Value::Null, "it was told once");
}

#[tokio::test]
async fn whatever_cannot_be_read_fails_open_and_changes_nothing() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;
    let input = edit(&path, "three", "3").to_string();
    for told in [
        json!({}),
        json!({ "event": "SessionEnd" }),
        json!({ "event": "PreToolUse", "tool": "Edit", "id": "toolu_1", "input": input[..input.len() - 9] }),
        json!({ "event": "PreToolUse", "tool": "Edit", "id": "", "input": input }),
        json!({ "event": "PreToolUse", "tool": "NotebookEdit", "id": "toolu_1", "input": input }),
        json!({ "event": "PreToolUse", "tool": "Edit", "id": "toolu_1", "input": "[".repeat(100_000) }),
        json!({ "event": "PreToolUse", "tool": "Edit", "id": "toolu_1", "input": edit(Path::new(&"d/".repeat(100_000)), "a", "b") }),
        json!({ "event": ["PreToolUse"], "tool": 7 }),
    ] {
        let answer = call(&agent, "hook", told).await;
        assert_eq!((answer.text.as_str(), answer.failed), ("", false));
    }
    assert!(editor.workspace.reviews().iter().all(|review| review.review.edits.is_empty()));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), DISK);
}

#[tokio::test]
async fn a_use_that_is_told_of_twice_is_held_once() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;
    let told = json!({ "tool": "Edit", "id": "toolu_1", "input": edit(&path, "one", "one\nmore") });
    let (first, second) =
        tokio::join!(hook(&agent, "PreToolUse", told.clone()), hook(&agent, "PreToolUse", told.clone()));
    let held = [first, second].into_iter().filter(|said| said["permissionDecision"] == "allow").count();
    assert_eq!(held, 1);
    assert_eq!(editor.workspace.reviews()[0].review.edits.len(), 1);
}

#[tokio::test]
async fn nothing_is_held_while_an_agent_plans() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let agent = place.agent().await;
    let input = edit(&path, "two, unsaved", "2");
    let told = json!({ "tool": "Edit", "id": "toolu_1", "input": input, "mode": "plan" });
    assert_eq!(hook(&agent, "PreToolUse", told).await, Value::Null);
    let words = "<tool_use_error>String to replace not found in file.";
    let calls =
        json!([{ "tool_name": "Edit", "tool_use_id": "1", "tool_input": input, "tool_response": words }]);
    assert_eq!(hook(&agent, "PostToolBatch", json!({ "calls": calls, "mode": "plan" })).await, Value::Null);
    assert!(editor.workspace.reviews().iter().all(|review| review.review.edits.is_empty()));
}

#[tokio::test]
async fn models_do_not_see_it() {
    let place = Place::new();
    let agent = place.agent().await;
    let listed = agent.list_all_tools().await.unwrap();
    assert!(listed.iter().all(|tool| tool.name != "hook"));
}

/// What others read of an edit does not tell the session that it was made in: that is what it can be taken back by.
#[tokio::test]
async fn nobody_gets_into_a_session_by_what_there_is_to_read_of_it() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let (one, other) = (place.agent().await, place.agent().await);
    used(&one, "Edit", "toolu_1", edit(&path, "three", "3")).await;
    let id = editor.workspace.reviews()[0].review.edits[0].edit.id.to_string();
    let listed = call(&other, "list_edits", json!({ "path": "a.txt" })).await;
    let review = other.read_resource(ReadResourceRequestParams::new("review://a.txt")).await.unwrap();
    let read = format!("{}{}{review:?}", listed.text, listed.meta);
    assert!(read.contains(&id) && read.contains("turn_") && !read.contains("5f9e"), "{read}");
    let turn: String =
        read.split_once("turn_").unwrap().1.chars().take_while(char::is_ascii_alphanumeric).collect();
    // Whoever takes that for a session is in another one.
    let begun =
        json!({ "agent": "claude-code", "event": "Stop", "session": format!("turn_{turn}"), "turn": "1" });
    call(&other, "hook", begun).await;
    let taken = call(&other, "withdraw_edit", json!({ "edit_id": id })).await;
    assert!(taken.failed, "{}", taken.text);
    let added = json!({ "path": path, "mcp_conversation_id": format!("turn_{turn}"), "edits": [{ "old": "one", "new": "1" }] });
    let added = call(&other, "edit_file_diff", added).await;
    assert!(added.failed, "{}", added.text);
}

#[tokio::test]
async fn a_patch_that_would_take_too_long_is_refused() {
    let place = Place::new();
    let path = place.write("a.txt", DISK);
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, &"same\n".repeat(20_000));
    let agent = place.agent().await;
    let patch = async |patch: String| {
        let told = json!({
            "agent": "codex", "event": "PreToolUse", "tool": "apply_patch", "id": "call_1", "session": "5f9e", "turn": "7",
            "cwd": place.root, "input": { "command": patch },
        });
        let answer = call(&agent, "hook", told).await.text;
        serde_json::from_str::<Value>(&answer).unwrap()["hookSpecificOutput"].clone()
    };
    let files: String = (0..300).map(|file| format!("*** Update File: f{file}\n-a\n+b\n")).collect();
    let said = patch(format!("*** Begin Patch\n{files}*** End Patch")).await;
    assert_eq!(said["permissionDecision"], "deny");
    assert!(said["permissionDecisionReason"].as_str().unwrap().contains("Send it in parts"), "{said}");
    let lines = "-same\n".repeat(10_000);
    let said =
        patch(format!("*** Begin Patch\n*** Update File: a.txt\n{lines}-other\n+b\n*** End Patch")).await;
    let reason = said["permissionDecisionReason"].as_str().unwrap();
    assert!(said["permissionDecision"] == "deny" && reason.len() < 2_000, "{said}");
    assert!(editor.workspace.reviews().iter().all(|review| review.review.edits.is_empty()));
}
