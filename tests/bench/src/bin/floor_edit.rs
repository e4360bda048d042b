//! The floor of an edit: an rmcp server over stdio whose only tool makes a record of 1 KB durable, hashes a document of
//! 10,000 lines once, and answers a constant. The record goes to the file that the first argument names.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::{ErrorData, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use sha2::{Digest, Sha256};

#[derive(Clone)]
struct Floor {
    document: Arc<str>,
    record: Arc<Mutex<File>>,
}

impl Floor {
    /// The work of one call: what any server must do before it may say that an edit is safe.
    fn work(&self) -> std::io::Result<u8> {
        let mut record =
            self.record.lock().map_err(|_| std::io::Error::other("a call before this one panicked"))?;
        record.seek(SeekFrom::Start(0))?;
        record.write_all(&[b'x'; 1024])?;
        record.sync_data()?;
        Ok(Sha256::digest(self.document.as_bytes())[0])
    }
}

#[tool_router]
impl Floor {
    #[tool(name = "answer", description = "Syncs a record, hashes a document and answers a constant.")]
    async fn answer(&self) -> Result<CallToolResult, ErrorData> {
        let floor = self.clone();
        let worked = tokio::task::spawn_blocking(move || floor.work()).await;
        let failed = |error: String| ErrorData::internal_error(error, None);
        let first =
            worked.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
        // The hash is in the answer, so that its making cannot be left out.
        let line = "5042:98|    let total_005042 = add(5042, 1234);\n".repeat(5);
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("file_hash {first:02x}\n{line}"))]))
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
    let Some(path) = std::env::args_os().nth(1) else { return ExitCode::from(2) };
    let Ok(record) = File::create(path) else { return ExitCode::FAILURE };
    let document = "    let total_005042 = add(5042, 1234);     \n".repeat(10_000);
    let floor = Floor { document: document.into(), record: Arc::new(Mutex::new(record)) };
    let Ok(running) = floor.serve(rmcp::transport::stdio_pipes()).await else { return ExitCode::FAILURE };
    match running.waiting().await {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
