//! What hunks cost the person in Neovim: a key, a scrolled screen, a list of the sidecar's and accepting 400 at once, with 1,000 hunks in
//! 50,000 lines. None of it is to cost a frame of a screen more than without them, or than the same edits made by Neovim's own function.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::bench::Bench;
use crate::report::{Goal, Report, Row};
use crate::sample::{Samples, both, show};

/// A frame, in seconds.
const FRAME: f64 = 0.016;

/// What `nvim/tests/frames.lua` prints: milliseconds by work.
#[derive(Deserialize)]
struct Frames {
    without: BTreeMap<String, Vec<f64>>,
    with: BTreeMap<String, Vec<f64>>,
}

fn samples(millis: Option<&Vec<f64>>) -> Samples {
    let mut samples = Samples::default();
    for took in millis.into_iter().flatten() {
        samples.push(Duration::from_secs_f64(took / 1e3));
    }
    samples
}

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let nvim = Path::new("tests/.install/neovim/newest/nvim");
    let nvim = nvim.canonicalize().context("there is no Neovim: tests/install/neovim.sh installs it")?;
    let mut command = Command::new(&nvim);
    command.args(["--clean", "-n", "-i", "NONE", "-l", "nvim/tests/frames.lua"]);
    command.arg(bench.times(10, 2).to_string()).env("NVIM_BINARY", &nvim);
    let place = bench.place(1)?;
    for folder in ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env(folder, &place.root);
    }
    let output = command.output()?;
    let said = [output.stdout.as_slice(), &output.stderr].map(String::from_utf8_lossy).concat();
    ensure!(output.status.success(), "{said}");
    let last = said.lines().rfind(|line| line.starts_with('{')).context("it says nothing")?;
    let frames: Frames = serde_json::from_str(last)?;
    for (work, name, part) in [
        ("a key typed, 95 of 100", "key", 0.95),
        ("a line typed, 95 of 100", "line", 0.95),
        ("five lines scrolled, 95 of 100", "scroll", 0.95),
        ("a page scrolled, 95 of 100", "page", 0.95),
        ("a list that comes after a change, half of them", "list", 0.5),
        ("a list of 1,000 new hunks, half of them", "offer", 0.5),
        ("400 hunks accepted at once, half of them", "accept", 0.5),
    ] {
        let (with, without) = (samples(frames.with.get(name)), samples(frames.without.get(name)));
        let base = if without.len() == 0 { 0.0 } else { without.median() };
        report.row(Row {
            work: format!("Neovim, 1,000 hunks in 50k lines: {work}"),
            goal: Goal::AtMost(1.0),
            ratio: (with.quantile(part) - base) / FRAME,
            ours: both(&with),
            other: format!("16 ms beyond {} without hunks", show(base)),
        });
    }
    Ok(())
}
