//! The hooks by which an agent's program tells hashline what it does with its own tools, in a file of JSON: nothing else in it changes.

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Value, json};

use super::NAME;
use super::json_server_entry::{input, is_bare, parse, parted};

/// The tool of the server that hooks call.
const TOOL: &str = "hook";
/// How long the agent's program waits for an answer, in seconds; then it goes on as if there were no hook.
const TIMEOUT: u64 = 10;

/// A hook: what it is told of, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub event: &'static str,
    pub entry: Value,
}

/// Those of Claude Code.
pub fn claude_code() -> Vec<Hook> {
    let hook = |event: &'static str, matcher: Option<&str>, told: &[(&str, &str)]| {
        let mut input = json!({
            "agent": "claude-code", "event": event, "session": "${session_id}", "turn": "${prompt_id}",
        });
        for (name, value) in told {
            input[*name] = (*value).into();
        }
        called(event, matcher, &input)
    };
    let used = [("tool", "${tool_name}"), ("id", "${tool_use_id}"), ("input", "${tool_input}")];
    let asked = [used.as_slice(), &[("mode", "${permission_mode}")]].concat();
    let answered = [used.as_slice(), &[("response", "${tool_response}")]].concat();
    vec![
        hook("PreToolUse", Some("Edit|Write"), &asked),
        hook("PostToolUse", Some("Read|Edit|Write"), &answered),
        hook("PostToolBatch", None, &[("calls", "${tool_calls}"), ("mode", "${permission_mode}")]),
        hook("UserPromptSubmit", None, &[]),
    ]
}

/// Those of Codex. A value that the moment does not have would fail a hook, so each names what it needs.
pub fn codex() -> Vec<Hook> {
    let hook = |event: &'static str, matcher: Option<&str>, told: &[(&str, &str)]| {
        let mut input = json!({ "agent": "codex", "event": event, "session": "${session_id}", "turn": "${turn_id}", "cwd": "${cwd}" });
        for (name, value) in told {
            input[*name] = (*value).into();
        }
        called(event, matcher, &input)
    };
    let used = [("tool", "${tool_name}"), ("id", "${tool_use_id}"), ("input", "${tool_input}")];
    vec![
        hook("PreToolUse", Some("apply_patch|Bash"), &used),
        hook("PostToolUse", Some("apply_patch|Bash"), &used[..2]),
        hook("UserPromptSubmit", None, &[]),
    ]
}

/// A hook that calls the tool of the server.
fn called(event: &'static str, matcher: Option<&str>, input: &Value) -> Hook {
    let handler =
        json!({ "type": "mcp_tool", "server": NAME, "tool": TOOL, "timeout": TIMEOUT, "input": input });
    let mut entry = json!({ "hooks": [handler] });
    if let Some(matcher) = matcher {
        entry["matcher"] = matcher.into();
    }
    Hook { event, entry }
}

/// Those of Gemini CLI, each of which starts a command.
pub fn gemini(command: &str) -> Vec<Hook> {
    let hook = |event: &'static str, matcher: Option<&str>| {
        // Where the program is gone it is to go on all the same. Every shell takes this.
        let command = format!("{} hook gemini || exit 0", quoted(command));
        let milliseconds = TIMEOUT * 1000;
        let handler = json!({ "name": NAME, "type": "command", "command": command, "timeout": milliseconds });
        let mut entry = json!({ "hooks": [handler] });
        if let Some(matcher) = matcher {
            entry["matcher"] = matcher.into();
        }
        Hook { event, entry }
    };
    vec![
        hook("BeforeTool", Some("replace|write_file")),
        hook("AfterTool", Some("read_file|replace|write_file")),
        hook("BeforeAgent", None),
        hook("AfterAgent", None),
    ]
}

/// A program as a shell takes it.
fn quoted(command: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/\\.:_-+~".contains(char);
    if command.chars().all(is_plain) { command.to_owned() } else { format!("\"{command}\"") }
}

/// The text with the hooks in it.
pub fn with(text: Option<&str>, hooks: &[Hook]) -> Result<Option<String>, String> {
    let (mark, text) = parted(text.unwrap_or_default());
    let root = parse(text)?;
    let all = root.object_value_or_create().ok_or("it holds no JSON object")?;
    let all = all.object_value_or_create("hooks").ok_or("\"hooks\" in it is no object")?;
    for Hook { event, entry } in hooks {
        let list = all.array_value_or_create(event).ok_or_else(|| format!("{event:?} in it is no list"))?;
        let own = own_entries(&list);
        if own.iter().any(|own| own.to_serde_value().as_ref() == Some(entry)) {
            continue;
        }
        take_out(&list);
        list.append(input(entry));
    }
    let mut out = format!("{mark}{root}");
    if text.trim().is_empty() {
        out = format!("{mark}{}\n", root.to_string().trim());
    }
    Ok(Some(out))
}

/// The text without them; none if nothing else is in it.
pub fn without(text: Option<&str>) -> Result<Option<String>, String> {
    let Some(whole) = text else { return Ok(None) };
    let (mark, text) = parted(whole);
    let root = parse(text)?;
    let object = root.object_value().ok_or("it holds no JSON object")?;
    let Some(all) = object.object_value("hooks") else { return Ok(Some(whole.to_owned())) };
    let mut found = false;
    for property in all.properties() {
        let Some(list) = property.array_value() else { continue };
        let taken = take_out(&list);
        found |= taken;
        if taken && list.elements().is_empty() {
            property.remove();
        }
    }
    if !found {
        return Ok(Some(whole.to_owned()));
    }
    if all.properties().is_empty()
        && let Some(property) = object.get("hooks")
    {
        property.remove();
    }
    Ok((!is_bare(&root, text)).then(|| format!("{mark}{root}")))
}

/// What to put into a file by hand.
pub fn snippet(hooks: &[Hook]) -> String {
    with(None, hooks).ok().flatten().unwrap_or_default()
}

/// The entries of a list that call hashline and nothing else.
fn own_entries(list: &CstArray) -> Vec<CstNode> {
    let is_own = |entry: &CstNode| {
        handlers(entry).is_some_and(|handlers| {
            !handlers.elements().is_empty() && handlers.elements().iter().all(is_ours)
        })
    };
    list.elements().into_iter().filter(is_own).collect()
}

/// Takes hashline's hooks out of a list; false if there are none.
fn take_out(list: &CstArray) -> bool {
    let own = own_entries(list);
    let mut found = !own.is_empty();
    own.into_iter().for_each(CstNode::remove);
    // The person may have put one beside hooks of theirs.
    for handlers in list.elements().iter().filter_map(handlers) {
        for handler in handlers.elements().into_iter().filter(is_ours) {
            handler.remove();
            found = true;
        }
    }
    found
}

fn handlers(entry: &CstNode) -> Option<CstArray> {
    entry.as_object().and_then(|entry: CstObject| entry.array_value("hooks"))
}

fn is_ours(handler: &CstNode) -> bool {
    let handler = handler.to_serde_value().unwrap_or_default();
    let starts = |command: &str| command.contains(" hook gemini");
    (handler["server"] == NAME && handler["tool"] == TOOL)
        || (handler["name"] == NAME && handler["command"].as_str().is_some_and(starts))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_new_file_has_the_hooks_alone_and_goes_with_them() {
        let made = with(None, &claude_code()).unwrap().unwrap();
        let value: Value = serde_json::from_str(&made).unwrap();
        let before = &value["hooks"]["PreToolUse"][0];
        assert_eq!(before["matcher"], "Edit|Write");
        assert_eq!(before["hooks"][0]["type"], "mcp_tool");
        assert_eq!(before["hooks"][0]["input"]["id"], "${tool_use_id}");
        assert_eq!(with(Some(&made), &claude_code()).unwrap().as_deref(), Some(made.as_str()), "again");
        assert_eq!(without(Some(&made)), Ok(None));
        assert_eq!(without(None), Ok(None));
    }

    #[test]
    fn hooks_of_others_stay_where_they_are() {
        let theirs = r#"{
  // mine
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "check" }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "bell" }] }]
  },
  "model": "x"
}
"#;
        let made = with(Some(theirs), &claude_code()).unwrap().unwrap();
        assert!(made.contains("// mine") && made.contains("bell") && made.contains("check"), "{made}");
        assert_eq!(without(Some(&made)).unwrap().as_deref(), Some(theirs));
        assert_eq!(without(Some(theirs)).unwrap().as_deref(), Some(theirs));
    }

    #[test]
    fn stale_hooks_are_renewed_and_one_beside_theirs_is_taken_out_alone() {
        let stale = r#"{"hooks": {"PreToolUse": [
            {"matcher": "Edit", "hooks": [{"type": "mcp_tool", "server": "hashline", "tool": "hook"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "check"},
                                          {"type": "mcp_tool", "server": "hashline", "tool": "hook"}]}
        ]}}"#;
        let renewed: Value =
            serde_json::from_str(&with(Some(stale), &claude_code()).unwrap().unwrap()).unwrap();
        let list = renewed["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!(list[0]["hooks"], json!([{ "type": "command", "command": "check" }]));
        assert_eq!(list[1], claude_code()[0].entry);
        let left: Value = serde_json::from_str(&without(Some(stale)).unwrap().unwrap()).unwrap();
        let theirs = json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": "check" }] });
        assert_eq!(left, json!({ "hooks": { "PreToolUse": [theirs] } }));
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for text in ["{", "[]", r#"{"hooks": []}"#, r#"{"hooks": {"PreToolUse": {}}}"#] {
            assert!(with(Some(text), &claude_code()).is_err(), "{text}");
        }
        assert!(without(Some("{")).is_err());
    }
}
