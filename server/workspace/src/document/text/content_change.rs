//! Changes of a text as an editor tells of them, and what they make of it.

use hashline_text::{DocVersion, Encoding, Ending, Position, Span, SpanError, Text};
use hashline_weave::Regions;

/// Up to how many changes that come together are taken over one by one. More are one edit in many places, which is undone as one.
const APART: usize = 64;

/// One change of the editor's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentChange {
    /// What is replaced; the whole text if none.
    pub span: Option<Span>,
    /// What stands there afterwards.
    pub text: String,
}

/// Why a document no longer follows its editor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfStep {
    /// A change came with a version that is not above the last.
    #[error("a change came as version {got} after version {had}")]
    Version {
        /// The version that was there.
        had: DocVersion,
        /// The version that came.
        got: DocVersion,
    },
    /// A change named a place that the text does not have.
    #[error("a change named a place outside the text: {0}")]
    Place(String),
}

/// The text after some changes, and the lines that they touched.
pub(crate) fn after(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<(Text, Regions), OutOfStep> {
    let (mut text, mut regions) = (text.clone(), Regions::default());
    changes.iter().try_for_each(|change| apply(&mut text, &mut regions, change, encoding))?;
    Ok((text, regions))
}

/// The text after each of some changes, and the lines that it touched.
pub(crate) fn after_each(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<Vec<(Text, Regions)>, OutOfStep> {
    let mut each: Vec<(Text, Regions)> = Vec::with_capacity(changes.len());
    for change in changes {
        let before = each.last().map_or(text, |(text, _)| text);
        each.push(after(before, std::slice::from_ref(change), encoding)?);
    }
    Ok(each)
}

/// Whether changes that came together are more than one, and not too many.
fn are_taken_apart(changes: &[ContentChange]) -> bool {
    (2..=APART).contains(&changes.len())
}

/// The texts between changes that came together and are typing, to which an undo may lead, with the last, and what was touched since the one
/// before. None where there are too many.
pub(crate) fn apart(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<Vec<(Text, Regions)>, OutOfStep> {
    if are_taken_apart(changes) { after_each(text, changes, encoding) } else { Ok(Vec::new()) }
}

/// The same, but what is deleted and what is put in its place are one change, however they are told of.
pub(crate) fn apart_but_for_replacements(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<Vec<(Text, Regions)>, OutOfStep> {
    if !are_taken_apart(changes) {
        return Ok(Vec::new());
    }
    let puts_in_its_place = |first: &ContentChange, second: &ContentChange| {
        let (Some(deleted), Some(put)) = (first.span, second.span) else { return false };
        first.text.is_empty() && deleted.start == put.start && put.start == put.end
    };
    let mut each: Vec<(Text, Regions)> = Vec::with_capacity(changes.len());
    for changes in changes.chunk_by(puts_in_its_place) {
        let before = each.last().map_or(text, |(text, _)| text);
        each.push(after(before, changes, encoding)?);
    }
    Ok(each)
}

fn apply(
    text: &mut Text,
    regions: &mut Regions,
    change: &ContentChange,
    encoding: Encoding,
) -> Result<(), OutOfStep> {
    match change.span {
        None => regions.replace_all(text, Text::from(change.text.as_str())),
        Some(span) => make(text, span, encoding, &change.text, |text, span, new| {
            regions.apply(text, span, encoding, new)
        })?,
    }
    Ok(())
}

/// Makes one change by `apply`.
///
/// Neovim counts an ending behind a last line that has none, and names the place behind it (in a text of two lines, line 2) where it
/// appends or takes away lines at the end. Such a change is made as the editor counts: with an ending there, which is taken away
/// again afterwards.
pub(crate) fn make(
    text: &mut Text,
    span: Span,
    encoding: Encoding,
    new: &str,
    mut apply: impl FnMut(&mut Text, Span, &str) -> Result<(), SpanError>,
) -> Result<(), OutOfStep> {
    let counts_one_more = span.end.line as usize == text.lsp_line_count() && span.end.character == 0;
    let mut apply = |text: &mut Text, span, new: &str| {
        apply(text, span, new).map_err(|error| OutOfStep::Place(error.to_string()))
    };
    if !counts_one_more {
        return apply(text, span, new);
    }
    let ending = Ending::find(new.as_bytes()).map(|(_, ending)| ending);
    let ending = ending.or_else(|| text.first_ending()).unwrap_or_default();
    let end = text.end_position(encoding);
    apply(text, Span::new(end, end), ending.as_str())?;
    apply(text, span, new)?;
    if text.ends_with_newline() {
        let end = text.end_position(encoding);
        let before = Position::new(end.line.saturating_sub(1), u32::MAX);
        apply(text, Span::new(before, end), "")?;
    }
    Ok(())
}
