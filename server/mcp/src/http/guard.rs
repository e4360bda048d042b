//! What every request to `/mcp` has to pass: its token, its size, and what the token gives.
//!
//! A handler of a tool cannot choose the status of the answer, so what a token lacks is found here, in the body. The workspace keeps each
//! call to its grants once more, where the path is opened: a link that is moved in between leads nowhere.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hashline_link::CancellationToken;
use hashline_workspace::Grants;
use http_body_util::LengthLimitError;
use hyper::body::{Frame, SizeHint};
use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::http::demand::demands;
use crate::http::refused::Refused;
use crate::http::scope;
use crate::http::sessions::{Sessions, Visit};
use crate::http::token::{Bearer, TokenKey};
use crate::router::Router;

/// How large a body may be: as large as a line on standard input.
pub(super) const LIMIT: usize = 16 << 20;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// A body up to here is taken at any time: as many as there can be connections need little memory.
const SMALL: usize = 64 << 10;

/// How much all larger ones may hold together, in units of [`SMALL`], from when they are awaited until they are answered.
const ROOM: usize = 4 * LIMIT / SMALL;

/// How long a larger one waits for room: those before it have arrived by then, or were given up.
const ROOM_WAIT: Duration = Duration::from_secs(60);

/// From which event on a client wants to hear again what was said.
const LAST_EVENT_ID: &str = "last-event-id";

/// Who makes a request, and what that one may do. Handlers find it among the extensions of the request.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub subject: String,
    pub grants: Grants,
    /// When the token ends.
    pub until: Instant,
}

/// What stands before the MCP service.
pub(super) struct Guard {
    key: Arc<TokenKey>,
    router: Arc<Router>,
    sessions: Sessions,
    /// Fires when no more requests are taken.
    stop: CancellationToken,
    /// The calls that are not answered to the last byte.
    running: TaskTracker,
    /// What is left of [`ROOM`].
    room: Arc<Semaphore>,
}

/// What a request holds until its answer is sent, or nobody takes it any more.
#[derive(Default)]
struct Holds {
    /// It counts as running.
    _running: Option<TaskTrackerToken>,
    /// Somebody is in its session.
    _visit: Option<Visit>,
    /// Its body takes room.
    _room: Option<OwnedSemaphorePermit>,
}

/// A request that may go on.
struct Admitted {
    request: Request,
    /// The message in it.
    message: Option<JsonObject>,
    subject: String,
    grants: Grants,
    /// How long its token is good from now on.
    lasts: Duration,
    holds: Holds,
}

pub(super) async fn pass(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_json = is_json(request.headers());
    let deletes = request.method() == Method::DELETE;
    let Admitted { request, message, subject, grants, lasts, mut holds } = match guard.admit(request).await {
        Ok(admitted) => admitted,
        Err(refused) => return refused.into_response(),
    };
    let calls = is_of_method(message.as_ref(), "tools/call");
    holds._running = calls.then(|| guard.running.token());
    let mut response = next.run(request).await;
    if let Some(id) = session_of(response.headers()).filter(|_| is_of_method(message.as_ref(), "initialize"))
    {
        guard.sessions.begun(id, &subject, grants);
    }
    match (response.status(), message) {
        // It is JSON, and of another kind.
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, Some(message)) if is_json => {
            Refused::NotAMessage { id: id_of(&message) }.into_response()
        }
        (StatusCode::ACCEPTED, _) if deletes => {
            // The session has ended: there is nothing left to be accepted.
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        _ => {
            // A call that was begun is answered; a stream of notices ends with the token that it was asked for with.
            let ends = (!calls).then(|| Box::pin(sleep(lasts)));
            response.map(|body| Body::new(Outgoing { body, ends, _holds: holds }))
        }
    }
}

fn is_of_method(message: Option<&JsonObject>, method: &str) -> bool {
    message.and_then(|message| message.get("method")).is_some_and(|name| name == method)
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok())
}

impl Guard {
    pub fn new(
        key: Arc<TokenKey>,
        router: Arc<Router>,
        sessions: Sessions,
        stop: CancellationToken,
        running: TaskTracker,
    ) -> Self {
        Self { key, router, sessions, stop, running, room: Arc::new(Semaphore::new(ROOM)) }
    }

    async fn admit(&self, request: Request) -> Result<Admitted, Refused> {
        if self.stop.is_cancelled() {
            return Err(Refused::Ending);
        }
        let (mut parts, body) = request.into_parts();
        let Bearer { subject, scopes, lasts } = self.bearer(&mut parts.headers)?;
        let session = session_of(&parts.headers);
        if session.is_some_and(|id| self.sessions.is_of_another(id, &subject)) {
            return Err(Refused::NoSession);
        }
        let roots = self.router.roots();
        let grants = scope::grants(&scopes, &roots);
        let visit = session.and_then(|id| self.sessions.visit(id, &grants));
        if !visit.as_ref().is_some_and(Visit::may_hear_all) {
            // What was answered to a request with another token is not said once more.
            parts.headers.remove(LAST_EVENT_ID);
        }
        let mut room = None;
        let (mut request, message) = match parts.method {
            Method::POST => {
                room = self.room_for(HttpBody::size_hint(&body)).await?;
                let message = message(&read(body).await?)?;
                if let Some(scope) = demands(&message).iter().find_map(|demand| demand.lacks(&grants, &roots))
                {
                    return Err(Refused::Lacks { scope, id: id_of(&message) });
                }
                if is_of_method(Some(&message), "initialize") && !self.sessions.have_room().await {
                    return Err(Refused::TooManySessions);
                }
                // What was looked at goes on, and not what was sent: two readers may take one text for different things.
                let body = serde_json::to_vec(&message).map_err(Refused::NotJson)?;
                for length in [CONTENT_LENGTH, TRANSFER_ENCODING] {
                    parts.headers.remove(length);
                }
                (Request::from_parts(parts, Body::from(body)), Some(message))
            }
            Method::DELETE => {
                self.know_session(&parts).await?;
                (Request::from_parts(parts, body), None)
            }
            _ => (Request::from_parts(parts, body), None),
        };
        request.extensions_mut().insert(Holder {
            subject: subject.clone(),
            grants: grants.clone(),
            until: Instant::now() + lasts,
        });
        let holds = Holds { _running: None, _visit: visit, _room: room };
        Ok(Admitted { request, message, subject, grants, lasts, holds })
    }

    /// Room for a body, unless it is small: as much as it says that it needs.
    async fn room_for(&self, size: SizeHint) -> Result<Option<OwnedSemaphorePermit>, Refused> {
        // Said beforehand: nothing of it is waited for.
        if size.lower() > LIMIT as u64 {
            return Err(Refused::TooLarge);
        }
        let size = size.upper().and_then(|size| usize::try_from(size).ok()).unwrap_or(LIMIT).min(LIMIT);
        if size <= SMALL {
            return Ok(None);
        }
        let units = u32::try_from(size.div_ceil(SMALL)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units);
        match tokio::time::timeout(ROOM_WAIT, room).await {
            Ok(Ok(room)) => Ok(Some(room)),
            Ok(Err(_)) | Err(_) => Err(Refused::Full),
        }
    }

    /// Who has the token of a request. It goes no further.
    fn bearer(&self, headers: &mut HeaderMap) -> Result<Bearer, Refused> {
        let given = headers.get_all(AUTHORIZATION).iter().collect::<Vec<_>>();
        let token = match given.as_slice() {
            [one] => one.to_str().ok().and_then(|text| text.split_once(' ')),
            _ => None,
        };
        let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, token) = token.ok_or(Refused::NoToken)?;
        let bearer = self.key.verify(token.trim()).map_err(Refused::BadToken)?;
        headers.remove(AUTHORIZATION);
        Ok(bearer)
    }

    /// Refuses a session that there is not. The service does so itself but for one that is to end.
    async fn know_session(&self, parts: &Parts) -> Result<(), Refused> {
        let Some(id) = session_of(&parts.headers) else { return Ok(()) };
        if self.sessions.has(id).await { Ok(()) } else { Err(Refused::NoSession) }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

async fn read(body: Body) -> Result<Bytes, Refused> {
    let whole = tokio::time::timeout(ARRIVAL, axum::body::to_bytes(body, LIMIT));
    whole.await.map_err(|_| Refused::TooSlow)?.map_err(|error| {
        let source = std::error::Error::source(&error);
        let too_large = source.and_then(|source| source.downcast_ref::<LengthLimitError>()).is_some();
        if too_large { Refused::TooLarge } else { Refused::Broken(error) }
    })
}

fn message(body: &[u8]) -> Result<JsonObject, Refused> {
    match serde_json::from_slice(body).map_err(Refused::NotJson)? {
        Value::Object(message) if message.get("jsonrpc").is_some_and(|version| version == "2.0") => {
            Ok(message)
        }
        Value::Object(message) => Err(Refused::NotAMessage { id: id_of(&message) }),
        Value::Array(_) => Err(Refused::Batch),
        _ => Err(Refused::NotAMessage { id: Value::Null }),
    }
}

fn id_of(message: &JsonObject) -> Value {
    match message.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => Value::Null,
    }
}

/// A body on its way to the client.
struct Outgoing {
    body: Body,
    /// When it ends, whatever is still to come.
    ends: Option<Pin<Box<Sleep>>>,
    _holds: Holds,
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.ends.as_mut().map(|ends| ends.as_mut().poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(None),
            Some(Poll::Pending) | None => Pin::new(&mut self.body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_its_token() {
        let lasts = Duration::from_secs(60);
        let began = tokio::time::Instant::now();
        let notices = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let outgoing = |body| Outgoing { body, ends: Some(Box::pin(sleep(lasts))), _holds: Holds::default() };
        let mut stream = outgoing(notices);
        assert!(stream.frame().await.is_none());
        assert_eq!(began.elapsed(), lasts);
        let mut whole = outgoing(Body::from("answer"));
        assert_eq!(whole.frame().await.unwrap().unwrap().into_data().unwrap(), "answer");
    }
}
