//! The only source of chance: the same seed and step always give the same throws, whatever other steps did. So a run can be played
//! again, and steps can be left out of it.

/// Numbers that look random.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of one step of one run.
    pub fn new(seed: u64, step: u64) -> Self {
        let mut dice =
            Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step.wrapping_mul(0xd1b5_4a32_d192_ed03));
        dice.next();
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
