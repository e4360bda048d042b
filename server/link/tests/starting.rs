//! Marks of editors that are starting: which are on, which are ignored, and which are removed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hashline_link::{Finder, Mark, PATIENCE, StateDir, discover};
use serde_json::{Value, json};

struct Place {
    _temp: tempfile::TempDir,
    state: StateDir,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        state.folder("sidecars").unwrap();
        Self { state, _temp: temp }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.state.sidecars().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The folders of the marks that are on.
    fn on(&self) -> Vec<PathBuf> {
        let (sidecars, marks) = Finder::new(self.state.clone()).look();
        assert!(sidecars.is_empty(), "no mark is taken for a sidecar");
        marks.iter().filter(|mark| mark.is_on()).flat_map(|mark| mark.roots.clone()).collect()
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// As a plugin writes it, with this in place of what is right.
fn mark(other: &Value) -> Value {
    let mut mark = json!({ "pid": std::process::id(), "roots": ["/project"], "started": now() });
    for (field, value) in other.as_object().unwrap() {
        mark[field] = value.clone();
    }
    mark
}

#[test]
fn a_mark_is_on_until_it_is_removed() {
    let place = Place::new();
    let finder = Finder::new(place.state.clone());
    assert!(finder.look().1.is_empty());
    let path = place.write("nvim-4711.starting", mark(&json!({ "roots": ["/a", "/b"] })).to_string());
    let (_, marks) = finder.look();
    assert_eq!(marks[0].roots, [Path::new("/a"), Path::new("/b")]);
    assert!(marks[0].pid == std::process::id() && marks[0].is_on());
    assert!(discover(&place.state).is_empty());
    fs::remove_file(path).unwrap();
    assert!(finder.look().1.is_empty());
}

#[test]
fn what_a_plugin_writes_counts() {
    let place = Place::new();
    place.write("nvim-4711.starting", mark(&json!({ "newer": { "field": 1 } })).to_string());
    place.write(".nvim-4712.tmp", "{");
    assert_eq!(place.on(), [Path::new("/project")]);
}

#[test]
fn a_mark_is_on_for_a_while_from_the_moment_that_it_tells() {
    let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
    let made = |started| Mark { pid: std::process::id(), host: String::new(), roots: Vec::new(), started };
    assert!(made(now()).is_on() && made(now() - patience + 2_000).is_on());
    for started in [0, now() - patience, now() + 60_000, u64::MAX] {
        assert!(!made(started).is_on(), "{started}");
    }
}

#[cfg(unix)]
#[test]
fn the_mark_of_a_process_that_has_ended_is_off() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let place = Place::new();
    place.write("editor-1.starting", mark(&json!({ "pid": child.id() })).to_string());
    assert_eq!(place.on().len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.on().is_empty());
}

#[test]
fn what_is_no_mark_in_every_part_is_ignored() {
    let place = Place::new();
    let many: Vec<String> = (0..65).map(|n| format!("/{n}")).collect();
    for (name, bytes) in [
        ("not JSON", b"{".to_vec()),
        ("empty", Vec::new()),
        ("not UTF-8", b"{\"pid\": 1, \"roots\": [\"/\xff\"], \"started\": 1}".to_vec()),
        ("a list", b"[]".to_vec()),
        ("huge", mark(&json!({ "more": "x".repeat(64 * 1024) })).to_string().into_bytes()),
        ("no folder", mark(&json!({ "roots": [] })).to_string().into_bytes()),
        ("many folders", mark(&json!({ "roots": many })).to_string().into_bytes()),
        ("upwards", mark(&json!({ "roots": ["/project/../.."] })).to_string().into_bytes()),
        ("one upwards", mark(&json!({ "roots": ["/project", "/project/.."] })).to_string().into_bytes()),
        ("relative", mark(&json!({ "roots": ["project"] })).to_string().into_bytes()),
        ("the whole disk", mark(&json!({ "roots": ["/"] })).to_string().into_bytes()),
        ("numbers for folders", mark(&json!({ "roots": [1] })).to_string().into_bytes()),
        ("no process", mark(&json!({ "pid": 0 })).to_string().into_bytes()),
        ("every process", mark(&json!({ "pid": -1 })).to_string().into_bytes()),
        ("a process beyond all", mark(&json!({ "pid": 4_294_967_295_u32 })).to_string().into_bytes()),
        ("no time", mark(&json!({ "started": "now" })).to_string().into_bytes()),
        #[cfg(unix)]
        ("another machine", mark(&json!({ "host": "not-this-one.example" })).to_string().into_bytes()),
    ] {
        let path = place.write("mark-00000001.starting", bytes);
        assert!(place.on().is_empty(), "{name}");
        assert!(path.exists(), "{name}: it is young, and may be somebody's");
    }
    place.write("mark-00000001.starting", mark(&json!({})).to_string());
    assert_eq!(place.on().len(), 1, "with all of it right it counts");
}

#[cfg(unix)]
#[test]
fn nothing_but_a_regular_file_is_opened() {
    let place = Place::new();
    let elsewhere = place.state.path().join("elsewhere");
    fs::write(&elsewhere, mark(&json!({})).to_string()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.state.sidecars().join("link.starting")).unwrap();
    fs::create_dir(place.state.sidecars().join("folder.starting")).unwrap();
    assert!(place.on().is_empty());
    assert!(elsewhere.exists());
}

#[test]
fn what_was_left_behind_is_removed_whatever_it_holds() {
    let place = Place::new();
    for (name, bytes) in [("a.starting", mark(&json!({})).to_string()), ("b.starting", "{".to_owned())] {
        let path = place.write(name, bytes);
        let past = SystemTime::now() - Duration::from_secs(61);
        fs::File::options().write(true).open(&path).unwrap().set_modified(past).unwrap();
    }
    let young = place.write("c.starting", "{");
    assert!(place.on().is_empty());
    let left: Vec<_> =
        fs::read_dir(place.state.sidecars()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [young]);
}
