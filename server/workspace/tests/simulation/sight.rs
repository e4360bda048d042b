//! A look at a text: how often its lines and characters stand there, and what is taken out of it.

use std::collections::HashMap;

use hashline_workspace::document::HunkView;

use crate::atom::{self, atoms};
use crate::model::{Hunk, is_in_text};
use crate::page;

/// A look at a text.
pub struct Sight<'a> {
    pub text: Vec<&'a str>,
    pub lines: HashMap<&'a str, usize>,
    counts: HashMap<char, usize>,
    /// The characters in lines that a hunk in the text has taken out, and which hunk.
    covered: HashMap<char, Vec<usize>>,
}

impl<'a> Sight<'a> {
    pub fn new(text: &'a str, views: &[&HunkView], hunks: &[Hunk]) -> Self {
        let mut lines = HashMap::new();
        let contents = page::contents(text);
        for line in &contents {
            *lines.entry(*line).or_insert(0) += 1;
        }
        let mut covered: HashMap<char, Vec<usize>> = HashMap::new();
        for (at, hunk) in hunks.iter().enumerate().filter(|(at, _)| is_in_text(&views[*at].state)) {
            for atom in hunk.removed.iter().flat_map(|line| atoms(line)) {
                covered.entry(atom).or_default().push(at);
            }
        }
        Self { text: contents, lines, counts: atom::count(text), covered }
    }

    pub fn count(&self, atom: char) -> usize {
        self.counts.get(&atom).copied().unwrap_or_default()
    }

    pub fn covers(&self, atom: char, maker: usize) -> bool {
        self.covered.get(&atom).is_some_and(|by| by.iter().any(|at| *at != maker))
    }
}
