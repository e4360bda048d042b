//! A history that came with a folder: it is nobody's text and nobody's decision until the person adopts it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;

use serde_json::json;

use crate::agent::{Agent, Edited, twenty};
use crate::plain_editor::{Editor, until};
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
    let lines = [
        &[][..],
        &["status"],
        &["status", "--json"],
        &["show"],
        &["show", &edit.id],
        &["show", "--json", &edit.id],
        &["export", "--proposed", &edit.id],
        &["accept", &edit.id],
        &["accept", "--json", "-c", &edit.conversation],
        &["reject", &edit.id],
        &["reject", "--json", &edit.id],
        &["review"],
        &["cleanup", "--older-than", "0s"],
        &["cleanup", "--dry-run", "--json"],
    ];
    for arguments in lines {
        let ran = project.must(1, arguments);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert!(ran.err.contains("is not yours") && ran.err.contains("mcpdiff adopt"), "{}", ran.err);
    }
    let help = project.must(0, &["--help"]).out;
    let commands = help.split_once("Commands:\n").unwrap().1.lines().take_while(|line| !line.is_empty());
    let named: BTreeSet<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    let tried = lines.iter().filter_map(|line| line.first().copied()).chain(["adopt", "help"]);
    assert_eq!(tried.collect::<BTreeSet<_>>(), named, "a command is not tried");
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
#[cfg(unix)]
fn ones_own_travels_with_its_key() {
    let (here, there) = (Project::new(), Project::new());
    let (_, edit) = held(&here);
    copy(&here.folder, &there.folder);
    let state = |project: &Project| project.temp.path().join("state");
    // With its modes.
    assert!(Command::new("cp").arg("-a").args([state(&here), state(&there)]).status().unwrap().success());
    assert_eq!(there.status_of(&edit.id), "pending");
    there.must(0, &["accept", &edit.id]);
    assert_eq!(there.text("a.txt"), twenty().replace("line 5", HELD));
    copy(&there.folder, &here.folder);
    assert_eq!(here.status_of(&edit.id), "accepted");
    here.assert_whole();
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

#[test]
fn one_that_lies_deeper_says_the_next_step_to_whoever_edits_there() {
    let theirs = Project::new();
    held(&theirs);
    let project = Project::new();
    let (above, deeper) = (project.write("a.txt", &twenty()), project.folder.join("vendored"));
    copy(&theirs.folder, &deeper);
    let below = deeper.join("a.txt");
    let mut agent = Agent::start(&project, &[]);
    let own = agent.edit(&above, &[("replace", "line 5", "mine")]);
    assert!(!agent.read(&below).contains(HELD));
    let refused = agent.edit_in(&below, None, &[("replace", "line 7", "seventh")]);
    let (named, step) = (format!("{} is not yours", deeper.display()), "mcpdiff adopt` in that folder");
    assert!(
        refused.refused && refused.text.contains(&named) && refused.text.contains(step),
        "{}",
        refused.text
    );
    assert_eq!(project.status_of(&own.id), "pending");

    let deeper = deeper.to_str().unwrap();
    project.must(1, &["status", "-w", deeper]);
    project.must(0, &["adopt", "--set-aside", "-w", deeper]);
    let edit = Agent::start(&project, &[]).edit(&below, &[("replace", "line 7", "seventh")]);
    assert_eq!(project.status_of(&edit.id), "pending", "the history above has it");
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_others_wrote_is_obeyed_by_a_terminal_or_an_editor() {
    use crate::hostile::assert_inert;
    use hashline_history::path::from_bytes;

    let bad = "a\x1b[2Jb\u{202e}\u{9b}31m";
    let theirs = Project::new();
    let file = format!("{bad}.txt");
    let path = theirs.write(&file, &twenty());
    let mut agent = Agent::named(&format!("{bad}\nis yours"), &theirs, &["--mode", "propose"]);
    agent.edit(&path, &[("replace", "line 5", &format!("{HELD}\x1b[8m"))]);
    let project = Project::called(&from_bytes(&[bad.as_bytes(), b"\xff"].concat()).unwrap());
    copy(&theirs.folder, &project.folder);
    let path = project.folder.join(&file);

    let editor = Editor::start(&project);
    editor.open(&path, &twenty());
    let told = || editor.told().into_iter().find(|words| words.contains("mcpdiff adopt"));
    until("the word about it", || told().is_some());
    let refused = Agent::start(&project, &[]).edit_in(&path, None, &[("replace", "line 7", "seventh")]);
    for words in [told().unwrap(), refused.text] {
        assert!(words.contains("is not yours") && words.contains("%1B[2J"), "{words}");
        assert_inert(&words);
    }
    for more in [&[][..], &["--json"]] {
        let mut status = Command::new(env!("CARGO_BIN_EXE_hashline"));
        status.arg("status").args(more).arg("--state-dir").arg(project.temp.path().join("state"));
        let status = String::from_utf8(status.output().unwrap().stdout).unwrap();
        assert!(status.contains("%1B[2J"), "{status}");
        assert_inert(&status);
    }
    let plain = &[("NO_COLOR", "1")];
    let declined = in_terminal(&project, &["adopt"], plain, &["n\n"]);
    let ran = [
        project.must(1, &["status"]),
        project.must(2, &["adopt"]),
        declined,
        project.must(0, &["adopt", "--yes"]),
        project.must(1, &["adopt"]),
    ];
    for ran in ran {
        assert!(ran.out.contains("%1B[2J") || ran.err.contains("%1B[2J"), "{}{}", ran.out, ran.err);
        assert_inert(&ran.out);
        assert_inert(&ran.err);
    }
    std::fs::remove_dir_all(project.folder.join(".mcp")).unwrap();
    copy(&theirs.folder.join(".mcp"), &project.folder.join(".mcp"));
    let aside = project.must(0, &["adopt", "--set-aside"]).out;
    assert!(aside.contains("%1B[2J"), "{aside}");
    assert_inert(&aside);
}

#[test]
fn ones_own_without_its_key_is_foreign_until_the_key_is_back() {
    let project = Project::new();
    let (path, edit) = held(&project);
    let key = project.temp.path().join("state/secrets/history");
    let whole = std::fs::read(&key).unwrap();
    let before = record(&project);
    let refused = |words: &str| {
        let ran = project.must(1, &["status"]);
        assert!(ran.out.is_empty() && ran.err.contains(words), "{}", ran.err);
        let mut agent = Agent::start(&project, &[]);
        assert!(!agent.read(&path).contains(HELD));
        let refused = agent.edit_in(&path, None, &[("replace", "line 7", "seventh")]);
        assert!(refused.refused && refused.text.contains(words), "{}", refused.text);
        assert_eq!((record(&project), project.text("a.txt")), (before.clone(), twenty()));
    };
    // Written in place: the file keeps its modes.
    std::fs::write(&key, &whole[..31]).unwrap();
    refused("is too short for a secret");
    assert!(project.must(1, &["adopt", "--yes"]).err.contains("is too short for a secret"));
    std::fs::write(&key, &whole).unwrap();
    assert_eq!(project.status_of(&edit.id), "pending");

    let kept = key.with_extension("kept");
    std::fs::rename(&key, &kept).unwrap();
    refused("is not yours");
    assert_ne!(std::fs::read(&key).unwrap(), whole, "a new one is made");
    std::fs::rename(&kept, &key).unwrap();
    assert_eq!(project.status_of(&edit.id), "pending");

    std::fs::remove_file(&key).unwrap();
    project.must(0, &["adopt", "--yes"]);
    assert_eq!(project.status_of(&edit.id), "pending");
    assert!(Agent::start(&project, &[]).read(&path).contains(HELD));
}

#[test]
fn processes_that_begin_at_once_have_one_key() {
    let project = Project::new();
    // A history for each: the lock of one would have them look for the key one after another.
    let folders: Vec<PathBuf> = (0..6).map(|number| project.folder.join(number.to_string())).collect();
    let begun = |folder: &PathBuf| {
        std::fs::create_dir_all(folder.join(".mcp/edit_history")).unwrap();
        std::fs::write(folder.join("a.txt"), twenty()).unwrap();
        (Agent::start(&project, &[]), folder.join("a.txt"))
    };
    let agents: Vec<_> = folders.iter().map(begun).collect();
    let key = project.temp.path().join("state/secrets/history");
    assert!(!key.exists(), "it is made when it is needed");
    let together = Barrier::new(agents.len());
    std::thread::scope(|scope| {
        for (mut agent, path) in agents {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                agent.edit(&path, &[("replace", "line 5", "mine")]);
            });
        }
    });
    for folder in folders {
        let status = project.must(0, &["status", "--json", "-w", folder.to_str().unwrap()]).out;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!((status["total"].as_u64(), &status["damaged"]), (Some(1), &json!([])), "{status}");
    }
}
