//! An editor that starts with unsaved work while an agent is at work: a real `hashline mcp`, and a sidecar that comes seconds later.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::agent::{Agent, Edited, twenty};
use crate::plain_editor::{Editor, until, uri};
use crate::project::Project;

const UNSAVED: &str = "not saved\n";

/// How long after the agent's call the sidecar starts.
const LATER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// A plugin leaves its mark.
fn mark(project: &Project) -> std::path::PathBuf {
    let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let sidecars = project.temp.path().join("state/sidecars");
    std::fs::create_dir_all(&sidecars).unwrap();
    let path = sidecars.join("editor-1.starting");
    let mark = json!({
        "pid": std::process::id(), "roots": [project.folder], "started": u64::try_from(started).unwrap()
    });
    std::fs::write(&path, mark.to_string()).unwrap();
    path
}

/// The editor comes, with a text that it had read before the agent's call.
fn comes(project: &Project, path: &Path) -> Editor {
    let editor = Editor::start(project);
    editor.open(path, &(UNSAVED.to_owned() + &twenty()));
    // An answer: the sidecar has what came before the question.
    editor.ask("hashline/proposedText", &json!({ "uri": uri(path) }));
    editor
}

/// Accepted, the edit is in the unsaved text.
fn assert_comes_in(project: &Project, editor: &Editor, path: &Path, edit: &str) {
    let unsaved = UNSAVED.to_owned() + &twenty();
    assert_eq!(editor.text(path), unsaved, "held, and nothing is in the text by itself");
    until("the offer", || {
        let proposed = editor.ask("hashline/proposedText", &json!({ "uri": uri(path) }));
        proposed["text"] == unsaved.replace("line 3\n", "third\n")
            && proposed["places"].as_array().is_some_and(|places| places.len() == 1)
    });
    project.must(0, &["accept", edit]);
    until("the edit", || editor.text(path) == unsaved.replace("line 3\n", "third\n"));
}

#[test]
fn an_agent_waits_for_an_editor_that_is_starting() {
    for later in LATER {
        let project = Project::new();
        let path = project.write("a.txt", &twenty());
        let mut agent = Agent::start(&project, &[]);
        let mark = mark(&project);
        let (edited, editor) = std::thread::scope(|scope| {
            let edits = scope.spawn(|| agent.edit(&path, &[("replace", "line 3", "third")]));
            sleep(later);
            assert!(!edits.is_finished(), "it waits");
            let editor = comes(&project, &path);
            std::fs::remove_file(mark).unwrap();
            (edits.join().unwrap(), editor)
        });
        assert_eq!(project.text("a.txt"), twenty(), "the disk is as it was");
        assert_comes_in(&project, &editor, &path, &edited.id);
    }
}

#[test]
fn without_a_mark_the_edit_of_the_file_is_held_in_the_editor() {
    for later in LATER {
        let project = Project::new();
        let path = project.write("a.txt", &twenty());
        let mut agent = Agent::start(&project, &[]);
        let Edited { id, .. } = agent.edit(&path, &[("replace", "line 3", "third")]);
        assert_eq!(project.text("a.txt"), twenty().replace("line 3\n", "third\n"));
        sleep(later);
        let editor = comes(&project, &path);
        assert_comes_in(&project, &editor, &path, &id);
    }
}
