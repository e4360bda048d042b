//! Claude Code: hooks of the type `mcp_tool`, whose arguments are the strings that its settings name, and whose answer is JSON as a
//! command's output would be. Read with release 2.1.197.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hooks::built_in::{Arguments, BuiltIn};
use crate::hooks::hook_message::{Told, value};
use crate::hooks::placeholders::{Held, PLACEHOLDER};
use crate::hooks::structured_patch::structured_patch;
use crate::hooks::{Answer, Event, HookedProgram, Moment};

const PROGRAM: &str = "claude-code";

const BEFORE: &str = "PreToolUse";
const AFTER: &str = "PostToolUse";
const BATCH: &str = "PostToolBatch";
const PROMPT: &str = "UserPromptSubmit";

/// The mode in which nothing is to be changed.
const PLANNING: &str = "plan";

const READ: &str = "Read";
const EDIT: &str = "Edit";

/// The byte-order mark, which reads leave out.
const MARK: char = '\u{feff}';

/// How many lines a read shows at most unless told otherwise.
const PAGE: usize = 2000;

/// What an edit fails with where the file on disk is not as its agent has read it. It needs no more than this to be made on the live text:
/// what it replaces must stand there.
const OUT_OF_STEP: [&str; 2] = [
    "<tool_use_error>String to replace not found in file.",
    "<tool_use_error>File has been modified since read",
];

/// What the model reads behind an edit that is held.
const NEXT: &str = "\
The file on disk does not have it, and the Edit tool compares with the disk: for further edits of these lines use the tools of the MCP \
server hashline, by the file_hash and the anchors above.";

/// A use of a tool as it stands among all that one answer of the model has asked for.
#[derive(Deserialize)]
struct Call {
    tool_name: String,
    tool_input: Value,
    /// A text where it has failed, beside much else.
    #[serde(default)]
    tool_response: Value,
}

pub(super) fn parse(given: JsonObject) -> Result<Event, String> {
    let told = Told::read(given)?;
    let turn = told.conversation(HookedProgram::ClaudeCode);
    let moment = match told.event.as_str() {
        // Our answer overrides its permission rules, and in plan mode nothing may be written.
        BEFORE | BATCH if told.mode == PLANNING => Moment::Nothing,
        BEFORE => Moment::Before { id: told.use_id(PROGRAM)?, tool: tool(&told.tool, told.input)? },
        AFTER => Moment::After {
            id: told.use_id(PROGRAM)?,
            // Of everything else nothing is changed in what it came to.
            response: if told.tool == READ { value(told.response)? } else { Value::Null },
            tool: Some(tool(&told.tool, told.input)?),
        },
        BATCH => Moment::Failed { edits: failed(value(told.calls)?) },
        PROMPT => Moment::Prompt,
        other => return Err(format!("there is no event {other:?} that it is for")),
    };
    Ok(Event { turn, place: None, moment })
}

/// The edits that failed as the file on disk is not what they are for.
fn failed(calls: Vec<Call>) -> Vec<BuiltIn> {
    let is_out_of_step = |call: &Call| {
        let told = call.tool_response.as_str().unwrap_or_default();
        call.tool_name == EDIT && OUT_OF_STEP.iter().any(|words| told.starts_with(words))
    };
    let failed = calls.into_iter().filter(is_out_of_step);
    failed.filter_map(|call| tool(EDIT, call.tool_input).ok()).collect()
}

fn tool(name: &str, input: Value) -> Result<BuiltIn, String> {
    let arguments: Arguments = value(input)?;
    match name {
        READ => Ok(arguments.read()),
        EDIT => arguments.edit(),
        "Write" => arguments.write(),
        other => Err(format!("there is no tool {other:?} that it is for")),
    }
}

pub(super) fn render(event: &Event, answer: Answer) -> String {
    let output = match (answer, &event.moment) {
        (Answer::NoOpinion, _) => return String::new(),
        (Answer::Refused(words), _) => json!({
            "hookEventName": BEFORE, "permissionDecision": "deny", "permissionDecisionReason": words,
        }),
        (Answer::Held { tool, file }, _) => json!({
            "hookEventName": BEFORE,
            "permissionDecision": "allow",
            "permissionDecisionReason": "hashline holds it for you to decide in the editor",
            "updatedInput": placeholder(&tool, &file),
        }),
        (Answer::Made(held), _) => json!({
            "hookEventName": AFTER,
            "updatedToolOutput": made(&held),
            "additionalContext": format!("{}\n{NEXT}", held.words.trim_end()),
        }),
        (Answer::Read { live, words }, Moment::After { tool: Some(tool), response, .. }) => {
            match overlaid(tool, response, &live) {
                Some(output) => json!({
                    "hookEventName": AFTER, "updatedToolOutput": output, "additionalContext": words,
                }),
                None => return String::new(),
            }
        }
        (Answer::Read { .. } | Answer::Along { .. }, _) => return String::new(),
        (Answer::Context(words), Moment::Failed { .. }) => {
            json!({ "hookEventName": BATCH, "additionalContext": words })
        }
        (Answer::Context(words), _) => json!({ "hookEventName": PROMPT, "additionalContext": words }),
    };
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The arguments by which a tool makes the placeholder, which needs no read before as it is not there yet.
fn placeholder(tool: &BuiltIn, file: &str) -> Value {
    match tool {
        BuiltIn::Edit { .. } => {
            json!({ "file_path": file, "old_string": "", "new_string": PLACEHOLDER, "replace_all": false })
        }
        _ => json!({ "file_path": file, "content": PLACEHOLDER }),
    }
}

/// What the tool would have come to.
fn made(held: &Held) -> Value {
    let patch = structured_patch(&held.before, &held.after);
    match &held.tool {
        BuiltIn::Edit { path, old, new, all } => json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": held.before,
            "structuredPatch": patch, "userModified": false, "replaceAll": all,
        }),
        tool => json!({
            "type": "update", "filePath": tool.path(), "content": held.after, "structuredPatch": patch,
            "originalFile": held.before, "userModified": false,
        }),
    }
}

/// What a read came to, with the lines of the live text; none where they are the same, or where it is no text that was read.
fn overlaid(tool: &BuiltIn, response: &Value, live: &str) -> Option<Value> {
    let BuiltIn::Read { path, first, count } = tool else { return None };
    let (first, count) = (first.unwrap_or(1).max(1), count.filter(|count| *count > 0));
    let live = live.trim_start_matches(MARK).replace("\r\n", "\n");
    let lines: Vec<&str> = live.split('\n').collect();
    let from = (first - 1).min(lines.len());
    let shown = |count: usize| {
        let to = from.saturating_add(count).min(lines.len());
        (lines[from..to].join("\n"), to - from)
    };
    let (content, count) = match response.get("type")?.as_str()? {
        "text" => {
            let file = response.get("file")?;
            let number = |name: &str| usize::try_from(file.get(name)?.as_u64()?).ok();
            let (read, all) = (number("numLines")?, number("totalLines")?);
            // What was read to the end is read to the end.
            let is_page = count.is_none() && first - 1 + read < all;
            let (content, count) = shown(count.unwrap_or(if is_page { read } else { usize::MAX }));
            if file.get("content")?.as_str()? == content {
                return None;
            }
            (content, count)
        }
        // It has read the same from the disk before, and shows nothing.
        "file_unchanged" => shown(count.unwrap_or(PAGE)),
        _ => return None,
    };
    Some(json!({ "type": "text", "file": {
        "filePath": path, "content": content, "numLines": count, "startLine": first, "totalLines": lines.len(),
    }}))
}

#[cfg(test)]
mod tests {
    use crate::hooks::conversation;
    use crate::hooks::placeholders::UseId;

    use super::*;

    fn given(value: Value) -> JsonObject {
        let Value::Object(given) = value else { panic!("no object") };
        given
    }

    #[test]
    fn what_it_tells_is_read_as_it_sends_it() {
        let event = parse(given(json!({
            "agent": "claude-code", "event": "PreToolUse", "tool": "Edit", "id": "toolu_1",
            "session": "5f9e", "turn": "77aa", "cwd": "/p", "response": "",
            "input": "{\"file_path\":\"/p/a\",\"old_string\":\"x\",\"new_string\":\"y\",\"replace_all\":false}",
        })));
        let tool = BuiltIn::Edit { path: "/p/a".into(), old: "x".into(), new: "y".into(), all: false };
        let id = UseId::new("claude-code", "5f9e", "toolu_1");
        let moment = Moment::Before { id, tool };
        assert_eq!(
            event,
            Ok(Event { turn: conversation(HookedProgram::ClaudeCode, "5f9e", "77aa"), place: None, moment })
        );
        let prompt = parse(given(json!({ "event": "UserPromptSubmit", "session": "5f9e", "turn": "" })));
        assert_eq!(prompt, Ok(Event { turn: None, place: None, moment: Moment::Prompt }));
    }

    #[test]
    fn nothing_is_held_while_it_plans() {
        let edit = |mode: &str| {
            let input = json!({ "file_path": "/p/a", "old_string": "x", "new_string": "y" });
            let given = json!({
                "event": "PreToolUse", "tool": "Edit", "id": "1", "mode": mode, "input": input.to_string(),
            });
            parse(self::given(given)).unwrap().moment
        };
        assert_eq!(edit("plan"), Moment::Nothing);
        assert_ne!(edit("default"), Moment::Nothing);
    }

    #[test]
    fn what_it_cannot_have_meant_is_said() {
        for (value, words) in [
            (json!({}), "event"),
            (json!({ "event": "Whatever" }), "Whatever"),
            (json!({ "event": "PreToolUse", "tool": "Edit", "id": "", "input": "{}" }), "no id"),
            (json!({ "event": "PreToolUse", "tool": "Edit", "id": "1", "input": "{\"file_path\":" }), "EOF"),
            (json!({ "event": "PreToolUse", "tool": "Edit", "id": "1", "input": "{}" }), "file_path"),
            (
                json!({ "event": "PreToolUse", "tool": "NotebookEdit", "id": "1", "input": "{\"file_path\":\"a\"}" }),
                "NotebookEdit",
            ),
            (json!({ "event": 7 }), "integer"),
        ] {
            let error = parse(given(value)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn only_edits_that_are_for_another_text_than_the_disks_are_made_on_the_live_one() {
        let edit = |told: &str| {
            let input =
                json!({ "file_path": "/p/a", "old_string": "x", "new_string": "y", "replace_all": false });
            json!({ "tool_name": "Edit", "tool_input": input, "tool_use_id": "1", "tool_response": told })
        };
        let calls = json!([
            edit("<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"),
            edit("<tool_use_error>File has been modified since read, either by the user or by a linter.</tool_use_error>"),
            edit("<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"),
            edit("The file /p/a has been updated successfully."),
            { "tool_name": "Read", "tool_input": { "file_path": "/p/a" }, "tool_response": { "type": "text" } },
            { "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": "<tool_use_error>String to replace not found in file." },
        ]);
        let event = parse(given(json!({ "event": "PostToolBatch", "calls": calls.to_string() }))).unwrap();
        let tool = BuiltIn::Edit { path: "/p/a".into(), old: "x".into(), new: "y".into(), all: false };
        assert_eq!(event.moment, Moment::Failed { edits: vec![tool.clone(), tool] });
    }

    #[test]
    fn a_read_shows_the_lines_of_the_live_text() {
        let read = |first, count| BuiltIn::Read { path: "/p/a".into(), first, count };
        let text = |content: &str, first: usize, count: usize, all: usize| {
            json!({ "type": "text", "file": {
                "filePath": "/p/a", "content": content, "numLines": count, "startLine": first, "totalLines": all,
            }})
        };
        let unchanged = json!({ "type": "file_unchanged", "file": { "filePath": "/p/a" } });
        let live = "zero\r\none\r\ntwo\r\n";
        for (tool, was, shown) in [
            (read(None, None), text("one\ntwo\n", 1, 3, 3), Some(("zero\none\ntwo\n", 1, 4))),
            (read(None, None), text("one", 1, 1, 3), Some(("zero", 1, 1))),
            (read(Some(1), Some(1)), text("one", 1, 1, 3), Some(("zero", 1, 1))),
            (read(Some(2), None), text("two\n", 2, 2, 3), Some(("one\ntwo\n", 2, 3))),
            (read(None, None), text("zero\none\ntwo\n", 1, 4, 4), None),
            (read(Some(9), None), text("", 9, 1, 9), None),
            (read(None, None), unchanged.clone(), Some(("zero\none\ntwo\n", 1, 4))),
            (read(Some(2), Some(1)), unchanged, Some(("one", 2, 1))),
            (read(None, None), json!({ "type": "image", "file": {} }), None),
        ] {
            let shown = shown.map(|(content, first, count)| text(content, first, count, 4));
            assert_eq!(overlaid(&tool, &was, live), shown, "{tool:?} {was}");
        }
    }
}
