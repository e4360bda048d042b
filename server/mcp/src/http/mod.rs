//! MCP over HTTP: Streamable HTTP at `/mcp` in both eras of the protocol, for whoever has a token.
//!
//! All agents share one [`Router`]. What each may reach its token says (`scope`), which is looked at with every request (`guard`) and
//! kept to again where paths are opened. An agent's own roots are not asked for: it may run on another machine, whose folders mean
//! nothing here.
//!
//! # Limitations
//!
//! - There is no TLS: beyond this machine, put a proxy that has it in front.
//! - Tokens cannot be taken back one by one: they end by themselves, and all of them when the secret is removed.

mod allowed_origins;
mod connections;
mod error_responses;
#[cfg(feature = "conformance")]
mod fixtures;
mod guard;
mod hs256;
mod listener;
mod message;
mod outgoing;
mod priming;
mod request_body_limit;
mod requested_access;
mod scope;
mod sessions;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use hashline_link::CancellationToken;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::task::TaskTracker;

use crate::http::allowed_origins::Names;
use crate::http::connections::{Connections, MOST, STREAMS};
use crate::http::guard::Guard;
pub(crate) use crate::http::guard::TokenHolder;
use crate::http::listener::Listener;
pub use crate::http::scope::{BadScope, Scope};
use crate::http::sessions::Sessions;
pub use crate::http::token::TokenKey;
use crate::router::Router;
use crate::server::Server;
use crate::streams::ServeError;
use crate::toolset::{NameStyle, Toolset};

/// Where HTTP is served unless told otherwise: on this machine only.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:8437";

/// How long calls have to be finished when the server ends, or their session.
const LAST_CALLS: Duration = Duration::from_secs(10);

/// What is served, and to whom.
pub struct HttpOptions {
    /// Tells good tokens.
    pub key: Arc<TokenKey>,
    /// Names under which clients reach this machine, besides those of the loopback and of the address that is listened at.
    pub hosts: Vec<String>,
    /// The tools.
    pub toolsets: Vec<Toolset>,
    /// How their names are listed.
    pub names: NameStyle,
}

/// A server that listens, and serves from [`serve`](Self::serve) on.
pub struct HttpServer {
    listener: Listener,
    address: SocketAddr,
    names: Names,
    router: Arc<Router>,
    key: Arc<TokenKey>,
    toolsets: Vec<Toolset>,
    tool_names: NameStyle,
}

impl HttpServer {
    /// Listens at an address such as `127.0.0.1:8437`; port 0 is any that is free.
    ///
    /// # Errors
    ///
    /// [`ServeError::Listen`]: the address cannot be had. [`ServeError::Host`]: a name of this machine is none.
    pub async fn bind(address: &str, router: Arc<Router>, options: HttpOptions) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address: address.to_owned(), source };
        let listener = Listener::bind(address).await.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        let HttpOptions { key, hosts, toolsets, names: tool_names } = options;
        let bad_name = |(name, why)| ServeError::Host { name, why };
        let names = Names::new(address.ip(), hosts).map_err(bad_name)?;
        Ok(Self { listener, address, names, router, key, toolsets, tool_names })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Fires when it listens no more, so that its address can be had again. Calls may be running then.
    #[must_use]
    pub fn closed(&self) -> CancellationToken {
        self.listener.closed()
    }

    /// Serves until `stop` fires. Calls that are running then are finished and answered; waits for the person end.
    pub async fn serve(self, stop: CancellationToken) {
        let Self { listener, names, router, key, toolsets, tool_names, .. } = self;
        let running = TaskTracker::new();
        let streams = CancellationToken::new();
        let server = Server::for_tokens(router.clone(), &toolsets, tool_names, stop.clone(), running.clone());
        let mut manager = LocalSessionManager::default();
        // It counts notices that nobody hears, and ends streams in which there are none.
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        let sessions = Sessions::new(manager.clone());
        let service = StreamableHttpService::new(
            move || {
                let server = server.for_another();
                #[cfg(feature = "conformance")]
                let server = fixtures::Fixtures(server);
                Ok(server)
            },
            manager,
            configured().with_cancellation_token(streams.clone()),
        );
        let guard = Guard::new(names, key, router, sessions.clone(), stop.clone(), running.clone());
        let app = axum::Router::new()
            .route_service("/mcp", service)
            .route_layer(axum::middleware::from_fn_with_state(Arc::new(guard), guard::pass))
            .route("/health", get(async || ([(CONTENT_TYPE, "application/json")], r#"{"status":"ok"}"#)));
        let last = async {
            running.close();
            if tokio::time::timeout(LAST_CALLS, running.wait()).await.is_err() {
                tracing::warn!("some calls were not finished in time");
            }
            streams.cancel();
        };
        tokio::select! {
            () = listener::serve(listener, app, Connections::new(MOST, STREAMS), &stop, last) => {}
            never = sessions.end_abandoned() => match never {},
        }
    }
}

/// The service, without what the guard looks at.
fn configured() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        // It takes `[::1].evil.example` for `::1`.
        .disable_allowed_hosts()
        // The guard has its own limit.
        .with_max_request_body_bytes(usize::MAX)
}
