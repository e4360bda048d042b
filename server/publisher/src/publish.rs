//! `publish`: a server goes to a registry, with the hashes of its files.

use std::process::ExitCode;

use hashline_package::{PublishError, ServerJson, is_publishable, issues};
use hashline_terminal::{Failure, Screen, tell};

use crate::account::publisher;
use crate::arguments::Publish;
use crate::document::{packages, server};
use crate::work::wait_for;
use crate::{hash_gen, messages, validate, verify};

/// Publishes it, and prints what the registry has kept.
pub fn run(options: &Publish, screen: Screen) -> Result<ExitCode, Failure> {
    let file = &options.document.file;
    let mut server = server(file)?;
    let found = issues(&server, &options.fetch.origins.sources());
    if !is_publishable(&found) {
        return Err(Failure::broken(messages::issues(file, &validate::errors(&found))));
    }
    // Before anything is fetched for it.
    let (publisher, registry) = publisher(&options.registry, options.fetch.fetch_https_only)?;
    if !options.no_hash {
        server = match hashed(&server, options)? {
            Hashed::Server(server) => server,
            Hashed::Wrong(failures) => return Err(verify::wrong(&failures, screen)?),
        };
    }
    let published = wait_for(async { Ok(publisher.publish(&server, options.idempotent).await) })?;
    let published = told(published, screen)?;
    screen.print_json(&published)?;
    let text = |key| server.text(key).unwrap_or_default();
    tell(&messages::published(text("name"), text("version"), &registry));
    Ok(ExitCode::SUCCESS)
}

enum Hashed {
    Server(ServerJson),
    Wrong(hashline_package::HashFailures),
}

/// The server with the hashes of its files.
fn hashed(server: &ServerJson, options: &Publish) -> Result<Hashed, Failure> {
    let packages = packages(&options.document.file, server, &options.fetch.origins)?;
    let hashes = hash_gen::hashes(&packages, &options.fetch)?;
    Ok(match hashes.agree_with(server, &packages) {
        Err(failures) => Hashed::Wrong(failures),
        Ok(()) if hashes.is_empty() => Hashed::Server(server.clone()),
        Ok(()) => Hashed::Server(server.with_hashes(&hashes, &packages)),
    })
}

/// What a registry answered. Its document is printed also where it says no.
pub fn told(
    answer: Result<serde_json::Value, PublishError>,
    screen: Screen,
) -> Result<serde_json::Value, Failure> {
    answer.map_err(|error| match &error {
        PublishError::Unreachable { .. } => Failure::unfetched(error),
        PublishError::Insecure(_) | PublishError::EmptyToken | PublishError::UnusableToken => {
            Failure::usage(error)
        }
        PublishError::Refused { document, .. } => {
            match document.as_ref().map(|document| screen.print_json(document)) {
                Some(Err(failure)) => failure,
                _ => Failure::broken(error),
            }
        }
    })
}
