//! `hashline lsp`.

use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use hashline_link::{Call, CancellationToken, Raw, RemoteError, StateDir};
use hashline_lsp::{Agents, Listening, Options, ServeHttp};
use hashline_mcp::{
    HttpOptions, HttpServer, NameStyle, Router, TokenKey, Toolbox, Toolset, caller_of, signer_of,
};
use hashline_terminal::{Failure, log, signals, streams};
use hashline_workspace::disk::{DiskError, Roots};
use hashline_workspace::{Histories, Settings, Workspace};
use tokio::runtime::Builder;

use crate::arguments::Lsp;
use crate::threads;

/// How much nicer the threads are that serve agents: enough for the editor's to go first, and no more, as a thread may hold what the
/// editor waits for.
#[cfg(target_os = "linux")]
const AGENTS_NICENESS: i32 = 5;

/// Serves one editor until it goes.
pub fn run(options: &Lsp) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    // Which folders are served is for the editor to say, but that nothing of hashline's own state is.
    let none = Roots::default().closing(state.path()).map_err(Failure::broken)?;
    let histories = Histories::of("hashline lsp").signed_by(signer_of(&state));
    let (workspace, events) = Workspace::new(none, options.files.settings(), histories);
    let record = workspace.clone();
    let toolbox = Toolbox::new(workspace.clone());
    let runtime = threads::start(&mut Builder::new_multi_thread())?;
    let agents = threads::start(threads::for_agents().on_thread_start(giving_way()))?;
    let served = runtime.block_on(async {
        let options = Options {
            workspace,
            events,
            agents: Some(Agents {
                http: Some(Arc::new(OverHttp::new(state.clone(), record.clone()))),
                state,
                claude: hashline_ide::claude_folder(),
                run_tool: run_tool(toolbox),
                threads: agents.handle().clone(),
            }),
            editor: options.editor.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop: signals::stop_token(),
        };
        // On a thread that hears by itself that there is something to read: the one that waits here would have to be woken by it.
        tokio::spawn(hashline_lsp::serve(streams::stdin(), streams::stdout(), options)).await
    });
    // A call that nobody waits for any more must not keep the program for long, nor be cut where it writes, nor be recorded too late.
    agents.shutdown_timeout(std::time::Duration::from_secs(1));
    record.settle_record();
    // A read of standard input that never ends must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    served.map_err(Failure::broken)?;
    Ok(ExitCode::SUCCESS)
}

/// What lets the editor's threads have a processor before the one that calls it: nobody notices that an agent is answered a moment later, and
/// everybody notices a key that waits.
fn giving_way() -> impl Fn() + Send + Sync + 'static {
    // Only on Linux is this of a thread and not of the whole program.
    #[cfg(target_os = "linux")]
    {
        // Counted from this thread, as one that a nicer thread starts is as nice as that from its beginning.
        let niceness = rustix::process::getpriority_process(None).map(|niceness| niceness + AGENTS_NICENESS);
        move || {
            let thread = Some(rustix::thread::gettid());
            if let Err(error) = niceness.and_then(|nice| rustix::process::setpriority_process(thread, nice)) {
                tracing::debug!(%error, "agents are served with the priority of the editor");
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    || {}
}

/// Runs the tools for agents that come through the socket. The workspace keeps each to its own roots.
fn run_tool(toolbox: Toolbox) -> hashline_lsp::RunTool {
    Arc::new(move |editor: &str, call: Call, cancel: CancellationToken| {
        let toolbox = toolbox.clone().of_editor(editor);
        Box::pin(async move {
            let Call { caller, tool, arguments } = call;
            let result = toolbox.call(&caller_of(caller), &tool, arguments, &cancel).await;
            Raw::of(&result).map_err(|error| RemoteError::failed(error.to_string()))
        })
    })
}

/// Agents over HTTP come through a router as they do over stdio: it finds this sidecar by its socket, and other editors beside it.
struct OverHttp {
    state: StateDir,
    /// What the editor says of hard links holds here, too.
    workspace: Workspace,
    /// Made when it is first needed, which mostly is never.
    router: OnceLock<Arc<Router>>,
}

impl OverHttp {
    fn new(state: StateDir, workspace: Workspace) -> Self {
        Self { state, workspace, router: OnceLock::new() }
    }

    /// The router, which serves nothing yet when it is made.
    fn router(&self) -> Result<&Arc<Router>, DiskError> {
        if let Some(router) = self.router.get() {
            return Ok(router);
        }
        let made = Router::new(&Roots::default(), true, Settings::default(), self.state.clone())?;
        Ok(self.router.get_or_init(|| Arc::new(made)))
    }
}

impl ServeHttp for OverHttp {
    fn listen(
        &self,
        address: String,
        folders: Vec<PathBuf>,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<Listening, String>> + Send + '_>> {
        Box::pin(async move {
            let failed = |why: &dyn std::fmt::Display| {
                format!("hashline: agents are not served over HTTP (setting hashline.http.listen): {why}")
            };
            let key = TokenKey::load(&self.state).map_err(|error| failed(&error))?;
            let router = self.router().map_err(|error| failed(&error))?;
            router.serve_hard_links(self.workspace.settings().hard_links());
            router.serve_folders(&folders);
            let http = HttpOptions {
                key: Arc::new(key),
                hosts: Vec::new(),
                toolsets: Toolset::DEFAULT.into(),
                names: NameStyle::Plain,
            };
            let server = HttpServer::bind(&address, router.clone(), http).await;
            let server = server.map_err(|error| failed(&error))?;
            let (address, closed) = (server.address(), server.closed());
            Ok(Listening { address, closed, serving: Box::pin(server.serve(stop)) })
        })
    }

    fn serve_folders(&self, folders: &[PathBuf]) {
        if let Some(router) = self.router.get() {
            router.serve_hard_links(self.workspace.settings().hard_links());
            router.serve_folders(folders);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_a_nicer_one_starts_is_no_nicer_than_that() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let (give_way, before) = (giving_way(), niceness());
        let nicenesses = std::thread::scope(|threads| {
            let outer = || {
                give_way();
                let inner = threads.spawn(|| {
                    give_way();
                    niceness()
                });
                [niceness(), inner.join().unwrap()]
            };
            threads.spawn(outer).join().unwrap()
        });
        assert_eq!(nicenesses, [(before + AGENTS_NICENESS).min(19); 2]);
        assert_eq!(niceness(), before);
    }
}
