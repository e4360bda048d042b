//! What hooks add to an edit with a tool of an agent's own, of an open file: before the tool is used and after it.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::agent::Agent as _;
use crate::bench::{Bench, Place, settle};
use crate::document::line;
use crate::report::{Goal, Report, Row};
use crate::rows::edits::spread;
use crate::sample::{Work, both, interleave};

const LINES: usize = 1_000;
/// What both hooks of an edit may take, in seconds: as calls of a server that runs, and as commands that are started.
const CALLS: f64 = 0.002;
const COMMANDS: f64 = 0.015;

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let place = bench.place(LINES)?;
    let desk = bench.desk(&place, "propose")?;
    let mut server = bench.stdio_agent(&place)?;
    settle();
    let (mut called, mut started) = (0, 0);
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| {
            called += 1;
            both_hooks(&place, "claude-code", called, |told| Ok(server.call("hook", told)?.text))
        }),
        Box::new(|| {
            started += 1;
            both_hooks(&place, "opencode", started, |told| command(bench, &place, &told))
        }),
    ];
    let all = interleave(bench.times(10, 2), bench.times(10, 5), &mut works)?;
    ensure!(desk.editor.undecided() > 0, "nothing was held");
    for (what, allowed, samples) in [("calls of the server", CALLS, &all[0]), ("commands", COMMANDS, &all[1])]
    {
        report.row(Row {
            work: format!("both hooks of a built-in edit, as {what}"),
            goal: Goal::AtMost(1.0),
            ratio: samples.median() / allowed,
            ours: both(samples),
            other: format!("{:.0} ms allowed", allowed * 1000.0),
        });
    }
    Ok(())
}

/// Has an edit of a line held by the hooks of an agent, whose first use of its tool is the first.
fn both_hooks(
    place: &Place,
    agent: &str,
    count: usize,
    mut answered: impl FnMut(Value) -> Result<String>,
) -> Result<Duration> {
    let is_command = agent == "opencode";
    // Each edits lines of its own.
    let number = spread(2 * count + usize::from(is_command), LINES);
    let (old, new) = (line(number), format!("// {agent} {count}"));
    let id = format!("{agent}-{count}");
    let told = |event: [&str; 2], tool: [&str; 2], input: Value| {
        let at = usize::from(is_command);
        json!({
            "event": event[at], "tool": tool[at], "id": id, "session": agent, "turn": "1",
            "cwd": place.root, "input": input, "response": "",
        })
    };
    let input = match is_command {
        true => json!({ "filePath": place.path, "oldString": old, "newString": new }),
        false => json!({ "file_path": place.path, "old_string": old, "new_string": new }),
    };
    let began = Instant::now();
    let before = answered(told(["PreToolUse", "before"], ["Edit", "edit"], input))?;
    let mut took = began.elapsed();
    let said: Value =
        serde_json::from_str(&before).with_context(|| format!("no edit is held: {before:?}"))?;
    let updated = match is_command {
        true => &said["args"],
        false => &said["hookSpecificOutput"]["updatedInput"],
    };
    ensure!(updated.is_object(), "no edit is held: {said}");
    let began = Instant::now();
    let after = answered(told(["PostToolUse", "after"], ["Edit", "edit"], updated.clone()))?;
    took += began.elapsed();
    ensure!(after.contains("Held for the person"), "the agent is not told: {after}");
    Ok(took)
}

/// Starts the command of a hook.
fn command(bench: &Bench, place: &Place, told: &Value) -> Result<String> {
    let mut command = Command::new(&bench.hashline);
    command.args(["hook", "opencode", "--state-dir"]).arg(place.state());
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    program.stdin.take().context("no standard input")?.write_all(told.to_string().as_bytes())?;
    Ok(String::from_utf8(program.wait_with_output()?.stdout)?)
}
