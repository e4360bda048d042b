//! Applying edits, and the endings that new lines take.

use std::ops::Range;

use hashline_text::{Ending, Line, OwnedLine, Text, TextError};

use crate::{LineEdit, merge_touching};

/// The endings of `count` lines that replace `lines` of a text: each takes that of the line whose place it takes; the
/// further ones that of the last line replaced, and where none is replaced, that of the neighbour
/// ([`Text::ending_for_insert`]). A last line without an ending stands for one that ends as the line before it.
#[must_use]
pub fn endings_for(text: &Text, lines: Range<usize>, count: usize) -> Vec<Ending> {
    let missing = || text.ending_for_insert(Line(text.line_count()));
    let replaced = text.lines(lines.start..lines.end);
    let mut endings: Vec<Ending> =
        replaced.take(count).map(|line| line.ending().unwrap_or_else(missing)).collect();
    if endings.len() < count {
        let further = match endings.last() {
            Some(last) => *last,
            None => text.ending_for_insert(Line(lines.start)),
        };
        endings.resize(count, further);
    }
    endings
}

/// The lines that replace `lines` of a text, with their endings.
#[must_use]
pub fn owned_lines(text: &Text, lines: Range<usize>, content: &[String]) -> Vec<OwnedLine> {
    let endings = endings_for(text, lines, content.len());
    content.iter().zip(endings).map(|(content, ending)| OwnedLine::new(content.as_str(), ending)).collect()
}

/// The text with the edits in it. A text without a final newline stays without one; lines put into an empty text all
/// have their ending.
///
/// # Errors
///
/// [`TextError::EndingsWouldJoin`] where a line ending in a lone `\r` would come before an empty one ending in `\n`;
/// [`TextError::LinesOutOfText`] and [`TextError::ContentHoldsEnding`] for edits that
/// [`resolve`](crate::resolve) did not give for this text.
pub fn apply(text: &Text, edits: &[LineEdit]) -> Result<Text, TextError> {
    let mut result = text.clone();
    let mut newline_at_end = text.is_empty() || text.ends_with_newline();
    // From the end, so that the line numbers above stay true.
    for hunk in merge_touching(edits.to_vec()).into_iter().rev() {
        let new = owned_lines(text, hunk.lines.clone(), &hunk.content);
        result.replace_lines(Line(hunk.lines.start)..Line(hunk.lines.end), &new, newline_at_end)?;
        // The last hunk had its say about the end of the text; an empty last line may have become the end of the one
        // before it, and must not cost that one its ending now.
        newline_at_end = result.is_empty() || result.ends_with_newline();
    }
    Ok(result)
}
