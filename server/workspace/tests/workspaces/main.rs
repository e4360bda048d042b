//! Whole workspaces over a real folder, played by seeds: people and their editors, agents, a disk that refuses, processes that end.
//!
//! Where `simulation` drives documents alone, this takes the way that production takes: what is recorded, read again and delivered goes
//! through [`hashline_workspace::Workspace`], and a process that ends leaves its folder to the next. Others are played each time:
//! `HASHLINE_SEEDS` says how many, in per cent, and `HASHLINE_SEED` plays one again. As several threads work in a process, a seed gives
//! the same steps, but not always the same moment in between.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod breaks;
#[path = "../../../weave/tests/common/chance.rs"]
#[allow(dead_code, reason = "it is shared with tests that use all of it")]
mod chance;
#[path = "../common/change.rs"]
mod change;
#[path = "../record/desk.rs"]
#[allow(dead_code, reason = "it is shared with tests that use all of it")]
mod desk;
mod editor;
#[path = "../common/failing.rs"]
mod failing;
mod model;
#[path = "../common/order.rs"]
mod order;
mod play;
mod seat;
#[path = "../record/street.rs"]
mod street;
mod tally;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chance::seeds;
use editor::Diary;
use tally::Tally;

/// Plays of a usual run.
const SEEDS: u64 = 150;
/// Of so many plays together nothing is left out that there is to meet.
const ALL: usize = 500;
/// How many of those that fail are told in full.
const SHOWN: usize = 12;
/// What a line begins with that says what is wrong.
const FAILED: &str = "HASHLINE_SEED=";
/// How many are played at a time: most of them wait, for a pause before something is tried again or for a file to have the last word.
const AT_A_TIME: usize = 64;

fn tell(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

/// Plays one seed in a runtime of its own. What it met, or what was wrong.
fn play(seed: u64) -> Result<Tally, String> {
    let diary = Arc::new(Diary::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(play::play(seed, diary.clone()))));
    // What ended in the middle may be waiting for what never comes.
    runtime.shutdown_background();
    let words = match played {
        Ok(Ok(tally)) => return Ok(tally),
        Ok(Err(words)) => words,
        Err(why) => match (why.downcast_ref::<String>(), why.downcast_ref::<&str>()) {
            (Some(words), _) => words.clone(),
            (None, Some(words)) => (*words).to_owned(),
            (None, None) => "a panic".to_owned(),
        },
    };
    Err(format!("{}\n{FAILED}{seed}: {words}", diary.words()))
}

#[test]
fn whatever_happens_all_is_kept_and_nothing_is_locked() {
    let base = match std::env::var_os("HASHLINE_SEED") {
        Some(_) => 0,
        None => uuid::Uuid::new_v4().as_u128() as u64 >> 24,
    };
    let seeds: Vec<u64> = seeds(SEEDS).map(|seed| base + seed).collect();
    tell(&format!("{} plays, the first HASHLINE_SEED={}", seeds.len(), seeds[0]));
    let next = AtomicUsize::new(0);
    let results = Mutex::new((Tally::default(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let played = play(*seed);
                    let (tally, failed) = &mut *results.lock().unwrap();
                    match played {
                        Ok(met) => tally.add(&met),
                        Err(words) => failed.push(words),
                    }
                }
            });
        }
    });
    let (tally, failed) = results.into_inner().unwrap();
    tell(&tally.to_string());
    for words in failed.iter().take(SHOWN) {
        tell(words);
    }
    let failed: Vec<_> =
        failed.iter().filter_map(|words| words.lines().find(|line| line.starts_with(FAILED))).collect();
    assert!(failed.is_empty(), "{} of {} plays fail:\n{}", failed.len(), seeds.len(), failed.join("\n"));
    let missing = tally.missing();
    assert!(seeds.len() < ALL || missing.is_empty(), "never met: {missing:?}");
}
