//! What is printed.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::fmt::Write as _;
use std::process::Command;

/// How a row stands to its goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The ratio may be this at most.
    AtMost(f64),
    /// The ratio has to be this at least.
    AtLeast(f64),
    /// There is none: for information.
    None,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done.
    pub work: String,
    /// What it has to reach.
    pub goal: Goal,
    /// Ours to the other's.
    pub ratio: f64,
    /// How ours did.
    pub ours: String,
    /// How the other did, and what it is.
    pub other: String,
}

impl Row {
    fn verdict(&self) -> &'static str {
        match self.goal {
            Goal::None => "",
            _ if self.ratio.is_nan() => "not measured",
            Goal::AtMost(most) if self.ratio <= most => "met",
            Goal::AtLeast(least) if self.ratio >= least => "met",
            _ => "MISSED",
        }
    }

    fn goal(&self) -> String {
        match self.goal {
            Goal::AtMost(most) => format!("<= {most}x"),
            Goal::AtLeast(least) => format!(">= {least}x"),
            Goal::None => String::new(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let ratio = if self.ratio.is_nan() { "-".to_owned() } else { format!("{:.2}x", self.ratio) };
        vec![
            self.work.clone(),
            self.goal(),
            ratio,
            self.verdict().to_owned(),
            self.ours.clone(),
            self.other.clone(),
        ]
    }
}

/// Prints tables, for a terminal or in Markdown, and collects the rows with their goals.
pub struct Report {
    markdown: bool,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    /// An empty one.
    pub fn new(markdown: bool) -> Self {
        Self { markdown, rows: Vec::new(), notes: Vec::new() }
    }

    /// What was measured, on what.
    pub fn head(&self, product: &str, quick: bool) {
        let commit = Command::new("git").args(["describe", "--always", "--dirty", "--exclude=*"]).output();
        let commit = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let length = if quick { ", a quick run: too few samples to quote" } else { "" };
        let commit = commit.unwrap_or_default();
        println!("{product}, commit {commit}, {cores} cores, load {} at the start{length}", load());
        println!();
    }

    /// Prints one table.
    pub fn table(&self, title: &str, head: &[&str], rows: &[Vec<String>]) {
        print!("{}", self.rendered(title, head, rows));
    }

    fn rendered(&self, title: &str, head: &[&str], rows: &[Vec<String>]) -> String {
        let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
        let mut out = String::new();
        if self.markdown {
            let _ = writeln!(out, "**{title}**\n");
            let line = |cells: &[String]| {
                format!("| {} |\n", cells.join(" | ").replace("<=", "≤").replace(">=", "≥"))
            };
            out += &line(&head);
            out += &line(&vec!["---".to_owned(); head.len()]);
            out.extend(rows.iter().map(|row| line(row)));
        } else {
            let _ = writeln!(out, "{title}");
            let width = |column: usize| {
                let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
            };
            for row in [&head].into_iter().chain(rows) {
                let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", width(column)));
                let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
            }
        }
        out.push('\n');
        out
    }

    /// Adds a comparison.
    pub fn row(&mut self, row: Row) {
        eprintln!("  {}: {:.2}x, {} against {}", row.work, row.ratio, row.ours, row.other);
        self.rows.push(row);
    }

    /// Adds a sentence to be read with the table.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        eprintln!("  {note}");
        self.notes.push(note);
    }

    /// Prints the rows and the notes; how many goals were missed.
    pub fn end(&self) -> usize {
        let head = ["work", "goal", "ratio", "", "hashline", "beside it"];
        let cells: Vec<Vec<String>> = self.rows.iter().map(Row::cells).collect();
        self.table("Goals: ratios of medians; p95 in brackets", &head, &cells);
        for note in &self.notes {
            println!("- {note}");
        }
        let count = |verdict: &str| self.rows.iter().filter(|row| row.verdict() == verdict).count();
        let (met, missed, without) = (count("met"), count("MISSED"), count("not measured"));
        println!("\n{met} goals met, {missed} missed, {without} not measured; load {} at the end", load());
        missed
    }
}

/// The machine's load, where it tells.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(goal: Goal, ratio: f64) -> Row {
        Row { work: String::new(), goal, ratio, ours: String::new(), other: String::new() }
    }

    #[test]
    fn a_goal_is_met_missed_or_was_not_measured() {
        assert_eq!(row(Goal::AtMost(1.5), 1.5).verdict(), "met");
        assert_eq!(row(Goal::AtMost(1.5), 1.51).verdict(), "MISSED");
        assert_eq!(row(Goal::AtLeast(0.9), 0.91).verdict(), "met");
        assert_eq!(row(Goal::AtLeast(0.9), 0.8).verdict(), "MISSED");
        assert_eq!(row(Goal::AtLeast(0.9), f64::NAN).verdict(), "not measured");
        assert_eq!(row(Goal::None, 9.0).verdict(), "");
    }

    #[test]
    fn tables_are_aligned_or_markdown() {
        let rows = [vec!["long name".to_owned(), "<= 2x".to_owned()]];
        let plain = Report::new(false).rendered("T", &["a", "b"], &rows);
        assert_eq!(plain, "T\n  a          b\n  long name  <= 2x\n\n");
        let markdown = Report::new(true).rendered("T", &["a", "b"], &rows);
        assert_eq!(markdown, "**T**\n\n| a | b |\n| --- | --- |\n| long name | ≤ 2x |\n\n");
    }
}
