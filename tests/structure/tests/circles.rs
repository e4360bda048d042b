//! The modules of no crate import each other in a circle (what counts is told in `hashline_structure`).
//!
//! The circles that are left are listed here. A new one fails the test, and so does one that is listed and not there any more.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use hashline_structure::{Circle, Modules, circles};

/// The circles that are left: their crate, and their files.
const LEFT: &[(&str, &str)] =
    &[("hashline_lsp", "configuration.rs handover.rs http.rs presence.rs session.rs")];

/// Crates that are not held to it yet: their circles run through what starts everything in them, and so through most of their files.
const NOT_YET: &[&str] = &["hashline_cli", "hashline_mcp", "hashline_package"];

/// The first file of every library and program of the workspace, by its name.
fn targets() -> BTreeMap<String, PathBuf> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, as it runs this test");
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).expect("cargo answers in JSON");
    let packages = metadata["packages"].as_array().expect("cargo lists the packages");
    let targets = packages.iter().flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_code = |target: &&serde_json::Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds.filter_map(serde_json::Value::as_str).any(|kind| matches!(kind, "lib" | "bin"))
    };
    let named = |target: &serde_json::Value| {
        let text = |key: &str| target[key].as_str().map(str::to_owned);
        text("name").zip(text("src_path").map(PathBuf::from)).expect("a target has a name and a file")
    };
    targets.filter(is_code).map(named).collect()
}

/// The files of a circle as they are listed.
fn files(circle: &Circle) -> String {
    let files: Vec<String> = circle.files.iter().map(|file| file.display().to_string()).collect();
    files.join(" ")
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let targets = targets();
    assert!(targets.contains_key("hashline_workspace"), "the crates are looked at: {targets:?}");
    let mut wrong = String::new();
    for name in LEFT.iter().map(|(name, _)| name).chain(NOT_YET).filter(|name| !targets.contains_key(**name))
    {
        wrong += &format!("{name} is no crate any more: take it off the list\n");
    }
    for (name, first) in &targets {
        let modules = Modules::read(first).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = circles(&modules);
        if NOT_YET.contains(&name.as_str()) {
            if found.is_empty() {
                wrong += &format!("{name} has no circle any more: hold it to the check\n");
            }
            continue;
        }
        let left = LEFT.iter().filter(|(of, _)| of == name).map(|(_, files)| *files).collect::<Vec<_>>();
        for circle in found.iter().filter(|circle| !left.contains(&files(circle).as_str())) {
            wrong += &format!("{name} has a circle that is not listed, of {}:\n{circle}", files(circle));
        }
        for gone in left.iter().filter(|left| !found.iter().any(|circle| files(circle) == **left)) {
            wrong += &format!("{name} has no circle of {gone} any more: take it off the list\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
