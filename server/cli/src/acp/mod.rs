//! `hashline acp`: stands between an editor that speaks the Agent Client Protocol and the agent that it would start.

mod agent_process;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::StateDir;
use hashline_mcp::{AcpServer, Router, between};
use hashline_terminal::{Failure, log, streams};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use tokio::runtime::Builder;

use crate::arguments::Acp;
use crate::{setup, threads};
use agent_process::{AgentProcess, Signals};

/// How long the output of an agent that has ended may go on: what it has started may keep it open for ever.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Starts the agent, serves until it ends, and ends as it did.
pub fn run(options: &Acp) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let router = Router::new(&Roots::default(), true, Settings::default(), state).map_err(Failure::broken)?;
    let server = AcpServer {
        // It is started wherever the agent works.
        command: setup::command(&setup::Scope::User),
        arguments: arguments(options.common.state_dir.as_deref())?,
    };
    let runtime = threads::start(&mut Builder::new_current_thread())?;
    let ended = runtime.block_on(served(options, Arc::new(router), server));
    // A read of standard input cannot be taken back.
    runtime.shutdown_background();
    ended
}

/// What the MCP server is started with, wherever that is.
fn arguments(state: Option<&Path>) -> Result<Vec<String>, Failure> {
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(state) = state {
        let state: PathBuf = std::path::absolute(state).map_err(Failure::usage)?;
        arguments.extend(["--state-dir".to_owned(), state.to_string_lossy().into_owned()]);
    }
    Ok(arguments)
}

async fn served(options: &Acp, router: Arc<Router>, server: AcpServer) -> Result<ExitCode, Failure> {
    let mut signals = Signals::listen();
    let mut agent = AgentProcess::start(&options.command)?;
    let (input, output) = agent.streams()?;
    let (to_agent, to_client) = between(router, server, &agent.name());
    tokio::spawn(async move {
        if let Err(error) = to_agent.run(streams::stdin(), input).await {
            tracing::debug!(%error, "the agent hears nothing more");
        }
    });
    let saying = tokio::spawn(async move {
        if let Err(error) = to_client.run(output, streams::stdout()).await {
            tracing::debug!(%error, "the client hears nothing more");
        }
    });
    let code = loop {
        tokio::select! {
            ended = agent.ended() => break ended?,
            signal = signals.next() => agent.pass_on(signal),
        }
    };
    if tokio::time::timeout(LAST_WORDS, saying).await.is_err() {
        tracing::debug!("something that the agent has started keeps its output open");
    }
    Ok(code)
}
