//! What is said to people about packages. Each text says the next step.

use std::fmt::Display;
use std::io;
use std::path::Path;

use hashline_package::{HashFailures, Issue, NoServerJson};
use hashline_terminal::inert;

pub const NO_HOME: &str = "the home folder is not to be had; set HOME";
pub const NO_REGISTRY: &str =
    "no registry is named; give --registry URL, or log in to one with `mcp-publisher login`";
pub const NO_TOKEN: &str = "there is no token, or it is empty; give one with --token or HASHLINE_REGISTRY_TOKEN, or write it to standard input";
pub const NO_FILES: &str = "it names no package with files, so that there is nothing to hash";
pub const NO_HASHES: &str = "it has no hashes, and nothing was compared: whether to trust its files is for you to decide. `mcp-publisher hash-gen` makes them";
pub const LOGGED_OUT: &str = "the token is forgotten";
pub const NO_ADDRESS: &str = "it is no address; write one as in https://registry.example";
pub const NOT_LOGGED_IN: &str = "there was no token; nothing was done";

fn shown(file: &Path) -> String {
    inert(&file.to_string_lossy())
}

pub fn unreadable(file: &Path, error: &io::Error) -> String {
    format!(
        "{} cannot be read: {error}; name another file, or write one with `mcp-publisher init`",
        shown(file)
    )
}

pub fn not_a_server(file: &Path, error: &NoServerJson) -> String {
    format!("{} is no server.json: {error}", shown(file))
}

pub fn issues(file: &Path, issues: &[Issue]) -> String {
    let mut words = format!("{} cannot be used as it is:", shown(file));
    for issue in issues {
        words.push_str(&format!("\n  {issue}"));
    }
    words
}

pub fn advice(issue: &Issue) -> String {
    format!("warning: {issue}")
}

pub fn valid(file: &Path) -> String {
    format!("{} can be published", shown(file))
}

pub fn failures(failures: &HashFailures) -> String {
    let words: Vec<&str> = failures.0.values().map(|failure| failure.words.as_str()).collect();
    words.join("\n")
}

pub fn hashed(file: &impl Display, hash: &impl Display) -> String {
    format!("hashed {file} {hash}")
}

pub fn verified(files: usize) -> String {
    match files {
        1 => "1 file is the one that was hashed".into(),
        files => format!("{files} files are those that were hashed"),
    }
}

pub fn partly_verified(files: usize) -> String {
    format!(
        "{}; not every file has a hash, and whether to trust one without is for you to decide",
        verified(files)
    )
}

pub fn published(name: &str, version: &str, registry: &impl Display) -> String {
    format!("{name} {version} is published at {registry}")
}

pub fn status_changed(versions: u64) -> String {
    match versions {
        1 => "1 version has its new status".into(),
        versions => format!("{versions} versions have their new status"),
    }
}

pub fn logged_in(registry: &impl Display, file: &Path) -> String {
    format!("the token for {registry} is kept in {}; `mcp-publisher logout` forgets it", shown(file))
}

pub fn without_token(registry: &impl Display) -> String {
    format!(
        "{registry} is the registry from now on, and no token is sent there; `mcp-publisher logout` forgets it"
    )
}

pub fn ask_for_token(registry: &impl Display) -> String {
    format!("The token for {registry}:")
}

pub fn is_there(file: &Path) -> String {
    format!("{} is there and stays as it is; name another file, or remove it", shown(file))
}

pub fn unwritable(file: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {error}; name another file", shown(file))
}

pub fn begun(file: &Path) -> String {
    format!(
        "{} is written; correct what is wrong in it, check it with `mcp-publisher validate`, then publish it",
        shown(file)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one_and_several_as_several() {
        for (words, expected) in [
            (verified(1), "1 file is the one that was hashed"),
            (verified(2), "2 files are those that were hashed"),
            (
                partly_verified(1),
                "1 file is the one that was hashed; not every file has a hash, and whether to trust one without is for you to decide",
            ),
            (status_changed(1), "1 version has its new status"),
            (status_changed(2), "2 versions have their new status"),
        ] {
            assert_eq!(words, expected);
        }
    }
}
