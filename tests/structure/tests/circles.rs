//! The modules of no crate import each other in a circle (what counts is told in `hashline_structure`).
//!
//! The crates that still have circles are listed here. A circle of another one fails the test, and so does a crate that is listed and has none
//! any more.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use hashline_structure::{Modules, circles};

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

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let targets = targets();
    assert!(targets.contains_key("hashline_workspace"), "the crates are looked at: {targets:?}");
    let mut wrong = String::new();
    for name in NOT_YET.iter().filter(|name| !targets.contains_key(**name)) {
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
        for circle in found {
            wrong += &format!("{name} has a circle:\n{circle}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
