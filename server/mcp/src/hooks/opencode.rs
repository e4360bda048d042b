//! OpenCode: what hashline's plugin in it tells, which `hashline setup` writes. Read with release 1.18.33.
//!
//! It may write placeholders in its own folder alone, so they lie beside the history.

use std::path::PathBuf;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hooks::built_in::BuiltIn;
use crate::hooks::claude_code::{turn, use_id};
use crate::hooks::placeholders::PLACEHOLDER;
use crate::hooks::{Answer, Event, Moment};

/// How many lines a read shows at most unless told otherwise.
const PAGE: usize = 2000;

#[derive(Deserialize)]
struct Given {
    event: String,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    session: String,
    #[serde(default)]
    turn: String,
    #[serde(default)]
    cwd: PathBuf,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    response: Value,
}

pub(super) fn parse(given: JsonObject) -> Result<Event, String> {
    let given: Given = serde_json::from_value(Value::Object(given)).map_err(|error| error.to_string())?;
    if !given.cwd.is_absolute() {
        return Err("it has no folder".to_owned());
    }
    let moment = match given.event.as_str() {
        "before" => Moment::Before {
            id: use_id("opencode", &given.session, &given.id)?,
            tool: tool(&given.tool, given.input)?,
        },
        "after" => Moment::After {
            id: Some(use_id("opencode", &given.session, &given.id)?),
            tool: Some(tool(&given.tool, given.input)?),
            response: given.response,
        },
        "prompt" => Moment::Prompt,
        other => return Err(format!("there is no event {other:?} that it is for")),
    };
    Ok(Event { turn: turn(&given.session, &given.turn), place: Some(given.cwd.join(".mcp")), moment })
}

fn tool(name: &str, input: Value) -> Result<BuiltIn, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        file_path: String,
        #[serde(default)]
        old_string: String,
        #[serde(default)]
        new_string: String,
        #[serde(default)]
        replace_all: bool,
        #[serde(default)]
        content: String,
        offset: Option<usize>,
        limit: Option<usize>,
    }
    let input: Input = serde_json::from_value(input).map_err(|error| error.to_string())?;
    let path = input.file_path;
    Ok(match name {
        "read" => BuiltIn::Read { path, first: input.offset, count: input.limit },
        "edit" => {
            BuiltIn::Edit { path, old: input.old_string, new: input.new_string, all: input.replace_all }
        }
        "write" => BuiltIn::Write { path, content: input.content },
        other => return Err(format!("there is no tool {other:?} that it is for")),
    })
}

pub(super) fn render(event: &Event, answer: Answer) -> String {
    let output = match answer {
        Answer::NoOpinion => return String::new(),
        Answer::Refused(words) => json!({ "refused": words }),
        Answer::Held { tool: BuiltIn::Edit { .. }, file } => json!({
            "args": { "filePath": file, "oldString": "", "newString": PLACEHOLDER, "replaceAll": false },
        }),
        Answer::Held { file, .. } => json!({ "args": { "filePath": file, "content": PLACEHOLDER } }),
        Answer::Made(held) => {
            let made = match held.tool {
                BuiltIn::Write { .. } => "Wrote file successfully.",
                _ => "Edit applied successfully.",
            };
            json!({ "output": format!("{made}\n{}", held.words) })
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
        Answer::Along { .. } => return String::new(),
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
            Ok(Event { turn: Some("ses_1.msg_1".into()), place: Some("/p/.mcp".into()), moment })
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
