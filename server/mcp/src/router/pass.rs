//! Passing a call on to a sidecar, and what is said when that fails.

use std::time::Duration;

use hashline_link::{Call, Error, Raw, Sidecar};
use rmcp::model::{CallToolResult, JsonObject};

use crate::reply::Reply;
use crate::router::{Origin, Router};
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
    /// Whether the sidecar is gone and was not asked.
    pub(super) fn is_gone(&self) -> bool {
        !self.sent && super::choose::is_gone(&self.error)
    }

    /// Whether making the call again cannot make anything happen twice.
    pub(super) fn may_retry(&self, tool: ToolName) -> bool {
        match self.error {
            Error::Closed | Error::Refused { .. } => !self.sent || tool.is_read_only(),
            _ => false,
        }
    }

    /// The same in words for the agent.
    pub(super) fn reply(&self, sidecar: &Sidecar, tool: ToolName) -> Reply {
        let editor = &sidecar.editor;
        let error = &self.error;
        let words = match (error, self.sent) {
            (Error::Remote(refusal), _) => {
                format!("{tool} was not carried out by {editor}: {refusal}. Nothing was changed; try again.")
            }
            (_, true) if !tool.is_read_only() => format!(
                "It is not known whether this {tool} was carried out: {editor} was asked, and then {error}. Do not send it again \
                 blindly: read the file and see whether your change is there, or call list_edits, and then go on from there."
            ),
            _ => format!("{editor} could not be asked: {error}. Nothing was changed; try again in a moment."),
        };
        Reply::refused(words)
    }
}

impl Router {
    /// Passes a call on, once.
    pub(super) async fn pass_on(
        &self,
        sidecar: &Sidecar,
        origin: &Origin,
        tool: ToolName,
        arguments: &JsonObject,
    ) -> Result<CallToolResult, Failure> {
        let client = self.sidecars.client(sidecar).await.map_err(|error| Failure { error, sent: false })?;
        let caller = self.caller(origin);
        let call = Call { caller, tool: tool.as_str().to_owned(), arguments: arguments.clone() };
        let limit = match tool {
            ToolName::AwaitReview => LIMIT + Duration::from_secs(LONGEST.unsigned_abs()),
            _ => LIMIT,
        };
        let sent = |error| Failure { error, sent: true };
        let raw = match tokio::time::timeout(limit, client.call(&call)).await {
            Ok(answer) => answer.map_err(sent)?,
            Err(_) => return Err(sent(Error::Timeout { during: "waiting for its answer" })),
        };
        parse(&raw).map_err(sent)
    }
}

/// The transport takes results only as values, so what the sidecar wrote is read once.
fn parse(raw: &Raw) -> Result<CallToolResult, Error> {
    raw.parse()
}
