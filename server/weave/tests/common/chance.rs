//! Chance that can be replayed, for all tests that are played by seeds.

/// SplitMix64.
pub struct Rng(u64);

impl Rng {
    /// The chances of a seed. Each seed begins at a place of its own: counted up from the seed itself, neighbouring seeds would
    /// play one and the same row of chances, a throw apart.
    pub fn new(seed: u64) -> Self {
        Self(Self(seed).next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The seeds of a simulation: so many, or `HASHLINE_SEEDS` times as many per cent, or only `HASHLINE_SEED`.
pub fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    match number("HASHLINE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("HASHLINE_SEEDS").unwrap_or(100) / 100,
    }
}
