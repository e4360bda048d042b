//! Code lenses: the ways to decide, above each hunk.

use hashline_workspace::DocumentReview;
use tower_lsp::lsp_types::CodeLens;

use crate::commands;
use crate::hunk_choices::{along, offers, waiting, with};
use crate::protocol::Decide;
use crate::to_proto;

/// The lenses of a document.
pub(crate) fn of(review: &DocumentReview, line_count: usize) -> Vec<CodeLens> {
    if review.is_read_only() {
        return Vec::new();
    }
    let lenses = waiting(review).flat_map(|(edit, hunk, lines)| {
        let at = lines.start..lines.start;
        let range = to_proto::lines(&at, line_count.saturating_sub(1));
        offers(&review.uri, edit, hunk).into_iter().map(move |offer| {
            let others = along(review, edit, hunk, offer.decide.decision);
            let title = format!("{} ({}){}", offer.word, edit.edit.agent, with(&others));
            let decide = Decide { with_others: !others.is_empty(), ..offer.decide };
            let command = commands::command(title, &decide);
            CodeLens { range, command: Some(command), data: None }
        })
    });
    lenses.collect()
}
