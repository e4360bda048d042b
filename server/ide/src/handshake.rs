//! Who is let in: whoever shows the token of the lock file, and is no page in a browser.

use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use crate::token::Token;

/// The header that has the token.
const AUTHORIZATION: &str = "x-claude-code-ide-authorization";

/// The protocol that is spoken over the WebSocket.
const PROTOCOL: &str = "mcp";

/// The most bytes of a message: a whole file comes in one.
const MESSAGE: usize = 32 << 20;

/// What is read at once from a connection.
const BUFFER: usize = 16 << 10;

/// Turns a connection into a WebSocket, if it is let in.
///
/// # Errors
/// It is not, and was told why.
pub(crate) async fn admit(stream: TcpStream, token: &Token) -> Result<WebSocketStream<TcpStream>, Error> {
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_message_size(Some(MESSAGE))
        .max_frame_size(Some(MESSAGE));
    accept_hdr_async_with_config(stream, Door(token), Some(config)).await
}

/// Lets in who shows the token.
struct Door<'a>(&'a Token);

impl Door<'_> {
    /// Why a request is refused, if it is.
    fn refuses(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        if headers.contains_key(header::ORIGIN) {
            return Some((StatusCode::FORBIDDEN, "Pages in a browser are not served."));
        }
        let mut shown = headers.get_all(AUTHORIZATION).iter();
        let is_shown =
            shown.next().is_some_and(|shown| self.0.is(shown.as_bytes())) && shown.next().is_none();
        let words = "Send the authToken of the lock file in the header X-Claude-Code-Ide-Authorization.";
        (!is_shown).then_some((StatusCode::UNAUTHORIZED, words))
    }
}

impl Callback for Door<'_> {
    fn on_request(self, request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
        let headers = request.headers();
        if let Some((status, words)) = self.refuses(headers) {
            let mut refusal = ErrorResponse::new(Some(words.to_owned()));
            *refusal.status_mut() = status;
            return Err(refusal);
        }
        let protocols = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
        let mut protocols =
            protocols.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        if protocols.any(|protocol| protocol.trim() == PROTOCOL) {
            let spoken = HeaderValue::from_static(PROTOCOL);
            response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, spoken);
        }
        Ok(response)
    }
}
