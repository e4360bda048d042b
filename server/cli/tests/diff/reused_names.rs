//! Names that files had and others have by now: a removed file, one that moved away, a swap. Real agents, decided about by the command.
#![cfg(unix)]

use std::collections::BTreeMap;

use serde_json::json;

use crate::agent::Agent;
use crate::project::Project;

/// Every file of the project and its text, but for the history.
fn tree(project: &Project) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(&project.folder).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            let name = entry.file_name().into_string().unwrap();
            files.insert(name.clone(), project.text(&name));
        }
    }
    files
}

fn holds(project: &Project, files: &[(&str, &str)]) {
    let wanted: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    assert_eq!(tree(project), wanted);
}

/// A project with these files, and an agent in it.
fn scene(files: &[(&str, &str)]) -> (Project, Agent) {
    let project = Project::new();
    for (name, text) in files {
        project.write(name, text);
    }
    let agent = Agent::start(&project, &[]);
    (project, agent)
}

#[test]
fn a_removed_file_comes_back_when_the_one_that_took_its_name_has_gone() {
    let (project, mut agent) = scene(&[("p", "p\n"), ("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    let (removed, conversation) = agent.remove(&at("p"), None);
    let (moved, _) = agent.rename(&at("q"), &at("p"), Some(&conversation));
    // The name is taken: which edit took it is said.
    let refused = project.must(4, &["reject", &removed]);
    assert!(refused.err.contains(&moved[..8]), "{}", refused.err);
    holds(&project, &[("p", "q\n")]);
    project.must(0, &["reject", &moved]);
    project.must(0, &["reject", &removed]);
    holds(&project, &[("p", "p\n"), ("q", "q\n")]);
    project.must(0, &["accept", &removed]);
    project.must(0, &["accept", &moved]);
    holds(&project, &[("p", "q\n")]);
    project.assert_whole();
}

#[test]
fn a_removal_is_decided_about_while_another_file_has_the_name() {
    let (project, mut agent) = scene(&[("p", "p\n"), ("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    let (removed, conversation) = agent.remove(&at("p"), None);
    let (moved, _) = agent.rename(&at("q"), &at("p"), Some(&conversation));
    project.must(0, &["accept", &removed]);
    assert_eq!(
        (project.status_of(&removed), project.status_of(&moved)),
        ("accepted".into(), "pending".into())
    );
    holds(&project, &[("p", "q\n")]);
}

/// What something else has removed is not written over the file that has its name now, whatever is forced.
#[test]
fn a_file_that_something_else_removed_does_not_take_its_name_back() {
    let (project, mut agent) = scene(&[("p", "one\ntwo\n"), ("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    let (edit, conversation) = agent.put(&at("p"), "two\n", "2\n", None);
    std::fs::remove_file(at("p")).unwrap();
    let (moved, _) = agent.rename(&at("q"), &at("p"), Some(&conversation));
    let refused = project.must(3, &["reject", &edit]);
    assert!(refused.err.contains("was removed by something else"), "{}", refused.err);
    let refused = project.must(4, &["reject", &edit, "--force"]);
    assert!(refused.err.contains(&moved[..8]), "{}", refused.err);
    holds(&project, &[("p", "q\n")]);
    project.must(0, &["reject", &moved]);
    project.must(0, &["reject", &edit, "--force"]);
    holds(&project, &[("p", "one\ntwo\n"), ("q", "q\n")]);
}

#[test]
fn a_file_moves_to_a_name_that_an_agent_made_and_removed() {
    let (project, mut agent) = scene(&[("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.make(&at("n"), "new\n", None);
    agent.remove(&at("n"), Some(&conversation));
    let (moved, _) = agent.rename(&at("q"), &at("n"), Some(&conversation));
    holds(&project, &[("n", "q\n")]);
    drop(agent);
    project.must(0, &["reject", &moved]);
    holds(&project, &[("q", "q\n")]);
    project.must(0, &["reject", "-c", &conversation]);
    holds(&project, &[("q", "q\n")]);
    project.must(0, &["accept", "-c", &conversation]);
    holds(&project, &[("n", "q\n")]);
}

#[test]
fn a_conversation_that_uses_names_again_goes_and_comes_as_one() {
    type Step = (&'static str, &'static str, &'static str);
    type Files = &'static [(&'static str, &'static str)];
    let cases: &[(Files, &[Step])] = &[
        (&[("a", "a\n")], &[("move", "a", "a.bak"), ("make", "a", "new\n")]),
        (&[("a", "a\n"), ("b", "b\n")], &[("move", "a", "t"), ("move", "b", "a"), ("move", "t", "b")]),
        (&[("p", "p\n")], &[("put", "p", "P\n"), ("remove", "p", "")]),
        (&[], &[("make", "n", "n\n"), ("move", "n", "m"), ("remove", "m", "")]),
        (&[("p", "p\n"), ("q", "q\n")], &[("remove", "p", ""), ("move", "q", "p"), ("put", "p", "Q\n")]),
        (
            &[("a", "a\n"), ("b", "b\n"), ("c", "c\n")],
            &[
                ("move", "a", "t"),
                ("move", "b", "a"),
                ("move", "c", "b"),
                ("move", "t", "c"),
                ("put", "c", "A\n"),
            ],
        ),
    ];
    for (files, steps) in cases {
        let (project, mut agent) = scene(files);
        let mut conversation: Option<String> = None;
        for (what, name, more) in *steps {
            let path = project.folder.join(name);
            let of = conversation.as_deref();
            let (_, opened) = match *what {
                "move" => agent.rename(&path, &project.folder.join(more), of),
                "make" => agent.make(&path, more, of),
                "put" => {
                    let old = project.text(name);
                    agent.put(&path, &old, more, of)
                }
                _ => agent.remove(&path, of),
            };
            conversation = Some(opened);
        }
        let (before, after) = (tree_of(files), tree(&project));
        let conversation = conversation.unwrap();
        project.must(0, &["accept", "-c", &conversation]);
        assert_eq!(tree(&project), after, "{steps:?}");
        for turn in 0..3 {
            project.must(0, &["reject", "-c", &conversation]);
            assert_eq!(tree(&project), before, "{steps:?}, turn {turn}");
            project.must(0, &["accept", "-c", &conversation]);
            assert_eq!(tree(&project), after, "{steps:?}, turn {turn}");
        }
        let (_, json) = project.json(&["status", "--json", "-n", "0"]);
        let edits = json["edits"].as_array().unwrap();
        assert!(edits.iter().all(|edit| edit["status"] == json!("accepted")), "{json}");
        project.assert_whole();
    }
}

fn tree_of(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn edits_of_a_name_that_was_used_again_come_back_one_by_one() {
    let (project, mut agent) = scene(&[("p", "p\n")]);
    let at = |name: &str| project.folder.join(name);
    let (moved, conversation) = agent.rename(&at("p"), &at("x"), None);
    let (made, _) = agent.make(&at("p"), "new\n", Some(&conversation));
    for _ in 0..2 {
        project.must(0, &["reject", &made]);
        project.must(0, &["reject", &moved]);
        holds(&project, &[("p", "p\n")]);
        project.must(0, &["accept", &moved]);
        project.must(0, &["accept", &made]);
        holds(&project, &[("p", "new\n"), ("x", "p\n")]);
    }
    project.assert_whole();
}

/// Where one of them cannot be done, nothing of a conversation is.
#[test]
fn a_conversation_that_cannot_go_as_one_stays_as_it_is() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.put(&at("b"), "b\n", "B\n", None);
    let (moved, _) = agent.rename(&at("a"), &at("c"), Some(&conversation));
    // A person has made another file of the name.
    project.write("a", "mine\n");
    let before = tree(&project);
    let refused = project.must(4, &["reject", "-c", &conversation]);
    assert!(refused.err.contains(&moved[..8]) && refused.out.is_empty(), "{}{}", refused.out, refused.err);
    assert_eq!(refused.err.lines().count(), 1, "one cause: {}", refused.err);
    assert_eq!(tree(&project), before);
    assert_eq!(project.status_of(&moved), "pending");
    std::fs::remove_file(at("a")).unwrap();
    project.must(0, &["reject", "-c", &conversation]);
    holds(&project, &[("a", "a\n"), ("b", "b\n")]);
}

/// A process that ended before it could say that a file was written again.
#[test]
fn a_file_that_came_back_is_known_to_be_back_after_a_crash() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    let (moved, conversation) = agent.rename(&at("a"), &at("p"), None);
    let (removed, _) = agent.remove(&at("p"), Some(&conversation));
    let (other, _) = agent.rename(&at("q"), &at("p"), None);
    drop(agent);
    project.must(0, &["reject", "-c", &conversation]);
    let back = [("a", "a\n"), ("p", "q\n")];
    holds(&project, &back);
    let record = project.folder.join(".mcp/edit_history/decisions.log");
    let lines = std::fs::read_to_string(&record).unwrap();
    let (kept, last) = lines.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("\"ended\":\"done\""), "{last}");
    std::fs::write(&record, kept.to_owned() + "\n").unwrap();

    let next = project.must(0, &["accept", &other]);
    assert!(next.err.contains("was written, though its process ended"), "{}", next.err);
    holds(&project, &back);
    assert_eq!([project.status_of(&moved), project.status_of(&removed)], ["rejected", "rejected"]);
    project.must(0, &["reject", &other]);
    project.must(0, &["accept", "-c", &conversation]);
    holds(&project, &[("q", "q\n")]);
}

/// What one conversation takes along of another that is named with it is decided, and no reason to refuse.
#[test]
fn what_is_named_together_goes_together() {
    let (project, mut agent) = scene(&[("f1", "1\n2\n3\n"), ("f2", "x\ny\nz\n")]);
    let at = |name: &str| project.folder.join(name);
    let before = tree(&project);
    let (_, one) = agent.put(&at("f1"), "2\n", "two\n", None);
    let (_, other) = agent.put(&at("f2"), "y\n", "why\n", None);
    let (last, _) = agent.put(&at("f2"), "why\n", "WHY\n", Some(&one));
    let after = tree(&project);
    for named in [&["-c", &one, "-c", &other][..], &["-c", &one, "-c", &other, &last]] {
        project.must(0, &[&["reject"], named].concat());
        assert_eq!(tree(&project), before);
        project.must(0, &[&["accept"], named].concat());
        assert_eq!(tree(&project), after);
    }
    project.must(0, &["reject", "-c", &one, &last]);
    holds(&project, &[("f1", "1\n2\n3\n"), ("f2", "x\nwhy\nz\n")]);
}

#[test]
fn two_conversations_that_swap_names_are_decided_together() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, one) = agent.rename(&at("a"), &at("t"), None);
    let (_, other) = agent.rename(&at("b"), &at("a"), None);
    agent.rename(&at("t"), &at("b"), Some(&one));
    for _ in 0..2 {
        project.must(0, &["reject", "-c", &one, "-c", &other]);
        holds(&project, &[("a", "a\n"), ("b", "b\n")]);
        project.must(0, &["accept", "-c", &one, "-c", &other]);
        holds(&project, &[("a", "b\n"), ("b", "a\n")]);
    }
}

/// What is said is true, and what is offered can be done.
#[test]
fn a_refusal_names_who_takes_the_name_and_what_goes_first() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (first, conversation) = agent.rename(&at("a"), &at("n"), None);
    project.must(0, &["reject", &first]);
    let (second, _) = agent.rename(&at("b"), &at("n"), Some(&conversation));
    project.must(0, &["reject", &second]);
    let refused = project.must(4, &["accept", "-c", &conversation]);
    assert!(
        refused.err.contains("would be the name of two files") && refused.err.contains(&first[..8]),
        "{}",
        refused.err
    );
    holds(&project, &[("a", "a\n"), ("b", "b\n")]);

    let (third, _) = agent.rename(&at("a"), &at("c"), Some(&conversation));
    let (fourth, _) = agent.rename(&at("c"), &at("d"), Some(&conversation));
    let refused = project.must(4, &["accept", &first]);
    assert!(refused.err.contains(&format!("`mcpdiff reject {}", &fourth[..8])), "{}", refused.err);
    for edit in [fourth, third] {
        project.must(0, &["reject", &edit]);
    }
    project.must(0, &["accept", &first]);
    holds(&project, &[("n", "a\n"), ("b", "b\n")]);
}

/// Of a conversation that cannot go, and an edit that could, neither goes, and that is said.
#[test]
fn what_is_named_with_a_conversation_that_cannot_go_stays_and_is_told() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.rename(&at("a"), &at("c"), None);
    let (edit, _) = agent.put(&at("b"), "b\n", "B\n", None);
    project.write("a", "mine\n");
    let refused = project.must(4, &["reject", "-c", &conversation, &edit]);
    assert!(refused.err.contains("Nothing was decided"), "{}", refused.err);
    assert_eq!(project.status_of(&edit), "pending");
}
