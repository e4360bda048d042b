//! Edits of a real headless server, decided about by the command: the rules of the specification, by its sections.
//!
//! Where the specification contradicts itself (section 6 replays one conversation against logged hashes, section 9 compares with the last
//! edit of the file) section 9 holds: a replay goes over all conversations of a file, and `hash_after` stays as it was logged.

use std::path::Path;

use serde_json::json;

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
    let refused = project.must(4, &["accept", &second]);
    assert!(refused.err.contains(&first.id[..8]) && refused.err.contains("--with-others"), "{}", refused.err);
    assert_eq!(project.text("a.txt"), mine());
    project.must(0, &["accept", &second, "--with-others"]);
    assert!(project.text("a.txt").contains("3rd\n") && !project.text("a.txt").contains("line 21"));
    project.must(0, &["accept", &third, &fourth]);
    assert_eq!(project.text("a.txt"), theirs());
    assert!(!project.text("b.txt").contains("line 1\n"));
    // What was accepted goes with its conversation, too.
    project.must(0, &["reject", &conversation[conversation.len() - 8..]]);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), (mine(), twenty()));
}

/// What builds on two hunks goes with both of them.
#[test]
fn two_hunks_go_with_what_builds_on_both() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let two = agent.edit(&path, &[("replace", "line 3", "third"), ("replace", "line 5", "fifth")]);
    let read = agent.read(&path);
    let tag =
        |line: &str| read.lines().find(|tagged| tagged.ends_with(line)).unwrap().split('|').next().unwrap();
    let hash =
        read.split("file_hash ").nth(1).unwrap().split(|letter: char| !letter.is_ascii_hexdigit()).next();
    let above = json!({"path": path, "file_hash": hash, "mcp_conversation_id": two.conversation, "operations": [
        {"op": "replace_range", "anchor": tag("|third"), "end_anchor": tag("|fifth"), "content": "3 to 5"}
    ]});
    agent.change("edit_text_file", above, Some(&two.conversation));
    for _ in 0..2 {
        project.must(0, &["reject", "-c", &two.conversation]);
        assert_eq!(project.text("a.txt"), twenty());
        project.must(0, &["accept", "-c", &two.conversation]);
        assert!(project.text("a.txt").contains("line 2\n3 to 5\nline 6\n"));
    }
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

/// Section 9, rule 1, of whole conversations: what was rejected at once is accepted at once, any number of times, byte for byte.
#[test]
fn a_whole_conversation_goes_and_comes_back() {
    let project = Project::new();
    let (a, b) = (project.write("a.txt", &twenty()), project.write("b.txt", "one\r\ntwo"));
    let mut agent = Agent::start(&project, &[]);
    let first = agent.edit(&a, &[("replace", "line 3", "third"), ("delete", "line 9", "")]);
    let conversation = first.conversation.as_str();
    agent.edit_in(&a, Some(conversation), &[("replace", "third", "3rd")]);
    agent.edit_in(&b, Some(conversation), &[("replace", "two", "zwei")]);
    agent.call(
        "write_file",
        json!({"path": "c.txt", "content": "new\n", "mcp_conversation_id": conversation}),
    );
    let texts = |project: &Project| {
        ["a.txt", "b.txt", "c.txt"].map(|file| std::fs::read(project.folder.join(file)).ok())
    };
    let with = texts(&project);
    let without = [Some(twenty().into_bytes()), Some(b"one\r\ntwo".to_vec()), None];
    for turn in 0..3 {
        let ran = project.must(0, &["reject", "-c", conversation]);
        let heading = format!("Conversation {}:\n", &conversation[conversation.len() - 8..]);
        assert!(ran.out.starts_with(&heading), "{}", ran.out);
        assert_eq!(texts(&project), without, "turn {turn}");
        let again = project.must(1, &["reject", "-c", conversation]);
        assert!(again.err.contains("is rejected already"), "{}", again.err);
        project.must(0, &["accept", conversation]);
        assert_eq!(texts(&project), with, "turn {turn}");
        assert_eq!(project.status_of(&first.id), "accepted");
    }
    assert!(project.must(1, &["accept", conversation]).err.contains("is accepted already"));
    // What was taken out by itself stays out while something else of it waits, and comes with all of it afterwards.
    project.must(0, &["reject", &format!("{}:2", first.id)]);
    agent.edit_in(&b, Some(conversation), &[("replace", "one", "eins")]);
    project.must(0, &["accept", "-c", conversation]);
    assert!(project.text("a.txt").contains("line 9\n"));
    project.must(0, &["accept", "-c", conversation]);
    assert!(!project.text("a.txt").contains("line 9\n"));
    project.assert_whole();
}

/// What goes along with a decision is named before it is decided about, though it was made in the same turn; a review, which shows such
/// edits as one, counts it and does not ask about it again.
#[test]
fn what_goes_along_is_named() {
    let scene = || {
        let project = Project::new();
        let path = project.write("a.txt", &twenty());
        let mut agent = Agent::start(&project, &[]);
        let one = agent.edit(&path, &[("replace", "line 12", "twelve")]);
        let two = agent.edit(&path, &[("replace", "twelve", "TWELVE")]);
        (project, agent, one, two)
    };
    let (project, _agent, one, two) = scene();
    let (below, above) = (&one.id[..8], &two.id[..8]);
    let texts =
        |project: &Project| (project.text("a.txt"), project.status_of(&one.id), project.status_of(&two.id));
    let before = texts(&project);
    let refused = project.must(4, &["reject", &one.id]);
    assert_eq!(
        refused.err,
        format!(
            "mcpdiff: {below}:1 in a.txt was not rejected. It is built on by {above}:1. To decide about it as well, add --with-others.\n"
        )
    );
    assert_eq!(texts(&project), before);
    let ran = project.must(0, &["reject", &one.id, "--with-others"]);
    assert_eq!(
        ran.out,
        format!("Rejected {below}, hunk 1.\nRejected {above}, hunk 1, which goes with it.\n")
    );
    let (code, json) = project.json(&["accept", &two.id, "--json"]);
    let other = json!([format!("{}:1", one.id)]);
    assert_eq!((code, &json["refused"][0]["others"], &json["decided"]), (4, &other, &json!([])));
    let (code, json) = project.json(&["accept", &two.id, "--with-others", "--json"]);
    assert_eq!((code, &json["decided"]), (0, &json!([format!("{}:1", two.id), format!("{}:1", one.id)])));
    assert!(project.text("a.txt").contains("TWELVE"));

    let (project, mut agent, _, two) = scene();
    agent.edit(&project.folder.join("a.txt"), &[("replace", "line 15", "fifteen")]);
    let lines = ["r\n", "\n", "a\n"];
    let review = crate::terminal::in_terminal(&project, &["review"], &[("NO_COLOR", "1")], &lines);
    assert!(
        review.out.contains(&format!("Rejected {}, hunk 1, which goes with it.", &two.id[..8])),
        "{}",
        review.out
    );
    assert!(!review.out.contains("Edit 2 of 3") && review.out.contains("Edit 3 of 3"), "{}", review.out);
    assert!(review.out.contains("1 hunk accepted, 2 rejected, 0 skipped."), "{}", review.out);
}

/// Section 1.8: moves that build on each other, named in one call: each is decided about where its file is by then.
#[test]
fn names_follow_a_file_that_moves() {
    let project = Project::new();
    project.write("run.sh", "echo hi\n");
    let mut agent = Agent::start(&project, &[]);
    let mut moves = |from: &str, to: &str| {
        let (text, result) = agent.call("move_file", json!({"source": from, "destination": to}));
        result["_meta"]["edits"][0].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let (one, two) = (moves("run.sh", "bin/run"), moves("bin/run", "bin/run2"));
    let there = |project: &Project, file: &str| {
        let all = ["run.sh", "bin/run", "bin/run2"].map(|name| project.folder.join(name).exists());
        assert_eq!(all, ["run.sh", "bin/run", "bin/run2"].map(|name| name == file), "{file}");
    };
    for _ in 0..2 {
        project.must(0, &["reject", &two, &one]);
        there(&project, "run.sh");
        project.must(0, &["accept", &one, &two]);
        there(&project, "bin/run2");
    }
    assert_eq!([&one, &two].map(|id| project.status_of(id)), ["accepted", "accepted"]);
}

/// What its agent has taken back is not called unknown.
#[test]
fn what_is_withdrawn_is_said_to_be() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&path, &[("replace", "line 3", "third")]);
    let other = agent.edit(&path, &[("replace", "line 9", "ninth")]);
    agent.call("withdraw_edit", json!({"edit_id": edit.id}));
    for name in [edit.id.clone(), format!("{}:1", edit.id), edit.conversation.clone()] {
        for verb in ["accept", "reject"] {
            let ran = project.must(1, &[verb, &name]);
            assert!(ran.err.contains("withdrawn by its agent"), "{}", ran.err);
        }
    }
    let (words, result) = agent.call("withdraw_edit", json!({"edit_id": edit.id}));
    assert!(result["isError"] == true && words.contains("it is withdrawn already"), "{words}");
    // One that the person has decided about meanwhile is not taken back.
    project.must(0, &["accept", &other.id]);
    let (words, result) = agent.call("withdraw_edit", json!({"edit_id": other.id}));
    assert!(result["isError"] == true && words.contains("it is accepted already"), "{words}");
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

/// What the person is shown says how each hunk stands, and what would be decided with it.
#[test]
fn show_says_how_hunks_stand() {
    for mode in ["apply", "propose"] {
        let project = Project::new();
        let path = project.write("a.txt", &twenty());
        let mut agent = Agent::start(&project, &["--mode", mode]);
        let one = agent.edit(&path, &[("replace", "line 12", "twelve")]);
        let two = agent.edit(&path, &[("replace", "twelve", "TWELVE")]);
        let (below, above) = (&one.id[..8], &two.id[..8]);
        let shown = project.must(0, &["show", &one.id]).out;
        let wanted = match mode {
            "apply" => [
                "State        in the file".to_owned(),
                format!("With others  built on by {above}:1, to be rejected with it"),
                "+twelve".to_owned(),
            ],
            _ => [
                format!("With others  decided as one with {above}:1"),
                format!("Together with {above}:1 it comes to:\n-line 12\n+TWELVE"),
                "+twelve".to_owned(),
            ],
        };
        for words in wanted {
            assert!(shown.contains(&words), "{words:?} is not in {shown}");
        }
        let other = project.must(0, &["show", &two.id]).out;
        assert!(mode == "apply" || other.contains(&format!("decided as one with {below}:1")), "{other}");
        let held = project.run(&["status"]).out.contains("pending, held");
        assert_eq!(held, mode == "propose");
        project.must(0, &["reject", &one.id, "--with-others"]);
        assert!(!project.must(0, &["show", &one.id]).out.contains("State "));
    }
}

/// What an edit does to the file itself is a hunk that can be seen, by itself, too.
#[test]
fn hunks_of_files_are_shown() {
    let project = Project::new();
    project.write("old.txt", "one\ntwo");
    let mut agent = Agent::start(&project, &[]);
    let mut call = |tool: &str, given| {
        let (text, result) = agent.call(tool, given);
        result["_meta"]["edits"][0].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let made = call("write_file", json!({"path": "new.txt", "content": "a\nb\n"}));
    let gone = call("delete_file", json!({"path": "old.txt"}));
    let show = |name: &str| project.must(0, &["show", name]).out;
    let whole = show(&made);
    assert!(
        whole.contains("\nhunk 1: makes the file\n") && whole.contains("@@ -0,0 +1,2 @@ hunk 2"),
        "{whole}"
    );
    let first = show(&format!("{made}:1"));
    assert!(first.contains("\nhunk 1: makes the file\n") && !first.contains("+a"), "{first}");
    let second = show(&format!("{made}:2"));
    assert!(second.contains("+a\n+b\n") && !second.contains("hunk 1:"), "{second}");
    let removed = show(&gone);
    let lines = "hunk 1: removes the file\n--- a/old.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@ hunk 1\n-one\n-two\n\\ No newline at end of file\n";
    assert!(removed.ends_with(lines), "{removed}");
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
