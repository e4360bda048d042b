//! Nothing in a history is trusted, nothing outside of it is touched.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::path::Path;

use common::*;
use hashline_history::{DocumentName, Draft, FileId, HunkRef, Sequence, Store, StoreError, Subject};
use hashline_weave::Change;

fn change(new: &str) -> Change {
    Change { lines: 0..1, new: vec![line(new)] }
}

/// A history with two documents of two edits each.
fn history_of(folder: &Path) -> (Store, Vec<Live>) {
    let store = Store::new(folder, "a process");
    let mut all = Vec::new();
    for name in ["a.txt", "b.txt"] {
        let mut live = Live::new(name_in(folder, name), "one\ntwo\n");
        for at in 0..2 {
            let edit = live.edit(&format!("{name}{at}"), "conv", &[change(&format!("line {at}"))], false);
            store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
        }
        all.push(live);
    }
    (store, all)
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    use std::os::unix::fs::symlink;
    let places = [
        ".mcp",
        ".mcp/.gitignore",
        ".mcp/edit_history",
        ".mcp/edit_history/lock",
        ".mcp/edit_history/decisions.log",
        ".mcp/edit_history/derived",
        ".mcp/edit_history/logs",
        ".mcp/edit_history/logs/conv.log",
        ".mcp/edit_history/diffs",
        ".mcp/edit_history/diffs/conv",
        ".mcp/edit_history/diffs/conv/next.diff",
        ".mcp/edit_history/checkpoints",
        ".mcp/edit_history/checkpoints/conv",
    ];
    for place in places {
        for dangling in [false, true] {
            let folder = common::folder();
            let outside = common::folder();
            let (_, mut documents) = history_of(folder.path());
            let path = folder.path().join(place);
            let away = outside.path().join("away");
            if !dangling && path.exists() {
                std::fs::rename(&path, &away).unwrap();
            } else if path.is_dir() {
                std::fs::remove_dir_all(&path).unwrap();
            } else if path.exists() {
                std::fs::remove_file(&path).unwrap();
            }
            symlink(&away, &path).unwrap();
            let before = all_files(outside.path());
            let store = Store::new(folder.path(), "another");
            let said = match store.session(&NoFiles) {
                Ok(mut session) => {
                    let live = &mut documents[0];
                    let edit = live.edit("next", "conv", &[change("next")], false);
                    let appended = session.append(&live.draft(edit)).map(|_| ());
                    let mut new = Live::new(name_in(folder.path(), "c.txt"), "one\n");
                    let edit = new.edit("new", "conv", &[change("next")], false);
                    let more = session.append(&new.draft(edit)).map(|_| ());
                    let checked = session.check().map(|_| ());
                    let said: Vec<String> = session.repairs().to_vec();
                    let finished = session.finish();
                    let errors = [appended, more, checked].into_iter().filter_map(Result::err);
                    errors
                        .map(|error| error.to_string())
                        .chain(said)
                        .chain(finished)
                        .collect::<Vec<_>>()
                        .join("; ")
                }
                Err(error) => error.to_string(),
            };
            assert!(said.contains("a link"), "{place}: {said}");
            assert_eq!(all_files(outside.path()), before, "{place}: something outside was touched");
            let _ = store.list(None, 0, |_| true);
            let _ = store.documents();
        }
    }
}

fn all_files(folder: &Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(path) = todo.pop() {
        for entry in std::fs::read_dir(&path).into_iter().flatten() {
            let path = entry.unwrap().path();
            found.push((path.clone(), std::fs::read(&path).ok()));
            if path.is_dir() {
                todo.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let folder = common::folder();
    history_of(folder.path());
    let record = history(folder.path(), "decisions.log");
    std::fs::remove_file(&record).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&record).status().unwrap().success());
    let store = Store::new(folder.path(), "another");
    assert!(matches!(store.session(&NoFiles), Err(StoreError::NotOurs { .. })));
    assert!(matches!(store.documents(), Err(StoreError::NotOurs { .. })));
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt;
    let folder = common::folder();
    history_of(folder.path());
    for (path, _) in all_files(&folder.path().join(".mcp")) {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    assert_eq!(std::fs::read_to_string(folder.path().join(".mcp/.gitignore")).unwrap(), "*\n");
}

/// Puts a line into the record, before the line of this number.
fn insert(folder: &Path, at: usize, line: &str) {
    let path = history(folder, "decisions.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(at, line);
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

fn replace_in_line(folder: &Path, at: usize, from: &str, to: &str) {
    let path = history(folder, "decisions.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines[at].contains(from), "{}", lines[at]);
    lines[at] = lines[at].replace(from, to);
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_line_that_lies_is_left_out_and_named() {
    let line = |changes: &str| {
        let whole = r#"{"seq":99,"time":"2026-01-01T00:00:00Z","process":"evil","document":{"path":"a.txt"},"file":1,"after":2}"#;
        let mut value: serde_json::Value = serde_json::from_str(whole).unwrap();
        let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
        for (key, change) in changes.as_object().unwrap() {
            value[key] = change.clone();
        }
        value.to_string()
    };
    let edit = |id: &str, conversation: &str, number: u32| {
        line(&format!(
            r#"{{"edit":{{"id":"{id}","conversation":"{conversation}","agent":"","connection":"","tool":"","mode":"apply","operation":"edit","hunks":[{{"number":{number}}}]}}}}"#
        ))
    };
    let cases = [
        "not json".to_owned(),
        "{}".to_owned(),
        String::new(),
        "\u{0}\u{0}\u{0}".to_owned(),
        "[".repeat(100_000),
        format!("\"{}\"", "x".repeat(20_000_000)),
        line(r#"{"document":{"path":"../../etc/passwd"}}"#),
        line(r#"{"document":{"path":"/etc/passwd"}}"#),
        line(r#"{"document":{"path":"x/../../y"}}"#),
        line(r#"{"document":{"path":".mcp/edit_history/lock"}}"#),
        line(r#"{"document":{"uri":"no uri"}}"#),
        line(r#"{"seq":1}"#),
        line(r#"{"seq":18446744073709551615}"#),
        line(r#"{"seq":-1}"#),
        line(r#"{"file":77}"#),
        line(r#"{"intent":[{"name":{"path":"../x"}}]}"#),
        line(r#"{"base":{"checkpoint":"../../../etc/passwd"}}"#),
        line(r#"{"base":{"checkpoint":"checkpoints/conv/../../../../x.chkpt"}}"#),
        edit("../../evil", "conv", 1),
        edit("x", "../evil", 1),
        edit("x", ".evil", 1),
        edit("x", "conv", 7),
        edit("a.txt0", "conv", 1),
    ];
    for case in cases {
        let around = common::folder();
        let folder = around.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        let (_, documents) = history_of(&folder);
        insert(&folder, 5, &case);
        let shown: String = case.chars().take(200).collect();
        let store = Store::new(&folder, "another");
        let damage = store.damage().unwrap();
        assert_eq!(damage.iter().map(|damage| damage.line).collect::<Vec<_>>(), [6], "{shown}");
        let before = all_files(around.path()).len();
        let mut session = store.session(&NoFiles).unwrap();
        session.check().unwrap();
        drop(session);
        assert_eq!(all_files(around.path()).len(), before, "{shown}");
        for mut live in documents {
            assert_recorded(&store, &live);
            let edit = live.edit("next", "conv", &[change("next")], false);
            if live.name == name_in(&folder, "a.txt") {
                store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
                assert_recorded(&store, &live);
            }
        }
    }
}

#[test]
fn a_document_with_a_damaged_record_is_usable_up_to_it() {
    let cases: &[(usize, &str, &str, &str)] = &[
        (2, "\"seq\":2", "\"seq\":x", "the line is gone"),
        (2, "line 1", "line 9", "the text of a hunk is another"),
        (2, "\"next_line\":4", "\"next_line\":999999999999999999", "a number that breaks sums"),
        (1, "\"next_line\":3", "\"next_line\":0", "a line that there is not"),
        (2, "\"runs\":[[0", "\"runs\":[[1", "another line"),
    ];
    for (at, from, to, what) in cases {
        let folder = common::folder();
        let (store, documents) = history_of(folder.path());
        let second = store.document(&documents[0].name).unwrap();
        // A third record of the first document, which rests on the damaged one.
        let mut live = documents[0].clone();
        live.type_line(0, "typed\n");
        store.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap();
        drop(store);
        replace_in_line(folder.path(), *at, from, to);
        let store = Store::new(folder.path(), "another");
        match store.document(&live.name) {
            Err(StoreError::Broken { sequence, .. }) => assert!(sequence.0 <= 5, "{what}"),
            Ok(document) => {
                // A proposal that nobody sees in the buffer is beyond what its hash says.
                assert_eq!(
                    document.weave().unwrap().buffer().to_string(),
                    live.weave.buffer().to_string(),
                    "{what}"
                );
            }
            Err(error) => panic!("{what}: {error}"),
        }
        if *at == 2 {
            let first = store.file_as_of(second.file, Sequence(1)).unwrap();
            assert_eq!(first.weave().unwrap().buffer().to_string(), "one\ntwo\n", "{what}");
        }
        // The other document does not care, and a base mends the first.
        assert_recorded(&store, &documents[1]);
        store.session(&NoFiles).unwrap().append(&live.draft(None)).unwrap();
        let again = store.document(&live.name).unwrap();
        assert_eq!(again.weave().unwrap().buffer().to_string(), live.weave.buffer().to_string(), "{what}");
    }
}

#[test]
fn a_checkpoint_that_was_touched_is_noticed() {
    let folder = common::folder();
    let (store, documents) = history_of(folder.path());
    for (path, _) in files(folder.path()) {
        if path.extension().is_some_and(|end| end == "chkpt") {
            std::fs::write(path, "evil\n").unwrap();
        }
    }
    let found = store.document(&documents[0].name);
    assert!(matches!(found, Err(StoreError::Broken { .. })), "{:?}", found.map(|_| ()));
}

#[test]
fn a_checkpoint_that_the_record_does_not_vouch_for_is_not_read() {
    let folder = common::folder();
    let (store, documents) = history_of(folder.path());
    store.document(&documents[0].name).unwrap();
    let record = history(folder.path(), "decisions.log");
    let text = std::fs::read_to_string(&record).unwrap();
    let (before, rest) = text.split_once(".chkpt\",\"hash\":\"").unwrap();
    let (_, behind) = rest.split_once('"').unwrap();
    std::fs::write(&record, format!("{before}.chkpt\"{behind}")).unwrap();
    let found = Store::new(folder.path(), "another").document(&documents[0].name);
    assert!(matches!(found, Err(StoreError::Broken { .. })), "{:?}", found.map(|_| ()));
}

#[test]
fn another_version_is_left_alone() {
    let folder = common::folder();
    history_of(folder.path());
    replace_in_line(folder.path(), 0, "\"version\":1", "\"version\":7");
    let before = files(folder.path());
    let store = Store::new(folder.path(), "another");
    for error in [store.documents().unwrap_err(), store.session(&NoFiles).map(|_| ()).unwrap_err()] {
        assert!(matches!(error, StoreError::WrongVersion { found: 7, .. }), "{error}");
        assert!(error.to_string().contains("newer hashline"), "{error}");
    }
    assert_same_files(&files(folder.path()), &before);
}

#[test]
fn a_draft_that_makes_no_sense_is_refused() {
    let folder = common::folder();
    let (store, documents) = history_of(folder.path());
    let record = std::fs::read(history(folder.path(), "decisions.log")).unwrap();
    let live = &documents[0];
    let mut session = store.session(&NoFiles).unwrap();
    let mut edited = live.clone();
    let edit = edited.edit("next", "conv", &[change("next")], false).unwrap();
    let with = |change: &dyn Fn(&mut Draft<'_>)| {
        let mut draft = edited.draft(Some(edit.clone()));
        change(&mut draft);
        draft
    };
    let outside = DocumentName::Path("/etc/passwd".into());
    let unknown = HunkRef { edit: "nobody".into(), number: 1 };
    let decision =
        |hunk: HunkRef| hashline_history::Decided { hunk, decision: Default::default(), reason: None };
    let cases = [
        with(&|draft| draft.document = outside.clone()),
        with(&|draft| draft.document = DocumentName::Path(folder.path().join("../x"))),
        with(&|draft| draft.document = name_in(folder.path(), ".mcp/edit_history/lock")),
        with(&|draft| draft.edit.as_mut().unwrap().id = "a.txt0".into()),
        with(&|draft| draft.edit.as_mut().unwrap().id = "../x".into()),
        with(&|draft| draft.edit.as_mut().unwrap().conversation = "../x".into()),
        with(&|draft| draft.edit.as_mut().unwrap().hunks[0].number = 0),
        with(&|draft| draft.edit.as_mut().unwrap().hunks[0].id = Some(hashline_weave::HunkId::from_order(0))),
        with(&|draft| {
            draft.edit.as_mut().unwrap().hunks[0].id = Some(hashline_weave::HunkId::from_order(99));
        }),
        with(&|draft| draft.decisions = vec![decision(unknown.clone())]),
        with(&|draft| draft.decisions = vec![decision(documents[1].hunks[0].clone())]),
        with(&|draft| draft.done = true),
        with(&|draft| draft.file = Subject::File(FileId(Sequence(77)))),
        with(&|draft| draft.since = Some(Sequence(1))),
    ];
    for (at, draft) in cases.iter().enumerate() {
        assert!(session.append(draft).is_err(), "case {at}");
    }
    assert_eq!(std::fs::read(history(folder.path(), "decisions.log")).unwrap(), record);
    session.append(&edited.draft(Some(edit))).unwrap();
}

#[cfg(unix)]
#[test]
fn a_history_that_may_not_be_written_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = common::folder();
    let (_, documents) = history_of(folder.path());
    let place = history(folder.path(), "");
    // Who may do everything is not stopped by mode bits.
    let probe = folder.path().join("probe");
    std::fs::create_dir(&probe).unwrap();
    std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(probe.join("x"), "").is_ok() {
        let error = StoreError::ReadOnly { path: place, why: "permission denied".into() };
        assert!(error.to_string().contains("read-only"), "{error}");
        return;
    }
    for path in [place.join("lock"), place.join("decisions.log")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o400)).unwrap();
    }
    let store = Store::new(folder.path(), "another");
    assert_recorded(&store, &documents[0]);
    match store.session(&NoFiles) {
        Err(error @ StoreError::ReadOnly { .. }) => {
            assert!(error.to_string().contains("Make it writable"), "{error}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}
