//! `registry`: servers are published here, with hashes that are compared with their files.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use hashline_package::{Auth, PostgresStore, Registry, RegistryLimits, SqliteStore, Store};
use hashline_terminal::{Failure, signals};
use tokio::net::TcpListener;

use crate::arguments::{RegistryAuth, RegistryOptions};
use crate::work::{hasher, wait_for};

/// The time in which a request has to arrive.
const REQUEST: Duration = Duration::from_secs(30);
/// The time in which its answer has to be taken, also by those who are far away.
const ANSWER: Duration = Duration::from_secs(120);

/// Serves publishers and readers until a signal comes.
pub fn run(options: &RegistryOptions) -> Result<ExitCode, Failure> {
    wait_for(async {
        // Before anyone can be told to end it.
        let stop = signals::stop_token();
        let listening = TcpListener::bind(&options.listen).await;
        let listener = listening.map_err(|error| {
            Failure::broken(format!(
                "{} cannot be listened at: {error}; give another --listen",
                options.listen
            ))
        })?;
        let auth = auth(options, &listener)?;
        let stopped = async move { stop.cancelled().await };
        match (&options.database_url, &options.data_dir) {
            (Some(url), _) => {
                let store = PostgresStore::open(url).await.map_err(Failure::broken)?;
                serve(store, options, auth, listener, stopped).await
            }
            (None, Some(folder)) => {
                let store = SqliteStore::open(folder).map_err(Failure::broken)?;
                serve(store, options, auth, listener, stopped).await
            }
            (None, None) => Err(Failure::usage("give --data-dir DIR, or --database-url URL")),
        }
    })
}

async fn serve(
    store: impl Store,
    options: &RegistryOptions,
    auth: Auth,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<ExitCode, Failure> {
    let limits = RegistryLimits { request: REQUEST, answer: ANSWER };
    let registry = Registry::new(store, hasher(&options.fetch)?, auth, limits);
    let address = listener.local_addr().map_err(Failure::broken)?;
    // For whoever wants to know which port it is; that nobody reads it is no reason not to serve.
    let _ = writeln!(std::io::stdout(), "http://{address}");
    registry.serve(listener, stop).await;
    Ok(ExitCode::SUCCESS)
}

/// Who may publish. Only on this machine may that be everybody without a word on it.
fn auth(options: &RegistryOptions, listener: &TcpListener) -> Result<Auth, Failure> {
    let here = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    match (options.auth, options.publish_token.as_deref().map(str::trim)) {
        (Some(RegistryAuth::None), _) => Ok(Auth::None),
        // Whoever set it meant somebody; a registry that is open instead would be a surprise.
        (_, Some("")) => Err(Failure::usage(
            "the token to ask for is empty; set HASHLINE_REGISTRY_PUBLISH_TOKEN to one, or HASHLINE_REGISTRY_AUTH=none if everybody may publish",
        )),
        (_, Some(token)) => Ok(Auth::token(token)),
        (Some(RegistryAuth::Token), None) => {
            Err(Failure::usage("there is no token to ask for; set HASHLINE_REGISTRY_PUBLISH_TOKEN"))
        }
        (None, None) if here => Ok(Auth::None),
        (None, None) => Err(Failure::usage(
            "everybody who reaches it could publish; set HASHLINE_REGISTRY_PUBLISH_TOKEN, or HASHLINE_REGISTRY_AUTH=none if that is meant",
        )),
    }
}
