//! Unified diffs as agents write them: `edit_file_diff {diff}`.
//!
//! What a diff says is in its lines; its numbers are often wrong. So a hunk goes where its old lines (context and removed ones)
//! stand, and they have to stand there exactly. Where they stand more than once, the line number of the header decides if they
//! stand at that very line; else the hunk is refused. Nothing is found by likeness.
//!
//! Read are diffs with and without headers of files and hunks, with wrong or missing numbers, blank context lines that lost their
//! space, `\ No newline at end of file`, code fences and the envelope `*** Begin Patch`. In a hunk the first character of a line
//! says what the line is, so that `--- a` there is the removed line `-- a`; where it could be a file's header as well, the counts
//! decide, and without them the text does.
//!
//! ```
//! use hashline_anchor::{Options, Patch};
//! use hashline_text::Text;
//! let text = Text::from("fn a() {}\r\nfn b() {}\r\n");
//! let patch = Patch::parse("@@ -9,9 +9,9 @@\n fn a() {}\n-fn b() {}\n+fn c() {}\n", "src/main.rs").unwrap();
//! let rewrite = patch.resolve(&text, Options::default()).unwrap();
//! assert_eq!(rewrite.apply(&text).unwrap(), "fn a() {}\r\nfn c() {}\r\n");
//! ```
//!
//! # Invariants
//!
//! - All hunks are found in the text as it is before the call; either all of them go in, or none.
//! - Lines of context keep their bytes. Lines put in end as those whose place they take, or as their neighbour: the endings in
//!   the diff do not count.
//! - Whether the text ends with a newline stays as it is, unless a `\ No newline` about an added or a removed line says otherwise.
//!
//! # Limitations
//!
//! - Lines put between others need a line of context, however the diff is numbered.
//! - Diffs of merges, of binary files, of several files, and those that rename, delete or change modes are refused.

mod name;
mod parse;

use std::collections::HashMap;
use std::ops::Range;

use hashline_text::{Line, Text};
use thiserror::Error;

use crate::difference::differing;
use crate::failure::{Mismatch, Part, RewriteFailure};
use crate::indexed_text::Sheet;
use crate::nearest_lines::nearest;
use crate::replacement::{MAX_PLACES, MAX_SEARCHED, tagged};
use crate::rewrite::{Draft, ExactHunk};
use crate::tagged::tag_of;
use crate::{LineEdit, Options, Rewrite, merge_touching, owned_lines};

/// A diff of one file, read but not yet held against its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    hunks: Vec<Hunk>,
}

/// Why a diff cannot be read. Each message says what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchError {
    /// There is nothing in it.
    #[error("it is empty; send the lines to change as a unified diff, or give edits with old and new")]
    Empty,
    /// There is no hunk.
    #[error(
        "it has no hunk; each change needs its removed lines (-), its added ones (+) and some context around them, behind a line @@"
    )]
    NoHunks,
    /// A hunk has no lines.
    #[error("the hunk at line {line} of the diff has no lines; leave it out, or send its lines too")]
    EmptyHunk {
        /// The line of the diff, counted from 1.
        line: usize,
    },
    /// There are more hunks than one call takes.
    #[error(
        "it has {found} hunks and one call takes {most}; send it in parts, or write the whole file with write_file"
    )]
    TooManyHunks {
        /// How many there are.
        found: usize,
        /// How many one call takes.
        most: usize,
    },
    /// A line in a hunk is none of those that a hunk has.
    #[error(
        "line {line} of the diff, {found:?}, begins with none of space, + and -; begin context lines with a space and send the \
         diff again"
    )]
    BadLine {
        /// The line of the diff, counted from 1.
        line: usize,
        /// How it begins.
        found: String,
    },
    /// A line follows one that is said to be the last.
    #[error(
        "line {line} of the diff follows one that it says is the last of the file, by \"\\ No newline at end of file\"; leave \
         that mark out and send the diff again"
    )]
    BehindEnd {
        /// The line of the diff, counted from 1.
        line: usize,
    },
    /// It is about another file.
    #[error(
        "it is a diff of {name:?}, and the call names {file:?}; call the tool with the path of the file that the diff is for"
    )]
    OtherFile {
        /// The name in the diff.
        name: String,
        /// The path in the call.
        file: String,
    },
    /// It is about other files, too.
    #[error(
        "it changes {name:?} as well as {file:?}; one call changes one file: send the parts of the diff in calls of their own"
    )]
    SeveralFiles {
        /// The other name in the diff.
        name: String,
        /// The path in the call.
        file: String,
    },
    /// It renames or copies.
    #[error(
        "it renames or copies a file ({what}); move the file with move_file, and send the changes of its lines alone"
    )]
    Renames {
        /// What the diff says.
        what: String,
    },
    /// It deletes the file.
    #[error("it deletes {name:?}; use delete_file for that")]
    Deletes {
        /// The name in the diff.
        name: String,
    },
    /// It changes the mode of the file.
    #[error(
        "it changes the mode of the file, which these tools cannot do; send the changes of its lines alone"
    )]
    Mode,
    /// It is a binary diff.
    #[error("it is a binary diff; these tools work on text: use a command-line tool for other files")]
    Binary,
    /// It is a diff of a merge.
    #[error("it is the diff of a merge, with @@@; send a diff against one version of the file")]
    Merge,
}

/// One hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The line of the diff in which it begins, counted from 1.
    line: usize,
    /// Where its header says that the old lines begin, counted from 0.
    start: Option<usize>,
    /// How many old and new lines its header says it has.
    counts: Option<(usize, usize)>,
    body: Vec<BodyLine>,
    /// The kinds of lines that the diff says have no newline.
    open: Vec<Kind>,
    /// Blank lines behind the body that may be context.
    blanks: usize,
    /// The line of the diff, counted from 1, that was taken for content and may be the header of another file.
    header: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BodyLine {
    kind: Kind,
    content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Context,
    Removed,
    Added,
}

impl Kind {
    fn is_old(self) -> bool {
        self != Kind::Added
    }

    fn is_new(self) -> bool {
        self != Kind::Removed
    }
}

impl Hunk {
    fn old(&self) -> Vec<&str> {
        self.body.iter().filter(|line| line.kind.is_old()).map(|line| line.content.as_str()).collect()
    }

    /// How many old and new lines there are.
    fn lens(&self) -> (usize, usize) {
        let count = |side: fn(Kind) -> bool| self.body.iter().filter(|line| side(line.kind)).count();
        (count(Kind::is_old), count(Kind::is_new))
    }

    /// Takes blank lines for context.
    fn take_blanks(&mut self, most: usize) {
        let taken = self.blanks.min(most);
        self.body.extend((0..taken).map(|_| BodyLine { kind: Kind::Context, content: String::new() }));
        self.blanks = 0;
    }

    /// Whether a line of this kind would follow one that is the last of its side.
    fn closed(&self, kind: Kind) -> bool {
        self.open.iter().any(|open| kind.is_old() && open.is_old() || kind.is_new() && open.is_new())
    }

    /// Whether the diff says that the text ends with this hunk, and what it says of the newline there.
    fn end(&self) -> (bool, Option<bool>) {
        let (old, new) = (self.open.contains(&Kind::Removed), self.open.contains(&Kind::Added));
        (!self.open.is_empty(), (old != new).then_some(old))
    }

    /// Whether it leaves its lines as they are, wherever they stand.
    fn keeps_all(&self) -> bool {
        !self.old().is_empty() && self.end().1.is_none() && self.edits(0, 0).is_empty()
    }

    /// The runs of lines that it changes, where its old lines begin at line `start`.
    fn edits(&self, part: usize, start: usize) -> Vec<LineEdit> {
        let mut edits = Vec::new();
        let mut at = start;
        for group in
            self.body.chunk_by(|one, other| (one.kind == Kind::Context) == (other.kind == Kind::Context))
        {
            let of =
                |kind| group.iter().filter(move |line| line.kind == kind).map(|line| line.content.as_str());
            let (removed, added): (Vec<&str>, Vec<&str>) =
                (of(Kind::Removed).collect(), of(Kind::Added).collect());
            for (from, to) in differing(&removed, &added) {
                let content = added[to].iter().map(|line| (*line).to_owned()).collect();
                edits.push(LineEdit { op: part, lines: at + from.start..at + from.end, content });
            }
            at += group.iter().filter(|line| line.kind.is_old()).count();
        }
        edits
    }
}

impl Patch {
    /// How many hunks there are.
    #[must_use]
    pub fn hunk_count(&self) -> usize {
        self.hunks.len()
    }

    /// Finds what the diff does to a text.
    ///
    /// # Errors
    ///
    /// All that is wrong, in the order of the hunks; [`explain_rewrite`](crate::explain_rewrite()) puts it in words.
    pub fn resolve(&self, text: &Text, options: Options) -> Result<Rewrite, Vec<RewriteFailure>> {
        let finder = Finder::new(text, &self.hunks, options);
        let mut edits = Vec::new();
        let mut named = Vec::with_capacity(self.hunks.len());
        let mut failures = Vec::new();
        let (mut newline, mut idle) = (None, Vec::new());
        let failure = |index: usize, problem| {
            let line = self.hunks.get(index).map_or(0, |hunk| hunk.line);
            RewriteFailure { part: Part::Hunk { index, line }, problem }
        };
        let mut lost = 0;
        for (index, hunk) in self.hunks.iter().enumerate() {
            let found = finder.place(hunk, lost < MAX_SEARCHED).and_then(|lines| {
                let own = finder.edits(hunk, index, &lines)?;
                Ok((lines, own))
            });
            match found {
                Ok((lines, own)) => {
                    named.push(lines);
                    let after = hunk.end().1;
                    if own.is_empty() && after.is_none_or(|after| after == text.ends_with_newline()) {
                        idle.push(index);
                        continue;
                    }
                    newline = after.map(|after| (after, index)).or(newline);
                    edits.extend(own);
                }
                Err(problem) => {
                    lost += usize::from(matches!(problem, Mismatch::NotFound { .. }));
                    failures.push(failure(index, problem));
                }
            }
        }
        // Stable: what is put in at one place stays in the order of the diff.
        edits.sort_by_key(|edit| (edit.lines.start, edit.lines.end));
        failures.extend(overlaps(&edits).into_iter().map(|(index, problem)| failure(index, problem)));
        if !failures.is_empty() {
            failures.sort_by_key(|failure| failure.part.index());
            return Err(failures);
        }
        let mut draft = Draft::default();
        for hunk in merge_touching(edits) {
            let mut parts = hunk.ops;
            parts.sort_unstable();
            parts.dedup();
            let new = owned_lines(text, hunk.lines.clone(), &hunk.content);
            draft.push(ExactHunk { lines: hunk.lines, new, parts });
        }
        Ok(Rewrite { idle, ..draft.of_lines(text, newline, named) })
    }
}

/// The edits that overlap one of another hunk; they are in text order.
fn overlaps(edits: &[LineEdit]) -> Vec<(usize, Mismatch)> {
    let mut problems: Vec<(usize, Mismatch)> = Vec::new();
    let mut furthest: Option<&LineEdit> = None;
    for this in edits {
        if let Some(last) = furthest
            && this.lines.start < last.lines.end
            && (!this.lines.is_empty() || this.lines.start > last.lines.start)
            && this.op != last.op
        {
            let (later, earlier) = if this.op > last.op { (this, last) } else { (last, this) };
            let (lines, other_lines) = (later.lines.clone(), earlier.lines.clone());
            problems.push((later.op, Mismatch::Overlap { other: earlier.op, lines, other_lines }));
        }
        if furthest.is_none_or(|last| this.lines.end >= last.lines.end) {
            furthest = Some(this);
        }
    }
    problems.dedup_by_key(|problem| problem.0);
    problems
}

/// A text in which hunks are looked for, by numbers that stand for the lines that hunks look for.
struct Finder<'a> {
    text: &'a Text,
    options: Options,
    sheet: Sheet,
    lines: Vec<Option<u32>>,
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a Text, hunks: &'a [Hunk], options: Options) -> Self {
        let sheet = Sheet::of(text);
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for line in hunks.iter().flat_map(Hunk::old) {
            let next = numbers.len() as u32;
            numbers.entry(line).or_insert(next);
        }
        let lines = (0..sheet.line_count()).map(|line| numbers.get(sheet.content(line)).copied()).collect();
        Self { text, options, sheet, lines, numbers }
    }

    fn is_empty(&self) -> bool {
        let blank = self.options.blank_is_empty && self.lines.len() == 1 && self.sheet.content(0).is_empty();
        self.lines.is_empty() || blank
    }

    /// The lines of the text that are the old ones of the hunk.
    fn place(&self, hunk: &Hunk, search: bool) -> Result<Range<usize>, Mismatch> {
        let old = hunk.old();
        if old.is_empty() {
            return if self.is_empty() { Ok(0..self.lines.len()) } else { Err(Mismatch::NoContext) };
        }
        let mut starts = self.starts(&old, hunk.start);
        let (at_end, _) = hunk.end();
        if at_end {
            let elsewhere = starts.first().copied();
            starts.retain(|start| start + old.len() == self.lines.len());
            if let (Some(start), true) = (elsewhere, starts.is_empty()) {
                return Err(Mismatch::NotAtEnd { lines: start..start + old.len() });
            }
        }
        let lines = |start: usize| start..start + old.len();
        match starts.as_slice() {
            [] => Err(self.lost(hunk, &old, search)),
            [only] => Ok(lines(*only)),
            _ => match hunk.start.filter(|start| starts.contains(start)) {
                Some(start) => Ok(lines(start)),
                // Whichever is meant stays as it is.
                None if hunk.keeps_all() => Ok(lines(starts[0])),
                None => {
                    let places = starts.iter().take(MAX_PLACES).map(|start| lines(*start)).collect();
                    let more = starts.len() > MAX_PLACES;
                    Err(Mismatch::Ambiguous { places, more, named: hunk.start.map(Line) })
                }
            },
        }
    }

    /// Where these lines stand: the first places, the last of all, and that at line `named` if it is one.
    fn starts(&self, wanted: &[&str], named: Option<usize>) -> Vec<usize> {
        let numbers: Option<Vec<u32>> = wanted.iter().map(|line| self.numbers.get(*line).copied()).collect();
        let Some(numbers) = numbers else { return Vec::new() };
        // Knuth, Morris and Pratt: every line is looked at but twice, however often the lines repeat.
        let mut borders = vec![0; numbers.len()];
        let mut border = 0;
        for at in 1..numbers.len() {
            while border > 0 && numbers[at] != numbers[border] {
                border = borders[border - 1];
            }
            border += usize::from(numbers[at] == numbers[border]);
            borders[at] = border;
        }
        let mut starts = Vec::new();
        let mut last = None;
        let mut matched = 0;
        for (at, line) in self.lines.iter().enumerate() {
            while matched > 0 && (matched == numbers.len() || Some(numbers[matched]) != *line) {
                matched = borders[matched - 1];
            }
            matched += usize::from(Some(numbers[matched]) == *line);
            if matched == numbers.len() {
                let start = at + 1 - matched;
                if starts.len() <= MAX_PLACES || named == Some(start) {
                    starts.push(start);
                }
                last = Some(start);
            }
        }
        starts.extend(last.filter(|last| starts.last() != Some(last)));
        starts
    }

    fn lost(&self, hunk: &Hunk, old: &[&str], search: bool) -> Mismatch {
        if let Some(line) = tagged(old) {
            return Mismatch::OldHasTags { line };
        }
        let nearest = if search { nearest(&self.sheet, old) } else { Vec::new() };
        Mismatch::NotFound { nearest, header: hunk.header }
    }

    /// What the hunk changes, where its old lines are these.
    fn edits(&self, hunk: &Hunk, part: usize, lines: &Range<usize>) -> Result<Vec<LineEdit>, Mismatch> {
        let old = hunk.old();
        let added = hunk.body.iter().filter(|line| line.kind == Kind::Added).enumerate();
        for (content_line, BodyLine { content, .. }) in added {
            if let Some((line, hash)) = tag_of(self.text, content)
                && !old.contains(&content.as_str())
            {
                return Err(Mismatch::RepeatsTag { content_line, line, hash });
            }
        }
        // The one empty line of a text that counts as empty makes room.
        if old.is_empty() {
            let content = hunk.body.iter().map(|line| line.content.clone()).collect();
            return Ok(vec![LineEdit { op: part, lines: lines.clone(), content }]);
        }
        Ok(hunk.edits(part, lines.start))
    }
}
