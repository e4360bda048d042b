//! The other tools at the same work: starting, reading, editing, for three sizes of document.

use std::time::Duration;

use anyhow::Result;

use crate::bench::{Bench, Desk, Place, settle};
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::sample::{Samples, Work, both, interleave, show};
use crate::tool::{Peer, RANGE, Tool};

/// One contender over a document of its own.
struct Contender {
    name: String,
    tool: Box<dyn Tool>,
    start: Duration,
    /// Kept running while the tool is measured.
    _desk: Option<Desk>,
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    for peer in Peer::ALL {
        if !bench.peers().contains(&peer) {
            report.note(format!("{} is not installed and was left out", peer.name()));
        }
    }
    let mut cells = Vec::new();
    for lines in [100, 10_000, 100_000] {
        let mut contenders = contenders(bench, report, lines)?;
        let (rounds, calls) = match lines {
            100 => (bench.times(10, 3), 10),
            10_000 => (bench.times(10, 3), 5),
            _ => (bench.times(10, 3), 2),
        };
        let all = measure(&mut contenders, rounds, calls, |tool, _| tool.read_all(lines))?;
        let some = measure(&mut contenders, rounds, calls, |tool, _| {
            let middle = lines / 2;
            tool.read(middle.saturating_sub(49).max(1), (middle.saturating_sub(49).max(1) + 99).min(lines))
        })?;
        let edit =
            measure(&mut contenders, rounds, calls, |tool, count| change(tool, spread(count, lines), count))?;
        for (index, contender) in contenders.iter().enumerate() {
            let memory = contender.tool.program().map(crate::program::Program::memory).transpose()?;
            let mib = |bytes: u64| format!("{:.0}", bytes as f64 / f64::from(1 << 20));
            cells.push(vec![
                lines.to_string(),
                contender.name.clone(),
                show(contender.start.as_secs_f64()),
                both(&all[index]),
                both(&some[index]),
                both(&edit[index]),
                memory.map_or_else(String::new, |(now, peak)| format!("{} / {}", mib(now), mib(peak))),
            ]);
        }
        if lines == 100_000 {
            judge(report, &contenders, &all);
        }
    }
    let head = ["lines", "tool", "start", "read all", "read 100", "edit 1 line", "MiB now / peak"];
    report.table("The same work through each tool (p95 in brackets)", &head, &cells);
    report.note(format!(
        "hashline reads all by ranges of {RANGE} lines; server-filesystem has no ranges: the first 100 lines stand in"
    ));
    report.note(
        "live: through `hashline mcp` and a running `hashline lsp`, the memory is the router's; edits are held".to_owned(),
    );
    Ok(())
}

/// All that can be started; what cannot is told.
fn contenders(bench: &Bench, report: &mut Report, lines: usize) -> Result<Vec<Contender>> {
    let mut all = Vec::new();
    for (name, open) in [("hashline on disk", false), ("hashline live", true)] {
        let place = bench.place(lines)?;
        match hashline(bench, &place, name, open) {
            Ok(contender) => all.push(contender),
            Err(error) => report.note(format!("NOT MEASURED, {name}, {lines} lines: {error:#}")),
        }
    }
    for peer in bench.peers() {
        let place = bench.place(lines)?;
        let (tool, start) =
            peer.start(&bench.installed, &place.root, &place.path, &place.log(peer.name()))?;
        all.push(Contender { name: peer.name().to_owned(), tool, start, _desk: None });
    }
    settle();
    Ok(all)
}

fn hashline(bench: &Bench, place: &Place, name: &str, open: bool) -> Result<Contender> {
    let desk = if open { Some(bench.desk(place, "propose")?) } else { None };
    let tool = bench.stdio(place)?;
    let start = tool.agent.start;
    Ok(Contender { name: name.to_owned(), tool: Box::new(tool), start, _desk: desk })
}

fn measure(
    contenders: &mut [Contender],
    rounds: usize,
    calls: usize,
    work: impl Fn(&mut dyn Tool, usize) -> Result<Duration> + Copy,
) -> Result<Vec<Samples>> {
    let mut works: Vec<Work<'_>> = Vec::new();
    for contender in contenders {
        let mut count = 0;
        let name = contender.name.clone();
        let tool = &mut contender.tool;
        works.push(Box::new(move || {
            count += 1;
            work(tool.as_mut(), count).map_err(|error| error.context(name.clone()))
        }));
    }
    interleave(rounds, calls, &mut works)
}

/// The row with a goal: hashline's whole read beside each other tool's.
fn judge(report: &mut Report, contenders: &[Contender], all: &[Samples]) {
    let named: Vec<(&str, &Samples)> =
        contenders.iter().map(|contender| contender.name.as_str()).zip(all).collect();
    let (ours, others): (Vec<_>, Vec<_>) =
        named.into_iter().partition(|(name, _)| name.starts_with("hashline"));
    for (name, samples) in ours {
        for (other, others) in &others {
            report.row(Row {
                work: format!("whole read of 100k lines by ranges, {name}"),
                goal: Goal::AtMost(1.0),
                ratio: samples.ratio(others),
                ours: both(samples),
                other: format!("{} {other}", both(others)),
            });
        }
    }
}
