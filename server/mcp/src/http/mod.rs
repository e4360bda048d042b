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

mod connections;
mod demand;
#[cfg(feature = "conformance")]
mod fixtures;
mod guard;
mod listener;
mod outgoing;
mod refused;
mod room;
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

use crate::http::connections::{Connections, MOST, STREAMS};
use crate::http::guard::Guard;
pub(crate) use crate::http::guard::TokenHolder;
use crate::http::listener::Listener;
pub use crate::http::scope::{BadScope, Scope};
use crate::http::sessions::Sessions;
pub use crate::http::token::TokenKey;
use crate::router::Router;
use crate::server::Server;
use crate::stdio::ServeError;
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
    router: Arc<Router>,
    options: HttpOptions,
}

impl HttpServer {
    /// Listens at an address such as `127.0.0.1:8437`; port 0 is any that is free.
    ///
    /// # Errors
    ///
    /// [`ServeError::Listen`]: the address cannot be had.
    pub async fn bind(address: &str, router: Arc<Router>, options: HttpOptions) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address: address.to_owned(), source };
        let listener = Listener::bind(address).await.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        Ok(Self { listener, address, router, options })
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
        let Self { listener, address, router, options } = self;
        let HttpOptions { key, hosts, toolsets, names } = options;
        let running = TaskTracker::new();
        let streams = CancellationToken::new();
        let server = Server::for_tokens(router.clone(), &toolsets, names, stop.clone(), running.clone());
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
            configured(address, hosts).with_cancellation_token(streams.clone()),
        );
        let guard = Guard::new(key, router, sessions.clone(), stop.clone(), running.clone());
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

/// The service, for these names of this machine and pages that come from them.
fn configured(address: SocketAddr, hosts: Vec<String>) -> StreamableHttpServerConfig {
    let mut hosts: Vec<String> =
        ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into_iter().chain(hosts).collect();
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    let origins: Vec<String> = hosts
        .iter()
        .flat_map(|host| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            [format!("http://{host}:*"), format!("https://{host}:*")]
        })
        .collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        // The guard has its own limit.
        .with_max_request_body_bytes(usize::MAX)
}
