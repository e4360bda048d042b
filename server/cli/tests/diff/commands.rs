//! Each command, its exit codes and its JSON.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::project::{ONE, Project, ran, sample};

/// The ids in a table, from the top.
fn listed(out: &str) -> Vec<&str> {
    out.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect()
}

#[test]
fn the_help_teaches() {
    let project = Project::new();
    let help = project.run(&["--help"]);
    for word in ["status", "review", "cleanup", "Examples:", "EDIT:2", "Exit codes", "--workspace"] {
        assert!(help.out.contains(word), "{word} is not in {}", help.out);
    }
    for command in ["status", "show", "accept", "reject", "review", "cleanup"] {
        let help = project.run(&[command, "--help"]);
        assert!(
            help.code == 0 && help.out.contains("Examples:") && help.out.contains("Exit codes"),
            "{command}"
        );
    }
}

#[test]
fn it_is_the_same_as_hashline_diff() {
    let project = sample();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
    command.args(["diff", "st", "--json", "-w"]).arg(&project.folder).env("TZ", "UTC");
    command.arg("--state-dir").arg(project.temp.path().join("state"));
    let one = ran(command);
    assert_eq!((one.code, one.out), (0, project.run(&["status", "--json"]).out));
}

#[test]
fn status_lists_the_newest_first() {
    let project = sample();
    let all = project.run(&["status"]);
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    assert_eq!(listed(&all.out), ["dddddddd", "cccccccc", "aaaabbbb", "aaaaaaaa"], "{}", all.out);
    assert!(all.out.contains("old/name.txt -> new/name.txt"), "{}", all.out);
    assert_eq!(all.out.matches("pending, held").count(), 3, "{}", all.out);
    assert_eq!(listed(&project.run(&[]).out).len(), 4);
    assert!(all.out.lines().all(|line| !line.ends_with(' ')), "{}", all.out);
}

#[test]
fn status_is_filtered() {
    let project = sample();
    for (arguments, expected) in [
        (&["--status", "pending"][..], &["dddddddd", "aaaabbbb", "aaaaaaaa"][..]),
        (&["--status", "rejected,accepted"], &["cccccccc"]),
        (&["--op", "move"], &["dddddddd"]),
        (&["-f", "greet"], &["aaaabbbb", "aaaaaaaa"]),
        (&["-f", "./src/greet.js"], &["aaaabbbb", "aaaaaaaa"]),
        (&["-f", "old/"], &["dddddddd"]),
        (&["-c", "22222222"], &["cccccccc"]),
        (&["-c", ONE, "--op", "edit"], &["aaaabbbb", "aaaaaaaa"]),
        (&["-n", "0"], &["dddddddd", "cccccccc", "aaaabbbb", "aaaaaaaa"]),
        (&["--time", "1h"], &["dddddddd", "cccccccc", "aaaabbbb", "aaaaaaaa"]),
    ] {
        let ran = project.run(&[&["st"], arguments].concat());
        assert_eq!(
            (ran.code, listed(&ran.out)),
            (0, expected.to_vec()),
            "{arguments:?}: {}{}",
            ran.out,
            ran.err
        );
    }
    let whole = project.folder.join("src/greet.js").display().to_string();
    assert_eq!(listed(&project.run(&["st", "-f", &whole]).out), ["aaaabbbb", "aaaaaaaa"]);
    for arguments in [&["--time", "0s"][..], &["-f", "nothing"], &["-f", "project"], &["--op", "delete"]] {
        let ran = project.run(&[&["st"], arguments].concat());
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.out);
        assert!(ran.out.contains("None of the 4 edits"), "{}", ran.out);
    }
    let few = project.run(&["st", "-n", "1"]);
    assert!(few.out.ends_with("The newest 1 of 4 edits. -n 0 shows all.\n"), "{}", few.out);
    assert_eq!(project.run(&["st", "-c", "conv_"]).code, 2);
    assert_eq!(project.run(&["st", "-c", "nobody"]).code, 1);
}

#[test]
fn status_for_programs() {
    let project = sample();
    let (code, json) = project.json(&["status", "--json", "-n", "2"]);
    assert_eq!((code, &json["matching"], &json["total"]), (0, &4.into(), &4.into()));
    assert_eq!(json["edits"].as_array().unwrap().len(), 2);
    assert_eq!(json["edits"][0].as_object().unwrap().len(), 13);
    assert_eq!(json["edits"][0]["operation"], "move");
    assert_eq!(json["folder"], project.folder.to_str().unwrap());
    let (code, json) = project.json(&["status", "--json", "-f", "nothing"]);
    assert_eq!((code, json["edits"].as_array().unwrap().len()), (1, 0));
}

#[test]
fn the_history_is_the_nearest_above() {
    let project = sample();
    let deep = project.folder.join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let mut command = project.command(&["status"]);
    command.current_dir(&deep);
    assert_eq!(listed(&ran(command).out).len(), 4);
    let mut command = project.command(&["status", "-w", deep.to_str().unwrap()]);
    command.current_dir("/");
    assert_eq!(listed(&ran(command).out).len(), 4);

    let empty = Project::new();
    for arguments in [&["status"][..], &["show", "a"], &["accept", "a"], &["cleanup"]] {
        let ran = empty.run(arguments);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains("No edits are recorded") && ran.err.contains("-w"), "{}", ran.err);
    }
    assert!(!empty.folder.join(".mcp").exists(), "looking makes nothing");
    assert_eq!(empty.run(&["status", "-w", "/nowhere/at/all"]).code, 2);
}

#[test]
fn show_prints_an_edit_with_its_hunks_numbered() {
    let project = sample();
    let shown = project.run(&["show", "aaaaaaaa"]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    for line in [
        "edit aaaaaaaa-1  pending",
        "File         src/greet.js",
        "Agent        claude-code, edit_text_file",
        "Why          asked for in the issue",
        "Conversation conv_1700000000000_11111111",
        "State        held: its lines are not in the file until it is accepted",
        "--- a/src/greet.js",
        "@@ -1,7 +1,7 @@ hunks 1-2",
        "-line 2",
        "+second",
        "@@ -18,7 +18,7 @@ hunk 3",
    ] {
        assert!(shown.out.lines().any(|other| other == line), "{line:?} is not in\n{}", shown.out);
    }
    let hunk = project.run(&["s", "aaaaaaaa:2"]);
    assert!(hunk.out.starts_with("edit aaaaaaaa-1, hunk 2 of 3  pending\n"), "{}", hunk.out);
    assert!(
        hunk.out.ends_with(
            "@@ -1,7 +1,7 @@ hunk 2\n line 1\n line 2\n line 3\n-line 4\n+fourth\n line 5\n line 6\n line 7\n"
        ),
        "{}",
        hunk.out
    );
    let conversation = project.run(&["sh", "11111111"]);
    assert_eq!(conversation.out.lines().filter(|line| line.starts_with("edit ")).count(), 3);
    assert!(
        conversation
            .out
            .contains("hunk 1: renames the file\nrename from old/name.txt\nrename to new/name.txt"),
        "{}",
        conversation.out
    );
    let decided = project.run(&["show", "-e", "cc"]);
    assert!(decided.out.contains("Decision     rejected: in English, please"), "{}", decided.out);
}

#[test]
fn what_show_prints_is_a_patch() {
    let project = sample();
    let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    for (arguments, expected) in [
        (
            &["show", "aaaaaaaa"][..],
            text.replace("line 2\n", "second\n")
                .replace("line 4\n", "fourth\n")
                .replace("line 21\n", "twenty-first\n"),
        ),
        (&["show", "aaaaaaaa:2"], text.replace("line 4\n", "fourth\n")),
        (&["show", "aaaaaaaa:3"], text.replace("line 21\n", "twenty-first\n")),
    ] {
        let file = project.folder.join("src/greet.js");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
        let it = project.folder.join("it.patch");
        std::fs::write(&it, project.run(arguments).out).unwrap();
        // Some machines have one of the two, and those that have neither cannot tell.
        for (program, options) in
            [("patch", &["-p1", "--fuzz=0", "-i"][..]), ("git", &["apply", "--unsafe-paths"])]
        {
            let mut command = Command::new(program);
            command.args(options).arg(&it).current_dir(&project.folder).stdin(Stdio::null());
            let Ok(applied) = command.output() else { continue };
            assert!(applied.status.success(), "{program} {arguments:?}: {applied:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), expected, "{program} {arguments:?}");
            std::fs::write(&file, &text).unwrap();
        }
    }
}

#[test]
fn an_edit_whose_record_is_broken_is_still_shown() {
    let project = sample();
    let checkpoints = project.folder.join(".mcp/edit_history/checkpoints");
    std::fs::remove_dir_all(checkpoints).unwrap();
    let shown = project.run(&["show", "aaaaaaaa"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.contains("\nProblem      Record 1 of "), "{}", shown.out);
    assert!(shown.out.contains("\n+second\n") && shown.out.contains("\n@@ -1,7 +1,7 @@\n"), "{}", shown.out);
    let (_, json) = project.json(&["show", "aaaaaaaa", "--json"]);
    assert!(json["edits"][0]["problem"].as_str().unwrap().contains("checkpoint"), "{json}");
}

#[test]
fn show_for_programs() {
    let project = sample();
    let (code, json) = project.json(&["show", "--json", "aaaaaaaa", "cccccccc"]);
    assert_eq!((code, json["edits"].as_array().unwrap().len()), (0, 2));
    let edit = &json["edits"][0];
    assert_eq!((&edit["edit_id"], &edit["agent"]), (&"aaaaaaaa-1".into(), &"claude-code".into()));
    assert_eq!(edit["hunks"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&edit["hunks"][0]["state"], &edit["hunks"][0]["one_with"]),
        (&"held".into(), &serde_json::json!([]))
    );
    assert!(edit["hunks"][1]["diff"].as_str().unwrap().contains("+fourth"));
    assert_eq!(json["edits"][1]["hunks"][0]["reason"], "in English, please");
    let (_, json) = project.json(&["show", "--json", "aaaaaaaa:2"]);
    assert_eq!(json["edits"][0]["hunks"].as_array().unwrap().len(), 1);
}

#[test]
fn names_that_name_nothing_or_too_much() {
    let project = sample();
    for verb in ["show", "accept", "reject"] {
        for (arguments, code, words) in [
            (&["ffff"][..], 1, "mcpdiff status"),
            (&["-e", "22222222"], 1, "No edit is called"),
            (&["-c", "aaaaaaaa"], 1, "No conversation is called"),
            // An end that short is a slip.
            (&["2"], 1, "No edit and no conversation"),
            (&["-c", "222"], 1, "No conversation is called"),
            (&["aaaaaaaa:4"], 1, "aaaaaaaa:1 to aaaaaaaa:3"),
            (&["cccccccc:2"], 1, "it has one"),
            (&["aaaaaaaa:x"], 2, "3f2a:2"),
            (&["aaaa"], 2, "aaaabbbb-2"),
            (&["conv_17"], 2, "conv_1700000000000_22222222"),
            (&[], 2, "aaaabbbb"),
        ] {
            let ran = project.run(&[&[verb], arguments].concat());
            assert_eq!(ran.code, code, "{verb} {arguments:?}: {}", ran.err);
            assert!(
                ran.out.is_empty() && ran.err.contains(words),
                "{verb} {arguments:?}: {}{}",
                ran.out,
                ran.err
            );
        }
    }
    assert_eq!(project.run(&["accept", "aaaaaaaa", "--keep", "--force"]).code, 2);
}

#[test]
fn what_is_decided_already_is_nothing_to_do() {
    let project = sample();
    let ran = project.run(&["reject", "cccccccc"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("rejected already"), "{}", ran.err);
    let all = project.run(&["reject", "-c", "22222222"]);
    assert!(all.code == 1 && all.err.contains("Conversation 22222222 is rejected already"), "{}", all.err);
    let (code, json) = project.json(&["reject", "cccccccc:1", "--json"]);
    assert_eq!((code, json["nothing_to_do"].as_array().unwrap().len()), (1, 1));
}

#[test]
fn review_never_asks_without_a_terminal() {
    let ran = sample().run(&["review"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.is_empty() && ran.err.contains("terminal") && ran.err.contains("accept"), "{}", ran.err);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let project = Project::new();
    let text: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    let new: Vec<String> = (0..20_000).map(|line| format!("new {line}")).collect();
    let replaced: Vec<(usize, &str)> =
        new.iter().enumerate().step_by(2).map(|(at, new)| (at, new.as_str())).collect();
    project.edits("big.txt", &text, &[(crate::project::A, &replaced)]);
    let mut child =
        project.command(&["show", "aaaaaaaa"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(&first, b"edit");
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

#[test]
fn cleanup_says_what_goes_and_what_keeps_the_rest() {
    let project = sample();
    let young = project.run(&["cleanup"]);
    assert_eq!(young.code, 1, "{}", young.out);
    assert!(young.out.contains("Kept:") && young.out.contains(") is not old enough"), "{}", young.out);
    let dry = project.run(&["clean", "--older-than", "0s", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}{}", dry.out, dry.err);
    assert!(
        dry.out.contains("notes.txt  1 edit  cccccccc") && dry.out.contains("Would forget 1 edit"),
        "{}",
        dry.out
    );
    assert!(dry.out.contains("src/greet.js  2 edits, as edit aaaaaaaa is not decided"), "{}", dry.out);
    assert_eq!(listed(&project.run(&["status"]).out).len(), 4);
    let (code, json) = project.json(&["cleanup", "--older-than", "0s", "--json"]);
    assert_eq!((code, &json["forgotten"], &json["kept"]), (0, &1.into(), &3.into()));
    assert!(json["freed_bytes"].as_u64().unwrap() > 0, "{json}");
    assert_eq!(listed(&project.run(&["status"]).out).len(), 3);
    assert_eq!(project.run(&["cleanup", "--older-than", "0s"]).code, 1);
}

#[test]
fn cleanup_makes_the_history_as_small_as_is_asked_for() {
    let project = sample();
    let enough = project.run(&["cleanup", "--keep-size", "1M"]);
    assert_eq!(enough.code, 1, "{}", enough.out);
    assert!(
        enough.out.contains("Nothing is forgotten") && enough.out.contains("within 1.0 MiB"),
        "{}",
        enough.out
    );
    assert!(
        enough.out.contains(
            "notes.txt  1 edit, as the history is small enough with edit cccccccc (last made or decided on "
        ),
        "{}",
        enough.out
    );
    // What is young goes then, too, but not where an age is given.
    let young = project.run(&["cleanup", "--keep-size", "0", "--older-than", "1h"]);
    assert_eq!(young.code, 1, "{}", young.out);
    let dry = project.run(&["cleanup", "--keep-size", "0", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}{}", dry.out, dry.err);
    for words in [
        "notes.txt  1 edit  cccccccc",
        "Would forget 1 edit and free",
        "would have",
        "still more than 0 bytes",
    ] {
        assert!(dry.out.contains(words), "{words:?} is not in\n{}", dry.out);
    }
    let (code, planned) = project.json(&["cleanup", "--keep-size", "0", "--dry-run", "--json"]);
    let (done, json) = project.json(&["cleanup", "--keep-size", "0", "--json"]);
    assert_eq!((code, done, &json["forgotten"], &json["kept"]), (0, 0, &1.into(), &3.into()));
    assert_eq!(planned["files"], json["files"]);
    let near = |key: &str| planned[key].as_u64().unwrap().abs_diff(json[key].as_u64().unwrap()) < 20;
    assert!(near("freed_bytes") && near("size_bytes"), "{planned} {json}");
    assert_eq!(listed(&project.run(&["status"]).out).len(), 3);
}
