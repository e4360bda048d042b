//! HTTP for agents, from the sidecar itself: off until a setting says where to listen.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hashline_link::CancellationToken;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::lock::lock;

/// A server that listens, and that serves when it is polled.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    /// Fires when it listens there no more, which is before the last calls are answered.
    pub closed: CancellationToken,
    /// Ends when it was told to, and its last calls are answered.
    pub serving: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// What serves agents over HTTP.
pub trait ServeHttp: Send + Sync {
    /// Listens at an address, to serve these folders until `stop` fires. A failure is a sentence for the person.
    fn listen(
        &self,
        address: String,
        folders: Vec<PathBuf>,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<Listening, String>> + Send + '_>>;

    /// Serves other folders from now on.
    fn serve_folders(&self, folders: &[PathBuf]);
}

/// The server of this sidecar, if there is one.
#[derive(Default)]
pub(crate) struct Http {
    /// What serves, and on which threads.
    face: Option<(Arc<dyn ServeHttp>, Handle)>,
    wanted: Mutex<Wanted>,
    /// Why it could not listen, as the person was told last.
    told: Mutex<Option<String>>,
    serving: TaskTracker,
}

/// The same future, whose sockets wake these threads and not those that poll it: an editor's thread is not woken by each connection.
async fn with_sockets_on<F: Future>(threads: &Handle, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|context| {
        let _inside = threads.enter();
        work.as_mut().poll(context)
    })
    .await
}

/// What the person wants, and what became of it.
#[derive(Default)]
struct Wanted {
    /// Where to listen, as it was said last; none for nowhere.
    address: Option<String>,
    /// Where it listens.
    url: Option<String>,
    stop: CancellationToken,
    /// Fires when it listens there no more.
    closed: Option<CancellationToken>,
}

/// How long is waited for an address to be free again.
const RELEASE: Duration = Duration::from_secs(2);

impl Http {
    pub fn new(face: Option<(Arc<dyn ServeHttp>, Handle)>) -> Self {
        Self { face, ..Self::default() }
    }

    /// Where agents reach it.
    pub fn url(&self) -> Option<String> {
        lock(&self.wanted).url.clone()
    }

    /// Listens at an address, or nowhere, and serves these folders. Called by one task alone.
    ///
    /// # Errors
    ///
    /// It cannot listen there, in a sentence that the person was not told yet.
    pub async fn settle(&self, folders: Vec<PathBuf>, address: Option<String>) -> Result<(), String> {
        let Some((face, threads)) = &self.face else { return Ok(()) };
        face.serve_folders(&folders);
        let (stop, before) = {
            let mut wanted = lock(&self.wanted);
            if wanted.address == address {
                return Ok(());
            }
            wanted.stop.cancel();
            let now = Wanted { address: address.clone(), ..Wanted::default() };
            let before = std::mem::replace(&mut *wanted, now);
            (wanted.stop.clone(), before.closed)
        };
        let Some(address) = address else {
            *lock(&self.told) = None;
            return Ok(());
        };
        if let Some(before) = before {
            // It may be the same address, spelled in another way.
            let _ = tokio::time::timeout(RELEASE, before.cancelled()).await;
        }
        match with_sockets_on(threads, face.listen(address, folders, stop)).await {
            Ok(Listening { address, closed, serving }) => {
                let mut wanted = lock(&self.wanted);
                wanted.url = Some(format!("http://{address}/mcp"));
                wanted.closed = Some(closed);
                *lock(&self.told) = None;
                self.serving.spawn_on(serving, threads);
            }
            Err(sentence) => {
                // Tried again when settings or folders change: whoever has the address may be gone by then.
                lock(&self.wanted).address = None;
                // Each time anew is for the log: an editor with several windows has one that listens, and others that keep trying.
                if lock(&self.told).replace(sentence.clone()).as_ref() == Some(&sentence) {
                    tracing::info!("{sentence}");
                } else {
                    return Err(sentence);
                }
            }
        }
        Ok(())
    }

    /// Serves no more.
    pub fn end(&self) {
        lock(&self.wanted).stop.cancel();
        self.serving.close();
    }

    /// Waits for the last calls after the end.
    pub async fn ended(&self) {
        self.serving.wait().await;
    }
}
