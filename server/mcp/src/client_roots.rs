//! Which folders a connection serves (design 7): `--root`, else what the client says, else the working directory. Where `--root`
//! is given, the client can only narrow it.

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
        let folders = ask(peer).await;
        router.serve_roots(&effective(router, folders.as_deref()));
        self.settled.store(change + 1, Ordering::Release);
    }

    fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire) == self.changes.load(Ordering::Acquire) + 1
    }
}

/// The folders that the client names; none if it does not speak of roots.
#[expect(deprecated, reason = "clients with a handshake have no other way to say where they work")]
async fn ask(peer: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
    // A client that does not declare roots never answers, and one without a handshake must not be asked.
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let asked = peer.list_roots();
    match tokio::time::timeout(LIMIT, asked).await {
        Ok(Ok(answer)) => {
            Some(answer.roots.iter().filter_map(|root| path_of_file_uri(&root.uri).ok()).collect())
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

/// What is served when the client names these folders.
fn effective(router: &Router, folders: Option<&[PathBuf]>) -> Roots {
    let base = router.base_roots();
    // An empty list says nothing: the Inspector declares roots and has none.
    let Some(folders) = folders.filter(|folders| !folders.is_empty()) else { return base.clone() };
    if router.is_fixed() {
        return base.narrowed_to(folders);
    }
    // One at a time: a folder that is gone must not cost the others.
    let there = folders.iter().filter(|folder| Roots::open([folder]).is_ok());
    match Roots::open(there) {
        Ok(roots) if !roots.is_empty() => roots,
        _ => base.clone(),
    }
}
