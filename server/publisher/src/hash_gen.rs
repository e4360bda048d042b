//! `hash-gen`: the hashes of a server's files, for whoever wants to see or keep them.

use std::process::ExitCode;

use hashline_package::{HashError, Hashes, Package, Watch};
use hashline_terminal::{Failure, Screen, tell};
use serde_json::json;

use crate::arguments::{Fetch, HashGen};
use crate::document::{packages, server};
use crate::messages;
use crate::progress::Progress;
use crate::work::{hasher, wait_for};

/// Prints them.
pub fn run(options: &HashGen, screen: Screen) -> Result<ExitCode, Failure> {
    let file = &options.document.file;
    let server = server(file)?;
    let packages = packages(file, &server, &options.fetch.origins)?;
    if packages.iter().all(|package| package.identifiers.is_empty()) {
        tell(messages::NO_FILES);
    }
    let hashes = hashes(&packages, &options.fetch)?;
    screen.print_json(&json!({"file_hashes": hashes}))?;
    Ok(ExitCode::SUCCESS)
}

/// The hashes of all files of these packages.
pub fn hashes(packages: &[Package], fetch: &Fetch) -> Result<Hashes, Failure> {
    let hasher = hasher(fetch)?;
    let progress = Progress::of_stderr();
    wait_for(async {
        let hashes = hasher.hash_all(packages, &progress as &dyn Watch).await;
        hashes.map_err(|error| match error {
            HashError::Fetch(error) => Failure::unfetched(error),
            error => Failure::broken(error),
        })
    })
}
