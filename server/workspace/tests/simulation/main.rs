//! People, agents and editors around documents, played by dice and checked against a simple model after every step.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod agent;
mod atom;
mod desk;
mod dice;
mod editor;
mod expect;
mod model;
mod page;
mod person;
mod run;
mod tally;
mod trace;

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::run::{End, play};
use crate::tally::Tally;

/// Steps of a run.
const STEPS: u64 = 200;
/// Runs. `HASHLINE_SEEDS` plays so many per cent of them, as for the other simulations.
const SEEDS: u64 = 10_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Leaves out steps for as long as it still fails with the same words.
fn shrunk(seed: u64, last: u64, words: &str) -> HashSet<u64> {
    let kind: String = words.chars().filter(char::is_ascii_alphabetic).take(12).collect();
    let same = |end: &End| {
        end.fault.as_ref().is_some_and(|(_, words)| {
            words.chars().filter(char::is_ascii_alphabetic).take(12).collect::<String>() == kind
        })
    };
    let mut left_out: HashSet<u64> = (last + 1..=STEPS).collect();
    if last == STEPS {
        left_out.clear();
    }
    let mut size = 32;
    while size > 0 {
        let mut from = 0;
        while from < last {
            let mut trial = left_out.clone();
            trial.extend(from..(from + size).min(last));
            if trial.len() > left_out.len() && same(&play(seed, STEPS, &trial, false)) {
                left_out = trial;
            }
            from += size;
        }
        size /= 2;
    }
    left_out
}

fn story(seed: u64, last: u64, words: &str) -> String {
    let left_out = shrunk(seed, last, words);
    let end = play(seed, STEPS, &left_out, true);
    let fault = end.fault.map(|(step, words)| format!("step {step}: {words}")).unwrap_or_default();
    format!("HASHLINE_SEED={seed} fails\n{}{fault}\n", end.trace)
}

/// Prints what is to be seen of a run that passes, too: the test runner keeps back what `println!` prints.
fn tell(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

#[test]
fn everybody_keeps_what_is_theirs() {
    if let Some(seed) = number("HASHLINE_SEED") {
        let end = play(seed, STEPS, &HashSet::new(), false);
        if let Some((step, words)) = end.fault {
            panic!("{}", story(seed, step, &words));
        }
        return;
    }
    let seeds = SEEDS * number("HASHLINE_SEEDS").unwrap_or(100) / 100;
    let next = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        let mut faults = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return (tally, faults);
            }
            let end = play(seed, STEPS, &HashSet::new(), false);
            tally.add(&end.tally);
            if let Some((step, words)) = end.fault {
                faults.push((seed, step, words));
            }
        }
    };
    let mut tally = Tally::default();
    let mut faults = Vec::new();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            let (one, more) = thread.join().unwrap();
            tally.add(&one);
            faults.extend(more);
        }
    });
    tell(&format!("{seeds} simulated runs of {STEPS} steps met\n{tally}"));
    faults.sort();
    for (seed, step, words) in faults.iter().take(100) {
        println!("seed {seed}, step {step}: {words}");
    }
    if let Some((seed, step, words)) = faults.first() {
        panic!("{} of {seeds} runs fail\n{}", faults.len(), story(*seed, *step, words));
    }
    let missing = tally.missing();
    assert!(missing.is_empty(), "never met: {missing:?}");
}
