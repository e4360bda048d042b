//! How many cases a property is tried with, for all crates.

use proptest::prelude::ProptestConfig;

/// So many, or `HASHLINE_SEEDS` times as many per cent.
pub fn cases(usual: u32) -> ProptestConfig {
    let per_cent = std::env::var("HASHLINE_SEEDS").ok().and_then(|value| value.parse::<u64>().ok());
    let cases = u64::from(usual) * per_cent.unwrap_or(100) / 100;
    ProptestConfig::with_cases(u32::try_from(cases.max(1)).unwrap_or(u32::MAX))
}
