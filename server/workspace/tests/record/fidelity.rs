//! Whatever bytes a file has, what an edit does not touch keeps them, and taking the edit out brings them all back.

use std::process::Command;

use hashline_history::{LogEntry, Operation, Status};
use hashline_text::FileHash;

use crate::desk::{Desk, Op, assert_whole};

const BOM: &str = "\u{feff}";

fn files() -> Vec<(&'static str, String)> {
    let long = "x".repeat(1 << 20);
    vec![
        ("crlf", "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n".into()),
        ("mixed", "one\r\ntwo\nthree\rfour\r\nfive\n".into()),
        ("bom", format!("{BOM}one\ntwo\nthree\nfour\nfive\n")),
        ("bom and crlf", format!("{BOM}one\r\ntwo\r\nthree\r\nfour\r\nfive")),
        ("no newline", "one\ntwo\nthree\nfour\nfive".into()),
        ("lone cr", "one\rtwo\rthree\rfour\rfive\r".into()),
        ("separators", "one\ntwo\u{2028}still two\nthree\u{2029}\u{85}\nfour\u{b}\u{c}\nfive\n".into()),
        ("diff syntax", "--- a\n+++ b\n@@ -1 +1 @@\n-\n+\n\\ No newline at end of file\n".into()),
        ("identical", "same\n".repeat(9)),
        ("long lines", format!("{long}\n{long}\n{long}y\n{long}\n{long}\n")),
        ("blank", "\n\n\n\n\n\n".into()),
        ("blanks at the end", "one \ntwo\t\nthree  \nfour\u{a0}\nfive\n".into()),
        ("quotes", "\"one\"\n\\two\\\n{\"three\":3}\n\u{0}four\u{7f}\n\u{1f600}\n".into()),
    ]
}

/// The edits that are made one after the other, of at least five lines.
const EDITS: [&[Op<'static>]; 4] = [
    &[Op::Replace(1, 2, "new\nand new")],
    &[Op::Delete(0, 1), Op::After(2, "- put in\n+ put in")],
    &[Op::After(3, "@@ -1,2 +3,4 @@")],
    &[Op::Replace(2, 4, "")],
];

#[tokio::test]
async fn every_byte_comes_back() {
    for (what, stored) in files() {
        let mut desk = Desk::new(&[("a.txt", &stored)]);
        let mut states = vec![desk.stored("a.txt")];
        let mut edits = Vec::new();
        for (round, operations) in EDITS.iter().enumerate() {
            if round == 2 {
                desk = desk.restarted();
            }
            edits.push(desk.edit("a.txt", operations).await);
            states.push(desk.stored("a.txt"));
            assert_log(&desk, &edits, &states, what);
        }
        for round in 0..2 {
            for at in (0..edits.len()).rev() {
                assert_eq!(desk.reject(&edits[at]).await, [], "{what} {round} {at}");
                assert!(desk.stored("a.txt") == states[at], "{what} {round}: rejecting {at}");
                desk = desk.restarted();
                assert!(desk.stored("a.txt") == states[at], "{what} {round}: restart");
            }
            for at in 0..edits.len() {
                assert_eq!(desk.accept(&edits[at]).await, [], "{what} {round} {at}");
                assert!(desk.stored("a.txt") == states[at + 1], "{what} {round}: accepting {at}");
                if at % 2 == 1 {
                    desk = desk.restarted();
                }
            }
        }
        for at in (0..edits.len()).rev() {
            assert_eq!(desk.reject(&edits[at]).await, [], "{what}");
        }
        assert!(desk.stored("a.txt") == stored, "{what}: at the end");
        let entries = log(&desk, &edits);
        assert!(entries.iter().all(|entry| entry.status == Status::Rejected), "{what}");
        drop(desk.workspace);
        assert_whole(desk.folder.path());
    }
}

#[tokio::test]
async fn every_byte_comes_back_through_an_editor() {
    for (what, stored) in files().into_iter().filter(|(what, _)| *what != "long lines") {
        let mut desk = Desk::new(&[("a.txt", &stored)]);
        desk.open("a.txt");
        let before = desk.text("a.txt");
        let mut edits = Vec::new();
        for operations in EDITS {
            edits.push(desk.edit("a.txt", operations).await);
        }
        assert_eq!(desk.text("a.txt"), before, "{what}");
        for edit in &edits {
            assert_eq!(desk.accept(edit).await, [], "{what}");
        }
        desk.save("a.txt");
        let with_all = desk.stored("a.txt");
        let mut desk = desk.restarted();
        for edit in edits.iter().rev() {
            assert_eq!(desk.reject(edit).await, [], "{what}");
        }
        assert!(desk.stored("a.txt") == stored, "{what}: {:?}", desk.stored("a.txt"));
        desk.open("a.txt");
        for edit in &edits {
            assert_eq!(desk.accept(edit).await, [], "{what}");
        }
        desk.save("a.txt");
        assert!(desk.stored("a.txt") == with_all, "{what}");
    }
}

fn log(desk: &Desk, edits: &[hashline_workspace::agent::EditReply]) -> Vec<LogEntry<'static>> {
    let mut entries = Vec::new();
    for edit in edits {
        let path = desk.history().join(format!("logs/{}.log", edit.conversation.0));
        let lines = std::fs::read_to_string(path).unwrap();
        for line in lines.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value.as_object().unwrap().len(), 13);
            entries.push(serde_json::from_str::<LogEntry<'_>>(line).unwrap().into_owned());
        }
    }
    entries
}

/// The entry of the last edit is right, and its diff leads from one state to the other.
fn assert_log(desk: &Desk, edits: &[hashline_workspace::agent::EditReply], states: &[String], what: &str) {
    let entries = log(desk, edits);
    assert_eq!(entries.len(), edits.len());
    let (entry, edit) = (entries.last().unwrap(), edits.last().unwrap());
    let [before, after] = &states[states.len() - 2..] else { unreachable!() };
    assert_eq!(entry.edit_id, edit.edit.as_str());
    assert_eq!(entry.conversation_id, edit.conversation.0.as_str());
    assert_eq!((entry.tool_call_index, entry.status), (0, Status::Pending));
    assert_eq!((entry.operation, &*entry.tool_name), (Operation::Edit, "edit_text_file"));
    let path = desk.path("a.txt").canonicalize().unwrap();
    assert_eq!((&*entry.file_path, &entry.source_path), (path.to_str().unwrap(), &None));
    assert!(entry.timestamp.ends_with('Z'));
    let hash = |text: &String| FileHash::of(text.as_bytes()).to_hex();
    assert_eq!(entry.hash_before.as_deref(), Some(hash(before).as_str()), "{what}");
    assert_eq!(entry.hash_after.as_deref(), Some(hash(after).as_str()), "{what}");
    let checkpoint = desk.history().join(&**entry.checkpoint_file.as_ref().unwrap());
    assert!(std::fs::read(checkpoint).is_ok(), "{what}: its checkpoint");
    let diff = desk.history().join(&**entry.diff_file.as_ref().unwrap());
    assert_eq!(
        entry.diff_file.as_deref().unwrap(),
        format!("diffs/{}/{}.diff", entry.conversation_id, entry.edit_id)
    );
    // Programs take a lone carriage return for content, as does a diff; a mark at the beginning is not of the lines.
    if before.contains(BOM) || before.replace("\r\n", "").contains('\r') {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::write(&copy, before).unwrap();
    let patched = Command::new("patch").args(["--binary", "-s", "-p0"]).arg(&copy).arg(&diff).output();
    let Ok(patched) = patched else { return };
    assert!(
        patched.status.success(),
        "{what}: {}\n{}",
        String::from_utf8_lossy(&patched.stdout),
        std::fs::read_to_string(&diff).unwrap()
    );
    assert!(
        std::fs::read(&copy).unwrap() == after.as_bytes(),
        "{what}: the diff\n{}",
        std::fs::read_to_string(&diff).unwrap()
    );
}
