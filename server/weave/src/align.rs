//! Which old line is which new line: an alignment with a budget in steps, never in time, so that the same texts always give the
//! same answer (rule W6).

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Old times new lines of a stretch without unique lines up to which it is aligned line by line; a larger one is left
/// unmatched. 4 million steps are some milliseconds.
const BUDGET: usize = 4_000_000;

/// Pairs of equal lines, as indices into both, rising in both: as many as can be, as far as the budget goes, and of as many those with lines
/// that stand once on both sides. Lines are given by numbers, equal ones by the same.
pub(crate) fn align(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (left, right) = between_ends(old, new, 0..old.len(), 0..new.len(), &mut pairs);
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
    let anchors = unique_pairs(old, new, left.clone(), right.clone());
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

/// Lines that stand once on each side, in the longest order that both sides share.
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
    longest_rising(&pairs)
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
    fn a_large_rewrite_keeps_the_lines_that_stand_once() {
        let old: Vec<u32> = (0..9000).collect();
        let mut new: Vec<u32> = old.iter().flat_map(|line| [*line, 9000]).collect();
        new.drain(40..44);
        assert_eq!(align(&old, &new).len(), 9000 - 2);
    }

    proptest! {
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
