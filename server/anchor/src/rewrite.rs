//! Runs of lines replaced by others whose endings are said, too: what whole-file writes, replacements and diffs come to.
//!
//! Operations on anchors put lines in and leave the endings to the text ([`LineEdit`](crate::LineEdit)). A write of a whole file
//! says every byte, so its hunks carry [`OwnedLine`]s and the state of the newline at the end.
//!
//! Invariants: the hunks are in text order with a line or more between any two, none is idle, and a change of nothing but a line's
//! ending, the one at the end of the text included, is a change of that line.

use std::ops::Range;

use hashline_text::{Ending, Line, OwnedLine, Text, TextError};

use crate::difference::differing;

/// One contiguous run of lines that is replaced by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactHunk {
    /// The lines replaced, counted from 0 in the text; empty for an insert before the line at its start.
    pub lines: Range<usize>,
    /// The lines put there.
    pub new: Vec<OwnedLine>,
    /// The parts of the request that it came from: edits or hunks of a diff, by their index. A whole write is part 0.
    pub parts: Vec<usize>,
}

/// What a request does to a text.
///
/// ```
/// use hashline_anchor::rewrite_whole;
/// use hashline_text::Text;
/// let (text, new) = (Text::from("one\ntwo\nthree\n"), Text::from("one\r\ntwo\nthree"));
/// let rewrite = rewrite_whole(&text, &new);
/// assert_eq!(rewrite.hunks.iter().map(|hunk| hunk.lines.clone()).collect::<Vec<_>>(), [0..1, 2..3]);
/// assert_eq!(rewrite.newline_at_end, Some(false));
/// assert_eq!(rewrite.apply(&text), Ok(new));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The hunks, in text order; none where the text would stay as it is.
    pub hunks: Vec<ExactHunk>,
    /// Whether the text ends with a newline afterwards, where the last hunk reaches the end of the text: the word goes with that
    /// hunk. None leaves it as it is. An emptied text counts as ending with one, as lines put into it all have their ending.
    pub newline_at_end: Option<bool>,
    /// By part: the lines that it names, counted from 0 in the text, with all lines of its hunks among them. While none of them
    /// is touched, the part means the same. For a whole write these are all lines.
    pub named: Vec<Range<usize>>,
    /// The parts that ask for what stands there already, in their order. They make no hunk.
    pub idle: Vec<usize>,
}

impl Rewrite {
    /// The text with the hunks in it.
    ///
    /// # Errors
    ///
    /// [`TextError::EndingsWouldJoin`] where a hunk of a diff would put an empty line ending in `\n` behind a lone `\r`;
    /// [`TextError::LinesOutOfText`] for a text that the rewrite was not made for.
    pub fn apply(&self, text: &Text) -> Result<Text, TextError> {
        let ends = |text: &Text| text.is_empty() || text.ends_with_newline();
        let mut result = text.clone();
        let mut newline = self.newline_at_end.unwrap_or_else(|| ends(text));
        // From the end, so that the line numbers above stay true.
        for hunk in self.hunks.iter().rev() {
            result.replace_lines(Line(hunk.lines.start)..Line(hunk.lines.end), &hunk.new, newline)?;
            newline = ends(&result);
        }
        Ok(result)
    }
}

/// Hunks in the making.
#[derive(Default)]
pub(crate) struct Draft {
    hunks: Vec<ExactHunk>,
}

impl Draft {
    /// Adds a hunk behind those that are there; one that touches the last is joined with it.
    pub(crate) fn push(&mut self, hunk: ExactHunk) {
        match self.hunks.last_mut() {
            Some(last) if hunk.lines.start <= last.lines.end => {
                last.lines.end = last.lines.end.max(hunk.lines.end);
                last.new.extend(hunk.new);
                last.parts.extend(hunk.parts);
                last.parts.sort_unstable();
                last.parts.dedup();
            }
            _ => self.hunks.push(hunk),
        }
    }

    /// Adds what differs between lines of the text from `at` on and the lines that take their place, both with their endings.
    /// `default` is what stands for the ending that a last line lacks.
    pub(crate) fn compare(
        &mut self,
        at: usize,
        old: &[&str],
        new: &[&str],
        default: Ending,
        parts: impl Fn(&Range<usize>) -> Vec<usize>,
    ) {
        for (from, to) in differing(old, new) {
            let lines = at + from.start..at + from.end;
            let owned = |line: &&str| {
                let (content, ending) = Ending::split(line);
                OwnedLine::new(content, ending.unwrap_or(default))
            };
            self.push(ExactHunk { parts: parts(&lines), lines, new: new[to].iter().map(owned).collect() });
        }
    }

    /// The rewrite of a text of `count` lines whose hunks say how it ends; `after` ends as the text does afterwards, where they
    /// reach its end.
    pub(crate) fn of_text(self, count: usize, after: &str, named: Vec<Range<usize>>) -> Rewrite {
        let reaches = self.hunks.last().is_some_and(|hunk| hunk.lines.end == count);
        let newline = after.is_empty() || after.ends_with(['\n', '\r']);
        rewrite(self.hunks, reaches.then_some(newline), named)
    }

    /// The rewrite, where the newline at the end is as it was unless `newline` says otherwise; then the last line is changed
    /// by the part given.
    pub(crate) fn of_lines(
        mut self,
        text: &Text,
        newline: Option<(bool, usize)>,
        named: Vec<Range<usize>>,
    ) -> Rewrite {
        let count = text.line_count();
        let before = text.is_empty() || text.ends_with_newline();
        let reaches = |hunks: &[ExactHunk]| hunks.last().is_some_and(|hunk| hunk.lines.end == count);
        if let Some((after, part)) = newline
            && after != before
            && !reaches(&self.hunks)
            && let Some(at) = count.checked_sub(1)
            && let Some(last) = text.line(Line(at))
        {
            let new = vec![last.to_owned_line(text.ending_for_insert(Line(count)))];
            self.push(ExactHunk { lines: at..count, new, parts: vec![part] });
        }
        // What lines put behind a last line without an ending make of it is not left to whoever applies them.
        if !before
            && let Some(at) = count.checked_sub(1)
            && let Some(last) = text.line(Line(at))
            && let Some(mut hunk) = self.hunks.pop_if(|hunk| hunk.lines.start == count)
        {
            hunk.lines.start = at;
            hunk.new.insert(0, last.to_owned_line(text.ending_for_insert(Line(count))));
            self.push(hunk);
        }
        let mut newline_at_end = None;
        if reaches(&self.hunks)
            && let Some(last) = self.hunks.last_mut()
        {
            let mut after = newline.map_or(before, |(after, _)| after);
            // An empty line without its ending is no line: the text ends with the ending of the line before.
            if newline.is_some_and(|(after, _)| !after)
                && last.new.last().is_some_and(|line| line.content.is_empty())
            {
                last.new.pop();
                after = true;
            }
            let above = || last.lines.start.checked_sub(1).and_then(|at| text.line(Line(at)));
            let ends_empty = match last.new.last() {
                Some(line) => line.content.is_empty(),
                None => above().is_none_or(|line| line.content_eq("")),
            };
            newline_at_end = Some(after || ends_empty);
            if last.lines.is_empty() && last.new.is_empty() {
                self.hunks.pop();
                newline_at_end = None;
            }
        }
        rewrite(self.hunks, newline_at_end, named)
    }
}

/// The rewrite, where parts name the lines of the hunks, too, that come from them.
fn rewrite(hunks: Vec<ExactHunk>, newline_at_end: Option<bool>, mut named: Vec<Range<usize>>) -> Rewrite {
    for hunk in &hunks {
        for part in &hunk.parts {
            if let Some(named) = named.get_mut(*part)
                && named.start < named.end
            {
                *named = named.start.min(hunk.lines.start)..named.end.max(hunk.lines.end);
            }
        }
    }
    Rewrite { hunks, newline_at_end, named, idle: Vec::new() }
}
