//! What every request to `/mcp` has to pass: its token, its size, and what the token gives.
//!
//! A handler of a tool cannot choose the status of the answer, so what a token lacks is found here, in the body. The workspace keeps each
//! call to its grants once more, where the path is opened: a link that is moved in between leads nowhere.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::TryStreamExt;
use futures::future::ready;
use hashline_history::Holder;
use hashline_link::{CancellationToken, apart, done_apart};
use hashline_workspace::Grants;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::http::allowed_origins::Names;
use crate::http::connections::Unanswered;
use crate::http::error_responses::Refused;
use crate::http::message::{Said, message};
use crate::http::outgoing::Outgoing;
use crate::http::priming;
use crate::http::request_body_limit::{Room, Taken};
use crate::http::requested_access::demands;
use crate::http::scope;
use crate::http::sessions::{Sessions, Visit};
use crate::http::token::{BadToken, Bearer, TokenKey};
use crate::router::Router;

/// From which event on a client wants to hear again what was said.
const LAST_EVENT_ID: &str = "last-event-id";

/// How long the service's own words may be, in bytes.
const WORDS: usize = 4 << 10;

/// Who makes a request, and what that one may do. Handlers find it among the extensions of the request.
#[derive(Clone, Debug)]
pub(crate) struct TokenHolder {
    pub holder: Holder,
    pub grants: Grants,
    /// When the token ends; none where that is further away than a clock can tell.
    pub until: Option<Instant>,
    /// What the message takes of the room for bodies, until nobody has the request any more. Its answer may go on for long.
    _room: Arc<Taken>,
}

/// What stands before the MCP service.
pub(super) struct Guard {
    names: Names,
    key: Arc<TokenKey>,
    router: Arc<Router>,
    sessions: Sessions,
    /// Fires when no more requests are taken.
    stop: CancellationToken,
    /// The calls that are not answered to the last byte.
    running: TaskTracker,
    room: Room,
}

/// What a request holds until its answer is sent, or nobody takes it any more.
#[derive(Default)]
struct Holds {
    /// It counts as running.
    _running: Option<TaskTrackerToken>,
    /// It counts as a change that runs in its session.
    _change: Option<TaskTrackerToken>,
    /// Somebody is in its session.
    _visit: Option<Visit>,
}

/// A request that may go on.
struct Admitted {
    request: Request,
    /// What it says, if there is a message in it.
    said: Option<Said>,
    holder: Holder,
    grants: Grants,
    /// How long its token is good from now on.
    lasts: Duration,
    holds: Holds,
}

pub(super) async fn pass(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_json = has_json(request.headers());
    let method = request.method().clone();
    let Admitted { request, said, holder, grants, lasts, mut holds } = match guard.admit(request).await {
        Ok(admitted) => admitted,
        Err(refused) => return refused.into_response(),
    };
    let is_of_method = |method: &str| said.as_ref().is_some_and(|said| said.method == method);
    let calls = is_of_method("tools/call");
    holds._running = calls.then(|| guard.running.token());
    let version = said.as_ref().and_then(|said| said.version.as_deref());
    let is_primed = priming::is_known_to(version, request.headers());
    // The service reads it once more.
    let size = said.as_ref().map_or(0, |said| said.size);
    let mut response = apart(size, next.run(request)).await;
    if let Some(id) = session_of(response.headers()).filter(|_| is_of_method("initialize")) {
        guard.sessions.begun(id, &holder, grants.clone());
    }
    match (response.status(), said) {
        // It is JSON, and of another kind.
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, Some(Said { id, .. })) if is_json => {
            Refused::NotAMessage { id }.into_response()
        }
        (StatusCode::ACCEPTED, _) if method == Method::DELETE => {
            // The session has ended: there is nothing left to be accepted.
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        (status, said) if status.is_client_error() && !has_json(response.headers()) => {
            let id = said.map_or(Value::Null, |said| said.id);
            let words = to_bytes(mem::take(response.body_mut()), WORDS).await.unwrap_or_default();
            let refused = Refused::by_service(status, &words, id);
            refused.map_or(response, IntoResponse::into_response)
        }
        _ => {
            if method == Method::GET {
                // What is told in a session was asked for with the tokens of its requests, which may have given more than this one.
                response = with_events(response, move |event| guard.may_hear(event, &grants));
            }
            if !is_primed && has_events(response.headers()) {
                response = with_events(response, |event| !priming::is_priming(event));
            }
            // A call that was begun is answered; a stream of notices ends with the token that it was asked for with.
            response.map(|body| {
                let outgoing = Outgoing::new(body, holds);
                Body::new(if calls { outgoing } else { outgoing.for_as_long_as(lasts) })
            })
        }
    }
}

/// The answer with those of its events that are wanted. Each comes in a frame of its own.
fn with_events(response: Response, is_wanted: impl Fn(&Bytes) -> bool + Send + 'static) -> Response {
    response.map(|body| {
        Body::from_stream(body.into_data_stream().try_filter(move |event| ready(is_wanted(event))))
    })
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok())
}

impl Guard {
    pub fn new(
        names: Names,
        key: Arc<TokenKey>,
        router: Arc<Router>,
        sessions: Sessions,
        stop: CancellationToken,
        running: TaskTracker,
    ) -> Self {
        Self { names, key, router, sessions, stop, running, room: Room::new() }
    }

    async fn admit(&self, request: Request) -> Result<Admitted, Refused> {
        if self.stop.is_cancelled() {
            return Err(Refused::Ending);
        }
        let (mut parts, body) = request.into_parts();
        self.names.admit(&parts.uri, &parts.headers).map_err(Refused::Foreign)?;
        let unanswered = parts.extensions.remove::<Arc<Unanswered>>();
        let roots = self.router.roots();
        let bearer = self.bearer(&mut parts.headers)?;
        if !bearer.is_for(&roots) {
            return Err(Refused::BadToken(BadToken::OtherFolders));
        }
        let Bearer { holder, scopes, lasts, .. } = bearer;
        let session = session_of(&parts.headers);
        if session.is_some_and(|id| self.sessions.is_of_another(id, &holder)) {
            return Err(Refused::NoSession);
        }
        if unanswered.as_ref().is_some_and(|unanswered| !unanswered.is_of(&holder)) {
            return Err(Refused::TooManyRequests);
        }
        let grants = scope::grants(&scopes, &roots);
        let visit = session.and_then(|id| self.sessions.visit(id, &grants));
        if !visit.as_ref().is_some_and(Visit::may_hear_all) {
            // What was answered to a request with another token is not said once more.
            parts.headers.remove(LAST_EVENT_ID);
        }
        let mut room = Taken::default();
        let (mut request, said) = match parts.method {
            Method::POST => {
                let (sent, taken) = self.room.read(body, &holder).await?;
                let size = sent.len();
                let message = done_apart(size, || message(&sent))?;
                drop(sent);
                let said = Said::of(&message, size);
                if let Some(scope) = demands(&message).iter().find_map(|demand| demand.lacks(&grants, &roots))
                {
                    return Err(Refused::Lacks { scope, id: said.id });
                }
                if said.method == "initialize" && !self.sessions.make_room(&holder).await {
                    return Err(Refused::TooManySessions);
                }
                // What was looked at goes on, and not what was sent: two readers may take one text for different things.
                let body = done_apart(size, || serde_json::to_vec(&message)).map_err(Refused::NotJson)?;
                room = taken.for_size(body.len());
                for length in [CONTENT_LENGTH, TRANSFER_ENCODING] {
                    parts.headers.remove(length);
                }
                (Request::from_parts(parts, Body::from(body)), Some(said))
            }
            Method::DELETE => {
                self.know_session(&parts).await?;
                if let Some(id) = session_of(&parts.headers) {
                    if !self.sessions.may_end(id, &grants) {
                        return Err(Refused::NotYoursToEnd);
                    }
                    self.sessions.changes_answered(id).await;
                }
                (Request::from_parts(parts, body), None)
            }
            _ => (Request::from_parts(parts, body), None),
        };
        let streams = match &said {
            Some(said) => said.method == "subscriptions/listen",
            None => request.method() == Method::GET,
        };
        if streams && !unanswered.is_none_or(|unanswered| unanswered.stream()) {
            return Err(Refused::TooManyStreams);
        }
        request.extensions_mut().insert(TokenHolder {
            holder: holder.clone(),
            grants: grants.clone(),
            until: Instant::now().checked_add(lasts),
            _room: Arc::new(room),
        });
        let changes = said.as_ref().is_some_and(|said| said.changes);
        let change = visit.as_ref().filter(|_| changes).and_then(Visit::change);
        let holds = Holds { _running: None, _change: change, _visit: visit };
        Ok(Admitted { request, said, holder, grants, lasts, holds })
    }

    /// Whether an event of a session tells only of what is given.
    fn may_hear(&self, event: &[u8], grants: &Grants) -> bool {
        let data = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data:"));
        let message = data.and_then(|data| serde_json::from_slice(data).ok()).unwrap_or_default();
        let roots = self.router.roots();
        demands(&message).iter().all(|demand| demand.lacks(grants, &roots).is_none())
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

fn has_json(headers: &HeaderMap) -> bool {
    is_of_kind(headers, "application/json")
}

fn has_events(headers: &HeaderMap) -> bool {
    is_of_kind(headers, "text/event-stream")
}

fn is_of_kind(headers: &HeaderMap, kind: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
}
