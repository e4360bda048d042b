//! `hashline mcp`.

use std::process::ExitCode;
use std::sync::Arc;

use hashline_link::StateDir;
use hashline_mcp::{NameStyle, Router, Server, Toolset, serve_stdio};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;

use crate::arguments::{Mcp, ToolNames};
use crate::{Failure, log, signals};

/// Serves one agent until it goes.
pub fn run(options: &Mcp) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let fixed = !options.root.is_empty();
    let roots = if fixed { Roots::open(&options.root) } else { Roots::open(["."]) };
    let roots = roots.map_err(Failure::usage)?;
    let settings = Settings { disk: options.mode.into(), ..Settings::default() };
    let router = Arc::new(Router::new(roots, fixed, settings, state));
    let sets = if options.toolset.is_empty() { &Toolset::ALL } else { options.toolset.as_slice() };
    let names = match options.tool_names {
        ToolNames::Plain => NameStyle::Plain,
        ToolNames::Dotted => NameStyle::Dotted,
    };
    let server = Server::new(router, sets, names);
    // One agent's calls are short, and what may block has threads of its own: waking a second thread for them would cost
    // more than all the rest.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broken(format!("nothing to work with: {error}")))?;
    let served = runtime.block_on(async { serve_stdio(server, signals::stop_token()).await });
    // A read that is stuck on a dead disk must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    served.map_err(Failure::broken)?;
    Ok(ExitCode::SUCCESS)
}
