//! A change of one line among 10,000, beside a server that does the least that an edit needs: a durable record and a
//! hash of the document.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::agent::Agent;
use crate::bench::Bench;
use crate::report::{Goal, Report, Row};
use crate::sample::{Work, both, interleave};
use crate::tool::Tool;

const LINES: usize = 10_000;

/// Looks up a line and changes it; the change is what counts.
pub fn change(tool: &mut dyn Tool, line: usize, count: usize) -> Result<Duration> {
    let seen = tool.look_up(line)?;
    let edited = tool.edit(&seen, &format!("    let changed_{count:07} = true;"))?;
    anyhow::ensure!(edited.done, "line {line} was not changed: {}", edited.said);
    Ok(edited.took)
}

/// The line for one edit after the other: apart, so that none is beside another.
pub fn spread(count: usize, lines: usize) -> usize {
    (count * 37) % (lines - 10) + 5
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let rounds = bench.times(20, 4);
    let calls = bench.times(15, 5);
    let closed = bench.place(LINES)?;
    let mut floor = bench.floor("floor-edit", &closed)?;
    let mut disk = bench.stdio(&closed)?;
    let places = [bench.place(LINES)?, bench.place(LINES)?, bench.place(LINES)?];
    let [at_socket, at_router, in_apply] = &places;

    let mut desk = bench.desk(at_socket, "propose")?;
    let mut direct = bench.direct(at_socket, &desk)?;
    let mut routed_desk = bench.desk(at_router, "propose")?;
    let mut routed = bench.stdio(at_router)?;
    let mut applying_desk = bench.desk(in_apply, "apply")?;
    let mut applying = bench.direct(in_apply, &applying_desk)?;
    let mut counts = [0; 4];

    let all = {
        let [first, second, third, fourth] = &mut counts;
        let mut works: Vec<Work<'_>> = vec![
            Box::new(|| Ok(floor.call("answer", json!({}))?.took)),
            Box::new(|| {
                *first += 1;
                let took = change(&mut direct, spread(*first, LINES), *first)?;
                desk.editor.wait_for_undecided(1)?;
                desk.editor.decide_all("accept")?;
                Ok(took)
            }),
            Box::new(|| {
                *second += 1;
                let took = change(&mut routed, spread(*second, LINES), *second)?;
                routed_desk.editor.wait_for_undecided(1)?;
                routed_desk.editor.decide_all("accept")?;
                Ok(took)
            }),
            Box::new(|| {
                *third += 1;
                let took = change(&mut applying, spread(*third, LINES), *third)?;
                applying_desk.editor.wait_for_undecided(1)?;
                applying_desk.editor.decide_all("accept")?;
                Ok(took)
            }),
            Box::new(|| {
                *fourth += 1;
                change(&mut disk, spread(*fourth, LINES), *fourth)
            }),
        ];
        interleave(rounds, calls, &mut works)?
    };
    let rows = [
        ("edit of a line of 10k in the buffer, at the socket", Goal::AtMost(2.0)),
        ("the same through the router", Goal::AtMost(2.0)),
        ("the same in apply mode, at the socket", Goal::None),
        ("the same on disk (the file is written and synced too)", Goal::None),
    ];
    for ((work, goal), samples) in rows.into_iter().zip(&all[1..]) {
        report.row(Row {
            work: work.to_owned(),
            goal,
            ratio: samples.ratio(&all[0]),
            ours: both(samples),
            other: format!("{} 1 KB synced and a hash", both(&all[0])),
        });
    }
    let text = desk.editor.keys.text();
    let landed = (1..=counts[0]).filter(|count| text.contains(&format!("changed_{count:07} "))).count();
    anyhow::ensure!(landed == counts[0], "{} edits were accepted and {landed} are in the text", counts[0]);

    many_held(bench, report)?;
    Ok(())
}

/// The same while nobody decides: each edit joins those that are held.
fn many_held(bench: &Bench, report: &mut Report) -> Result<()> {
    let held = bench.times(300, 60);
    let place = bench.place(LINES)?;
    let desk = bench.desk(&place, "propose")?;
    let mut agent = bench.direct(&place, &desk)?;
    let mut took = Vec::new();
    for count in 1..=held {
        took.push(change(&mut agent, spread(count, LINES), count)?.as_secs_f64());
    }
    let tenth = held / 10;
    let median = |part: &[f64]| {
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let (first, last) = (median(&took[..tenth]), median(&took[held - tenth..]));
    report.row(Row {
        work: format!("the same with {held} held edits in the document"),
        goal: Goal::None,
        ratio: last / first,
        ours: crate::sample::show(last),
        other: format!("{} the first {tenth} of them", crate::sample::show(first)),
    });
    Ok(())
}
