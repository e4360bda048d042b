//! Resources: what a client reads by a URI, beside the tools that its model calls.
//!
//! `list://{+path}` is the names in a folder, `file://{+path}` all that a document holds, with unsaved text and held edits,
//! `review://{+path}` how the edits of a document stand. Paths of `list://` are within the roots; those of the other two are absolute, or
//! relative to the first root, as tools take them. The list of resources is the documents that are open.
//!
//! A [`Request`] is what a router asks of one place, its own disk or a sidecar: it goes over the link as a call with the name of a
//! method for a tool. Nothing is given here that the tools refuse.

pub(crate) mod complete;
pub(crate) mod contents;
pub(crate) mod folder;
pub(crate) mod open;
pub(crate) mod review;
pub(crate) mod state;
pub(crate) mod subscriptions;
pub(crate) mod template;
mod uri;

use std::time::Duration;

use hashline_history::inert_json;
use hashline_link::CancellationToken;
use hashline_workspace::disk::{DiskError, PathRefusal};
use hashline_workspace::{Caller, Refusal, Workspace};
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::Reply;
pub(crate) use state::{State, Topic, Watched};
pub(crate) use uri::Resource;

/// In `_meta`: that the resource does not exist.
pub(crate) const MISSING: &str = "missing";

/// What is asked of one place.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "method", content = "params")]
pub(crate) enum Request {
    /// The contents of a resource.
    #[serde(rename = "resources/read")]
    Read { resource: Resource },
    /// The open documents.
    #[serde(rename = "resources/list")]
    Open {},
    /// How things stand, as soon as one of them stands otherwise than it did, and at the latest after this time.
    #[serde(rename = "resources/states")]
    States { watched: Vec<Watched>, wait_ms: u64 },
}

impl Request {
    /// The request that a call is, if its name is that of a method.
    pub(crate) fn of_call(method: &str, params: JsonObject) -> Option<Result<Self, serde_json::Error>> {
        if !method.starts_with("resources/") {
            return None;
        }
        let mut tagged = JsonObject::new();
        tagged.insert("method".to_owned(), method.into());
        tagged.insert("params".to_owned(), params.into());
        Some(serde_json::from_value(tagged.into()))
    }

    /// The method, and what belongs to it.
    pub(crate) fn into_call(self) -> Result<(String, JsonObject), serde_json::Error> {
        #[derive(Deserialize)]
        struct Tagged {
            method: String,
            params: JsonObject,
        }
        let tagged: Tagged = serde_json::from_value(serde_json::to_value(self)?)?;
        Ok((tagged.method, tagged.params))
    }

    /// How long the answer may wait for a change.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            Self::States { wait_ms, .. } => Duration::from_millis(*wait_ms),
            Self::Read { .. } | Self::Open {} => Duration::ZERO,
        }
    }
}

/// Answers for one workspace. `cancel` ends a wait.
pub(crate) async fn answer(
    workspace: &Workspace,
    caller: &Caller,
    request: Request,
    cancel: &CancellationToken,
) -> Reply {
    let wait = request.wait();
    match request {
        Request::Read { resource } => match resource {
            Resource::Folder(path) => folder::read(workspace, caller, &path).await,
            Resource::Document(path) => contents::read(workspace, caller, &path).await,
            Resource::Review(path) => review::read(workspace, caller, path).await,
        },
        Request::Open {} => json_of(&open::documents(workspace, caller)),
        Request::States { watched, .. } => tokio::select! {
            states = state::await_change(workspace, caller, &watched, wait) => json_of(&states),
            () = cancel.cancelled() => Reply::refused("Nobody waits for this any more."),
        },
    }
}

/// An answer that is JSON: some clients hand it to their agents as it is written.
pub(crate) fn json_of(value: &impl Serialize) -> Reply {
    match serde_json::to_string(value) {
        Ok(json) => Reply::new(inert_json(&json)),
        Err(error) => Reply::refused(format!("hashline could not write its answer: {error}. Try again.")),
    }
}

/// A refusal; where nothing is there to be read it says so to programs, too.
pub(crate) fn refused(refusal: Refusal) -> Reply {
    let missing = matches!(
        &refusal,
        Refusal::Path(
            PathRefusal::NotAFile(_) | PathRefusal::NotAFolder { .. } | PathRefusal::UnknownRootName { .. }
        ) | Refusal::Disk(
            DiskError::NotFound { .. } | DiskError::FolderMissing { .. } | DiskError::NotAFolder { .. }
        )
    );
    let reply = Reply::from(refusal);
    if missing { reply.with(MISSING, Value::Bool(true)) } else { reply }
}
