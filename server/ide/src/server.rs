//! MCP as the program speaks it, for one connection.

use std::sync::Arc;

use hashline_history::AgentName;
use hashline_link::CancellationToken;
use hashline_workspace::{Caller, Workspace};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::connection::Connection;
use crate::{open_diff, tools};

/// The MCP server of one connection.
#[derive(Clone)]
pub(crate) struct Server {
    connection: Arc<Connection>,
}

impl Server {
    /// A server of these documents, until `ended` fires. `running` counts the edits that are held.
    pub fn new(workspace: Workspace, ended: CancellationToken, running: TaskTracker) -> Self {
        Self { connection: Arc::new(Connection::new(workspace, ended, running)) }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let agent = context.client_info().map_or_else(AgentName::default, |client| client.name.into());
        Caller { agent, reviews: false, ..Caller::anywhere("", &self.connection.name) }
    }

    /// What was asked for that needs no waiting.
    async fn answered(
        &self,
        caller: Caller,
        name: String,
        given: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let workspace = self.connection.workspace.clone();
        let asked = name.clone();
        let answer =
            tokio::task::spawn_blocking(move || tools::answered(&workspace, &caller, &asked, &given)).await;
        match answer {
            Ok(Some(answer)) => Ok(words(answer.to_string())),
            Ok(None) => {
                let names: Vec<String> = tools::listed().iter().map(|tool| tool.name.to_string()).collect();
                let message = format!("Unknown tool: {name}. There are {}.", names.join(", "));
                Err(ErrorData::invalid_params(message, None))
            }
            Err(_) => Err(ErrorData::internal_error("A defect of hashline.", None)),
        }
    }
}

fn words(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn read<T: DeserializeOwned>(given: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| ErrorData::invalid_params(format!("Nothing was done: {error}."), None))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let hashline = Implementation::new("hashline", env!("CARGO_PKG_VERSION"))
            .with_title("hashline: edits in the person's editor");
        ServerConfig::new(capabilities).with_server_info(hashline)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::listed().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = &self.connection;
        let given = request.arguments.unwrap_or_default();
        let result = match &*request.name {
            "openDiff" => {
                open_diff::call(connection, self.caller(&context), read(given)?, context.ct.clone()).await?
            }
            "close_tab" => {
                let name = given.get("tab_name").and_then(Value::as_str);
                let name = name.ok_or_else(|| ErrorData::invalid_params("tab_name is a string.", None))?;
                connection.tabs.close(Some(name)).await;
                words("TAB_CLOSED")
            }
            "closeAllDiffTabs" => {
                // The program says so at the beginning of each turn.
                connection.begin_turn();
                words(format!("CLOSED_{}_DIFF_TABS", connection.tabs.close(None).await))
            }
            name => self.answered(self.caller(&context), name.to_owned(), given).await?,
        };
        Ok(result.into())
    }
}
