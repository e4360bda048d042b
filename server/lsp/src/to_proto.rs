//! From the workspace's types to the protocol's.

use std::ops::Range;

use hashline_history::{Decision, HunkRef, Status};
use hashline_text::{DocVersion, Position};
use hashline_weave::TextEdit;
use hashline_workspace::DocumentReview;
use hashline_workspace::document::{
    Decided, Delivered, Delivery, FileDelivery, FileOperation, HunkState, HunkView, Mode, PlacedHunk,
    ProposedText, Review, ReviewEdit, Undecided, Why, in_words,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use crate::client::Facts;
use crate::hunk_choices::ways;
use crate::protocol;
use crate::raw_params::Written;

/// `workspace/applyEdit` with the URI as the editor spells it, which the library's own type would change.
pub(crate) enum ApplyEdit {}

impl lsp::request::Request for ApplyEdit {
    type Params = Value;
    type Result = lsp::ApplyWorkspaceEditResponse;
    const METHOD: &'static str = "workspace/applyEdit";
}

/// The same for `textDocument/publishDiagnostics`.
pub(crate) enum PublishDiagnostics {}

impl lsp::notification::Notification for PublishDiagnostics {
    type Params = Written;
    const METHOD: &'static str = "textDocument/publishDiagnostics";
}

/// The parameters of [`PublishDiagnostics`].
#[derive(Serialize)]
pub(crate) struct Diagnostics<'a> {
    pub uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    #[serde(serialize_with = "list")]
    pub diagnostics: Option<&'a RawValue>,
}

fn list<S: Serializer>(list: &Option<&RawValue>, serializer: S) -> Result<S::Ok, S::Error> {
    match list {
        Some(list) => list.serialize(serializer),
        None => serializer.collect_seq([(); 0]),
    }
}

/// `hashline/pendingEdits`, with [`pending_edits`].
pub(crate) enum TellPendingEdits {}

impl lsp::notification::Notification for TellPendingEdits {
    type Params = Written;
    const METHOD: &'static str = protocol::PENDING_EDITS;
}

/// `hashline/waiting`, with [`protocol::Waiting`].
pub(crate) enum TellWaiting {}

impl lsp::notification::Notification for TellWaiting {
    type Params = Written;
    const METHOD: &'static str = protocol::WAITING;
}

/// The parameters of [`ApplyEdit`].
pub(crate) fn apply_edit(uri: &str, delivery: &Delivery, facts: &Facts) -> Value {
    let edits: Vec<lsp::TextEdit> = delivery.edits.iter().map(text_edit).collect();
    let edit = if facts.versioned_edits {
        let document = json!({"uri": uri, "version": sent_version(delivery.version, facts)});
        json!({"documentChanges": [{"textDocument": document, "edits": edits}]})
    } else {
        json!({"changes": {uri: edits}})
    };
    let mut params = json!({"label": label(&delivery.switches), "edit": edit});
    if facts.plugin {
        params["delivery"] = delivery.number.into();
    }
    params
}

/// The same for an operation on the document's file. An edit of nothing goes before it: what it says of the version keeps the file as it is
/// where the person has typed meanwhile.
pub(crate) fn file_edit(uri: &str, delivery: &FileDelivery, facts: &Facts) -> Value {
    let document = json!({"uri": uri, "version": sent_version(delivery.version, facts)});
    let operation = match &delivery.operation {
        FileOperation::Remove => json!({"kind": "delete", "uri": uri}),
        FileOperation::Rename(to) => {
            let new = lsp::Url::from_file_path(to.as_path()).map_or_else(|()| to.to_string(), Into::into);
            json!({"kind": "rename", "oldUri": uri, "newUri": new})
        }
    };
    let changes = json!([{"textDocument": document, "edits": []}, operation]);
    let label = label(std::slice::from_ref(&delivery.switch));
    json!({"label": label, "edit": {"documentChanges": changes}})
}

/// What a delivery does, for the editor's list of things to undo.
fn label(switches: &[Delivered]) -> String {
    let decided: Vec<_> = switches.iter().filter(|switch| switch.decided).collect();
    if decided.is_empty() {
        let agent = switches.first().map_or("agents", |switch| switch.agent.as_str());
        return format!("Edits of {agent}");
    }
    let part = |word: &str, on: bool| {
        let mut names = decided.iter().filter(|switch| switch.on == on).map(|switch| switch.hunk.short());
        let first = names.next()?;
        Some(match names.count() {
            0 => format!("{word} {first}"),
            more => format!("{word} {first} and {more} more"),
        })
    };
    [part("Accept", true), part("Undo", false)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A position of the text.
pub(crate) fn position(at: Position) -> lsp::Position {
    lsp::Position::new(at.line, at.character)
}

/// Whole lines, as far as the text has them. A place between lines is the start of the line after it.
pub(crate) fn lines(range: &Range<usize>, line_count: usize) -> lsp::Range {
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

/// Edits of one document for the version that they are made for, as part of a code action.
pub(crate) fn workspace_edit(uri: &lsp::Url, delivery: &Delivery, facts: &Facts) -> lsp::WorkspaceEdit {
    let edits = delivery.edits.iter().map(text_edit);
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

/// The text of a document with its held hunks in it.
pub(crate) fn proposed_text(
    proposed: &ProposedText,
    version: Option<DocVersion>,
) -> protocol::ProposedTextResult {
    let place = |place: &PlacedHunk| protocol::Place {
        hunk: place.hunk.to_string(),
        lines: line_numbers(&place.lines),
        replaced: line_numbers(&place.replaced),
    };
    protocol::ProposedTextResult {
        text: proposed.text.to_string(),
        version: version.map(|version| version.0),
        places: proposed.places.iter().map(place).collect(),
    }
}

fn line_numbers(lines: &Range<usize>) -> protocol::Lines {
    protocol::Lines { start: number(lines.start), end: number(lines.end) }
}

/// All undecided edits of a document.
pub(crate) fn pending_edits(review: &DocumentReview) -> protocol::PendingEdits<Edits<'_>> {
    protocol::PendingEdits {
        uri: review.uri.clone(),
        version: review.version.map(|version| version.0),
        owner: review.owner.clone(),
        read_only: review.is_read_only(),
        edits: Edits(&review.review),
    }
}

/// All edits of a document.
pub(crate) fn history(all: &DocumentReview) -> protocol::HistoryResult<Edits<'_>> {
    protocol::HistoryResult {
        version: all.version.map(|version| version.0),
        owner: all.owner.clone(),
        read_only: all.is_read_only(),
        edits: Edits(&all.review),
    }
}

/// The edits of a review, each of which is made when it is written.
pub(crate) struct Edits<'a>(&'a Review);

impl Serialize for Edits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.edits.iter().map(edit))
    }
}

fn edit(edit: &ReviewEdit) -> protocol::Edit {
    protocol::Edit {
        id: edit.edit.id.to_string(),
        made: edit.edit.made.map(|made| made.0),
        agent: edit.edit.agent.to_string(),
        connection: Some(&edit.edit.connection)
            .filter(|connection| connection.is_known())
            .map(ToString::to_string),
        conversation: edit.edit.conversation.to_string(),
        tool: edit.edit.tool.clone(),
        reason: edit.edit.reason.as_ref().map(ToString::to_string),
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
        reason: hunk.reason.as_ref().map(ToString::to_string),
        deciding: hunk.deciding,
        lines: hunk.lines.as_ref().map(line_numbers),
        removed: hunk.removed.clone(),
        proposed: hunk.proposed.clone(),
        part_of: hunk.part_of.as_ref().map(ToString::to_string),
        depends_on: names(&hunk.depends_on),
        conflict: hunk.conflict.clone(),
        file: hunk.file.as_ref().map(in_words),
        ways: ways(hunk),
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
            Why::Conflicted | Why::Lost => protocol::Why::Conflicted,
            Why::Changed | Why::Removed | Why::Open | Why::Failed => protocol::Why::Failed,
            Why::Elsewhere => protocol::Why::ReadOnly,
            Why::Edited => protocol::Why::Edited,
            Why::NeedsOthers => protocol::Why::NeedsOthers,
            Why::Collides => protocol::Why::Collides,
            Why::Gone => protocol::Why::Gone,
        },
        message: undecided.message.clone(),
        others: names(&undecided.others),
    }
}
