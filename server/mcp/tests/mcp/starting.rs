//! Editors that are starting: a call waits for the one that may have its file open, and for no other, and not for long.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hashline_link::{Finder, PATIENCE};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::place::Place;
use crate::protocol::{Connection, call};

/// For how long a call is let wait before what it waits for happens.
const WHILE: Duration = Duration::from_millis(200);

/// A mark as a plugin writes it, made so long ago.
fn mark(place: &Place, folder: &Path, pid: u32, ago: Duration) -> PathBuf {
    let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() - ago;
    let started = u64::try_from(made.as_millis()).unwrap();
    let folders = place.state().folder("sidecars").unwrap();
    let (path, unready) = (folders.join("editor-4711.starting"), folders.join(".editor-4711"));
    std::fs::write(&unready, json!({ "pid": pid, "roots": [folder], "started": started }).to_string())
        .unwrap();
    std::fs::rename(unready, &path).unwrap();
    path
}

fn marked_now(place: &Place) -> PathBuf {
    mark(place, &place.root, std::process::id(), Duration::ZERO)
}

/// A mark that is made anew again and again: whoever waited for it would wait for ever.
struct Lasting(JoinHandle<()>);

impl Lasting {
    fn on(place: &Place, folder: &Path, pid: u32) -> Self {
        let again = {
            let (state, folder) = (place.state(), folder.to_owned());
            move || {
                let sidecars = state.folder("sidecars").unwrap();
                let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
                let mark =
                    json!({ "pid": pid, "roots": [folder], "started": u64::try_from(started).unwrap() });
                std::fs::write(sidecars.join(".editor-1"), mark.to_string()).unwrap();
                std::fs::rename(sidecars.join(".editor-1"), sidecars.join("editor-1.starting")).unwrap();
            }
        };
        again();
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(WHILE).await;
                again();
            }
        }))
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn is_any_on(place: &Place) -> bool {
    Finder::new(place.state()).look().1.iter().any(hashline_link::Mark::is_on)
}

async fn write(agent: &Connection, content: &str) {
    let answer = call(agent, "write_file", json!({ "path": "a.txt", "content": content })).await;
    assert!(!answer.failed, "{}", answer.text);
}

#[tokio::test]
async fn a_call_goes_to_the_editor_that_was_starting() {
    let place = Place::new();
    let path = place.write("a.txt", "on the disk\n");
    let agent = place.agent().await;
    let calls: [(&str, Value); 2] = [
        ("read_text_file", json!({ "path": "a.txt" })),
        (
            "edit_file_diff",
            json!({ "path": "a.txt", "edits": [{ "old": "in the editor", "new": "by the agent" }] }),
        ),
    ];
    for (tool, given) in calls {
        let mark = marked_now(&place);
        let starts = async {
            tokio::time::sleep(WHILE).await;
            let editor = place.editor("nvim", &[&place.root]);
            // It is there some time before it has told of what is open.
            tokio::time::sleep(WHILE).await;
            editor.open(&path, "in the editor\n");
            std::fs::remove_file(&mark).unwrap();
            editor
        };
        let (answer, editor) = tokio::join!(call(&agent, tool, given), starts);
        assert!(!answer.failed && answer.text.contains("nvim"), "{tool}: {}", answer.text);
        assert!(answer.text.contains("in the editor") || tool != "read_text_file", "{}", answer.text);
        assert_eq!(std::fs::read(&path).unwrap(), b"on the disk\n", "{tool}");
        editor.sidecar.quit().await;
    }
}

#[tokio::test]
async fn a_call_waits_for_an_editor_that_is_starting_beside_another() {
    let place = Place::new();
    let path = place.write("a.txt", "on the disk\n");
    let agent = place.agent().await;
    let first = place.editor("nvim", &[&place.root]);
    let mark = marked_now(&place);
    let starts = async {
        tokio::time::sleep(WHILE).await;
        let editor = place.editor("code", &[&place.root]);
        editor.open(&path, "in the editor\n");
        std::fs::remove_file(&mark).unwrap();
        editor
    };
    let read = call(&agent, "read_text_file", json!({ "path": "a.txt" }));
    let (answer, second) = tokio::join!(read, starts);
    assert!(answer.text.contains("in the editor"), "{}", answer.text);
    first.sidecar.quit().await;
    second.sidecar.quit().await;
}

#[tokio::test]
async fn a_call_goes_to_the_disk_when_the_mark_is_removed() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let agent = place.agent().await;
    let mark = marked_now(&place);
    let fails = async {
        tokio::time::sleep(WHILE).await;
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n", "until then it is left alone");
        std::fs::remove_file(&mark).unwrap();
    };
    tokio::join!(write(&agent, "two\n"), fails);
    assert_eq!(std::fs::read(&path).unwrap(), b"two\n");
}

#[tokio::test]
async fn a_call_waits_for_nobody_for_longer_than_a_mark_is_on() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let agent = place.agent().await;
    let mark = mark(&place, &place.root, std::process::id(), PATIENCE - 3 * WHILE);
    write(&agent, "two\n").await;
    assert!(mark.exists() && !is_any_on(&place));
    assert_eq!(std::fs::read(&path).unwrap(), b"two\n");
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_does_not_wait_for_a_process_that_has_ended() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let agent = place.agent().await;
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let _mark = Lasting::on(&place, &place.root, child.id());
    let ends = async {
        tokio::time::sleep(WHILE).await;
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
        child.kill().unwrap();
        child.wait().unwrap();
    };
    tokio::join!(write(&agent, "two\n"), ends);
    write(&agent, "three\n").await;
    assert_eq!(std::fs::read(&path).unwrap(), b"three\n");
}

#[tokio::test]
async fn nothing_is_waited_for_that_has_nothing_to_do_with_the_file() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    place.write("below/b.txt", "b\n");
    let agent = place.agent().await;
    let lasting = Lasting::on(&place, &place.root.join("below"), std::process::id());
    write(&agent, "two\n").await;
    assert_eq!(std::fs::read(&path).unwrap(), b"two\n");
    // Calls about no file in particular are answered, too.
    for (tool, given) in [("list_edits", json!({})), ("search_text", json!({ "pattern": "two" }))] {
        let answer = call(&agent, tool, given).await;
        assert!(!answer.failed, "{tool}: {}", answer.text);
    }
    drop(lasting);
    // A file that goes into the folder would be one of the editor's.
    let moved = call(&agent, "move_file", json!({ "source": "a.txt", "destination": "below/a.txt" })).await;
    assert!(!moved.failed, "{}", moved.text);
    assert!(!is_any_on(&place));
}
