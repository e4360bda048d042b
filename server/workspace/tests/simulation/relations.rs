//! Which hunks of the model rest on which.

use crate::atom::atoms;
use crate::model::{Hunk, Model};

/// How many lines the person may have put into a hunk's lines.
const NEAR: usize = 8;

impl Model {
    /// Some hunks and those of the same turns that build on each other with them.
    pub fn group(&self, hunks: &[usize]) -> Vec<usize> {
        let mut all = hunks.to_vec();
        let mut at = 0;
        while let Some(one) = all.get(at).copied() {
            for (other, hunk) in self.hunks.iter().enumerate() {
                let linked = hunk.rests_on.contains(&one) || self.hunks[one].rests_on.contains(&other);
                if linked && hunk.conversation == self.hunks[one].conversation && !all.contains(&other) {
                    all.push(other);
                }
            }
            at += 1;
        }
        all
    }

    /// The hunks that have to be taken out with some.
    pub fn above(&self, hunks: &[usize]) -> Vec<usize> {
        let mut all = hunks.to_vec();
        for at in 0..self.hunks.len() {
            if !all.contains(&at) && self.hunks[at].rests_on.iter().any(|below| all.contains(below)) {
                all.push(at);
            }
        }
        all
    }

    /// The hunks that have to be put in with some.
    pub fn below(&self, hunks: &[usize]) -> Vec<usize> {
        let mut all = hunks.to_vec();
        for at in (0..self.hunks.len()).rev() {
            if all.contains(&at) {
                all.extend(&self.hunks[at].rests_on);
            }
        }
        all
    }

    /// What a hunk that replaces lines of the agent view may rest on: hunks whose lines it takes out or stands between, and those
    /// that took out lines where it takes out several.
    pub fn rests_on(&self, view: &[String], lines: std::ops::Range<usize>, gone: &[&str]) -> Vec<usize> {
        let rests = |hunk: &Hunk| {
            let own =
                |line: &String| atoms(line).any(|atom| hunk.proposed.iter().any(|own| own.contains(atom)));
            let plain = |line: &&str| atoms(line).next().is_none();
            let first = view.iter().position(own);
            // Where it ends cannot be told if its last line is like others.
            let open = hunk.proposed.last().is_some_and(|line| plain(&line.as_str()));
            let last = view.iter().rposition(own);
            let last = if open { last.map(|last| last + hunk.proposed.len() + NEAR) } else { last };
            let between = first.zip(last).is_some_and(|(first, last)| {
                // Lines of it that are not to be seen may lie beside those that are.
                first <= lines.end && lines.start <= last + 1
            });
            let takes = gone
                .iter()
                .filter(|line| plain(line))
                .any(|line| hunk.proposed.iter().any(|own| own == line));
            between || takes || (!hunk.removed.is_empty() && lines.len() > 1)
        };
        (0..self.hunks.len()).filter(|at| rests(&self.hunks[*at])).collect()
    }
}
