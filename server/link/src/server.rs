//! The answering side.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::discovery::lock;
use crate::error::{Error, RemoteError, RemoteKind, Result};
use crate::frame::{Frame, FrameReader};
use crate::heavy_work::apart;
use crate::message::{
    Call, Decide, DecideOutcome, DecideResult, Held, Hello, Holds, Raw, Request, SidecarStatus,
};
use crate::outbox::Outbox;
use crate::private_socket::Listener;
use crate::stream::{self, ReadHalf, WriteHalf};

/// How many requests of one connection may be without an answer. [`Client`](crate::Client) waits for room; others
/// are refused as [busy](RemoteKind::Busy).
pub const IN_FLIGHT: usize = 256;

/// How long the other side may take to greet.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

/// How long a connection may take to say its last words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long requests may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// What a sidecar does for other processes.
///
/// Each request runs in a task of its own. A panic in one becomes its answer; the server lives. An implementation
/// is written with `async fn`:
///
/// ```
/// use hashline_link::{
///     Call, CancellationToken, Decide, DecideOutcome, DecideResult, Handler, Held, Raw, RemoteError, SidecarStatus,
/// };
/// use std::path::PathBuf;
///
/// struct Nothing;
///
/// impl Handler for Nothing {
///     async fn call(&self, call: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
///         cancel.cancelled().await; // a tool that waits; one that changes something does not look
///         Err(RemoteError::cancelled())
///     }
///     async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
///         Ok(paths.into_iter().map(|path| Held { path, ..Held::default() }).collect())
///     }
///     async fn status(&self) -> Result<SidecarStatus, RemoteError> {
///         Ok(SidecarStatus::default())
///     }
///     async fn decide(&self, decide: Decide) -> Result<DecideOutcome, RemoteError> {
///         let message = format!("there is no edit {}", decide.edit);
///         Ok(DecideOutcome { result: DecideResult::NotFound, message, ..DecideOutcome::default() })
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Runs a tool. The answer is an MCP `CallToolResult`, also when the tool refuses; an error is for a call that
    /// could not be run at all.
    ///
    /// `cancel` fires when nobody waits for the answer any more, because it was taken back, the connection ended or
    /// the server stops. A tool that only waits should end then; one that changes something goes on.
    fn call(
        &self,
        call: Call,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Raw, RemoteError>> + Send;

    /// Says for each path whether it is open, in their order. Must not wait for anything that may be waiting for
    /// the history's lock: the asker may hold it.
    fn holds(&self, paths: Vec<PathBuf>) -> impl Future<Output = Result<Vec<Held>, RemoteError>> + Send;

    /// Says what the sidecar is doing.
    fn status(&self) -> impl Future<Output = Result<SidecarStatus, RemoteError>> + Send;

    /// Carries out a person's decision.
    fn decide(&self, decide: Decide) -> impl Future<Output = Result<DecideOutcome, RemoteError>> + Send;

    /// Says what would become of decisions about one document, one after the other, without making any. Who does not know says that
    /// nothing stands against them.
    fn rehearse(
        &self,
        decides: Vec<Decide>,
    ) -> impl Future<Output = Result<DecideOutcome, RemoteError>> + Send {
        drop(decides);
        std::future::ready(Ok(DecideOutcome { result: DecideResult::Done, ..DecideOutcome::default() }))
    }
}

/// Answers processes that connect, until `stop` fires. Then the socket is closed, calls that wait are told, and
/// those that work are given a few seconds to finish and to answer.
pub async fn serve<H: Handler>(listener: Listener, handler: Arc<H>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted.and_then(stream::split) {
                Ok(halves) => {
                    connections.spawn(connection(halves, Arc::clone(&handler), stop.clone()));
                }
                Err(error) => {
                    // Most likely too many open files; there may be fewer in a moment.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// One connection from its greeting to its end.
async fn connection<H: Handler>(halves: (ReadHalf, WriteHalf), handler: Arc<H>, stop: CancellationToken) {
    let (reading, writing) = halves;
    let outbox = Outbox::new(writing);
    let writing = tokio::spawn({
        let outbox = Arc::clone(&outbox);
        async move { outbox.run().await }
    });
    let desk = Arc::new(Desk { outbox, open: Mutex::default() });
    let running = TaskTracker::new();

    let mut reader = FrameReader::new(reading);
    let ended = talk(&mut reader, &desk, &handler, &running, &stop).await;
    desk.cancel_all();
    match ended {
        // Told to stop: whoever still works may answer.
        Ok(true) => {
            running.close();
            let _ = tokio::time::timeout(GRACE, running.wait()).await;
        }
        // The other side has gone.
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(%error, "closed a connection");
            desk.send(&Frame::Fault { message: error.to_string() });
        }
    }
    let _ = tokio::time::timeout(LAST_WORDS, desk.outbox.empty()).await;
    writing.abort();
    desk.outbox.close();
}

/// Reads until the other side closes (`false`), the server is told to stop (`true`) or something is wrong.
async fn talk<H: Handler>(
    reader: &mut FrameReader<ReadHalf>,
    desk: &Arc<Desk>,
    handler: &Arc<H>,
    running: &TaskTracker,
    stop: &CancellationToken,
) -> Result<bool> {
    desk.send(&Frame::Hello(Hello::ours()));
    let greeted = tokio::select! {
        greeted = tokio::time::timeout(HELLO_LIMIT, reader.next()) => greeted,
        () = stop.cancelled() => return Ok(true),
    };
    match greeted.map_err(|_| Error::Timeout { during: "waiting for a greeting" })?? {
        Some(Frame::Hello(hello)) => hello.check()?,
        Some(_) => return Err(Error::Protocol("the first line is not a greeting".to_owned())),
        // Someone looked whether anybody listens.
        None => return Ok(false),
    }
    loop {
        let next = async {
            desk.outbox.below_high_water().await;
            reader.next().await
        };
        let frame = tokio::select! {
            biased;
            frame = next => frame?,
            () = stop.cancelled() => return Ok(true),
        };
        match frame {
            Some(Frame::Request { id, body }) => match desk.open(id)? {
                Some(reply) => {
                    let size = body.as_str().len();
                    running.spawn(apart(size, answer(Arc::clone(handler), body, reply)));
                }
                None => desk.send(&Frame::Error {
                    id,
                    error: RemoteError::new(RemoteKind::Busy, format!("{IN_FLIGHT} requests wait already")),
                }),
            },
            Some(Frame::Cancel { id }) => desk.cancel(id),
            Some(Frame::Fault { message }) => {
                tracing::warn!(message, "the other side closes the connection");
                return Ok(false);
            }
            Some(_) => return Err(Error::Protocol("a client may send requests only".to_owned())),
            None => return Ok(false),
        }
    }
}

/// Answers one request.
async fn answer<H: Handler>(handler: Arc<H>, body: Raw, reply: Reply) {
    let request = match body.parse::<Request>() {
        Ok(request) => request,
        Err(error) => {
            return reply.send(Err(RemoteError::new(RemoteKind::BadRequest, error.to_string())));
        }
    };
    let result = match request {
        Request::Call(call) => handler.call(call, reply.cancel.clone()).await,
        Request::Holds(Holds { paths }) => handler.holds(paths).await.and_then(|held| raw(&held)),
        Request::Status(_) => handler.status().await.and_then(|status| raw(&status)),
        Request::Decide(decide) => handler.decide(decide).await.and_then(|outcome| raw(&outcome)),
        Request::Rehearse(decides) => handler.rehearse(decides).await.and_then(|outcome| raw(&outcome)),
    };
    reply.send(result);
}

fn raw<T: serde::Serialize>(value: &T) -> Result<Raw, RemoteError> {
    Raw::of(value).map_err(|error| RemoteError::failed(error.to_string()))
}

/// The requests of a connection that have no answer yet, and the way for the answers.
#[derive(Debug)]
struct Desk {
    outbox: Arc<Outbox>,
    open: Mutex<HashMap<u64, CancellationToken>>,
}

impl Desk {
    /// Takes a request in; `None` if there are too many.
    fn open(self: &Arc<Self>, id: u64) -> Result<Option<Reply>> {
        let mut open = lock(&self.open);
        if open.contains_key(&id) {
            return Err(Error::Protocol(format!("request {id} was made twice")));
        }
        if open.len() >= IN_FLIGHT {
            return Ok(None);
        }
        let cancel = CancellationToken::new();
        open.insert(id, cancel.clone());
        Ok(Some(Reply { desk: Some(Arc::clone(self)), id, cancel }))
    }

    fn cancel(&self, id: u64) {
        let cancel = lock(&self.open).get(&id).cloned();
        // An answered request is not there any more: taking it back changes nothing.
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }

    fn cancel_all(&self) {
        let all: Vec<_> = lock(&self.open).values().cloned().collect();
        for cancel in all {
            cancel.cancel();
        }
    }

    fn send(&self, frame: &Frame) {
        match frame.to_line() {
            Ok(line) => self.outbox.send(line),
            Err(error) => tracing::error!(%error, "a message could not be written"),
        }
    }
}

/// The duty to answer one request. Dropped without an answer, as when the handler panics, it answers so.
#[derive(Debug)]
struct Reply {
    desk: Option<Arc<Desk>>,
    id: u64,
    cancel: CancellationToken,
}

impl Reply {
    fn send(mut self, result: Result<Raw, RemoteError>) {
        self.answer(result);
    }

    fn answer(&mut self, result: Result<Raw, RemoteError>) {
        let Some(desk) = self.desk.take() else { return };
        let id = self.id;
        // The place is free before the answer is out, so that whoever reads it has room for the next request.
        lock(&desk.open).remove(&id);
        let line = match result {
            Ok(body) => Frame::Result { id, body }.to_line(),
            Err(error) => Frame::Error { id, error }.to_line(),
        };
        match line {
            Ok(line) => desk.outbox.send(line),
            Err(error) => {
                desk.send(&Frame::Error {
                    id,
                    error: RemoteError::failed(format!("the answer is lost: {error}")),
                });
            }
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.answer(Err(RemoteError::failed("the request was given up by a fault in the sidecar")));
    }
}
