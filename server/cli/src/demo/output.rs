//! What the demo prints.

use std::io::{IsTerminal as _, Write as _};

/// Prints acts, what the parts said, and whether it came out as it should.
pub struct Stage {
    act: usize,
    failed: Vec<String>,
    colours: bool,
}

impl Stage {
    pub fn new() -> Self {
        Self { act: 0, failed: Vec::new(), colours: std::io::stdout().is_terminal() }
    }

    /// Begins a part.
    pub fn act(&mut self, what: &str) {
        self.act += 1;
        self.print(&format!("\n{}", self.paint("1", &format!("{}. {what}", self.act))));
    }

    /// Prints what a part said, line by line.
    pub fn show(&self, who: &str, text: &str) {
        self.print(&format!("\n  {}", self.paint("36", who)));
        for line in text.lines() {
            self.print(&format!("  │ {line}"));
        }
    }

    /// Prints a list.
    pub fn list<'a>(&self, who: &str, items: impl Iterator<Item = &'a str>) {
        self.print(&format!("\n  {}", self.paint("36", who)));
        for item in items {
            self.print(&format!("  │ · {item}"));
        }
    }

    /// Prints a sentence.
    pub fn say(&self, what: &str) {
        self.print(&format!("\n  {}", self.paint("36", what)));
    }

    /// Notes whether something is as it should be.
    pub fn check(&mut self, what: &str, holds: bool) {
        if holds {
            self.print(&format!("  {} {what}", self.paint("32", "✓")));
        } else {
            self.print(&format!("  {} {what}", self.paint("31", "✗ not so:")));
            self.failed.push(what.to_owned());
        }
    }

    /// Prints the result. Returns whether all was as it should be.
    pub fn finish(&self) -> bool {
        if self.failed.is_empty() {
            self.print("\nThat is hashline. Try it in Neovim: hashline demo --editor nvim");
        } else {
            self.print(&format!("\nNot as it should be: {}.", self.failed.join("; ")));
        }
        self.failed.is_empty()
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn print(&self, line: &str) {
        // A closed pipe must not end the demo before it has tidied up.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}
