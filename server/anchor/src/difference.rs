//! Which lines differ: a comparison that is bounded in steps, never in time, so that the same texts always give the same hunks.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How many lines of both sides together are compared line by line once the common ends are off. Beyond it they are one run.
/// `similar` gives up the shortest answer on hard inputs: what is left is one or two seconds in the worst case.
const MAX_COMPARED: usize = 500_000;

/// How many runs there may be. Where there are more, those with the fewest equal lines between them are joined: nobody reviews
/// a thousand hunks, and each costs a walk over all the others where it is woven in.
const MAX_RUNS: usize = 1_000;

/// A run of old lines and the new ones in its place; not both are empty.
pub(crate) type Run = (Range<usize>, Range<usize>);

/// The runs in which the lines differ, in order, with an equal line or more between any two.
pub(crate) fn differing(old: &[&str], new: &[&str]) -> Vec<Run> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let common = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - common], &new[..new.len() - common]);
    let whole = (start..start + old.len(), start..start + new.len());
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() || old.len().saturating_add(new.len()) > MAX_COMPARED {
        return vec![whole];
    }
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            open = false;
            continue;
        }
        let (from, to) = (op.old_range(), op.new_range());
        let (from, to) = (from.start + start..from.end + start, to.start + start..to.end + start);
        match runs.last_mut().filter(|_| open) {
            Some(last) => (last.0.end, last.1.end) = (from.end, to.end),
            None => runs.push((from, to)),
        }
        open = true;
    }
    few(runs)
}

/// Joins runs until there are few of them.
fn few(mut runs: Vec<Run>) -> Vec<Run> {
    let mut gap = 1;
    while runs.len() > MAX_RUNS {
        let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
        for run in runs {
            match joined.last_mut().filter(|last| run.0.start - last.0.end <= gap) {
                Some(last) => (last.0.end, last.1.end) = (run.0.end, run.1.end),
                None => joined.push(run),
            }
        }
        runs = joined;
        gap *= 2;
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_what_is_equal() {
        assert_eq!(differing(&["a", "b", "c"], &["a", "x", "c"]), [(1..2, 1..2)]);
        assert_eq!(differing(&["a", "b"], &["a", "x", "b", "y"]), [(1..1, 1..2), (2..2, 3..4)]);
        assert_eq!(differing(&["a"], &["a"]), []);
        assert_eq!(differing(&[], &["a"]), [(0..0, 0..1)]);
    }

    #[test]
    fn a_text_that_differs_in_every_other_line_becomes_few_runs() {
        let old: Vec<String> = (0..20_000).map(|line| line.to_string()).collect();
        let new: Vec<String> = (0..20_000).map(|line| format!("{line}{}", ["", "!"][line % 2])).collect();
        let lines = |lines: &'_ [String]| lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let (old, new) = (lines(&old), lines(&new));
        let runs = differing(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
        assert_eq!(runs, [(1..20_000, 1..20_000)]);
    }

    proptest! {
        #[test]
        fn runs_lead_from_one_to_the_other(old in "[abc]{0,30}", new in "[abc]{0,30}") {
            let chars = |text: &'static str| text.split("").filter(|char| !char.is_empty()).collect::<Vec<_>>();
            let (old, new) = (chars(old.leak()), chars(new.leak()));
            let mut built = Vec::new();
            let mut at = 0;
            for (index, (from, to)) in differing(&old, &new).into_iter().enumerate() {
                prop_assert!(index == 0 || from.start > at);
                prop_assert!(!from.is_empty() || !to.is_empty());
                built.extend_from_slice(&old[at..from.start]);
                built.extend_from_slice(&new[to]);
                at = from.end;
            }
            built.extend_from_slice(&old[at..]);
            prop_assert_eq!(built, new);
        }
    }
}
