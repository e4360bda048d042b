//! How many cases a property is tried with, for all crates.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::prelude::{ProptestConfig, Strategy};
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// So many, or `HASHLINE_SEEDS` times as many per cent.
#[allow(dead_code, reason = "not every crate has such a property")]
pub fn cases(usual: u32) -> ProptestConfig {
    let cases = u64::from(usual) * number("HASHLINE_SEEDS").unwrap_or(100) / 100;
    ProptestConfig::with_cases(u32::try_from(cases.max(1)).unwrap_or(u32::MAX))
}

/// How long a property of what comes from outside is played, in seconds, unless `HASHLINE_FUZZ_SECONDS` says otherwise.
const SECONDS: u64 = 1;

/// So many cases have one seed.
const EACH: u32 = 16;

/// Plays a property of what comes from outside for some seconds, first with what has failed once (the file beside `source` that ends in
/// `.proptest-regressions`), then with cases that are others each time. What fails prints the `HASHLINE_FUZZ_SEED` that plays it again.
#[allow(dead_code, reason = "not every crate has such a property")]
#[allow(clippy::panic, clippy::indexing_slicing, reason = "a test fails by it")]
pub fn fuzz<S: Strategy>(
    source: &'static str,
    input: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let run = |config: ProptestConfig, seed: u64| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        if let Err(failure) = runner.run(&input, &property) {
            panic!("HASHLINE_FUZZ_SEED={seed} replays this\n{failure}");
        }
    };
    let plain = ProptestConfig { cases: EACH, failure_persistence: None, ..ProptestConfig::default() };
    if let Some(seed) = number("HASHLINE_FUZZ_SEED") {
        return run(plain, seed);
    }
    let from_system = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    // By nanoseconds two properties that begin together have seeds of their own; the low digits alone are easy to type.
    let base = u64::try_from(from_system % 1_000_000_000_000).unwrap_or_default();
    let kept = Box::new(FileFailurePersistence::WithSource("proptest-regressions"));
    let first =
        ProptestConfig { source_file: Some(source), failure_persistence: Some(kept), ..plain.clone() };
    run(first, base);
    let ends = Instant::now() + Duration::from_secs(number("HASHLINE_FUZZ_SECONDS").unwrap_or(SECONDS));
    (1..).take_while(|_| Instant::now() < ends).for_each(|nth: u64| run(plain.clone(), base + nth));
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|value| value.parse().ok())
}
