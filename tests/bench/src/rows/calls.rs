//! A read of 100 lines from the middle of 100,000, beside a server that answers a constant.

use anyhow::Result;
use serde_json::json;

use crate::agent::Agent;
use crate::bench::{Bench, settle};
use crate::report::{Goal, Report, Row};
use crate::sample::{Work, both, interleave};
use crate::tool::Tool;

const LINES: usize = 100_000;
const FIRST: usize = 50_001;
const LAST: usize = 50_100;

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let (closed, open) = (bench.place(LINES)?, bench.place(LINES)?);
    let mut floor = bench.floor("floor-mcp", &closed)?;
    let mut disk = bench.stdio(&closed)?;
    let desk = bench.desk(&open, "propose")?;
    // Unsaved work: what is read is in the editor only.
    desk.editor.keys.key(49_999, 'x')?;
    let mut direct = bench.direct(&open, &desk)?;
    let mut routed = bench.stdio(&open)?;
    settle();
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| Ok(floor.call("answer", json!({}))?.took)),
        Box::new(|| disk.read(FIRST, LAST)),
        Box::new(|| direct.read(FIRST, LAST)),
        Box::new(|| routed.read(FIRST, LAST)),
    ];
    let all = interleave(bench.times(40, 6), bench.times(50, 20), &mut works)?;
    let names = [
        ("read of 100 lines of 100k, on disk over stdio", 1.5),
        ("the same of a live document, at the socket", 1.5),
        ("the same of a live document, through the router", 2.5),
    ];
    for ((name, goal), samples) in names.into_iter().zip(&all[1..]) {
        report.row(Row {
            work: name.to_owned(),
            goal: Goal::AtMost(goal),
            ratio: samples.ratio(&all[0]),
            ours: both(samples),
            other: format!("{} constant", both(&all[0])),
        });
    }
    Ok(())
}
