//! Changes of a document of 200 lines, piped in without waiting, beside a server that only applies them to a rope.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::agent::Agent;
use crate::bench::Bench;
use crate::editor::Editor;
use crate::report::{Goal, Report, Row};
use crate::sample::{Samples, Work, interleave};
use crate::tool::Tool;

const LINES: usize = 200;

/// Types in one round, rubs out in the next, so that the document stays what it is.
fn storm(editor: &mut Editor, keys: usize, turn: &mut usize) -> Result<Duration> {
    *turn += 1;
    editor.storm(keys, turn.is_multiple_of(2))
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let keys = bench.times(10_000, 2_000);
    let places = [bench.place(LINES)?, bench.place(LINES)?, bench.place(LINES)?];
    let mut floor = bench.floor_desk(&places[0])?;
    let mut fresh = bench.desk(&places[1], "propose")?;
    let mut read = bench.desk(&places[2], "propose")?;
    // From here on this one's sidecar must tell what became of each line.
    let mut agent = bench.direct(&places[2], &read)?;
    agent.read(1, LINES)?;
    let mut turns = [0; 3];
    let all = {
        let [first, second, third] = &mut turns;
        let mut works: Vec<Work<'_>> = vec![
            Box::new(|| storm(&mut floor, keys, first)),
            Box::new(|| storm(&mut fresh.editor, keys, second)),
            Box::new(|| storm(&mut read.editor, keys, third)),
        ];
        interleave(bench.times(20, 4), 1, &mut works)?
    };
    let rate = |samples: &Samples| format!("{:.0}k changes/s", keys as f64 / samples.median() / 1e3);
    let rows = [
        ("didChange of 200 lines, throughput", Goal::AtLeast(0.9)),
        ("the same after an agent has read it", Goal::None),
    ];
    for ((work, goal), samples) in rows.into_iter().zip(&all[1..]) {
        report.row(Row {
            work: work.to_owned(),
            goal,
            ratio: all[0].ratio(samples),
            ours: rate(samples),
            other: format!("{} rope only", rate(&all[0])),
        });
    }
    // Speed counts only for the right text.
    let text = floor.request("bench/text", &json!(null))?;
    anyhow::ensure!(text["result"] == floor.keys.text(), "the floor's text is not the editor's: {text}");
    let mut unread = bench.direct(&places[1], &fresh)?;
    for (editor, agent, place) in
        [(&fresh.editor, &mut unread, &places[1]), (&read.editor, &mut agent, &places[2])]
    {
        let reply = agent.agent.call(
            "read_text_file",
            json!({
                "path": place.path, "start_line": 1, "end_line": LINES, "view": "buffer",
            }),
        )?;
        let told: String = reply
            .text
            .lines()
            .filter_map(|line| line.split_once('|'))
            .map(|(_, content)| format!("{content}\n"))
            .collect();
        anyhow::ensure!(told == editor.keys.text(), "the sidecar's text is not the editor's");
    }
    Ok(())
}
