//! The only source of chance: the same seed and step always give the same throws, whatever other steps did. So a run can be played
//! again, and steps can be left out of it.

use std::hash::{BuildHasher as _, RandomState};

/// Numbers that look random.
#[derive(Clone, Debug)]
pub struct Dice(u64);

/// Spreads the bits of a number (the end of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A number that is another one each time, from the system; short enough to be written down.
pub fn from_the_system() -> u64 {
    RandomState::new().hash_one(0) >> 24
}

impl Dice {
    /// The dice of one step of one run. Neither neighbouring seeds nor neighbouring steps share throws.
    pub fn new(seed: u64, step: u64) -> Self {
        Self(mix(mix(seed ^ 0x9e37_79b9_7f4a_7c15) ^ step.wrapping_mul(0xd1b5_4a32_d192_ed03)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// A number from `from` to `to`, both included.
    pub fn within(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// True in `percent` of a hundred throws.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        if of.is_empty() { None } else { of.get(self.below(of.len())) }
    }

    /// One of some weighted things.
    pub fn weighted<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let total: usize = of.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(total);
        for (weight, what) in of {
            if at < *weight {
                return *what;
            }
            at -= weight;
        }
        of[0].1
    }
}
