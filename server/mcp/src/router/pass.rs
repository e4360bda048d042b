//! Passing a call on to a sidecar, and what is said when that fails.

use std::time::Duration;

use hashline_link::{Call, Error, RemoteError, RemoteKind, Sidecar};
use rmcp::model::JsonObject;

use crate::limits::SEARCH_TIME;
use crate::reply::{Reply, UNREACHED};
use crate::router::{ATTEMPTS, Asking, Origin, PAUSE, Router};
use crate::tools::await_review::LONGEST;
use crate::toolset::ToolName;

/// How long a sidecar may take for a call that does not wait for the person.
const LIMIT: Duration = Duration::from_secs(30);

/// Why a call was not answered.
#[derive(Debug)]
pub(super) struct Failure {
    error: Error,
    /// Whether it may have been carried out all the same.
    sent: bool,
}

impl Failure {
    /// What cannot be written was not asked.
    pub(super) fn of_json(error: &serde_json::Error) -> Self {
        Self { error: Error::Protocol(error.to_string()), sent: false }
    }

    /// Whether the sidecar is gone and was not asked.
    pub(super) fn is_gone(&self) -> bool {
        !self.sent && super::choose::is_gone(&self.error)
    }

    /// Whether it is certain that nothing was done.
    fn is_harmless(&self) -> bool {
        // A handler that broke off, or a sidecar that was going away, may have done it before.
        let refused = |refusal: &RemoteError| {
            matches!(refusal.kind, RemoteKind::BadRequest | RemoteKind::NotFound | RemoteKind::Busy)
        };
        !self.sent || matches!(&self.error, Error::Remote(refusal) if refused(refusal))
    }

    /// Whether it looks as if the sidecar was ending.
    pub(super) fn is_going_away(&self) -> bool {
        match &self.error {
            Error::Closed | Error::Refused { .. } => true,
            Error::Remote(refusal) => matches!(refusal.kind, RemoteKind::Failed | RemoteKind::Cancelled),
            _ => false,
        }
    }

    /// Whether making the call again may help, and cannot make anything happen twice.
    pub(super) fn may_retry(&self, tool: ToolName) -> bool {
        self.is_going_away() && (self.is_harmless() || tool.is_read_only())
    }

    /// The same in words, where nothing was to be changed.
    pub(super) fn of_question(&self, sidecar: &Sidecar) -> String {
        format!("{} could not be asked: {}. Try again in a moment.", sidecar.editor, self.error)
    }

    /// The same in words for the agent.
    pub(super) fn reply(&self, sidecar: &Sidecar, tool: ToolName) -> Reply {
        let Failure { error, sent } = self;
        let editor = &sidecar.editor;
        let words = if !tool.is_read_only() && !self.is_harmless() {
            format!(
                "It is not known whether this {tool} was carried out: {editor} was asked, and then {error}. Do not send it again \
                 blindly: read the file and see whether your change is there, or call list_edits, and go on from there."
            )
        } else if *sent {
            format!("{editor} did not carry out {tool}: {error}. Nothing was changed; try again in a moment.")
        } else {
            format!("{editor} could not be asked: {error}. Nothing was changed; try again in a moment.")
        };
        Reply::refused(words).with(UNREACHED, true)
    }
}

impl Router {
    /// Passes a call on, once.
    pub(super) async fn pass_on(&self, sidecar: &Sidecar, asking: &Asking<'_>) -> Result<Reply, Failure> {
        let Asking { origin, tool, arguments, .. } = asking;
        let limit = match tool {
            // It looks for as long, and reads for as long; an editor that does not answer must not hold up what others found.
            ToolName::SearchText => 3 * SEARCH_TIME,
            ToolName::AwaitReview => LIMIT + Duration::from_secs(LONGEST.unsigned_abs()),
            _ => LIMIT,
        };
        self.exchange(sidecar, origin, tool.as_str(), arguments.clone(), limit).await
    }

    /// Asks a sidecar for something by its name, once.
    pub(super) async fn exchange(
        &self,
        sidecar: &Sidecar,
        origin: &Origin,
        name: &str,
        arguments: JsonObject,
        limit: Duration,
    ) -> Result<Reply, Failure> {
        let client = self.sidecars.client(sidecar).await.map_err(|error| Failure { error, sent: false })?;
        let call = Call { caller: self.caller(origin), tool: name.to_owned(), arguments };
        let sent = |error| Failure { error, sent: true };
        let raw = match tokio::time::timeout(limit, client.call(&call)).await {
            Ok(answer) => answer.map_err(sent)?,
            Err(_) => return Err(sent(Error::Timeout { during: "waiting for its answer" })),
        };
        raw.parse().map_err(sent)
    }

    /// Whether a sidecar has ended, and not only a connection to it. One that is about to end answers for a moment yet.
    pub(super) async fn has_ended(&self, sidecar: &Sidecar) -> bool {
        for _ in 0..ATTEMPTS {
            let announced = self.sidecars.known().list.iter().any(|known| known.id == sidecar.id);
            if !announced
                || self.sidecars.client(sidecar).await.is_err_and(|error| super::choose::is_gone(&error))
            {
                return true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }
}
