//! An editor that types and an agent that reads and edits over HTTP, while sixteen clients with good tokens do their worst:
//! `HASHLINE_HOSTILE_SECONDS=600` for ten minutes.

mod attack;
mod wire;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::bench::{Bench, Desk, Place};
use crate::report::{Goal, Report, Row};
use crate::rows::hostile::attack::Attack;
use crate::rows::hostile::wire::{Answer, Client};
use crate::rows::keystroke::type_for;
use crate::sample::{Samples, show, together};

const LINES: usize = 10_000;
/// The first argument of this program where it is to be the hostile clients.
pub const ATTACK: &str = "attack";
/// What they do.
const ATTACKS: [&str; 8] =
    ["slow-bodies", "slow-heads", "large", "deep", "sessions", "paths", "wrong", "busy"];
/// How long a key and another agent's call may wait.
const KEY: Duration = Duration::from_millis(50);
const CALL: Duration = Duration::from_secs(1);
/// How long the thread sleeps that does nothing else.
const NAP: Duration = Duration::from_millis(1);
/// How long the person types before they look at what the agent has made.
const BETWEEN_DECISIONS: Duration = Duration::from_secs(2);
/// Between two calls of the agent.
const PAUSE: Duration = Duration::from_millis(50);
/// How long threads wait for something to do before they end, and memory for somebody to use it.
const IDLE: Duration = Duration::from_secs(12);
/// What the sidecar may keep when all is over, in bytes: what lies free in its heap among it.
const GROWTH: f64 = 64.0 * 1024.0 * 1024.0;

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let seconds = std::env::var("HASHLINE_HOSTILE_SECONDS").ok().and_then(|given| given.parse().ok());
    let window = Duration::from_secs(seconds.unwrap_or(bench.times(60, 8) as u64));
    let place = bench.place(LINES)?;
    let counted = place.root.join("agent.txt");
    std::fs::write(&counted, "count 0\n")?;
    // Nobody else has it in the moment between.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut desk = bench.desk_over_http(&place, &address.to_string())?;
    let agent = Client::new(address, bench.token(&place, "agent")?);
    until_listening(&agent)?;

    let quiet = round(&mut desk, &agent, &counted, window / 4)?;
    let (before, _) = desk.editor.program().memory()?;
    let attackers = Attackers::begin(bench, &place, address)?;
    let besieged = round(&mut desk, &agent, &counted, window)?;
    drop(attackers);
    sleep(IDLE);
    let (after, most) = desk.editor.program().memory()?;
    let tell = |report: &mut Report, what: &str, ours: &Samples, quiet: &Samples, limit: Duration| {
        let most = ours.quantile(1.0);
        report.row(Row {
            work: format!("{what} beside {} hostile clients, {} s", 2 * ATTACKS.len(), window.as_secs()),
            goal: Goal::AtMost(1.0),
            ratio: most / limit.as_secs_f64(),
            ours: format!("{} half, {} at most, of {}", show(ours.median()), show(most), ours.len()),
            other: format!(
                "{} allowed; {} half, {} at most without them",
                show(limit.as_secs_f64()),
                show(quiet.median()),
                show(quiet.quantile(1.0))
            ),
        });
    };
    tell(report, "the longest that a key waits", &besieged.keys, &quiet.keys, KEY);
    tell(report, "the longest call of another agent", &besieged.calls, &quiet.calls, CALL);
    let late = |round: &Round| show(round.wakes.quantile(1.0));
    report.note(format!(
        "A thread that does nothing but sleep a millisecond at a time woke {} late at most beside them, and {} without them: no program \
         on this machine answers sooner.",
        late(&besieged),
        late(&quiet)
    ));
    let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0));
    report.row(Row {
        work: "memory after it".to_owned(),
        goal: Goal::AtMost(1.0),
        ratio: after.saturating_sub(before) as f64 / GROWTH,
        ours: format!("{}, {} at most", mebibytes(after), mebibytes(most)),
        other: format!("{} before, and {:.0} MiB more allowed", mebibytes(before), GROWTH / 1024.0 / 1024.0),
    });
    Ok(())
}

/// Attacks an address with one client for each `NAME=TOKEN`, until standard input ends. They are a process of their own, as what they do to
/// their own memory is not to be measured.
pub fn attack(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let address: SocketAddr = arguments.next().context("which address?")?.parse()?;
    let mut attackers = Vec::new();
    for argument in arguments {
        let (name, token) = argument.split_once('=').context("NAME=TOKEN")?;
        let attack = Attack::named(name).with_context(|| format!("no attack is called {name}"))?;
        attackers.push((attack, Client::new(address, token.to_owned())));
    }
    let over = AtomicBool::new(false);
    scope(|threads| {
        for (attack, client) in &attackers {
            threads.spawn(|| attack.go_on(client, &over));
        }
        let ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        over.store(true, Ordering::Relaxed);
        ended
    })?;
    Ok(())
}

/// Two clients for each attack: one of a token that all of those share, and one of its own.
struct Attackers(Child);

impl Attackers {
    fn begin(bench: &Bench, place: &Place, address: SocketAddr) -> Result<Self> {
        let shared = bench.token(place, "shared")?;
        let own = std::env::current_exe().context("cannot tell where this program lies")?;
        let mut command = Command::new(own);
        command.args([ATTACK, &address.to_string()]);
        for attack in ATTACKS {
            command.args([format!("{attack}={shared}"), format!("{attack}={}", bench.token(place, attack)?)]);
        }
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Ok(Self(child.context("the hostile clients do not start")?))
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        // What they have begun they end when nobody writes to them any more.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn until_listening(agent: &Client) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while agent.call("list_documents", &json!({})).is_err() {
        ensure!(Instant::now() < deadline, "the sidecar does not listen at {} after 10 s", agent.address);
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// How long keys and calls took.
struct Round {
    keys: Samples,
    calls: Samples,
    /// How late a thread woke that had nothing to do.
    wakes: Samples,
}

/// Types and calls for a while. What the agent has made is accepted every few seconds, as nobody leaves thousands of hunks undecided; no key
/// is typed while that is done.
fn round(desk: &mut Desk, agent: &Client, counted: &Path, window: Duration) -> Result<Round> {
    let end = Instant::now() + window;
    scope(|threads| {
        let calling = threads.spawn(move || work(agent, end));
        let sleeping = threads.spawn(move || wakes(end));
        let mut keys = Vec::new();
        while Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            keys.push(type_for(BETWEEN_DECISIONS.min(left), &mut desk.editor)?);
            desk.editor.accept_all_in(counted)?;
        }
        let calls = calling.join().ok().context("the agent panicked")??;
        let wakes = sleeping.join().ok().context("the sleeper panicked")?;
        Ok(Round { keys: together(&keys), calls, wakes })
    })
}

/// How late a thread wakes that sleeps for a moment again and again.
fn wakes(end: Instant) -> Samples {
    let mut samples = Samples::default();
    while Instant::now() < end {
        let began = Instant::now();
        sleep(NAP);
        samples.push(began.elapsed() - NAP);
    }
    samples
}

/// The agent's calls: it reads what the editor has open, and counts up in a file of its own.
fn work(agent: &Client, end: Instant) -> Result<Samples> {
    let mut samples = Samples::default();
    let mut ask = |tool: &str, arguments: serde_json::Value| -> Result<Answer> {
        let began = Instant::now();
        let answer = agent.call(tool, &arguments)?;
        samples.push(began.elapsed());
        sleep(PAUSE);
        Ok(answer)
    };
    while Instant::now() < end {
        let read = ask("read_text_file", json!({"path": "document.rs", "start_line": 100, "end_line": 150}))?;
        ensure!(read.is_done(), "{}", read.body);
        let read = ask("read_text_file", json!({"path": "agent.txt"}))?;
        let count = read.body.split_once("|count ").and_then(|(_, rest)| rest.split('\\').next());
        let count: usize = count.and_then(|count| count.parse().ok()).context(read.body.clone())?;
        let change = json!({"old": format!("count {count}\n"), "new": format!("count {}\n", count + 1)});
        let edit = ask("edit_file_diff", json!({"path": "agent.txt", "edits": [change]}))?;
        ensure!(edit.is_done(), "{}", edit.body);
    }
    Ok(samples)
}
