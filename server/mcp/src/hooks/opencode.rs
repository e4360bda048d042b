//! OpenCode: what hashline's plugin in it tells, which `hashline setup` writes. Read with release 1.18.33.
//!
//! It may write placeholders in its own folder alone, so they lie beside the history.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::hooks::apply_patch::{Form, Patch};
use crate::hooks::built_in::{Arguments, BuiltIn};
use crate::hooks::hook_message::{Told, value};
use crate::hooks::placeholders::PLACEHOLDER;
use crate::hooks::{Answer, Event, HookedProgram, Moment};

const PROGRAM: &str = "opencode";
/// The tool that some models are given in the place of those for edits.
const PATCH: &str = "apply_patch";

/// How many lines a read shows at most unless told otherwise.
const PAGE: usize = 2000;

pub(super) fn parse(given: JsonObject) -> Result<Event, String> {
    let told = Told::read(given)?;
    let folder = told.folder()?.to_owned();
    let conversation = told.conversation(HookedProgram::OpenCode);
    let moment = match told.event.as_str() {
        "before" if told.tool == PATCH => {
            let patch = told.input["patchText"].as_str().and_then(Patch::parse);
            let folder = folder.clone();
            match patch {
                Some(patch) => Moment::Patch { id: told.use_id(PROGRAM)?, patch, folder, form: Form::Tool },
                // It says itself what is wrong with it.
                None => Moment::Nothing,
            }
        }
        "before" => Moment::Before { id: told.use_id(PROGRAM)?, tool: tool(&told.tool, told.input)? },
        "after" if told.tool == PATCH => {
            Moment::After { id: told.use_id(PROGRAM)?, tool: None, response: told.response }
        }
        "after" => Moment::After {
            id: told.use_id(PROGRAM)?,
            tool: Some(tool(&told.tool, told.input)?),
            response: told.response,
        },
        "prompt" => Moment::Prompt,
        other => return Err(format!("there is no event {other:?} that it is for")),
    };
    Ok(Event { turn: conversation, place: Some(folder.join(".mcp")), moment })
}

fn tool(name: &str, input: Value) -> Result<BuiltIn, String> {
    let arguments: Arguments = value(input)?;
    match name {
        "read" => Ok(arguments.read()),
        "edit" => arguments.edit(),
        "write" => arguments.write(),
        other => Err(format!("there is no tool {other:?} that it is for")),
    }
}

pub(super) fn render(event: &Event, answer: Answer) -> String {
    let output = match answer {
        Answer::NoOpinion => return String::new(),
        Answer::Refused(words) => json!({ "refused": words }),
        Answer::Held { tool, file } => json!({ "args": match (&event.moment, tool) {
            (Moment::Patch { .. }, _) => json!({ "patchText": Patch::making(&file, PLACEHOLDER) }),
            (_, BuiltIn::Edit { .. }) => {
                json!({ "filePath": file, "oldString": "", "newString": PLACEHOLDER, "replaceAll": false })
            }
            _ => json!({ "filePath": file, "content": PLACEHOLDER }),
        }}),
        // The plugin tells the words behind what the tool comes to.
        Answer::Along { kept, words } => json!({ "args": { "patchText": kept }, "told": words }),
        Answer::Made(held) => {
            let made = match held.tool {
                BuiltIn::Edit { .. } => "Edit applied successfully.\n",
                BuiltIn::Write { .. } => "Wrote file successfully.\n",
                // Its words begin so.
                BuiltIn::Patch { .. } | BuiltIn::Read { .. } => "",
            };
            json!({ "output": format!("{made}{}", held.words) })
        }
        Answer::Read { live, words } => match &event.moment {
            Moment::After { tool: Some(BuiltIn::Read { path, first, count }), response, .. } => {
                let shown = shown(path, &live, *first, *count);
                if response.as_str() == Some(shown.as_str()) {
                    return String::new();
                }
                json!({ "output": format!("{shown}\n{words}") })
            }
            _ => return String::new(),
        },
        Answer::Context(words) => json!({ "context": words }),
    };
    output.to_string()
}

/// Lines of a text as its read tool shows them.
fn shown(path: &str, text: &str, first: Option<usize>, count: Option<usize>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = first.unwrap_or(1).saturating_sub(1).min(lines.len());
    let to = from.saturating_add(count.unwrap_or(PAGE)).min(lines.len());
    let numbered: String = (from..to).map(|at| format!("{}: {}\n", at + 1, lines[at])).collect();
    let rest = if to == lines.len() {
        format!("(End of file - total {to} lines)")
    } else {
        format!("(Showing lines {}-{to} of {}. Use offset={} to continue.)", from + 1, lines.len(), to + 1)
    };
    format!("<path>{path}</path>\n<type>file</type>\n<content>\n{numbered}\n{rest}\n</content>")
}

#[cfg(test)]
mod tests {
    use crate::hooks::conversation;
    use crate::hooks::placeholders::UseId;

    use super::*;

    fn told(given: Value) -> Result<Event, String> {
        let Value::Object(given) = given else { panic!("no object") };
        parse(given)
    }

    #[test]
    fn what_the_plugin_tells_is_read() {
        let input = json!({ "filePath": "/p/a", "oldString": "x", "newString": "y", "replaceAll": true });
        let event = told(json!({
            "event": "before", "tool": "edit", "id": "call_1", "session": "ses_1", "turn": "msg_1", "cwd": "/p",
            "input": input,
        }));
        let tool = BuiltIn::Edit { path: "/p/a".into(), old: "x".into(), new: "y".into(), all: true };
        let moment = Moment::Before { id: UseId::new("opencode", "ses_1", "call_1"), tool };
        assert_eq!(
            event,
            Ok(Event {
                turn: conversation(HookedProgram::OpenCode, "ses_1", "msg_1"),
                place: Some("/p/.mcp".into()),
                moment
            })
        );
        assert!(
            told(json!({ "event": "before", "tool": "bash", "id": "1", "cwd": "/p", "input": {} })).is_err()
        );
        assert!(told(json!({ "event": "prompt" })).is_err(), "it does not say where");
    }

    #[test]
    fn a_read_shows_the_live_text_as_its_tool_does() {
        let all = "<path>/p/a</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n(End of file - total 2 lines)\n</content>";
        assert_eq!(shown("/p/a", "one\r\ntwo\r\n", None, None), all);
        let part = shown("/p/a", "one\ntwo\nthree\n", Some(2), Some(1));
        assert!(part.contains("\n2: two\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)"), "{part}");
        let event = told(json!({
            "event": "after", "tool": "read", "id": "1", "cwd": "/p", "input": { "filePath": "/p/a" }, "response": all,
        }))
        .unwrap();
        let read = |live: &str| render(&event, Answer::Read { live: live.into(), words: "live".into() });
        assert_eq!(read("one\ntwo\n"), "");
        assert!(read("one\n2\n").contains("2: 2"));
    }
}
