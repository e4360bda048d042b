//! Two streams as the connection to one agent: standard input and output, mostly.

use std::io;

use hashline_link::CancellationToken;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::message_lines::Lines;
use crate::server::Server;

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client and the server did not come to terms.
    #[error("the MCP client did not begin as the protocol has it: {0}")]
    Handshake(String),
    /// The address cannot be had.
    #[error("nothing can be served at {address}: {source}. Name another address.")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// What is to be a name of this machine is none.
    #[error(
        "{name:?} is no name under which this machine could be reached: {why}. Give a name or an address alone, without a port."
    )]
    Host {
        /// What was given.
        name: String,
        /// What is wrong with it.
        why: url::ParseError,
    },
    /// Something broke.
    #[error("the MCP server broke off: {0}")]
    Broken(String),
}

/// Serves one agent over two streams until it goes or `stop` fires. A call that changes something is finished.
///
/// # Errors
///
/// [`ServeError`]: the conversation did not begin, or the server broke.
pub async fn serve_streams<R, W>(
    server: Server,
    reader: R,
    writer: W,
    stop: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = Lines::new(reader, writer, server.ended().clone());
    match server.serve_with_ct(lines, stop).await {
        Ok(running) => match running.waiting().await {
            Ok(reason) => {
                tracing::debug!(?reason, "the connection ended");
                Ok(())
            }
            Err(error) => Err(ServeError::Broken(error.to_string())),
        },
        // Whoever looks only whether the program starts goes without a word.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Handshake(error.to_string())),
    }
}
