//! Messages as lines of two streams. Each that cannot be read is answered: whoever sent it waits.

use std::fmt::Display;
use std::io;

use futures::StreamExt;
use futures::future::BoxFuture;
use hashline_link::CancellationToken;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite, Empty};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};

use crate::argument_limits::MESSAGE;

/// How long a line may be, in bytes: without a limit one that never ends would take all memory.
const LONGEST: usize = MESSAGE;

/// The lines of one connection. What comes in is read here, as the transport of rmcp says nothing about lines that it cannot read.
pub(crate) struct Lines<R, W: AsyncWrite> {
    incoming: FramedRead<R, AnyDelimiterCodec>,
    outgoing: AsyncRwTransport<RoleServer, Empty, W>,
    /// What is being answered to a line that could not be read. It is kept here, as whoever waits for a message may give up and come again.
    answer: Option<BoxFuture<'static, io::Result<()>>>,
    /// Fires when nothing more comes.
    ended: CancellationToken,
}

/// What can be read of a message that cannot be read as a whole: in what is passed over, half a surrogate pair is no error.
#[derive(Deserialize)]
struct Asked {
    id: RequestId,
    #[serde(rename = "method")]
    _method: IgnoredAny,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(reader: R, writer: W, ended: CancellationToken) -> Self {
        let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), b"\n".to_vec(), LONGEST);
        Self {
            incoming: FramedRead::new(reader, codec),
            outgoing: AsyncRwTransport::new_server(tokio::io::empty(), writer),
            answer: None,
            ended,
        }
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        tracing::debug!(%error, "a message could not be read");
        self.answer = Some(Box::pin(self.outgoing.send(JsonRpcMessage::error(error, id))));
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.outgoing.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.answer {
                let answered = answer.await;
                self.answer = None;
                if let Err(error) = answered {
                    tracing::debug!(%error, "a message that could not be read was not answered");
                }
            }
            match self.incoming.next().await {
                Some(Ok(line)) => match read(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => {}
                    Err((error, id)) => self.refuse(error, id),
                },
                Some(Err(AnyDelimiterCodecError::MaxChunkLengthExceeded)) => {
                    self.refuse(too_long(), None);
                    // Behind an error the frames say once that they end, and go on then.
                    let _ = self.incoming.next().await;
                }
                Some(Err(AnyDelimiterCodecError::Io(error))) => {
                    tracing::debug!(%error, "nothing more can be read");
                    break;
                }
                None => break,
            }
        }
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing.close().await
    }
}

/// The message of a line, if it is one for a server.
///
/// # Errors
///
/// What is answered, to which request.
fn read(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, (ErrorData, Option<RequestId>)> {
    JsonRpcMessageCodec::default().decode_eof(&mut BytesMut::from(line)).map_err(|error| {
        let id = serde_json::from_slice(line).ok().map(|Asked { id, .. }| id);
        let error = match error {
            JsonRpcMessageCodecError::Serde(error) if error.classify() == Category::Data => {
                no_message(&error)
            }
            JsonRpcMessageCodecError::Serde(error) => no_json(&error),
            other => no_json(&other),
        };
        (error, id)
    })
}

fn no_json(error: &dyn Display) -> ErrorData {
    let words = format!(
        "Nothing was done: this line cannot be read as JSON: {error}. Send it again as valid JSON in UTF-8, on one line; an escape \
         such as \\ud83d stands for a character only together with its other half."
    );
    ErrorData::parse_error(words, None)
}

fn no_message(error: &serde_json::Error) -> ErrorData {
    let words = format!(
        "Nothing was done: this line is no message of JSON-RPC 2.0: {error}. Send an object with jsonrpc, id, method and params."
    );
    ErrorData::invalid_request(words, None)
}

fn too_long() -> ErrorData {
    let words = format!(
        "Nothing was done: a line was longer than {} MiB and was passed over. Send less in one message.",
        LONGEST >> 20
    );
    ErrorData::invalid_request(words, None)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use hashline_link::StateDir;
    use hashline_workspace::Settings;
    use hashline_workspace::disk::Roots;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

    use super::*;
    use crate::router::Router;
    use crate::server::Server;
    use crate::streams::{ServeError, serve_streams};
    use crate::toolset::{NameStyle, Toolset};

    /// An agent that writes what it likes, behind a handshake.
    struct Agent {
        says: WriteHalf<DuplexStream>,
        hears: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
        served: tokio::task::JoinHandle<Result<(), ServeError>>,
        _folder: tempfile::TempDir,
    }

    impl Agent {
        async fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.txt"), "a\n").unwrap();
            let roots = Roots::open([folder.path()]).unwrap();
            let state = StateDir::new(Some(&folder.path().join("state"))).unwrap();
            let router = Arc::new(Router::new(&roots, true, Settings::default(), state).unwrap());
            let server = Server::new(router, &Toolset::DEFAULT, NameStyle::Plain);
            let (near, far) = tokio::io::duplex(1 << 16);
            let (reader, writer) = tokio::io::split(far);
            let served =
                tokio::spawn(
                    async move { serve_streams(server, reader, writer, CancellationToken::new()).await },
                );
            let (hears, says) = tokio::io::split(near);
            let mut agent = Self { says, hears: BufReader::new(hears).lines(), served, _folder: folder };
            let client = json!({ "name": "t", "version": "1" });
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
            let asked = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            assert_eq!(agent.asks(asked.to_string().as_bytes()).await["id"], 0);
            agent.says(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
            agent
        }

        async fn says(&mut self, line: &[u8]) {
            self.says.write_all(line).await.unwrap();
            self.says.write_all(b"\n").await.unwrap();
        }

        async fn heard(&mut self) -> Value {
            let line = tokio::time::timeout(Duration::from_secs(20), self.hears.next_line());
            serde_json::from_str(&line.await.expect("an answer").unwrap().unwrap()).unwrap()
        }

        async fn asks(&mut self, line: &[u8]) -> Value {
            self.says(line).await;
            self.heard().await
        }
    }

    const READS: &str = r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"a.txt"}}}"#;

    #[tokio::test]
    async fn what_cannot_be_read_is_answered_and_what_comes_behind_it_served() {
        let mut agent = Agent::start().await;
        let surrogate = READS.replace("ID", "7").replace("a.txt", r"\ud800");
        let late = r#"{"method":"tools/call","params":{"name":"\udc00"},"jsonrpc":"2.0","id":"x"}"#;
        let response = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":["\ud800"]}}"#;
        let whole = READS.replace("ID", "9");
        for (line, id, code, word) in [
            (surrogate.as_bytes(), json!(7), -32700, "hex escape"),
            (late.as_bytes(), json!("x"), -32700, "other half"),
            (
                b"{\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"},\"jsonrpc\":\"2.0\"}",
                json!(8),
                -32700,
                "UTF-8",
            ),
            (&whole.as_bytes()[..50], Value::Null, -32700, "JSON"),
            // It is no request: an id of ours would be taken for the answer to another.
            (response.as_bytes(), Value::Null, -32700, "JSON"),
            (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, json!(5), -32600, "JSON-RPC 2.0"),
            (b"[]", Value::Null, -32600, "JSON-RPC 2.0"),
        ] {
            let heard = agent.asks(line).await;
            let line = String::from_utf8_lossy(line);
            assert_eq!((&heard["id"], &heard["error"]["code"]), (&id, &json!(code)), "{line}: {heard}");
            let words = heard["error"]["message"].as_str().unwrap();
            assert!(words.starts_with("Nothing was done: ") && words.contains(word), "{line}: {words}");
        }
        agent.says(b"\r").await;
        agent.says(br#"{"jsonrpc":"2.0","method":"notifications/of_another_kind","params":7}"#).await;
        let heard = agent.asks(whole.as_bytes()).await;
        assert!(
            heard["id"] == 9 && heard["result"]["content"][0]["text"].as_str().unwrap().contains("|a"),
            "{heard}"
        );
        drop((agent.says, agent.hears));
        tokio::time::timeout(Duration::from_secs(20), agent.served).await.unwrap().unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_once() {
        let mut agent = Agent::start().await;
        let part = vec![b'x'; 1 << 20];
        for _ in 0..(LONGEST >> 20) + 2 {
            agent.says.write_all(&part).await.unwrap();
        }
        let heard = agent.asks(b"").await;
        assert!(heard["error"]["message"].as_str().unwrap().contains("longer than 16 MiB"), "{heard}");
        assert_eq!(agent.asks(READS.replace("ID", "9").as_bytes()).await["id"], 9);
    }
}
