//! What can be asked of the program, and its help.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use hashline_package::{
    CRATES, CRATES_INDEX, DOCKER, GITHUB, GO, Limits, NPM, NUGET, PYPI, Sources, VersionStatus,
};
use hashline_terminal::verify_binary::VerifyBinary;
use url::Url;

use crate::messages;

const AFTER_HELP: &str = "\
Examples:
  mcp-publisher init                      write a server.json to begin with
  mcp-publisher hash-gen                  print the hashes of its files
  mcp-publisher publish --registry https://registry.example
  mcp-publisher verify                    compare hashes with the files
  mcp-publisher verify-binary ./server --hash sha256:... --run
                                          start it only as those bytes
  mcp-publisher registry --data-dir ~/registry
                                          serve a registry of your own

JSON goes to standard output, and everything else to standard error.
Exit codes: 0 done, 1 rejected or a hash is wrong, 2 wrong usage, 3 something
could not be fetched.";

/// Publish MCP servers with the hashes of their files, and check those hashes.
#[derive(Debug, Parser)]
#[command(name = "mcp-publisher", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct McpPublisher {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a server.json to begin with
    Init(Init),
    /// Look for mistakes in a server.json, without its files
    Validate(Validate),
    /// Print the hashes of a server's files, and publish nothing
    HashGen(HashGen),
    /// Compare the hashes in a server.json with the files, and publish nothing
    Verify(HashGen),
    /// Start a program, or tell whether it may be started, only as the bytes that were published
    VerifyBinary(VerifyBinary),
    /// Send a server.json to a registry, with the hashes of its files
    Publish(Publish),
    /// Say of versions that they are active, deprecated or deleted
    Status(Status),
    /// Keep the token for a registry
    Login(Login),
    /// Forget the token
    Logout,
    /// Serve a registry of MCP servers, which compares the hashes it is sent with the files
    Registry(Box<RegistryOptions>),
}

impl Command {
    /// Where the log goes, if not to standard error.
    pub fn log_file(&self) -> Option<&Path> {
        match self {
            Self::Registry(options) => options.log_file.as_deref(),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub struct Document {
    /// The server.json
    #[arg(default_value = "server.json")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Validate {
    #[command(flatten)]
    pub document: Document,
    #[command(flatten)]
    pub origins: Origins,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Where to write it; a file that is there stays as it is
    #[arg(default_value = "server.json")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct HashGen {
    #[command(flatten)]
    pub document: Document,
    #[command(flatten)]
    pub fetch: Fetch,
}

const PUBLISH_HELP: &str = "\
Without --registry it is the one that you are logged in to. The token is the
one of the login, unless HASHLINE_REGISTRY_TOKEN is set. Your file stays as it
is: the hashes are added to what is sent. Where it has hashes already, they
must be those of the files.

A version that is published stays as it is, its hashes too.";

#[derive(Debug, Args)]
#[command(after_help = PUBLISH_HELP)]
pub struct Publish {
    #[command(flatten)]
    pub document: Document,
    /// Send no hashes but those in the file
    #[arg(long)]
    pub no_hash: bool,
    /// Succeed if this same version is published already
    #[arg(long)]
    pub idempotent: bool,
    #[command(flatten)]
    pub registry: Registry,
    #[command(flatten)]
    pub fetch: Fetch,
}

#[derive(Debug, Args)]
pub struct Registry {
    /// The registry
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_REGISTRY_URL")]
    pub registry: Option<Url>,
    /// The token for it
    #[arg(long, value_name = "TOKEN", env = "HASHLINE_REGISTRY_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

#[derive(Debug, Args)]
pub struct Status {
    /// What they are from now on
    #[arg(long, short)]
    pub status: StatusName,
    /// Why, for those who use them
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<String>,
    /// All versions of the server
    #[arg(long, conflicts_with = "version", requires = "yes")]
    pub all_versions: bool,
    /// Yes, all of them
    #[arg(long, short)]
    pub yes: bool,
    /// The server's name, as in io.github.user/server
    pub name: String,
    /// The version
    #[arg(required_unless_present = "all_versions")]
    pub version: Option<String>,
    #[command(flatten)]
    pub registry: Registry,
    /// Reach the registry by https only; one on this machine is reached in any case
    #[arg(long, value_name = "BOOL", env = "HASHLINE_FETCH_HTTPS_ONLY", default_value = "true", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub fetch_https_only: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StatusName {
    /// It can be used
    Active,
    /// Another one should be used
    Deprecated,
    /// It is not shown unless asked for
    Deleted,
}

impl From<StatusName> for VersionStatus {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::Active => Self::Active,
            StatusName::Deprecated => Self::Deprecated,
            StatusName::Deleted => Self::Deleted,
        }
    }
}

const LOGIN_HELP: &str = "\
The token is that of --token, else of HASHLINE_REGISTRY_TOKEN, else a line of
standard input. It is kept in ~/.mcp_publisher_token, which only you can read.";

#[derive(Debug, Args)]
#[command(after_help = LOGIN_HELP)]
pub struct Login {
    /// How the registry knows you
    pub method: Method,
    /// The registry
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_REGISTRY_URL")]
    pub registry: Url,
    /// The token that its operator gave you
    #[arg(long, value_name = "TOKEN", env = "HASHLINE_REGISTRY_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Method {
    /// By a token
    Token,
    /// No token: the registry accepts anyone who can reach it
    None,
}

fn address(text: &str) -> Result<Url, &'static str> {
    Url::parse(text).map_err(|_| messages::NO_ADDRESS)
}

const REGISTRY_HELP: &str = "\
Publishers reach it at http://ADDRESS, under /v0.1 and /v0. It is printed where
that is. /health and /metrics answer without a token. There is no TLS: beyond
this machine, put a proxy that has it in front.

Examples:
  mcp-publisher registry --data-dir ~/registry
  mcp-publisher registry --listen 0.0.0.0:8438 --data-dir /var/lib/registry
  mcp-publisher registry --database-url postgresql://registry@db/registry

It ends at SIGINT or SIGTERM, when the requests that are running are answered.
Exit codes: 0 ended in good order, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = REGISTRY_HELP)]
pub struct RegistryOptions {
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8438")]
    pub listen: String,
    /// The folder of the database; it is made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "database_url")]
    pub data_dir: Option<PathBuf>,
    /// A PostgreSQL to use instead
    #[arg(long, value_name = "URL", env = "HASHLINE_DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Who may publish [default: whoever has the token; on this machine, everybody if there is none]
    #[arg(long, value_name = "WHO", env = "HASHLINE_REGISTRY_AUTH")]
    pub auth: Option<RegistryAuth>,
    /// The token with which versions are published
    #[arg(long, value_name = "TOKEN", env = "HASHLINE_REGISTRY_PUBLISH_TOKEN", hide_env_values = true)]
    pub publish_token: Option<String>,
    /// Write the log to this file instead of standard error
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    #[command(flatten)]
    pub fetch: Fetch,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RegistryAuth {
    /// Everybody who reaches it
    None,
    /// Whoever has the token
    Token,
}

/// How files are fetched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Downloads")]
pub struct Fetch {
    /// Fetch by https only
    #[arg(long, value_name = "BOOL", env = "HASHLINE_FETCH_HTTPS_ONLY", default_value = "true", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub fetch_https_only: bool,
    /// Fetch from addresses that are not public, too
    #[arg(long, value_name = "BOOL", env = "HASHLINE_FETCH_ALLOW_PRIVATE", default_value = "false", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub fetch_allow_private: bool,
    /// The bytes of one file at most; all that is fetched for one server may have four times as many
    #[arg(long, value_name = "BYTES", env = "HASHLINE_FETCH_MAX_BYTES", default_value_t = Limits::default().max_bytes)]
    pub fetch_max_bytes: u64,
    /// How often a download that failed is begun again
    #[arg(long, value_name = "TIMES", env = "HASHLINE_FETCH_RETRIES", default_value_t = Limits::default().retries)]
    pub fetch_retries: usize,
    /// How long to wait before the first of them; twice as long before each further one
    #[arg(long, value_name = "MS", env = "HASHLINE_FETCH_BACKOFF_MS", default_value = "500")]
    pub fetch_backoff_ms: u32,
    /// How long one file may take, all attempts together; all that is fetched for one server may take twice as long
    #[arg(long, value_name = "S", env = "HASHLINE_FETCH_TIMEOUT_S", default_value = "600", value_parser = clap::value_parser!(u32).range(1..))]
    pub fetch_timeout_s: u32,
    #[command(flatten)]
    pub origins: Origins,
}

/// Where packages come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Downloads")]
pub struct Origins {
    /// The registry of npm packages
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_NPM_REGISTRY", default_value = NPM)]
    pub npm_registry: Url,
    /// Where PyPI is
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_PYPI_URL", default_value = PYPI)]
    pub pypi_url: Url,
    /// Where GitHub is
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_GITHUB_URL", default_value = GITHUB)]
    pub github_url: Url,
    /// The index of crates
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_CRATES_INDEX", default_value = CRATES_INDEX)]
    pub crates_index: Url,
    /// The archives of crates
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_CRATES_URL", default_value = CRATES)]
    pub crates_url: Url,
    /// The packages of NuGet
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_NUGET_URL", default_value = NUGET)]
    pub nuget_url: Url,
    /// The proxy of Go's modules
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_GO_PROXY", default_value = GO)]
    pub go_proxy: Url,
    /// Docker's registry of images
    #[arg(long, value_name = "URL", value_parser = address, env = "HASHLINE_DOCKER_REGISTRY", default_value = DOCKER)]
    pub docker_registry: Url,
}

impl Fetch {
    /// The limits of downloads.
    pub fn limits(&self) -> Limits {
        Limits {
            https_only: self.fetch_https_only,
            allow_private: self.fetch_allow_private,
            max_bytes: self.fetch_max_bytes,
            retries: self.fetch_retries,
            backoff: Duration::from_millis(self.fetch_backoff_ms.into()),
            total: Duration::from_secs(self.fetch_timeout_s.into()),
            ..Limits::default()
        }
    }
}

impl Origins {
    /// As the library has them.
    pub fn sources(&self) -> Sources {
        Sources {
            npm: self.npm_registry.clone(),
            pypi: self.pypi_url.clone(),
            github: self.github_url.clone(),
            crates_index: self.crates_index.clone(),
            crates: self.crates_url.clone(),
            nuget: self.nuget_url.clone(),
            go: self.go_proxy.clone(),
            docker: self.docker_registry.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_fits_eighty_columns() {
        for text in [AFTER_HELP, PUBLISH_HELP, LOGIN_HELP, REGISTRY_HELP] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let parsed = McpPublisher::try_parse_from(["mcp-publisher", "hash-gen"]).unwrap();
        let Command::HashGen(HashGen { fetch, .. }) = parsed.command else { panic!() };
        assert_eq!(format!("{:?}", fetch.limits()), format!("{:?}", Limits::default()));
    }
}
