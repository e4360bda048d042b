//! What is printed of runs that fail: all of them, by what is wrong, and the shortest stories of some.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use crate::kind::Kind;
use crate::run::{End, play};

/// How many words of a fault say what kind of fault it is.
const WORDS: usize = 8;
/// Of how many kinds of faults a story is told.
const STORIES: usize = 6;

/// A run that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub seed: u64,
    pub step: u64,
    /// The editor at whose desk it was noticed.
    pub kind: Kind,
    pub words: String,
    /// It is about a hunk of which another guess had explained the text as well.
    pub is_even: bool,
}

/// The first words of a fault, without names, numbers and texts.
pub fn kind_of(words: &str) -> String {
    let spoken: String = words.split('"').step_by(2).collect();
    let plain = |word: &&str| !word.is_empty() && word.chars().all(|char| char.is_ascii_alphabetic());
    let trim = |word: &'_ str| word.trim_matches(|char: char| char.is_ascii_punctuation()).to_owned();
    let words: Vec<String> = spoken.split_whitespace().map(trim).collect();
    words.iter().map(String::as_str).filter(plain).take(WORDS).collect::<Vec<_>>().join(" ")
}

/// Leaves out steps for as long as it still fails with the same words.
fn shrunk(failure: &Failure, steps: u64) -> HashSet<u64> {
    let (seed, last) = (failure.seed, failure.step);
    let kind = kind_of(&failure.words);
    let same = |end: &End| end.fault.as_ref().is_some_and(|fault| kind_of(&fault.words) == kind);
    let mut left_out: HashSet<u64> = (last + 1..steps).collect();
    let mut size = 32;
    while size > 0 {
        let mut from = 0;
        while from < last {
            let mut trial = left_out.clone();
            trial.extend(from..(from + size).min(last));
            if trial.len() > left_out.len() && same(&play(seed, steps, &trial, false)) {
                left_out = trial;
            }
            from += size;
        }
        size /= 2;
    }
    left_out
}

/// What happens in the run, without all that does not matter.
pub fn story(failure: &Failure, steps: u64) -> String {
    let end = play(failure.seed, steps, &shrunk(failure, steps), true);
    let fault = end.fault.map(|fault| format!("step {}: {}", fault.step, fault.words)).unwrap_or_default();
    format!("HASHLINE_SEED={} fails\n{}{fault}\n", failure.seed, end.trace)
}

/// All failures, the most frequent kind of fault first.
pub fn of(mut failures: Vec<Failure>, steps: u64) -> String {
    failures.sort_by_key(|failure| failure.seed);
    let mut groups: BTreeMap<String, Vec<Failure>> = BTreeMap::new();
    for failure in failures {
        groups.entry(kind_of(&failure.words)).or_default().push(failure);
    }
    let mut groups: Vec<(String, Vec<Failure>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, failures)| usize::MAX - failures.len());
    let mut out = String::new();
    for (kind, failures) in &groups {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for failure in failures {
            *kinds.entry(format!("{:?}", failure.kind)).or_default() += 1;
        }
        let _ = writeln!(out, "{} times: {kind} ({kinds:?})", failures.len());
        for failure in failures {
            let _ = writeln!(out, "    seed {}, step {}: {}", failure.seed, failure.step, failure.words);
        }
    }
    for (_, failures) in groups.iter().take(STORIES) {
        // Mostly the one that is over soonest is told soonest.
        let shortest = failures.iter().min_by_key(|failure| failure.step);
        let _ = writeln!(out, "\n{}", shortest.map(|failure| story(failure, steps)).unwrap_or_default());
    }
    out
}
