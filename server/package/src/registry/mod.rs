//! The registry: keeps what publishers send, after a look at the files themselves.
//!
//! A request that changes something is allowed or refused before anything is fetched for it, its files are fetched while nothing is held
//! but a place among those that are fetched for, and the store alone decides which of two is first.

mod answer;
mod auth;
mod body;
mod counters;
mod error_responses;
mod list;
mod listener;
mod publish;
mod status;
mod version;
mod write_timeout;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, patch, post};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub use auth::Auth;
use counters::Counters;
use error_responses::Refused;

use crate::hashes::Hasher;
use crate::store::Store;

/// The longest server.json.
const MAX_DOCUMENT: usize = 1 << 20;
/// Versions whose files are fetched at one time.
const CHECKED_AT_ONCE: usize = 8;
/// And those that wait for it.
const WAITING: usize = 64;

/// A registry, with its store.
pub struct Registry<S> {
    store: S,
    hasher: Hasher,
    auth: Auth,
    limits: RegistryLimits,
    checked: Semaphore,
    waiting: Semaphore,
    counters: Counters,
}

/// How long one request may take, beside the files that are fetched for it.
#[derive(Clone, Debug)]
pub struct RegistryLimits {
    /// The time in which its head has to be there, and that in which the rest has.
    pub request: Duration,
    /// The time in which its answer has to be taken.
    pub answer: Duration,
}

impl<S: Store> Registry<S> {
    /// A registry that lets in whom `auth` lets in.
    #[must_use]
    pub fn new(store: S, hasher: Hasher, auth: Auth, limits: RegistryLimits) -> Self {
        let [checked, waiting] = [CHECKED_AT_ONCE, WAITING].map(Semaphore::new);
        Self { store, hasher, auth, limits, checked, waiting, counters: Counters::default() }
    }

    /// Serves until `stop`, and then ends what has begun.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) {
        let limits = self.limits.clone();
        listener::serve(listener, routes(Arc::new(self)), &limits, stop).await;
    }
}

type Shared<S> = State<Arc<Registry<S>>>;

/// Everything that can be asked, under both of the prefixes that clients use.
fn routes<S: Store>(registry: Arc<Registry<S>>) -> Router {
    let api = Router::new()
        .route("/publish", post(publish::publish))
        .route("/validate", post(publish::validate))
        .route("/servers", get(list::servers))
        .route("/servers/{name}/status", patch(status::all))
        .route("/servers/{name}/versions", get(list::versions))
        .route("/servers/{name}/versions/{version}", get(version::version))
        .route("/servers/{name}/versions/{version}/status", patch(status::one))
        .route("/health", get(health))
        .route("/ping", get(ping));
    Router::new()
        .nest("/v0", api.clone())
        .nest("/v0.1", api)
        .route("/health", get(health))
        .route("/ping", get(ping))
        .route("/metrics", get(metrics))
        .fallback(async || Refused::not_found("there is no such page; see /v0.1/servers"))
        .method_not_allowed_fallback(async || Refused::method())
        .layer(DefaultBodyLimit::max(MAX_DOCUMENT))
        .layer(middleware::from_fn(only_text))
        .with_state(registry)
}

/// Whatever is asked for by letters that are none is not looked for.
async fn only_text(request: Request, next: Next) -> Result<Response, Refused> {
    let uri = request.uri();
    let is_text = |part: &str| percent_decode_str(part).decode_utf8().is_ok();
    if !is_text(uri.path()) || !is_text(uri.query().unwrap_or_default()) {
        return Err(Refused::no_text(uri));
    }
    Ok(next.run(request).await)
}

async fn health<S: Store>(State(registry): Shared<S>) -> Result<Json<Value>, Refused> {
    registry.store.version("", crate::store::Which::Latest).await?;
    Ok(Json(json!({"status": "ok"})))
}

async fn ping() -> Json<Value> {
    Json(json!({"pong": true, "version": env!("CARGO_PKG_VERSION")}))
}

async fn metrics<S: Store>(State(registry): Shared<S>) -> String {
    registry.counters.to_string()
}
