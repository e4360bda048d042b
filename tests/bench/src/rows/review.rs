//! What an editor asks whenever the cursor moves or a line is drawn: code actions, lenses and hover, in a document with 50
//! held hunks. They are to be answered from memory, within 5 ms.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::bench::{Bench, Desk};
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::sample::{Work, both, interleave};

const LINES: usize = 10_000;
const HUNKS: usize = 50;
/// What an answer may take, in seconds.
const ALLOWED: f64 = 0.005;

/// A desk with held hunks, and what is asked at it.
struct Cursor {
    desk: Desk,
    uri: String,
    /// The lines of the hunks, from 0.
    lines: Vec<usize>,
    turn: usize,
}

impl Cursor {
    fn new(bench: &Bench) -> Result<Self> {
        let place = bench.place(LINES)?;
        let desk = bench.desk(&place, "propose")?;
        let mut agent = bench.direct(&place, &desk)?;
        for count in 1..=HUNKS {
            change(&mut agent, spread(count, LINES), count)?;
        }
        desk.editor.wait_for_offer()?;
        let uri = format!("file://{}", place.path.display());
        let mut cursor = Self { desk, uri, lines: Vec::new(), turn: 0 };
        // Where the hunks are, the lenses say: two above each.
        let lenses =
            cursor.ask("textDocument/codeLens", &json!({"textDocument": {"uri": cursor.uri}}), 2 * HUNKS)?.1;
        let starts = lenses
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|lens| lens["range"]["start"]["line"].as_u64());
        cursor.lines = starts.step_by(2).map(|line| line as usize).collect();
        Ok(cursor)
    }

    /// Asks; the answer must list at least so much.
    fn ask(&mut self, method: &str, params: &Value, least: usize) -> Result<(Duration, Value)> {
        let began = Instant::now();
        let mut answer = self.desk.editor.request(method, params)?;
        let took = began.elapsed();
        let result = answer["result"].take();
        let told = result.as_array().map_or(usize::from(!result.is_null()), Vec::len);
        ensure!(told >= least, "{method} was answered by {told} of {least}: {answer}");
        Ok((took, result))
    }

    /// The next hunk's line.
    fn next(&mut self) -> usize {
        self.turn += 1;
        self.lines[self.turn % self.lines.len()]
    }

    fn actions(&mut self, start: usize, end: usize, least: usize) -> Result<Duration> {
        let range = json!({"start": {"line": start, "character": 0}, "end": {"line": end, "character": 1}});
        let params =
            json!({"textDocument": {"uri": self.uri}, "range": range, "context": {"diagnostics": []}});
        Ok(self.ask("textDocument/codeAction", &params, least)?.0)
    }

    fn lenses(&mut self) -> Result<Duration> {
        let params = json!({"textDocument": {"uri": self.uri}});
        Ok(self.ask("textDocument/codeLens", &params, 2 * HUNKS)?.0)
    }

    fn hover(&mut self) -> Result<Duration> {
        let position = json!({"line": self.next(), "character": 0});
        let params = json!({"textDocument": {"uri": self.uri}, "position": position});
        Ok(self.ask("textDocument/hover", &params, 1)?.0)
    }
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let cursor = std::cell::RefCell::new(Cursor::new(bench)?);
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| {
            let mut cursor = cursor.borrow_mut();
            let line = cursor.next();
            cursor.actions(line, line, 4)
        }),
        Box::new(|| cursor.borrow_mut().actions(0, LINES - 1, 2 * HUNKS)),
        Box::new(|| cursor.borrow_mut().lenses()),
        Box::new(|| cursor.borrow_mut().hover()),
    ];
    let all = interleave(bench.times(20, 4), bench.times(20, 5), &mut works)?;
    let rows = ["code actions at a line", "code actions for the whole document", "code lenses", "hover"];
    for (work, samples) in rows.into_iter().zip(&all) {
        report.row(Row {
            work: format!("{work}, {HUNKS} held hunks in 10k lines"),
            goal: Goal::AtMost(1.0),
            ratio: samples.median() / ALLOWED,
            ours: both(samples),
            other: "5 ms allowed".to_owned(),
        });
    }
    Ok(())
}
