//! hashline and mcp-publisher are two products: whoever builds the one compiles nothing that only the other needs.

use std::collections::BTreeSet;
use std::process::Command;

/// The crates that a package is built of.
fn built_of(package: &str) -> BTreeSet<String> {
    let cargo = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges=normal,build",
            "--prefix=none",
            "--format={p}",
            "--package",
            package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, as it runs this test");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let tree = String::from_utf8(cargo.stdout).expect("names of crates are ASCII");
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn neither_product_is_built_of_the_other() {
    for (package, needed, none) in [
        (
            "hashline",
            "hashline-workspace",
            &["mcp-publisher", "hashline-package", "rusqlite", "tokio-postgres", "rustls", "reqwest"][..],
        ),
        (
            "mcp-publisher",
            "hashline-package",
            &["hashline", "hashline-workspace", "hashline-mcp", "hashline-lsp", "rmcp", "tower-lsp"],
        ),
    ] {
        let crates = built_of(package);
        assert!(crates.contains(needed), "{package}: {crates:?}");
        for other in none {
            assert!(
                !crates.contains(*other),
                "{package} is built of {other}: cargo tree -p {package} -i {other}"
            );
        }
    }
}
