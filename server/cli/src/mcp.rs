//! `hashline mcp`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use hashline_link::{StateDir, home};
use hashline_mcp::{Router, Server, serve_streams};
use hashline_terminal::{Failure, log, signals, streams};
use hashline_workspace::disk::Roots;
use tokio::runtime::Builder;

use crate::arguments::Mcp;
use crate::threads;

/// Serves one agent until it goes.
pub fn run(options: &Mcp) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let fixed = !options.root.is_empty();
    let roots = if fixed { Roots::open(&options.root).map_err(Failure::usage)? } else { started_in()? };
    let settings = options.edits.settings(&options.files);
    let router = Arc::new(Router::new(&roots, fixed, settings, state).map_err(Failure::usage)?);
    let server = Server::new(router, &options.tools.sets(), options.tools.names());
    // One agent's calls are short, and what may block has threads of its own: waking a second thread for them would cost
    // more than all the rest.
    let runtime = threads::start(&mut Builder::new_current_thread())?;
    let served = runtime.block_on(async {
        serve_streams(server, streams::stdin(), streams::stdout(), signals::stop_token()).await
    });
    // A read that is stuck on a dead disk must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    served.map_err(Failure::broken)?;
    Ok(ExitCode::SUCCESS)
}

/// The working directory, if it can be meant. A client that was started from a menu runs at the top of the disk or in the home
/// folder; then nothing is served unless the client names folders, and calls say so.
fn started_in() -> Result<Roots, Failure> {
    let folder = std::env::current_dir().map_err(|error| {
        Failure::usage(format!("the working directory is not to be had: {error}; give --root"))
    })?;
    if holds_everything(&folder, home().as_deref()) {
        tracing::warn!("{} is served only if told to; give --root", folder.display());
        return Ok(Roots::default());
    }
    Roots::open([folder]).map_err(Failure::usage)
}

/// Whether a folder holds all that the person has: nobody's project.
fn holds_everything(folder: &Path, home: Option<&Path>) -> bool {
    // The home folder may be spelled by a link.
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_and_the_home_folder_are_nobodys_project() {
        let home = Some(Path::new("/home/me"));
        for (folder, all) in
            [("/", true), ("/home", true), ("/home/me", true), ("/home/me/project", false), ("/srv", false)]
        {
            assert_eq!(holds_everything(Path::new(folder), home), all, "{folder}");
        }
        assert!(holds_everything(Path::new("/"), None));
    }
}
