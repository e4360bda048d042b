//! `hashline lsp`.

use std::process::ExitCode;
use std::sync::Arc;

use hashline_link::{Call, CancellationToken, Raw, RemoteError, StateDir};
use hashline_lsp::{Agents, Options};
use hashline_mcp::{Toolbox, caller_of};
use hashline_workspace::disk::Roots;
use hashline_workspace::{Histories, Settings, Workspace};

use crate::arguments::Lsp;
use crate::{Failure, log, signals};

/// Serves one editor until it goes.
pub fn run(options: &Lsp) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    // Which folders are served is for the editor to say.
    let (workspace, events) =
        Workspace::new(Roots::default(), Settings::default(), Histories::of("hashline lsp"));
    let record = workspace.clone();
    let editor = options.editor.clone();
    let toolbox = Toolbox::new(workspace.clone()).of_editor(editor.as_deref().unwrap_or("the editor"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broken(format!("no threads to work with: {error}")))?;
    runtime.block_on(async {
        let options = Options {
            workspace,
            events,
            agents: Some(Agents { state, run_tool: run_tool(toolbox) }),
            editor,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop: signals::stop_token(),
        };
        hashline_lsp::serve(tokio::io::stdin(), tokio::io::stdout(), options).await;
    });
    record.settle_record();
    // A read of standard input that never ends must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(ExitCode::SUCCESS)
}

/// Runs the tools for agents that come through the socket. The workspace keeps each to its own roots.
fn run_tool(toolbox: Toolbox) -> hashline_lsp::RunTool {
    Arc::new(move |call: Call, cancel: CancellationToken| {
        let toolbox = toolbox.clone();
        Box::pin(async move {
            let Call { caller, tool, arguments } = call;
            let result = toolbox.call(&caller_of(caller), &tool, arguments, &cancel).await;
            Raw::of(&result).map_err(|error| RemoteError::failed(error.to_string()))
        })
    })
}
