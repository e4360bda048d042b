//! Tests on real folders. What needs no disk is tested beside the code (`cache.rs`) or in tables here.

#[cfg(target_os = "linux")]
mod attributes;
mod errors;
mod files;
mod forbidden_folder;
mod git;
mod links;
mod listing;
mod paths;
mod races;
mod racy;
mod writes;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::{PathRefusal, PathStyle, Place, Roots};

/// A root beside a folder with a secret in it.
struct House {
    base: TempDir,
}

impl House {
    fn new() -> House {
        let base = tempfile::tempdir().unwrap();
        for folder in ["root/src", "root/.git/hooks", "root/.mcp/edit_history", "outside"] {
            fs::create_dir_all(base.path().join(folder)).unwrap();
        }
        let house = House { base };
        house.put("root/a.txt", "a\n");
        house.put("root/src/main.rs", "fn main() {}\n");
        house.put("root/.git/config", "[core]\n");
        house.put("root/.mcp/edit_history/log", "log\n");
        house.put("root/.mcp.json", "{}\n");
        house.put("root/.gitignore", "target\n");
        house.put("outside/secret", "secret\n");
        house
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Free of links, as places are.
    fn path(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    fn roots(&self) -> Roots {
        Roots::open([self.path("root")]).unwrap()
    }

    fn place(&self, given: &str) -> Place {
        self.resolve(given).unwrap()
    }

    fn resolve(&self, given: &str) -> Result<Place, PathRefusal> {
        self.roots().resolve(given, PathStyle::Any)
    }

    /// All names in a folder, in order.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Ends the other thread of a race, also when this one panics: the scope around both waits for it.
struct StopWhenDropped<'a>(&'a AtomicBool);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn link(target: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

/// A whole sentence or more, the last of which says what to do.
fn assert_complete(message: &str) {
    assert!(message.ends_with('.'), "no full stop: {message}");
    let sentences =
        message.matches(". ").count() + message.matches("; ").count() + message.matches(": ").count();
    assert!(sentences >= 1, "no next step: {message}");
}
