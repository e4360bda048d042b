//! What a key costs in a long document with many decided hunks: `cargo run --release -p hashline-weave --example keystroke`.

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::time::{Duration, Instant};

use hashline_text::{Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::{Change, Regions, View, Weave};

const LINES: usize = 10_000;
const SAMPLES: u32 = 400;

/// A document with so many accepted hunks, each in place of one line, evenly spread.
fn decided(hunks: usize) -> Weave {
    let mut weave = Weave::new(Text::from((0..LINES).map(|n| format!("line {n}\n")).collect::<String>()));
    let change = |n: usize| {
        let line = n * LINES / hunks;
        Change { lines: line..line + 1, new: vec![OwnedLine::new(format!("agent {n}"), Ending::Lf)] }
    };
    let changes: Vec<Change> = (0..hunks).map(change).collect();
    if let Ok(ids) = weave.record(&changes) {
        let done = weave.switch(&ids, &[]);
        assert!(done.is_ok(), "{done:?}");
    }
    weave.forget_past();
    weave
}

/// The median of what something costs, done again and again, each time elsewhere.
fn median(mut once: impl FnMut(u32) -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..SAMPLES).map(&mut once).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// Types at a place, as an editor whose plugin says what it does, or as one that says nothing.
fn types(weave: &mut Weave, at: Position, new: &str, says: bool) -> Duration {
    let mut text = weave.buffer().clone();
    let mut regions = Regions::default();
    let applied = regions.apply(&mut text, Span::new(at, at), Encoding::Utf16, new);
    assert!(applied.is_ok(), "{applied:?}");
    let start = Instant::now();
    if says {
        weave.typed(&text, &regions);
    } else {
        weave.recognised(&text, &regions, &[]);
    }
    start.elapsed()
}

fn main() {
    println!("| decided hunks | says what it does | key | Enter | read behind Enter |");
    println!("| --- | --- | --- | --- | --- |");
    for hunks in [0, 300, 3_000] {
        for says in [true, false] {
            let weave = decided(hunks);
            // Seven lines, in turn: of hunks, beside such, and between.
            let place = |n: u32| Position::new(5_001 + n % 7 * 10, 2 + n / 7);
            let mut keys = weave.clone();
            let key = median(|n| types(&mut keys, place(n), "x", says));
            let mut enters = weave.clone();
            let enter = median(|n| types(&mut enters, place(n % 7), "\n", says));
            let mut reads = weave.clone();
            let read = median(|n| {
                types(&mut reads, place(n % 7), "\n", says);
                let start = Instant::now();
                reads.snapshot(View::Agent);
                start.elapsed()
            });
            println!("| {hunks} | {says} | {key:.1?} | {enter:.1?} | {read:.1?} |");
        }
    }
}
