//! Hunks as diagnostics of the mildest severity, for editors that show nothing else.

use hashline_text::{Encoding, Text};
use hashline_workspace::DocumentReview;
use hashline_workspace::document::{HunkState, HunkView, ReviewEdit};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use tower_lsp::lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Range};

use crate::hunk_choices::{elsewhere, gist, waiting};
use crate::to_proto;

/// The diagnostics of a document; none where there are none.
pub(crate) fn written(review: &DocumentReview, text: &Text, encoding: Encoding) -> Option<Box<RawValue>> {
    waiting(review).next()?;
    let list = to_raw_value(&Diagnostics { review, text, encoding });
    list.inspect_err(|error| tracing::error!(%error, "diagnostics cannot be written as JSON")).ok()
}

/// A list of diagnostics, each of which is made when it is written.
struct Diagnostics<'a> {
    review: &'a DocumentReview,
    text: &'a Text,
    encoding: Encoding,
}

impl Serialize for Diagnostics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(of(self.review, self.text, self.encoding))
    }
}

fn of(review: &DocumentReview, text: &Text, encoding: Encoding) -> impl Iterator<Item = Diagnostic> {
    let diagnostic =
        move |(edit, hunk, lines): (&ReviewEdit, &HunkView, std::ops::Range<usize>)| Diagnostic {
            range: range(&lines, text, encoding),
            severity: Some(DiagnosticSeverity::HINT),
            code: Some(NumberOrString::String(format!("{}:{}", edit.edit.id.short(), hunk.number))),
            source: Some("hashline".to_owned()),
            message: message(review, edit, hunk),
            ..Diagnostic::default()
        };
    waiting(review).map(diagnostic)
}

fn message(review: &DocumentReview, edit: &ReviewEdit, hunk: &HunkView) -> String {
    let agent = &edit.edit.agent;
    if let Some(elsewhere) = elsewhere(review) {
        return format!("{agent} proposes: {}. {elsewhere}", gist(hunk));
    }
    match (&hunk.state, &hunk.conflict) {
        (HunkState::Conflicted(_), Some(conflict)) => {
            format!("{agent} proposes: {}. {conflict}", gist(hunk))
        }
        (HunkState::InText | HunkState::Edited(_), _) => {
            format!("{agent} changed this: {}. Keep it or undo it.", gist(hunk))
        }
        _ => format!("{agent} proposes: {}", gist(hunk)),
    }
}

/// From the start of the first line to the end of the last one's content, as a range to the next line would mark that one, too.
fn range(lines: &std::ops::Range<usize>, text: &Text, encoding: Encoding) -> Range {
    let count = text.lsp_line_count();
    if lines.is_empty() {
        return to_proto::lines(&(lines.start..lines.start), count.saturating_sub(1));
    }
    let last = hashline_text::Line(lines.end - 1);
    let behind = text.byte_of_line(last).0 + text.line(last).map_or(0, |line| line.len_bytes());
    let end = text.position_of(hashline_text::ByteOffset(behind), encoding);
    let mut range = to_proto::lines(lines, count.saturating_sub(1));
    range.end = to_proto::position(end);
    range
}

/// What there is to decide in a document, without where.
pub(crate) fn signature(review: &DocumentReview) -> Vec<String> {
    let name = |(edit, hunk, _): (&ReviewEdit, &HunkView, _)| {
        format!("{}:{} {:?}", edit.edit.id, hunk.number, hunk.state)
    };
    waiting(review).map(name).collect()
}
