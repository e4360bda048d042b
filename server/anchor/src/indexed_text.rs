//! A text in one piece, with its lines by number: what searching and comparing need.

use std::ops::Range;

use hashline_text::{Ending, Text};

/// The characters of a text and where its lines begin.
pub(crate) struct Sheet {
    text: String,
    /// Where each line begins, and behind them the end of the text.
    starts: Vec<usize>,
}

impl Sheet {
    pub(crate) fn of(text: &Text) -> Self {
        let mut whole = String::with_capacity(text.len_bytes());
        text.chunks().for_each(|chunk| whole.push_str(chunk));
        Self::from(whole)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn line_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Where a line begins; the end of the text for a line beyond it.
    pub(crate) fn start_of(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The line in which a byte lies; the last one for the end of the text.
    pub(crate) fn line_at(&self, byte: usize) -> usize {
        let behind = self.starts.partition_point(|start| *start <= byte);
        behind.saturating_sub(1).min(self.line_count().saturating_sub(1))
    }

    /// The characters of a run of lines, with their endings.
    pub(crate) fn run(&self, lines: Range<usize>) -> &str {
        let (start, end) = (self.start_of(lines.start), self.start_of(lines.end));
        self.text.get(start..end).unwrap_or_default()
    }

    /// One line with its ending; empty beyond the end.
    pub(crate) fn line(&self, line: usize) -> &str {
        self.run(line..line.saturating_add(1))
    }

    /// One line without its ending.
    pub(crate) fn content(&self, line: usize) -> &str {
        Ending::split(self.line(line)).0
    }

    /// All lines, with their endings.
    pub(crate) fn lines(&self) -> Vec<&str> {
        (0..self.line_count()).map(|line| self.line(line)).collect()
    }
}

impl From<String> for Sheet {
    fn from(text: String) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        let mut at = 0;
        while let Some((len, ending)) = Ending::find(&text.as_bytes()[at..]) {
            at += len + ending.len();
            starts.push(at);
        }
        if at < text.len() {
            starts.push(text.len());
        }
        Self { text, starts }
    }
}

/// The lines of a text, each with its ending; the last one may have none.
pub(crate) fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((len, ending)) = Ending::find(rest.as_bytes()) {
        let (line, behind) = rest.split_at(len + ending.len());
        lines.push(line);
        rest = behind;
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}
