//! Codex: hooks of the type `mcp_tool`, whose arguments are values. Read with release 0.169.0.
//!
//! It writes files by patches alone, of several files each. Models that it does not know have no tool for them and start a command
//! `apply_patch` in a shell, which Codex carries out by itself. It may write placeholders in the project alone, so they lie beside the
//! history.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::hooks::apply_patch::{Form, Patch};
use crate::hooks::hook_message::Told;
use crate::hooks::placeholders::PLACEHOLDER;
use crate::hooks::{Answer, Event, HookedProgram, Moment};

const PROGRAM: &str = "codex";

const BEFORE: &str = "PreToolUse";
const AFTER: &str = "PostToolUse";
const PROMPT: &str = "UserPromptSubmit";

const SHELL: &str = "Bash";
/// What a shell is told to hand a patch over.
const HEREDOC: &str = "apply_patch <<'EOF'\n";

pub(super) fn parse(given: JsonObject) -> Result<Event, String> {
    let told = Told::read(given)?;
    let moment = match told.event.as_str() {
        BEFORE => {
            let form = if told.tool == SHELL { Form::Shell } else { Form::Tool };
            let command = told.input["command"].as_str().ok_or("it has no command")?;
            match patch(command, form) {
                Some(patch) => {
                    let folder = told.folder()?.to_owned();
                    Moment::Patch { id: told.use_id(PROGRAM)?, patch, folder, form }
                }
                None => Moment::Nothing,
            }
        }
        AFTER => Moment::After { id: told.use_id(PROGRAM)?, tool: None, response: Value::Null },
        PROMPT => Moment::Prompt,
        other => return Err(format!("there is no event {other:?} that it is for")),
    };
    Ok(Event {
        turn: told.conversation(HookedProgram::Codex),
        place: Some(told.folder()?.join(".mcp")),
        moment,
    })
}

/// The patch that a command hands over; none if it does something else.
fn patch(command: &str, form: Form) -> Option<Patch> {
    match form {
        Form::Tool => Patch::parse(command),
        Form::Shell => {
            let (first, rest) = command.trim().split_once('\n')?;
            let mark = first.strip_prefix("apply_patch")?.trim().strip_prefix("<<")?.trim();
            let mark = mark.trim_matches(['\'', '"']);
            Patch::parse(rest.trim_end().strip_suffix(mark)?)
        }
    }
}

pub(super) fn render(event: &Event, answer: Answer) -> String {
    let output = match (answer, &event.moment) {
        (Answer::NoOpinion, _) => return String::new(),
        (Answer::Refused(words), _) => json!({
            "hookEventName": BEFORE, "permissionDecision": "deny", "permissionDecisionReason": words,
        }),
        (Answer::Held { file, .. }, Moment::Patch { form, patch, .. }) => json!({
            "hookEventName": BEFORE, "permissionDecision": "allow",
            "updatedInput": { "command": match form {
                Form::Tool => Patch::making(&file, PLACEHOLDER),
                // A shell needs no file to do nothing.
                Form::Shell => format!("printf '{}'", patch.made().replace('\n', "\\n").replace('\'', "")),
            }},
        }),
        (Answer::Along { kept, words }, Moment::Patch { form, .. }) => json!({
            "hookEventName": BEFORE, "permissionDecision": "allow", "additionalContext": words,
            "updatedInput": { "command": match form {
                Form::Tool => kept,
                Form::Shell => format!("{HEREDOC}{kept}EOF\n"),
            }},
        }),
        (Answer::Made(held), _) => {
            // It is what the tool comes to, and no failure.
            return json!({ "decision": "block", "reason": held.words }).to_string();
        }
        (Answer::Context(words), _) => json!({ "hookEventName": PROMPT, "additionalContext": words }),
        (Answer::Held { .. } | Answer::Along { .. } | Answer::Read { .. }, _) => return String::new(),
    };
    json!({ "hookSpecificOutput": output }).to_string()
}

#[cfg(test)]
mod tests {
    use crate::hooks::built_in::BuiltIn;
    use crate::hooks::placeholders::UseId;

    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n";

    fn told(event: &str, tool: &str, command: &str) -> Result<Event, String> {
        let given = json!({
            "agent": "codex", "event": event, "tool": tool, "id": "call_1", "session": "5f9e", "turn": "7", "cwd": "/p",
            "input": { "command": command },
        });
        let Value::Object(given) = given else { panic!("no object") };
        parse(given)
    }

    #[test]
    fn a_patch_is_read_from_its_tool_and_from_a_shell() {
        for (tool, command, form) in [
            ("apply_patch", PATCH.to_owned(), Form::Tool),
            ("Bash", format!("apply_patch <<'EOF'\n{PATCH}EOF\n"), Form::Shell),
            ("Bash", format!("apply_patch << \"END\"\n{PATCH}END"), Form::Shell),
        ] {
            let event = told("PreToolUse", tool, &command).unwrap();
            let Moment::Patch { id, patch, folder, form: read } = &event.moment else { panic!("{event:?}") };
            assert_eq!((id, *read), (&UseId::new("codex", "5f9e", "call_1"), form));
            let write = patch.files[0].write(folder);
            assert!(matches!(write, Some(BuiltIn::Patch { path, .. }) if path == "/p/a.py"));
        }
        for command in ["ls", "cat <<'EOF'\nx\nEOF\n", "apply_patch <<'EOF'\nx\nEOF\n", "apply_patch x"] {
            assert_eq!(told("PreToolUse", "Bash", command).unwrap().moment, Moment::Nothing, "{command:?}");
        }
    }

    #[test]
    fn what_is_held_is_taken_out_of_the_patch() {
        let file = String::from("/p/.mcp/held-call_1");
        let tool = BuiltIn::Write { path: "/p/a.py".into(), content: String::new() };
        let command = |tool_name: &str, command: &str, answer: Answer| {
            let said = render(&told("PreToolUse", tool_name, command).unwrap(), answer);
            let said: Value = serde_json::from_str(&said).unwrap();
            said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned()
        };
        let held = Answer::Held { tool, file: file.clone() };
        let placeholder = command("apply_patch", PATCH, held.clone());
        assert!(matches!(&Patch::parse(&placeholder).unwrap().files[..], [only] if only.path == file));
        let shell = format!("{HEREDOC}{PATCH}EOF\n");
        assert_eq!(
            command("Bash", &shell, held),
            "printf 'Success. Updated the following files:\\nM a.py\\n'"
        );
        let along = Answer::Along { kept: PATCH.to_owned(), words: "held".into() };
        assert_eq!(command("apply_patch", PATCH, along.clone()), PATCH);
        assert_eq!(command("Bash", &shell, along), shell);
    }
}
