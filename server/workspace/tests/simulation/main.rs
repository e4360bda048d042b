//! People, agents and editors around documents, played by dice and checked against a simple model after every step.
//!
//! Each time other runs are played. `HASHLINE_SEEDS` says how many, in per cent, `HASHLINE_SEED_BASE` plays those again that began at this
//! number, and `HASHLINE_SEED` one of them, with what happens in it as far as that matters.
//!
//! Which hunks are in the text is compared with what the editor's own hand has done, after each notification (`truth`). Of an editor whose
//! plugin says what it does none may be wrong. Of a client that says nothing, what became of a hunk is guessed from the text, and a guess may be
//! wrong: such runs are counted and told, and more than a few of them fail the test. Those in which the guess explains the text at least as
//! well as what happened does are told apart, and count: nobody who has the text alone can know better (rule W9).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod agent;
mod atom;
mod desk;
mod dice;
mod editor;
mod expect;
mod first;
mod kind;
mod marks;
mod model;
mod page;
mod person;
mod relations;
mod report;
mod run;
mod sight;
mod tally;
mod trace;
mod truth;

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::report::Failure;
use crate::run::{End, play};
use crate::tally::{ByKind, Tally};

/// Steps of a run.
const STEPS: u64 = 200;
/// Runs.
const SEEDS: u64 = 10_000;
/// In how many of ten thousand runs something may be wrong for a client that says nothing of its changes.
const WRONG: usize = 8;

fn number(name: &str) -> Option<u64> {
    let said = std::env::var(name).ok()?;
    Some(said.parse().unwrap_or_else(|_| panic!("{name} is no number: {said}")))
}

/// Prints what is to be seen of a run that passes, too: the test runner keeps back what `println!` prints.
fn tell(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

/// What came of some runs.
#[derive(Default)]
struct Results {
    tally: Tally,
    by_kind: ByKind,
    failures: Vec<Failure>,
}

impl Results {
    fn take(&mut self, seed: u64, end: End) {
        self.tally.add(&end.tally);
        self.by_kind.played(&end.kinds);
        if let Some(fault) = end.fault {
            self.by_kind.failed(fault.kind);
            let (step, kind, is_even) = (fault.step, fault.kind, fault.is_even);
            self.failures.push(Failure { seed, step, kind, words: fault.words, is_even });
        }
    }

    fn add(&mut self, other: Self) {
        self.tally.add(&other.tally);
        self.by_kind.add(&other.by_kind);
        self.failures.extend(other.failures);
    }
}

/// Runs that went wrong, by what no smaller test shows.
const WENT_WRONG: [u64; 5] = [
    // Deliveries that a client told of in parts were sent again without end.
    866_216_294_183,
    866_216_300_695,
    // What seemed half there was judged once more with the next change, and explained worse than before.
    11_339_766_126,
    11_339_787_667,
    // One line of an undo read otherwise.
    11_339_776_214,
];

#[test]
fn what_went_wrong_does_not_any_more() {
    for seed in WENT_WRONG {
        let fault = play(seed, STEPS, &HashSet::new(), false).fault;
        assert!(fault.is_none(), "HASHLINE_SEED={seed}: {}", fault.unwrap().words);
    }
}

#[test]
fn everybody_keeps_what_is_theirs() {
    let mut results = Results::default();
    if let Some(seed) = number("HASHLINE_SEED") {
        results.take(seed, play(seed, STEPS, &HashSet::new(), false));
        assert!(results.failures.is_empty(), "\n{}", report::of(results.failures, STEPS));
        return;
    }
    let per_cent = number("HASHLINE_SEEDS").unwrap_or(100);
    let seeds = SEEDS * per_cent / 100;
    let base = number("HASHLINE_SEED_BASE").unwrap_or_else(dice::from_the_system);
    tell(&format!("HASHLINE_SEED_BASE={base} HASHLINE_SEEDS={per_cent} plays these runs again"));
    let next = AtomicU64::new(0);
    let work = || {
        let mut results = Results::default();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= seeds {
                return results;
            }
            let seed = base.wrapping_add(at);
            results.take(seed, play(seed, STEPS, &HashSet::new(), false));
        }
    };
    let count = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().for_each(|thread| results.add(thread.join().unwrap()));
    });
    let Results { tally, by_kind, failures } = results;
    tell(&format!("{seeds} simulated runs of {STEPS} steps met\n{tally}{by_kind}"));
    let (told, guessed): (Vec<_>, Vec<_>) =
        failures.into_iter().partition(|failure| failure.kind.is_plugin());
    let (even, guessed): (Vec<_>, Vec<_>) = guessed.into_iter().partition(|failure| failure.is_even);
    let most = WRONG * usize::try_from(seeds).unwrap() / 10_000;
    for (about, failures) in [("wrong", &guessed), ("another guess was as good", &even)] {
        tell(&format!("{} runs of clients that say nothing: {about}", failures.len()));
        for Failure { seed, kind, words, .. } in failures {
            tell(&format!("    HASHLINE_SEED={seed} {kind:?}: {words}"));
        }
    }
    let guessed = [guessed, even].concat();
    for (wrong, most) in [(told, 0), (guessed, most.max(1))] {
        let count = wrong.len();
        assert!(
            count <= most,
            "{count} of {seeds} runs fail (HASHLINE_SEED_BASE={base})\n{}",
            report::of(wrong, STEPS)
        );
    }
    let missing = tally.missing();
    assert!(missing.is_empty(), "never met: {missing:?}");
}
