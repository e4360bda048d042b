//! MCP over a router: what is said of the server, its tools and resources, and their calls.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use hashline_history::{AgentName, Connection, Through};
use hashline_link::{CancellationToken, apart};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, Implementation, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Reference, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::task::TaskTracker;

use crate::argument_limits;
use crate::client_roots::ClientRoots;
use crate::hooks::{self, HookedProgram};
use crate::http::TokenHolder;
use crate::instructions::instructions;
use crate::reply::Reply;
use crate::resources::subscriptions::{self, Subscriptions};
use crate::resources::{contents, open, template};
use crate::router::{Interest, Origin, Router};
use crate::toolset::{NameStyle, ToolName, Toolset, list};

/// The MCP server of one connection.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    router: Arc<Router>,
    offer: Arc<Offer>,
    connection: String,
    /// What the one agent at the other end calls its session, once one of its hooks has said so: it may go on with that later, over another
    /// connection.
    session: OnceLock<Connection>,
    clients: Clients,
    subscriptions: Subscriptions,
    /// Set when nobody listens any more.
    ended: CancellationToken,
}

/// What every connection is offered.
struct Offer {
    sets: BTreeSet<Toolset>,
    tools: Vec<Tool>,
    instructions: String,
}

/// Who calls, and what they may reach.
enum Clients {
    /// The one agent at the other end, which names its roots.
    One(ClientRoots),
    /// Whoever has a token: it says with each request what that one may do.
    TokenHolders {
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
        Self::of(router, sets, names, Clients::TokenHolders { running }, ended)
    }

    fn of(
        router: Arc<Router>,
        sets: &[Toolset],
        names: NameStyle,
        clients: Clients,
        ended: CancellationToken,
    ) -> Self {
        let sets: BTreeSet<_> = sets.iter().copied().collect();
        let (tools, instructions) = (list(&sets, names), instructions(&sets, names));
        Self::with_offer(router, Arc::new(Offer { sets, tools, instructions }), clients, ended)
    }

    fn with_offer(
        router: Arc<Router>,
        offer: Arc<Offer>,
        clients: Clients,
        ended: CancellationToken,
    ) -> Self {
        let connection = uuid::Uuid::new_v4().to_string();
        let subscriptions = Subscriptions::default();
        let session = OnceLock::new();
        Self { inner: Arc::new(Inner { router, offer, connection, session, clients, subscriptions, ended }) }
    }

    /// The same for another connection.
    pub(crate) fn for_another(&self) -> Self {
        let Inner { router, offer, clients, ended, .. } = &*self.inner;
        let clients = match clients {
            Clients::One(_) => Clients::One(ClientRoots::default()),
            Clients::TokenHolders { running } => Clients::TokenHolders { running: running.clone() },
        };
        Self::with_offer(router.clone(), Arc::clone(offer), clients, ended.clone())
    }

    /// Told when nobody listens any more, so that calls that wait end.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.inner.ended
    }

    /// The tool of a name, if it is one of those that are offered.
    fn offered(&self, name: &str) -> Option<ToolName> {
        ToolName::parse(name).filter(|tool| self.inner.offer.sets.contains(&tool.toolset()))
    }

    async fn run(
        &self,
        tool: ToolName,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let inner = &self.inner;
        let origin = match self.origin(&context).await {
            Ok(origin) => origin,
            Err(error) => return Reply::refused(error.message).into_result(),
        };
        let _running = match &inner.clients {
            Clients::TokenHolders { running } if !tool.is_read_only() => Some(running.token()),
            _ => None,
        };
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

impl Server {
    /// Answers a hook of the one agent at the other end.
    async fn hook(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let inner = &self.inner;
        let given = request.arguments.unwrap_or_default();
        let is_codex = given.get("agent").is_some_and(|agent| agent == "codex");
        let program = if is_codex { HookedProgram::Codex } else { HookedProgram::ClaudeCode };
        if let Some(session) = hooks::session(program, &given) {
            inner.session.get_or_init(|| session);
        }
        match self.origin(&context).await {
            // A hook does nothing that the agent is offered no tool for.
            Ok(_) if !inner.offer.sets.contains(&Toolset::Files) => Reply::new("").into_result(),
            Ok(origin) => {
                Reply::new(hooks::answer(&inner.router, &origin, program, given).await).into_result()
            }
            Err(error) => Reply::refused(error.message).into_result(),
        }
    }

    /// Who makes a request.
    ///
    /// # Errors
    ///
    /// It had to have a token and has none.
    async fn origin(&self, context: &RequestContext<RoleServer>) -> Result<Origin, ErrorData> {
        let inner = &self.inner;
        let reviews = inner.offer.sets.contains(&Toolset::Review);
        let agent = context.client_info().map_or_else(AgentName::default, |client| client.name.into());
        match &inner.clients {
            Clients::One(roots) => {
                roots.settle(&context.peer, &inner.router).await;
                let connection = inner.session.get().cloned();
                let connection = connection.unwrap_or_else(|| inner.connection.as_str().into());
                Ok(Origin { agent, connection, grants: None, reviews })
            }
            Clients::TokenHolders { .. } => {
                let Some(TokenHolder { holder, grants, .. }) = holder(context).cloned() else {
                    let words = "Nothing was done: this request came without a token.";
                    return Err(ErrorData::invalid_request(words, None));
                };
                // Without sessions every request comes to a server of its own: an agent is known by the name that it gives.
                let through = match context.meta.protocol_version() {
                    Some(_) => Through::Agent(agent.clone()),
                    None => Through::Session(inner.connection.clone()),
                };
                let connection = Connection::Held { holder, through };
                Ok(Origin { agent, connection, grants: Some(grants), reviews })
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
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        let hashline = Implementation::new("hashline", env!("CARGO_PKG_VERSION"))
            .with_title("hashline: edits in the person's editor");
        let instructions = self.inner.offer.instructions.clone();
        ServerConfig::new(capabilities).with_server_info(hashline).with_instructions(instructions)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.offered(name)?;
        self.inner.offer.tools.iter().find(|listed| ToolName::parse(&listed.name) == Some(tool)).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.offer.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.offered(&request.name) {
            None if request.name == hooks::TOOL && matches!(self.inner.clients, Clients::One(_)) => {
                let size = request.arguments.as_ref().map_or(0, argument_limits::size);
                Ok(apart(size, self.hook(request, context)).await.into())
            }
            Some(tool) => {
                let size = request.arguments.as_ref().map_or(0, argument_limits::size);
                Ok(apart(size, self.run(tool, request, context)).await.into())
            }
            None => {
                let names: Vec<_> = self.inner.offer.tools.iter().map(|tool| tool.name.as_ref()).collect();
                let message = format!("Unknown tool: {}. There are {}.", request.name, names.join(", "));
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    /// A request of a method that is known comes here when its params do not have their form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        let form = match method.as_str() {
            "tools/call" => "name is a string, and arguments an object such as {\"path\": \"a.txt\"}",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri is a string",
            "completion/complete" => "ref is an object, and argument one of the strings name and value",
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
        };
        let words = format!(
            "Nothing was done: the params of {method} do not have their form: {form}. Send it again so."
        );
        Err(ErrorData::invalid_params(words, None))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let Inner { router, subscriptions, .. } = &*self.inner;
        let origin = self.origin(&context).await?;
        // Whoever has a list hears when it is another; without a session that is listened to.
        if has_session(&context) {
            let until = holder(&context).and_then(|holder| holder.until);
            subscriptions.add(router, &origin, context.peer, Interest::List, until).await;
        }
        Ok(ListResourcesResult::with_all_items(open::listed(router.open_documents(&origin).await)))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(template::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let origin = self.origin(&context).await?;
        let reply = self.inner.router.read_resource(&origin, &request.uri).await;
        Ok(contents::into_result(request.uri, reply)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Resource(template) if request.argument.name == "path" => {
                let origin = self.origin(&context).await?;
                let given = &request.argument.value;
                Ok(CompleteResult::new(self.inner.router.complete(&origin, &template.uri, given).await))
            }
            _ => Ok(CompleteResult::default()),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Inner { router, subscriptions, .. } = &*self.inner;
        let origin = self.origin(&context).await?;
        router.watchable(&request.uri).map_err(|why| ErrorData::invalid_params(why, None))?;
        let interest = Interest::Resource(request.uri);
        let until = holder(&context).and_then(|holder| holder.until);
        match subscriptions.add(router, &origin, context.peer, interest, until).await {
            true => Ok(()),
            false => Err(ErrorData::invalid_params(subscriptions::too_many(), None)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.subscriptions.remove(&Interest::Resource(request.uri)).await;
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            // Each of them is looked up.
            uris.truncate(subscriptions::MOST);
            uris.retain(|uri| self.inner.router.watchable(uri).is_ok());
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let origin = self.origin(context.request_context()).await?;
        tokio::select! {
            () = subscriptions::listen(&self.inner.router, &origin, context.sink()) => {}
            () = context.cancelled() => {}
            () = self.inner.ended.cancelled() => {}
        }
        Ok(())
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

/// Who has the token of a request, if it came with one.
fn holder(context: &RequestContext<RoleServer>) -> Option<&TokenHolder> {
    context.extensions.get::<axum::http::request::Parts>()?.extensions.get()
}

/// Whether the client began with a handshake, so that it can be told of things without listening.
fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}
