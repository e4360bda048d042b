//! Edits of lines that are named by number and by their whole content: one edit in a call.
//!
//! The number says where to look, the content that it is the right line: what is not there as it was sent, or is there more than once
//! in the range, is refused. Content is lines, whatever the endings of the file: one ending at the end of what is sent is that of its
//! last line, so lines can be sent as they were read.
//!
//! # Invariants
//!
//! - What the old and the new lines begin and end with in common is left alone, and keeps its bytes.

use std::fmt;
use std::ops::Range;

use hashline_text::{Line, Text};

use crate::{LineEdit, Options, content_lines};

/// How many places of the same lines are named.
const MAX_PLACES: usize = 5;
/// By how many of its lines the place is looked for that comes nearest to lines that are not there.
const MAX_COMPARED: usize = 20;

/// Lines as agents name them: `[start, end]` with `end` exclusive, counted from 1, or from the end where negative; 0 leaves a side open.
///
/// ```
/// use hashline_anchor::LineRange;
/// for (range, lines) in [((1, 3), 0..2), ((-2, 0), 3..5), ((0, -1), 0..4), ((2, 0), 1..5)] {
///     assert_eq!(LineRange::from(range).to_edit(5), Ok(lines));
/// }
/// assert_eq!(
///     LineRange::from((4, 9)).to_edit(5).unwrap_err().to_string(),
///     "[4, 9] goes beyond the end: the file has 5 lines, so [4, 6] or [4, 0] is as far as it can go"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub start: i64,
    /// The line behind the last.
    pub end: i64,
}

impl From<(i64, i64)> for LineRange {
    fn from((start, end): (i64, i64)) -> Self {
        Self { start, end }
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.start, self.end)
    }
}

impl LineRange {
    /// The lines to read in a text of so many, counted from 0: as many of them as there are.
    ///
    /// # Errors
    ///
    /// It starts beyond the end, or ends before it starts.
    pub fn to_read(self, count: usize) -> Result<Range<usize>, NumberProblem> {
        let (start, end) = self.bounds(count);
        let start = start.max(0);
        if start > 0 && start >= signed(count) {
            return Err(NumberProblem::Beyond { line: start + 1, count });
        }
        if end < start && signed(count) > 0 {
            return Err(NumberProblem::Reversed { range: self, count });
        }
        let end = end.clamp(start, signed(count));
        Ok(unsigned(start)..unsigned(end))
    }

    /// The lines to change something in, counted from 0: at least one, and all of them there.
    ///
    /// # Errors
    ///
    /// Some of them are not there, or it holds none.
    pub fn to_edit(self, count: usize) -> Result<Range<usize>, NumberProblem> {
        let (start, end) = self.bounds(count);
        if count == 0 {
            return Err(NumberProblem::NoLines);
        }
        if start < 0 {
            return Err(NumberProblem::BeforeStart { line: self.start, count });
        }
        if start >= signed(count) {
            return Err(NumberProblem::Beyond { line: start + 1, count });
        }
        if end > signed(count) {
            return Err(NumberProblem::EndsBeyond { range: self, count });
        }
        if end <= start {
            return Err(NumberProblem::Reversed { range: self, count });
        }
        Ok(unsigned(start)..unsigned(end))
    }

    /// Where it starts and ends, counted from 0.
    fn bounds(self, count: usize) -> (i64, i64) {
        let from = |number: i64, open: i64| match number {
            0 => open,
            1.. => number - 1,
            _ => signed(count).saturating_add(number),
        };
        (from(self.start, 0), from(self.end, signed(count)))
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unsigned(line: i64) -> usize {
    usize::try_from(line).unwrap_or_default()
}

/// Why numbers name no lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberProblem {
    /// The first line is not there.
    #[error("line {line} is beyond the end: the file has {}", lines(*count))]
    Beyond {
        /// The line, counted from 1.
        line: i64,
        /// How many there are.
        count: usize,
    },
    /// The last lines are not there.
    #[error(
        "{range} goes beyond the end: the file has {}, so [{start}, {}] or [{start}, 0] is as far as it can go",
        lines(*count), *count + 1, start = range.start
    )]
    EndsBeyond {
        /// The range.
        range: LineRange,
        /// How many lines there are.
        count: usize,
    },
    /// A negative number goes further back than the file.
    #[error("{line} from the end is before line 1: the file has {}", lines(*count))]
    BeforeStart {
        /// The number.
        line: i64,
        /// How many lines there are.
        count: usize,
    },
    /// The end is at or before the start.
    #[error("{range} holds no line of the {}: its end is exclusive, so line 5 alone is [5, 6]", lines(*count))]
    Reversed {
        /// The range.
        range: LineRange,
        /// How many lines there are.
        count: usize,
    },
    /// 0 where one line has to be named.
    #[error("0 names no line, as they count from 1 (-1 is the last)")]
    Zero,
    /// There are none.
    #[error("the file is empty and has no line that could be named")]
    NoLines,
}

fn lines(count: usize) -> String {
    match count {
        1 => "1 line".to_owned(),
        _ => format!("{count} lines"),
    }
}

/// An edit of lines that are named by number and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberedEdit {
    /// Puts lines in the place of others.
    Replace {
        /// Where they stand.
        lines: LineRange,
        /// All of their content: one line or more.
        old: String,
        /// What takes their place; nothing at all deletes them.
        new: String,
    },
    /// Puts lines before a line.
    Insert {
        /// The line: counted from 1, or from the end where negative.
        line: i64,
        /// All of its content.
        anchor: String,
        /// The lines.
        content: String,
    },
    /// Puts lines behind the last.
    Append {
        /// The lines.
        content: String,
    },
}

/// Why such an edit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberedFailure {
    /// The numbers name no lines.
    Number {
        /// What is wrong.
        problem: NumberProblem,
        /// Whether one line was asked for, to insert before it.
        inserts: bool,
    },
    /// There is nothing to put in.
    NoContent,
    /// What should be one line is several, so many.
    ManyLines(usize),
    /// Another line stands where one was said to stand.
    Differs {
        /// The field that says it.
        field: &'static str,
        /// The line, counted from 0.
        line: usize,
        /// What it reads.
        there: String,
        /// What it should read.
        wanted: String,
        /// Where what was asked for does stand, by the lines that it starts in.
        elsewhere: Vec<usize>,
        /// The lines to be shown.
        shown: Range<usize>,
    },
    /// The lines do not stand in the range, nor anything like them.
    NotFound {
        /// The range, counted from 0.
        lines: Range<usize>,
        /// The first of them.
        wanted: String,
        /// Where they do stand, by the lines that they start in.
        elsewhere: Vec<usize>,
    },
    /// The lines stand in the range more than once.
    Ambiguous {
        /// By the lines that they start in.
        places: Vec<usize>,
        /// Whether there are more.
        more: bool,
        /// How many lines it is about.
        count: usize,
    },
}

impl NumberedFailure {
    /// The lines that an agent has to see to ask again.
    #[must_use]
    pub fn places(&self) -> Vec<Range<usize>> {
        match self {
            Self::Number { .. } | Self::NoContent | Self::ManyLines(_) => Vec::new(),
            Self::Differs { shown, elsewhere, .. } => {
                std::iter::once(shown.clone()).chain(elsewhere.iter().map(|at| *at..at + 1)).collect()
            }
            Self::NotFound { lines, elsewhere, .. } => {
                std::iter::once(lines.clone()).chain(elsewhere.iter().map(|at| *at..at + 1)).collect()
            }
            Self::Ambiguous { places, count, .. } => places.iter().map(|at| *at..at + count).collect(),
        }
    }
}

impl NumberedEdit {
    /// The lines of a text that it is about by their numbers alone, as far as they are there.
    #[must_use]
    pub fn places(&self, text: &Text) -> Vec<Range<usize>> {
        let count = text.line_count();
        let lines = match self {
            Self::Replace { lines, .. } => lines.to_read(count).ok(),
            Self::Insert { line, .. } => {
                LineRange::from((*line, 0)).to_read(count).ok().map(|rest| rest.start..rest.start + 1)
            }
            Self::Append { .. } => Some(count.saturating_sub(1)..count),
        };
        lines.into_iter().collect()
    }

    /// Finds the lines that are meant. A replacement of lines by the same lines comes to an edit of nothing.
    ///
    /// ```
    /// use hashline_anchor::{LineEdit, NumberedEdit, Options};
    /// let edit = NumberedEdit::Replace { lines: (1, 0).into(), old: "b\nc\n".into(), new: "b\nC".into() };
    /// let found = edit.resolve(&"a\r\nb\r\nc\r\n".into(), Options::default()).unwrap();
    /// assert_eq!(found, LineEdit { op: 0, lines: 2..3, content: vec!["C".into()] });
    /// ```
    ///
    /// # Errors
    ///
    /// [`NumberedFailure`]; [`explain_numbered`](crate::explain_numbered()) puts it in words.
    pub fn resolve(&self, text: &Text, options: Options) -> Result<LineEdit, NumberedFailure> {
        let (lines, content) = match self {
            Self::Replace { lines, old, new } => replaced(text, *lines, old, new)?,
            Self::Insert { line, anchor, content } => {
                let at = line_of(text, *line, anchor)?;
                (at..at, new_lines(content)?)
            }
            Self::Append { content } => {
                let count = text.line_count();
                let blank = options.blank_is_empty
                    && count == 1
                    && text.line(Line(0)).is_some_and(|line| line.content_eq(""));
                (if blank { 0 } else { count }..count, new_lines(content)?)
            }
        };
        Ok(LineEdit { op: 0, lines, content })
    }
}

/// The lines of a content that has any.
fn new_lines(content: &str) -> Result<Vec<String>, NumberedFailure> {
    if content.is_empty() { Err(NumberedFailure::NoContent) } else { Ok(content_lines(content)) }
}

/// Which lines are to be replaced by which.
fn replaced(
    text: &Text,
    range: LineRange,
    old: &str,
    new: &str,
) -> Result<(Range<usize>, Vec<String>), NumberedFailure> {
    let number = |problem| NumberedFailure::Number { problem, inserts: false };
    let range = range.to_edit(text.line_count()).map_err(number)?;
    let old = content_lines(old);
    let new = if new.is_empty() { Vec::new() } else { content_lines(new) };
    let places = starts(text, range.clone(), &old);
    let at = match places.as_slice() {
        [] => return Err(not_there(text, range, &old)),
        [only] => *only,
        several => {
            let places = several.iter().take(MAX_PLACES).copied().collect();
            return Err(NumberedFailure::Ambiguous {
                places,
                more: several.len() > MAX_PLACES,
                count: old.len(),
            });
        }
    };
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let tails = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tails.take_while(|(old, new)| old == new).count();
    Ok((at + head..at + old.len() - tail, new[head..new.len() - tail].to_vec()))
}

/// Where in a range these lines stand, by the lines that they start in; as many as are told, and one more.
fn starts(text: &Text, range: Range<usize>, wanted: &[String]) -> Vec<usize> {
    // As one text, each line between two line feeds, which are in no line: lines that are much alike are not held against each other
    // one by one. Places may overlap.
    let mut lines = String::from("\n");
    text.lines(range.clone()).for_each(|line| lines.extend([&*line.content(), "\n"]));
    let wanted = format!("\n{}\n", wanted.join("\n"));
    let mut found = Vec::new();
    let (mut from, mut line) = (0, range.start);
    while let Some(at) = lines[from..].find(&wanted).filter(|_| found.len() <= MAX_PLACES) {
        line += lines[from..from + at].matches('\n').count();
        found.push(line);
        (from, line) = (from + at + 1, line + 1);
    }
    found
}

/// Where lines stand in a text, as far as it is told.
fn elsewhere(text: &Text, wanted: &[String]) -> Vec<usize> {
    let mut found = starts(text, 0..text.line_count(), wanted);
    found.truncate(MAX_PLACES);
    found
}

/// Lines that do not stand in a range: what stands in the place that comes nearest.
fn not_there(text: &Text, range: Range<usize>, wanted: &[String]) -> NumberedFailure {
    let elsewhere = elsewhere(text, wanted);
    // Of places that are as much alike, the one whose first line is.
    let likeness = |at: usize| {
        let pairs = text.lines(at..range.end).zip(wanted).take(MAX_COMPARED);
        let alike: Vec<usize> = pairs.map(|(line, wanted)| alike(&line.content(), wanted)).collect();
        (alike.iter().sum::<usize>(), alike.first().copied())
    };
    let nearest = range.clone().map(|at| (likeness(at), std::cmp::Reverse(at))).max();
    let certain = wanted.len() == range.len();
    let at = match nearest {
        Some(((likeness, _), std::cmp::Reverse(at))) if likeness > 0 => at,
        _ if certain => range.start,
        _ => {
            let wanted = wanted.first().cloned().unwrap_or_default();
            return NumberedFailure::NotFound { lines: range, wanted, elsewhere };
        }
    };
    let shown = at..(at + wanted.len()).min(text.line_count());
    let pairs = text.lines(at..range.end).zip(wanted).enumerate();
    let mut differing = pairs.filter(|(_, (line, wanted))| !line.content_eq(wanted));
    match differing.next() {
        Some((behind, (line, wanted))) => NumberedFailure::Differs {
            field: "old",
            line: at + behind,
            there: line.content().into_owned(),
            wanted: wanted.clone(),
            elsewhere,
            shown,
        },
        // It begins in the range and goes on behind it.
        None => NumberedFailure::NotFound {
            lines: range,
            wanted: wanted.first().cloned().unwrap_or_default(),
            elsewhere,
        },
    }
}

/// How much a line is like the one that is wanted.
fn alike(line: &str, wanted: &str) -> usize {
    if line == wanted {
        3
    } else if line.trim() == wanted.trim() {
        2
    } else {
        usize::from(!wanted.trim().is_empty() && line.contains(wanted.trim()))
    }
}

/// The line to insert before, counted from 0.
fn line_of(text: &Text, number: i64, anchor: &str) -> Result<usize, NumberedFailure> {
    let failed = |problem| NumberedFailure::Number { problem, inserts: true };
    let count = text.line_count();
    if number == 0 {
        return Err(failed(NumberProblem::Zero));
    }
    let at = LineRange::from((number, 0)).to_edit(count).map_err(failed)?.start;
    let anchor = content_lines(anchor);
    let [wanted] = anchor.as_slice() else { return Err(NumberedFailure::ManyLines(anchor.len())) };
    match text.line(Line(at)) {
        Some(line) if line.content_eq(wanted) => Ok(at),
        line => Err(NumberedFailure::Differs {
            field: "anchor",
            line: at,
            there: line.map(|line| line.content().into_owned()).unwrap_or_default(),
            wanted: wanted.clone(),
            elsewhere: elsewhere(text, &anchor),
            shown: at..at + 1,
        }),
    }
}
