//! Characters that each stand for one act: no two are equal, so where one is in a text, and how often, tells what became of it.

use std::collections::HashMap;

/// Where the file's own characters begin.
const FILE: u32 = 0x4e00;
/// Where the characters begin that the person types.
const PERSON: u32 = 0xf_0000;
/// Where the characters begin that agents propose, one in each line.
const AGENT: u32 = 0x10_0000;
/// How many there are of each.
const SIZE: u32 = 0x5000;

/// Whose character it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    File,
    Person,
    Agent,
}

/// Gives out characters.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    file: u32,
    person: u32,
    agent: u32,
}

impl Atoms {
    pub fn next(&mut self, maker: Maker) -> char {
        let (base, count) = match maker {
            Maker::File => (FILE, &mut self.file),
            Maker::Person => (PERSON, &mut self.person),
            Maker::Agent => (AGENT, &mut self.agent),
        };
        *count += 1;
        char::from_u32(base + *count).expect("the ranges hold characters")
    }
}

/// Whose character this is; none for one that may stand anywhere.
pub fn maker(char: char) -> Option<Maker> {
    let number = u32::from(char);
    [(FILE, Maker::File), (PERSON, Maker::Person), (AGENT, Maker::Agent)]
        .into_iter()
        .find(|(base, _)| (*base..base + SIZE).contains(&number))
        .map(|(_, maker)| maker)
}

/// The characters of a text that stand for something.
pub fn atoms(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|char| maker(*char).is_some())
}

/// How often each stands in a text.
pub fn count(text: &str) -> HashMap<char, usize> {
    let mut counts = HashMap::new();
    for atom in atoms(text) {
        *counts.entry(atom).or_insert(0) += 1;
    }
    counts
}

/// A text for people to read: `<p7>` is what the person typed as the seventh character.
pub fn readable(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        let number = u32::from(char);
        match maker(char) {
            Some(Maker::File) => out.push_str(&format!("<f{}>", number - FILE)),
            Some(Maker::Person) => out.push_str(&format!("<p{}>", number - PERSON)),
            Some(Maker::Agent) => out.push_str(&format!("<a{}>", number - AGENT)),
            None => out.push(char),
        }
    }
    out
}
