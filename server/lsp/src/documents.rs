//! What the editor says of its documents: opened, changed, and what brought that about, saved, closed.
//!
//! All of it takes effect before the call returns; the transport calls it in the order in which it was said. A change
//! that cannot be read is not passed over: without it the text is no longer the editor's (rule W22).

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashline_text::{DocVersion, Position, Span};
use hashline_weave::Turn;
use hashline_workspace::document::{Cause, ContentChange};
use serde::Deserialize;
use serde_json::value::RawValue;
use tower_lsp::lsp_types::Url;

use crate::from_proto;
use crate::protocol::{self, CauseKind};
use crate::session::{Open, Session, Signal};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidOpen<'a> {
    #[serde(borrow)]
    text_document: Opened<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    uri: String,
    #[serde(default)]
    language_id: String,
    version: i32,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidChange<'a> {
    #[serde(borrow)]
    text_document: Changed<'a>,
    content_changes: Vec<from_proto::Change>,
}

#[derive(Deserialize)]
struct Changed<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
    version: i32,
}

/// The document that a notification speaks of, whatever it says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    text_document: Document,
}

#[derive(Deserialize)]
struct Document {
    uri: String,
    #[serde(default)]
    version: Option<i64>,
}

/// The URI of a document as the editor spells it.
fn spelling(params: &str) -> serde_json::Result<String> {
    Ok(serde_json::from_str::<Named>(params)?.text_document.uri)
}

impl Session {
    /// Takes in what a notification says of a document. False for other notifications.
    pub fn notified(&self, method: &str, params: Option<&RawValue>) -> bool {
        let take: fn(&Self, &str) -> serde_json::Result<()> = match method {
            "textDocument/didChange" => Self::did_change,
            "textDocument/didOpen" => Self::did_open,
            "textDocument/didSave" => Self::did_save,
            "textDocument/didClose" => Self::did_close,
            protocol::CAUSE => Self::cause,
            _ => return false,
        };
        if self.facts.get().is_none() {
            tracing::warn!(method, "said before the editor was initialized");
            return true;
        }
        let params = params.map_or("null", RawValue::get);
        let taken = catch_unwind(AssertUnwindSafe(|| take(self, params)));
        let failed = match &taken {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a defect of hashline".to_owned(),
        };
        tracing::warn!(method, error = failed, "not understood");
        if method == "textDocument/didChange" {
            self.lose_step(params);
        }
        true
    }

    fn did_open(&self, params: &str) -> serde_json::Result<()> {
        let Opened { uri, language_id, version, text } =
            serde_json::from_str::<DidOpen<'_>>(params)?.text_document;
        let url: Url = uri.parse().map_err(serde::de::Error::custom)?;
        let encoding = self.facts.get().map(|facts| facts.encoding).unwrap_or_default();
        self.workspace.did_open(&uri, &language_id, DocVersion(version), encoding, &text);
        self.open.insert(uri.clone(), Open::new(url.into(), self.workspace.now()));
        self.opening.end();
        self.signal(Signal::Show(uri));
        Ok(())
    }

    fn did_change(&self, params: &str) -> serde_json::Result<()> {
        let change: DidChange<'_> = serde_json::from_str(params)?;
        let uri = &*change.text_document.uri;
        let Some(open) = self.open.get(uri) else { return Ok(()) };
        open.touch(self.workspace.now());
        drop(open);
        let version = DocVersion(change.text_document.version);
        if self.is_overtaken(uri, version) {
            return Ok(());
        }
        let changes: Vec<ContentChange> = change.content_changes.into_iter().map(Into::into).collect();
        // The workspace tells the person if the change is out of step.
        let _ = self.workspace.did_change(uri, version, &changes);
        Ok(())
    }

    /// Whether a change comes after a later one, from a client that is known for it: it sends whole texts, so that the later one has all that
    /// this one has, and this one no more than was true once (rule W22).
    fn is_overtaken(&self, uri: &str, version: DocVersion) -> bool {
        let reorders = self.facts.get().is_some_and(|facts| facts.full_sync);
        reorders && self.workspace.text_of(uri).is_some_and(|(known, _)| version < known)
    }

    fn did_save(&self, params: &str) -> serde_json::Result<()> {
        self.workspace.did_save(&spelling(params)?);
        Ok(())
    }

    fn did_close(&self, params: &str) -> serde_json::Result<()> {
        let uri = spelling(params)?;
        self.open.remove(&uri);
        self.workspace.did_close(&uri);
        self.signal(Signal::Show(uri));
        Ok(())
    }

    fn cause(&self, params: &str) -> serde_json::Result<()> {
        let said: protocol::Cause = serde_json::from_str(params)?;
        let cause = match (said.cause, said.delivery) {
            (CauseKind::Delivery, Some(number)) => Cause::Delivery(number),
            (CauseKind::Delivery, None) => {
                return Err(serde::de::Error::custom("a delivery is named by its number"));
            }
            (CauseKind::Undo, _) => Cause::Turn(Turn::Undo),
            (CauseKind::Redo, _) => Cause::Turn(Turn::Redo),
            (CauseKind::Reload, _) => Cause::Reload,
            (CauseKind::SaveConflict, _) => Cause::SaveConflict,
        };
        self.workspace.did_cause(&said.uri, DocVersion(said.version), cause);
        Ok(())
    }

    /// Marks a document as no longer the editor's, after a change that could not be read.
    fn lose_step(&self, params: &str) {
        let Ok(change) = serde_json::from_str::<Named>(params) else { return };
        let document = change.text_document;
        let uri = document.uri;
        // The version is taken over, so that the next whole text mends it.
        let known = self.workspace.text_of(&uri).map_or(0, |(version, _)| version.0);
        let version = document.version.and_then(|version| i32::try_from(version).ok());
        let nowhere = Position::new(u32::MAX, 0);
        let change = ContentChange { span: Some(Span::new(nowhere, nowhere)), text: String::new() };
        let version = DocVersion(version.unwrap_or(known.saturating_add(1)));
        let _ = self.workspace.did_change(&uri, version, &[change]);
    }
}
