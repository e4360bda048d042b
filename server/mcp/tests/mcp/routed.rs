//! The router between an agent and editors that come and go.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::{
    Call, CancellationToken, Decide, DecideOutcome, Handler, Held, Raw, RemoteError, SidecarStatus,
};
use hashline_text::{DocVersion, Encoding};
use rmcp::service::ClientLifecycleMode;
use serde_json::json;

use crate::desk::Answer;
use crate::place::Place;
use crate::protocol::{Agent, Connection, call, connect, server};

#[tokio::test]
async fn an_editor_is_noticed_when_it_comes_and_when_it_goes() {
    let place = Place::new();
    let path = place.write("a.txt", "on the disk\n");
    let agent = place.agent().await;
    let read = || call(&agent, "read_text_file", json!({ "path": "a.txt" }));
    assert!(read().await.text.contains("|on the disk"));

    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "in the editor\n");
    let live = read().await;
    assert!(live.text.contains("|in the editor") && live.text.contains("Open in nvim."), "{}", live.text);

    let operations =
        json!([{ "op": "replace", "anchor": live.anchor("in the editor"), "content": "edited" }]);
    let given = json!({ "path": "a.txt", "file_hash": live.hash(), "operations": operations });
    let held = call(&agent, "edit_text_file", given).await;
    assert!(held.text.contains("Held for the person"), "{}", held.text);
    assert_eq!(std::fs::read(&path).unwrap(), b"on the disk\n");
    assert_eq!(editor.workspace.reviews().len(), 1);
    assert_eq!(editor.workspace.agents(), [hashline_history::AgentName::from("tester")]);
    assert!(call(&agent, "list_edits", json!({ "path": "a.txt" })).await.text.contains("held"));
    let documents = call(&agent, "list_documents", json!({})).await;
    assert!(documents.text.contains("1 document open in nvim"), "{}", documents.text);

    editor.sidecar.quit().await;
    assert!(read().await.text.contains("|on the disk"), "without an editor the disk is served");

    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "in the next editor\n");
    assert!(read().await.text.contains("|in the next editor"));
    editor.sidecar.crash();
    assert!(read().await.text.contains("|on the disk"), "a file left behind is no editor");
}

#[tokio::test]
async fn waiting_holds_up_nobody_and_ends_with_the_decision() {
    let place = Place::new();
    let path = place.write("a.txt", "a\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "a\n");
    let agent = place.agent().await;
    let read = call(&agent, "read_text_file", json!({ "path": "a.txt" })).await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("a"), "content": "b" }]);
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
    let held = call(&agent, "edit_text_file", given).await;
    let waiting = call(&agent, "await_review", json!({ "timeout_s": 30 }));
    let meanwhile = async {
        editor.waits(1).await;
        for _ in 0..10 {
            assert!(!call(&agent, "read_text_file", json!({ "path": "a.txt" })).await.failed);
        }
        editor.reject(&held.edit_id(), "No.").await;
    };
    let (told, ()) =
        tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(waiting, meanwhile) })
            .await
            .unwrap();
    assert!(told.text.contains("rejected · the person says: \"No.\""), "{}", told.text);
}

#[tokio::test]
async fn every_edit_of_an_open_document_goes_to_its_editor() {
    let place = Place::new();
    let path = place.write("a.txt", "one\ntwo\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "one\ntwo\nunsaved\n");
    let agent = place.agent().await;
    let edits = json!([{ "old": "unsaved", "new": "seen" }]);
    let held = call(&agent, "edit_file_diff", json!({ "path": "a.txt", "edits": edits })).await;
    assert!(held.text.contains("pending · held") && held.text.contains("|seen"), "{}", held.text);
    let given = json!({ "path": path, "content": "one\nseen\n", "file_hash": held.hash() });
    let held = call(&agent, "write_file", given).await;
    assert!(held.text.contains("pending · held · 2 lines"), "{}", held.text);
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");

    editor.sidecar.quit().await;
    let other = place.write("b.txt", "one\n");
    let done = call(&agent, "write_file", json!({ "path": "b.txt", "content": "1\n" })).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(std::fs::read(&other).unwrap(), b"1\n");
}

#[tokio::test]
async fn edits_in_several_places_are_waited_for_together() {
    let place = Place::new();
    let (one, two) = (place.write("one/a.txt", "a\n"), place.write("two/a.txt", "a\n"));
    let first = place.editor("nvim", &[one.parent().unwrap()]);
    let second = place.editor("code", &[two.parent().unwrap()]);
    first.open(&one, "a\n");
    second.open(&two, "a\n");
    let agent = place.agent().await;
    let mut ids = Vec::new();
    for path in ["one/a.txt", "two/a.txt"] {
        let read = call(&agent, "read_text_file", json!({ "path": path })).await;
        let operations = json!([{ "op": "replace", "anchor": read.anchor("a"), "content": "b" }]);
        let given = json!({ "path": path, "file_hash": read.hash(), "operations": operations });
        ids.push(call(&agent, "edit_text_file", given).await.edit_id());
    }
    let listed = call(&agent, "list_edits", json!({ "state": "pending" })).await;
    assert!(ids.iter().all(|id| listed.text.contains(&id[..8])), "{}", listed.text);
    let documents = call(&agent, "list_documents", json!({})).await;
    assert!(
        documents.text.contains("open in nvim") && documents.text.contains("open in code"),
        "{}",
        documents.text
    );

    let all_told = |told: &Answer| {
        assert!(!told.failed && ids.iter().all(|id| told.text.contains(&id[..8])), "{}", told.text);
        assert!(told.text.contains("the person says: \"No.\""), "{}", told.text);
    };
    let waiting = call(&agent, "await_review", json!({ "timeout_s": 20 }));
    let deciding = async {
        first.waits(1).await;
        second.waits(1).await;
        second.reject(&ids[1], "No.").await;
    };
    all_told(&tokio::join!(waiting, deciding).0);
    first.reject(&ids[0], "No.").await;
    all_told(&call(&agent, "await_review", json!({ "timeout_s": 20, "edit_ids": ids })).await);
    let late = call(&agent, "withdraw_edit", json!({ "edit_id": ids[0] })).await;
    assert!(late.failed && late.text.contains("rejected already"), "{}", late.text);
    let unknown = call(&agent, "await_review", json!({ "edit_ids": ["ffffffff"], "timeout_s": 1 })).await;
    assert!(unknown.failed, "{}", unknown.text);
}

#[tokio::test]
async fn a_file_outside_the_editors_folders_is_found_where_it_is_open() {
    let place = Place::new();
    let (inside, outside) = (place.write("one/a.txt", "a\n"), place.write("two/b.txt", "b\n"));
    let editor = place.editor("nvim", &[inside.parent().unwrap()]);
    editor.open(&outside, "unsaved\n");
    let agent = place.agent().await;
    assert!(call(&agent, "read_text_file", json!({ "path": "two/b.txt" })).await.text.contains("|unsaved"));
    let other = place.write("two/c.txt", "c\n");
    let read = call(&agent, "read_text_file", json!({ "path": other })).await;
    assert!(!read.failed && read.text.contains("|c"), "{}", read.text);
    // A relative path means the agent's folder, not the editor's.
    place.write("a.txt", "the agent's\n");
    assert!(call(&agent, "read_text_file", json!({ "path": "a.txt" })).await.text.contains("|the agent's"));
}

#[tokio::test]
async fn documents_without_a_file_are_found() {
    let place = Place::new();
    let editor = place.editor("code", &[&place.root]);
    let other = place.editor("nvim", &[&place.root]);
    other.workspace.did_open("untitled:2", "text", DocVersion(1), Encoding::Utf16, "another draft\n");
    editor.workspace.did_open("untitled:1", "text", DocVersion(1), Encoding::Utf16, "draft\n");
    let agent = place.agent().await;
    let read = call(&agent, "read_text_file", json!({ "path": "untitled:1" })).await;
    assert!(read.text.contains("|draft"), "{}", read.text);
    let gone = call(&agent, "read_text_file", json!({ "path": "untitled:3" })).await;
    assert!(gone.failed && gone.text.contains("list_documents"), "{}", gone.text);
}

#[tokio::test]
async fn the_sidecar_keeps_agents_to_their_roots() {
    let place = Place::new();
    let (mine, other) = (place.write("mine/a.txt", "a\n"), place.write("other/b.txt", "b\n"));
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&mine, "mine\n");
    editor.open(&other, "the secret\n");
    let server = server(&[mine.parent().unwrap()], true, &place.state);
    let agent = connect(server, Agent { name: "tester", roots: None }, ClientLifecycleMode::Initialize).await;
    assert!(call(&agent, "read_text_file", json!({ "path": mine })).await.text.contains("|mine"));
    let refused = call(&agent, "read_text_file", json!({ "path": other })).await;
    assert!(refused.failed && !refused.text.contains("the secret"), "{}", refused.text);
    let documents = call(&agent, "list_documents", json!({})).await;
    assert!(documents.text.contains("a.txt") && !documents.text.contains("b.txt"), "{}", documents.text);
}

/// A sidecar that takes calls and dies of them, or never answers.
struct Faulty {
    calls: std::sync::atomic::AtomicUsize,
    hang: bool,
    kill: CancellationToken,
}

impl Handler for Faulty {
    async fn call(&self, _: Call, _: CancellationToken) -> Result<Raw, RemoteError> {
        self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.kill.cancel();
        std::future::pending().await
    }
    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        if self.hang {
            std::future::pending::<()>().await;
        }
        Ok(paths.into_iter().map(|path| Held { path, open: true, ..Held::default() }).collect())
    }
    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        Ok(SidecarStatus::default())
    }
    async fn decide(&self, _: Decide) -> Result<DecideOutcome, RemoteError> {
        Err(RemoteError::cancelled())
    }
}

#[tokio::test]
async fn an_edit_whose_fate_is_unknown_is_not_repeated_and_a_read_is() {
    for (tool, edits) in [("edit_text_file", true), ("read_text_file", false)] {
        let place = Place::new();
        place.write("a.txt", "a\n");
        let kill = CancellationToken::new();
        let faulty = Arc::new(Faulty { calls: 0.into(), hang: false, kill: kill.clone() });
        let running = place.start("nvim", &[&place.root], faulty.clone());
        let agent = place.agent().await;
        tokio::spawn(async move {
            kill.cancelled().await;
            running.crash();
        });
        let given = match edits {
            true => {
                json!({ "path": "a.txt", "file_hash": "0123456789ab", "operations": [{ "op": "delete", "anchor": "1:8c" }] })
            }
            false => json!({ "path": "a.txt" }),
        };
        let told = tokio::time::timeout(Duration::from_secs(20), call(&agent, tool, given)).await.unwrap();
        assert_eq!(faulty.calls.load(std::sync::atomic::Ordering::SeqCst), 1);
        if edits {
            assert!(told.failed && told.text.contains("not known whether"), "{}", told.text);
            assert!(told.text.contains("list_edits"), "{}", told.text);
        } else {
            assert!(told.text.contains("|a"), "served from the disk then: {}", told.text);
        }
        assert_eq!(std::fs::read(place.root.join("a.txt")).unwrap(), b"a\n");
    }
}

#[tokio::test]
async fn a_cancelled_wait_ends_in_the_sidecar_too() {
    let place = Place::new();
    let path = place.write("a.txt", "a\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "a\n");
    let agent = place.agent().await;
    let read = call(&agent, "read_text_file", json!({ "path": "a.txt" })).await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("a"), "content": "b" }]);
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
    assert!(!call(&agent, "edit_text_file", given).await.failed);
    {
        let waiting = call(&agent, "await_review", json!({}));
        tokio::pin!(waiting);
        tokio::select! {
            told = &mut waiting => panic!("nothing was decided: {}", told.text),
            () = editor.waits(1) => {}
        }
    }
    editor.waits(0).await;
    assert!(!call(&agent, "read_text_file", json!({ "path": "a.txt" })).await.failed);
}

/// Makes an edit of the line `a`; its id.
async fn edited(agent: &Connection, path: &str) -> String {
    let read = call(agent, "read_text_file", json!({ "path": path })).await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("a"), "content": "b" }]);
    let given = json!({ "path": path, "file_hash": read.hash(), "operations": operations });
    let done = call(agent, "edit_text_file", given).await;
    assert!(!done.failed, "{}", done.text);
    done.edit_id()
}

#[tokio::test]
async fn where_nobody_can_decide_nothing_is_waited_for_until_an_editor_comes() {
    let place = Place::new();
    place.write("a.txt", "a\n");
    let agent = place.agent().await;
    let id = edited(&agent, "a.txt").await;
    let given = json!({ "timeout_s": 40, "edit_ids": [id] });
    for given in [json!({ "timeout_s": 40 }), given.clone()] {
        let waiting = call(&agent, "await_review", given);
        let told = tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it answers at once");
        assert!(!told.failed && told.text.contains("nobody is deciding"), "{}", told.text);
    }
    // An editor that comes later has it from the record.
    let editor = place.editor("nvim", &[&place.root]);
    let listed = call(&agent, "list_edits", json!({})).await;
    assert_eq!(listed.text.matches(&id[..8]).count(), 1, "only the editor tells of it now: {}", listed.text);
    let waiting = call(&agent, "await_review", given);
    let decides = async {
        editor.waits(1).await;
        editor.reject(&id, "Not so.").await;
    };
    let both = async { tokio::join!(waiting, decides).0 };
    let told = tokio::time::timeout(Duration::from_secs(20), both).await.expect("the wait ends");
    assert!(told.text.contains("rejected · the person says: \"Not so.\""), "{}", told.text);
    assert_eq!(std::fs::read(place.root.join("a.txt")).unwrap(), b"a\n");
}

#[tokio::test]
async fn edits_outlive_their_editor() {
    for crashes in [false, true] {
        for by_id in [false, true] {
            let place = Place::new();
            let path = place.write("a.txt", "a\n");
            let editor = place.editor("nvim", &[&place.root]);
            editor.open(&path, "a\n");
            let agent = place.agent().await;
            let id = edited(&agent, "a.txt").await;
            let given = if by_id {
                json!({ "timeout_s": 40, "edit_ids": [id[..8]] })
            } else {
                json!({ "timeout_s": 40 })
            };
            let waiting = call(&agent, "await_review", given.clone());
            let ending = async {
                editor.waits(1).await;
                if crashes { editor.sidecar.crash() } else { editor.sidecar.quit().await }
            };
            let both = async { tokio::join!(waiting, ending).0 };
            let told = tokio::time::timeout(Duration::from_secs(20), both).await.expect("the wait ends");
            assert!(!told.failed && told.text.contains("nobody is deciding"), "{}", told.text);
            assert!(told.text.contains(&format!("edit {} · {} · pending · held", &id[..8], path.display())));
            let listed = call(&agent, "list_edits", json!({})).await;
            assert!(listed.text.contains(&id[..8]), "{}", listed.text);
            let read = call(&agent, "read_text_file", json!({ "path": "a.txt" })).await;
            assert!(read.text.contains("|b\n"), "the held edit is still in what agents see: {}", read.text);

            let next = place.editor("code", &[&place.root]);
            next.open(&path, "a\n");
            // Two changes of a folder within one tick of the file system's clock look like one.
            let seen = async {
                while !call(&agent, "read_text_file", json!({ "path": "a.txt" }))
                    .await
                    .text
                    .contains("Open in code.")
                {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), seen).await.expect("the next editor is found");
            let waiting = call(&agent, "await_review", given);
            let decides = async {
                next.waits(1).await;
                next.reject(&id, "Late.").await;
            };
            let both = async { tokio::join!(waiting, decides).0 };
            let told = tokio::time::timeout(Duration::from_secs(20), both).await.expect("the wait ends");
            assert!(told.text.contains("rejected · the person says: \"Late.\""), "{}", told.text);
            assert_eq!(std::fs::read(&path).unwrap(), b"a\n");
        }
    }
}

#[tokio::test]
async fn a_decided_edit_is_not_lost_with_its_editor() {
    let place = Place::new();
    let path = place.write("a.txt", "a\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "a\n");
    let agent = place.agent().await;
    let id = edited(&agent, "a.txt").await;
    editor.reject(&id, "No.").await;
    assert!(call(&agent, "await_review", json!({})).await.text.contains("rejected"));
    editor.sidecar.quit().await;
    let told = call(&agent, "list_edits", json!({})).await;
    assert!(!told.text.contains(&id[..8]), "{}", told.text);
}

#[tokio::test]
async fn the_next_read_tells_of_decisions_once() {
    let place = Place::new();
    let path = place.write("a.txt", "a\n");
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "a\n");
    let agent = place.agent().await;
    let id = edited(&agent, "a.txt").await;
    editor.reject(&id, "No.").await;
    // The agent goes on working and does not ask.
    let read = call(&agent, "read_text_file", json!({ "path": "a.txt" })).await;
    let second = read.text.lines().skip(1).take(2).collect::<Vec<_>>().join("\n");
    assert!(second.starts_with("Decided since you were told last:\n"), "{}", read.text);
    assert!(
        second.contains(&id[..8]) && second.ends_with("rejected · the person says: \"No.\""),
        "{}",
        read.text
    );
    let read = call(&agent, "read_text_file", json!({ "path": "a.txt" })).await;
    assert!(!read.text.contains("Decided since"), "{}", read.text);
}
