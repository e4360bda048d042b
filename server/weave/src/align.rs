//! Which old line is which new line: an alignment with a budget in steps, never in time, so that the same texts always give the
//! same answer (rule W6).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Old times new lines of a stretch without unique lines up to which it is aligned line by line; a larger one is left
/// unmatched. 4 million steps are some milliseconds.
const BUDGET: usize = 4_000_000;

/// Old times new lines up to which the best of all alignments is found.
const FEW: usize = 4096;

/// How good an alignment of some lines is: more is better.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    pairs: u32,
    /// Lines between the pairs that are left to be typed, as in [`Cost`](crate::Cost).
    typed: Reverse<u32>,
    /// Pairs of lines that stand once on both sides.
    unique: u32,
}

/// What becomes of the next old line, or where the next new one comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The two are the same line.
    Pair,
    /// The one becomes the other.
    Changes,
    /// The old line goes.
    Goes,
    /// The new line comes.
    Comes,
}

/// Pairs of equal lines, as indices into both, rising in both: as many as can be, as far as the budget goes. Of as many those are taken that
/// leave the fewest lines to be typed, where there are few lines, and then those with lines that stand once on both sides. Lines are given
/// by numbers, equal ones by the same.
pub(crate) fn align(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    align_as(old, new, 1)
}

/// As [`align`], for old lines that are in no text: one that finds no partner leaves nothing to be typed.
pub(crate) fn align_hidden(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    align_as(old, new, 0)
}

/// `goes`: how many lines an old one leaves to be typed that goes.
fn align_as(old: &[u32], new: &[u32], goes: u32) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (left, right) = between_ends(old, new, 0..old.len(), 0..new.len(), &mut pairs);
    if left.is_empty() || right.is_empty() {
        pairs.sort_unstable();
        return pairs;
    }
    if left.len().saturating_mul(right.len()) <= FEW {
        pairs.extend(best(old, new, left, right, goes));
        pairs.sort_unstable();
        return pairs;
    }
    let mut between = Vec::new();
    stretch(old, new, left.clone(), right.clone(), &mut between);
    // Where each line of one side has its partner there are no more pairs to be had.
    if between.len() < left.len().min(right.len()) {
        let most = one_by_one(old, new, left, right);
        if most.len() > between.len() {
            between = most;
        }
    }
    pairs.extend(between);
    pairs.sort_unstable();
    pairs
}

/// As [`align`], for lines as they read.
pub(crate) fn align_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut names: HashMap<&str, u32> = HashMap::new();
    for line in old.iter().chain(new) {
        let next = names.len() as u32;
        names.entry(line).or_insert(next);
    }
    let numbers = |lines: &[&str]| lines.iter().map(|line| names[line]).collect::<Vec<u32>>();
    align(&numbers(old), &numbers(new))
}

/// Pairs what a stretch has in common at its beginning and at its end. Returns what is left of it.
fn between_ends(
    old: &[u32],
    new: &[u32],
    mut left: Range<usize>,
    mut right: Range<usize>,
    pairs: &mut Vec<(usize, usize)>,
) -> (Range<usize>, Range<usize>) {
    while !left.is_empty() && !right.is_empty() && old[left.start] == new[right.start] {
        pairs.push((left.start, right.start));
        left.start += 1;
        right.start += 1;
    }
    while !left.is_empty() && !right.is_empty() && old[left.end - 1] == new[right.end - 1] {
        left.end -= 1;
        right.end -= 1;
        pairs.push((left.end, right.end));
    }
    (left, right)
}

fn stretch(
    old: &[u32],
    new: &[u32],
    left: Range<usize>,
    right: Range<usize>,
    pairs: &mut Vec<(usize, usize)>,
) {
    let (left, right) = between_ends(old, new, left, right, pairs);
    if left.is_empty() || right.is_empty() {
        return;
    }
    let anchors = longest_rising(&unique_pairs(old, new, left.clone(), right.clone()));
    if anchors.is_empty() {
        pairs.extend(one_by_one(old, new, left, right));
        return;
    }
    let (mut from_left, mut from_right) = (left.start, right.start);
    for (l, r) in anchors {
        // An anchor may have been taken already by the common beginning of the stretch before it.
        if l < from_left || r < from_right {
            continue;
        }
        stretch(old, new, from_left..l, from_right..r, pairs);
        pairs.push((l, r));
        (from_left, from_right) = (l + 1, r + 1);
    }
    stretch(old, new, from_left..left.end, from_right..right.end, pairs);
}

/// The pairs of the best alignment of all; of several that are equally good always the same.
fn best(old: &[u32], new: &[u32], left: Range<usize>, right: Range<usize>, goes: u32) -> Vec<(usize, usize)> {
    let once = unique_pairs(old, new, left.clone(), right.clone());
    let unique =
        |l: usize, r: usize| u32::from(once.binary_search(&(left.start + l, right.start + r)).is_ok());
    let mut grid = Grid { old: &old[left.clone()], new: &new[right.clone()], goes, scores: Vec::new() };
    grid.scores = vec![Score::default(); (left.len() + 1) * (right.len() + 1)];
    for l in (0..=left.len()).rev() {
        for r in (0..=right.len()).rev() {
            let found = grid.ways(l, r, unique).map(|(score, _)| score).max();
            let at = grid.at(l, r);
            grid.scores[at] = found.unwrap_or_default();
        }
    }
    let (mut l, mut r) = (0, 0);
    let mut pairs = Vec::new();
    loop {
        let best = grid.scores[grid.at(l, r)];
        let Some((_, way)) = grid.ways(l, r, unique).find(|(score, _)| *score == best) else { return pairs };
        if way == Way::Pair {
            pairs.push((left.start + l, right.start + r));
        }
        l += usize::from(way != Way::Comes);
        r += usize::from(way != Way::Goes);
    }
}

/// How good what follows each place between old and new lines can be.
struct Grid<'a> {
    old: &'a [u32],
    new: &'a [u32],
    /// How many lines an old one leaves to be typed that goes.
    goes: u32,
    scores: Vec<Score>,
}

impl Grid<'_> {
    fn at(&self, l: usize, r: usize) -> usize {
        l * (self.new.len() + 1) + r
    }

    /// The ways to go on from a place, and how good what follows is with each, where that is known of all later places.
    fn ways(
        &self,
        l: usize,
        r: usize,
        unique: impl Fn(usize, usize) -> u32,
    ) -> impl Iterator<Item = (Score, Way)> {
        let (goes, comes) = (l < self.old.len(), r < self.new.len());
        let typed = |l: usize, r: usize, lines: u32| {
            let then = self.scores[self.at(l, r)];
            Score { typed: Reverse(then.typed.0 + lines), ..then }
        };
        let pair = (goes && comes && self.old[l] == self.new[r]).then(|| {
            let then = self.scores[self.at(l + 1, r + 1)];
            (Score { pairs: then.pairs + 1, unique: then.unique + unique(l, r), ..then }, Way::Pair)
        });
        let changes = (goes && comes).then(|| (typed(l + 1, r + 1, 1), Way::Changes));
        let goes = goes.then(|| (typed(l + 1, r, self.goes), Way::Goes));
        let comes = comes.then(|| (typed(l, r + 1, 1), Way::Comes));
        [pair, changes, goes, comes].into_iter().flatten()
    }
}

/// The most pairs of a stretch that is not too large.
fn one_by_one(old: &[u32], new: &[u32], left: Range<usize>, right: Range<usize>) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if left.len().saturating_mul(right.len()) <= BUDGET {
        for op in capture_diff_slices(Algorithm::Myers, &old[left.clone()], &new[right.clone()]) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                pairs.extend((0..len).map(|n| (left.start + old_index + n, right.start + new_index + n)));
            }
        }
    }
    pairs
}

/// Lines that stand once on each side, in the order of the old ones.
fn unique_pairs(old: &[u32], new: &[u32], left: Range<usize>, right: Range<usize>) -> Vec<(usize, usize)> {
    let mut seen: HashMap<u32, (usize, usize, usize, usize)> = HashMap::new();
    for at in left {
        let entry = seen.entry(old[at]).or_default();
        entry.0 += 1;
        entry.1 = at;
    }
    for at in right {
        let entry = seen.entry(new[at]).or_default();
        entry.2 += 1;
        entry.3 = at;
    }
    let mut pairs: Vec<(usize, usize)> = seen
        .into_values()
        .filter(|(olds, _, news, _)| *olds == 1 && *news == 1)
        .map(|(_, old, _, new)| (old, new))
        .collect();
    pairs.sort_unstable();
    pairs
}

/// The longest subsequence of pairs (sorted by the first) whose second numbers rise.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let at = tails.partition_point(|tail| pairs[*tail].1 < pair.1);
        previous[index] = at.checked_sub(1).map(|before| tails[before]);
        if at == tails.len() {
            tails.push(index);
        } else {
            tails[at] = index;
        }
    }
    let mut rising = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(index) = at {
        rising.push(pairs[index]);
        at = previous[index];
    }
    rising.reverse();
    rising
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(text: &str) -> Vec<u32> {
        text.chars().filter(|c| *c != ' ').map(u32::from).collect()
    }

    #[test]
    fn keeps_what_is_equal() {
        assert_eq!(align(&numbers("a b c d"), &numbers("a x c d")), [(0, 0), (2, 2), (3, 3)]);
        assert_eq!(align(&numbers("a b c"), &numbers("b c d")), [(1, 0), (2, 1)]);
        assert_eq!(align(&[], &numbers("a")), []);
    }

    #[test]
    fn of_as_many_pairs_those_with_lines_that_stand_once_are_taken() {
        let pairs = align(&numbers("q a s z z w"), &numbers("z a z v"));
        assert_eq!((pairs.len(), pairs[0]), (2, (1, 1)));
        // But no more lines are left unpaired for them.
        assert_eq!(align(&numbers("u a b a b"), &numbers("a b a b u")), [(1, 0), (2, 1), (3, 2), (4, 3)]);
    }

    #[test]
    fn of_as_many_pairs_those_are_taken_that_leave_the_fewest_lines() {
        // `b` stayed, and what stood behind it was copied before it: not `b` written anew behind `s`.
        assert_eq!(align(&numbers("a b s e"), &numbers("a s b t e")), [(0, 0), (1, 2), (3, 4)]);
    }

    #[test]
    fn of_hidden_lines_those_that_stand_once_are_taken_whatever_is_left_of_the_others() {
        assert_eq!(align_hidden(&numbers("f p q z z"), &numbers("z f")), [(0, 1)]);
    }

    #[test]
    fn a_large_rewrite_keeps_the_lines_that_stand_once() {
        let old: Vec<u32> = (0..9000).collect();
        let mut new: Vec<u32> = old.iter().flat_map(|line| [*line, 9000]).collect();
        new.drain(40..44);
        assert_eq!(align(&old, &new).len(), 9000 - 2);
    }

    /// The best of all alignments, tried one by one.
    fn tried(old: &[u32], new: &[u32]) -> (usize, Reverse<usize>) {
        let typed = |(pairs, left): (usize, Reverse<usize>)| (pairs, Reverse(left.0 + 1));
        match (old.split_first(), new.split_first()) {
            (None, None) => (0, Reverse(0)),
            (None, Some((_, new))) => typed(tried(old, new)),
            (Some((_, old)), None) => typed(tried(old, new)),
            (Some((l, old_rest)), Some((r, new_rest))) => {
                let both = tried(old_rest, new_rest);
                let both = if l == r { (both.0 + 1, both.1) } else { typed(both) };
                both.max(typed(tried(old_rest, new))).max(typed(tried(old, new_rest)))
            }
        }
    }

    proptest! {
        #[test]
        fn no_alignment_has_more_pairs_or_leaves_fewer_lines(old in "[abcd]{0,6}", new in "[abcd]{0,6}") {
            let (old, new) = (numbers(&old), numbers(&new));
            let pairs = align(&old, &new);
            let ends = pairs.iter().copied().chain([(old.len(), new.len())]);
            let (mut left, mut l, mut r) = (0, 0, 0);
            for (next_l, next_r) in ends {
                left += (next_l - l).max(next_r - r);
                (l, r) = (next_l + 1, next_r + 1);
            }
            prop_assert_eq!((pairs.len(), Reverse(left)), tried(&old, &new));
        }

        #[test]
        fn pairs_are_equal_lines_and_rise(old in "[abc]{0,30}", new in "[abc]{0,30}") {
            let (old, new) = (numbers(&old), numbers(&new));
            let pairs = align(&old, &new);
            for pair in &pairs {
                prop_assert_eq!(old[pair.0], new[pair.1]);
            }
            for two in pairs.windows(2) {
                prop_assert!(two[0].0 < two[1].0 && two[0].1 < two[1].1);
            }
        }
    }
}
