//! Cases by hand.

use hashline_history::{DocumentName, Operation, Store};
use hashline_text::{Ending, FileHash, Text};
use hashline_workspace::document::{Change, Choice, HunkState, Mode, Note, Refused, Target};
use hashline_workspace::{Refusal, Settings};

use crate::desk::{Desk, diff, hunk, pieces};

/// Texts in which endings, the newline at the end and blank lines do what they can.
const TEXTS: [&str; 14] = [
    "",
    "\n",
    "one",
    "one\n",
    "one\r\n",
    "one\ntwo\nthree\n",
    "one\ntwo\nthree",
    "one\r\ntwo\r\nthree\r\n",
    "one\r\nTWO\r\nthree",
    "one\ntwo\r\nthree\rfour\n",
    "zero\none\n\n\nthree\n\n",
    "two\nthree\none\n",
    "one\rtwo\rthree",
    "{\"a\": [1, 2]}",
];

#[tokio::test]
async fn a_whole_text_is_on_the_disk_byte_for_byte_and_comes_off_it_again() {
    for old in TEXTS {
        for new in TEXTS.into_iter().filter(|new| *new != old) {
            let mut desk = Desk::on_disk(old);
            let reply = desk.edit(None, Change::whole(new)).await.unwrap();
            assert_eq!(desk.bytes(), new, "from {old:?}");
            assert_eq!(reply.hash, FileHash::of(new.as_bytes()), "{old:?} to {new:?}");
            assert_eq!(reply.before, Some(FileHash::of(old.as_bytes())));
            assert!(reply.states.iter().all(|state| *state == HunkState::InText));
            desk.decide(Choice::Reject, Target::All).await;
            assert_eq!(desk.bytes(), old, "{new:?} was rejected");
        }
    }
}

#[tokio::test]
async fn a_held_whole_text_is_in_the_editor_byte_for_byte_when_it_is_accepted() {
    for old in TEXTS {
        for new in TEXTS.into_iter().filter(|new| *new != old) {
            let mut desk = Desk::live(old);
            let (_, hash) = desk.read().await;
            let reply = match desk.edit(Some(hash), Change::whole(new)).await {
                Ok(reply) => reply,
                // In an editor's document an empty line is no text, and line endings are the document's.
                Err(Refusal::Edit(Refused::NothingToDo { .. })) => continue,
                Err(refusal) => panic!("{old:?} to {new:?}: {refusal}"),
            };
            let kept = reply.notes.iter().any(|note| matches!(note, Note::EndingsKept(_)));
            assert_eq!(desk.text, old, "it is held");
            assert!(reply.states.iter().all(|state| *state == HunkState::Held));
            let lines = |text: &str| {
                Text::from(text).all_lines().map(|l| l.content().into_owned()).collect::<Vec<_>>()
            };
            desk.decide(Choice::Accept, Target::All).await;
            let text = desk.text.to_string();
            match kept {
                false => assert_eq!(text, new, "from {old:?}"),
                true => assert_eq!(lines(&text), lines(new), "from {old:?}"),
            }
            assert_eq!(FileHash::of(text.as_bytes()), reply.hash, "{old:?} to {new:?}");
            assert_eq!(desk.bytes(), old, "saving is the person's");
        }
    }
}

#[tokio::test]
async fn pieces_of_a_whole_text_are_decided_one_by_one() {
    let mut desk = Desk::live("one\r\ntwo\r\nthree\r\nfour\r\nfive");
    let (_, hash) = desk.read().await;
    let reply =
        desk.edit(Some(hash), Change::whole("ONE\r\ntwo\r\nTHREE\r\nfour\r\nfive\r\n")).await.unwrap();
    assert_eq!(reply.states, [HunkState::Held; 3]);
    desk.decide(Choice::Accept, hunk(&reply, 1)).await;
    assert_eq!(desk.text, "ONE\r\ntwo\r\nthree\r\nfour\r\nfive");
    desk.decide(Choice::Accept, hunk(&reply, 3)).await;
    assert_eq!(
        desk.text, "ONE\r\ntwo\r\nthree\r\nfour\r\nfive\r\n",
        "the newline at the end goes with the last"
    );
    desk.decide(Choice::Reject, hunk(&reply, 2)).await;
    assert_eq!(desk.text, "ONE\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
    assert!(desk.workspace.reviews().is_empty());
}

#[tokio::test]
async fn the_history_says_by_what_tool_and_how() {
    for (change, operation) in
        [(Change::whole("1\n"), Operation::Replace), (pieces(&[("one", "1")]), Operation::Edit)]
    {
        let desk = Desk::on_disk("one\n");
        desk.edit(None, change).await.unwrap();
        let store = Store::new(desk.path().parent().unwrap(), "a test");
        let recorded = store.document(&DocumentName::Path(desk.path().to_owned())).unwrap();
        let edit = &recorded.edits[0].made;
        assert_eq!((edit.operation, edit.tool.as_str()), (operation, "a_tool"));
        assert_eq!(edit.hash_after, Some(FileHash::of(b"1\n")));
    }
}

#[tokio::test]
async fn replacements_and_diffs_keep_what_they_do_not_name() {
    let old = "\u{feff}one\r\ntwo\r\nthree\nfour";
    for (change, new) in [
        (pieces(&[("two\nth", "2\nTWO\nTh"), ("four", "4")]), "\u{feff}one\r\n2\r\nTWO\r\nThree\n4"),
        (pieces(&[("two\n", "")]), "\u{feff}one\r\nthree\nfour"),
        (diff("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+and\n"), "\u{feff}one\r\n2\r\nand\r\nthree\nfour"),
        (diff("@@\n three\n-four\n\\ No newline at end of file\n+4\n"), "\u{feff}one\r\ntwo\r\nthree\n4\n"),
    ] {
        let mut desk = Desk::on_disk(old);
        let (_, hash) = desk.read().await;
        let reply = desk.edit(Some(hash), change.clone()).await.unwrap();
        assert_eq!(desk.bytes(), new);
        assert_eq!(reply.hash, FileHash::of(new.as_bytes()));
        desk.decide(Choice::Reject, Target::All).await;
        assert_eq!(desk.bytes(), old);

        // The editor has the file without its mark, with the same lines.
        let mut desk = Desk::on_disk(old).open(old.trim_start_matches('\u{feff}'));
        let (_, hash) = desk.read().await;
        let reply = desk.edit(Some(hash), change).await.unwrap();
        desk.decide(Choice::Accept, Target::All).await;
        assert_eq!(desk.text, new.trim_start_matches('\u{feff}'));
        assert_eq!(reply.hash, FileHash::of(new.as_bytes()), "what a save would write");
    }
}

#[tokio::test]
async fn without_a_hash_it_is_held_in_an_open_document_whatever_the_mode() {
    let apply = Settings { open: Mode::Apply, ..Settings::default() };
    let mut desk = Desk::with(apply, "one\ntwo\n").open("one\ntwo\n");
    let (_, hash) = desk.read().await;
    desk.types("one\ntwo\nthree\n");
    for change in [Change::whole("1\ntwo\nthree\n"), pieces(&[("three", "3")]), diff("@@\n-two\n+2\n")] {
        let reply = desk.edit(None, change).await.unwrap();
        assert_eq!((reply.mode, reply.carried), (Mode::Propose, false));
        assert_eq!(reply.states, [HunkState::Held]);
    }
    desk.deliver();
    assert_eq!(desk.text, "one\ntwo\nthree\n");
    // One that names what the agent has read goes by the mode.
    let reply = desk.edit(Some(hash), pieces(&[("one", "I")])).await;
    assert!(
        matches!(reply, Err(Refusal::Edit(Refused::Stale { .. }))),
        "a held edit has changed that line: {reply:?}"
    );
    let (_, hash) = desk.read().await;
    let reply = desk.edit(Some(hash), pieces(&[("3\n", "3\n4\n")])).await.unwrap();
    assert_eq!(reply.mode, Mode::Apply);

    let desk = Desk::with(Settings { disk: Mode::Propose, ..Settings::default() }, "one\n");
    let reply = desk.edit(None, Change::whole("1\n")).await.unwrap();
    assert_eq!(reply.states, [HunkState::Held]);
    assert_eq!(desk.bytes(), "one\n");
}

#[tokio::test]
async fn what_is_stale_is_carried_past_typing_elsewhere_and_refused_over_typing_there() {
    let old = "one\ntwo\nthree\nfour\nfive";
    let mut desk = Desk::live(old);
    let (_, hash) = desk.read().await;
    desk.types("zero\none\ntwo\nthree!\nfour\nfive\nsix\n");
    let reply = desk.edit(Some(hash), pieces(&[("one\ntwo", "1\n2")])).await.unwrap();
    assert!(reply.carried);
    assert_eq!(reply.text, "zero\n1\n2\nthree!\nfour\nfive\nsix\n");
    // In the old text it stood at the end, without a newline. Now it stands elsewhere.
    let reply = desk.edit(Some(hash), diff("@@\n four\n-five\n+5\n+V\n")).await.unwrap();
    assert_eq!(reply.text, "zero\n1\n2\nthree!\nfour\n5\nV\nsix\n");

    let refused = desk.edit(Some(hash), pieces(&[("three", "3")])).await.unwrap_err();
    let words = refused.to_string();
    assert!(matches!(refused, Refusal::Edit(Refused::Stale { .. })), "{words}");
    assert!(
        words.contains("- edit 1: line 3 of what you read has been changed since; it is line 4 now."),
        "{words}"
    );
    assert!(words.contains("|three!\n"), "{words}");
    let refused = desk.edit(Some(hash), diff("@@\n two\n-three\n+3\n")).await.unwrap_err().to_string();
    assert!(refused.contains("- hunk 1: line "), "{refused}");

    // A whole text would put back what was there before, wherever that was.
    let refused = desk.edit(Some(hash), Change::whole(&format!("{old}\n"))).await.unwrap_err();
    assert!(matches!(refused, Refusal::Edit(Refused::Stale { .. })), "{refused}");
    assert!(refused.to_string().contains("would undo those changes"), "{refused}");

    // What is not in the old text is not looked for in the new one, but the agent is told.
    let refused = desk.edit(Some(hash), pieces(&[("three!", "3")])).await.unwrap_err();
    assert!(matches!(refused, Refusal::Edit(Refused::NotInOldText { .. })), "{refused}");
    let refused = desk.edit(Some(hash), pieces(&[("eleven", "3")])).await.unwrap_err();
    assert!(matches!(refused, Refusal::Edit(Refused::Rewrite { .. })), "{refused}");
}

#[tokio::test]
async fn what_has_no_lines_is_filled_only_while_it_has_none() {
    let mut desk = Desk::live("");
    let (_, hash) = desk.read().await;
    desk.types("typed\n");
    let refused = desk.edit(Some(hash), pieces(&[("", "one\n")])).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::Stale { .. }))), "{refused:?}");
    desk.types("\n");
    let reply = desk.edit(None, pieces(&[("", "one\n")])).await.unwrap();
    assert_eq!(reply.text, "one\n");
}

#[tokio::test]
async fn on_the_disk_what_is_stale_is_refused() {
    let desk = Desk::on_disk("one\ntwo\n");
    let (_, hash) = desk.read().await;
    std::fs::write(desk.path(), "zero\none\ntwo\n").unwrap();
    for change in [Change::whole("1\n"), pieces(&[("two", "2")]), diff("@@\n-two\n+2\n")] {
        let refused = desk.edit(Some(hash), change).await;
        assert!(matches!(refused, Err(Refusal::Edit(Refused::ChangedOnDisk { .. }))), "{refused:?}");
    }
    let refused = desk.edit(Some(FileHash::of(b"?")), Change::whole("1\n")).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::UnknownHash { .. }))), "{refused:?}");
    assert_eq!(desk.bytes(), "zero\none\ntwo\n");
    desk.edit(None, pieces(&[("two", "2")])).await.unwrap();
    assert_eq!(desk.bytes(), "zero\none\n2\n");
}

#[tokio::test]
async fn what_changes_nothing_is_no_edit() {
    let desk = Desk::on_disk("one\ntwo\n");
    let refused = desk.edit(None, Change::whole("one\ntwo\n")).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::NothingToDo { .. }))), "{refused:?}");
    let refused = desk.edit(None, pieces(&[("one", "one")])).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::NothingToDo { .. }))), "{refused:?}");
    let desk = Desk::live("one\r\ntwo\r\n");
    let refused = desk.edit(None, Change::whole("one\ntwo\n")).await;
    assert!(
        matches!(refused, Err(Refusal::Edit(Refused::NothingToDo { .. }))),
        "line endings are the editor's: {refused:?}"
    );
    let desk = Desk::live("\n");
    let refused = desk.edit(None, Change::whole("")).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::NothingToDo { .. }))), "{refused:?}");
}

#[tokio::test]
async fn the_mark_of_a_file_is_kept_and_none_is_added() {
    let marked = "\u{feff}one\r\n";
    for new in ["\u{feff}1\r\n", "1\r\n"] {
        for live in [false, true] {
            let mut desk = Desk::on_disk(marked);
            if live {
                desk = desk.open("one\n");
            }
            let reply = desk.edit(None, Change::whole(new)).await.unwrap();
            let notes = if new == "1\r\n" { &[Note::MarkKept][..] } else { &[] };
            assert_eq!(reply.notes, notes, "{new:?}: the lines end as they were sent, on the disk");
            assert_eq!(reply.hash, FileHash::of("\u{feff}1\r\n".as_bytes()), "{new:?}");
            if live {
                desk.decide(Choice::Accept, Target::All).await;
                assert_eq!(desk.text, "1\n", "the editor keeps CRLF for itself");
            } else {
                assert_eq!(desk.bytes(), "\u{feff}1\r\n");
            }
        }
    }
    let desk = Desk::on_disk("one\n");
    let refused = desk.edit(None, Change::whole("\u{feff}one\n")).await;
    assert!(matches!(refused, Err(Refusal::Edit(Refused::AddsMark))), "{refused:?}");
    // An editor that leaves the mark in the text lets it be changed as the rest of it.
    let mut desk = Desk::live("\u{feff}one\n");
    desk.edit(None, Change::whole("\u{feff}1\n")).await.unwrap();
    desk.decide(Choice::Accept, Target::All).await;
    assert_eq!(desk.text, "\u{feff}1\n");
}

#[tokio::test]
async fn a_conversion_of_line_endings_is_told() {
    let mut desk = Desk::on_disk("one\r\ntwo\r\n");
    let reply = desk.edit(None, Change::whole("one\ntwo\n")).await.unwrap();
    assert_eq!(desk.bytes(), "one\ntwo\n");
    assert!(matches!(reply.notes.as_slice(), [Note::EndingsChanged { .. }]), "{:?}", reply.notes);
    desk.decide(Choice::Reject, Target::All).await;
    assert_eq!(desk.bytes(), "one\r\ntwo\r\n");
}

#[tokio::test]
async fn line_endings_of_an_open_document_are_its_editors() {
    for (disk, served, sent, note) in [
        ("one\r\ntwo\r\n", "one\ntwo\n", "1\ntwo\n", Some(Ending::CrLf)),
        ("one\r\ntwo\r\n", "one\ntwo\n", "1\r\ntwo\r\n", None),
        ("one\ntwo\n", "one\ntwo\n", "1\r\ntwo\n", Some(Ending::Lf)),
        ("one\r\ntwo\r\n", "one\r\ntwo\r\n", "1\ntwo\n", Some(Ending::CrLf)),
    ] {
        let mut desk = Desk::on_disk(disk).open(served);
        let reply = desk.edit(None, Change::whole(sent)).await.unwrap();
        assert_eq!(reply.states.len(), 1, "{sent:?} over {served:?} changes one line");
        assert_eq!(
            reply.notes,
            note.map(|ending| Note::EndingsKept(Some(ending))).into_iter().collect::<Vec<_>>()
        );
        desk.decide(Choice::Accept, Target::All).await;
        assert_eq!(desk.text, served.replace("one", "1").as_str());
        assert_eq!(reply.hash, FileHash::of(disk.replace("one", "1").as_bytes()));
    }
}

#[tokio::test]
async fn a_file_that_is_not_utf_8_is_refused_with_the_way_out() {
    let desk = Desk::on_disk(b"caf\xe9\n");
    let refused = desk.edit(None, Change::whole("cafe\n")).await.unwrap_err().to_string();
    assert!(refused.contains("UTF-8") && refused.contains("command-line tool"), "{refused}");
    assert_eq!(std::fs::read(desk.path()).unwrap(), b"caf\xe9\n");
}

#[tokio::test]
async fn a_whole_text_builds_on_what_is_held() {
    let mut desk = Desk::live("one\ntwo\nthree\n");
    desk.edit(None, pieces(&[("two", "2")])).await.unwrap();
    let reply = desk.edit(None, Change::whole("one\n2, again\nthree\n")).await.unwrap();
    assert_eq!(reply.held_below.len(), 1);
    desk.decide(Choice::Accept, Target::All).await;
    assert_eq!(desk.text, "one\n2, again\nthree\n");
}
