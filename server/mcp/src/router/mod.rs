//! `hashline mcp`: for each call the sidecar that has the document, or the disk.
//!
//! A call with a path goes to one place ([`choose`]), a call without one to all of them, whose answers become one ([`everywhere`]).
//! The router looks for sidecars at every call, so an editor that starts or stops is noticed at the next.

mod choose;
mod everywhere;
mod pass;
mod sidecars;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hashline_history::Memory;
use hashline_link::{CallerInfo, CancellationToken, Sidecar, StateDir};
use hashline_workspace::disk::{PathRefusal, PathStyle, Roots};
use hashline_workspace::{Caller, Settings, Workspace};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use crate::reply::{NOT_HERE, Reply};
use crate::router::choose::Choice;
use crate::router::sidecars::{Known, Sidecars};
use crate::toolbox::Toolbox;
use crate::toolset::ToolName;

/// How often a call is made where making it again is harmless.
const ATTEMPTS: u32 = 4;
/// How long an editor that is going away is given before it is looked for again.
const PAUSE: Duration = Duration::from_millis(25);

/// Who makes a call, as the face knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name that the agent gave itself.
    pub agent: String,
    /// The connection.
    pub connection: String,
}

/// The tools for one agent, wherever its documents are.
pub struct Router {
    /// Serves the disk.
    own: Toolbox,
    sidecars: Sidecars,
    base: Roots,
    /// Whether the base roots were given by the person, so that a client can only narrow them.
    fixed: bool,
    roots: RwLock<Roots>,
}

impl Router {
    /// A router over these roots. `fixed`: the person gave them, and clients can only narrow them.
    #[must_use]
    pub fn new(roots: Roots, fixed: bool, settings: Settings, state: StateDir) -> Self {
        // Without an editor there is nobody to tell.
        let (workspace, _) = Workspace::new(roots.clone(), settings, Arc::new(Memory::default()));
        Self {
            own: Toolbox::new(workspace),
            sidecars: Sidecars::new(state),
            base: roots.clone(),
            fixed,
            roots: RwLock::new(roots),
        }
    }

    pub(crate) fn base_roots(&self) -> &Roots {
        &self.base
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Serves these folders from now on.
    pub(crate) fn serve_roots(&self, roots: &Roots) {
        *self.roots.write().unwrap_or_else(PoisonError::into_inner) = roots.clone();
        self.own.workspace().set_roots(roots.clone());
    }

    /// The folders that are served.
    fn roots(&self) -> Roots {
        self.roots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.roots().iter().map(|root| root.path().to_owned()).collect()
    }

    /// Runs a tool where it belongs. `cancel` ends a wait and nothing else.
    pub async fn call(
        &self,
        origin: &Origin,
        tool: ToolName,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> CallToolResult {
        let known = self.sidecars.known();
        if known.list.is_empty() {
            return self.own_call(origin, tool, arguments, cancel).await.into_result();
        }
        let named = matches!(tool, ToolName::ReadTextFile | ToolName::EditTextFile | ToolName::ListEdits);
        match arguments.get("path") {
            Some(Value::String(path)) if named => {
                let path = path.clone();
                self.by_path(origin, tool, &path, arguments, known, cancel).await
            }
            _ => self.everywhere(origin, tool, arguments, cancel).await.into_result(),
        }
    }

    async fn own_call(
        &self,
        origin: &Origin,
        tool: ToolName,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Reply {
        let Origin { agent, connection } = origin.clone();
        // The workspace's roots are this connection's.
        let caller = Caller { agent, connection, roots: None };
        self.own.run(&caller, tool, arguments, cancel).await
    }

    /// As sidecars know the caller.
    fn caller(&self, origin: &Origin) -> CallerInfo {
        let Origin { agent, connection } = origin.clone();
        CallerInfo { agent, connection, roots: Some(self.folders()) }
    }

    /// A call about one document; `known` is who runs when it is made.
    async fn by_path(
        &self,
        origin: &Origin,
        tool: ToolName,
        path: &str,
        mut arguments: JsonObject,
        mut known: Arc<Known>,
        cancel: &CancellationToken,
    ) -> CallToolResult {
        let absolute = match self.roots().resolve(path, PathStyle::Any) {
            Ok(place) => place.absolute().to_owned(),
            // Perhaps a document without a file: its editor knows.
            Err(PathRefusal::NotAFile(_)) => return self.by_uri(origin, tool, arguments, cancel).await,
            // Refused here, in the same words as everywhere.
            Err(_) => return self.own_call(origin, tool, arguments, cancel).await.into_result(),
        };
        // A sidecar's first root may be another than ours, so a relative path would mean another file there.
        arguments.insert("path".to_owned(), Value::String(absolute.to_string_lossy().into_owned()));
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.choose(&known, &absolute).await {
                Choice::Disk => return self.own_call(origin, tool, arguments, cancel).await.into_result(),
                Choice::Refused(words) => return Reply::refused(words).into_result(),
                Choice::Sidecar(sidecar) => match self.pass_on(&sidecar, origin, tool, &arguments).await {
                    Ok(result) if tool == ToolName::ListEdits => {
                        return self.with_own_edits(origin, arguments, result).await;
                    }
                    Ok(result) => return result,
                    Err(failure) if failure.may_retry(tool) && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                        known = self.sidecars.known();
                    }
                    Err(failure) => return failure.reply(&sidecar, tool).into_result(),
                },
            }
        }
    }

    /// The edits of a file that a sidecar tells of, and those that were made here before it came.
    async fn with_own_edits(
        &self,
        origin: &Origin,
        arguments: JsonObject,
        result: CallToolResult,
    ) -> CallToolResult {
        let never = CancellationToken::new();
        let own = self.own_call(origin, ToolName::ListEdits, arguments, &never).await;
        if own.failed || everywhere::count(&own) == 0 {
            return result;
        }
        everywhere::merged(vec![Reply::of_result(result), own]).into_result()
    }

    /// A call about a document that has no file: whichever editor has it.
    async fn by_uri(
        &self,
        origin: &Origin,
        tool: ToolName,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> CallToolResult {
        for sidecar in self.within_roots() {
            match self.pass_on(&sidecar, origin, tool, &arguments).await {
                Ok(result) => {
                    let elsewhere = result.meta.as_ref().is_some_and(|meta| meta.0.contains_key(NOT_HERE));
                    if !elsewhere {
                        return result;
                    }
                }
                Err(failure) if failure.is_gone() => {}
                Err(failure) => return failure.reply(&sidecar, tool).into_result(),
            }
        }
        self.own_call(origin, tool, arguments, cancel).await.into_result()
    }

    /// The sidecars that have something to do with the roots, or whose editors have no folder open.
    fn within_roots(&self) -> Vec<Sidecar> {
        let folders = self.folders();
        let known = self.sidecars.known();
        let touches = |roots: &[PathBuf]| {
            roots.is_empty()
                || roots.iter().any(|root| {
                    folders.iter().any(|folder| root.starts_with(folder) || folder.starts_with(root))
                })
        };
        let near = known.list.iter().zip(&known.roots).filter(|(_, roots)| touches(roots));
        near.map(|(sidecar, _)| sidecar.clone()).collect()
    }
}
