//! A change of one line among 10,000, beside a server that does the least that an edit needs: a durable record and a
//! hash of the document.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::agent::Agent;
use crate::bench::{Bench, Desk, Place};
use crate::report::{Goal, Report, Row};
use crate::sample::{Samples, Work, both, interleave};
use crate::tool::Tool;

const LINES: usize = 10_000;

/// Looks up a line and changes it; the change is what counts.
pub fn change(tool: &mut dyn Tool, line: usize, count: usize) -> Result<Duration> {
    let seen = tool.look_up(line)?;
    let edited = tool.edit(&seen, &format!("    let changed_{count:07} = true;"))?;
    anyhow::ensure!(edited.done, "line {line} was not changed: {}", edited.said);
    Ok(edited.took)
}

/// The line for one edit after the other: all over the document from the first few on, as what stands before a change is not hashed again,
/// and none twice before all have been.
pub fn spread(count: usize, lines: usize) -> usize {
    let room = lines - 10;
    // Steps of the golden section fall into the widest gap that is left, and meet each line if they have no divisor with all of them.
    let step = (room * 618 / 1000..room).find(|step| divisor(*step, room) == 1).unwrap_or(1);
    (count * step) % room + 5
}

/// The greatest common divisor.
fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    report.note(
        "edits: hashline's record grows with each edit, and its length is synced too; the floor writes over one file, and rests as long \
         before each call as hashline does after a decision",
    );
    on_disk(bench, report)?;
    live(bench, report)?;
    many_held(bench, report)
}

fn on_disk(bench: &Bench, report: &mut Report) -> Result<()> {
    let place = bench.place(LINES)?;
    let mut floor = bench.floor("floor-edit", &place)?;
    let mut disk = bench.stdio(&place)?;
    let mut count = 0;
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| Ok(floor.call("answer", json!({}))?.took)),
        Box::new(|| {
            count += 1;
            change(&mut disk, spread(count, LINES), count)
        }),
    ];
    let all = interleave(bench.times(20, 4), bench.times(15, 5), &mut works)?;
    row(
        report,
        "edit of a line of 10k on disk (the file is written and synced too)",
        Goal::None,
        &all[1],
        &all[0],
    );
    Ok(())
}

/// A desk and an agent at it; every edit that it makes is accepted, and that is recorded, before the next.
struct Pair<'a, T> {
    place: &'a Place,
    desk: Desk,
    agent: T,
    count: usize,
}

impl<T: Tool> Pair<'_, T> {
    fn edit(&mut self) -> Result<Duration> {
        self.count += 1;
        let took = change(&mut self.agent, spread(self.count, LINES), self.count)?;
        self.desk.editor.wait_for_offer()?;
        self.desk.editor.decide_all("accept")?;
        self.place.rest();
        Ok(took)
    }

    /// Speed counts only for edits that are there.
    fn check(&self) -> Result<()> {
        let text = self.desk.editor.keys.text();
        let landed = (1..=self.count).filter(|count| text.contains(&format!("changed_{count:07} "))).count();
        anyhow::ensure!(
            landed == self.count,
            "{} edits were accepted and {landed} are in the text",
            self.count
        );
        Ok(())
    }
}

fn live(bench: &Bench, report: &mut Report) -> Result<()> {
    let (first, second, third) = (bench.place(LINES)?, bench.place(LINES)?, bench.place(LINES)?);
    let mut floor = bench.floor("floor-edit", &first)?;
    let desk = bench.desk(&first, "propose")?;
    let mut direct = Pair { place: &first, agent: bench.direct(&first, &desk)?, desk, count: 0 };
    let desk = bench.desk(&second, "propose")?;
    let mut routed = Pair { place: &second, agent: bench.stdio(&second)?, desk, count: 0 };
    let desk = bench.desk(&third, "apply")?;
    let mut applying = Pair { place: &third, agent: bench.direct(&third, &desk)?, desk, count: 0 };
    let all = {
        let mut works: Vec<Work<'_>> = vec![
            Box::new(|| {
                // After the same pause: a machine that has slept is slower at first.
                first.rest();
                Ok(floor.call("answer", json!({}))?.took)
            }),
            Box::new(|| direct.edit()),
            Box::new(|| routed.edit()),
            Box::new(|| applying.edit()),
        ];
        interleave(bench.times(20, 4), bench.times(15, 5), &mut works)?
    };
    let rows = [
        ("edit of a line of 10k in the buffer, at the socket", Goal::AtMost(2.0)),
        ("the same through the router", Goal::AtMost(2.0)),
        ("the same in apply mode, at the socket", Goal::None),
    ];
    for ((work, goal), samples) in rows.into_iter().zip(&all[1..]) {
        row(report, work, goal, samples, &all[0]);
    }
    direct.check()?;
    routed.check()?;
    applying.check()
}

fn row(report: &mut Report, work: &str, goal: Goal, ours: &Samples, floor: &Samples) {
    report.row(Row {
        work: work.to_owned(),
        goal,
        ratio: ours.ratio(floor),
        ours: both(ours),
        other: format!("{} 1 KB synced and a hash", both(floor)),
    });
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

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn no_line_is_changed_twice() {
        for lines in [100, 1_000, 10_000, 100_000, 1_000_000] {
            let room = lines - 10;
            let mut changed: Vec<usize> = (1..=room).map(|count| spread(count, lines)).collect();
            changed.sort_unstable();
            changed.dedup();
            assert_eq!(changed.len(), room);
            assert!(changed.iter().all(|line| (1..=lines).contains(line)));
        }
    }
}
