//! The threads that the program works with.

use std::time::Duration;

use hashline_terminal::Failure;
use tokio::runtime::{Builder, Runtime};

/// How long a thread that may block waits for more such work of agents. What it has kept of memory is given back when it ends.
const KEPT: Duration = Duration::from_secs(2);

/// Threads that serve agents, of whom there may be many at a time and none a moment later. There are as many workers as processors: with
/// more, a thread that holds what an editor waits for would wait longer for a processor itself.
pub fn for_agents() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.thread_keep_alive(KEPT);
    builder
}

/// Builds the runtime.
pub fn start(builder: &mut Builder) -> Result<Runtime, Failure> {
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| Failure::broken(format!("no threads to work with: {error}")))
}
