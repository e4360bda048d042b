//! Edits of a real headless server, decided about by the command: the rules of the specification, by its sections.
//!
//! Where the specification contradicts itself (section 6 replays one conversation against logged hashes, section 9 compares with the last
//! edit of the file) section 9 holds: a replay goes over all conversations of a file, and `hash_after` stays as it was logged.

use std::path::Path;

use crate::agent::{Agent, Op, numbered, twenty};
use crate::project::Project;

/// The text that is left of numbered lines when some of the operations are off.
fn with(lines: usize, operations: &[(Op<'_>, bool)]) -> String {
    let mut text = String::new();
    for number in 1..=lines {
        let line = format!("line {number}");
        let mut here = vec![line.clone()];
        for ((op, at, content), on) in operations {
            match (*op, *at == line && *on) {
                ("replace", true) => here[0] = (*content).to_owned(),
                ("delete", true) => here.clear(),
                ("insert_after", true) => here.push((*content).to_owned()),
                _ => {}
            }
        }
        text.extend(here.iter().map(|line| format!("{line}\n")));
    }
    text
}

/// Section 9, rule 1: the status can be switched between accepted and rejected at any time. Section 1.5: only that change is undone, and
/// byte for byte: mark, mixed line endings and the missing newline at the end are as they were.
#[test]
fn a_mind_is_changed_any_number_of_times() {
    let project = Project::new();
    let original = "\u{feff}line 1\r\nline 2\nline 3\r\nline 4\n\nline 6\r\nline 7\r\nline 8\nline 9\nlast";
    let path = project.write("src/a.txt", original);
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&path, &[("replace", "line 3", "third\nand more"), ("replace", "last", "the end")]);
    let text = |first: bool, second: bool| {
        let text =
            if first { original.replace("line 3\r\n", "third\r\nand more\r\n") } else { original.to_owned() };
        if second { text.replace("last", "the end") } else { text }
    };
    assert_eq!(project.text("src/a.txt"), text(true, true));
    let (one, two) = (format!("{}:1", &edit.id[..8]), format!("{}:2", edit.id));
    let (mut first, mut second) = (true, true);
    for turn in 0..12_u32 {
        let (name, on) = if turn.pow(2) % 7 < 3 { (&one, &mut first) } else { (&two, &mut second) };
        *on = !*on;
        project.must(0, &[if *on { "accept" } else { "reject" }, name]);
        assert_eq!(project.text("src/a.txt"), text(first, second), "turn {turn}");
    }
    for _ in 0..3 {
        for (verb, on, status) in [("reject", false, "rejected"), ("accept", true, "accepted")] {
            project.run(&[verb, &edit.id]);
            assert_eq!(
                (project.text("src/a.txt"), project.status_of(&edit.id)),
                (text(on, on), status.to_owned())
            );
            // The server, which goes on, sees it at once.
            assert_eq!(agent.read(&path).contains("|the end"), on);
        }
    }
    project.assert_whole();
}

/// Sections 1.5 and 6: one edit is taken out of many, whose lines have shifted since. Section 9, rule 3: accepted and pending ones
/// stay, and the diff files are not touched. Rule 4 and section 4: what was logged of the edit stays, but for its status.
#[test]
fn one_edit_is_rejected_among_many() {
    let project = Project::new();
    let path = project.write("a.txt", &numbered(40));
    let mut agent = Agent::start(&project, &[]);
    let operations: Vec<Op<'_>> = vec![
        ("insert_after", "line 2", "two and a half\ntwo and three quarters"),
        ("replace", "line 7", "seven"),
        ("delete", "line 11", ""),
        ("insert_after", "line 15", "fifteen and a half"),
        ("replace", "line 20", "twenty\nand a bit"),
        ("delete", "line 25", ""),
        ("insert_after", "line 30", "thirty and a half"),
        ("replace", "line 40", "forty"),
    ];
    let edits: Vec<_> = operations.iter().map(|op| agent.edit(&path, &[*op])).collect();
    let diffs = project.folder.join(".mcp/edit_history/diffs");
    let before = all_files(&diffs);
    let entries = |project: &Project| project.json(&["status", "--json", "-n", "0"]).1["edits"].take();
    let logged = entries(&project);
    let mut on = vec![true; edits.len()];
    let check = |project: &Project, on: &[bool]| {
        let operations: Vec<_> = operations.iter().copied().zip(on.iter().copied()).collect();
        assert_eq!(project.text("a.txt"), with(40, &operations), "{on:?}");
    };
    check(&project, &on);
    project.must(0, &["accept", &edits[1].id]);
    for at in [3, 0, 6, 2] {
        project.must(0, &["reject", &edits[at].id]);
        on[at] = false;
        check(&project, &on);
    }
    project.must(0, &["accept", &edits[0].id[..8], &edits[6].id[..8]]);
    (on[0], on[6]) = (true, true);
    check(&project, &on);
    assert_eq!(project.status_of(&edits[1].id), "accepted");
    assert_eq!(project.status_of(&edits[4].id), "pending");
    assert_eq!(all_files(&diffs), before, "diffs are never written anew");
    let mut now = entries(&project);
    for (now, then) in now.as_array_mut().unwrap().iter_mut().zip(logged.as_array().unwrap()) {
        assert_eq!(now.as_object().unwrap().len(), 13);
        now["status"] = then["status"].clone();
        assert_eq!(now, then);
    }
    project.assert_whole();
}

fn all_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(all_files(&path)),
            false => all.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    all.sort();
    all
}

/// Section 5: accepting changes the status and not the file.
#[test]
fn accepting_what_is_in_the_file_does_not_touch_it() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&path, &[("replace", "line 3", "third")]);
    let stamp = |path: &Path| path.metadata().unwrap().modified().unwrap();
    let before = (stamp(&path), project.text("a.txt"));
    let ran = project.must(0, &["accept", &edit.id]);
    assert_eq!(ran.out, format!("Accepted {}, hunk 1.\n", &edit.id[..8]));
    assert_eq!((stamp(&path), project.text("a.txt")), before);
    assert_eq!(project.status_of(&edit.id), "accepted");
    assert!(project.must(1, &["accept", &edit.id]).err.contains("accepted already"));
}

/// Sections 1.3, 1.6 and 5: all edits of a conversation at once, in all of its files, whether they build on each other or not; those of
/// others stay, and so does what a person wrote between two edits.
#[test]
fn a_conversation_is_decided_as_one() {
    let project = Project::new();
    let (a, b) = (project.write("a.txt", &twenty()), project.write("b.txt", &twenty()));
    let mut agent = Agent::start(&project, &[]);
    let first = agent.edit(&a, &[("replace", "line 3", "third")]);
    let conversation = first.conversation.clone();
    let go_on = |agent: &mut Agent, path: &Path, op: Op<'_>| {
        let edited = agent.edit_in(path, Some(&conversation), &[op]);
        assert!(!edited.refused, "{}", edited.text);
        edited.id
    };
    let second = go_on(&mut agent, &a, ("replace", "third", "3rd"));
    let mut other = Agent::start(&project, &[]);
    let foreign = other.edit(&a, &[("replace", "line 9", "ninth")]);
    // A person, and then an agent that has seen it.
    std::fs::write(&a, project.text("a.txt").replace("line 15", "line 15, mine")).unwrap();
    let third = go_on(&mut agent, &a, ("insert_after", "line 20", "line 21"));
    let fourth = go_on(&mut agent, &b, ("delete", "line 1", ""));
    let mine = || twenty().replace("line 9\n", "ninth\n").replace("line 15", "line 15, mine");
    let theirs = || mine().replace("line 3\n", "3rd\n") + "line 21\n";
    assert_eq!(project.text("a.txt"), theirs());

    let ran = project.must(0, &["reject", "-c", &conversation, "--reason", "not now"]);
    for id in [&first.id, &second, &third, &fourth] {
        assert!(ran.out.contains(&format!("Rejected {}", &id[..8])), "{}", ran.out);
        assert_eq!(project.status_of(id), "rejected");
    }
    assert_eq!((project.text("a.txt"), project.text("b.txt")), (mine(), twenty()));
    assert_eq!(project.status_of(&foreign.id), "pending");
    // Again one by one, with what each builds on.
    project.must(0, &["accept", &second]);
    assert!(project.text("a.txt").contains("3rd\n") && !project.text("a.txt").contains("line 21"));
    project.must(0, &["accept", &third, &fourth]);
    assert_eq!(project.text("a.txt"), theirs());
    assert!(!project.text("b.txt").contains("line 1\n"));
    // What was accepted goes with its conversation, too.
    project.must(0, &["reject", &conversation[conversation.len() - 8..]]);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), (mine(), twenty()));
}

/// Section 6: what another conversation built on an edit does not silently go with it.
#[test]
fn what_others_built_on_it_is_asked_about() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let below = agent.edit(&path, &[("replace", "line 5", "fifth\nfifth and a half")]);
    let above =
        Agent::start(&project, &[]).edit(&path, &[("replace", "fifth and a half", "five point five")]);
    let text = project.text("a.txt");
    let refused = project.must(4, &["reject", &below.id]);
    assert!(refused.err.contains(&above.id[..8]) && refused.err.contains("--with-others"), "{}", refused.err);
    assert_eq!(project.text("a.txt"), text);
    project.must(0, &["reject", &below.id, "--with-others"]);
    assert_eq!(project.text("a.txt"), twenty());
    // Named together, nobody needs to be asked.
    project.must(0, &["accept", &above.id, &below.id]);
    assert_eq!(project.text("a.txt"), text);
}

/// Design: an edit that is held changes the file when it is accepted, and never when it is rejected.
#[test]
fn held_edits_come_in_when_they_are_accepted() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let one = agent.edit(&path, &[("replace", "line 3", "third"), ("replace", "line 12", "twelfth")]);
    let two = agent.edit(&path, &[("replace", "line 18", "eighteenth")]);
    assert_eq!(project.text("a.txt"), twenty());
    project.must(0, &["reject", &two.id]);
    project.must(0, &["accept", &format!("{}:2", one.id)]);
    assert_eq!(project.text("a.txt"), twenty().replace("line 12", "twelfth"));
    assert_eq!(project.status_of(&one.id), "pending");
    project.must(0, &["accept", &one.id]);
    assert_eq!(project.text("a.txt"), twenty().replace("line 12", "twelfth").replace("line 3\n", "third\n"));
    assert_eq!(
        (project.status_of(&one.id), project.status_of(&two.id)),
        ("accepted".into(), "rejected".into())
    );
}

/// A review of real edits: what is answered is done, in the file and in the log.
#[test]
fn a_review_decides_in_the_files() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let one = agent.edit(&path, &[("replace", "line 3", "third"), ("replace", "line 12", "twelfth")]);
    let two = agent.edit(&path, &[("delete", "line 18", "")]);
    let three = agent.edit(&path, &[("replace", "line 20", "the end")]);
    let lines = ["h\n", "a\n", "r\n", "too much\n", "r\n", "\n", "s\n"];
    let review = crate::terminal::in_terminal(&project, &["review"], &[("NO_COLOR", "1")], &lines);
    assert_eq!(review.code, 0, "{}", review.out);
    let tally = "1 hunk accepted, 2 rejected, 1 skipped. 1 edit is left undecided.";
    assert!(review.out.contains(tally), "{}", review.out);
    assert_eq!(project.text("a.txt"), twenty().replace("line 3\n", "third\n").replace("line 20", "the end"));
    let statuses = [&one, &two, &three].map(|edit| project.status_of(&edit.id));
    assert_eq!(statuses, ["accepted", "rejected", "pending"]);
    assert!(project.run(&["show", &one.id]).out.contains("too much"));

    // A change that nobody watched is asked about, and kept or given up.
    std::fs::write(&path, project.text("a.txt").replace("line 9\n", "line 9, mine\n")).unwrap();
    for (answers, words, text) in [
        (&["r\n", "\n", "s\n"][..], "+line 9, mine", project.text("a.txt")),
        (
            &["r\n", "\n", "k\n"],
            "Nothing is left undecided",
            project.text("a.txt").replace("the end", "line 20"),
        ),
    ] {
        let review = crate::terminal::in_terminal(&project, &["review"], &[("NO_COLOR", "1")], answers);
        assert!(review.code == 0 && review.out.contains(words), "{words}: {}", review.out);
        assert_eq!(project.text("a.txt"), text, "{}", review.out);
    }
}
