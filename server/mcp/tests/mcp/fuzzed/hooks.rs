//! What programs tell by hooks, of any form: it is answered in their own form or passed over, and no file is changed by it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_mcp::{HookedProgram, Router, answer_command};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Choice, Request, Target};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{put, stranger, trap};
use crate::attacks::SECRET;
use crate::cases::fuzz;
use crate::desk::uri;

const DISK: &str = "own\n";
const LIVE: &str = "own\nunsaved\n";

/// The moments of which each program tells, and its tools.
const PROGRAMS: [(HookedProgram, &[&str], &[&str]); 4] = [
    (
        HookedProgram::ClaudeCode,
        &["PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit"],
        &["Edit", "Write", "Read"],
    ),
    (HookedProgram::Codex, &["PreToolUse", "PostToolUse", "UserPromptSubmit"], &["apply_patch", "Bash"]),
    (
        HookedProgram::Gemini,
        &["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"],
        &["replace", "write_file", "read_file"],
    ),
    (HookedProgram::OpenCode, &["before", "after", "prompt"], &["edit", "write", "read", "apply_patch"]),
];

/// What each program tells of each of its tools, used on a file, in each moment: each reads what is its own.
fn told(path: &Path) -> Vec<(HookedProgram, Value)> {
    let root = path.parent().unwrap();
    let patch =
        format!("*** Begin Patch\n*** Update File: {}\n@@\n-unsaved\n+held\n*** End Patch", path.display());
    let tell = |moment: &str, tool: &str| {
        let command =
            if tool == "Bash" { format!("apply_patch <<'EOF'\n{patch}\nEOF") } else { patch.clone() };
        let input = if moment.starts_with(char::is_lowercase) {
            json!({ "filePath": path, "oldString": "unsaved", "newString": "held", "content": "all new\n", "patchText": patch })
        } else {
            json!({
                "file_path": path, "old_string": "unsaved", "new_string": "held", "content": "all new\n", "command": command,
            })
        };
        let call = json!({
            "tool_name": tool, "tool_input": input,
            "tool_response": "<tool_use_error>String to replace not found in file.",
        });
        json!({
            "event": moment, "hook_event_name": moment, "tool": tool, "tool_name": tool, "id": "use_1", "session": "5f9e",
            "session_id": "5f9e", "turn": "77aa", "mode": "default", "cwd": root, "input": input, "tool_input": input,
            "response": { "type": "text", "file": { "content": DISK, "startLine": 1, "totalLines": 2 } },
            "tool_response": { "llmContent": DISK }, "calls": [call], "transcript_path": root.join("new/chats/log.json"),
        })
    };
    let of_program = |(program, moments, tools): (HookedProgram, &[&str], &[&str])| {
        let all = moments.iter().flat_map(|moment| tools.iter().map(|tool| tell(moment, tool)));
        all.map(|told| (program, told)).collect::<Vec<_>>()
    };
    PROGRAMS.into_iter().flat_map(of_program).collect()
}

/// The files in a folder and what is in them, links left alone; none of what hashline keeps for itself.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && ![".mcp", "keys"].iter().any(|own| path.ends_with(own)) {
            found.extend(files(&path));
        } else if kind.is_file() {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

/// What Claude Code tells of a read of a file.
fn read(path: &Path) -> JsonObject {
    let response = json!({ "type": "text", "file": {
        "filePath": path, "content": DISK, "numLines": 2, "startLine": 1, "totalLines": 2,
    }});
    let told = json!({
        "event": "PostToolUse", "tool": "Read", "id": "use_2", "session": "5f9e", "turn": "77aa",
        "input": { "file_path": path }, "response": response,
    });
    told.as_object().unwrap().clone()
}

#[test]
fn a_hook_is_answered_or_passed_over_and_changes_no_file() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let _entered = runtime.enter();
    let place = trap();
    let path = place.root.join("a.txt");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, LIVE);
    let roots = Roots::open([&place.root]).unwrap();
    let router = Router::new(&roots, true, Settings::default(), place.state()).unwrap();
    let all_files = || [&place.root, &place.root.with_file_name("outside")].map(|folder| files(folder));
    let before = all_files();
    let mutation = (prop::collection::vec(any::<Index>(), 1..5), stranger());
    let input = (select(told(&path)), prop::collection::vec(mutation, 0..3));
    let own_words = |said: &str| !said.is_empty() && serde_json::from_str::<Value>(said).is_err();
    fuzz(file!(), input, |((program, mut told), mutations)| {
        for (ways, stranger) in mutations {
            put(&mut told, &ways, stranger);
        }
        let shown = format!("{program:?} {told}");
        let Value::Object(told) = told else { return Ok(()) };
        let answer = tokio::time::timeout(Duration::from_secs(30), answer_command(&router, program, told));
        let Ok(answer) = runtime.block_on(answer) else {
            return Err(TestCaseError::fail(format!("never answered: {shown}")));
        };
        prop_assert!(!own_words(&answer), "{}: {}", shown, answer);
        prop_assert!(!answer.contains(SECRET.trim_end()), "{}: {}", shown, answer);
        prop_assert_eq!(&all_files(), &before, "{}", shown);
        let (_, text) = editor.workspace.text_of(&uri(&path)).unwrap();
        prop_assert_eq!(text.to_string(), LIVE, "{}", shown);
        // What is held would become more and more.
        runtime
            .block_on(editor.workspace.decide(Some(&uri(&path)), &Request::of(Choice::Reject, Target::All)));
        Ok(())
    });
    let answer = runtime.block_on(answer_command(&router, HookedProgram::ClaudeCode, read(&path)));
    assert!(answer.contains("unsaved"), "it answers on: {answer}");
}
