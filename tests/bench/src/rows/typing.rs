//! Edits while a person types: a key each 100 ms in line 10 of 500; an agent looks a line up, thinks for half a second
//! and changes it, 20 times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::bench::{Bench, Place};
use crate::report::{Goal, Report, Row};
use crate::tool::{Peer, Tool};

const LINES: usize = 500;
const TYPED_LINE: usize = 10;
const KEY: Duration = Duration::from_millis(100);
const THOUGHT: Duration = Duration::from_millis(500);

/// How the person's editor treats the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    /// It saves at each key and takes over what changes on disk.
    EachKey,
    /// It saves once, at the end, over what is there.
    AtTheEnd,
}

impl Saving {
    fn words(self) -> &'static str {
        match self {
            Self::EachKey => "saves at each key, takes over the disk's changes",
            Self::AtTheEnd => "unsaved work, saved over the disk at the end",
        }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcome {
    landed: usize,
    refused: usize,
    gone: usize,
    keys: usize,
}

/// Who edits, and how the person's editor is coupled to that.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Peer(Peer),
    /// hashline with no sidecar: the editor and the agent meet on the disk only.
    Uncoupled,
    /// hashline with the editor as its client, in this mode.
    Coupled(&'static str),
}

impl Subject {
    fn name(self) -> String {
        match self {
            Self::Peer(peer) => peer.name().to_owned(),
            Self::Uncoupled => "hashline mcp, editor without hashline".to_owned(),
            Self::Coupled("apply") => "hashline, apply".to_owned(),
            Self::Coupled(_) => "hashline, propose and accept".to_owned(),
        }
    }
}

/// Runs it: all at the same time, as it is mostly waiting.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let attempts = bench.times(20, 5);
    let mut subjects: Vec<Subject> =
        vec![Subject::Coupled("propose"), Subject::Coupled("apply"), Subject::Uncoupled];
    subjects.extend(bench.peers().into_iter().map(Subject::Peer));
    let mut cells = Vec::new();
    let mut outcomes = Vec::new();
    for saving in [Saving::EachKey, Saving::AtTheEnd] {
        let places: Vec<Place> = subjects.iter().map(|_| bench.place(LINES)).collect::<Result<_>>()?;
        let all: Vec<Result<Outcome>> = std::thread::scope(|scope| {
            let started = subjects.iter().zip(&places).map(|(&subject, place)| {
                scope.spawn(move || experiment(bench, subject, saving, place, attempts))
            });
            let started: Vec<_> = started.collect();
            let ended = started.into_iter().map(std::thread::ScopedJoinHandle::join);
            ended.map(|outcome| outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("it panicked")))).collect()
        });
        for (&subject, outcome) in subjects.iter().zip(all) {
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(error) => {
                    report.note(format!("NOT MEASURED, {}, {saving:?}: {error:#}", subject.name()));
                    continue;
                }
            };
            outcomes.push((subject, saving, outcome));
            cells.push(vec![
                subject.name(),
                saving.words().to_owned(),
                outcome.landed.to_string(),
                outcome.refused.to_string(),
                outcome.gone.to_string(),
                outcome.keys.to_string(),
            ]);
        }
    }
    let head = ["tool", "the editor", "landed", "refused", "reported, but gone", "keys lost"];
    let title = format!("{attempts} edits while a person types ten keys a second");
    report.table(&title, &head, &cells);
    for (subject, saving, outcome) in outcomes {
        let Subject::Coupled(_) = subject else { continue };
        report.row(Row {
            work: format!("edits that land while a person types, {}, {saving:?}", subject.name()),
            goal: Goal::AtLeast(1.0),
            ratio: if outcome.keys == 0 { outcome.landed as f64 / attempts as f64 } else { 0.0 },
            ours: format!("{} of {attempts}, {} keys lost", outcome.landed, outcome.keys),
            other: "all of them, no key lost".to_owned(),
        });
    }
    Ok(())
}

fn experiment(
    bench: &Bench,
    subject: Subject,
    saving: Saving,
    place: &Place,
    attempts: usize,
) -> Result<Outcome> {
    match subject {
        Subject::Peer(peer) => {
            let (mut tool, _) =
                peer.start(&bench.installed, &place.root, &place.path, &place.log(peer.name()))?;
            on_disk(tool.as_mut(), saving, place, attempts)
        }
        Subject::Uncoupled => on_disk(&mut bench.stdio(place)?, saving, place, attempts),
        Subject::Coupled(mode) => in_editor(bench, mode, saving, place, attempts),
    }
}

/// The agent's part: what it tried, and whether the tool said that it was done.
fn attempt_all(
    tool: &mut dyn Tool,
    attempts: usize,
    mut after: impl FnMut(bool) -> Result<()>,
) -> Result<Vec<(String, bool)>> {
    let mut tried = Vec::new();
    for attempt in 0..attempts {
        let seen = tool.look_up(100 + attempt * 10)?;
        sleep(THOUGHT);
        let with = format!("    let attempt_{attempt:02} = true;");
        let edited = tool.edit(&seen, &with)?;
        tried.push((with, edited.done));
        after(edited.done)?;
    }
    Ok(tried)
}

fn count(tried: &[(String, bool)], text: &str, typed: usize) -> Outcome {
    let there = |with: &str| text.lines().any(|line| line == with);
    let line = text.lines().nth(TYPED_LINE - 1).unwrap_or_default();
    let kept = line.bytes().rev().take_while(|&byte| byte == b'x').count();
    Outcome {
        landed: tried.iter().filter(|(with, done)| *done && there(with)).count(),
        refused: tried.iter().filter(|(_, done)| !done).count(),
        gone: tried.iter().filter(|(with, done)| *done && !there(with)).count(),
        keys: typed.saturating_sub(kept),
    }
}

/// An editor that meets the agent on the disk only.
fn on_disk(tool: &mut dyn Tool, saving: Saving, place: &Place, attempts: usize) -> Result<Outcome> {
    let over = AtomicBool::new(false);
    let (tried, typed) = std::thread::scope(|scope| {
        let typist = scope.spawn(|| type_on_disk(place, saving, &over));
        let tried = attempt_all(tool, attempts, |_| Ok(()));
        over.store(true, Ordering::Relaxed);
        let typed = typist.join().map_err(|_| anyhow::anyhow!("the typist panicked"))?;
        anyhow::Ok((tried?, typed?))
    })?;
    Ok(count(&tried, &std::fs::read_to_string(&place.path)?, typed))
}

/// How many keys were typed.
fn type_on_disk(place: &Place, saving: Saving, over: &AtomicBool) -> Result<usize> {
    let mut buffer = place.text.clone();
    let mut written = buffer.clone();
    let mut typed = 0;
    while !over.load(Ordering::Relaxed) {
        sleep(KEY);
        if saving == Saving::EachKey {
            // While the agent's tool is writing, the file may be empty or cut short; an editor would look again.
            let disk = std::fs::read_to_string(&place.path)?;
            if disk != written && !disk.is_empty() && disk.ends_with('\n') {
                buffer = disk;
            }
        }
        let end = buffer.match_indices('\n').nth(TYPED_LINE - 1).context("the document lost its lines")?.0;
        buffer.insert(end, 'x');
        typed += 1;
        if saving == Saving::EachKey {
            std::fs::write(&place.path, &buffer)?;
            written.clone_from(&buffer);
        }
    }
    if saving == Saving::AtTheEnd {
        std::fs::write(&place.path, &buffer)?;
    }
    Ok(typed)
}

/// An editor that is hashline's client.
fn in_editor(bench: &Bench, mode: &str, saving: Saving, place: &Place, attempts: usize) -> Result<Outcome> {
    let mut desk = bench.desk(place, mode)?;
    let mut tool = bench.stdio(place)?;
    let over = AtomicBool::new(false);
    let keys = desk.editor.keys.clone();
    let (tried, typed) = std::thread::scope(|scope| {
        let typist = scope.spawn(|| -> Result<usize> {
            let mut typed = 0;
            while !over.load(Ordering::Relaxed) {
                sleep(KEY);
                keys.key(TYPED_LINE - 1, 'x')?;
                typed += 1;
                if saving == Saving::EachKey {
                    keys.save(&place.path)?;
                }
            }
            Ok(typed)
        });
        let tried = attempt_all(&mut tool, attempts, |done| {
            if done && mode == "propose" {
                desk.editor.wait_for_offer()?;
                desk.editor.decide_all("accept")?;
            }
            Ok(())
        });
        over.store(true, Ordering::Relaxed);
        let typed = typist.join().map_err(|_| anyhow::anyhow!("the typist panicked"))?;
        anyhow::Ok((tried?, typed?))
    })?;
    // A delivery may still be under way.
    sleep(THOUGHT);
    desk.editor.fence(0)?;
    desk.editor.keys.save(&place.path)?;
    Ok(count(&tried, &std::fs::read_to_string(&place.path)?, typed))
}
