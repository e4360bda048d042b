//! From the workspace's types to the protocol's.

use hashline_history::{Decision, HunkRef, Status};
use hashline_text::{DocVersion, Position};
use hashline_weave::TextEdit;
use hashline_workspace::DocumentReview;
use hashline_workspace::document::{
    Decided, Delivery, HunkState, HunkView, Mode, Review, ReviewEdit, Undecided, Why,
};
use tower_lsp::lsp_types as lsp;

use crate::client::Facts;
use crate::protocol;

/// A position of the text.
pub(crate) fn position(at: Position) -> lsp::Position {
    lsp::Position::new(at.line, at.character)
}

/// Whole lines, as far as the text has them. A place between lines is the start of the line after it.
pub(crate) fn lines(range: &std::ops::Range<usize>, line_count: usize) -> lsp::Range {
    let line = |at: usize| number(at.min(line_count));
    lsp::Range::new(lsp::Position::new(line(range.start), 0), lsp::Position::new(line(range.end), 0))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn text_edit(edit: &TextEdit) -> lsp::TextEdit {
    let range = lsp::Range::new(position(edit.span.start), position(edit.span.end));
    lsp::TextEdit { range, new_text: edit.new.clone() }
}

/// Edits of one document, for the version that they are made for where the client minds versions.
pub(crate) fn workspace_edit(uri: &lsp::Url, delivery: &Delivery, facts: &Facts) -> lsp::WorkspaceEdit {
    let edits = delivery.edits.iter().map(text_edit);
    if !facts.versioned_edits {
        let changes = std::iter::once((uri.clone(), edits.collect())).collect();
        return lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() };
    }
    let document = lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier {
            uri: uri.clone(),
            version: Some(sent_version(delivery.version, facts)),
        },
        edits: edits.map(lsp::OneOf::Left).collect(),
    };
    lsp::WorkspaceEdit {
        document_changes: Some(lsp::DocumentChanges::Edits(vec![document])),
        ..lsp::WorkspaceEdit::default()
    }
}

/// Neovim opens documents as version 0 and applies an edit of version 0 to any text; its first change makes version 2 or
/// more, so that 1 stands for the text as it was opened.
fn sent_version(version: DocVersion, facts: &Facts) -> i32 {
    if facts.zero_is_any && version.0 == 0 { 1 } else { version.0 }
}

/// All undecided edits of a document.
pub(crate) fn pending_edits(review: &DocumentReview) -> protocol::PendingEdits {
    protocol::PendingEdits {
        uri: review.uri.clone(),
        version: review.version.map(|version| version.0),
        owner: None,
        read_only: false,
        edits: edits(&review.review),
    }
}

fn edits(review: &Review) -> Vec<protocol::Edit> {
    review.edits.iter().map(edit).collect()
}

fn edit(edit: &ReviewEdit) -> protocol::Edit {
    protocol::Edit {
        id: edit.edit.id.to_string(),
        agent: edit.edit.agent.clone(),
        conversation: edit.edit.conversation.to_string(),
        tool: edit.edit.tool.clone(),
        mode: match edit.edit.mode {
            Mode::Propose => protocol::Mode::Propose,
            Mode::Apply => protocol::Mode::Apply,
        },
        status: match edit.edit.status() {
            Status::Pending => protocol::EditStatus::Pending,
            Status::Accepted => protocol::EditStatus::Accepted,
            Status::Rejected => protocol::EditStatus::Rejected,
        },
        hunks: edit.hunks.iter().map(hunk).collect(),
    }
}

fn hunk(hunk: &HunkView) -> protocol::Hunk {
    protocol::Hunk {
        number: hunk.number,
        state: match hunk.state {
            HunkState::Held => protocol::HunkState::Held,
            HunkState::InText => protocol::HunkState::InText,
            HunkState::Edited(_) => protocol::HunkState::Edited,
            HunkState::Conflicted(_) => protocol::HunkState::Conflicted,
            HunkState::Withdrawn => protocol::HunkState::Withdrawn,
        },
        decision: match hunk.decision {
            Decision::Undecided => protocol::HunkDecision::Undecided,
            Decision::Accepted => protocol::HunkDecision::Accepted,
            Decision::Rejected | Decision::Withdrawn => protocol::HunkDecision::Rejected,
        },
        deciding: hunk.deciding,
        // One that is shown with another has no place of its own.
        lines: hunk
            .lines
            .as_ref()
            .filter(|_| hunk.part_of.is_none())
            .map(|lines| protocol::Lines { start: number(lines.start), end: number(lines.end) }),
        removed: hunk.removed.clone(),
        proposed: hunk.proposed.clone(),
        depends_on: hunk.part_of.iter().chain(&hunk.depends_on).map(ToString::to_string).collect(),
        conflict: hunk.conflict.clone(),
    }
}

fn names(hunks: &[HunkRef]) -> Vec<String> {
    hunks.iter().map(ToString::to_string).collect()
}

/// What became of a decision.
pub(crate) fn decided(decided: &Decided) -> protocol::Decided {
    protocol::Decided {
        queued: names(&decided.queued),
        refused: decided.refused.iter().map(refusal).collect(),
    }
}

fn refusal(undecided: &Undecided) -> protocol::Refusal {
    protocol::Refusal {
        hunk: undecided.hunk.clone(),
        why: match undecided.why {
            Why::Conflicted => protocol::Why::Conflicted,
            Why::Edited => protocol::Why::Edited,
            Why::NeedsOthers => protocol::Why::NeedsOthers,
            Why::Collides => protocol::Why::Collides,
            Why::Gone => protocol::Why::Gone,
        },
        message: undecided.message.clone(),
        others: names(&undecided.others),
    }
}
