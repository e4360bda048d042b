//! From the protocol's types to the workspace's.

use std::path::PathBuf;

use hashline_history::{ConversationId, EditId, HunkRef};
use hashline_text::{Position, Span};
use hashline_weave::TakeOut;
use hashline_workspace::disk::path_of_file_uri;
use hashline_workspace::document::{Along, Choice, ContentChange, Request, Target, Unseen};
use serde::Deserialize;
use tower_lsp::lsp_types::{self as lsp, InitializeParams};

use crate::protocol;

/// One change of a text.
#[derive(Deserialize)]
pub(crate) struct Change {
    range: Option<lsp::Range>,
    text: String,
}

impl From<Change> for ContentChange {
    fn from(change: Change) -> Self {
        Self { span: change.range.map(span), text: change.text }
    }
}

/// A range of the text.
pub(crate) fn span(range: lsp::Range) -> Span {
    let position = |at: lsp::Position| Position::new(at.line, at.character);
    Span::new(position(range.start), position(range.end))
}

/// What is wrong with a decision as it was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadDecision {
    #[error("`hunk` is a number within an edit: name the `edit` as well")]
    HunkWithoutEdit,
    #[error("`lines` are those of a document: name its `uri` as well")]
    LinesWithoutUri,
    #[error("`lines` ends before it starts")]
    LinesReversed,
    #[error("`edit` is empty: give the id of an edit, or its beginning")]
    EmptyEdit,
    #[error("nothing is named: give a `uri`, an `edit` or a `conversation`")]
    Nothing,
    #[error("more than one edit begins with `{0}`: give more of the id")]
    Ambiguous(String),
    #[error("`comment` needs a `reason`: what the agent is to be told")]
    CommentOfNothing,
    #[error("`text` is for accepting one hunk: name its `edit` and `hunk`, with `accept`")]
    TextOfNoHunk,
    #[error("`text` is a list of lines: none of them may hold a line break")]
    TextWithBreaks,
}

/// A decision of the person, as the workspace takes it.
pub(crate) fn request(decide: &protocol::Decide) -> Result<Request, BadDecision> {
    let choice = match decide.decision {
        protocol::Decision::Accept => Choice::Accept,
        protocol::Decision::Reject => Choice::Reject,
        protocol::Decision::KeepMine => Choice::KeepMine,
        protocol::Decision::TakeTheirs => Choice::TakeTheirs,
        protocol::Decision::KeepBoth => Choice::KeepBoth,
        protocol::Decision::Reopen => Choice::Reopen,
        protocol::Decision::Comment if decide.reason.is_none() => return Err(BadDecision::CommentOfNothing),
        protocol::Decision::Comment => Choice::Comment,
    };
    let target = match (&decide.edit, decide.hunk, &decide.conversation, decide.lines, &decide.uri) {
        (Some(edit), ..) if edit.is_empty() => return Err(BadDecision::EmptyEdit),
        (Some(edit), Some(number), ..) => Target::Hunk(HunkRef { edit: EditId::from(edit.as_str()), number }),
        (None, Some(_), ..) => return Err(BadDecision::HunkWithoutEdit),
        (Some(edit), None, ..) => Target::Edit(edit.clone()),
        (None, None, Some(id), ..) => Target::Conversation(ConversationId::from(id.as_str())),
        (None, None, None, Some(_), None) => return Err(BadDecision::LinesWithoutUri),
        (None, None, None, Some(lines), Some(_)) if lines.end < lines.start => {
            return Err(BadDecision::LinesReversed);
        }
        (None, None, None, Some(lines), Some(_)) => Target::Lines(lines.start as usize..lines.end as usize),
        (None, None, None, None, Some(_)) => Target::All,
        (None, None, None, None, None) => return Err(BadDecision::Nothing),
    };
    let edited = decide.edited.map(|edited| match edited {
        protocol::Edited::Undo => TakeOut::WithMyChanges,
        protocol::Edited::Keep => TakeOut::KeepMyLines,
    });
    match (&decide.text, choice, &target) {
        (None, ..) => {}
        (Some(text), Choice::Accept, Target::Hunk(_)) => {
            if text.iter().any(|line| line.contains(['\n', '\r'])) {
                return Err(BadDecision::TextWithBreaks);
            }
        }
        (Some(_), ..) => return Err(BadDecision::TextOfNoHunk),
    }
    let (reason, own) = (decide.reason.clone(), decide.text.clone());
    let along = if decide.with_others { Along::All } else { Along::OfTurn };
    Ok(Request { choice, target, reason, edited, own, along, unseen: Unseen::Refuse })
}

/// The folder that a URI names, if it names one of this machine.
pub(crate) fn folder(uri: &lsp::Url) -> Option<PathBuf> {
    path_of_file_uri(uri.as_str()).ok()
}

/// The folders of the editor, from what it says when it initializes: its workspace folders, else its root, else the
/// folder that it was started in. The top of the file system is nobody's project: a program that was started from a
/// menu is often there.
pub(crate) fn folders(params: &InitializeParams, started_in: Option<PathBuf>) -> Vec<PathBuf> {
    let listed = params.workspace_folders.iter().flatten().filter_map(|listed| folder(&listed.uri));
    let listed: Vec<PathBuf> = listed.collect();
    if !listed.is_empty() {
        return listed;
    }
    #[expect(deprecated, reason = "some clients say no more than this")]
    let path = params.root_path.as_ref().filter(|path| !path.is_empty()).map(PathBuf::from);
    let root = params.root_uri.as_ref().and_then(folder).or(path);
    let started_in = started_in.filter(|folder| folder.parent().is_some());
    root.or(started_in).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(params: serde_json::Value) -> Vec<PathBuf> {
        let mut params = params;
        params["capabilities"] = json!({});
        folders(&serde_json::from_value(params).unwrap(), Some("/started".into()))
    }

    #[test]
    fn folders_come_from_the_first_place_that_names_some() {
        let folder = |uri: &str| json!({"uri": uri, "name": "x"});
        let root = json!({
            "workspaceFolders": [folder("file:///a"), folder("untitled:x"), folder("file:///b%20c")],
            "rootUri": "file:///r"
        });
        assert_eq!(of(root), [PathBuf::from("/a"), "/b c".into()]);
        assert_eq!(
            of(json!({"workspaceFolders": [], "rootUri": "file:///r", "rootPath": "/p"})),
            [PathBuf::from("/r")]
        );
        assert_eq!(
            of(json!({"workspaceFolders": null, "rootUri": null, "rootPath": "/p"})),
            [PathBuf::from("/p")]
        );
        assert_eq!(of(json!({"rootUri": null})), [PathBuf::from("/started")]);
        let nothing = serde_json::from_value(json!({"capabilities": {}})).unwrap();
        assert!(folders(&nothing, Some("/".into())).is_empty());
    }

    #[test]
    fn a_decision_has_to_name_something() {
        let bad = |value: serde_json::Value| {
            request(&serde_json::from_value(value).unwrap()).map(|request| request.target)
        };
        assert_eq!(bad(json!({"decision": "accept"})), Err(BadDecision::Nothing));
        assert_eq!(
            bad(json!({"decision": "accept", "hunk": 1, "uri": "a:b"})),
            Err(BadDecision::HunkWithoutEdit)
        );
        assert_eq!(bad(json!({"decision": "accept", "edit": ""})), Err(BadDecision::EmptyEdit));
        assert_eq!(
            bad(json!({"decision": "accept", "lines": {"start": 1, "end": 2}})),
            Err(BadDecision::LinesWithoutUri)
        );
        assert_eq!(
            bad(json!({"decision": "accept", "uri": "a:b", "lines": {"start": 2, "end": 1}})),
            Err(BadDecision::LinesReversed)
        );
        assert_eq!(bad(json!({"decision": "reject", "uri": "a:b", "withOthers": null})), Ok(Target::All));
    }
}
