//! What commands do over the network.

use hashline_package::{Fetcher, Hasher};
use hashline_terminal::Failure;

use crate::arguments::Fetch;

/// Waits for something that happens elsewhere.
pub fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broken(format!("no threads to work with: {error}")))?;
    runtime.block_on(work)
}

/// What hashes a server's files.
pub fn hasher(fetch: &Fetch) -> Result<Hasher, Failure> {
    let fetcher = Fetcher::new(fetch.limits()).map_err(Failure::unfetched)?;
    Ok(Hasher::new(fetcher, fetch.origins.sources()))
}
