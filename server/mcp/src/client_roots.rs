//! Which folders a connection serves: `--root`, else what the client says, else the working directory. Where `--root` is given,
//! the client can only narrow it. A client that names folders of which none can be served gets none: whoever names a folder
//! means no other.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hashline_workspace::disk::{Roots, path_of_file_uri};
use rmcp::{Peer, RoleServer};
use tokio::sync::Mutex;

use crate::router::Router;

/// How long a client may take to name its roots.
const LIMIT: Duration = Duration::from_millis(1500);

/// The client's roots, asked once and again when they change.
#[derive(Debug, Default)]
pub(crate) struct ClientRoots {
    /// How often the client said that they have changed.
    changes: AtomicU64,
    /// As of which change the router serves them, plus one; 0 before they were asked for.
    settled: AtomicU64,
    asking: Mutex<()>,
}

impl ClientRoots {
    /// The client has other roots now.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Sees to it that the router serves what the client said last. Costs nothing where that is so already.
    pub(crate) async fn settle(&self, peer: &Peer<RoleServer>, router: &Router) {
        if self.is_settled() {
            return;
        }
        let _turn = self.asking.lock().await;
        if self.is_settled() {
            return;
        }
        // Taken before the question: a change while it is answered is asked about again.
        let change = self.changes.load(Ordering::Acquire);
        let named = ask(peer).await;
        router.serve_roots(effective(router, named.as_deref()));
        self.settled.store(change + 1, Ordering::Release);
    }

    fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire) == self.changes.load(Ordering::Acquire) + 1
    }
}

/// A folder as the client names it.
struct Named {
    uri: String,
    /// None for what is no folder of this machine.
    folder: Option<PathBuf>,
}

/// The folders that the client names; none if it does not speak of roots.
#[expect(deprecated, reason = "clients with a handshake have no other way to say where they work")]
async fn ask(peer: &Peer<RoleServer>) -> Option<Vec<Named>> {
    // A client that does not declare roots never answers, and one without a handshake must not be asked.
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let asked = peer.list_roots();
    match tokio::time::timeout(LIMIT, asked).await {
        Ok(Ok(answer)) => {
            let named = |uri: String| Named { folder: path_of_file_uri(&uri).ok(), uri };
            Some(answer.roots.into_iter().map(|root| named(root.uri)).collect())
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not name its roots");
            None
        }
        Err(_) => {
            tracing::warn!("the client did not name its roots in time");
            None
        }
    }
}

/// What is served when the client names these folders; an error says why nothing is, in words for the agent.
fn effective(router: &Router, named: Option<&[Named]>) -> Result<Roots, String> {
    let base = router.base_roots();
    // An empty list says nothing: the Inspector declares roots and has none.
    let Some(named) = named.filter(|named| !named.is_empty()) else {
        return if base.is_empty() { Err(NOWHERE.to_owned()) } else { Ok(base.clone()) };
    };
    let folders: Vec<PathBuf> = named.iter().filter_map(|named| named.folder.clone()).collect();
    let roots = if router.is_fixed() {
        base.narrowed_to(&folders)
    } else {
        // One at a time: a folder that is gone must not cost the others.
        let there = folders.iter().filter(|folder| router.open_roots([folder]).is_ok());
        router.open_roots(there).unwrap_or_default()
    };
    if roots.is_empty() { Err(none_of(named, router.is_fixed())) } else { Ok(roots) }
}

/// Why nothing is served to a client that names no folder.
pub(crate) const NOWHERE: &str = "\
Nothing was read or changed: hashline serves no folder here. It was started at the top of the disk or in the home folder, which it \
serves only if told to, and this client names no folder. Ask the person to give --root DIR with the project's folder in the \
client's settings (hashline mcp --root DIR), or to start the client in that folder.";

/// Why nothing is served to a client that names these folders.
fn none_of(named: &[Named], fixed: bool) -> String {
    let names: Vec<&str> = named.iter().map(|named| named.uri.as_str()).collect();
    let (why, next) = if fixed {
        ("lies in the folders of --root", "give --root DIR with a folder that holds them")
    } else {
        ("is a folder that can be opened", "open a folder that is there, or to give --root DIR")
    };
    format!(
        "Nothing was read or changed: hashline serves no folder here. None of the roots that this client names ({}) {why}. Ask \
         the person to {next}.",
        names.join(", ")
    )
}
