//! Two real editors over one folder: each edit is decided in one of them, and an editor that is killed leaves its edits to the other.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::agent::{Agent, twenty};
use crate::plain_editor::{Editor, until};
use crate::project::Project;

// Far enough from the line that is typed at the top: what is near to that has no certain place in the text without it.
const EDITED: (&str, &str) = ("line 12\n", "twelfth\n");

/// The commands that are offered on a line.
fn offered(editor: &Editor, path: &Path, line: u32) -> Vec<(String, serde_json::Value)> {
    let at = json!({"line": line, "character": 0});
    let uri = format!("file://{}", path.display());
    let asked = json!({
        "textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}
    });
    let actions = editor.ask("textDocument/codeAction", &asked);
    let actions = actions.as_array().cloned().unwrap_or_default();
    actions
        .iter()
        .map(|action| (action["title"].as_str().unwrap().to_owned(), action["command"].clone()))
        .collect()
}

/// Until the agent's calls go to an editor that has this line.
fn found(agent: &mut Agent, path: &Path, line: &str) {
    let begun = std::time::Instant::now();
    while !agent.read(path).contains(line) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(15), "the agent does not find {line:?}");
    }
}

/// What `hashline status` tells of the editors.
fn editors(project: &Project) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
    command.args(["status", "--state-dir"]).arg(project.temp.path().join("state"));
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn the_edits_of_a_killed_editor_are_decided_in_the_other() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut first = Editor::start(&project);
    let unsaved = format!("not saved\n{}", twenty());
    first.open(&path, &unsaved);
    let mut agent = Agent::start(&project, &[]);
    found(&mut agent, &path, "|not saved");
    let edit = agent.edit(&path, &[("replace", "line 12", "twelfth")]);
    assert!(!edit.refused, "{}", edit.text);
    until("the offer", || offered(&first, &path, 12).iter().any(|(title, _)| title.starts_with("Accept")));

    let second = Editor::start(&project);
    second.open(&path, &twenty());
    // It is shown there and decided in the first.
    let shown = || {
        let hover = json!({"textDocument": {"uri": format!("file://{}", path.display())}, "position": {"line": 11, "character": 0}});
        second.ask("textDocument/hover", &hover).to_string()
    };
    until("the look at it", || shown().contains("Decided in an-editor"));
    assert_eq!(offered(&second, &path, 11), []);
    assert_eq!(editors(&project).matches("1 undecided").count(), 1, "it counts where it is decided");

    first.kill();
    until("the second's offer", || {
        offered(&second, &path, 11).iter().any(|(title, _)| title.starts_with("Accept"))
    });
    assert_eq!(project.status_of(&edit.id), "pending");
    assert_eq!(project.text("a.txt"), twenty());
    project.must(0, &["accept", &edit.id]);
    let (old, new) = EDITED;
    until("the edit", || second.text(&path) == twenty().replacen(old, new, 1));
    assert_eq!(project.text("a.txt"), twenty());
    until("its record", || project.status_of(&edit.id) == "accepted");
}

#[test]
fn an_edit_of_a_file_that_the_other_has_open_is_decided_there() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let first = Editor::start(&project);
    let unsaved = format!("not saved\n{}", twenty());
    first.open(&path, &unsaved);
    let mut agent = Agent::start(&project, &[]);
    found(&mut agent, &path, "|not saved");
    let edit = agent.edit(&path, &[("replace", "line 12", "twelfth")]);
    let second = Editor::start(&project);
    let accept = json!({"command": "hashline.accept", "arguments": [{"edit": edit.id}]});
    let (old, new) = EDITED;
    until("the decision", || {
        second.ask("workspace/executeCommand", &accept);
        first.text(&path) == unsaved.replacen(old, new, 1)
    });
    assert_eq!(project.text("a.txt"), twenty());
}

#[test]
fn what_is_saved_and_not_recorded_as_saved_is_edited_on_where_it_was_decided() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let (first, second) = (Editor::start(&project), Editor::start(&project));
    first.open(&path, &twenty());
    let mut agent = Agent::start(&project, &[]);
    found(&mut agent, &path, " Open in ");
    let edit = agent.edit(&path, &[("replace", "line 12", "twelfth")]);
    project.must(0, &["accept", &edit.id]);
    let (old, new) = EDITED;
    let edited = twenty().replacen(old, new, 1);
    until("the edit", || first.text(&path) == edited);
    until("its record", || project.status_of(&edit.id) == "accepted");

    // The file is written, and the second editor has read it, before the first says that it has written it.
    project.write("a.txt", &edited);
    second.open(&path, &edited);
    assert_eq!(offered(&second, &path, 11), []);
    let next = agent.edit(&path, &[("replace", "line 3", "third")]);
    until("the offer", || offered(&first, &path, 2).iter().any(|(title, _)| title.starts_with("Accept")));
    assert_eq!(project.status_of(&next.id), "pending");
}
