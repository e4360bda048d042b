//! The asking side: many requests at once over one connection.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::discovery::{Sidecar, lock};
use crate::error::{Error, RemoteError, Result};
use crate::frame::{Frame, FrameReader};
use crate::message::{Call, Decide, DecideOutcome, Held, Hello, Holds, Raw, SidecarStatus, Status};
use crate::outbox::Outbox;
use crate::private_socket;
use crate::server::IN_FLIGHT;
use crate::stream::{self, ReadHalf};

/// How long the other side may take to greet.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

/// A connection to a sidecar. Clones share it; it ends with the last one.
///
/// Requests may be made from many tasks at once and are answered in any order. A request whose future is dropped is
/// taken back: a call that waits ends, one that does something goes on, and its answer is thrown away.
///
/// No request has a time limit of its own, as waiting is what some of them are for; put one around it. When the
/// connection ends, every request fails with [`Error::Closed`]; connecting again is up to the caller.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    _tasks: Arc<Tasks>,
}

#[derive(Debug)]
struct Shared {
    outbox: Arc<Outbox>,
    waiting: Mutex<Waiting>,
    /// One permit for each request that the other side has not answered, also if nobody waits for the answer.
    room: Arc<Semaphore>,
    next: AtomicU64,
    peer: Hello,
    closed: CancellationToken,
}

/// The requests without an answer. Each is in the map from before it is sent until it is answered.
#[derive(Debug, Default)]
struct Waiting {
    requests: HashMap<u64, Asked>,
    /// Set when the connection has ended: why.
    ended: Option<Ended>,
}

#[derive(Debug)]
struct Asked {
    answer: oneshot::Sender<Result<Raw>>,
    _room: OwnedSemaphorePermit,
}

#[derive(Clone, Debug)]
enum Ended {
    Closed,
    Protocol(String),
    TooLarge { size: usize, limit: usize },
}

impl From<Ended> for Error {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Closed => Self::Closed,
            Ended::Protocol(message) => Self::Protocol(message),
            Ended::TooLarge { size, limit } => Self::TooLarge { size, limit },
        }
    }
}

#[derive(Debug)]
struct Tasks {
    reading: AbortHandle,
    writing: AbortHandle,
    shared: Arc<Shared>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.reading.abort();
        self.writing.abort();
        self.shared.end(&Ended::Closed);
    }
}

/// The requests, borrowed. Must serialise as [`crate::message::Request`] does.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Asking<'a> {
    Call(&'a Call),
    Holds(&'a Holds),
    Status(Status),
    Decide(&'a Decide),
    Rehearse(&'a [Decide]),
}

impl Client {
    /// Connects to a sidecar.
    ///
    /// # Errors
    /// [`Error::Refused`] if nobody listens any more, which is the one proof that the sidecar is gone;
    /// [`Error::Version`] if it speaks another protocol; [`Error::Timeout`] if it does not answer.
    pub async fn connect(sidecar: &Sidecar) -> Result<Self> {
        Self::connect_to(&sidecar.socket).await
    }

    /// Connects to the socket at an address.
    pub async fn connect_to(address: &Path) -> Result<Self> {
        let stream = private_socket::connect(address).await?;
        let (reading, writing) = stream::split(stream).map_err(|error| Error::io(address, error))?;
        let outbox = Outbox::new(writing);
        outbox.send(Frame::Hello(Hello::ours()).to_line()?);
        let mut reader = FrameReader::new(reading);
        let greeted = tokio::time::timeout(HELLO_LIMIT, reader.next()).await;
        let peer =
            match greeted.map_err(|_| Error::Timeout { during: "waiting for the sidecar's greeting" })?? {
                Some(Frame::Hello(hello)) => hello,
                Some(Frame::Fault { message }) => return Err(Error::Protocol(message)),
                Some(_) => return Err(Error::Protocol("the sidecar did not greet".to_owned())),
                None => return Err(Error::Closed),
            };
        peer.check()?;
        let shared = Arc::new(Shared {
            outbox: Arc::clone(&outbox),
            waiting: Mutex::default(),
            room: Arc::new(Semaphore::new(IN_FLIGHT)),
            next: AtomicU64::new(0),
            peer,
            closed: CancellationToken::new(),
        });
        let reading = tokio::spawn(Arc::clone(&shared).read(reader)).abort_handle();
        let writing = tokio::spawn(async move { outbox.run().await }).abort_handle();
        let tasks = Tasks { reading, writing, shared: Arc::clone(&shared) };
        Ok(Self { shared, _tasks: Arc::new(tasks) })
    }

    /// How the other side greeted.
    #[must_use]
    pub fn peer(&self) -> &Hello {
        &self.shared.peer
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Waits until the connection ends.
    pub async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Runs a tool; the answer is an MCP `CallToolResult`.
    pub async fn call(&self, call: &Call) -> Result<Raw> {
        self.ask(&Asking::Call(call)).await
    }

    /// The same in two steps: waits for room among the requests that are not answered, and sends the call. Where this fails, or its
    /// future is dropped, nothing was sent.
    pub async fn begin(&self, call: &Call) -> Result<Begun> {
        self.send(&Asking::Call(call)).await
    }

    /// Asks which documents are open. There is an answer for each path, in their order.
    pub async fn holds(&self, paths: &[PathBuf]) -> Result<Vec<Held>> {
        let held: Vec<Held> = self.ask(&Asking::Holds(&Holds { paths: paths.to_vec() })).await?.parse()?;
        if held.len() == paths.len() {
            Ok(held)
        } else {
            Err(Error::Protocol(format!("{} answers about {} documents", held.len(), paths.len())))
        }
    }

    /// Asks what the sidecar is doing.
    pub async fn status(&self) -> Result<SidecarStatus> {
        self.ask(&Asking::Status(Status {})).await?.parse()
    }

    /// Passes a person's decision on.
    pub async fn decide(&self, decide: &Decide) -> Result<DecideOutcome> {
        self.ask(&Asking::Decide(decide)).await?.parse()
    }

    /// Asks what would become of decisions about one document.
    pub async fn rehearse(&self, decides: &[Decide]) -> Result<DecideOutcome> {
        self.ask(&Asking::Rehearse(decides)).await?.parse()
    }

    async fn ask(&self, asking: &Asking<'_>) -> Result<Raw> {
        self.send(asking).await?.answer().await
    }

    async fn send(&self, asking: &Asking<'_>) -> Result<Begun> {
        let shared = &self.shared;
        let body = Raw::of(asking)?;
        // Closed never: the semaphore lives as long as the connection's memory does.
        let room = Arc::clone(&shared.room).acquire_owned().await.map_err(|_| Error::Closed)?;
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        let line = Frame::Request { id, body }.to_line()?;
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = lock(&shared.waiting);
            if let Some(ended) = &waiting.ended {
                return Err(ended.clone().into());
            }
            waiting.requests.insert(id, Asked { answer, _room: room });
        }
        shared.outbox.send(line);
        Ok(Begun { client: self.clone(), id, answered })
    }
}

/// A request that is sent. Takes it back if it is dropped before the answer is there.
#[derive(Debug)]
pub struct Begun {
    /// The connection lasts as long.
    client: Client,
    id: u64,
    answered: oneshot::Receiver<Result<Raw>>,
}

impl Begun {
    /// Waits for the answer.
    ///
    /// # Errors
    /// The sidecar refused it, or the connection ended: then it may have been carried out all the same.
    pub async fn answer(mut self) -> Result<Raw> {
        (&mut self.answered).await.unwrap_or(Err(Error::Closed))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // Already answered, if it is no longer in the map.
        let shared = &self.client.shared;
        if lock(&shared.waiting).requests.contains_key(&self.id)
            && let Ok(line) = (Frame::Cancel { id: self.id }).to_line()
        {
            shared.outbox.send(line);
        }
    }
}

impl Shared {
    /// Hands each answer to whoever waits for it, until the connection ends.
    async fn read(self: Arc<Self>, mut reader: FrameReader<ReadHalf>) {
        let ended = loop {
            match reader.next().await {
                Ok(Some(Frame::Result { id, body })) => self.answer(id, Ok(body)),
                Ok(Some(Frame::Error { id, error })) => self.answer(id, Err(error)),
                Ok(Some(Frame::Fault { message })) => break Ended::Protocol(message),
                Ok(Some(_)) => break Ended::Protocol("the sidecar sent what only a client may".to_owned()),
                Ok(None) => break Ended::Closed,
                Err(Error::TooLarge { size, limit }) => break Ended::TooLarge { size, limit },
                Err(error) => break Ended::Protocol(error.to_string()),
            }
        };
        self.end(&ended);
    }

    fn answer(&self, id: u64, answer: Result<Raw, RemoteError>) {
        // An answer to nothing was asked by nobody: harmless.
        let asked = lock(&self.waiting).requests.remove(&id);
        if let Some(asked) = asked {
            // Whoever asked may have gone.
            let _ = asked.answer.send(answer.map_err(Error::from));
        }
    }

    /// Fails what waits and what will be asked. The first reason stays.
    fn end(&self, why: &Ended) {
        let waiting = {
            let mut waiting = lock(&self.waiting);
            if waiting.ended.is_some() {
                return;
            }
            waiting.ended = Some(why.clone());
            std::mem::take(&mut waiting.requests)
        };
        for asked in waiting.into_values() {
            let _ = asked.answer.send(Err(why.clone().into()));
        }
        self.outbox.close();
        self.closed.cancel();
    }
}
