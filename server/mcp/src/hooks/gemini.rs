//! Gemini CLI: hooks that are commands, which read JSON and answer with JSON. Read with release 0.61.0.
//!
//! It may write placeholders in its temporary folder of the project. What a tool came to cannot be replaced by words, but by what another
//! tool comes to: it reads them from a file there, which goes when the turn ends.

use std::path::{Path, PathBuf};

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hooks::built_in::{Arguments, BuiltIn};
use crate::hooks::hook_message::value;
use crate::hooks::placeholders::{PLACEHOLDER, Placeholders, UseId};
use crate::hooks::{Answer, Event, HookedProgram, Moment, conversation};

const PROGRAM: &str = "gemini";

const BEFORE: &str = "BeforeTool";
const AFTER: &str = "AfterTool";
const PROMPT: &str = "BeforeAgent";
const END: &str = "AfterAgent";

#[derive(Deserialize)]
struct Given {
    hook_event_name: String,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    transcript_path: PathBuf,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    tool_response: Value,
}

pub(super) fn parse(given: JsonObject) -> Result<Event, String> {
    let given: Given = value(Value::Object(given))?;
    let place = given.transcript_path.parent().and_then(Path::parent).filter(|place| place.is_absolute());
    let place = place.ok_or("it has no temporary folder")?.to_owned();
    // It has no names for uses: one is known again by what is asked for.
    let asked = format!("{} {}", given.tool_name, given.tool_input);
    let id = UseId::new(PROGRAM, &given.session_id, &asked);
    let moment = match given.hook_event_name.as_str() {
        BEFORE => Moment::Before { id, tool: tool(&given.tool_name, given.tool_input)? },
        AFTER => {
            let tool = tool(&given.tool_name, given.tool_input)?;
            let id = UseId::of_placeholder(tool.path()).unwrap_or(id);
            Moment::After { id, tool: Some(tool), response: given.tool_response }
        }
        PROMPT => Moment::Prompt,
        END => Moment::TurnEnd,
        other => return Err(format!("there is no event {other:?} that it is for")),
    };
    // It names no turns.
    let turn = conversation(HookedProgram::Gemini, &given.session_id, "");
    Ok(Event { turn, place: Some(place), moment })
}

fn tool(name: &str, input: Value) -> Result<BuiltIn, String> {
    let arguments: Arguments = value(input)?;
    match name {
        "read_file" => Ok(arguments.read()),
        "replace" => arguments.edit(),
        "write_file" => arguments.write(),
        other => Err(format!("there is no tool {other:?} that it is for")),
    }
}

pub(super) fn render(event: &Event, answer: Answer, placeholders: &Placeholders) -> String {
    let output = match answer {
        Answer::NoOpinion => return String::new(),
        Answer::Refused(words) => return json!({ "decision": "deny", "reason": words }).to_string(),
        Answer::Held { tool: BuiltIn::Edit { .. }, file } => json!({
            "hookEventName": BEFORE,
            "tool_input": { "file_path": file, "instruction": PLACEHOLDER, "old_string": "", "new_string": PLACEHOLDER },
        }),
        Answer::Held { file, .. } => json!({
            "hookEventName": BEFORE, "tool_input": { "file_path": file, "content": PLACEHOLDER },
        }),
        Answer::Made(held) => {
            let words = format!("{} was changed as you asked.\n{}", held.tool.path(), held.words);
            match placeholders.tell(&words) {
                Ok(file) => instead(&file, None, None),
                Err(why) => {
                    json!({ "hookEventName": AFTER, "additionalContext": format!("{words} ({why})") })
                }
            }
        }
        Answer::Read { live, words } => match &event.moment {
            Moment::After { tool: Some(BuiltIn::Read { first, count, .. }), response, .. }
                if !reads(response, &live) =>
            {
                match placeholders.tell(&live) {
                    Ok(file) => instead(&file, *first, *count),
                    Err(why) => {
                        tracing::warn!("a read shows the file on disk: {why}");
                        json!({ "hookEventName": AFTER, "additionalContext": words })
                    }
                }
            }
            _ => return String::new(),
        },
        Answer::Context(words) => json!({ "hookEventName": PROMPT, "additionalContext": words }),
        Answer::Along { .. } => return String::new(),
    };
    json!({ "hookSpecificOutput": output }).to_string()
}

/// Whether the model has read the live text.
fn reads(response: &Value, live: &str) -> bool {
    response["llmContent"].as_str() == Some(live)
}

/// Has the model read lines of a file in the place of what its tool came to.
fn instead(file: &str, first: Option<usize>, count: Option<usize>) -> Value {
    let mut args = json!({ "file_path": file });
    if let Some(first) = first {
        args["start_line"] = first.into();
    }
    if let Some(count) = count {
        args["end_line"] = first.unwrap_or(1).saturating_add(count).saturating_sub(1).into();
    }
    json!({ "hookEventName": AFTER, "tailToolCallRequest": { "name": "read_file", "args": args } })
}

#[cfg(test)]
mod tests {
    use hashline_link::StateDir;

    use super::*;

    fn told(event: &str, tool: &str, input: &Value) -> Result<Event, String> {
        let given = json!({
            "hook_event_name": event, "session_id": "5f9e", "cwd": "/p",
            "transcript_path": "/h/.gemini/tmp/p/chats/session.json", "tool_name": tool, "tool_input": input,
        });
        let Value::Object(given) = given else { panic!("no object") };
        parse(given)
    }

    #[test]
    fn what_it_tells_is_read_as_it_sends_it() {
        let input = json!({ "file_path": "/p/a", "instruction": "i", "old_string": "x", "new_string": "y" });
        let event = told("BeforeTool", "replace", &input).unwrap();
        assert_eq!(event.place, Some(PathBuf::from("/h/.gemini/tmp/p")));
        let tool = BuiltIn::Edit { path: "/p/a".into(), old: "x".into(), new: "y".into(), all: false };
        assert!(matches!(&event.moment, Moment::Before { tool: read, .. } if *read == tool), "{event:?}");
        let name = format!("/h/.gemini/tmp/p/hashline-held-{}", "a".repeat(64));
        let event = told("AfterTool", "write_file", &json!({ "file_path": name, "content": "" })).unwrap();
        let id = UseId::of_placeholder(&name).unwrap();
        assert!(matches!(&event.moment, Moment::After { id: read, .. } if *read == id), "{event:?}");
        // Of a write that went where it was meant to go both tell the same.
        let of = |event: &str| match told(event, "replace", &input).unwrap().moment {
            Moment::Before { id, .. } | Moment::After { id, .. } => id,
            other => panic!("{other:?}"),
        };
        assert_eq!(of("BeforeTool"), of("AfterTool"));
        let input = json!({ "file_path": "/p/a", "start_line": 3, "end_line": 5 });
        let event = told("AfterTool", "read_file", &input).unwrap();
        let tool = BuiltIn::Read { path: "/p/a".into(), first: Some(3), count: Some(3) };
        assert!(
            matches!(&event.moment, Moment::After { tool: Some(read), .. } if *read == tool),
            "{event:?}"
        );
        assert!(told("BeforeTool", "run_shell_command", &json!({})).is_err());
        assert!(told("Notification", "", &json!({})).is_err());
    }

    #[test]
    fn the_live_text_is_read_from_a_file_in_the_place_of_the_disks() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path())).unwrap();
        let placeholders = Placeholders::new(&state, Some(temp.path()));
        let mut event =
            told("AfterTool", "read_file", &json!({ "file_path": "/p/a", "start_line": 2, "end_line": 3 }));
        if let Ok(Event { moment: Moment::After { response, .. }, .. }) = &mut event {
            *response = json!({ "llmContent": "disk" });
        }
        let event = event.unwrap();
        let read = |live: &str| {
            render(&event, Answer::Read { live: live.into(), words: String::new() }, &placeholders)
        };
        let said: Value = serde_json::from_str(&read("live")).unwrap();
        let tail = &said["hookSpecificOutput"]["tailToolCallRequest"];
        assert_eq!(
            (&tail["name"], &tail["args"]["start_line"], &tail["args"]["end_line"]),
            (&json!("read_file"), &json!(2), &json!(3))
        );
        let file = tail["args"]["file_path"].as_str().unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "live");
        assert_eq!(read("disk"), "");
    }
}
