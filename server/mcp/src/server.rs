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

use crate::client_roots::ClientRoots;
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
    roots: ClientRoots,
    /// Set when nobody listens any more.
    ended: CancellationToken,
}

impl Server {
    /// A server that lists these toolsets.
    #[must_use]
    pub fn new(router: Arc<Router>, sets: &[Toolset], names: NameStyle) -> Self {
        let sets: BTreeSet<_> = sets.iter().copied().collect();
        let tools = list(&sets, names);
        let inner = Inner {
            router,
            sets,
            tools,
            connection: uuid::Uuid::new_v4().to_string(),
            roots: ClientRoots::default(),
            ended: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
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
        inner.roots.settle(&context.peer, &inner.router).await;
        let agent = context.client_info().map_or_else(|| "an agent".to_owned(), |client| client.name);
        let origin = Origin { agent, connection: inner.connection.clone() };
        let arguments = request.arguments.unwrap_or_default();
        tokio::select! {
            result = inner.router.call(&origin, tool, arguments, &context.ct) => result,
            // A call that changes something is finished, whoever listens.
            () = inner.ended.cancelled(), if matches!(tool, ToolName::AwaitReview | ToolName::SearchText) => {
                Reply::refused("The connection has ended.").into_result()
            }
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
        self.inner.roots.settle(&context.peer, &self.inner.router).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner.roots.changed();
        self.inner.roots.settle(&context.peer, &self.inner.router).await;
    }
}
