//! Histories that cannot be written, torn or damaged records, processes that are killed, and many processes at once.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::agent::{Agent, numbered, twenty};
use crate::project::{Project, Ran, ran};

/// Runs it where no file may become longer than so many blocks of 1024 bytes: what a full disk, or one that is read only, is to a
/// program, whoever runs the test.
fn limited(project: &Project, blocks: u32, arguments: &[&str]) -> Ran {
    let inner = project.command(arguments);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "bash"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(&project.folder).stdin(Stdio::null()).env_remove("HASHLINE_LOG");
    ran(command)
}

/// Section 7, atomicity: a decision that cannot be recorded, or whose file cannot be written, is not made.
#[test]
fn what_cannot_be_written_is_not_decided() {
    let project = Project::new();
    let long = numbered(40_000);
    let (short, path) = (project.write("short.txt", &twenty()), project.write("long.txt", &long));
    let mut agent = Agent::start(&project, &[]);
    let (one, two) = (
        agent.edit(&short, &[("replace", "line 3", "third")]),
        agent.edit(&path, &[("replace", "line 3", "third")]),
    );
    let texts = || (project.text("short.txt"), project.text("long.txt"));
    let before = texts();
    let record = project.folder.join(".mcp/edit_history/decisions.log");
    let blocks = u32::try_from(record.metadata().unwrap().len() / 1024 + 20).unwrap();
    // The record cannot grow; the record can, and the file cannot be written.
    for (blocks, edit) in [(0, &one), (0, &two), (blocks, &two)] {
        for verb in ["reject", "accept"] {
            // Accepting writes no file.
            if blocks > 0 && verb == "accept" {
                continue;
            }
            let ran = limited(&project, blocks, &[verb, &edit.id]);
            assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{verb}: {}", ran.err);
            assert!(ran.err.contains(&edit.id[..8]) && ran.err.contains(" was not "), "{}", ran.err);
            assert!(
                ran.err.contains("could not be written") || ran.err.contains("File too large"),
                "{}",
                ran.err
            );
            assert_eq!(texts(), before);
            assert_eq!(project.status_of(&edit.id), "pending", "{verb} {blocks}: {}", ran.err);
            project.assert_whole();
        }
    }
    // Nothing is in the way afterwards.
    project.must(0, &["reject", &one.id, &two.id]);
    assert_eq!(texts(), (twenty(), long));
    for place in [&project.folder, &project.folder.join(".mcp/edit_history")] {
        let names =
            std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> =
            names.filter(|name| name.contains("tmp") || name.contains("partial")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Looking needs no right to write.
#[test]
fn a_history_that_cannot_be_written_can_be_read() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let edit = Agent::start(&project, &[]).edit(&path, &[("replace", "line 3", "third")]);
    for arguments in [&["status"][..], &["show", &edit.id]] {
        let ran = limited(&project, 0, arguments);
        assert!(ran.code == 0 && ran.out.contains(&edit.id[..8]), "{}{}", ran.out, ran.err);
    }
}

/// A record that a crash has left half a line of is mended by the next that writes, which says so; a line that was damaged otherwise is
/// told by every command.
#[test]
fn a_torn_record_is_mended_and_a_damaged_one_told() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let one = agent.edit(&path, &[("replace", "line 3", "third")]);
    let two = agent.edit(&path, &[("replace", "line 13", "thirteenth")]);
    drop(agent);
    let record = project.folder.join(".mcp/edit_history/decisions.log");
    let append = |bytes: &[u8]| {
        std::fs::OpenOptions::new().append(true).open(&record).unwrap().write_all(bytes).unwrap();
    };
    append(b"{\"seq\":99,\"time\":\"2026");
    assert_eq!(project.must(0, &["status"]).err, "", "somebody may be writing it");
    let ran = project.must(0, &["reject", &one.id]);
    assert!(ran.err.contains("half a line") && ran.err.contains("cut off"), "{}", ran.err);
    assert_eq!(project.text("a.txt"), twenty().replace("line 13", "thirteenth"));
    assert_eq!(project.must(0, &["accept", &one.id]).err, "");
    project.assert_whole();

    append(b"{\"seq\": and so on}\n");
    for arguments in [&["status"][..], &["show", &two.id], &["reject", &two.id]] {
        let ran = project.must(0, arguments);
        assert!(
            ran.err.lines().count() == 1 && ran.err.contains("of decisions.log is damaged"),
            "{}",
            ran.err
        );
    }
    let (_, json) = project.json(&["status", "--json"]);
    assert_eq!(json["damaged"][0]["file"], "decisions.log", "{json}");
    assert_eq!(project.text("a.txt"), twenty().replace("line 3\n", "third\n"));
}

/// Section 3 and design: killed at any moment, every file is whole and is what the log says, and the next start finishes what was begun.
#[test]
fn killed_at_any_moment() {
    let project = Project::new();
    let path = project.write("a.txt", &numbered(2000));
    let mut agent = Agent::start(&project, &[]);
    let edit =
        agent.edit(&path, &[("replace", "line 3", "third"), ("replace", "line 1500", "fifteen hundred")]);
    drop(agent);
    let on = project.text("a.txt");
    let off = numbered(2000);
    let (mut finished, mut told) = (0, 0);
    let begun = Instant::now();
    let whole = Instant::now();
    project.must(0, &["reject", &edit.id]);
    let usual = whole.elapsed();
    for round in 0..80_u32 {
        let verb = if project.text("a.txt") == on { "reject" } else { "accept" };
        let mut command = project.command(&[verb, &edit.id]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Spread over the time that it takes, and a little beyond.
        std::thread::sleep(usual * (round * 37 % 80) / 70);
        child.kill().unwrap();
        finished += usize::from(child.wait().unwrap().success());
        let text = project.text("a.txt");
        assert!(text == on || text == off, "half a file in round {round}");
        // Whoever looks first sees no more than was done.
        assert_eq!(project.run(&["status"]).code, 0);
        if round % 4 == 3 {
            // The next start mends, says so if there was something to mend, and decides.
            let ran = project.run(&[if text == on { "reject" } else { "accept" }, &edit.id]);
            assert!(
                ran.code == 0 || (ran.code == 1 && ran.err.contains("already")),
                "{}: {}{}",
                ran.code,
                ran.out,
                ran.err
            );
            told += usize::from(ran.err.contains("ended before") || ran.err.contains("half a line"));
            project.assert_whole();
            let now = project.text("a.txt");
            assert_eq!(
                project.status_of(&edit.id),
                if now == on { "accepted" } else { "rejected" },
                "round {round}"
            );
        }
        assert!(begun.elapsed() < Duration::from_secs(120));
    }
    println!("{finished} of 80 ended before they were killed; {told} times there was something to mend");
    // What a kill leaves behind is never taken for anything else, and goes when it is old.
    for entry in std::fs::read_dir(&project.folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(["a.txt", ".mcp"].contains(&name.as_str()) || name.starts_with(".hashline-"), "{name}");
    }
}

/// Section 8 assumes one server. Here several servers and commands work in one folder, and each change of each is there in the end.
#[test]
fn many_processes_in_one_folder() {
    const ROUNDS: usize = 12;
    let project = Project::new();
    let shared = project.write("shared.txt", &numbered(200));
    let mut agent = Agent::start(&project, &[]);
    let mut edit = |at: &str, to: &str| agent.edit(&shared, &[("replace", at, to)]).id;
    let (one, two) = (edit("line 50", "fifty"), edit("line 150", "a hundred and fifty"));
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let project = &project;
            scope.spawn(move || {
                let mut agent = Agent::start(project, &[]);
                let own = project.write(&format!("own-{worker}.txt"), &twenty());
                for round in 0..ROUNDS {
                    agent.edit(&own, &[("replace", "line 20", &format!("round {round}\nline 20"))]);
                    add(&mut agent, &project.folder.join("shared.txt"), &format!("{worker}/{round}"));
                }
            });
        }
        for edit in [&one, &two] {
            let project = &project;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    project.must(0, &[if round % 2 == 0 { "reject" } else { "accept" }, edit]);
                }
            });
        }
    });
    let text = project.text("shared.txt");
    assert!(text.contains("\nfifty\n") && text.contains("\na hundred and fifty\n"));
    for (worker, round) in (0..3).flat_map(|worker| (0..ROUNDS).map(move |round| (worker, round))) {
        assert_eq!(text.matches(&format!("{worker}/{round} was here\n")).count(), 1, "{text}");
    }
    project.assert_whole();
    let (_, json) = project.json(&["status", "--json", "-n", "0"]);
    assert_eq!(json["total"], 2 + 3 * 2 * ROUNDS);
    // And all of it can be taken back.
    let ids: Vec<&str> =
        json["edits"].as_array().unwrap().iter().map(|edit| edit["edit_id"].as_str().unwrap()).collect();
    project.must(0, &[&["reject", "--with-others"], &ids[..]].concat());
    assert_eq!(project.text("shared.txt"), numbered(200));
}

/// Adds a line at the end of a file that others change, too: as an agent, that reads again when it is refused.
fn add(agent: &mut Agent, path: &Path, name: &str) {
    for _ in 0..100 {
        let edited = agent.edit_in(path, None, &[("insert_after", "line 100", &format!("{name} was here"))]);
        if !edited.refused {
            return;
        }
    }
    panic!("{name} was refused a hundred times");
}
