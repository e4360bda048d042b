//! `verify`: whether the files are those that were hashed.

use std::process::ExitCode;

use hashline_package::{Agreement, HashFailures, Watch};
use hashline_terminal::{Failure, Screen, tell};
use serde_json::json;

use crate::arguments::HashGen;
use crate::document::{packages, server};
use crate::messages;
use crate::progress::Progress;
use crate::work::{hasher, wait_for};

/// Prints the hashes that were compared, or those that are wrong.
pub fn run(options: &HashGen, screen: Screen) -> Result<ExitCode, Failure> {
    let file = &options.document.file;
    let server = server(file)?;
    let packages = packages(file, &server, &options.fetch.origins)?;
    server.file_hashes().map_err(|issue| Failure::broken(messages::issues(file, &[issue])))?;
    let hasher = hasher(&options.fetch)?;
    let progress = Progress::of_stderr();
    let verified = wait_for(async { Ok(hasher.verify(&server, &packages, &progress as &dyn Watch).await) });
    drop(progress);
    match verified? {
        Ok(Agreement { hashes, of_all_files }) => {
            screen.print_json(&json!({"file_hashes": hashes}))?;
            tell(&match hashes.len() {
                0 => messages::NO_HASHES.to_owned(),
                files if of_all_files => messages::verified(files),
                files => messages::partly_verified(files),
            });
            Ok(ExitCode::SUCCESS)
        }
        Err(failures) => Err(wrong(&failures, screen)?),
    }
}

/// Prints what is wrong, as a registry would say it.
pub fn wrong(failures: &HashFailures, screen: Screen) -> Result<Failure, Failure> {
    screen.print_json(&json!(failures))?;
    let words = messages::failures(failures);
    Ok(if failures.only_unfetched() { Failure::unfetched(words) } else { Failure::broken(words) })
}
