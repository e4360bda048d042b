//! Files that agents make, rename and remove.

use hashline_mcp::{ToolName, Toolset};
use hashline_workspace::document::{Choice, Mode, Target};
use hashline_workspace::{Caller, Settings};
use serde_json::json;

use crate::desk::{Desk, shows};

#[tokio::test]
async fn a_file_is_made_renamed_and_removed() {
    let desk = Desk::new();
    // Content that reads as JSON stays as it was sent.
    let made = desk.call("write_file", json!({ "path": "sub/new.json", "content": "{ \"a\":1 }\r\n" })).await;
    shows!("file_made", desk, made.text);
    assert_eq!(desk.bytes("sub/new.json"), b"{ \"a\":1 }\r\n");
    assert_eq!(desk.read("sub/new.json").await.hash(), made.hash());
    let moved =
        desk.call("move_file", json!({ "source": "sub/new.json", "destination": "other/b.json" })).await;
    shows!("file_moved", desk, moved.text);
    assert!(!desk.folder.join("sub/new.json").exists());
    assert_eq!(desk.bytes("other/b.json"), b"{ \"a\":1 }\r\n");
    let removed = desk.call("delete_file", json!({ "path": "other/b.json" })).await;
    shows!("file_removed", desk, removed.text);
    assert!(!desk.folder.join("other/b.json").exists());
    let gone = desk.call("read_text_file", json!({ "path": "other/b.json" })).await;
    assert!(gone.failed, "{}", gone.text);
    let listed = desk.call("list_edits", json!({})).await;
    shows!("file_edits", desk, listed.text);
    let back = desk.call("withdraw_edit", json!({ "edit_id": removed.edit_id() })).await;
    assert!(!back.failed, "{}", back.text);
    assert_eq!(desk.bytes("other/b.json"), b"{ \"a\":1 }\r\n");
}

#[tokio::test]
async fn a_new_file_that_its_agent_takes_back_is_withdrawn() {
    let desk = Desk::new();
    let made = desk.call("write_file", json!({ "path": "new.txt", "content": "one\ntwo\n" })).await;
    let back = desk.call("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(!desk.folder.join("new.txt").exists());
    assert!(back.text.starts_with("Withdrawn: ") && !back.text.contains("person"), "{}", back.text);
    let listed = desk.call("list_edits", json!({ "path": "new.txt" })).await.text;
    assert!(listed.contains("new.txt · withdrawn\n") && !listed.contains("rejected"), "{listed}");
}

#[tokio::test]
async fn a_new_file_is_not_taken_back_with_what_another_agent_wrote_into_it() {
    let desk = Desk::new();
    let made = desk.call("write_file", json!({ "path": "new.txt", "content": "one\ntwo\n" })).await;
    let other = hashline_workspace::Caller { connection: "2".into(), ..desk.caller.clone() };
    let given = json!({ "path": "new.txt", "content": "one\ntheirs\ntwo\n" });
    let theirs = desk.call_as(&other, "write_file", given).await;
    assert!(!theirs.failed, "{}", theirs.text);
    let kept = desk.call("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(kept.text.starts_with("Not all of it is withdrawn"), "{}", kept.text);
    assert_eq!(desk.bytes("new.txt"), b"one\ntheirs\ntwo\n");
    let back = desk.call_as(&other, "withdraw_edit", json!({ "edit_id": theirs.edit_id() })).await;
    assert!(!back.failed, "{}", back.text);
    let back = desk.call("withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(back.text.starts_with("Withdrawn: "), "{}", back.text);
    assert!(!desk.folder.join("new.txt").exists());
}

#[tokio::test]
async fn a_new_file_is_not_taken_back_with_lines_that_the_person_accepted() {
    let desk = Desk::new();
    let write = async |content: &str| {
        let given = json!({ "path": "new.txt", "content": content, "mcp_conversation_id": "conv_1_one" });
        desk.call("write_file", given).await.edit_id()
    };
    let (made, more) = (write("one\n").await, write("one\ntwo\n").await);
    desk.decide(Choice::Accept, Target::Edit(more), None).await;
    let kept = desk.call("withdraw_edit", json!({ "edit_id": made })).await;
    assert!(!kept.text.starts_with("Withdrawn: "), "{}", kept.text);
    assert_eq!(desk.bytes("new.txt"), b"one\ntwo\n");
}

#[tokio::test]
async fn what_is_held_says_so() {
    let desk = Desk::with(Settings { disk: Mode::Propose, ..Settings::default() });
    desk.write("a.txt", "a\n");
    desk.write("b.txt", [0xff, 0x00]);
    let made = desk.call("write_file", json!({ "path": "new.txt", "content": "one\n" })).await;
    let removed = desk.call("delete_file", json!({ "path": "b.txt" })).await;
    let moved = desk.call("move_file", json!({ "source": "a.txt", "destination": "c.txt" })).await;
    shows!("files_held", desk, format!("{}\n{}\n{}", made.text, removed.text, moved.text));
    assert!(!desk.folder.join("new.txt").exists() && desk.folder.join("b.txt").exists());
    assert_eq!(desk.read("new.txt").await.tagged().len(), 1);
    desk.decide(Choice::Accept, Target::Edit(removed.edit_id()), None).await;
    assert!(!desk.folder.join("b.txt").exists());
}

#[tokio::test]
async fn what_cannot_be_done_with_a_file_is_refused_in_words() {
    let mut desk = Desk::new();
    desk.write("a.txt", "a\n");
    desk.write("b.txt", "b\n");
    desk.write("c.txt", "saved\n");
    desk.open("c.txt", "unsaved\n");
    let calls = [
        ("delete_file", json!({ "path": "none.txt" })),
        ("delete_file", json!({ "path": "../out.txt" })),
        ("delete_file", json!({ "path": "c.txt" })),
        ("move_file", json!({ "source": "none.txt", "destination": "d.txt" })),
        ("move_file", json!({ "source": "a.txt", "destination": "b.txt" })),
        ("move_file", json!({ "source": "a.txt", "destination": "a.txt" })),
        ("move_file", json!({ "source": "a.txt", "destination": "../out.txt" })),
        ("move_file", json!({ "source": "a.txt", "destination": ".git/hooks/pre-commit" })),
        ("move_file", json!({ "source": "a.txt" })),
        ("write_file", json!({ "path": "new.txt", "content": "x", "mcp_conversation_id": "../../x" })),
    ];
    let mut all = String::new();
    for (tool, arguments) in calls {
        let refused = desk.call(tool, arguments.clone()).await;
        assert!(refused.failed, "{tool} {arguments}: {}", refused.text);
        all.push_str(&format!("{tool} {arguments}\n{}\n\n", refused.text.trim_end()));
    }
    shows!("files_refused", desk, all);
    assert_eq!((desk.bytes("a.txt"), desk.bytes("b.txt")), (b"a\n".to_vec(), b"b\n".to_vec()));
}

#[tokio::test]
async fn whoever_is_offered_no_tools_of_the_review_is_told_of_none() {
    for reviews in [true, false] {
        let mut desk = Desk::with(Settings { disk: Mode::Propose, ..Settings::default() });
        desk.caller = Caller { reviews, ..desk.caller };
        for name in ["a.txt", "b.txt"] {
            desk.write(name, "a\n");
            desk.open(name, "a\n");
        }
        let read = desk.read("a.txt").await;
        let hash = read.hash();
        let operation = json!({ "op": "replace", "anchor": read.anchor("a"), "content": "A" });
        let held = desk.edit("a.txt", &hash, json!([operation])).await;
        let gone = json!({ "path": "b.txt", "hash": hash });
        let removed = desk.call("file_remove", gone.clone()).await;
        let made = desk.call("write_file", json!({ "path": "new.txt", "content": "one\n" })).await;
        for done in [&held, &removed, &made] {
            assert!(!done.failed && done.text.contains("held"), "{}", done.text);
        }
        let again = desk.call("file_remove", gone).await;
        let unmade = desk.call("delete_file", json!({ "path": "new.txt" })).await;
        for refused in [&again, &unmade] {
            assert!(
                refused.failed && refused.text.contains("Try again when they have decided"),
                "{}",
                refused.text
            );
        }
        for answer in [held, removed, made, again, unmade] {
            let mut tools = ToolName::ALL.into_iter().filter(|tool| tool.toolset() == Toolset::Review);
            assert_eq!(tools.any(|tool| answer.text.contains(tool.as_str())), reviews, "{}", answer.text);
        }
    }
}
