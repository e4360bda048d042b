//! `hashline package`, and `mcp-publisher`: servers are published with the hashes of their files, and those are checked.
//!
//! [`words`] has all that is said about it, [`progress`] shows how far downloads are, and the other modules are the commands.

mod arguments;
mod hash_gen;
mod init;
mod login;
mod logout;
mod progress;
mod publish;
mod status;
mod validate;
mod verify;
mod verify_binary;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use arguments::{Fetch, McpPublisher, Package};
use hashline_package::{ACCOUNT_FILE, Account, Fetcher, Hasher, Publisher, ServerJson};

use arguments::{Command, Origins, Registry};
use hashline_terminal::{Failure, Screen, log};

/// Carries out a command.
pub fn run(options: &Package) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let screen = Screen::of_stdout();
    match &options.command {
        Command::Init(options) => init::run(options),
        Command::Validate(options) => validate::run(options, screen),
        Command::HashGen(options) => hash_gen::run(options, screen),
        Command::Verify(options) => verify::run(options, screen),
        Command::VerifyBinary(options) => verify_binary::run(options, screen),
        Command::Publish(options) => publish::run(options, screen),
        Command::Status(options) => status::run(options, screen),
        Command::Login(options) => login::run(options),
        Command::Logout => logout::run(),
    }
}

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

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::usage(words::unreadable(file, &error)))
}

fn server(file: &Path) -> Result<ServerJson, Failure> {
    ServerJson::parse(&read(file)?).map_err(|error| Failure::broken(words::not_a_server(file, &error)))
}

/// The packages of a server, all of which can be found.
fn packages(
    file: &Path,
    server: &ServerJson,
    origins: &Origins,
) -> Result<Vec<hashline_package::Package>, Failure> {
    let (packages, issues) = server.packages(&origins.sources());
    if issues.is_empty() { Ok(packages) } else { Err(Failure::broken(words::issues(file, &issues))) }
}

/// Where the person's token is kept.
fn account_file() -> Result<PathBuf, Failure> {
    let home = dirs::home_dir().ok_or_else(|| Failure::broken(words::NO_HOME))?;
    Ok(home.join(ACCOUNT_FILE))
}

/// The registry that is meant, and the person's token for it: one that was kept for another registry is not sent there.
fn publisher(options: &Registry, https_only: bool) -> Result<(Publisher, url::Url), Failure> {
    let account = Account::load(&account_file()?).map_err(Failure::broken)?;
    let kept = account.as_ref().and_then(|account| url::Url::parse(&account.registry).ok());
    let registry = options
        .registry
        .clone()
        .or_else(|| kept.clone())
        .ok_or_else(|| Failure::usage(words::NO_REGISTRY))?;
    let of_account = account.filter(|account| kept.as_ref() == Some(&registry) && !account.token.is_empty());
    let token = options.token.as_deref().or(of_account.as_ref().map(|account| account.token.as_str()));
    let publisher = Publisher::new(registry.clone(), token, https_only).map_err(Failure::usage)?;
    Ok((publisher, registry))
}
