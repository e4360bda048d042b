//! Messages as text frames of a WebSocket. One that cannot be read is answered, and the connection goes on.

use std::io;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use hashline_link::CancellationToken;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::Decoder;

/// How often the other side is asked whether it is there: programs between the two close what is silent.
const PING: Duration = Duration::from_secs(30);

/// How many messages wait to be seen to. Others stay with the system.
const WAITING: usize = 16;

type Incoming = RxJsonRpcMessage<RoleServer>;

/// One connection, as the MCP library has it.
pub(crate) struct Frames {
    incoming: mpsc::Receiver<Incoming>,
    /// What is answered is bounded by what came in, of which no more is read while an answer waits to be sent.
    outgoing: mpsc::UnboundedSender<String>,
}

/// The other side of a connection: the WebSocket itself.
pub(crate) struct Wire {
    socket: WebSocketStream<TcpStream>,
    incoming: mpsc::Sender<Incoming>,
    outgoing: mpsc::UnboundedReceiver<String>,
}

/// A connection over a WebSocket, and what carries it.
pub(crate) fn over(socket: WebSocketStream<TcpStream>) -> (Frames, Wire) {
    let (incoming, received) = mpsc::channel(WAITING);
    let (outgoing, sent) = mpsc::unbounded_channel();
    (Frames { incoming: received, outgoing }, Wire { socket, incoming, outgoing: sent })
}

impl Wire {
    /// Carries messages until one of the two sides goes. `ended` fires then.
    pub async fn carry(mut self, ended: CancellationToken) {
        let _ended = ended.drop_guard();
        let mut ping = tokio::time::interval(PING);
        ping.reset();
        loop {
            let done = tokio::select! {
                text = self.outgoing.recv() => match text {
                    Some(text) => self.socket.send(Message::text(text)).await,
                    None => break,
                },
                _ = ping.tick() => self.socket.send(Message::Ping(Bytes::new())).await,
                frame = self.socket.next() => match frame {
                    Some(Ok(Message::Text(text))) => match self.take(text.as_str()).await {
                        Some(answer) => self.socket.send(Message::text(answer)).await,
                        None => Ok(()),
                    },
                    // Pings are answered below, and a message of bytes is none.
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => Ok(()),
                    Some(Ok(Message::Close(_))) | None => break,
                    Some(Err(error)) => Err(error),
                },
            };
            if let Err(error) = done {
                tracing::debug!(%error, "the connection of an IDE link broke off");
                break;
            }
        }
        let _ = self.socket.close(None).await;
    }

    /// Hands a message on. Returns what is answered to one that cannot be read.
    async fn take(&mut self, text: &str) -> Option<String> {
        match read(text) {
            Ok(Some(message)) => {
                // An error: the server has gone, and says so by what it does not send any more.
                let _ = self.incoming.send(message).await;
                None
            }
            Ok(None) => None,
            Err(answer) => written(&answer).ok(),
        }
    }
}

/// The message of a frame, if it is one for a server.
///
/// # Errors
/// What is answered.
fn read(text: &str) -> Result<Option<Incoming>, Box<TxJsonRpcMessage<RoleServer>>> {
    /// What can be read of a message that cannot be read as a whole.
    #[derive(Deserialize)]
    struct Asked {
        id: RequestId,
    }
    JsonRpcMessageCodec::default().decode_eof(&mut BytesMut::from(text)).map_err(|error| {
        tracing::debug!(%error, "a message of an IDE link could not be read");
        let id = serde_json::from_str(text).ok().map(|Asked { id }| id);
        let error = ErrorData::parse_error(format!("Nothing was done: {error}."), None);
        Box::new(JsonRpcMessage::error(error, id))
    })
}

fn written(message: &TxJsonRpcMessage<RoleServer>) -> io::Result<String> {
    Ok(serde_json::to_string(message)?)
}

impl Transport<RoleServer> for Frames {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let sent = written(&message).and_then(|text| self.outgoing.send(text).map_err(gone));
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}
