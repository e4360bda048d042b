//! The history: the table of 100,000 edits, and what it costs to decide about one edit of a conversation that has many, and to read the file
//! anew that they are in.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::agent::Agent;
use crate::bench::{Bench, Place};
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::sample::{Samples, show};
use crate::tool::Tool;

const ENTRIES: usize = 100_000;
/// What the table may take, in seconds.
const ALLOWED: f64 = 0.2;
const LINES: usize = 10_000;
/// A table is compared with a record up to this size, in bytes, in which the edits of these logs are not.
const COMPARED: usize = 8 << 20;

/// Runs `mcpdiff` in a folder.
fn mcpdiff(bench: &Bench, root: &Path, arguments: &[&str]) -> Result<(Duration, String)> {
    let mut command = Command::new(&bench.hashline);
    command.arg("diff").args(arguments).arg("-w").arg(root).arg("--state-dir").arg(root.join("../state"));
    let began = Instant::now();
    let output = command.output()?;
    let took = began.elapsed();
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok((took, String::from_utf8(output.stdout)?))
}

/// Logs of edits that nobody made, in so many conversations, beside a long record of one that an agent made.
fn fill(bench: &Bench, place: &Place, conversations: usize) -> Result<()> {
    let content = "a line of the long text\n".repeat(COMPARED / 20);
    let made =
        bench.stdio(place)?.agent.call("write_file", json!({"path": "long.txt", "content": content}))?;
    ensure!(!made.failed, "write_file: {}", made.text);
    let root = &place.root;
    let logs = root.join(".mcp/edit_history/logs");
    std::fs::create_dir_all(&logs)?;
    let (each, hash) = (ENTRIES / conversations, "a1".repeat(32));
    for conversation in 0..conversations {
        let id = format!("conv_1795306023000_{conversation:08x}");
        let mut log = String::new();
        for index in 0..each {
            let edit = format!("{:08x}-0000-4000-8000-000000000000", conversation * each + index);
            writeln!(
                log,
                r#"{{"edit_id":"{edit}","conversation_id":"{id}","tool_call_index":{index},"timestamp":"2026-11-22T00:00:00.{index:06}Z","operation":"edit","file_path":"{}/src/{index}.rs","source_path":null,"tool_name":"edit_text_file","status":"pending","diff_file":"diffs/{id}/{edit}.diff","checkpoint_file":null,"hash_before":"{hash}","hash_after":"{hash}"}}"#,
                root.display()
            )?;
        }
        std::fs::write(logs.join(format!("{id}.log")), log)?;
    }
    Ok(())
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    for conversations in [1000, 1] {
        let place = bench.place(1)?;
        fill(bench, &place, conversations)?;
        let mut table = Samples::default();
        for _ in 0..bench.times(20, 4) {
            table.push(mcpdiff(bench, &place.root, &["status"])?.0);
        }
        report.row(Row {
            work: format!("mcpdiff status, {ENTRIES} edits, conversations: {conversations}"),
            goal: Goal::AtMost(1.0),
            ratio: table.median() / ALLOWED,
            ours: show(table.median()),
            other: "200 ms allowed".to_owned(),
        });
    }
    let mut first = None;
    for edits in [10, 100, bench.times(1000, 200), bench.times(10_000, 400)] {
        let place = bench.place(LINES)?;
        let mut agent = bench.stdio(&place)?;
        for count in 1..=edits {
            change(&mut agent, spread(count, LINES), count)?;
        }
        drop(agent);
        let listed = mcpdiff(bench, &place.root, &["status", "--json", "-n", "0"])?.1;
        let listed: serde_json::Value = serde_json::from_str(&listed)?;
        let ids =
            listed["edits"].as_array().into_iter().flatten().filter_map(|edit| edit["edit_id"].as_str());
        let (mut accepted, mut opened) = (Samples::default(), Samples::default());
        for id in ids.take(10) {
            accepted.push(mcpdiff(bench, &place.root, &["accept", id])?.0);
        }
        for _ in 0..bench.times(10, 4) {
            // A new process knows nothing of the file yet.
            opened.push(bench.stdio(&place)?.read(1, 1)?);
        }
        let (accepted, opened) = (accepted.median(), opened.median());
        let (accepted_first, opened_first) = *first.get_or_insert((accepted, opened));
        for (what, median, first) in [
            ("mcpdiff accept of one", accepted, accepted_first),
            ("the first read of a file with one conversation", opened, opened_first),
        ] {
            report.row(Row {
                work: format!("{what} of {edits} edits in {LINES} lines"),
                goal: Goal::None,
                ratio: median / first,
                ours: show(median),
                other: "beside 10 edits".to_owned(),
            });
        }
    }
    Ok(())
}
