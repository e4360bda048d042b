//! What real agents do with files as a whole, made, moved and removed, decided about by the command any number of times.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::agent::{Agent, twenty};
use crate::project::Project;
use crate::terminal::in_terminal;

/// A file's bytes and its mode.
type File = (Vec<u8>, u32);

impl Agent {
    /// Changes a file; the edit's id, and the conversation that it opened if none was given.
    pub fn change(&mut self, tool: &str, arguments: Value, conversation: Option<&str>) -> (String, String) {
        self.attempt(tool, arguments, conversation).unwrap_or_else(|text| panic!("{text}"))
    }

    /// The same of what may be refused; an error is what the agent is told then.
    pub fn attempt(
        &mut self,
        tool: &str,
        mut arguments: Value,
        conversation: Option<&str>,
    ) -> Result<(String, String), String> {
        if let Some(conversation) = conversation {
            arguments["mcp_conversation_id"] = conversation.into();
        }
        let (text, result) = self.call(tool, arguments);
        let Some(id) = result["_meta"]["edits"][0].as_str() else { return Err(text) };
        let opened = text.split_once("New mcp_conversation_id: ").map(|(_, rest)| {
            let id = rest.split(char::is_whitespace).next().unwrap_or_default();
            id.trim_end_matches('.').to_owned()
        });
        Ok((id.to_owned(), opened.or(conversation.map(str::to_owned)).unwrap()))
    }

    pub fn make(&mut self, path: &Path, content: &str, conversation: Option<&str>) -> (String, String) {
        self.change("write_file", json!({"path": to_text(path), "content": content}), conversation)
    }

    pub fn remove(&mut self, path: &Path, conversation: Option<&str>) -> (String, String) {
        self.change("delete_file", json!({"path": to_text(path)}), conversation)
    }

    pub fn rename(&mut self, from: &Path, to: &Path, conversation: Option<&str>) -> (String, String) {
        self.change("move_file", json!({"source": to_text(from), "destination": to_text(to)}), conversation)
    }

    /// Puts text in the place of another.
    pub fn put(&mut self, path: &Path, old: &str, new: &str, conversation: Option<&str>) -> (String, String) {
        self.change(
            "edit_file_diff",
            json!({"path": to_text(path), "edits": [{"old": old, "new": new}]}),
            conversation,
        )
    }
}

/// Every file of the project, but for the history.
fn files(project: &Project) -> BTreeMap<String, File> {
    files_in(&project.folder)
}

/// Every file of a project's folder.
pub fn files_in(top: &Path) -> BTreeMap<String, File> {
    let mut files = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if name == ".mcp" => {}
                true => folders.push(path),
                false => {
                    let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
                    files.insert(name, (std::fs::read(&path).unwrap(), mode));
                }
            }
        }
    }
    files
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Changes its mind about an edit three times; the files are each time as they were before the edit, and as they were after it.
fn change_minds(project: &Project, edit: &str, before: &BTreeMap<String, File>) {
    let after = files(project);
    assert_ne!(after, *before);
    for _ in 0..3 {
        project.must(0, &["reject", edit]);
        assert_eq!((files(project), project.status_of(edit)), (before.clone(), "rejected".to_owned()));
        project.must(0, &["accept", edit]);
        assert_eq!((files(project), project.status_of(edit)), (after.clone(), "accepted".to_owned()));
    }
    project.assert_whole();
}

#[test]
fn a_file_that_was_made_goes_and_comes_with_its_bytes() {
    for content in ["\u{feff}one\r\ntwo\nthree", "", "{\"a\": 1}\n", "\n\r\r\n"] {
        let project = Project::new();
        project.write("other.txt", "mine\n");
        let before = files(&project);
        let (edit, _) =
            Agent::start(&project, &[]).make(&project.folder.join("deep/er/new.txt"), content, None);
        assert_eq!(project.text("deep/er/new.txt"), content);
        change_minds(&project, &edit, &before);
    }
}

#[test]
fn a_file_that_was_removed_comes_back_with_its_bytes_and_its_mode() {
    for bytes in [&b"one\r\ntwo"[..], b"\xff\xfe\0no text", b""] {
        let project = Project::new();
        let path = project.write("run.sh", "");
        std::fs::write(&path, bytes).unwrap();
        set_mode(&path, 0o750);
        let before = files(&project);
        let (edit, _) = Agent::start(&project, &[]).remove(&path, None);
        assert_eq!(files(&project), BTreeMap::new());
        change_minds(&project, &edit, &before);
    }
}

#[test]
fn a_file_that_was_moved_goes_back_with_its_bytes_and_its_mode() {
    for bytes in [&b"one\r\ntwo"[..], b"\xff\xfe\0no text", b""] {
        let project = Project::new();
        let path = project.write("run.sh", "");
        std::fs::write(&path, bytes).unwrap();
        set_mode(&path, 0o711);
        let before = files(&project);
        let (edit, _) =
            Agent::start(&project, &[]).rename(&path, &project.folder.join("bin/new/run it"), None);
        assert_eq!(files(&project), BTreeMap::from([("bin/new/run it".to_owned(), (bytes.to_vec(), 0o711))]));
        change_minds(&project, &edit, &before);
    }
}

/// The mode is the file's own: neither an edit nor a decision about one changes it, and what a person sets later stays.
#[test]
fn mode_bits_stay_through_edits_moves_and_decisions() {
    let project = Project::new();
    let path = project.write("a.sh", &twenty());
    set_mode(&path, 0o755);
    let mut agent = Agent::start(&project, &[]);
    let (edit, conversation) = agent.put(&path, "line 3\n", "third\n", None);
    let to = project.folder.join("b.sh");
    let (moved, _) = agent.rename(&path, &to, Some(&conversation));
    let mode = |file: &str| files(&project)[file].1;
    assert_eq!(mode("b.sh"), 0o755);
    project.must(0, &["reject", &edit]);
    assert_eq!((mode("b.sh"), project.text("b.sh")), (0o755, twenty()));
    set_mode(&to, 0o700);
    project.must(0, &["accept", &edit]);
    assert_eq!(mode("b.sh"), 0o700);
    project.must(0, &["reject", &moved]);
    assert_eq!(mode("a.sh"), 0o700);
    let (removed, _) = agent.remove(&path, None);
    project.must(0, &["reject", &removed]);
    assert_eq!(
        files(&project),
        BTreeMap::from([("a.sh".to_owned(), (twenty().replace("line 3\n", "third\n").into_bytes(), 0o700))])
    );
}

/// Section 8: what is done to a file under its new name goes back with it, and can be taken out on its own wherever the file is.
#[test]
fn edits_follow_their_file_through_a_chain_of_moves() {
    let project = Project::new();
    let [a, b, c] = ["a.txt", "sub/b.txt", "c.txt"].map(|name| project.folder.join(name));
    project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let (first, conversation) = agent.put(&a, "line 2\n", "second\n", None);
    let mine = Some(conversation.as_str());
    let (to_b, _) = agent.rename(&a, &b, mine);
    let (middle, _) = agent.put(&b, "line 9\n", "ninth\n", mine);
    let (to_c, _) = agent.rename(&b, &c, mine);
    let (last, _) = agent.put(&c, "line 15\n", "fifteenth\n", mine);
    let edits = [
        (&first, "line 2\n", "second\n"),
        (&middle, "line 9\n", "ninth\n"),
        (&last, "line 15\n", "fifteenth\n"),
    ];
    let mut on = [true; 3];
    let mut moves = 2;
    let check = |on: &[bool; 3], moves: usize, what: &str| {
        let mut text = twenty();
        for ((_, old, new), on) in edits.iter().zip(on) {
            text = if *on { text.replace(old, new) } else { text };
        }
        let now = files(&project);
        let names: Vec<&str> = now.keys().map(String::as_str).collect();
        assert_eq!(names, [["a.txt", "sub/b.txt", "c.txt"][moves]], "{what}");
        assert_eq!(String::from_utf8(now.into_values().next().unwrap().0).unwrap(), text, "{what}");
    };
    check(&on, moves, "as the agent left it");
    // Of two names the later goes first, and comes last.
    let refused = project.must(4, &["reject", &to_b]);
    assert!(refused.err.contains(&to_c[..8]) && refused.err.contains("--with-others"), "{}", refused.err);
    check(&on, moves, "refused");
    project.must(0, &["reject", &to_b, "--with-others"]);
    check(&on, 0, "both taken back");
    let refused = project.must(4, &["accept", &to_c]);
    assert!(refused.err.contains(&to_b[..8]) && refused.err.contains("--with-others"), "{}", refused.err);
    check(&on, 0, "refused again");
    project.must(0, &["accept", &to_c, "--with-others"]);
    check(&on, moves, "both done again");
    for turn in 0..24_usize {
        let at = turn * 5 % 7;
        let what = format!("turn {turn}, {at}");
        match at {
            0..=2 => {
                on[at] = !on[at];
                project.must(0, &[if on[at] { "accept" } else { "reject" }, edits[at].0]);
            }
            3 | 4 if moves > 0 => {
                moves -= 1;
                project.must(0, &["reject", [&to_b, &to_c][moves]]);
            }
            3 | 4 => {
                project.must(0, &["accept", &to_c, &to_b]);
                moves = 2;
            }
            5 => {
                project.run(&["reject", "-c", &conversation]);
                (on, moves) = ([false; 3], 0);
            }
            _ => {
                let all = [&first, &to_b, &middle, &to_c, &last].map(String::as_str);
                project.run(&[&["accept"], &all[..]].concat());
                (on, moves) = ([true; 3], 2);
            }
        }
        check(&on, moves, &what);
    }
    project.assert_whole();
}

/// A conversation that makes, edits, moves and removes files is taken out and put in again in one piece, and what another built there in
/// the meantime is asked about.
#[test]
fn a_conversation_of_files_is_decided_as_one() {
    let project = Project::new();
    let [kept, gone, new, moved] =
        ["kept.txt", "gone.sh", "deep/new.txt", "deep/moved.txt"].map(|name| project.folder.join(name));
    project.write("kept.txt", &twenty());
    project.write("gone.sh", "#!/bin/sh\n");
    set_mode(&gone, 0o755);
    project.write("old.txt", "old\r\nlines");
    let before = files(&project);
    let mut agent = Agent::start(&project, &[]);
    let (made, conversation) = agent.make(&new, "one\ntwo\n", None);
    let mine = Some(conversation.as_str());
    let ids = [
        made,
        agent.put(&new, "two\n", "2\n", mine).0,
        agent.put(&kept, "line 3\n", "third\n", mine).0,
        agent.remove(&gone, mine).0,
        agent.rename(&project.folder.join("old.txt"), &moved, mine).0,
        agent.put(&moved, "old", "new", mine).0,
    ];
    let after = files(&project);
    assert_eq!(after.keys().collect::<Vec<_>>(), ["deep/moved.txt", "deep/new.txt", "kept.txt"]);
    for _ in 0..3 {
        project.must(0, &["reject", "-c", &conversation]);
        assert_eq!(files(&project), before);
        assert!(ids.iter().all(|id| project.status_of(id) == "rejected"));
        let named: Vec<&str> = ids.iter().rev().map(String::as_str).collect();
        project.must(0, &[&["accept"], &named[..]].concat());
        assert_eq!(files(&project), after);
        assert!(ids.iter().all(|id| project.status_of(id) == "accepted"));
    }
    let mut other = Agent::start(&project, &[]);
    let (theirs, _) = other.put(&new, "one\n", "1\n", None);
    let refused = project.must(4, &["reject", "-c", &conversation]);
    assert!(refused.err.contains(&theirs[..8]), "{}", refused.err);
    assert_eq!(project.text("deep/new.txt"), "1\n2\n");
    project.must(0, &["reject", "-c", &conversation, "--with-others"]);
    assert_eq!(files(&project), before);
    project.assert_whole();
}

/// Removed and made again: the one that came later goes first.
#[test]
fn a_file_that_was_removed_and_made_again_has_two_lives() {
    let project = Project::new();
    let path = project.write("a.txt", "\u{feff}first life\r\nin two lines\r\n");
    let mut agent = Agent::start(&project, &[]);
    // What was edited in the first life is no part of the second.
    let (edited, _) = agent.put(&path, "two lines", "2 lines", None);
    project.must(0, &["accept", &edited]);
    let before = files(&project);
    let (removed, conversation) = agent.remove(&path, None);
    let (made, _) = agent.make(&path, "second life\n", Some(&conversation));
    for _ in 0..2 {
        assert_eq!(project.text("a.txt"), "second life\n");
        let refused = project.must(4, &["reject", &removed]);
        assert!(refused.err.contains(&made[..8]), "{}", refused.err);
        project.must(0, &["reject", &made]);
        assert_eq!(files(&project), BTreeMap::new());
        project.must(0, &["reject", &removed]);
        assert_eq!(files(&project), before);
        project.must(0, &["accept", &removed, &made]);
    }
    project.must(0, &["reject", "-c", &conversation]);
    assert_eq!((files(&project), project.status_of(&edited)), (before, "accepted".to_owned()));
}

/// What is held changes nothing until it is accepted, and never when it is rejected.
#[test]
fn held_changes_of_files_come_in_when_they_are_accepted() {
    let project = Project::new();
    let [a, b] = ["a.txt", "b.txt"].map(|name| project.write(name, "one\n"));
    set_mode(&b, 0o755);
    let before = files(&project);
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let (made, _) = agent.make(&project.folder.join("new.txt"), "new\n", None);
    let (removed, _) = agent.remove(&a, None);
    let (moved, _) = agent.rename(&b, &project.folder.join("c/d.txt"), None);
    for edit in [&made, &removed, &moved] {
        project.must(0, &["reject", edit]);
        assert_eq!(files(&project), before);
    }
    for (edit, names) in [
        (&made, &["a.txt", "b.txt", "new.txt"][..]),
        (&removed, &["b.txt", "new.txt"]),
        (&moved, &["c/d.txt", "new.txt"]),
    ] {
        project.must(0, &["accept", edit]);
        assert_eq!(files(&project).keys().collect::<Vec<_>>(), names);
    }
    assert_eq!(files(&project)["c/d.txt"], (b"one\n".to_vec(), 0o755));
    project.must(0, &["reject", &moved, &made, &removed]);
    assert_eq!(files(&project), before);
}

/// Nothing of a person's goes with a decision: neither what now has the old name, nor what was written into a new file.
#[test]
fn what_a_person_put_there_stands_against_it() {
    let project = Project::new();
    let a = project.write("a.txt", "one\n");
    let mut agent = Agent::start(&project, &[]);
    let (moved, _) = agent.rename(&a, &project.folder.join("b.txt"), None);
    project.write("a.txt", "mine\n");
    let here = files(&project);
    let refused = project.run(&["reject", &moved]);
    assert!(refused.code != 0 && refused.err.contains("a.txt"), "{}{}", refused.out, refused.err);
    assert_eq!((files(&project), project.status_of(&moved)), (here, "pending".to_owned()));
    std::fs::remove_file(&a).unwrap();
    project.must(0, &["reject", &moved]);
    assert_eq!(project.text("a.txt"), "one\n");

    let (made, _) = agent.make(&project.folder.join("new.txt"), "new\n", None);
    project.write("new.txt", "new\nmine\n");
    let refused = project.must(3, &["reject", &made]);
    assert!(refused.err.contains("+mine"), "{}", refused.err);
    assert_eq!(project.text("new.txt"), "new\nmine\n");
    let forced = project.must(0, &["reject", &made, "--force"]);
    assert!(!project.folder.join("new.txt").exists());
    let copy = forced.out.split_once("is kept in ").unwrap().1.trim_end().trim_end_matches('.');
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "new\nmine\n");
}

#[test]
fn what_was_done_to_files_is_listed_shown_and_reviewed() {
    let project = Project::new();
    let [a, b] = ["a.txt", "b.txt"].map(|name| project.write(name, "one\ntwo\n"));
    let mut agent = Agent::start(&project, &[]);
    let (made, conversation) = agent.make(&project.folder.join("new.txt"), "new\n", None);
    let mine = Some(conversation.as_str());
    let (removed, _) = agent.remove(&a, mine);
    let (moved, _) = agent.rename(&b, &project.folder.join("c.txt"), mine);
    let table = project.run(&["status"]).out;
    for words in ["create", "delete", "move", "b.txt -> c.txt"] {
        assert!(table.contains(words), "{words:?} is not in\n{table}");
    }
    for (edit, words) in [
        (&made, &["--- /dev/null", "+++ b/new.txt", "+new"][..]),
        (&removed, &["hunk 1: removes the file", "--- a/a.txt", "+++ /dev/null"]),
        (&moved, &["rename from b.txt", "rename to c.txt"]),
    ] {
        let shown = project.run(&["show", edit]).out;
        for words in words {
            assert!(shown.contains(words), "{words:?} is not in\n{shown}");
        }
    }
    let answers = ["a\n", "r\n", "\n", "r\n", "wrong name\n"];
    let review = in_terminal(&project, &["review"], &[("NO_COLOR", "1")], &answers);
    assert!(review.out.contains("Nothing is left undecided"), "{}", review.out);
    assert_eq!(files(&project).keys().collect::<Vec<_>>(), ["a.txt", "b.txt", "new.txt"]);
    let statuses = [&made, &removed, &moved].map(|edit| project.status_of(edit));
    assert_eq!(statuses, ["accepted", "rejected", "rejected"]);
    assert!(project.run(&["show", &moved]).out.contains("wrong name"));
}

/// A review asks in the order in which it was done, and finds a file by whatever name it has by then.
#[test]
fn a_chain_of_moves_is_reviewed() {
    let project = Project::new();
    let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| project.folder.join(name));
    project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let (to_b, conversation) = agent.rename(&a, &b, None);
    let (edit, _) = agent.put(&b, "line 3\n", "third\n", Some(&conversation));
    let (to_c, _) = agent.rename(&b, &c, Some(&conversation));
    project.must(0, &["reject", &to_b, &edit, &to_c]);
    assert_eq!(project.text("a.txt"), twenty());
    project.must(0, &["accept", &to_c, &edit, &to_b]);
    assert_eq!(project.text("c.txt"), twenty().replace("line 3\n", "third\n"));
    let mut agent = Agent::start(&project, &[]);
    let (to_a, _) = agent.rename(&c, &a, None);
    let (last, _) = agent.put(&a, "line 9\n", "ninth\n", None);
    let review = in_terminal(&project, &["review"], &[("NO_COLOR", "1")], &["r\n", "\n", "r\n", "\n"]);
    assert!(review.out.contains("Nothing is left undecided"), "{}", review.out);
    assert_eq!(files(&project).keys().collect::<Vec<_>>(), ["c.txt"], "{}", review.out);
    assert_eq!(project.text("c.txt"), twenty().replace("line 3\n", "third\n"));
    assert_eq!([&to_a, &last].map(|edit| project.status_of(edit)), ["rejected", "rejected"]);
}
