//! The manual is built, and its links and those of the other pages of the repository lead somewhere.
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use std::fs;
use std::path::{Path, PathBuf};

use hashline_manual::{Broken, broken_links};
use mdbook_driver::MDBook;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages in a folder itself.
fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn the_manual_is_built_of_all_its_pages() {
    let docs = repository().join("docs");
    let built = tempfile::tempdir().unwrap();
    let mut book = MDBook::load(&docs).unwrap();
    book.config.build.build_dir = built.path().to_owned();
    book.build().unwrap();
    for page in pages_in(&docs) {
        let name = page.file_stem().unwrap();
        if name != "SUMMARY" {
            let html = built.path().join(name).with_extension("html");
            assert!(html.exists(), "{} is in no chapter of SUMMARY.md", page.display());
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let root = repository();
    let folders = [
        "",
        "docs",
        "editors",
        "editors/helix",
        "editors/emacs",
        "editors/kakoune",
        "editors/zed",
        "server/weave",
    ];
    let mut pages: Vec<PathBuf> = folders.iter().flat_map(|folder| pages_in(&root.join(folder))).collect();
    pages.push(root.join("vscode-extension/README.md"));
    let broken = broken_links(&pages).unwrap();
    assert!(broken.is_empty(), "{}", broken.iter().map(Broken::to_string).collect::<Vec<_>>().join("\n"));
}

#[test]
fn links_of_the_manual_stay_in_it() {
    for page in pages_in(&repository().join("docs")) {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!text.contains("](../"), "{}: what is built has nothing beside it", page.display());
    }
}
