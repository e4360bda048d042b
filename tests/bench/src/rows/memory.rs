//! Resident memory with a document of 100,000 lines open.

use anyhow::Result;

use crate::bench::{Bench, settle};
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::tool::Tool;

const LINES: usize = 100_000;

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let place = bench.place(LINES)?;
    let size = place.text.len() as f64;
    let mut desk = bench.empty_desk(&place, "propose")?;
    let memory = |desk: &crate::bench::Desk| desk.editor.program().memory();
    let (start, _) = memory(&desk)?;
    let mut row = |work: &str, goal: Goal, (now, peak): (u64, u64)| {
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        report.row(Row {
            work: work.to_owned(),
            goal,
            ratio: now.saturating_sub(start) as f64 / size,
            ours: format!("{} (peak {})", mib(now), mib(peak)),
            other: format!("{} at start, a file of {}", mib(start), mib(size as u64)),
        });
    };
    desk.editor.open(&place.path, &place.text)?;
    desk.editor.fence(0)?;
    // The file is compared with the text, and dropped again.
    settle();
    row("memory beyond start-up to the file's size, 100k lines open", Goal::AtMost(2.5), memory(&desk)?);
    let mut agent = bench.direct(&place, &desk)?;
    agent.read(50_001, 50_100)?;
    row("the same after an agent has read 100 lines", Goal::None, memory(&desk)?);
    for count in 1..=bench.times(50, 10) {
        change(&mut agent, spread(count, LINES), count)?;
        desk.editor.keys.key(50_000 + count, 'x')?;
    }
    desk.editor.fence(0)?;
    row("the same after edits and keys in turn", Goal::None, memory(&desk)?);
    Ok(())
}
