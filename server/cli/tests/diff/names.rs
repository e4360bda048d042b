//! Files whose names are no UTF-8: made, edited, moved, removed, recorded, shown and decided about like any other, byte for byte.
//!
//! Two names that differ only in such a byte are side by side everywhere, so that whoever takes them for text takes one for the other.
#![cfg(target_os = "linux")]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hashline_history::path::to_text;
use serde_json::Value;

use crate::agent::{Agent, twenty};
use crate::plain_editor::{Editor, until};
use crate::project::Project;

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// A project with two files whose names read alike as text.
fn twins() -> (Project, PathBuf, PathBuf) {
    let project = Project::new();
    let folder = project.folder.join(name(b"d\xfe"));
    std::fs::create_dir(&folder).unwrap();
    let (one, other) = (folder.join(name(b"a\xff.txt")), folder.join(name(b"a\xfd.txt")));
    std::fs::write(&one, twenty()).unwrap();
    std::fs::write(&other, "another\n").unwrap();
    (project, one, other)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Every file of the project but for the history, by its name as it is.
fn names(project: &Project) -> Vec<OsString> {
    let mut names = Vec::new();
    let mut folders = vec![project.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".mcp") => {}
                true => folders.push(path),
                false => names.push(path.strip_prefix(&project.folder).unwrap().as_os_str().to_owned()),
            }
        }
    }
    names.sort();
    names
}

#[test]
fn it_is_edited_recorded_and_decided_about() {
    let (project, one, other) = twins();
    let mut agent = Agent::start(&project, &[]);
    let uri = to_text(&one).into_owned();
    assert!(uri.starts_with("file:///") && uri.ends_with("/d%FE/a%FF.txt"), "{uri}");
    let shown = agent.read(&one);
    assert!(shown.starts_with(&format!("[{uri} · ")), "{shown}");
    let first = agent.edit(&one, &[("replace", "line 3", "third")]);
    let second = agent.edit(&other, &[("replace", "another", "the other")]);
    assert_eq!(
        (read(&one), read(&other)),
        (twenty().replace("line 3\n", "third\n"), "the other\n".to_owned())
    );

    let record = std::fs::read_to_string(project.folder.join(".mcp/edit_history/decisions.log")).unwrap();
    assert!(record.contains(r#"{"escaped":"d%FE/a%FF.txt"}"#) && !record.contains('\u{fffd}'), "{record}");
    let (_, json) = project.json(&["status", "--json"]);
    let entry: &Value =
        json["edits"].as_array().unwrap().iter().find(|edit| edit["edit_id"] == first.id.as_str()).unwrap();
    assert_eq!((&entry["file_path"], entry.as_object().unwrap().len()), (&Value::from(uri.as_str()), 13));
    let table = project.run(&["status"]).out;
    assert!(table.contains(r#""d\376/a\377.txt""#) && table.contains(r#""d\376/a\375.txt""#), "{table}");
    for (file, found) in [
        (name(b"a\xff"), 1),
        (name(b"d\xfe/"), 2),
        (name(b"a\\377"), 1),
        (name(b"./d\xfe/a\xfd.txt"), 1),
        (OsStr::new(&uri), 1),
        (name(b"\xfc"), 0),
        (name(b"\xef\xbf\xbd"), 0),
    ] {
        let mut command = project.command(&["status", "--json"]);
        command.arg("-f").arg(file);
        let ran = crate::project::ran(command);
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(json["edits"].as_array().unwrap().len(), found, "{file:?}");
    }
    let diff = project.run(&["show", &first.id]).out;
    assert!(diff.contains("--- \"a/d\\376/a\\377.txt\"\n+++ \"b/d\\376/a\\377.txt\"\n"), "{diff}");

    for _ in 0..2 {
        project.must(0, &["reject", &first.id]);
        assert_eq!((read(&one), read(&other)), (twenty(), "the other\n".to_owned()));
        project.must(0, &["accept", &first.id]);
        assert_eq!(read(&one), twenty().replace("line 3\n", "third\n"));
    }
    // Another process knows all of it.
    let mut agent = Agent::start(&project, &[]);
    assert!(agent.read(&one).contains("|third"));
    project.must(0, &["reject", &second.id]);
    assert_eq!(read(&other), "another\n");
    project.assert_whole();
}

#[test]
fn it_is_made_moved_and_removed_and_all_that_is_taken_back() {
    let (project, one, other) = twins();
    let (new, plain) = (project.folder.join(name(b"new\x80/\xff\xfe")), project.folder.join("plain.txt"));
    let there = names(&project);
    let mut agent = Agent::start(&project, &[]);
    let (made, conversation) = agent.make(&new, "made\n", None);
    let mine = Some(conversation.as_str());
    assert_eq!(read(&new), "made\n");
    let (gone, _) = agent.rename(&one, &plain, mine);
    let (edited, _) = agent.put(&plain, "line 9\n", "ninth\n", mine);
    let (back, _) = agent.rename(&plain, &one, mine);
    let (removed, _) = agent.remove(&other, mine);
    assert!(!plain.exists() && !other.exists());
    assert_eq!(read(&one), twenty().replace("line 9\n", "ninth\n"));
    let table = project.run(&["status"]).out;
    assert!(table.contains(r#""d\376/a\377.txt" -> plain.txt"#), "{table}");
    let show = project.run(&["show", &back]).out;
    assert!(show.contains("rename to \"d\\376/a\\377.txt\""), "{show}");
    assert!(project.run(&["show", &made]).out.contains("+++ \"b/new\\200/\\377\\376\"\n"));

    for _ in 0..2 {
        project.must(0, &["reject", "-c", &conversation]);
        assert_eq!(names(&project), there);
        assert_eq!((read(&one), read(&other)), (twenty(), "another\n".to_owned()));
        project.must(0, &["accept", &made, &gone, &edited, &back, &removed]);
        assert_eq!((read(&one), read(&new)), (twenty().replace("line 9\n", "ninth\n"), "made\n".to_owned()));
        assert!(!plain.exists() && !other.exists());
    }
    project.must(0, &["reject", &back]);
    assert_eq!(read(&plain), twenty().replace("line 9\n", "ninth\n"));
    let (_, json) = project.json(&["cleanup", "--older-than", "0s", "--json"]);
    let cleaned: Vec<&str> =
        json["files"].as_array().unwrap().iter().filter_map(|one| one["file_path"].as_str()).collect();
    assert!(cleaned.contains(&&*to_text(&other)) && cleaned.contains(&&*to_text(&new)), "{json}");
    assert_eq!(project.run(&["status"]).code, 1, "all of it was decided");
}

/// What is held of it survives its agent, and comes in when it is accepted.
#[test]
fn it_is_held_and_accepted_later() {
    let (project, one, other) = twins();
    let edit = Agent::start(&project, &["--mode", "propose"]).edit(&one, &[("delete", "line 5", "")]);
    assert_eq!(read(&one), twenty());
    assert!(!Agent::start(&project, &[]).read(&one).contains("|line 5\n"));
    project.must(0, &["accept", &edit.id]);
    assert_eq!((read(&one), read(&other)), (twenty().replace("line 5\n", ""), "another\n".to_owned()));
}

#[test]
fn an_editor_has_it_open() {
    let (project, one, other) = twins();
    let editor = Editor::start(&project);
    let open = twenty().replace("line 20", "line 20, not saved");
    editor.open(&one, &open);
    let mut agent = Agent::start(&project, &[]);
    let held = agent.edit(&one, &[("replace", "line 3", "third"), ("replace", "line 9", "ninth")]);
    let aside = agent.edit(&other, &[("replace", "another", "the other")]);
    assert!(agent.read(&one).contains("|line 20, not saved"));
    assert_eq!((read(&one), editor.text(&one)), (twenty(), open.clone()));
    project.must(0, &["accept", &format!("{}:1", held.id)]);
    until("the accepted hunk", || editor.text(&one) == open.replace("line 3\n", "third\n"));
    project.must(0, &["reject", &format!("{}:1", held.id), &format!("{}:2", held.id)]);
    until("the rejected edit", || editor.text(&one) == open);
    assert_eq!(read(&one), twenty(), "the disk is the editor's");
    project.must(0, &["reject", &aside.id]);
    assert_eq!(read(&other), "another\n");
}

/// The folder of the project itself may be called so.
#[test]
fn it_lies_in_a_project_of_such_a_name() {
    let project = Project::called(name(b"project \xff"));
    let path = project.folder.join("a.txt");
    std::fs::write(&path, twenty()).unwrap();
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&path, &[("replace", "line 3", "third")]);
    assert!(project.run(&["status"]).out.contains("  a.txt\n"));
    assert!(project.run(&["show", &edit.id]).out.contains("--- a/a.txt\n"));
    project.must(0, &["reject", &edit.id]);
    assert_eq!(read(&path), twenty());
    let (code, json) = project.json(&["status", "--json"]);
    assert_eq!((code, json["folder"].as_str()), (0, Some(&*to_text(&project.folder))));
    let editor = Editor::start(&project);
    editor.open(&path, &twenty());
    project.must(0, &["accept", &edit.id]);
    until("the accepted edit", || editor.text(&path) == twenty().replace("line 3\n", "third\n"));
}
