//! The server.json that a command is given.

use std::path::Path;

use hashline_package::{Package, ServerJson};
use hashline_terminal::Failure;

use crate::arguments::Origins;
use crate::messages;

/// What is in the file.
pub fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::usage(messages::unreadable(file, &error)))
}

/// The server that it describes.
pub fn server(file: &Path) -> Result<ServerJson, Failure> {
    ServerJson::parse(&read(file)?).map_err(|error| Failure::broken(messages::not_a_server(file, &error)))
}

/// The packages of a server, all of which can be found.
pub fn packages(file: &Path, server: &ServerJson, origins: &Origins) -> Result<Vec<Package>, Failure> {
    let (packages, issues) = server.packages(&origins.sources());
    if issues.is_empty() { Ok(packages) } else { Err(Failure::broken(messages::issues(file, &issues))) }
}
