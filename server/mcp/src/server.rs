//! MCP over a router: what is said of the server, its tools, and their calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashline_link::CancellationToken;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::task::TaskTracker;

use crate::client_roots::ClientRoots;
use crate::http::Holder;
use crate::instructions::INSTRUCTIONS;
use crate::reply::Reply;
use crate::router::{Origin, Router};
use crate::toolset::{NameStyle, ToolName, Toolset, list};

/// The MCP server of one connection.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    router: Arc<Router>,
    sets: BTreeSet<Toolset>,
    tools: Vec<Tool>,
    connection: String,
    clients: Clients,
    /// Set when nobody listens any more.
    ended: CancellationToken,
}

/// Who calls, and what they may reach.
enum Clients {
    /// The one agent at the other end, which names its roots.
    One(ClientRoots),
    /// Whoever has a token: it says with each request what that one may do.
    Holders {
        /// The calls that change something and are not finished.
        running: TaskTracker,
    },
}

impl Server {
    /// A server that lists these toolsets.
    #[must_use]
    pub fn new(router: Arc<Router>, sets: &[Toolset], names: NameStyle) -> Self {
        Self::of(router, sets, names, Clients::One(ClientRoots::default()), CancellationToken::new())
    }

    /// A server for whoever has a token, until `ended` fires. `running` counts the calls that have to be finished then.
    pub(crate) fn for_tokens(
        router: Arc<Router>,
        sets: &[Toolset],
        names: NameStyle,
        ended: CancellationToken,
        running: TaskTracker,
    ) -> Self {
        Self::of(router, sets, names, Clients::Holders { running }, ended)
    }

    fn of(
        router: Arc<Router>,
        sets: &[Toolset],
        names: NameStyle,
        clients: Clients,
        ended: CancellationToken,
    ) -> Self {
        let sets: BTreeSet<_> = sets.iter().copied().collect();
        let tools = list(&sets, names);
        let connection = uuid::Uuid::new_v4().to_string();
        Self { inner: Arc::new(Inner { router, sets, tools, connection, clients, ended }) }
    }

    /// The same for another connection.
    pub(crate) fn for_another(&self) -> Self {
        let Inner { router, sets, tools, clients, ended, .. } = &*self.inner;
        let clients = match clients {
            Clients::One(_) => Clients::One(ClientRoots::default()),
            Clients::Holders { running } => Clients::Holders { running: running.clone() },
        };
        let (router, sets, tools, ended) = (router.clone(), sets.clone(), tools.clone(), ended.clone());
        let connection = uuid::Uuid::new_v4().to_string();
        Self { inner: Arc::new(Inner { router, sets, tools, connection, clients, ended }) }
    }

    /// Told when nobody listens any more, so that calls that wait end.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.inner.ended
    }

    /// The tool of a name, if it is one of those that are offered.
    fn offered(&self, name: &str) -> Option<ToolName> {
        ToolName::parse(name).filter(|tool| self.inner.sets.contains(&tool.toolset()))
    }

    async fn run(
        &self,
        tool: ToolName,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let inner = &self.inner;
        let Some(origin) = self.origin(&context).await else {
            return Reply::refused("Nothing was done: this request came without a token.").into_result();
        };
        let _running = match &inner.clients {
            Clients::Holders { running } if !tool.is_read_only() => Some(running.token()),
            _ => None,
        };
        let arguments = request.arguments.unwrap_or_default();
        tokio::select! {
            result = inner.router.call(&origin, tool, arguments, &context.ct) => result,
            // A call that changes something is finished, whoever listens.
            () = inner.ended.cancelled(), if tool == ToolName::AwaitReview => {
                Reply::refused("The connection has ended.").into_result()
            }
        }
    }
}

impl Server {
    /// Who makes a request; none for one that had to have a token and has none.
    async fn origin(&self, context: &RequestContext<RoleServer>) -> Option<Origin> {
        let inner = &self.inner;
        let agent = context.client_info().map_or_else(|| "an agent".to_owned(), |client| client.name);
        match &inner.clients {
            Clients::One(roots) => {
                roots.settle(&context.peer, &inner.router).await;
                Some(Origin { agent, connection: inner.connection.clone(), grants: None })
            }
            Clients::Holders { .. } => {
                let parts = context.extensions.get::<axum::http::request::Parts>()?;
                let Holder { subject, grants } = parts.extensions.get::<Holder>()?.clone();
                // Without sessions every request comes to a server of its own: an agent is known by its token's name.
                let stateless = context.meta.protocol_version().is_some();
                let connection = if stateless { &agent } else { &inner.connection };
                let connection = format!("{subject} {connection}");
                Some(Origin { agent, connection, grants: Some(grants) })
            }
        }
    }

    /// Asks the one agent for its roots, where it has some.
    async fn settle_roots(&self, context: &NotificationContext<RoleServer>) {
        if let Clients::One(roots) = &self.inner.clients {
            roots.settle(&context.peer, &self.inner.router).await;
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let hashline = Implementation::new("hashline", env!("CARGO_PKG_VERSION"))
            .with_title("hashline: edits in the person's editor");
        ServerConfig::new(capabilities).with_server_info(hashline).with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.offered(name)?;
        self.inner.tools.iter().find(|listed| listed.name == tool.as_str()).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.offered(&request.name) {
            Some(tool) => Ok(self.run(tool, request, context).await.into()),
            None => {
                let names: Vec<_> = self.inner.tools.iter().map(|tool| tool.name.as_ref()).collect();
                let message = format!("Unknown tool: {}. There are {}.", request.name, names.join(", "));
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Asked before the first call needs it.
        self.settle_roots(&context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        if let Clients::One(roots) = &self.inner.clients {
            roots.changed();
        }
        self.settle_roots(&context).await;
    }
}
