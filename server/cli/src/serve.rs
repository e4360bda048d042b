//! `hashline serve`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use hashline_link::StateDir;
use hashline_mcp::{HttpOptions, HttpServer, Router, TokenKey};
use hashline_terminal::{Failure, log, signals};
use hashline_workspace::disk::Roots;

use crate::arguments::Serve;
use crate::threads;

/// Serves agents over HTTP until a signal comes.
pub fn run(options: &Serve) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let roots = Roots::open(&options.root).map_err(Failure::usage)?;
    let key = Arc::new(TokenKey::load(&state).map_err(Failure::broken)?);
    let settings = options.edits.settings(&options.files);
    let router = Arc::new(Router::new(&roots, true, settings, state).map_err(Failure::usage)?);
    let http = HttpOptions {
        key,
        hosts: options.host.clone(),
        toolsets: options.tools.sets(),
        names: options.tools.names(),
    };
    let runtime = threads::start(&mut threads::for_agents())?;
    runtime.block_on(async {
        // Before anyone can be told to end it.
        let stop = signals::stop_token();
        let server = HttpServer::bind(&options.listen, router, http).await.map_err(Failure::broken)?;
        // For whoever wants to know which port it is; that nobody reads it is no reason not to serve.
        let _ = writeln!(std::io::stdout(), "http://{}/mcp", server.address());
        server.serve(stop).await;
        Ok(())
    })?;
    // A read that is stuck on a dead disk must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(ExitCode::SUCCESS)
}
