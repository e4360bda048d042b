//! Files as agents make, remove and rename them, and as a person takes that back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::{ConversationId, LogEntry, Status, Store};
use hashline_text::{DocVersion, Encoding, FileHash, HashPrefix};
use hashline_weave::{TakeOut, View};
use hashline_workspace::agent::{EditRequest, FileAction, FileReply, FileRequest, ReadRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Along, Change, Choice, Decided, Mode, Request, Target, Unseen, Why};
use hashline_workspace::{Caller, Histories, OpenElsewhere, Refusal, Settings, Workspace};

use crate::agent::{caller, read, replace_first};
use crate::strangers::Strangers;

struct Desk {
    workspace: Workspace,
    settings: Settings,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = started(&folder, &settings);
        Self { workspace, settings, folder }
    }

    /// Another process takes over.
    fn restart(&mut self) {
        self.workspace.settle_record();
        self.workspace = started(&self.folder, &self.settings);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// What a file holds; none if there is none.
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)).ok()
    }

    async fn change(&self, path: &str, change: FileAction) -> Result<FileReply, Refusal> {
        self.change_in(path, change, None).await
    }

    async fn change_in(
        &self,
        path: &str,
        change: FileAction,
        conversation: Option<&str>,
    ) -> Result<FileReply, Refusal> {
        let conversation = conversation.map(str::to_owned);
        let request =
            FileRequest { path: path.into(), change, conversation, tool: "a_tool".into(), reason: None };
        self.workspace.change_file(&caller(), request).await
    }

    async fn create(&self, path: &str, content: &str) -> FileReply {
        self.change(path, FileAction::Create(content.into())).await.unwrap()
    }

    async fn read(&self, path: &str) -> Result<String, Refusal> {
        read(&self.workspace, path).await
    }

    /// Puts a line in the place of the first.
    async fn replace_first(&self, path: &str, line: &str) -> String {
        replace_first(&self.workspace, path, line).await
    }

    async fn decide(&self, choice: Choice, target: Target) -> Decided {
        self.workspace.decide(None, &Request::of(choice, target)).await
    }

    async fn accept(&self, reply: &FileReply) {
        let decided = self.decide(Choice::Accept, Target::Edit(reply.edit.to_string())).await;
        assert_eq!(decided.refused, []);
    }

    async fn reject(&self, reply: &FileReply) {
        let decided = self.decide(Choice::Reject, Target::Edit(reply.edit.to_string())).await;
        assert_eq!(decided.refused, []);
    }

    async fn status(&self, reply: &FileReply) -> Status {
        let scope = ReviewScope { edits: vec![reply.edit.to_string()], ..ReviewScope::default() };
        self.workspace.edits(&caller(), &scope).await.unwrap()[0].status
    }
}

fn started(folder: &tempfile::TempDir, settings: &Settings) -> Workspace {
    let roots = Roots::open([folder.path()]).unwrap();
    Workspace::new(roots, settings.clone(), Histories::of("a test")).0
}

fn proposing() -> Settings {
    Settings { disk: Mode::Propose, ..Settings::default() }
}

#[tokio::test]
async fn a_new_file_is_there_until_it_is_rejected_and_again_when_it_is_accepted() {
    let mut desk = Desk::new(Settings::default());
    for content in ["one\r\ntwo", "", "\u{feff}bom\n", "{\"json\": true}\n"] {
        let made = desk.create("deep/er/new.txt", content).await;
        assert!(!made.held);
        for _ in 0..2 {
            assert_eq!(desk.file("deep/er/new.txt").unwrap(), content.as_bytes());
            desk.reject(&made).await;
            assert_eq!(desk.file("deep/er/new.txt"), None);
            assert!(matches!(desk.read("deep/er/new.txt").await, Err(Refusal::Disk(_))));
            assert_eq!(desk.status(&made).await, Status::Rejected);
            desk.restart();
            desk.accept(&made).await;
            assert_eq!(desk.status(&made).await, Status::Accepted);
            desk.restart();
        }
        assert_eq!(desk.file("deep/er/new.txt").unwrap(), content.as_bytes());
        desk.reject(&made).await;
    }
}

const BYTES: &[u8] = b"\x89PNG\r\n\x1a\n\xff\x00";

#[tokio::test]
async fn a_new_file_of_any_bytes_is_there_until_it_is_rejected_and_again_when_it_is_accepted() {
    for settings in [Settings::default(), proposing()] {
        let held = settings.disk == Mode::Propose;
        let mut desk = Desk::new(settings);
        let made = desk.change("deep/new.png", FileAction::Create(BYTES.into())).await.unwrap();
        assert_eq!((made.held, made.hash), (held, Some(FileHash::of(BYTES))));
        if held {
            assert_eq!(desk.file("deep/new.png"), None);
            let read = desk.read("deep/new.png").await;
            assert!(
                matches!(read, Err(Refusal::NotText { .. })),
                "what is proposed is no text either: {read:?}"
            );
            desk.restart();
            desk.accept(&made).await;
        }
        for _ in 0..2 {
            assert_eq!(desk.file("deep/new.png").unwrap(), BYTES);
            desk.restart();
            desk.reject(&made).await;
            assert_eq!(desk.file("deep/new.png"), None);
            assert_eq!(desk.status(&made).await, Status::Rejected);
            desk.restart();
            desk.accept(&made).await;
            assert_eq!(desk.status(&made).await, Status::Accepted);
        }
        assert_eq!(desk.file("deep/new.png").unwrap(), BYTES);
        // What the person has put there since does not go with it.
        desk.write("deep/new.png", b"\xffmine");
        let decided = desk.decide(Choice::Reject, Target::Edit(made.edit.to_string())).await;
        assert!(decided.refused[0].message.contains("your lines"), "{decided:?}");
        assert_eq!(desk.file("deep/new.png").unwrap(), b"\xffmine");
    }
}

#[tokio::test]
async fn a_rejected_file_of_bytes_gives_way_to_another_and_is_not_mistaken_for_it() {
    let mut desk = Desk::new(Settings::default());
    let first = desk.change("a.png", FileAction::Create(BYTES.into())).await.unwrap();
    desk.reject(&first).await;
    let second = desk.change("a.png", FileAction::Create(b"\xff2".into())).await.unwrap();
    desk.reject(&second).await;
    desk.restart();
    let decided = desk.decide(Choice::Accept, Target::Edit(first.edit.to_string())).await;
    assert!(decided.refused[0].message.contains("no longer kept"), "{decided:?}");
    assert_eq!(desk.file("a.png"), None);
    desk.accept(&second).await;
    assert_eq!(desk.file("a.png").unwrap(), b"\xff2");
}

#[tokio::test]
async fn bytes_and_text_that_may_both_come_back_do_not_share_a_name() {
    for (before, after) in [(BYTES, &b"text\n"[..]), (b"text\n", BYTES), (BYTES, b"\xffother")] {
        let mut desk = Desk::new(Settings::default());
        desk.write("a", before);
        let removed = desk.change("a", FileAction::Delete).await.unwrap();
        let refused = desk.change("a", FileAction::Create(after.into())).await.unwrap_err();
        assert!(refused.to_string().contains("Choose another name"), "{refused}");
        assert_eq!(desk.file("a"), None);
        desk.restart();
        desk.reject(&removed).await;
        assert_eq!(desk.file("a").unwrap(), before);
    }
}

#[tokio::test]
async fn only_the_version_that_was_seen_is_removed() {
    for content in [&b"one\r\n"[..], "\u{feff}one\n".as_bytes(), BYTES, b""] {
        let desk = Desk::new(Settings::default());
        desk.write("a", content);
        let version = |bytes: &[u8]| FileAction::DeleteVersion(FileHash::of(bytes).into());
        let refused = desk.change("a", version(b"another")).await.unwrap_err();
        assert!(refused.to_string().contains(&FileHash::of(content).to_hex()), "{refused}");
        assert_eq!(desk.file("a").unwrap(), content);
        desk.change("a", version(content)).await.unwrap();
        assert_eq!(desk.file("a"), None);
    }
}

#[tokio::test]
async fn a_file_that_is_there_is_not_made() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"mine\n");
    let refused = desk.change("a.txt", FileAction::Create("other\n".into())).await.unwrap_err();
    assert!(refused.to_string().contains("a.txt"), "{refused}");
    assert_eq!(desk.file("a.txt").unwrap(), b"mine\n");
}

#[tokio::test]
async fn a_removed_file_comes_back_with_its_bytes_and_its_mode() {
    for bytes in [&b"one\r\ntwo"[..], b"\xff\xfe\x00binary", b""] {
        let mut desk = Desk::new(Settings::default());
        desk.write("a.bin", bytes);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(desk.path("a.bin"), std::fs::Permissions::from_mode(0o750)).unwrap();
        }
        let removed = desk.change("a.bin", FileAction::Delete).await.unwrap();
        for _ in 0..2 {
            assert_eq!(desk.file("a.bin"), None);
            desk.restart();
            desk.reject(&removed).await;
            assert_eq!(desk.file("a.bin").unwrap(), bytes);
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = std::fs::metadata(desk.path("a.bin")).unwrap().permissions().mode();
                assert_eq!(mode & 0o7777, 0o750);
            }
            desk.restart();
            desk.accept(&removed).await;
        }
        assert_eq!(desk.file("a.bin"), None);
    }
}

#[tokio::test]
async fn a_renamed_file_goes_back_with_what_it_holds_by_then() {
    let mut desk = Desk::new(Settings::default());
    desk.write("a.txt", b"one\ntwo\n");
    let moved = desk.change("a.txt", FileAction::Move("sub/b.txt".into())).await.unwrap();
    assert_eq!((desk.file("a.txt"), desk.file("sub/b.txt").unwrap()), (None, b"one\ntwo\n".to_vec()));
    desk.replace_first("sub/b.txt", "1").await;
    desk.restart();
    desk.reject(&moved).await;
    assert_eq!((desk.file("sub/b.txt"), desk.file("a.txt").unwrap()), (None, b"1\ntwo\n".to_vec()));
    assert_eq!(desk.read("a.txt").await.unwrap(), "1\ntwo\n");
    desk.accept(&moved).await;
    assert_eq!((desk.file("a.txt"), desk.file("sub/b.txt").unwrap()), (None, b"1\ntwo\n".to_vec()));
}

#[tokio::test]
async fn a_chain_of_moves_is_undone_from_its_end() {
    let mut desk = Desk::new(Settings::default());
    desk.write("a.txt", b"one\n");
    let first = desk.change_in("a.txt", FileAction::Move("b.txt".into()), Some("turn")).await.unwrap();
    let second = desk.change_in("b.txt", FileAction::Move("c.txt".into()), Some("turn")).await.unwrap();
    let decided = desk.decide(Choice::Reject, Target::Edit(first.edit.to_string())).await;
    assert_eq!(decided.refused[0].why, Why::NeedsOthers);
    assert_eq!(decided.refused[0].others[0].edit, second.edit);
    assert!(desk.file("c.txt").is_some());
    desk.restart();
    let decided = desk.decide(Choice::Reject, Target::Conversation(ConversationId::from("turn"))).await;
    assert_eq!(decided.refused, []);
    assert_eq!(desk.file("a.txt").unwrap(), b"one\n");
    assert_eq!((desk.file("b.txt"), desk.file("c.txt")), (None, None));
    desk.accept(&first).await;
    desk.accept(&second).await;
    assert_eq!(desk.file("c.txt").unwrap(), b"one\n");
}

#[tokio::test]
async fn a_conversation_that_edited_and_removed_a_file_is_rejected_as_a_whole() {
    let mut desk = Desk::new(Settings::default());
    desk.write("a.txt", b"one\ntwo\n");
    desk.replace_first("a.txt", "1").await;
    desk.change("a.txt", FileAction::Delete).await.unwrap();
    desk.restart();
    let scope = ReviewScope::default();
    let edits = desk.workspace.edits(&caller(), &scope).await.unwrap();
    assert_eq!(edits.len(), 2);
    let uri = url::Url::from_file_path(desk.path("a.txt")).unwrap().to_string();
    let all = Request::of(Choice::Reject, Target::All);
    let decided = desk.workspace.decide(Some(&uri), &all).await;
    assert_eq!((decided.refused, desk.file("a.txt").unwrap()), (vec![], b"one\ntwo\n".to_vec()));
}

#[tokio::test]
async fn nothing_is_moved_onto_anything() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"a\n");
    desk.write("b.txt", b"b\n");
    let refused = desk.change("a.txt", FileAction::Move("b.txt".into())).await.unwrap_err();
    assert!(refused.to_string().contains("b.txt"), "{refused}");
    assert_eq!(
        (desk.file("a.txt").unwrap(), desk.file("b.txt").unwrap()),
        (b"a\n".to_vec(), b"b\n".to_vec())
    );
    let outside = tempfile::tempdir().unwrap();
    let there = outside.path().join("x.txt").display().to_string();
    desk.change("a.txt", FileAction::Move(there)).await.unwrap_err();
    desk.change("a.txt", FileAction::Move(".mcp/x".into())).await.unwrap_err();
    assert!(desk.file("a.txt").is_some());
}

#[tokio::test]
async fn a_file_is_not_unmade_with_lines_that_the_person_wrote_in_it() {
    let mut desk = Desk::new(Settings::default());
    let made = desk.create("new.txt", "one\ntwo\n").await;
    desk.write("new.txt", b"one\nmine\ntwo\n");
    desk.restart();
    let reject = Request::of(Choice::Reject, Target::Edit(made.edit.to_string()));
    let decided = desk.workspace.decide(None, &reject).await;
    assert_eq!(decided.refused[0].why, Why::Changed, "the change that nobody watched is shown first");
    assert!(decided.refused[0].message.contains("+mine"), "{}", decided.refused[0].message);
    let keep = Request { unseen: Unseen::Keep, ..reject.clone() };
    let decided = desk.workspace.decide(None, &keep).await;
    assert!(!decided.refused.is_empty() && desk.file("new.txt").is_some(), "{decided:?}");
    let force = Request { unseen: Unseen::GiveUp, edited: Some(TakeOut::WithMyChanges), ..reject };
    let decided = desk.workspace.decide(None, &force).await;
    assert_eq!((decided.refused, desk.file("new.txt")), (vec![], None));
    let kept = desk.path(".mcp/edit_history/discarded");
    let copy = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(copy).unwrap(), b"one\nmine\ntwo\n");
}

#[tokio::test]
async fn edits_of_others_in_a_new_file_go_only_with_their_own_decision() {
    let desk = Desk::new(Settings::default());
    let made = desk.create("new.txt", "one\ntwo\n").await;
    let edit = {
        let other = Caller::anywhere("other", "2");
        let request = ReadRequest { path: "new.txt".into(), view: View::Agent };
        let read = desk.workspace.read(&other, &request).await.unwrap();
        desk.workspace.shown(&read, 0..2);
        let anchor = format!("2:{}", hashline_anchor::line_hash("two"));
        let raw = hashline_anchor::RawOperation::new("insert_after", anchor).content("three");
        let request = EditRequest {
            path: "new.txt".into(),
            file_hash: Some(HashPrefix::from(read.hash)),
            change: Change::Operations(vec![hashline_anchor::Operation::parse(0, raw).unwrap()]),
            strict: false,
            dry_run: false,
            conversation: Some("another".into()),
            tool: "edit_text_file".into(),
            reason: None,
        };
        desk.workspace.edit(&other, request).await.unwrap()
    };
    let reject = Request::of(Choice::Reject, Target::Edit(made.edit.to_string()));
    let decided = desk.workspace.decide(None, &reject).await;
    assert_eq!(decided.refused[0].why, Why::NeedsOthers);
    assert_eq!(decided.refused[0].others[0].edit, edit.edit);
    assert_eq!(desk.file("new.txt").unwrap(), b"one\ntwo\nthree\n");
    let decided = desk.workspace.decide(None, &Request { along: Along::All, ..reject }).await;
    assert_eq!((decided.refused, desk.file("new.txt")), (vec![], None));
    desk.accept(&made).await;
    assert_eq!(desk.file("new.txt").unwrap(), b"one\ntwo\n", "the other edit stays rejected");
}

#[tokio::test]
async fn an_editor_that_does_not_answer_is_the_reason_where_it_may_have_the_name() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"a\n");
    let moved = desk.change("a.txt", FileAction::Move("b.txt".into())).await.unwrap();
    let name = desk.folder.path().canonicalize().unwrap().join("a.txt");
    let silent = move |path: &Path| {
        let editor = "Neovim".to_owned();
        if path == name { OpenElsewhere::NoAnswer { editor } } else { OpenElsewhere::No }
    };
    desk.workspace.mind(Arc::new(Strangers(silent)));
    let target = Target::Edit(moved.edit.to_string());
    let decided = desk.workspace.decide(None, &Request::of(Choice::Reject, target)).await;
    assert_eq!(decided.refused.len(), 1);
    assert_eq!(decided.refused[0].why, Why::Elsewhere);
    let message = &decided.refused[0].message;
    assert!(message.contains("a.txt may be open in Neovim, which does not answer"), "{message}");
    assert_eq!((desk.file("a.txt"), desk.file("b.txt")), (None, Some(b"a\n".to_vec())));
}

/// The file that took the name is decided about first, and leaves it.
#[tokio::test]
async fn a_conversation_is_taken_back_of_a_file_whose_name_another_one_took() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"a\n");
    desk.write("c.txt", b"c\n");
    let removed = desk.change("a.txt", FileAction::Delete).await.unwrap();
    let (conversation, _) = removed.conversation;
    let request = FileRequest {
        path: "c.txt".into(),
        change: FileAction::Move("a.txt".into()),
        conversation: Some(conversation.to_string()),
        tool: "a_tool".into(),
        reason: None,
    };
    desk.workspace.change_file(&caller(), request).await.unwrap();
    assert_eq!((desk.file("a.txt"), desk.file("c.txt")), (Some(b"c\n".to_vec()), None));
    let decided = desk.decide(Choice::Reject, Target::Whole(conversation)).await;
    assert_eq!(decided.refused, []);
    assert_eq!((desk.file("a.txt"), desk.file("c.txt")), (Some(b"a\n".to_vec()), Some(b"c\n".to_vec())));
}

#[tokio::test]
async fn an_editor_that_does_not_answer_is_not_said_to_have_opened_the_file() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"a\n");
    let edit = desk.replace_first("a.txt", "1").await;
    let silent = |_: &Path| OpenElsewhere::NoAnswer { editor: "Neovim".to_owned() };
    desk.workspace.mind(Arc::new(Strangers(silent)));
    let words = "a.txt may be open in Neovim, which does not answer, so nothing was changed";

    let refusal = desk.change("a.txt", FileAction::Delete).await.unwrap_err().to_string();
    assert!(refusal.contains(words), "{refusal}");

    // That editor may be asked.
    let decided = desk.decide(Choice::Reject, Target::Edit(edit)).await;
    assert_eq!(decided.elsewhere.len(), 1);
    let message = &decided.elsewhere[0].refused.message;
    assert!(message.contains(words), "{message}");
    assert_eq!(desk.file("a.txt").unwrap(), b"1\n");
}

#[tokio::test]
async fn what_is_held_changes_no_file_and_agents_see_what_they_proposed() {
    let mut desk = Desk::new(proposing());
    desk.write("a.txt", b"a\n");
    desk.write("b.txt", b"b\n");
    let made = desk.create("new.txt", "one\n").await;
    let removed = desk.change("a.txt", FileAction::Delete).await.unwrap();
    let moved = desk.change("b.txt", FileAction::Move("c.txt".into())).await.unwrap();
    assert!(made.held && removed.held && moved.held);
    desk.restart();
    assert_eq!((desk.file("new.txt"), desk.file("c.txt")), (None, None));
    assert_eq!(desk.read("new.txt").await.unwrap(), "one\n");
    assert_eq!(desk.read("a.txt").await.unwrap(), "a\n", "the old names hold until it is accepted");
    assert_eq!(desk.read("b.txt").await.unwrap(), "b\n");
    desk.change("a.txt", FileAction::Move("c.txt".into())).await.unwrap_err();
    desk.change("c.txt", FileAction::Create("c\n".into())).await.unwrap_err();
    let refused = desk.change("a.txt", FileAction::Delete).await.unwrap_err();
    assert!(matches!(refused, Refusal::FileChangeHeld { .. }), "{refused}");
    desk.replace_first("new.txt", "1").await;
    for reply in [&made, &removed, &moved] {
        desk.accept(reply).await;
    }
    assert_eq!((desk.file("a.txt"), desk.file("b.txt")), (None, None));
    assert_eq!(desk.file("new.txt").unwrap(), b"1\n", "with the edit of the same turn that builds on it");
    assert_eq!(desk.file("c.txt").unwrap(), b"b\n");
}

#[tokio::test]
async fn an_own_file_change_can_be_withdrawn() {
    for settings in [Settings::default(), proposing()] {
        let desk = Desk::new(settings);
        desk.write("a.txt", b"a\n");
        for (path, change) in [
            ("new.txt", FileAction::Create("one\n".into())),
            ("a.txt", FileAction::Delete),
            ("a.txt", FileAction::Move("b.txt".into())),
        ] {
            let done = desk.change(path, change).await.unwrap();
            desk.workspace.withdraw(&caller(), done.edit.as_str()).await.unwrap();
            assert_eq!(desk.file("a.txt").unwrap(), b"a\n");
            assert_eq!((desk.file("new.txt"), desk.file("b.txt")), (None, None));
            assert_eq!(desk.status(&done).await, Status::Rejected);
        }
    }
}

#[tokio::test]
async fn an_open_file_is_removed_or_renamed_only_when_it_is_closed_and_saved() {
    for change in [FileAction::Delete, FileAction::Move("b.txt".into())] {
        let desk = Desk::new(Settings { open: Mode::Apply, ..Settings::default() });
        desk.write("a.txt", b"a\n");
        let uri = url::Url::from_file_path(desk.path("a.txt")).unwrap().to_string();
        desk.workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, "unsaved\n");
        let refused = desk.change("a.txt", change.clone()).await.unwrap_err();
        assert!(matches!(refused, Refusal::Unsaved { .. }), "{refused}");
        desk.workspace.did_close(&uri);
        desk.workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, "a\n");
        let held = desk.change("a.txt", change).await.unwrap();
        assert!(held.held && held.open);
        let decided = desk.decide(Choice::Accept, Target::Edit(held.edit.to_string())).await;
        assert!(decided.refused[0].message.contains("Close it first"), "{decided:?}");
        assert_eq!(desk.file("a.txt").unwrap(), b"a\n");
        desk.workspace.did_close(&uri);
        desk.accept(&held).await;
        assert_eq!(desk.file("a.txt"), None);
    }
}

#[tokio::test]
async fn the_log_tells_of_it_as_the_specification_has_it() {
    let desk = Desk::new(Settings::default());
    desk.write("a.txt", b"a\n");
    let turn = Some("turn");
    desk.change_in("new.txt", FileAction::Create("one\n".into()), turn).await.unwrap();
    desk.change_in("a.txt", FileAction::Move("b.txt".into()), turn).await.unwrap();
    desk.change_in("b.txt", FileAction::Delete, turn).await.unwrap();
    let listing = Store::new(desk.path(""), "a test").list(None, 0, |_| true).unwrap();
    let mut entries: Vec<&LogEntry<'_>> = listing.entries.iter().collect();
    entries.sort_by_key(|entry| entry.tool_call_index);
    let operations: Vec<&str> = entries.iter().map(|entry| entry.operation.as_str()).collect();
    assert_eq!(operations, ["create", "move", "delete"]);
    assert!(entries[0].hash_before.is_none() && entries[0].hash_after.is_some());
    assert_eq!(entries[1].source_path.as_deref(), Some(desk.path("a.txt").to_str().unwrap()));
    assert_eq!(entries[1].file_path.as_ref(), desk.path("b.txt").to_str().unwrap());
    assert!(entries[2].hash_before.is_some() && entries[2].hash_after.is_none());
}

#[tokio::test]
#[cfg(unix)]
async fn a_file_that_is_no_text_is_not_read_as_one_however_often_it_was_looked_at() {
    // One that was there long before, so that a glance at it is enough.
    let folder = std::path::Path::new("/usr/bin");
    let roots = Roots::open([folder]).unwrap();
    let (workspace, _) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
    for _ in 0..2 {
        assert!(workspace.has_file(&caller(), "env").await.unwrap());
        let refused = read(&workspace, "env").await.unwrap_err();
        assert!(matches!(refused, Refusal::NotText { .. }), "{refused}");
    }
}
