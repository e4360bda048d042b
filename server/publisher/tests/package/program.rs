//! The program, and a registry that runs as it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::file_server::FileServer;

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Its output, all of which is JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A person's folder, in which a server.json lies.
pub struct Person {
    pub folder: tempfile::TempDir,
    files: u16,
}

impl Person {
    /// Somebody whose files come from this server.
    pub fn of(files: &FileServer) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), files: files.port }
    }

    pub fn write(&self, server: &Value) -> PathBuf {
        let file = self.folder.path().join("server.json");
        std::fs::write(&file, server.to_string()).unwrap();
        file
    }

    /// The program, with nothing in its environment but what says where files come from.
    pub fn publisher(&self, arguments: &[&str]) -> Command {
        let here = format!("http://127.0.0.1:{}", self.files);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-publisher"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HASHLINE_")
                || name.to_string_lossy().to_lowercase().ends_with("_proxy")
            {
                command.env_remove(name);
            }
        }
        command
            .env("HOME", self.folder.path())
            .env("HASHLINE_FETCH_HTTPS_ONLY", "false")
            .env("HASHLINE_FETCH_ALLOW_PRIVATE", "1")
            .env("HASHLINE_FETCH_BACKOFF_MS", "1")
            .env("HASHLINE_NPM_REGISTRY", &here)
            .env("HASHLINE_PYPI_URL", &here)
            .env("HASHLINE_GITHUB_URL", format!("{here}/github"));
        command
    }
}

/// Runs a program to its end. The server of files answers meanwhile, as tests have threads for both.
pub async fn run(mut command: Command) -> Ran {
    let Output { status, stdout, stderr } =
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Ran { code: status.code().unwrap(), out, err }
}

/// A registry that runs until it is dropped.
pub struct Registry {
    pub child: Child,
    pub url: String,
}

impl Registry {
    /// In a folder, on a port of its own.
    pub fn start(mut command: Command, folder: &Path) -> Self {
        command.arg("registry").args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody who looks at a registry.
pub fn client() -> reqwest::Client {
    // Another test may have been first.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// What a registry answers to it.
pub async fn get(url: &str) -> Value {
    let answer = client().get(url).send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&answer).unwrap()
}

/// The hash of bytes, as it is written.
pub fn hash(bytes: &[u8]) -> String {
    hashline_package::FileHash::of(bytes).unwrap().to_string()
}
