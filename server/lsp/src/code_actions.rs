//! Code actions: the review for any editor.
//!
//! An action carries the edit for this version of the text wherever the workspace recognises that edit when the editor has
//! made it: then the person's own undo takes it back, and nothing has to be sent. The command that follows makes the
//! decision. Ways out of a conflict, and those that move the person's lines, are commands alone: what they change is
//! recognised only if it was asked for. So are actions about very many hunks, or where very many are selected: their edits would take
//! too long to work out each time the cursor moves.

use hashline_workspace::DocumentReview;
use hashline_workspace::document::{HunkView, ReviewEdit, Why};
use serde_json::json;
use tower_lsp::lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Url, WorkspaceEdit,
};

use crate::client::Facts;
use crate::commands;
use crate::from_proto;
use crate::hover::touches;
use crate::hunk_choices::{along, gist, offers, waiting, waits, whose, with, words};
use crate::protocol::{Decide, Decision};
use crate::session::Session;
use crate::to_proto;

/// Actions about a hunk, or about the conversation that it belongs to.
pub(crate) const HUNK: &str = "quickfix.hashline";
/// Acceptance of all that waits in a document.
pub(crate) const ACCEPT_ALL: &str = "source.hashline.acceptAll";
/// Rejection of all that waits in a document.
pub(crate) const REJECT_ALL: &str = "source.hashline.rejectAll";

/// For how many hunks at once an edit is worked out beforehand.
const FEW: usize = 16;

/// The actions for a range of a document.
pub(crate) fn of(session: &Session, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let menu = Menu::of(session, &params.text_document.uri, params.context.only.as_deref());
    let Some(menu) = menu.filter(|menu| !menu.review.is_read_only()) else { return Vec::new() };
    let range = from_proto::span(params.range);
    let (start, end) = (range.start.line as usize, range.end.line as usize);
    // A range that ends before the first character of a line does not touch that line.
    let end = if range.end.character == 0 && end > start { end } else { end.saturating_add(1) };
    let mut actions = Vec::new();
    if menu.wants(HUNK) {
        let waiting = waiting(&menu.review);
        // What has no place is offered everywhere.
        let touched =
            waiting.filter(|(_, hunk, lines)| hunk.lines.is_none() || touches(lines, &(start..end)));
        let touched: Vec<_> = touched.collect();
        for (edit, hunk, _) in &touched {
            menu.about_hunk(edit, hunk, touched.len(), &mut actions);
        }
        let mut told: Vec<&ReviewEdit> = Vec::new();
        for (edit, ..) in touched {
            if !told.iter().any(|told| told.edit.conversation == edit.edit.conversation) {
                told.push(edit);
                menu.about_conversation(edit, &mut actions);
            }
        }
    }
    menu.about_document(&mut actions);
    let literals = menu.facts.action_literals;
    let plain = |action: CodeAction| match (literals, action.command) {
        (false, Some(command)) => CodeActionOrCommand::Command(command),
        (_, command) => CodeActionOrCommand::CodeAction(CodeAction { command, ..action }),
    };
    actions.into_iter().map(plain).collect()
}

/// Whether an action of this kind is asked for: of one of the kinds named, or of a kind below it.
fn is_wanted(kind: &str, only: Option<&[CodeActionKind]>) -> bool {
    let below = |wanted: &str| {
        wanted.is_empty()
            || kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    only.is_none_or(|only| only.iter().any(|wanted| below(wanted.as_str())))
}

/// What is offered for a document to one who asks.
struct Menu<'a> {
    session: &'a Session,
    facts: Facts,
    uri: &'a Url,
    only: Option<&'a [CodeActionKind]>,
    review: DocumentReview,
}

impl<'a> Menu<'a> {
    fn of(session: &'a Session, uri: &'a Url, only: Option<&'a [CodeActionKind]>) -> Option<Self> {
        let review = session.workspace.review(&session.spelled(uri.as_str()))?;
        Some(Self { session, facts: session.facts(), uri, only, review })
    }

    fn wants(&self, kind: &str) -> bool {
        is_wanted(kind, self.only)
    }

    /// `touched`: how many hunks are told of together.
    fn about_hunk(&self, edit: &ReviewEdit, hunk: &HunkView, touched: usize, actions: &mut Vec<CodeAction>) {
        for offer in offers(&self.review.uri, edit, hunk) {
            let title = format!("{} ({}): {}", offer.word, whose(edit, hunk), gist(hunk));
            // Where there is no time to try each, the review says what a decision takes along.
            let others = match touched > FEW {
                true => along(&self.review, edit, hunk, offer.decide.decision),
                false => Vec::new(),
            };
            let decide = Decide { with_others: !others.is_empty(), ..offer.decide };
            actions.push(self.action(HUNK, title + &with(&others), decide, touched));
        }
    }

    /// All of a conversation, if there is more of it than the document's own actions are about.
    fn about_conversation(&self, edit: &ReviewEdit, actions: &mut Vec<CodeAction>) {
        let conversation = &edit.edit.conversation;
        let others = self.review.review.edits.iter().any(|other| other.edit.conversation != *conversation);
        let reviews = self.session.workspace.reviews();
        let waits_in = |review: &&DocumentReview| {
            let mut edits = review.review.edits.iter();
            edits.any(|edit| edit.edit.conversation == *conversation && edit.hunks.iter().any(waits))
        };
        let documents = reviews.iter().filter(waits_in).count();
        let edits = reviews.iter().flat_map(|review| &review.review.edits);
        let own = edits.filter(|edit| edit.edit.conversation == *conversation);
        let hunks: Vec<&HunkView> = own.flat_map(|edit| &edit.hunks).filter(|hunk| waits(hunk)).collect();
        let [accept, reject] = words(&hunks);
        if documents < 2 && !others {
            return;
        }
        let agent = &edit.edit.agent;
        let where_ = if documents == 1 { "here".to_owned() } else { format!("in {documents} files") };
        for (word, decision) in [(accept, Decision::Accept), (reject, Decision::Reject)] {
            let decide = Decide { conversation: Some(conversation.to_string()), ..Decide::new(decision) };
            let title = format!("{word} all of this conversation ({agent}) {where_}");
            let command = commands::command(title.clone(), &decide);
            actions.push(CodeAction {
                title,
                kind: Some(CodeActionKind::from(HUNK)),
                command: Some(command),
                data: Some(json!({"conversation": conversation.to_string()})),
                ..CodeAction::default()
            });
        }
    }

    fn about_document(&self, actions: &mut Vec<CodeAction>) {
        let hunks: Vec<&HunkView> =
            self.review.review.edits.iter().flat_map(|edit| &edit.hunks).filter(|hunk| waits(hunk)).collect();
        let count = match hunks.len() {
            0 => return,
            1 => "the hunk".to_owned(),
            count => format!("all {count} hunks"),
        };
        let [accept, reject] = words(&hunks);
        for (kind, word, decision) in
            [(ACCEPT_ALL, accept, Decision::Accept), (REJECT_ALL, reject, Decision::Reject)]
        {
            if self.wants(kind) {
                let decide = Decide { uri: Some(self.review.uri.clone()), ..Decide::new(decision) };
                actions.push(self.action(kind, format!("{word} {count} in this file"), decide, hunks.len()));
            }
        }
    }

    fn action(&self, kind: &'static str, title: String, decide: Decide, hunks: usize) -> CodeAction {
        let (title, decide, edit) =
            if hunks <= FEW { self.with_edit(title, decide) } else { (title, decide, None) };
        let data = json!({"edit": decide.edit, "hunk": decide.hunk});
        CodeAction {
            command: Some(commands::command(title.clone(), &decide)),
            title,
            kind: Some(CodeActionKind::from(kind)),
            edit,
            data: Some(data),
            ..CodeAction::default()
        }
    }

    /// Looks what the decision would do. One that needs others to be decided with it is offered together with them.
    fn with_edit(&self, title: String, decide: Decide) -> (String, Decide, Option<WorkspaceEdit>) {
        let Ok(request) = from_proto::request(&decide) else { return (title, decide, None) };
        let Some(preview) = self.session.workspace.preview(&self.review.uri, &request) else {
            return (title, decide, None);
        };
        let needs = preview.decided.refused.iter().find(|refused| refused.why == Why::NeedsOthers);
        if let Some(needs) = needs.filter(|_| !decide.with_others && decide.hunk.is_some()) {
            return self.with_edit(title + &with(&needs.others), Decide { with_others: true, ..decide });
        }
        // Without versions an edit might meet another text than it was made for: there the command delivers, when it is quiet.
        // A plugin's own actions are commands: it says the cause of what is delivered.
        let sound = preview.is_recognisable() && self.facts.versioned_edits && !self.facts.plugin;
        let Some(delivery) = preview.delivery.as_ref().filter(|_| sound) else {
            return (title, decide, None);
        };
        self.session.workspace.offered(&self.review.uri, &preview);
        let edit = to_proto::workspace_edit(self.uri, delivery, &self.facts);
        (title, decide, Some(edit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_asked_for_by_name_or_by_what_is_above_them() {
        let wanted = |only: &[&str]| {
            let only: Vec<_> = only.iter().map(|kind| CodeActionKind::from((*kind).to_owned())).collect();
            [HUNK, ACCEPT_ALL, REJECT_ALL].map(|kind| is_wanted(kind, Some(&only)))
        };
        assert_eq!([HUNK, ACCEPT_ALL].map(|kind| is_wanted(kind, None)), [true; 2]);
        assert_eq!(wanted(&[]), [false; 3]);
        assert_eq!(wanted(&[""]), [true; 3]);
        assert_eq!(wanted(&["quickfix"]), [true, false, false]);
        assert_eq!(wanted(&["quickfix.hash"]), [false; 3]);
        assert_eq!(wanted(&["source.hashline"]), [false, true, true]);
        assert_eq!(wanted(&["source.hashline.acceptAll"]), [false, true, false]);
        assert_eq!(wanted(&["source.hashline.acceptAll.x", "refactor"]), [false; 3]);
    }
}
