//! The steps of a run in words, kept only when somebody will read them.

use std::fmt::Write as _;

/// What happened, one line each.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    lines: Option<String>,
}

impl Trace {
    /// A trace that is kept.
    pub fn kept() -> Self {
        Self { lines: Some(String::new()) }
    }

    pub fn say(&mut self, words: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{}", words());
        }
    }

    pub fn text(&self) -> &str {
        self.lines.as_deref().unwrap_or_default()
    }
}
