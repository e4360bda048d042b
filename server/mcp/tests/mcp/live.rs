//! Documents that an editor has open.

use std::time::{Duration, Instant};

use hashline_history::{EditId, HunkRef, Reason};
use hashline_link::CancellationToken;
use hashline_workspace::Settings;
use hashline_workspace::document::{Choice, Mode, Request, Target};
use serde_json::{Value, json};

use crate::desk::{Answer, Desk, shows};

#[tokio::test]
async fn unsaved_text_is_read_and_an_edit_is_held() {
    let mut desk = Desk::new();
    desk.write("a.txt", "on the disk\n");
    desk.open("a.txt", "one\ntwo\nthree\nfour\nfive");
    let read = desk.read("a.txt").await;
    shows!("live_read", desk, read.text);
    let operations = json!([
        { "op": "replace", "anchor": read.anchor("two"), "content": "2" },
        { "op": "delete", "anchor": read.anchor("five") },
    ]);
    let held = desk.edit("a.txt", &read.hash(), operations).await;
    shows!("live_held", desk, held.text);
    assert_eq!(desk.editor_text("a.txt"), "one\ntwo\nthree\nfour\nfive");
    assert_eq!(desk.bytes("a.txt"), b"on the disk\n");
    shows!("live_read_held", desk, desk.read("a.txt").await.text);
    let buffer = desk.call("read_text_file", json!({ "path": "a.txt", "view": "buffer" })).await;
    shows!("live_read_buffer", desk, buffer.text);
    shows!("live_list", desk, desk.call("list_edits", json!({})).await.text);
    shows!("live_documents", desk, desk.call("list_documents", json!({})).await.text);

    desk.types("a.txt", "one\nTWO!\nthree\nfour\nfive");
    shows!("live_conflicted_read", desk, desk.read("a.txt").await.text);
    shows!(
        "live_conflicted_list",
        desk,
        desk.call("list_edits", json!({ "state": "conflicted" })).await.text
    );
}

#[tokio::test]
async fn waiting_tells_what_the_person_decided() {
    let mut desk = Desk::new();
    desk.write("a.txt", "");
    desk.open("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let read = desk.read("a.txt").await;
    let operations = json!([
        { "op": "replace", "anchor": read.anchor("one"), "content": "1" },
        { "op": "replace", "anchor": read.anchor("three"), "content": "3" },
        { "op": "replace", "anchor": read.anchor("five"), "content": "5" },
    ]);
    let held = desk.edit("a.txt", &read.hash(), operations).await;
    let id = held.edit_id();
    let none = desk.call("await_review", json!({ "timeout_s": 0 })).await;
    shows!("await_nothing_new", desk, none.text);
    let hunk = |number| {
        Target::Hunk(hashline_history::HunkRef { edit: hashline_history::EditId::from(id.as_str()), number })
    };

    {
        let waiting = desk.call("await_review", json!({ "edit_ids": [id[..8]], "timeout_s": 20 }));
        tokio::pin!(waiting);
        assert!(futures::poll!(&mut waiting).is_pending(), "nothing is decided");
        desk.decide(Choice::Reject, hunk(2), Some("Keep the word, please.")).await;
        shows!("await_rejected", desk, waiting.await.text);
    }

    desk.decide(Choice::Accept, hunk(1), None).await;
    desk.deliver("a.txt");
    desk.decide(Choice::Accept, hunk(3), None).await;
    desk.deliver("a.txt");
    assert_eq!(desk.editor_text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
    let all = desk.call("await_review", json!({ "edit_ids": [id], "timeout_s": 20 })).await;
    shows!("await_all", desk, all.text);
    shows!("await_none", desk, desk.call("await_review", json!({})).await.text);
    let late = desk.call("withdraw_edit", json!({ "edit_id": id[..8] })).await;
    assert!(late.failed);
    shows!("withdraw_late", desk, late.text);
}

#[tokio::test]
async fn what_the_person_changed_in_an_edit_is_told() {
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk.open("a.txt", "one\ntwo\nthree\n");
    let read = desk.read("a.txt").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2\n2b" }]);
    let done = desk.edit("a.txt", &read.hash(), operations).await;
    shows!("live_applied", desk, done.text);
    desk.deliver("a.txt");
    assert_eq!(desk.editor_text("a.txt"), "one\n2\n2b\nthree\n");
    desk.types("a.txt", "one\n2\n2b by hand\nthree\n");
    shows!("live_edited", desk, desk.call("list_edits", json!({})).await.text);
}

/// An agent's call while an editor is there that takes `takes` to carry out what it is sent; none for one that never does. Gives the
/// answer, and how long it took.
async fn applied_by(desk: &mut Desk, takes: Option<Duration>) -> (Answer, Duration) {
    desk.write("a.txt", "one\ntwo\n");
    desk.open("a.txt", "one\ntwo\n");
    let read = desk.read("a.txt").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]);
    let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
    let (toolbox, caller) = (desk.toolbox.clone(), desk.caller.clone());
    let begun = Instant::now();
    let call = tokio::spawn(async move {
        let Value::Object(given) = given else { panic!("not an object") };
        let answer = toolbox.call(&caller, "edit_text_file", given, &CancellationToken::new()).await;
        (Answer::of(&answer), begun.elapsed())
    });
    if let Some(takes) = takes {
        tokio::time::sleep(takes).await;
        while desk.editor_text("a.txt") != "one\n2\n" {
            assert!(begun.elapsed() < Duration::from_secs(20), "nothing is sent to the editor");
            desk.deliver("a.txt");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    call.await.unwrap()
}

#[tokio::test]
async fn an_edit_that_goes_in_at_once_is_answered_when_the_text_shows_it() {
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    let (answer, took) = applied_by(&mut desk, Some(Duration::from_millis(100))).await;
    shows!("live_arrived", desk, answer.text);
    assert!(took >= Duration::from_millis(100), "{took:?}");
    assert_eq!(desk.read("a.txt").await.hash(), answer.hash());
}

#[tokio::test]
async fn an_edit_that_an_editor_never_takes_is_answered_after_half_a_second() {
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    let (answer, took) = applied_by(&mut desk, None).await;
    shows!("live_under_way", desk, answer.text);
    assert!(took >= Duration::from_millis(500), "{took:?}");
    assert_eq!(desk.editor_text("a.txt"), "one\ntwo\n");
    // What it says to do can be done.
    let next = json!([{ "op": "insert_after", "anchor": answer.anchor("2"), "content": "three" }]);
    let next = desk.edit("a.txt", &answer.hash(), next).await;
    assert!(!next.failed, "{}", next.text);
    assert_eq!(desk.read("a.txt").await.tagged().len(), 3);
}

#[tokio::test]
async fn the_person_reads_why_each_edit_is_made() {
    let mut desk = Desk::new();
    for name in ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"] {
        desk.write(name, "one\n");
        desk.open(name, "one\n");
    }
    let read = desk.read("a.txt").await;
    let line = json!([{ "op": "replace", "anchor": read.anchor("one"), "content": "1" }]);
    let reason = format!("as\nissue 7 asks \u{202e}{}", "x".repeat(4_000));
    for (tool, given) in [
        ("edit_text_file", json!({ "path": "a.txt", "file_hash": read.hash(), "operations": line })),
        ("edit_file_diff", json!({ "path": "b.txt", "edits": [{ "old": "one", "new": "1" }] })),
        ("write_file", json!({ "path": "c.txt", "content": "1\n" })),
        ("move_file", json!({ "source": "d.txt", "destination": "f.txt" })),
        ("delete_file", json!({ "path": "e.txt" })),
    ] {
        for (reason, read) in
            [(reason.as_str(), Some(format!("as issue 7 asks {}…", "x".repeat(103)))), ("", None)]
        {
            let mut given = given.clone();
            given["reason"] = json!(reason);
            let done = desk.call(tool, given).await;
            assert!(!done.failed, "{tool}: {}", done.text);
            let reviews = desk.workspace.reviews();
            let mut made = reviews.iter().flat_map(|review| &review.review.edits);
            let made = made.find(|made| made.edit.id.as_str() == done.edit_id()).unwrap();
            assert_eq!(made.edit.reason.as_deref(), read.as_deref(), "{tool}");
            let back = desk.call("withdraw_edit", json!({ "edit_id": done.edit_id() })).await;
            assert!(!back.failed, "{tool}: {}", back.text);
        }
    }
}

#[tokio::test]
async fn an_edit_is_carried_past_typing_elsewhere_and_refused_over_typing_there() {
    let mut desk = Desk::new();
    desk.write("a.txt", "");
    desk.open("a.txt", "one\ntwo\nthree\nfour\n");
    let read = desk.read("a.txt").await;
    desk.types("a.txt", "zero\none\ntwo\nthree\nfour\n");
    let operations = json!([{ "op": "replace", "anchor": read.anchor("three"), "content": "3" }]);
    let carried = desk.edit("a.txt", &read.hash(), operations.clone()).await;
    assert!(!carried.failed, "{}", carried.text);
    shows!("live_carried", desk, carried.text);

    desk.types("a.txt", "zero\none\nTWO\nthree\nfour\n");
    let two = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]);
    let refused = desk.edit("a.txt", &read.hash(), two).await;
    assert!(refused.failed);
    shows!("live_stale", desk, refused.text);

    let given = json!({
        "path": "a.txt", "file_hash": read.hash(), "strict": true,
        "operations": [{ "op": "delete", "anchor": read.anchor("one") }],
    });
    let strict = desk.call("edit_text_file", given).await;
    assert!(strict.failed);
    shows!("live_strict", desk, strict.text);
}

#[tokio::test]
async fn held_edits_build_on_each_other() {
    let mut desk = Desk::new();
    desk.write("a.txt", "");
    desk.open("a.txt", "one\ntwo\n");
    let read = desk.read("a.txt").await;
    let first = desk
        .edit(
            "a.txt",
            &read.hash(),
            json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]),
        )
        .await;
    let second = desk
        .edit(
            "a.txt",
            &first.hash(),
            json!([{ "op": "replace", "anchor": first.anchor("2"), "content": "II" }]),
        )
        .await;
    assert!(!second.failed, "{}", second.text);
    shows!("live_held_below", desk, second.text);
}

#[tokio::test]
async fn a_document_without_a_file_has_its_uri_for_a_name() {
    let desk = Desk::new();
    let uri = "untitled:Untitled-1";
    let (version, encoding) = (hashline_text::DocVersion(1), hashline_text::Encoding::Utf16);
    desk.workspace.did_open(uri, "markdown", version, encoding, "draft\n");
    let read = desk.read(uri).await;
    assert!(read.text.starts_with("[untitled:Untitled-1 · lines 1-1 of 1 · "), "{}", read.text);
    let unknown = desk.call("read_text_file", json!({ "path": "untitled:Untitled-2" })).await;
    assert!(unknown.failed && unknown.text.contains("list_documents"), "{}", unknown.text);
}

#[tokio::test]
async fn a_withdrawal_says_what_it_could_not_take_back() {
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk.open("a.txt", "one\ntwo\nthree\n");
    let read = desk.read("a.txt").await;
    let below = json!([
        { "op": "replace", "anchor": read.anchor("one"), "content": "1" },
        { "op": "replace", "anchor": read.anchor("three"), "content": "3" },
    ]);
    let first = desk.edit("a.txt", &read.hash(), below).await;
    desk.deliver("a.txt");
    let on_top = json!([{ "op": "replace", "anchor": first.anchor("1"), "content": "I" }]);
    desk.edit("a.txt", &first.hash(), on_top).await;
    desk.deliver("a.txt");
    let withdrawn = desk.call("withdraw_edit", json!({ "edit_id": first.edit_id() })).await;
    shows!("withdrawn_in_part", desk, withdrawn.text);
    desk.deliver("a.txt");
    assert_eq!(desk.editor_text("a.txt"), "I\ntwo\nthree\n");
}

#[tokio::test]
async fn an_edit_on_its_way_is_told_of_as_what_it_was_decided_to_be() {
    let text = "one\ntwo\nthree\n";
    let listed = async |desk: &Desk| {
        let text = desk.call("list_edits", json!({})).await.text;
        text.lines().last().unwrap().rsplit_once("a.txt · pending · ").unwrap().1.to_owned()
    };
    for mode in [Mode::Apply, Mode::Propose] {
        let mut desk = Desk::with(Settings { open: mode, ..Settings::default() });
        desk.write("a.txt", text);
        desk.open("a.txt", text);
        let read = desk.read("a.txt").await;
        let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]);
        let id = desk.edit("a.txt", &read.hash(), operations).await.edit_id();
        let edit = || Target::Edit(id.clone());
        match mode {
            Mode::Apply => assert_eq!(listed(&desk).await, "on its way into the text · line 2"),
            Mode::Propose => desk.decide(Choice::Accept, edit(), None).await,
        }
        // The editor is slow to put it in.
        let sent = desk.workspace.poll(&desk.uri("a.txt")).0.unwrap();
        if mode == Mode::Propose {
            assert_eq!(listed(&desk).await, "accepted, on its way into the text · line 2");
            let kept = desk.call("withdraw_edit", json!({ "edit_id": id })).await.text;
            assert!(kept.contains("was decided by the person meanwhile"), "{kept}");
            desk.decide(Choice::Reopen, edit(), None).await;
            assert_eq!(listed(&desk).await, "on its way into the text · line 2");
        }
        desk.decide(Choice::Reject, edit(), None).await;
        assert_eq!(listed(&desk).await, "rejected while it was on its way into the text · line 2");
        desk.make("a.txt", &sent);
        assert_eq!(listed(&desk).await, "rejected, on its way out of the text · line 2");
        // And slow to take it out again.
        let sent = desk.workspace.poll(&desk.uri("a.txt")).0.unwrap();
        desk.decide(Choice::Accept, edit(), None).await;
        assert_eq!(listed(&desk).await, "accepted while it was on its way out of the text · line 2");
        desk.make("a.txt", &sent);
        assert_eq!(listed(&desk).await, "accepted, on its way into the text · line 2");
    }
}

#[tokio::test]
async fn an_edit_that_is_withdrawn_on_its_way_is_told_of_as_withdrawn() {
    let text = "one\ntwo\nthree\n";
    let mut desk = Desk::with(Settings { open: Mode::Apply, ..Settings::default() });
    desk.write("a.txt", text);
    desk.open("a.txt", text);
    let read = desk.read("a.txt").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "2" }]);
    let id = desk.edit("a.txt", &read.hash(), operations).await.edit_id();
    let sent = desk.workspace.poll(&desk.uri("a.txt")).0.unwrap();
    let withdrawn = desk.call("withdraw_edit", json!({ "edit_id": id })).await.text;
    assert!(withdrawn.contains("withdrawn while it was on its way into the text"), "{withdrawn}");
    desk.make("a.txt", &sent);
    let listed = desk.call("list_edits", json!({})).await.text;
    assert!(listed.contains("withdrawn, on its way out of the text"), "{listed}");
}

/// An edit of two hunks, of which the first is commented on: its id, and a hunk of it.
async fn commented(desk: &mut Desk) -> (String, impl Fn(u32) -> Target + use<>) {
    let text = "one\ntwo\nthree\n";
    desk.write("a.txt", text);
    desk.open("a.txt", text);
    let read = desk.read("a.txt").await;
    let operations = json!([
        { "op": "replace", "anchor": read.anchor("one"), "content": "1" },
        { "op": "replace", "anchor": read.anchor("three"), "content": "3" },
    ]);
    let edit = desk.edit("a.txt", &read.hash(), operations).await.edit_id();
    let id = EditId::from(edit.as_str());
    let hunk = move |number| Target::Hunk(HunkRef { edit: id.clone(), number });
    desk.decide(Choice::Comment, hunk(1), Some("Is it used?")).await;
    (edit, hunk)
}

#[tokio::test]
async fn a_comment_is_told_once_and_leaves_the_hunk_to_be_decided() {
    let mut desk = Desk::new();
    let (edit, hunk) = commented(&mut desk).await;
    let waits = || desk.call("await_review", json!({ "timeout_s": 0 }));
    let told = waits().await.text;
    assert!(told.starts_with("0 of 2 hunks decided so far:\n"), "{told}");
    assert!(told.contains("hunk 1 · held · line 1 · the person says: \"Is it used?\"\n"), "{told}");
    assert!(waits().await.text.starts_with("No new decision yet."), "it is told once");

    // Another word about the same hunk, and the next answer about the file has it.
    desk.decide(Choice::Comment, hunk(1), Some("Where?")).await;
    let told = desk.read("a.txt").await.text;
    assert!(told.contains("\nDecided, or commented on, since you were told last:\n"), "{told}");
    assert!(told.contains("the person says: \"Where?\""), "{told}");
    let told = desk.read("a.txt").await.text;
    assert!(!told.contains("since you were told last"), "{told}");

    assert_eq!(desk.editor_text("a.txt"), "one\ntwo\nthree\n", "nothing is decided");
    desk.decide(Choice::Accept, Target::Edit(edit.clone()), None).await;
    desk.deliver("a.txt");
    assert_eq!(desk.editor_text("a.txt"), "1\ntwo\n3\n");
    let late = Request { reason: Reason::of("Late."), ..Request::of(Choice::Comment, hunk(1)) };
    let refused = desk.workspace.decide(None, &late).await.refused;
    assert_eq!(refused.len(), 1, "a decision says it by itself: {refused:?}");
}

#[tokio::test]
async fn a_comment_outlives_the_sidecar() {
    let mut desk = Desk::new();
    desk.write("a.txt", "one\n");
    desk.open("a.txt", "one\n");
    let read = desk.read("a.txt").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("one"), "content": "1" }]);
    let edit = desk.edit("a.txt", &read.hash(), operations).await.edit_id();
    desk.decide(Choice::Comment, Target::Edit(edit), Some("Is it used?")).await;
    desk.restart();
    let listed = desk.call("list_edits", json!({})).await.text;
    assert!(listed.contains("held · line 1 · the person says: \"Is it used?\""), "{listed}");
}

#[tokio::test]
async fn a_comment_that_was_not_read_comes_with_the_decision() {
    let mut desk = Desk::new();
    let (_, hunk) = commented(&mut desk).await;
    desk.decide(Choice::Accept, hunk(1), None).await;
    desk.deliver("a.txt");
    let told = desk.call("await_review", json!({ "timeout_s": 0 })).await.text;
    assert!(told.contains("hunk 1 · accepted · the person says: \"Is it used?\""), "{told}");

    // What was read, and what the decision itself says, stand alone.
    desk.decide(Choice::Comment, hunk(2), Some("And this?")).await;
    desk.call("await_review", json!({ "timeout_s": 0 })).await;
    desk.decide(Choice::Reject, hunk(2), None).await;
    let told = desk.call("list_edits", json!({ "state": "accepted" })).await.text;
    assert!(told.contains("hunk 2 · rejected\n"), "{told}");
}

#[tokio::test]
async fn a_comment_outlives_what_leaves_its_hunk_undecided() {
    let mut desk = Desk::new();
    let (edit, hunk) = commented(&mut desk).await;
    let says = "the person says: \"Is it used?\"";
    let listed = async |desk: &Desk| desk.call("list_edits", json!({})).await.text;
    desk.call("await_review", json!({ "timeout_s": 0 })).await;
    desk.decide(Choice::Reopen, Target::Edit(edit), None).await;
    assert!(listed(&desk).await.contains(says), "reopened");
    let waited = desk.call("await_review", json!({ "timeout_s": 0 })).await.text;
    assert!(waited.starts_with("No new decision yet."), "{waited}");

    desk.decide(Choice::Accept, hunk(1), None).await;
    desk.deliver("a.txt");
    desk.types("a.txt", "one\ntwo\nthree\n"); // taken back by the editor
    let told = listed(&desk).await;
    assert!(told.contains("hunk 1 · held") && told.contains(says), "undone: {told}");
}

#[tokio::test]
async fn what_was_decided_of_an_edit_with_an_old_comment_is_not_told_as_a_comment() {
    let mut desk = Desk::new();
    let (_, hunk) = commented(&mut desk).await;
    desk.call("await_review", json!({ "timeout_s": 0 })).await;
    desk.decide(Choice::Reject, hunk(2), None).await;
    let read = desk.read("a.txt").await.text;
    assert!(!read.contains("since you were told last"), "{read}");
}

#[tokio::test]
async fn files_and_what_is_not_open_are_commented_on_too() {
    let desk = Desk::with(Settings { disk: Mode::Propose, ..Settings::default() });
    desk.write("a.txt", "one\n");
    let removed = desk.call("delete_file", json!({ "path": "a.txt" })).await;
    desk.decide(Choice::Comment, Target::Edit(removed.edit_id()), Some("Who reads it?")).await;
    let told = desk.call("await_review", json!({ "timeout_s": 0 })).await.text;
    assert!(told.contains("remove the file · held · the person says: \"Who reads it?\""), "{told}");
}
