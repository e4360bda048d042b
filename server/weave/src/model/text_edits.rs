//! A change of the buffer as text edits for the editor (rule W13), and where hunks are in a view.

use std::ops::Range;

use hashline_text::{ByteOffset, Encoding, Line, Position, Span, Text};

use crate::model::run::Run;
use crate::model::state::{Model, View};
use crate::model::view::LineChange;

/// A replacement of a span of the text. Edits of one list are in text order, apart from each other, and all count positions in the
/// text before the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty for an insert.
    pub span: Span,
    /// What stands there afterwards.
    pub new: String,
}

/// The endings, the longest first.
const ENDINGS: [&str; 3] = ["\r\n", "\n", "\r"];

impl Model {
    /// The text edits that make these changes of the buffer. Lines that are appended come as their ending and their text at the end of
    /// the last line: an insert behind the last line leaves an extra empty line in some editors.
    #[must_use]
    pub fn text_edits(&self, changes: &[LineChange], encoding: Encoding) -> Vec<TextEdit> {
        changes.iter().map(|change| self.text_edit(change, encoding)).collect()
    }

    fn text_edit(&self, change: &LineChange, encoding: Encoding) -> TextEdit {
        let text = &self.buffer;
        if change.old.end < text.line_count() {
            let start = Position::new(change.old.start as u32, 0);
            let end = Position::new(change.old.end as u32, 0);
            let new =
                change.new.iter().flat_map(|line| [line.content.as_str(), line.ending.as_str()]).collect();
            return TextEdit { span: Span::new(start, end), new };
        }
        let (mut old, mut new) = self.tails(change);
        let mut start = text.len_bytes() - old.len();
        // The ending at the very end stays where it is, and so does the one before the first line.
        let last = |text: &str| ENDINGS.into_iter().find(|ending| text.ends_with(ending));
        if let Some(ending) = last(&old).filter(|ending| last(&new) == Some(ending)) {
            old.truncate(old.len() - ending.len());
            new.truncate(new.len() - ending.len());
        }
        let first = |text: &str| ENDINGS.into_iter().find(|ending| text.starts_with(ending));
        if let Some(ending) = first(&old).filter(|ending| first(&new) == Some(ending)) {
            start += ending.len();
            old.drain(..ending.len());
            new.drain(..ending.len());
        }
        let at = |byte: usize| text.position_of(ByteOffset(byte), encoding);
        TextEdit { span: Span::new(at(start), at(start + old.len())), new }
    }

    /// From the end of the content of the line before a change that reaches the end of the text: what is there, and what is to
    /// be there.
    fn tails(&self, change: &LineChange) -> (String, String) {
        let text = &self.buffer;
        let before = change.old.start.checked_sub(1).and_then(|line| text.line(Line(line)));
        let ending = before.map(|line| line.ending().unwrap_or(self.ending));
        let own = before.and_then(|line| line.ending()).map_or(0, hashline_text::Ending::len);
        let from = text.byte_of_line(Line(change.old.start)).0 - own;
        let old = text.slice(ByteOffset(from)..ByteOffset(text.len_bytes())).unwrap_or_default().into_owned();
        let newline = change.newline;
        let mut new = String::new();
        if let Some(ending) = ending.filter(|_| newline || !change.new.is_empty()) {
            new.push_str(ending.as_str());
        }
        for (index, line) in change.new.iter().enumerate() {
            new.push_str(&line.content);
            if newline || index + 1 < change.new.len() {
                new.push_str(line.ending.as_str());
            }
        }
        (old, new)
    }

    /// For every hunk the lines of a view that lie inside its span: for a hunk that is in the view what it put there, with what the
    /// person typed between; for one that is not the lines that it would replace. None for a hunk without a span.
    pub(crate) fn places(&mut self, view: View) -> Vec<Option<Range<usize>>> {
        if view == View::Agent {
            self.refresh();
        }
        let on = &self.agent.on;
        let visible = |run: &Run| match view {
            View::Buffer => run.shown,
            View::Agent => run.visible(|hunk| on[hunk.index()]),
        };
        let mut starts = Vec::with_capacity(self.runs.len() + 1);
        let mut line = 0;
        for run in self.runs.iter() {
            starts.push(line);
            line += if visible(run) { run.len() } else { 0 };
        }
        starts.push(line);
        let place = |span: Option<(usize, usize)>| span.map(|(first, last)| starts[first]..starts[last + 1]);
        self.extents().into_iter().map(place).collect()
    }
}

/// Applies text edits to a text, as an editor does. For editors in tests and for checks.
///
/// # Errors
///
/// The first edit whose span lies outside the text; the text is then as before.
pub fn apply_text_edits(
    text: &mut Text,
    edits: &[TextEdit],
    encoding: Encoding,
) -> Result<(), hashline_text::SpanError> {
    let mut result = text.clone();
    for edit in edits.iter().rev() {
        result.apply(edit.span, encoding, &edit.new)?;
    }
    *text = result;
    Ok(())
}
