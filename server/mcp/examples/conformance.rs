//! `conformance ROOT STATE_DIR`: serves a folder over HTTP as `hashline serve` does, with the fixtures of the protocol's conformance checks,
//! until standard input ends. The first line that it prints is where.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hashline_link::{CancellationToken, StateDir};
use hashline_mcp::{HttpOptions, HttpServer, NameStyle, Router, TokenKey, Toolset};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use tokio::io::{AsyncReadExt, stdin};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, state] = arguments.as_slice() else { return Err("give ROOT and STATE_DIR".into()) };
    let state = StateDir::new(Some(Path::new(state)))?;
    let options = HttpOptions {
        key: Arc::new(TokenKey::load(&state)?),
        hosts: Vec::new(),
        toolsets: Toolset::DEFAULT.into(),
        names: NameStyle::Plain,
    };
    let router = Arc::new(Router::new(&Roots::open([root])?, true, Settings::default(), state)?);
    let server = HttpServer::bind("127.0.0.1:0", router, options).await?;
    writeln!(std::io::stdout(), "http://{}/mcp", server.address())?;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        let _ = stdin().read_to_end(&mut Vec::new()).await;
        stopping.cancel();
    });
    server.serve(stop).await;
    Ok(())
}
