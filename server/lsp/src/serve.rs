//! One connection, from its first message to its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::{CancellationToken, StateDir};
use hashline_workspace::{Event, Workspace};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::announcement::Presence;
use crate::handlers::Face;
use crate::http::{Http, ServeHttp};
use crate::ide::Ide;
use crate::link_service::{self, Reception, RunTool};
use crate::outgoing::Outgoing;
use crate::session::Session;
use crate::transport;

/// How long calls of agents may take to end when the editor is gone.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// What a sidecar is made of.
pub struct Options {
    /// The documents. Roots and settings come from the editor.
    pub workspace: Workspace,
    /// What comes up in them: the other half of [`Workspace::new`].
    pub events: mpsc::UnboundedReceiver<Event>,
    /// How agents reach it; none for an editor without agents, as in tests.
    pub agents: Option<Agents>,
    /// What to call the editor; none to believe what it says of itself.
    pub editor: Option<String>,
    /// The version of the sidecar.
    pub version: String,
    /// Ends the session when it fires, as if the editor had gone.
    pub stop: CancellationToken,
}

/// How agents reach a sidecar.
pub struct Agents {
    /// Where it is announced.
    pub state: StateDir,
    /// What runs their calls.
    pub run_tool: RunTool,
    /// What serves them over HTTP, where a setting says so; none where that cannot be.
    pub http: Option<Arc<dyn ServeHttp>>,
    /// Where Claude Code keeps what is its own, to be found there by its IDE link; none for no link.
    pub claude: Option<PathBuf>,
    /// The threads on which they are answered. The editor is answered on those that [`serve`] runs on: where these are others, nothing
    /// that an agent sends keeps a key waiting.
    pub threads: Handle,
}

/// Serves one editor, until it says `exit`, closes its end, stops reading, or [`Options::stop`] fires. The announcement is gone
/// and the socket closed when this returns, and also when it is dropped or panics.
pub async fn serve<I, O>(stdin: I, stdout: O, options: Options)
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let Options { workspace, events, agents, editor, version, stop } = options;
    let (signals, signalled) = mpsc::unbounded_channel();
    let http = agents.as_ref().and_then(|agents| Some((agents.http.clone()?, agents.threads.clone())));
    let http = Http::new(http);
    let ide =
        Ide::new(agents.as_ref().and_then(|agents| Some((agents.claude.clone()?, agents.threads.clone()))));
    let (presence, listening) = match agents {
        None => (Presence::default(), None),
        Some(Agents { state, run_tool, threads, .. }) => {
            let opened = {
                // Whoever connects wakes those threads.
                let _inside = threads.enter();
                Presence::open(state)
            };
            match opened {
                Ok((presence, listener)) => (presence, Some(Ok((listener, run_tool, threads)))),
                Err(error) => (Presence::default(), Some(Err(error))),
            }
        }
    };
    if let Some(neighbours) = &presence.neighbours {
        workspace.mind(neighbours.clone());
    }
    let session = Arc::new(Session::new(workspace, version, editor, presence, http, ide, signals));
    // Whatever ends this, the tasks and the announcement end with it.
    let ending = Ending { session: session.clone(), stop: stop.child_token() };
    let service = Face::service(&session);
    let outgoing = Outgoing::new(session.clone(), service.0.inner().client());
    let sending = tokio::spawn(outgoing.run(events, signalled));
    let answering = match listening {
        None => None,
        Some(Ok((listener, run_tool, threads))) => {
            let reception = Arc::new(Reception { session: session.clone(), run_tool });
            Some(threads.spawn(hashline_link::serve(listener, reception, ending.stop.clone())))
        }
        Some(Err(error)) => {
            link_service::unreachable_for_agents(&session, &error);
            None
        }
    };
    transport::run(stdin, stdout, service, &session, ending.stop.clone()).await;
    sending.abort();
    drop(ending);
    let last_calls = async {
        session.http.ended().await;
        session.ide.ended().await;
        if let Some(answering) = answering {
            let _ = answering.await;
        }
    };
    let _ = tokio::time::timeout(LAST_CALLS, last_calls).await;
}

struct Ending {
    session: Arc<Session>,
    stop: CancellationToken,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.session.presence.withdraw();
        self.session.http.end();
        self.session.ide.end();
        self.stop.cancel();
    }
}
