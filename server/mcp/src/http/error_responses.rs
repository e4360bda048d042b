//! Requests that go no further, in words that say the next step.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::argument_limits::VALUES;
use crate::http::allowed_origins::Foreign;
use crate::http::request_body_limit::LIMIT;
use crate::http::scope::Scope;
use crate::http::sessions;
use crate::http::token::BadToken;

/// Why a request goes no further.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error(
        "This needs a token: send the header Authorization: Bearer TOKEN. The person makes one on the machine where hashline runs, for \
         example with hashline token --scope read:/."
    )]
    NoToken,
    #[error("Not admitted: {0}. The person makes a new one with hashline token.")]
    BadToken(BadToken),
    #[error(
        "Nothing was done: this takes the scope {scope}, which the token does not give. Go on without it, or ask the person for a token \
         with that scope: hashline token --scope {scope}"
    )]
    Lacks { scope: Scope, id: Value },
    #[error("There is no session of this mcp-session-id, or it has ended. Begin anew with initialize.")]
    NoSession,
    #[error(
        "There is no room for another session: somebody is in each of the {} that one holder of tokens may have, or there are {} of \
         all. End one, or try again later.",
        sessions::SHARE,
        sessions::MOST
    )]
    TooManySessions,
    #[error(
        "Too many notification streams are open, in all or for the holder of this token. Read what you need instead, or try again \
         later."
    )]
    TooManyStreams,
    #[error(
        "Nothing was done: too many requests of this token's holder are in progress. Wait for an answer, then send this again."
    )]
    TooManyRequests,
    #[error(
        "This session was begun with a token that gives more than this one. End it with such a token, or leave it: it ends by itself {} \
         minutes after nobody is in it any more.",
        sessions::ABANDONED.as_secs() / 60
    )]
    NotYoursToEnd,
    #[error("The body is larger than {} MiB. Send less in one call.", LIMIT >> 20)]
    TooLarge,
    #[error("The body did not arrive in time. Send it again.")]
    TooSlow,
    #[error(
        "There is no room for so large a body beside those that are under way. Send it again in a moment."
    )]
    Full,
    #[error("The body could not be read: {0}. Send it again.")]
    Broken(axum::Error),
    #[error(
        "The body holds more than {VALUES} values, and that is more than one message may. Do it in several calls."
    )]
    TooMuch,
    #[error("The body is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("Several messages in one body are not taken. Send each by itself.")]
    Batch,
    #[error("The body is no JSON-RPC message that MCP has.")]
    NotAMessage { id: Value },
    #[error(
        "Not admitted: {0}. This server accepts only requests for a loopback name, and from pages served under one. If agents reach it under \
         another name, ask the person to add it: hashline serve --host NAME."
    )]
    Foreign(Foreign),
    #[error(
        "Nothing is done here with this method. Send messages with POST; GET listens in a session and DELETE ends it, each with its \
         mcp-session-id."
    )]
    Method,
    #[error("{words}. Send the header Accept: application/json, text/event-stream.")]
    NotAccepting { words: String, id: Value },
    #[error("{words}. Send the message as JSON, with the header Content-Type: application/json.")]
    OtherKind { words: String, id: Value },
    #[error(
        "{words}. Begin with initialize, and send the mcp-session-id and the MCP-Protocol-Version of its answer with every further request."
    )]
    NotAsAgreed { words: String, id: Value },
    #[error("This hashline is ending. Connect again in a moment.")]
    Ending,
}

impl Refused {
    /// What the service refuses in plain words, which lack the next step; none where it refuses in another way.
    pub(super) fn by_service(status: StatusCode, words: &[u8], id: Value) -> Option<Self> {
        let words = String::from_utf8_lossy(words).into_owned();
        match status {
            StatusCode::BAD_REQUEST => Some(Self::NotAsAgreed { words, id }),
            StatusCode::NOT_FOUND => Some(Self::NoSession),
            StatusCode::METHOD_NOT_ALLOWED => Some(Self::Method),
            StatusCode::NOT_ACCEPTABLE => Some(Self::NotAccepting { words, id }),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(Self::OtherKind { words, id }),
            _ => None,
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::BadToken(_) => StatusCode::UNAUTHORIZED,
            Self::Lacks { .. } | Self::NotYoursToEnd | Self::Foreign(Foreign::Host | Foreign::Page) => {
                StatusCode::FORBIDDEN
            }
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAccepting { .. } => StatusCode::NOT_ACCEPTABLE,
            Self::OtherKind { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::NoSession => StatusCode::NOT_FOUND,
            Self::TooLarge | Self::TooMuch => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Foreign(Foreign::NotOneHost)
            | Self::Broken(_)
            | Self::NotJson(_)
            | Self::Batch
            | Self::NotAMessage { .. }
            | Self::NotAsAgreed { .. } => StatusCode::BAD_REQUEST,
            Self::Full | Self::Ending | Self::TooManySessions | Self::TooManyStreams => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    /// The code of a JSON-RPC error.
    fn code(&self) -> i32 {
        match self {
            Self::NotJson(_) => -32_700,
            Self::Batch | Self::NotAMessage { .. } | Self::NotAsAgreed { .. } => -32_600,
            // Of those that are left to servers.
            Self::NoToken | Self::BadToken(_) | Self::Lacks { .. } | Self::NotYoursToEnd => -32_003,
            Self::Foreign(_)
            | Self::Method
            | Self::NotAccepting { .. }
            | Self::OtherKind { .. }
            | Self::NoSession
            | Self::TooManySessions
            | Self::TooManyStreams
            | Self::TooManyRequests
            | Self::TooLarge
            | Self::TooMuch
            | Self::TooSlow
            | Self::Full
            | Self::Broken(_)
            | Self::Ending => -32_000,
        }
    }

    /// What the header WWW-Authenticate says (RFC 6750).
    fn challenge(&self) -> Option<String> {
        match self {
            Self::NoToken => Some("Bearer".to_owned()),
            Self::BadToken(why) => {
                Some(format!("Bearer error=\"invalid_token\", error_description=\"{why}\""))
            }
            Self::Lacks { scope, .. } => {
                Some(format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""))
            }
            _ => None,
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response<Body> {
        let id = match &self {
            Self::Lacks { id, .. }
            | Self::NotAMessage { id }
            | Self::NotAccepting { id, .. }
            | Self::OtherKind { id, .. }
            | Self::NotAsAgreed { id, .. } => id,
            _ => &Value::Null,
        };
        let error = json!({ "code": self.code(), "message": self.to_string() });
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if matches!(self, Self::Method) {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
        }
        if let Some(challenge) = self.challenge().and_then(|text| HeaderValue::try_from(text).ok()) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
