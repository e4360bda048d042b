//! A keystroke and a request behind it, alone and while 16 agents make 10 edits a second each in the document.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hashline_link::{Client, Sidecar};
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;

use crate::agent::{call_async, caller};
use crate::bench::Bench;
use crate::document;
use crate::editor::Editor;
use crate::report::{Goal, Report, Row};
use crate::sample::{Samples, ratio_of_rounds, show, together};
use crate::tool::{edit_arguments, file_hash};

const LINES: usize = 2_000;
const AGENTS: usize = 16;
/// Each agent's edits a second.
const RATE: u64 = 10;
/// Between two keys: faster than anyone types, for the sake of many samples.
const KEYS_APART: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Load {
    typing: AtomicBool,
    over: AtomicBool,
    landed: AtomicUsize,
    refused: AtomicUsize,
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    for mode in ["propose", "apply"] {
        one(bench, report, mode)?;
    }
    Ok(())
}

fn one(bench: &Bench, report: &mut Report, mode: &str) -> Result<()> {
    let place = bench.place(LINES)?;
    let mut desk = bench.desk(&place, mode)?;
    let load = Arc::new(Load::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let agents: Vec<_> = (0..AGENTS)
        .map(|agent| {
            runtime.spawn(work(
                desk.sidecar.clone(),
                place.root.clone(),
                place.path.clone(),
                agent,
                load.clone(),
            ))
        })
        .collect();
    let (mut alone, mut beset, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let window = Duration::from_secs(1);
    let (mut heard, mut hunks) = (0, 0);
    let windows = bench.times(10, 2);
    for _ in 0..windows {
        alone.push(type_for(window, &mut desk.editor)?);
        load.typing.store(true, Ordering::Relaxed);
        // The first edits find everything cold; they are not what is asked for.
        type_for(Duration::from_millis(300), &mut desk.editor)?;
        let before = desk.editor.heard();
        beset.push(type_for(window, &mut desk.editor)?);
        heard += desk.editor.heard() - before;
        load.typing.store(false, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(300));
        hunks = desk.editor.undecided();
        left.push(type_for(window, &mut desk.editor)?);
        desk.editor.decide_all("accept").context("after a window under load")?;
    }
    load.over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for agent in agents {
            agent.await??;
        }
        anyhow::Ok(())
    })?;
    let told = |rounds: &[Samples]| {
        let samples = together(rounds);
        format!("p99 {} (median {})", show(samples.quantile(0.99)), show(samples.median()))
    };
    let loaded = format!("a keystroke while {AGENTS} agents make {RATE} edits a second each, {mode} mode");
    let after = format!("the same with the {hunks} undecided hunks that they left, {mode} mode");
    for (work, goal, ours) in [(loaded, Goal::AtMost(2.0), &beset), (after, Goal::None, &left)] {
        let ratio = ratio_of_rounds(ours, &alone, 0.99);
        report.row(Row { work, goal, ratio, ours: told(ours), other: format!("{} alone", told(&alone)) });
    }
    let (landed, refused) = (load.landed.load(Ordering::Relaxed), load.refused.load(Ordering::Relaxed));
    let rate = heard as f64 / (window.as_secs_f64() * windows as f64) / 1024.0;
    report.note(format!(
        "{mode} mode, during those keystrokes: {landed} edits landed, {refused} were refused; the editor was sent \
         {rate:.0} KB a second"
    ));
    Ok(())
}

/// Types in the first lines, a key each few milliseconds, and times each key with the request behind it.
pub(super) fn type_for(window: Duration, editor: &mut Editor) -> Result<Samples> {
    let mut samples = Samples::default();
    let end = Instant::now() + window;
    let mut key = 0;
    while Instant::now() < end {
        let line = key / 20 % 10;
        let began = Instant::now();
        editor.keys.key(line, 'x')?;
        editor.fence(line)?;
        samples.push(began.elapsed());
        key += 1;
        std::thread::sleep(KEYS_APART);
    }
    Ok(samples)
}

/// One agent: changes lines of its own part of the document, one after the other, while it is told to.
async fn work(
    sidecar: Sidecar,
    root: std::path::PathBuf,
    path: std::path::PathBuf,
    agent: usize,
    load: Arc<Load>,
) -> Result<()> {
    let client = Client::connect(&sidecar).await?;
    let name = format!("agent-{agent}");
    let caller = caller(&name, &root);
    let mut tick = tokio::time::interval(Duration::from_millis(1_000 / RATE));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // Not all at the same instant.
    tokio::time::sleep(Duration::from_millis(agent as u64 * 1_000 / RATE / AGENTS as u64)).await;
    let room = (LINES - 100) / AGENTS;
    let first = 100 + agent * room;
    let mut hash = None;
    let mut count = 0;
    let mut texts: Vec<String> = (first..first + room).map(document::line).collect();
    while !load.over.load(Ordering::Relaxed) {
        tick.tick().await;
        if !load.typing.load(Ordering::Relaxed) {
            hash = None;
            continue;
        }
        let place = count * 7 % room;
        let line = first + place;
        let known = match hash.take() {
            Some(known) => known,
            None => look(&client, &caller, &path, first, first + room - 1).await?,
        };
        count += 1;
        let content = format!("    let changed_{agent:02}_{count:05} = true;");
        let anchor = document::anchor(line, &texts[place]);
        let arguments = edit_arguments(&path, &known, &anchor, &content, Some(&name));
        let Value::Object(arguments) = arguments else { continue };
        let reply = call_async(&client, &caller, "edit_text_file", arguments).await?;
        if reply.failed {
            load.refused.fetch_add(1, Ordering::Relaxed);
        } else {
            load.landed.fetch_add(1, Ordering::Relaxed);
            texts[place] = content;
            hash = file_hash(&reply.text).map(str::to_owned);
        }
    }
    Ok(())
}

/// Reads an agent's part of the document for its hash.
async fn look(
    client: &Client,
    caller: &hashline_link::CallerInfo,
    path: &Path,
    first: usize,
    last: usize,
) -> Result<String> {
    let Value::Object(arguments) = json!({"path": path, "start_line": first, "end_line": last}) else {
        anyhow::bail!("arguments are an object");
    };
    let reply = call_async(client, caller, "read_text_file", arguments).await?;
    file_hash(&reply.text)
        .map(str::to_owned)
        .with_context(|| format!("a read without a hash: {}", reply.text))
}
