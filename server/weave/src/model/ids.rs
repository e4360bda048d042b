//! The identities of the lines of a text, as many snapshots keep them: in pieces, which they have in common where their texts do.
//!
//! Where a piece ends depends on the identities themselves, so lists that differ in one place are cut alike before and behind it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::model::line::{IdRange, LineId};

/// How many ranges a piece has on average, as a power of two, and at most.
const MEAN_BITS: u32 = 5;
const MOST: usize = 128;

/// The identities of the lines of a text, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    pieces: Arc<[Arc<[IdRange]>]>,
}

impl Ids {
    /// These ranges, with as much of an earlier list as they have in common with it.
    pub fn new(ranges: &[IdRange], earlier: &Self) -> Self {
        let known: HashMap<LineId, &Arc<[IdRange]>> =
            earlier.pieces.iter().filter_map(|piece| Some((piece.first()?.first, piece))).collect();
        let share = |piece: &[IdRange]| {
            let same = known.get(&piece[0].first).filter(|same| same[..] == *piece);
            same.map_or_else(|| piece.into(), |same| Arc::clone(same))
        };
        let mut pieces = Vec::new();
        let mut start = 0;
        for (at, range) in ranges.iter().enumerate() {
            if at + 1 == ranges.len() || at + 1 == start + MOST || ends_piece(*range) {
                pieces.push(share(&ranges[start..=at]));
                start = at + 1;
            }
        }
        Self { pieces: pieces.into() }
    }

    /// The identities of some lines.
    pub fn of_lines(&self, lines: Range<usize>) -> Vec<IdRange> {
        let mut found = Vec::new();
        let mut at = 0;
        for range in self.ranges() {
            let from = lines.start.max(at);
            let to = lines.end.min(at + range.len);
            if from < to {
                found.push(IdRange { first: range.at(from - at), len: to - from });
            }
            at += range.len;
            if at >= lines.end {
                break;
            }
        }
        found
    }

    /// All ranges in order.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = IdRange> {
        self.pieces.iter().flat_map(|piece| piece.iter().copied())
    }

    /// What makes this list of another.
    pub fn difference_from(&self, other: &Self) -> Difference {
        let (own, theirs) = (self.ranges().count(), other.ranges().count());
        let same = |(own, theirs): &(IdRange, IdRange)| own == theirs;
        let ahead = self.ranges().zip(other.ranges()).take_while(same).count();
        let most = own.min(theirs) - ahead;
        let back = self.ranges().rev().zip(other.ranges().rev());
        let behind = back.take(most).take_while(same).count();
        let new = self.ranges().skip(ahead).take(own - ahead - behind).collect();
        Difference { ranges: ahead..theirs - behind, new }
    }

    /// About how much memory it takes besides what it has in common with another, in bytes.
    pub fn bytes_beside(&self, other: &Self) -> usize {
        if Arc::ptr_eq(&self.pieces, &other.pieces) {
            return 0;
        }
        let theirs: HashSet<_> = other.pieces.iter().map(|piece| piece.as_ptr()).collect();
        let own = self.pieces.iter().filter(|piece| !theirs.contains(&piece.as_ptr()));
        size_of_val(&*self.pieces) + own.map(|piece| size_of_val(&**piece)).sum::<usize>()
    }
}

/// What makes one list of identities of another: one run of its ranges, and what stands there instead.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    ranges: Range<usize>,
    new: Box<[IdRange]>,
}

impl Difference {
    /// The list that differs in this from the one that it was found with.
    pub fn applied_to(&self, other: &Ids) -> Ids {
        let ahead = other.ranges().take(self.ranges.start);
        let behind = other.ranges().skip(self.ranges.end);
        let all: Vec<IdRange> = ahead.chain(self.new.iter().copied()).chain(behind).collect();
        Ids::new(&all, other)
    }

    /// How many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.new)
    }
}

/// Whether a piece ends with this range. (The multiplier is 2^64 divided by the golden ratio, as in Fibonacci hashing.)
fn ends_piece(range: IdRange) -> bool {
    range.first.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - MEAN_BITS) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(numbers: impl Iterator<Item = u64>) -> Vec<IdRange> {
        numbers.map(|number| IdRange { first: LineId(2 * number), len: 1 }).collect()
    }

    #[test]
    fn lists_that_differ_in_one_place_have_the_rest_in_common() {
        const MANY: u64 = 10_000;
        let mut all = ranges(0..MANY);
        let first = Ids::new(&all, &Ids::default());
        for (place, new) in [(0, 3 * MANY), (5_000, 3 * MANY + 1), (all.len() - 1, 3 * MANY + 2)] {
            all.insert(place, IdRange { first: LineId(new), len: 1 });
        }
        all.remove(2_000);
        let second = Ids::new(&all, &first);
        assert_eq!(second.of_lines(0..all.len()), all);
        let (whole, beside) = (first.bytes_beside(&Ids::default()), second.bytes_beside(&first));
        assert!(beside < whole / 10, "{beside} of {whole}");
        assert_eq!(second.bytes_beside(&second.clone()), 0);
        for (one, other) in
            [(&first, &second), (&second, &first), (&first, &first), (&first, &Ids::default())]
        {
            let back = one.difference_from(other).applied_to(other);
            assert_eq!(back.of_lines(0..all.len()), one.of_lines(0..all.len()));
            let back = other.difference_from(one).applied_to(one);
            assert_eq!(back.of_lines(0..all.len()), other.of_lines(0..all.len()));
        }
        let apart = Ids::new(&all, &Ids::default());
        assert!(apart.bytes_beside(&first) > whole * 9 / 10, "what is not the same instance takes room");
    }

    #[test]
    fn what_differs_in_one_place_is_kept_as_that_place() {
        let mut all = ranges(0..10_000);
        let first = Ids::new(&all, &Ids::default());
        all.splice(4_000..4_002, ranges(20_000..20_003));
        let second = Ids::new(&all, &first);
        let difference = first.difference_from(&second);
        assert_eq!((difference.ranges.clone(), difference.new.len()), (4_000..4_003, 2));
        let back = difference.applied_to(&second);
        assert_eq!(back.of_lines(0..10_000), first.of_lines(0..10_000));
        assert!(back.bytes_beside(&second) < first.bytes_beside(&Ids::default()) / 10);
    }

    #[test]
    fn some_lines_are_found_among_ranges_of_any_length() {
        let all = [IdRange { first: LineId(7), len: 3 }, IdRange { first: LineId(20), len: 1 }];
        let ids = Ids::new(&all, &Ids::default());
        let part = |first, len| IdRange { first: LineId(first), len };
        assert_eq!(ids.of_lines(1..4), [part(8, 2), part(20, 1)]);
        assert_eq!(ids.of_lines(3..9), [part(20, 1)]);
        assert_eq!(ids.of_lines(1..1), []);
        assert_eq!(Ids::default().of_lines(0..1), []);
    }
}
