//! A process that is killed at every step of a decision about a conversation: before each write of the record, of logs and of files. The next
//! start has the tree before or the tree after, never one between, says which, and the statuses go with it.
#![cfg(unix)]

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hashline_history::{Allow, Probe, Step};
use hashline_workspace::disk::Roots;
use hashline_workspace::{Histories, Settings, Workspace};

use crate::agent::Agent;
use crate::chance::seeds;
use crate::project::Project;
use crate::trees::{Decision, Oracle, Play, Status, Target, Tree, tree_in};

/// At which step the process that this variable is given to kills itself.
const STEP: &str = "HASHLINE_TEST_KILLED_AT";
/// The arguments of its command, one in a line.
const ARGUMENTS: &str = "HASHLINE_TEST_ARGUMENTS";

/// Kills the process right before a step, or in the middle of it where it is a write.
struct Kills {
    at: usize,
    half: bool,
    steps: AtomicUsize,
}

impl Probe for Kills {
    fn step(&self, step: Step, _: &str) -> Allow {
        let now = self.steps.fetch_add(1, Ordering::SeqCst);
        match step {
            Step::Write(bytes) if self.half && now == self.at => return Allow::Part(bytes / 2),
            _ if now < self.at => return Allow::All,
            _ => {}
        }
        let me = std::process::id().to_string();
        let _ = Command::new("kill").args(["-KILL", &me]).status();
        // It takes an instant.
        std::thread::sleep(std::time::Duration::from_secs(30));
        Allow::Fail(std::io::Error::other("killed"))
    }
}

/// No test by itself: the process that is killed, started by those below.
#[test]
fn the_process_that_is_killed() {
    let (Ok(at), Ok(arguments)) = (std::env::var(STEP), std::env::var(ARGUMENTS)) else { return };
    let (at, half) = at.split_once(' ').unwrap();
    let kills = Kills { at: at.parse().unwrap(), half: half == "half", steps: AtomicUsize::new(0) };
    let arguments = std::iter::once("mcpdiff").chain(arguments.lines()).map(OsString::from);
    let code = hashline_cli::mcpdiff_with(arguments, Arc::new(kills));
    std::process::exit(if code == std::process::ExitCode::SUCCESS { 0 } else { 1 });
}

/// Runs the command in a process that is killed; none if it came to its end, and whether that was a good one.
fn killed(project: &Project, at: usize, half: bool, arguments: &[String]) -> Result<(), bool> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::the_process_that_is_killed", "--nocapture"]);
    let state = project.temp.path().join("state").display().to_string();
    let arguments = [arguments, &["--state-dir".to_owned(), state]].concat();
    command
        .env(STEP, format!("{at} {}", if half { "half" } else { "whole" }))
        .env(ARGUMENTS, arguments.join("\n"));
    command.current_dir(&project.folder).env_remove("HASHLINE_LOG");
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    if ended.signal() == Some(9) { Ok(()) } else { Err(ended.success()) }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Puts a folder back as it was.
fn restore(folder: &Path, kept: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }
    copy(kept, folder);
}

/// Removes what a history had not finished and never named: it takes up room, and no more.
fn forget_unfinished(history: &Path) {
    for entry in std::fs::read_dir(history).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            forget_unfinished(&path);
        } else if path.file_name().unwrap().to_str().unwrap().starts_with(".new-") {
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[derive(Debug, Default)]
struct Met {
    decisions: usize,
    kills: usize,
    before: usize,
    after: usize,
    finished: usize,
    /// So often the next start was the same command.
    again: usize,
}

impl Met {
    fn add(&mut self, other: &Self) {
        self.decisions += other.decisions;
        self.kills += other.kills;
        self.before += other.before;
        self.after += other.after;
        self.finished += other.finished;
        self.again += other.again;
    }
}

/// Decisions about conversations of several files that lead to a tree: the words for each, and what comes of it.
fn decisions(play: &mut Play) -> Vec<(Vec<String>, Oracle)> {
    let mut found = Vec::new();
    let conversations = play.conversations.len();
    let first = play.rng.below(conversations);
    for at in 0..2 * conversations {
        let (of, rejects) = ((first + at / 2) % conversations, at % 2 == 0);
        let Some(id) = play.conversations[of].clone() else { continue };
        let status = if rejects { Status::Rejected } else { Status::Accepted };
        let decision = Decision { target: Target::Conversation(of), status, with_others: false };
        let outcome = decision.outcome(&play.oracle);
        let files: std::collections::BTreeSet<usize> = outcome.steps.iter().map(|step| step.file).collect();
        let then = outcome.then;
        if files.len() > 1 && outcome.reasons.is_empty() && then.tree().is_some() {
            let verb = if rejects { "reject" } else { "accept" };
            found.push((vec![verb.to_owned(), "-c".to_owned(), id], then));
        }
    }
    // What changes files is wanted most.
    let now = play.oracle.tree();
    found.sort_by_key(|(_, then)| then.tree() == now);
    found
}

/// One decision, with a kill at every step.
fn play(seed: u64, met: &mut Met) {
    let mut play = Play::begin(seed);
    for _ in 0..8 + play.rng.below(20) {
        if play.rng.chance(80) { play.edit() } else { play.decide() }
    }
    // A server that runs would see the folder come and go.
    let elsewhere = Project::new();
    drop(std::mem::replace(&mut play.agent, Agent::start(&elsewhere, &[])));
    let folder = play.project.folder.clone();
    let kept = tempfile::tempdir().unwrap();
    copy(&folder, kept.path());
    // Some are refused for reasons of their own.
    let can_be_made = |play: &Play, arguments: &[String]| {
        restore(&folder, kept.path());
        killed(&play.project, usize::MAX, false, arguments) == Err(true)
    };
    let all = decisions(&mut play);
    let Some((arguments, after)) = all.into_iter().find(|(words, _)| can_be_made(&play, words)) else {
        return;
    };
    met.decisions += 1;
    let before = play.oracle.clone();
    let trees: (Tree, Tree) = (before.tree().unwrap(), after.tree().unwrap());
    assert_eq!(tree_in(&folder), trees.1, "{}", play.told());
    // Every other one dies in the middle of its writes.
    let half = seed % 2 == 1;
    for at in 0.. {
        restore(&folder, kept.path());
        if let Err(ended_well) = killed(&play.project, at, half, &arguments) {
            assert!(ended_well && tree_in(&folder) == trees.1, "{}", play.told());
            break;
        }
        let told = format!("{} killed at {at} {half}\n{}", arguments.join(" "), play.told());
        let found = tree_in(&folder);
        let named: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if at % 4 == 3 && arguments[0] == "reject" {
            // The next start may be the same command: it finishes what there is to finish, says so, and rejects what is not rejected.
            let ran = play.project.run(&named);
            assert_eq!(tree_in(&folder), trees.1, "{told}\n{}", ran.err);
            let is_between = found != trees.0 && found != trees.1;
            assert!(!is_between || ran.err.contains("it is finished now"), "{told}\n{}", ran.err);
            met.kills += 1;
            met.again += 1;
            continue;
        }
        let roots = Roots::open([&folder]).unwrap();
        let (files, _) = Workspace::new(roots, Settings::default(), Histories::of("the next process"));
        let session = play.project.store().session(&files).unwrap();
        let said = session.repairs().join("\n");
        drop(session);
        let now = tree_in(&folder);
        met.kills += 1;
        let is_after = now == trees.1 && (trees.0 != trees.1 || accepted(&play, &after));
        assert!(is_after || now == trees.0, "{told}\n{said}\n{now:?}\n{trees:?}");
        *if is_after { &mut met.after } else { &mut met.before } += 1;
        if found != now {
            met.finished += 1;
            assert!(said.contains("it is finished now"), "{told}\n{said}");
        }
        assert!(!said.contains("cannot") && !said.contains("something else"), "{told}\n{said}");
        play.oracle = if is_after { after.clone() } else { before.clone() };
        play.check_statuses();
        forget_unfinished(&folder.join(".mcp"));
        play.project.assert_whole();
        if !is_after && at % 5 == 0 {
            // And it can be decided as if nothing had been.
            let ran = play.project.run(&named);
            assert_eq!((ran.code, tree_in(&folder)), (0, trees.1.clone()), "{told}\n{}", ran.err);
        }
        play.oracle = before.clone();
    }
}

/// Whether the record has the statuses of the tree after.
fn accepted(play: &Play, after: &Oracle) -> bool {
    let (_, json) = play.project.json(&["status", "--json", "-n", "0"]);
    let status = |id: &str| {
        let edits = json["edits"].as_array().unwrap();
        edits
            .iter()
            .find(|edit| edit["edit_id"] == id)
            .map(|edit| edit["status"].as_str().unwrap().to_owned())
    };
    after.edits.iter().all(|edit| status(&edit.id).is_some_and(|status| status == edit.status().word()))
}

#[test]
fn the_next_start_has_the_tree_before_or_the_tree_after() {
    let next = Mutex::new(seeds(10));
    let (met, failed) = (Mutex::new(Met::default()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(seed) = next.lock().unwrap().next() else { break };
                    let played = std::panic::catch_unwind(|| {
                        let mut met = Met::default();
                        play(seed, &mut met);
                        met
                    });
                    match played {
                        Ok(one) => met.lock().unwrap().add(&one),
                        Err(_) => failed.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    let (met, failed) = (met.into_inner().unwrap(), failed.into_inner().unwrap());
    eprintln!("{met:?}");
    assert!(failed.is_empty(), "HASHLINE_SEED of those that fail: {failed:?}");
    let is_one = std::env::var_os("HASHLINE_SEED").is_some();
    assert!(is_one || (met.decisions > 0 && met.before > 0 && met.finished > 0), "{met:?}");
}
