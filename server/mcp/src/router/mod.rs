//! `hashline mcp`: for each call the sidecar that has the document, or the disk.
//!
//! A call with a path goes to one place ([`choose_sidecar`]), a call without one to all of them, whose answers become one ([`all_sidecars`]).
//! Resources are read in the same places ([`resources`]), and watched in all that may come to have them
//! ([`watch`]), once for all who are subscribed ([`shared_watcher`]).
//! The router looks for sidecars at every call, so an editor that starts or stops is noticed at the next; and again right before it
//! writes a file, so one that starts meanwhile gets the call. While an editor is starting that may have the file, and cannot tell it yet,
//! the call waits for it.

mod all_sidecars;
mod choose_sidecar;
mod forward;
mod forward_program_writes;
mod resources;
mod search;
mod shared_watcher;
mod sidecars;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hashline_history::path::to_text;
use hashline_history::{AgentName, Connection};
use hashline_link::{CallerInfo, CancellationToken, Sidecar, StateDir};
use hashline_workspace::disk::{DiskError, HardLinks, PathRefusal, PathStyle, Roots};
use hashline_workspace::{Caller, Grants, Histories, Settings, Workspace};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use crate::argument_limits;
use crate::caller::grant_infos;
use crate::client_roots::NOWHERE;
use crate::reply::{NOT_HERE, Reply, TAKEN_OVER};
use crate::router::choose_sidecar::Choice;
use crate::router::shared_watcher::Watchers;
use crate::router::sidecars::{Known, Sidecars};
use crate::signer::signer_of;
use crate::toolbox::Toolbox;
use crate::toolset::ToolName;
pub(crate) use choose_sidecar::Openness;
pub(crate) use shared_watcher::Following;
pub(crate) use watch::{Interest, Standing};

/// How often a call is made where making it again is harmless.
const ATTEMPTS: u32 = 4;
/// How long an editor that is going away is given before it is looked for again.
const PAUSE: Duration = Duration::from_millis(25);

/// Why nothing is served by an editor without folders.
const NO_FOLDER: &str = "\
Nothing was read or changed: the editor that answers here has no folder open. Ask the person to open the project's folder in it.";

/// Who makes a call, as the face knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name that the agent gave itself.
    pub agent: AgentName,
    /// The connection.
    pub connection: Connection,
    /// What it was given of what is served; none for everything.
    pub grants: Option<Grants>,
    /// Whether it is offered the toolset `review`.
    pub reviews: bool,
}

/// A call on its way to wherever it belongs.
struct Asking<'a> {
    origin: &'a Origin,
    tool: ToolName,
    arguments: JsonObject,
    /// Ends a wait and nothing else.
    cancel: &'a CancellationToken,
}

impl Asking<'_> {
    /// The same with other arguments.
    fn with(&self, arguments: JsonObject) -> Self {
        Self { arguments, ..*self }
    }

    /// The path that it names, if it is about one document.
    fn path(&self) -> Option<&str> {
        self.tool.path_argument().and_then(|name| self.arguments.get(name)).and_then(Value::as_str)
    }

    /// The same with another spelling of that path.
    fn with_path(mut self, path: String) -> Self {
        if let Some(name) = self.tool.path_argument() {
            self.arguments.insert(name.to_owned(), Value::String(path));
        }
        self
    }
}

/// The tools for one agent, wherever its documents are.
pub struct Router {
    /// Serves the disk.
    own: Toolbox,
    sidecars: Arc<Sidecars>,
    base: Roots,
    /// Whether the base roots were given by the person, so that a client can only narrow them.
    fixed: bool,
    roots: RwLock<Roots>,
    /// Why no folder is served, while none is.
    nothing: RwLock<Option<String>>,
    watchers: Watchers,
}

impl Router {
    /// A router over these roots, in which nothing of `state` is served: whoever reads the keys there may do anything. `fixed`: the person gave them, and clients can only narrow them. Without any, every call is
    /// refused until the client names some.
    ///
    /// # Errors
    /// A root lies in `state`.
    pub fn new(roots: &Roots, fixed: bool, settings: Settings, state: StateDir) -> Result<Self, DiskError> {
        let roots = roots.closing(state.path())?;
        // Without an editor there is nobody to tell.
        let histories = Histories::of("hashline mcp").signed_by(signer_of(&state));
        let (workspace, _) = Workspace::new(roots.clone(), settings, histories);
        let sidecars = Arc::new(Sidecars::new(state));
        workspace.mind(sidecars.clone());
        let nothing = roots.is_empty().then(|| NOWHERE.to_owned());
        Ok(Self {
            own: Toolbox::new(workspace),
            sidecars,
            base: roots.clone(),
            fixed,
            roots: RwLock::new(roots),
            nothing: RwLock::new(nothing),
            watchers: Watchers::default(),
        })
    }

    /// The state folder, in which nothing is served.
    pub(crate) fn state(&self) -> &StateDir {
        self.sidecars.state()
    }

    pub(crate) fn base_roots(&self) -> &Roots {
        &self.base
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Opens folders as roots, without what is closed.
    pub(crate) fn open_roots<P: AsRef<Path>>(
        &self,
        folders: impl IntoIterator<Item = P>,
    ) -> Result<Roots, DiskError> {
        self.own.workspace().open_roots(folders)
    }

    /// Serves these folders from now on, or none for a reason that is told.
    pub(crate) fn serve_roots(&self, served: Result<Roots, String>) {
        let (roots, nothing) = served.map_or_else(|why| (Roots::default(), Some(why)), |roots| (roots, None));
        self.own.workspace().set_roots(roots.clone());
        *self.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
        *self.nothing.write().unwrap_or_else(PoisonError::into_inner) = nothing;
    }

    /// Serves the folders of an editor from now on.
    pub fn serve_folders(&self, folders: &[PathBuf]) {
        let opened = match folders {
            [] => Err(NO_FOLDER.to_owned()),
            folders => {
                self.open_roots(folders).map_err(|error| format!("Nothing was read or changed: {error}"))
            }
        };
        self.serve_roots(opened);
    }

    /// Serves agents files of more than one name from now on, or refuses them.
    pub fn serve_hard_links(&self, hard_links: HardLinks) {
        let mut settings = self.own.workspace().settings();
        settings.everywhere.hard_links = hard_links;
        self.own.workspace().set_settings(settings);
    }

    /// Why no folder is served, while none is.
    fn nothing(&self) -> Option<String> {
        self.nothing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The folders that are served.
    pub(crate) fn roots(&self) -> Roots {
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
        self.reply(origin, tool, arguments, cancel).await.into_result()
    }

    /// The same, as it is before MCP has it.
    pub(crate) async fn reply(
        &self,
        origin: &Origin,
        tool: ToolName,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Reply {
        self.answer(Asking { origin, tool, arguments, cancel }).await
    }

    async fn answer(&self, asking: Asking<'_>) -> Reply {
        if let Err(problems) = argument_limits::check(asking.tool, &asking.arguments) {
            return Reply::refused(problems);
        }
        if let Some(why) = self.nothing() {
            return Reply::refused(why);
        }
        match asking.tool.path_style() {
            PathStyle::Any => self.routed(asking).await,
            PathStyle::WithinRoot => self.within_root(asking).await,
        }
    }

    /// A call whose path begins at the root. The tools themselves, here and in a sidecar whose roots are others, are given the absolute
    /// path; the agent reads it as it was spelt.
    async fn within_root(&self, asking: Asking<'_>) -> Reply {
        let Some(given) = asking.path().map(str::to_owned) else { return self.routed(asking).await };
        let absolute = match self.roots().resolve(&given, PathStyle::WithinRoot) {
            Ok(place) => place.to_text(),
            Err(refusal) => return Reply::refused(refusal.to_string()),
        };
        self.routed(asking.with_path(absolute.clone())).await.renamed(&absolute, &given)
    }

    /// A call whose path, if it has one, is absolute or begins at the first root.
    async fn routed(&self, asking: Asking<'_>) -> Reply {
        let mut known = self.sidecars.known();
        if known.list.is_empty() && known.marks.is_empty() {
            let reply = self.own_call(&asking).await;
            if !reply.has(TAKEN_OVER) {
                return reply;
            }
            // An editor has come meanwhile.
            known = self.sidecars.known();
        }
        match asking.path().map(str::to_owned) {
            Some(path) => self.by_path(asking, &path, known).await,
            None => self.everywhere(&asking).await,
        }
    }

    async fn own_call(&self, asking: &Asking<'_>) -> Reply {
        let Asking { origin, tool, arguments, cancel } = asking;
        self.own.run(&own_caller(origin), *tool, arguments.clone(), cancel).await
    }

    /// As sidecars know the caller.
    fn caller(&self, origin: &Origin) -> CallerInfo {
        let Origin { agent, connection, grants, reviews } = origin.clone();
        let grants = grants.as_ref().map(grant_infos);
        let no_hard_links = self.own.workspace().settings().hard_links().are_refused();
        CallerInfo { agent, connection, roots: Some(self.folders()), grants, reviews, no_hard_links }
    }

    /// A call about one document; `known` is who runs when it is made.
    async fn by_path(&self, asking: Asking<'_>, path: &str, mut known: Arc<Known>) -> Reply {
        let absolute = match self.roots().resolve(path, PathStyle::Any) {
            Ok(place) => place.absolute().to_owned(),
            // Perhaps a document without a file: its editor knows.
            Err(PathRefusal::NotAFile(_)) => return self.by_uri(&asking).await,
            // Refused here, in the same words as everywhere.
            Err(_) => return self.own_call(&asking).await,
        };
        // A sidecar's first root may be another than ours, so a relative path would mean another file there.
        let mut asking = asking.with_path(to_text(&absolute).into_owned());
        if let Some(Value::String(destination)) = asking.arguments.get("destination")
            && let Ok(place) = self.roots().resolve(destination, PathStyle::Any)
        {
            asking.arguments.insert("destination".to_owned(), Value::String(place.to_text()));
            known = self.sidecars.settled(known, place.absolute()).await;
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            known = self.sidecars.settled(known, &absolute).await;
            match self.choose(&known, &absolute).await {
                Choice::Disk => {
                    let reply = self.own_call(&asking).await;
                    if !reply.has(TAKEN_OVER) || attempt >= ATTEMPTS {
                        return reply;
                    }
                    tokio::time::sleep(PAUSE).await;
                    known = self.sidecars.known();
                }
                Choice::Refused(words) => return Reply::refused(words),
                Choice::Sidecar(sidecar) => match self.pass_on(&sidecar, &asking).await {
                    Ok(reply) if reply.has(TAKEN_OVER) && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                        known = self.sidecars.known();
                    }
                    Ok(reply) => return reply,
                    Err(failure) if failure.may_retry(asking.tool) && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                        known = self.sidecars.known();
                    }
                    Err(failure) => return failure.reply(&sidecar, &asking),
                },
            }
        }
    }

    /// A call about a document that has no file: whichever editor has it.
    async fn by_uri(&self, asking: &Asking<'_>) -> Reply {
        for sidecar in self.within_roots() {
            match self.pass_on(&sidecar, asking).await {
                Ok(reply) if reply.has(NOT_HERE) => {}
                Ok(reply) => return reply,
                Err(failure) if failure.is_gone() => {}
                Err(failure) => return failure.reply(&sidecar, asking),
            }
        }
        self.own_call(asking).await
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

/// The caller for the own workspace, whose roots and settings are this connection's.
fn own_caller(origin: &Origin) -> Caller {
    let Origin { agent, connection, grants, reviews } = origin.clone();
    Caller { agent, connection, roots: None, grants, reviews, hard_links: HardLinks::Served }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use hashline_link::{Listener, SidecarId, announce};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_file_is_not_written_when_an_editor_has_come_over_its_folder() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("w");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        let router =
            Router::new(&Roots::open([&root]).unwrap(), true, Settings::default(), state.clone()).unwrap();
        let origin = Origin { agent: "a".into(), connection: "1".into(), grants: None, reviews: true };
        let never = CancellationToken::new();
        let call = async |tool, arguments: Value| {
            let Value::Object(arguments) = arguments else { panic!("not an object") };
            router.own_call(&Asking { origin: &origin, tool, arguments, cancel: &never }).await
        };
        let read = call(ToolName::ReadTextFile, json!({"path": "a.txt"})).await;
        let (_, hash) = read.text.split_once("file_hash ").unwrap();
        let operation = json!({"op": "replace", "anchor": read.text.lines().nth(1).unwrap(), "content": "1"});
        let edit = json!({"path": "a.txt", "file_hash": &hash[..8], "operations": [operation]});

        // It comes after the call was found to be one for the disk.
        let id = SidecarId::random();
        let listener = Listener::bind(&state, &id).unwrap();
        let editor = announce(&state, Sidecar::new(id, &listener, "nvim", vec![root.clone()])).unwrap();
        let refused = call(ToolName::EditTextFile, edit.clone()).await;
        assert!(refused.failed && refused.has(TAKEN_OVER), "{}", refused.text);
        assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"one\n");

        // Or one that is starting is going to be.
        drop(editor);
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let mark =
            json!({"pid": std::process::id(), "roots": [root], "started": u64::try_from(started).unwrap()});
        let path = state.sidecars().join("editor-1.starting");
        std::fs::write(&path, mark.to_string()).unwrap();
        let refused = call(ToolName::EditTextFile, edit.clone()).await;
        assert!(refused.failed && refused.has(TAKEN_OVER), "{}", refused.text);
        assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"one\n");

        std::fs::remove_file(path).unwrap();
        let made = call(ToolName::EditTextFile, edit).await;
        assert!(!made.failed, "{}", made.text);
        assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"1\n");
    }
}
