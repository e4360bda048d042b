//! A read of 100 lines from the middle of 100,000, beside a server that answers a constant.

use anyhow::Result;
use serde_json::json;

use crate::agent::Agent;
use crate::bench::{Bench, settle};
use crate::report::{Goal, Report, Row};
use crate::sample::{Samples, Work, both, interleave};
use crate::tool::Tool;

const LINES: usize = 100_000;
const FIRST: usize = 50_001;
const LAST: usize = 50_100;

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    on_disk(bench, report)?;
    live(bench, report)
}

fn on_disk(bench: &Bench, report: &mut Report) -> Result<()> {
    let place = bench.place(LINES)?;
    let mut floor = bench.floor("floor-mcp", &place)?;
    let mut disk = bench.stdio(&place)?;
    settle();
    let mut works: Vec<Work<'_>> =
        vec![Box::new(|| Ok(floor.call("answer", json!({}))?.took)), Box::new(|| disk.read(FIRST, LAST))];
    let all = interleave(bench.times(40, 6), bench.times(50, 20), &mut works)?;
    row(report, "read of 100 lines of 100k, on disk over stdio", 1.5, &all[1], &all[0]);
    Ok(())
}

fn live(bench: &Bench, report: &mut Report) -> Result<()> {
    let place = bench.place(LINES)?;
    let mut floor = bench.floor("floor-mcp", &place)?;
    let desk = bench.desk(&place, "propose")?;
    // Unsaved work: what is read is in the editor only.
    desk.editor.keys.key(49_999, 'x')?;
    let mut direct = bench.direct(&place, &desk)?;
    let mut routed = bench.stdio(&place)?;
    // What the router remembers of the sidecars it trusts once it is as old as this.
    settle();
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| Ok(floor.call("answer", json!({}))?.took)),
        Box::new(|| direct.read(FIRST, LAST)),
        Box::new(|| routed.read(FIRST, LAST)),
    ];
    let all = interleave(bench.times(40, 6), bench.times(50, 20), &mut works)?;
    row(report, "the same of a live document, at the socket", 1.5, &all[1], &all[0]);
    row(report, "the same of a live document, through the router", 2.5, &all[2], &all[0]);
    Ok(())
}

fn row(report: &mut Report, work: &str, goal: f64, ours: &Samples, floor: &Samples) {
    report.row(Row {
        work: work.to_owned(),
        goal: Goal::AtMost(goal),
        ratio: ours.ratio(floor),
        ours: both(ours),
        other: format!("{} constant", both(floor)),
    });
}
