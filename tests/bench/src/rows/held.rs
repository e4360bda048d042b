//! What held edits cost: memory for each, accepting all of them at once, and a keystroke beside them and once they are decided.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::bench::{Bench, settle};
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::rows::keystroke::type_for;
use crate::sample::{Samples, both, show};

const LINES: usize = 10_000;
/// What each held edit may take beside its text, in bytes.
const ALLOWED: f64 = 8.0 * 1024.0;
/// For how long keys are typed at a time.
const WINDOW: Duration = Duration::from_secs(2);

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let (few, many) = (bench.times(400, 40), bench.times(800, 80));
    let first = with(bench, report, few)?;
    let second = with(bench, report, many)?;
    report.row(Row {
        work: format!("accepting {many} held edits at once, until the text shows them"),
        goal: Goal::None,
        ratio: second.as_secs_f64() / first.as_secs_f64(),
        ours: show(second.as_secs_f64()),
        other: format!("{} {few} of them", show(first.as_secs_f64())),
    });
    Ok(())
}

/// The same with so many edits. How long accepting all of them takes.
fn with(bench: &Bench, report: &mut Report, count: usize) -> Result<Duration> {
    let place = bench.place(LINES)?;
    let mut desk = bench.desk(&place, "propose")?;
    let mut agent = bench.direct(&place, &desk)?;
    // What the first edit brings with it is no cost of the others.
    change(&mut agent, spread(1, LINES), 1)?;
    settle();
    let alone = type_for(WINDOW, &mut desk.editor)?;
    let (before, _) = desk.editor.program().memory()?;
    for number in 2..=count {
        change(&mut agent, spread(number, LINES), number)?;
    }
    let (after, _) = desk.editor.program().memory()?;
    let each = after.saturating_sub(before) as f64 / (count - 1) as f64;
    report.row(Row {
        work: format!("memory for each of {count} held edits of a line"),
        goal: Goal::AtMost(1.0),
        ratio: each / ALLOWED,
        ours: format!("{:.1} KiB", each / 1024.0),
        other: format!("{:.0} KiB allowed", ALLOWED / 1024.0),
    });
    let held = type_for(WINDOW, &mut desk.editor)?;
    keys(report, format!("a keystroke with {count} held edits in {LINES} lines"), &held, &alone);
    let began = Instant::now();
    desk.editor.decide_all("accept")?;
    let took = began.elapsed();
    place.rest();
    let decided = type_for(WINDOW, &mut desk.editor)?;
    keys(report, "the same once they are accepted".to_owned(), &decided, &alone);
    Ok(took)
}

fn keys(report: &mut Report, work: String, ours: &Samples, alone: &Samples) {
    let ratio = ours.median() / alone.median();
    report.row(Row {
        work,
        goal: Goal::None,
        ratio,
        ours: both(ours),
        other: format!("{} with one", both(alone)),
    });
}
