//! The floor of a tool call: an rmcp server over stdio whose only tool answers a constant of the size of a tagged read
//! of 100 lines.

use std::process::ExitCode;

use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::{ErrorData, ServerHandler, ServiceExt, tool, tool_handler, tool_router};

#[derive(Clone)]
struct Floor {
    answer: String,
}

#[tool_router]
impl Floor {
    #[tool(name = "answer", description = "Answers a constant.")]
    async fn answer(&self) -> Result<CallToolResult, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(self.answer.clone())]))
    }
}

#[tool_handler]
impl ServerHandler for Floor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let line = "50042:98|    let total_050042 = add(50042, 1234);\n";
    let answer = format!(
        "[document.txt · lines 50001-50100 of 100000 · file_hash 0123456789ab]\n{}",
        line.repeat(100)
    );
    let Ok(running) = (Floor { answer }).serve(rmcp::transport::stdio_pipes()).await else {
        return ExitCode::FAILURE;
    };
    match running.waiting().await {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
