//! Messages in and out.
//!
//! `tower_lsp::Server` polls several handlers at once, ends at the first message that is no JSON, and panics when the
//! editor stops reading. So its service is driven from here: each message is handled up to its first wait before the
//! next one is read, so that changes take effect in their order whatever the handlers do; what is left of a handler
//! then goes on by itself. What the editor says of its documents does not reach the service at all: it is
//! [taken in](Session::notified) on the spot.
//!
//! Writing never holds up reading: answers queue without a limit, as an editor that does not read may still be typing.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt, future, poll};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::{ClientSocket, Loopback, LspService};
use tower_service::Service;

use crate::handlers::Face;
use crate::protocol;
use crate::raw_params;
use crate::session::Session;

/// The longest line of a header.
const HEADER_LIMIT: u64 = 8 * 1024;
/// The largest message.
const BODY_LIMIT: usize = 1 << 30;
/// A message that is larger than this is not of the usual kind.
const LARGE: usize = 1 << 20;
/// How much is read or written at once.
const CHUNK: usize = 64 * 1024;
/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A message, with its parts unread.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Reads and answers messages until the editor says `exit` or closes its end, cannot be written to, or `stop` fires.
pub(crate) async fn run<I, O>(
    stdin: I,
    stdout: O,
    (service, socket): (LspService<Face>, ClientSocket),
    session: &Session,
    stop: CancellationToken,
) where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let (letters, outgoing) = mpsc::unbounded_channel();
    let writing = tokio::spawn(write(stdout, outgoing, stop.clone()));
    let (mut requests, responses) = socket.split();
    let (outbox, mut answers) = mpsc::unbounded_channel();
    let forwarding = tokio::spawn(async move {
        let mut asking = true;
        loop {
            tokio::select! {
                // What was put to the editor before an answer was given is written before it.
                biased;
                request = requests.next(), if asking => match request {
                    Some(request) => post_request(&letters, &request),
                    None => asking = false,
                },
                answer = answers.recv() => match answer {
                    Some(answer) => drop(letters.send(answer)),
                    None => return,
                },
            }
        }
    });
    let exchange = Exchange { service, responses, session, outbox, running: JoinSet::new() };
    let mut mail = Frames::new(stdin);
    tokio::select! {
        () = exchange.read(&mut mail) => {}
        () = stop.cancelled() => {}
    }
    let _ = tokio::time::timeout(LAST_WORDS, async { (forwarding.await, writing.await) }).await;
}

struct Exchange<'a> {
    service: LspService<Face>,
    responses: <ClientSocket as Loopback>::ResponseSink,
    session: &'a Session,
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    running: JoinSet<()>,
}

impl Exchange<'_> {
    async fn read<I: AsyncRead + Unpin>(mut self, mail: &mut Frames<I>) {
        loop {
            match mail.next().await {
                Ok(Some(())) => {}
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "cannot read from the editor");
                    return;
                }
            }
            if mail.body.len() > LARGE {
                // What was answered just now is written first.
                tokio::task::yield_now().await;
            }
            if self.message(&mail.body).await {
                return;
            }
            mail.forget_large();
            while self.running.try_join_next().is_some() {}
        }
    }

    /// Sees to one message; true for the last one.
    async fn message(&mut self, body: &[u8]) -> bool {
        let envelope: Envelope<'_> = match serde_json::from_slice(body) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "a message of the editor is not one");
                let wrong = if error.is_data() { Error::invalid_request() } else { Error::parse_error() };
                post(&self.outbox, &Response::from_error(Id::Null, wrong));
                return false;
            }
        };
        let Some(method) = envelope.method else {
            self.response(body).await;
            return false;
        };
        if envelope.id.is_none() && self.session.notified(&method, envelope.params) {
            return false;
        }
        // These have no parameters; some clients send null or an empty object all the same.
        let bare = ["shutdown", "exit", protocol::STATUS].contains(&&*method);
        let request = match (bare, envelope.id.map(|id| serde_json::from_str::<Id>(id.get()))) {
            (true, None) => Ok(Request::build(method.clone().into_owned()).finish()),
            (true, Some(Ok(id))) => Ok(Request::build(method.clone().into_owned()).id(id).finish()),
            _ => serde_json::from_slice(body),
        };
        match request {
            Ok(request) => self.request(request).await,
            Err(error) => {
                tracing::warn!(%error, %method, "a message of the editor is not one");
                post(&self.outbox, &Response::from_error(Id::Null, Error::invalid_request()));
            }
        }
        method == "exit"
    }

    async fn response(&mut self, body: &[u8]) {
        match serde_json::from_slice::<Response>(body) {
            Ok(response) => {
                let _ = self.responses.send(response).await;
            }
            Err(error) => {
                tracing::warn!(%error, "a message of the editor is not one");
                post(&self.outbox, &Response::from_error(Id::Null, Error::invalid_request()));
            }
        }
    }

    async fn request(&mut self, request: Request) {
        let id = request.id().cloned();
        if future::poll_fn(|context| self.service.poll_ready(context)).await.is_err() {
            return;
        }
        let handling = self.service.call(request);
        let outbox = self.outbox.clone();
        let mut work = Box::pin(async move {
            match AssertUnwindSafe(handling).catch_unwind().await {
                Ok(Ok(Some(response))) => post(&outbox, &response),
                Ok(Ok(None) | Err(_)) => {}
                // A defect costs the answer to one message, not the editor's session.
                Err(_) => {
                    if let Some(id) = id {
                        post(&outbox, &Response::from_error(id, Error::internal_error()));
                    }
                }
            }
        });
        if poll!(work.as_mut()).is_pending() {
            self.running.spawn(work);
        }
    }
}

/// Puts what the editor is told or asked into the queue of what is to be written.
fn post_request(outbox: &mpsc::UnboundedSender<Vec<u8>>, request: &Request) {
    match (request.id(), request.params()) {
        // Where nobody writes any more the session is at its end.
        (None, Some(Value::String(params))) => {
            drop(outbox.send(raw_params::message(request.method(), params)));
        }
        _ => post(outbox, request),
    }
}

/// Puts a message into the queue of what is to be written.
fn post<T: Serialize>(outbox: &mpsc::UnboundedSender<Vec<u8>>, message: &T) {
    match serde_json::to_vec(message) {
        // Where nobody writes any more the session is at its end.
        Ok(body) => drop(outbox.send(body)),
        Err(error) => tracing::error!(%error, "a message cannot be written as JSON"),
    }
}

/// Writes messages until no more can come, or the editor does not take them.
async fn write<O>(mut stdout: O, mut letters: mpsc::UnboundedReceiver<Vec<u8>>, stop: CancellationToken)
where
    O: AsyncWrite + Unpin,
{
    let mut waiting = Vec::new();
    let mut bytes = Vec::new();
    while letters.recv_many(&mut waiting, 64).await > 0 {
        if let Err(error) = write_all(&mut stdout, &mut bytes, waiting.drain(..)).await {
            tracing::warn!(%error, "the editor does not read any more");
            stop.cancel();
            return;
        }
    }
}

/// Writes some messages, small ones together and large ones in pieces, as stdout keeps as much room as was ever written at once.
async fn write_all<O: AsyncWrite + Unpin>(
    stdout: &mut O,
    bytes: &mut Vec<u8>,
    bodies: impl Iterator<Item = Vec<u8>>,
) -> std::io::Result<()> {
    bytes.clear();
    for body in bodies {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        for piece in body.chunks(CHUNK) {
            bytes.extend_from_slice(piece);
            if bytes.len() >= CHUNK {
                stdout.write_all(bytes).await?;
                bytes.clear();
            }
        }
    }
    stdout.write_all(bytes).await?;
    stdout.flush().await
}

/// The messages of a stream.
struct Frames<I> {
    reader: BufReader<I>,
    line: Vec<u8>,
    /// The message that was read last.
    body: Vec<u8>,
}

impl<I: AsyncRead + Unpin> Frames<I> {
    fn new(stdin: I) -> Self {
        Self { reader: BufReader::with_capacity(CHUNK, stdin), line: Vec::new(), body: Vec::new() }
    }

    /// Reads the next message into `body`; none at the end of the stream. Lines that are no header are skipped, so that
    /// the stream is in step again with the next header.
    async fn next(&mut self) -> std::io::Result<Option<()>> {
        let mut length = None;
        loop {
            self.line.clear();
            let read = (&mut self.reader).take(HEADER_LIMIT).read_until(b'\n', &mut self.line).await?;
            if read == 0 {
                return Ok(None);
            }
            let line = self.line.trim_ascii();
            if line.is_empty() {
                if let Some(length) = length {
                    return self.read_body(length).await;
                }
            } else if let Some(found) = content_length(line) {
                length = Some(found);
            }
        }
    }

    /// Gives back the room of a large message: a whole document came once, what follows is small.
    fn forget_large(&mut self) {
        if self.body.capacity() > LARGE {
            self.body = Vec::new();
        }
    }

    async fn read_body(&mut self, length: usize) -> std::io::Result<Option<()>> {
        if length > BODY_LIMIT {
            let sentence =
                format!("a message of {length} bytes is larger than hashline takes ({BODY_LIMIT})");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, sentence));
        }
        self.body.clear();
        // Bounded by what really comes, not by what was announced; and a chunk at a time, as stdin keeps as much room as was ever asked of
        // it at once.
        let mut body = (&mut self.reader).take(length as u64);
        let read = tokio::io::copy_buf(&mut body, &mut self.body).await?;
        Ok((read == length as u64).then_some(()))
    }
}

fn content_length(line: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let (name, value) = line.split_once(':')?;
    name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::ReadBuf;

    use super::*;

    async fn bodies(stream: &[u8]) -> Vec<String> {
        let mut frames = Frames::new(stream);
        let mut found = Vec::new();
        while let Ok(Some(())) = frames.next().await {
            found.push(String::from_utf8_lossy(&frames.body).into_owned());
        }
        found
    }

    /// Input that notes how much is asked of it at once.
    struct Asked<'a> {
        left: &'a [u8],
        most: usize,
    }

    impl AsyncRead for Asked<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            self.most = self.most.max(buffer.remaining());
            Pin::new(&mut self.left).poll_read(context, buffer)
        }
    }

    #[tokio::test]
    async fn a_large_message_is_asked_for_in_pieces() {
        let body = vec![b' '; 4 * LARGE];
        let message = [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat();
        let mut frames = Frames::new(Asked { left: &message, most: 0 });
        frames.next().await.unwrap();
        assert_eq!(frames.body, body);
        assert!(frames.reader.get_ref().most <= CHUNK, "{}", frames.reader.get_ref().most);
    }

    /// Output that notes how much is written at once.
    #[derive(Default)]
    struct Written {
        all: Vec<u8>,
        most: usize,
    }

    impl AsyncWrite for Written {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<std::io::Result<usize>> {
            self.most = self.most.max(bytes.len());
            self.all.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_large_message_is_written_in_pieces_and_small_ones_together() {
        let sent = [vec![b'a'; 2], vec![b'b'; 4 * LARGE + 7], vec![b'c'; 3], vec![b'd'; CHUNK], Vec::new()];
        let (mut stdout, mut bytes) = (Written::default(), Vec::new());
        write_all(&mut stdout, &mut bytes, sent.clone().into_iter()).await.unwrap();
        assert!(stdout.most <= 3 * CHUNK && bytes.capacity() <= 4 * CHUNK, "{}", stdout.most);
        let sent = sent.map(|body| String::from_utf8(body).unwrap());
        assert_eq!(bodies(&stdout.all).await, sent);
        let (mut stdout, few) = (Written::default(), [vec![b'a'; 2], vec![b'b'; 3]]);
        write_all(&mut stdout, &mut bytes, few.into_iter()).await.unwrap();
        assert_eq!(stdout.most, stdout.all.len());
    }

    #[tokio::test]
    async fn parameters_that_are_written_already_are_sent_as_they_are() {
        let params = serde_json::json!({"uri": "file:///a \"b\".txt", "edits": [1, null, "ä\n"]});
        let of = |params: Value| Request::build("hashline/pendingEdits").params(params);
        let written = serde_json::to_value(raw_params::Written::of(&params).unwrap()).unwrap();
        let (outbox, mut sent) = mpsc::unbounded_channel();
        post_request(&outbox, &of(written).finish());
        post_request(&outbox, &of(params.clone()).finish());
        // What is asked has no such parameters.
        post_request(&outbox, &of("text".into()).id(7).finish());
        let mut next = || serde_json::from_slice::<Value>(&sent.try_recv().unwrap()).unwrap();
        let (first, second, asked) = (next(), next(), next());
        assert_eq!(first, second);
        assert_eq!((&first["params"], &asked["params"]), (&params, &"text".into()));
    }

    #[tokio::test]
    async fn messages_are_found_between_other_things() {
        assert_eq!(bodies(b"Content-Length: 2\r\n\r\n{}content-length:4\n\nnull").await, ["{}", "null"]);
        assert_eq!(
            bodies(b"noise\r\n\r\nContent-Length: x\r\n\r\nContent-Type: a\r\nContent-Length: 1\r\n\r\n1")
                .await,
            ["1"]
        );
        assert_eq!(bodies(b"Content-Length: 9\r\n\r\ncut").await, [""; 0]);
        assert_eq!(bodies(b"Content-Length: 18446744073709551615\r\n\r\n").await, [""; 0]);
        assert_eq!(bodies(&[b'x'; 100_000]).await, [""; 0]);
    }
}
