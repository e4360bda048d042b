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

pub(crate) fn holds(project: &Project, files: &[(&str, &str)]) {
    let wanted: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    assert_eq!(tree(project), wanted);
}

/// A project with these files, and an agent in it.
pub(crate) fn scene(files: &[(&str, &str)]) -> (Project, Agent) {
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

/// A name that a file had only for a while is another's by now, and is not needed.
#[test]
fn a_swap_goes_back_though_the_name_in_between_is_taken() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, one) = agent.rename(&at("a"), &at("t"), None);
    let (_, other) = agent.rename(&at("b"), &at("a"), None);
    agent.rename(&at("t"), &at("b"), Some(&one));
    let (third, _) = agent.rename(&at("c"), &at("t"), None);
    for _ in 0..2 {
        project.must(0, &["reject", "-c", &one, "-c", &other]);
        holds(&project, &[("a", "a\n"), ("b", "b\n"), ("t", "c\n")]);
        project.must(0, &["accept", "-c", &one, "-c", &other]);
        holds(&project, &[("a", "b\n"), ("b", "a\n"), ("t", "c\n")]);
    }
    assert_eq!(project.status_of(&third), "pending");
    project.must(0, &["reject", &third]);
    holds(&project, &[("a", "b\n"), ("b", "a\n"), ("c", "c\n")]);
    project.assert_whole();
}

/// Names that are shared for a while do not hide one that two files would have in the end.
#[test]
fn a_swap_does_not_go_back_over_a_file_of_the_person() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.rename(&at("a"), &at("t"), None);
    let (moved, _) = agent.rename(&at("b"), &at("a"), Some(&conversation));
    agent.rename(&at("t"), &at("b"), Some(&conversation));
    agent.rename(&at("b"), &at("d"), Some(&conversation));
    agent.rename(&at("c"), &at("t"), None);
    project.write("b", "mine\n");
    let before = tree(&project);
    let refused = project.must(4, &["reject", "-c", &conversation]);
    let said = format!("{} in", &moved[..8]);
    assert!(refused.err.contains(&said) && refused.err.contains("another file called"), "{}", refused.err);
    assert_eq!((refused.err.lines().count(), refused.out.as_str()), (1, ""), "{}", refused.err);
    assert_eq!(tree(&project), before);
    assert_eq!(project.status_of(&moved), "pending");
    std::fs::remove_file(at("b")).unwrap();
    project.must(0, &["reject", "-c", &conversation]);
    holds(&project, &[("a", "a\n"), ("b", "b\n"), ("t", "c\n")]);
}

/// Of two that made a file, neither in the place of the other, the lines are in it of one.
#[test]
fn lines_of_an_earlier_making_do_not_come_beside_those_of_a_later_one() {
    let (project, mut agent) = scene(&[]);
    let path = project.folder.join("n");
    let (first, _) = agent.make(&path, "first\n", None);
    let (put, _) = agent.put(&path, "first\n", "1\n", None);
    project.must(0, &["reject", &first, "--with-others"]);
    let (second, _) = agent.make(&path, "second\n", None);
    for named in [&[&format!("{first}:2") as &str][..], &[&put, "--with-others"]] {
        let refused = project.must(4, &[&["accept"], named].concat());
        let said = format!("{}:2 made the file anew", &second[..8]);
        assert!(refused.err.contains(&said), "{}", refused.err);
        holds(&project, &[("n", "second\n")]);
    }
    project.must(0, &["reject", &second]);
    project.must(0, &["accept", &put, "--with-others"]);
    holds(&project, &[("n", "1\n")]);
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

/// What other agents have changed in a file since it was made again is theirs, and not the person's.
#[test]
fn lines_of_agents_are_not_said_to_be_yours() {
    let (project, mut agent) = scene(&[("p", "one\ntwo\n")]);
    let at = |name: &str| project.folder.join(name);
    let last = agent.edit_in(&at("p"), None, &[("insert_after", "two", "three")]);
    project.must(0, &["reject", &last.id]);
    let (removed, conversation) = agent.remove(&at("p"), None);
    let (made, _) = agent.make(&at("p"), "new\n", Some(&conversation));
    // It stands behind all that the new file has taken the place of.
    project.must(0, &["accept", &last.id]);
    holds(&project, &[("p", "new\nthree\n")]);
    project.must(0, &["reject", &made]);
    project.must(0, &["reject", &removed]);
    holds(&project, &[("p", "one\ntwo\nthree\n")]);
    for edit in [&removed, &made] {
        project.must(0, &["accept", edit]);
    }
    holds(&project, &[("p", "new\nthree\n")]);
    // What the person writes still is.
    project.write("p", "new\nthree\nmine\n");
    agent.read(&at("p"));
    let refused = project.must(4, &["reject", &made, "--keep"]);
    assert!(refused.err.contains("You have written in the file"), "{}", refused.err);
    holds(&project, &[("p", "new\nthree\nmine\n")]);
}

/// Lines of a file that is not there, as the edit that made it was rejected, come with that one.
#[test]
fn lines_wait_for_the_edit_that_makes_their_file() {
    let (project, mut agent) = scene(&[]);
    let at = |name: &str| project.folder.join(name);
    let (made, conversation) = agent.make(&at("n"), "one\ntwo\n", None);
    let (put, _) = agent.put(&at("n"), "two\n", "2\n", None);
    project.must(0, &["reject", &made, &put]);
    let refused = project.must(4, &["accept", &put]);
    assert!(refused.err.contains(&made[..8]) && refused.err.contains("--with-others"), "{}", refused.err);
    let refused = project.must(4, &["accept", &format!("{made}:2")]);
    assert!(refused.err.contains(&format!("{}:1", &made[..8])), "{}", refused.err);
    holds(&project, &[]);
    project.must(0, &["accept", &put, "--with-others"]);
    holds(&project, &[("n", "one\n2\n")]);
    project.must(0, &["reject", "-c", &conversation, "--with-others"]);
    holds(&project, &[]);
}

/// Of earlier edits of a file's name only those are asked for that lead to the one that is named.
#[test]
fn only_the_renames_that_lead_to_it_are_asked_for() {
    let (project, mut agent) = scene(&[("a", "a\n")]);
    let at = |name: &str| project.folder.join(name);
    let (first, conversation) = agent.rename(&at("a"), &at("b"), None);
    project.must(0, &["reject", &first]);
    let (second, _) = agent.rename(&at("a"), &at("c"), Some(&conversation));
    let (third, _) = agent.rename(&at("c"), &at("d"), Some(&conversation));
    project.must(0, &["reject", &third, &second]);
    let refused = project.must(4, &["accept", &third]);
    assert!(refused.err.contains(&second[..8]) && !refused.err.contains(&first[..8]), "{}", refused.err);
    project.must(0, &["accept", &third, "--with-others"]);
    holds(&project, &[("d", "a\n")]);
    let refused = project.must(4, &["accept", &first]);
    assert!(refused.err.contains(&third[..8]), "{}", refused.err);
}

/// What goes along with a decision about a file is told, lines as well as files.
#[test]
fn what_goes_along_with_a_file_is_told() {
    let (project, mut agent) = scene(&[("a", "a\n")]);
    let at = |name: &str| project.folder.join(name);
    let (made, _) = agent.make(&at("n"), "one\ntwo\n", None);
    let (put, _) = agent.put(&at("n"), "two\n", "2\n", None);
    let told = project.must(0, &["reject", &format!("{made}:1"), "--with-others"]).out;
    for line in
        [format!("{}, hunk 2, which goes with it.", &made[..8]), format!("{}, hunk 1, which", &put[..8])]
    {
        assert!(told.contains(&line), "{line}: {told}");
    }
    let (first, _) = agent.rename(&at("a"), &at("b"), None);
    let (second, _) = agent.rename(&at("b"), &at("c"), None);
    for (verb, one, other) in [("reject", &first, &second), ("accept", &second, &first)] {
        let told = project.must(0, &[verb, one, "--with-others"]).out;
        assert!(told.contains(&format!("{}, hunk 1, which goes with it.", &other[..8])), "{told}");
    }
}

/// What is named together takes nothing else along.
#[test]
fn what_is_named_together_takes_nothing_else_along() {
    let (project, mut agent) = scene(&[("p", "p\n")]);
    let at = |name: &str| project.folder.join(name);
    let (removed, _) = agent.remove(&at("p"), None);
    let (made, _) = agent.make(&at("p"), "one\ntwo\n", None);
    let (put, _) = agent.put(&at("p"), "two\n", "2\n", None);
    let refused = project.must(4, &["reject", &removed, &made]);
    assert!(refused.err.contains(&put[..8]), "{}", refused.err);
    holds(&project, &[("p", "one\n2\n")]);
    assert_eq!(project.status_of(&put), "pending");
    project.must(0, &["reject", &removed, &made, &put]);
    holds(&project, &[("p", "p\n")]);
}

/// What waits in a file that was removed is not in what is made in its place, and its agent has written what is there.
#[test]
fn what_is_written_at_once_is_there_whatever_waits() {
    let (project, mut agent) = scene(&[("p", "one\ntwo\nthree\n")]);
    let at = |name: &str| project.folder.join(name);
    let mut cautious = Agent::start(&project, &["--mode", "propose"]);
    let (held, _) = cautious.put(&at("p"), "two\n", "2\n", None);
    let (removed, _) = agent.remove(&at("p"), None);
    let (made, _) = agent.make(&at("p"), "new\n", None);
    holds(&project, &[("p", "new\n")]);
    let refused = project.must(4, &["accept", &held]);
    assert!(refused.err.contains(&made[..8]), "{}", refused.err);
    project.must(0, &["reject", &made, &removed]);
    project.must(0, &["accept", &held]);
    holds(&project, &[("p", "one\n2\nthree\n")]);
}

/// Whatever editors show as one: what is needed goes along, and nothing else.
#[test]
fn what_need_not_go_along_stays() {
    let (project, _agent) = scene(&[("p", "one\ntwo\nthree\n")]);
    let at = |name: &str| project.folder.join(name);
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let (first, conversation) = agent.put(&at("p"), "two\n", "2\n", None);
    let (second, _) = agent.put(&at("p"), "2\n", "II\n", Some(&conversation));
    let (third, _) = agent.put(&at("p"), "II\n", "ii\n", Some(&conversation));
    project.must(0, &["reject", &second, "--with-others"]);
    let statuses = [&first, &second, &third].map(|edit| project.status_of(edit));
    assert_eq!(statuses, ["pending", "rejected", "rejected"]);
    project.must(0, &["accept", &second, "--with-others"]);
    let statuses = [&first, &second, &third].map(|edit| project.status_of(edit));
    assert_eq!(statuses, ["accepted", "accepted", "rejected"]);
    holds(&project, &[("p", "one\nII\nthree\n")]);
}

/// A file that is gone as its making was rejected was not removed by an edit that waits for the person.
#[test]
fn a_removal_that_waits_is_not_done_by_another_decision() {
    let (project, mut agent) = scene(&[]);
    let at = |name: &str| project.folder.join(name);
    let (made, _) = agent.make(&at("n"), "one\n", None);
    let (removed, _) = Agent::start(&project, &["--mode", "propose"]).remove(&at("n"), None);
    project.must(0, &["reject", &made]);
    agent.make(&at("other"), "other\n", None);
    Agent::start(&project, &[]).read(&at("n"));
    assert_eq!(project.status_of(&removed), "pending");
    holds(&project, &[("other", "other\n")]);
}

/// A name that a file was to have is free when that was rejected, for an agent that was there all the time.
#[test]
fn a_name_that_was_only_proposed_is_free_again() {
    let (project, _agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let (moved, _) = agent.rename(&at("a"), &at("n"), None);
    project.must(0, &["reject", &moved]);
    let (made, _) = agent.make(&at("n"), "new\n", None);
    project.must(0, &["accept", &made]);
    holds(&project, &[("a", "a\n"), ("b", "b\n"), ("n", "new\n")]);
}

/// Two makings of a file that did not know of each other are not in one file.
#[test]
fn a_file_that_is_made_anew_has_not_the_lines_of_the_one_before() {
    let (project, mut agent) = scene(&[]);
    let at = |name: &str| project.folder.join(name);
    let (made, turn) = agent.make(&at("p"), "one\n", None);
    let (removed, _) = agent.remove(&at("p"), Some(&turn));
    project.must(0, &["reject", "-c", &turn]);
    let (again, _) = agent.make(&at("p"), "two\n", Some(&turn));
    holds(&project, &[("p", "two\n")]);
    let patch = project.must(0, &["export", "--proposed", "-c", &turn]);
    assert!(patch.out.contains("+two\n") && !patch.out.contains("one"), "{}", patch.out);
    project.must(0, &["reject", &again]);
    project.must(0, &["accept", &made]);
    project.must(0, &["accept", &removed]);
    for named in [&["-c", &turn][..], &[&again]] {
        let refused = project.must(4, &[&["accept"], named].concat());
        let said = format!("{}:2 would be in the file as well", &made[..8]);
        assert!(refused.err.contains(&said) && refused.out.is_empty(), "{}", refused.err);
        holds(&project, &[]);
    }
    project.must(0, &["reject", &format!("{made}:2")]);
    project.must(0, &["accept", &again]);
    holds(&project, &[("p", "two\n")]);
    project.assert_whole();
}

/// What was there before a file was made anew comes and goes beneath it.
#[test]
fn a_file_that_is_made_anew_in_place_of_another_goes_and_comes() {
    let (project, mut agent) = scene(&[]);
    let at = |name: &str| project.folder.join(name);
    let (made, _) = agent.make(&at("p"), "one\n", None);
    let (removed, turn) = agent.remove(&at("p"), None);
    let (again, _) = agent.make(&at("p"), "two\n", Some(&turn));
    project.must(0, &["accept", &made]);
    for _ in 0..2 {
        project.must(0, &["reject", "-c", &turn]);
        holds(&project, &[("p", "one\n")]);
        let patch = project.must(0, &["export", "--rejected", "-c", &turn]);
        assert!(patch.out.contains("+two\n") && patch.out.contains("-one\n"), "{}", patch.out);
        project.must(0, &["accept", "-c", &turn]);
        holds(&project, &[("p", "two\n")]);
    }
    let statuses = [&made, &removed, &again].map(|edit| project.status_of(edit));
    assert_eq!(statuses, ["accepted", "accepted", "accepted"]);
}
