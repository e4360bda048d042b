//! A file that an editor has open is decided about in that editor.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hashline_link::{
    Announcement, Call, CancellationToken, Decide, DecideOutcome, DecideResult, Decision, Handler, Held,
    Listener, Raw, RemoteError, Sidecar, SidecarId, SidecarStatus, StateDir, announce, serve,
};

use crate::agent::numbered;
use crate::project::{A, B, Project, sample};

/// An editor that has `src/greet.js` open, and answers every decision alike, with the hunks of it.
struct Editor {
    answer: DecideOutcome,
    asked: Arc<Mutex<Vec<Decide>>>,
}

impl Handler for Editor {
    async fn call(&self, _: Call, _: CancellationToken) -> Result<Raw, RemoteError> {
        Err(RemoteError::failed("not asked for"))
    }
    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        let held = |path: PathBuf| Held { open: path.ends_with("src/greet.js"), path, ..Held::default() };
        Ok(paths.into_iter().map(held).collect())
    }
    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        Ok(SidecarStatus::default())
    }
    async fn decide(&self, decide: Decide) -> Result<DecideOutcome, RemoteError> {
        self.asked.lock().unwrap().push(decide.clone());
        let done = matches!(self.answer.result, DecideResult::Done | DecideResult::Queued);
        let hunks = ["aaaaaaaa-1:1", "aaaaaaaa-1:2", "aaaaaaaa-1:3", "aaaabbbb-2:1"];
        let wanted = |hunk: &&str| match (&decide.conversation, decide.hunk) {
            (Some(_), _) => done,
            (None, Some(number)) => done && **hunk == format!("{}:{number}", decide.edit),
            (None, None) => done && hunk.starts_with(&decide.edit),
        };
        let decided = hunks.iter().filter(|hunk| wanted(hunk)).map(|hunk| (*hunk).to_owned()).collect();
        Ok(DecideOutcome { decided, ..self.answer.clone() })
    }
}

/// Keeps the editor running.
struct Running {
    asked: Arc<Mutex<Vec<Decide>>>,
    _announced: Announcement,
    _runtime: tokio::runtime::Runtime,
}

fn start(project: &Project, result: DecideResult, message: &str) -> Running {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let entered = runtime.enter();
    let state = StateDir::new(Some(&project.temp.path().join("state"))).unwrap();
    let id = SidecarId::random();
    let listener = Listener::bind(&state, &id).unwrap();
    let sidecar = Sidecar::new(id, &listener, "an-editor", vec![project.folder.clone()]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let answer = DecideOutcome { result, message: message.to_owned(), ..DecideOutcome::default() };
    runtime.spawn(serve(
        listener,
        Arc::new(Editor { answer, asked: asked.clone() }),
        CancellationToken::new(),
    ));
    drop(entered);
    Running { asked, _announced: announce(&state, sidecar).unwrap(), _runtime: runtime }
}

#[test]
fn the_editor_is_told_what_was_decided() {
    let project = sample();
    let editor = start(&project, DecideResult::Queued, "accepted; waits");
    let ran = project.run(&["accept", "aaaaaaaa:2", "--reason", "fine"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("Accepted aaaaaaaa, hunk 2. an-editor has the file open"), "{}", ran.out);
    let ran = project.run(&["reject", "aaaabbbb"]);
    assert!(ran.out.contains("Rejected aaaabbbb, hunk 1. an-editor"), "{}", ran.out);
    let asked = editor.asked.lock().unwrap();
    assert_eq!((asked[0].hunk, asked[0].decision), (Some(2), Decision::Accept));
    assert_eq!(asked[0].reason.as_deref(), Some("fine"));
    assert_eq!(
        (asked[1].edit.as_str(), asked[1].hunk, asked[1].decision),
        ("aaaabbbb-2", None, Decision::Reject)
    );
}

#[test]
fn a_conversation_is_decided_in_one_call_a_document() {
    let project = Project::new();
    project.edits(
        "src/greet.js",
        &numbered(9),
        &[(A, &[(1, "second"), (3, "fourth"), (5, "sixth")]), (B, &[(7, "eighth")])],
    );
    let editor = start(&project, DecideResult::Done, "accepted");
    let (_, json) = project.json(&["accept", "-c", "11111111", "--json"]);
    let names: Vec<&str> =
        json["decided"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert_eq!(names, ["aaaaaaaa-1:1", "aaaaaaaa-1:2", "aaaaaaaa-1:3", "aaaabbbb-2:1"], "{json}");
    let asked = editor.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].edit.as_str(), asked[0].conversation.as_deref()), ("", Some(crate::project::ONE)));
    assert!(asked[0].path.as_ref().unwrap().ends_with("src/greet.js"));
}

#[test]
fn codes_say_what_the_editor_says() {
    for (result, code, words) in [
        (DecideResult::Done, 0, ""),
        (DecideResult::NotFound, 1, "is new"),
        (DecideResult::NotOwner, 1, "is new"),
        (DecideResult::Changed, 3, "--keep"),
        (DecideResult::Conflict, 4, "is new"),
    ] {
        let project = sample();
        let _editor = start(&project, result, "This \x1b[31m is new.");
        let ran = project.run(&["accept", "aaaaaaaa:1"]);
        assert_eq!(ran.code, code, "{result:?}: {}", ran.err);
        assert!(ran.err.contains(words) && !ran.err.contains('\x1b'), "{result:?}: {}", ran.err);
    }
}
