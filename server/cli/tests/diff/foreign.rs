//! A history that came with a folder: it is nobody's text and nobody's decision until the person adopts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::agent::{Agent, Edited, twenty};
use crate::live::{Editor, until};
use crate::project::Project;
use crate::terminal::in_terminal;

const HELD: &str = "do as the history says";

/// A project that a person has cloned with another one's history in it, in which an edit is held.
struct Cloned {
    project: Project,
    path: PathBuf,
    edit: Edited,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn held(project: &Project) -> (PathBuf, Edited) {
    let path = project.write("a.txt", &twenty());
    let edit = Agent::start(project, &["--mode", "propose"]).edit(&path, &[("replace", "line 5", HELD)]);
    assert_eq!(project.text("a.txt"), twenty());
    (path, edit)
}

fn cloned() -> Cloned {
    let theirs = Project::new();
    let (_, edit) = held(&theirs);
    let project = Project::new();
    copy(&theirs.folder, &project.folder);
    Cloned { path: project.folder.join("a.txt"), project, edit }
}

fn record(project: &Project) -> Vec<u8> {
    std::fs::read(project.folder.join(".mcp/edit_history/decisions.log")).unwrap()
}

#[test]
fn agents_read_the_files_without_it_and_are_refused_to_write() {
    let Cloned { project, path, edit } = cloned();
    let before = record(&project);
    let mut agent = Agent::start(&project, &[]);
    let read = agent.read(&path);
    assert!(read.contains("|line 5") && !read.contains(HELD), "{read}");
    let (listed, _) = agent.call("list_edits", json!({}));
    assert!(!listed.contains(&edit.id[..8]), "{listed}");
    let (found, _) = agent.call("search_text", json!({"pattern": HELD}));
    assert!(!found.contains("a.txt"), "{found}");
    let refused = agent.edit_in(&path, None, &[("replace", "line 7", "seventh")]);
    assert!(refused.refused && refused.text.contains("mcpdiff adopt"), "{}", refused.text);
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "x\n"})),
        ("write_file", json!({"path": "new.txt", "content": "x\n"})),
        ("move_file", json!({"source": "a.txt", "destination": "b.txt"})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        let (text, result) = agent.call(tool, arguments);
        assert!(result["isError"] == true && text.contains("mcpdiff adopt"), "{tool}: {text}");
    }
    assert_eq!(project.text("a.txt"), twenty());
    assert!(!project.folder.join("new.txt").exists());
    assert_eq!(record(&project), before);
}

#[test]
fn every_command_but_adopt_is_refused() {
    let Cloned { project, edit, .. } = cloned();
    let before = record(&project);
    for arguments in [
        &[][..],
        &["status", "--json"],
        &["show", &edit.id],
        &["export", "--proposed", &edit.id],
        &["accept", &edit.id],
        &["reject", &edit.id],
        &["review"],
        &["cleanup", "--older-than", "0s"],
    ] {
        let ran = project.must(1, arguments);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert!(ran.err.contains("is not yours") && ran.err.contains("mcpdiff adopt"), "{}", ran.err);
    }
    assert_eq!((record(&project), project.text("a.txt")), (before, twenty()));
}

#[test]
fn what_is_adopted_is_as_if_one_had_been_there() {
    let Cloned { project, path, edit } = cloned();
    let asked = project.must(2, &["adopt"]);
    for words in ["is not yours", "an-agent", "1 edit, 1 undecided", "a.txt  1 edit"] {
        assert!(asked.out.contains(words), "{words:?} is not in\n{}", asked.out);
    }
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    let plain = &[("NO_COLOR", "1")];
    assert_eq!(in_terminal(&project, &["adopt"], plain, &["n\n"]).code, 1);
    project.must(1, &["status"]);
    let adopted = in_terminal(&project, &["adopt"], plain, &["y\n"]);
    assert!(adopted.code == 0 && adopted.out.contains("is yours now"), "{}", adopted.out);

    let mut agent = Agent::start(&project, &[]);
    assert!(agent.read(&path).contains(HELD));
    assert_eq!(project.status_of(&edit.id), "pending");
    project.must(0, &["accept", &edit.id]);
    assert_eq!(project.text("a.txt"), twenty().replace("line 5", HELD));
    agent.edit(&path, &[("replace", "line 7", "seventh")]);
    project.assert_whole();
    assert!(project.must(1, &["adopt"]).err.contains("yours already"));
}

#[test]
fn what_is_set_aside_is_read_by_nobody() {
    let Cloned { project, path, edit } = cloned();
    let before = record(&project);
    let aside = project.must(0, &["adopt", "--set-aside"]);
    assert!(aside.out.contains("edit_history.aside-1"), "{}", aside.out);
    assert_eq!(
        std::fs::read(project.folder.join(".mcp/edit_history.aside-1/decisions.log")).unwrap(),
        before
    );
    let mut agent = Agent::start(&project, &[]);
    assert!(!agent.read(&path).contains(HELD));
    let (text, result) =
        agent.call("read_text_file", json!({"path": ".mcp/edit_history.aside-1/decisions.log"}));
    assert!(result["isError"] == true, "{text}");
    let own = agent.edit(&path, &[("replace", "line 7", "seventh")]);
    assert_eq!(project.status_of(&own.id), "pending");
    project.must(1, &["show", &edit.id]);
}

#[test]
fn ones_own_stays_ones_own_wherever_it_is_moved() {
    let mut project = Project::new();
    let (_, edit) = held(&project);
    assert_eq!(project.status_of(&edit.id), "pending", "another process of the user");
    let renamed = project.folder.with_file_name("renamed");
    std::fs::rename(&project.folder, &renamed).unwrap();
    project.folder = renamed;
    assert_eq!(project.status_of(&edit.id), "pending");
    let restored = project.folder.with_file_name("restored");
    copy(&project.folder, &restored);
    project.folder = restored;
    assert!(Agent::start(&project, &[]).read(&project.folder.join("a.txt")).contains(HELD));
    project.must(0, &["accept", &edit.id]);
    assert_eq!(project.text("a.txt"), twenty().replace("line 5", HELD));
}

#[test]
fn an_editor_is_told_once_and_goes_on_when_it_is_adopted() {
    let Cloned { project, path, .. } = cloned();
    project.write("b.txt", &twenty());
    let editor = Editor::start(&project);
    editor.open(&path, &twenty());
    editor.open(&project.folder.join("b.txt"), &twenty());
    let told = || editor.told().iter().filter(|words| words.contains("mcpdiff adopt")).count();
    until("the word about it", || told() > 0);
    let mut agent = Agent::start(&project, &[]);
    assert!(!agent.read(&path).contains(HELD));
    let refused = agent.edit_in(&path, None, &[("replace", "line 7", "seventh")]);
    assert!(refused.refused && refused.text.contains("mcpdiff adopt"), "{}", refused.text);
    let mut status = Command::new(env!("CARGO_BIN_EXE_hashline"));
    status.args(["status", "--state-dir"]).arg(project.temp.path().join("state"));
    let status = String::from_utf8(status.output().unwrap().stdout).unwrap();
    assert!(status.contains("not yours") && status.contains("mcpdiff adopt"), "{status}");
    assert_eq!((told(), editor.text(&path)), (1, twenty()));

    project.must(0, &["adopt", "--yes"]);
    let begun = std::time::Instant::now();
    while !agent.read(&path).contains(HELD) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(15), "the edit does not come");
    }
    assert_eq!((told(), editor.text(&path)), (1, twenty()));
}
