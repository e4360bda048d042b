//! The log: to standard error or to a file, never to standard output, which belongs to a protocol.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use crate::Failure;

/// What is logged unless told. Not what clients of the protocol do wrong: they are told, and one could fill the disk with it.
const USUAL: &str = "warn,rmcp=error";

/// Starts logging.
pub fn start(file: Option<&Path>) -> Result<(), Failure> {
    let filter = EnvFilter::try_from_env("HASHLINE_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    match file {
        None => builder.with_writer(std::io::stderr).init(),
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file =
                file.map_err(|error| Failure::usage(format!("--log-file {}: {error}", path.display())))?;
            builder.with_writer(Mutex::new(file)).init();
        }
    }
    Ok(())
}
