//! Several files decided as one: swaps and folders that come and go, what is checked before, and what the disk refuses in the middle.
#![cfg(unix)]

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashline_history::{Allow, Change, EditId, FilesNow, Found, Probe, Status, Step, Store};
use hashline_text::{DocVersion, Encoding, FileHash};
use hashline_workspace::agent::{FileAction, FileRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Along, Choice, Decided, Request, Target};
use hashline_workspace::{Histories, Rehearsal, Settings, Workspace};

use crate::agent::caller;

/// Fails once, at a step of its choice; never if that is 0.
#[derive(Default)]
struct Fails(AtomicUsize);

impl Probe for Fails {
    fn step(&self, _: Step, _: &str) -> Allow {
        let count = |left: usize| left.checked_sub(1);
        match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) {
            Ok(1) => Allow::Fail(io::Error::from(io::ErrorKind::StorageFull)),
            _ => Allow::All,
        }
    }
}

struct Desk {
    workspace: Workspace,
    fails: Arc<Fails>,
    folder: tempfile::TempDir,
    edits: Vec<EditId>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let fails = Arc::new(Fails::default());
        let histories = Histories::of("a test").with_probe(fails.clone());
        let workspace = Workspace::new(roots, Settings::default(), histories).0;
        Self { workspace, fails, folder, edits: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    async fn change(&mut self, path: &str, change: FileAction) {
        let request = FileRequest {
            path: path.into(),
            change,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        self.edits.push(self.workspace.change_file(&caller(), request).await.unwrap().edit);
    }

    async fn rename(&mut self, from: &str, to: &str) {
        self.change(from, FileAction::Move(self.path(to).display().to_string())).await;
    }

    /// Rejects all edits as one, the latest first.
    async fn reject_all(&self) -> Decided {
        let (workspace, folder, edits) = (self.workspace.clone(), self.path(""), self.edits.clone());
        let decide = move || {
            let store = Store::new(folder, "whoever looks");
            let mut rehearsal = Rehearsal::new(workspace);
            for edit in edits.iter().rev() {
                let found = store.find(edit.as_str()).unwrap().remove(0);
                let request = Request::of(Choice::Reject, Target::Edit(edit.to_string()));
                let decided = rehearsal.decide(found.document.as_path(), found.file, &[request]);
                assert_eq!(decided.refused, []);
            }
            rehearsal.make(0..rehearsal.count(), &HashMap::new())
        };
        tokio::task::spawn_blocking(decide).await.unwrap()
    }

    /// An edit as the history has it.
    fn found(&self, edit: usize) -> Found {
        Store::new(self.path(""), "whoever looks").find(self.edits[edit].as_str()).unwrap().remove(0)
    }

    fn statuses(&self) -> Vec<Status> {
        let store = Store::new(self.path(""), "whoever looks");
        self.edits.iter().map(|edit| store.find(edit.as_str()).unwrap()[0].status).collect()
    }
}

/// The names in a folder, but for that of the history, and what is there.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(path) = todo.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if !path.ends_with(".mcp") => todo.push(path),
                true => {}
                false => found.push((path.clone(), std::fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

/// Two files of bytes have changed their names, another has been written where a third was, and that lies in a folder now.
async fn swapped() -> (Desk, Vec<(PathBuf, Vec<u8>)>) {
    let mut desk = Desk::new();
    for (name, bytes, mode) in
        [("a", &b"\xff\x00one"[..], 0o755), ("b", b"\xff\x00two", 0o600), ("c", b"three\n", 0o644)]
    {
        std::fs::write(desk.path(name), bytes).unwrap();
        std::fs::set_permissions(desk.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = tree(&desk.path(""));
    desk.rename("a", "t").await;
    desk.rename("b", "a").await;
    desk.rename("t", "b").await;
    desk.rename("c", "deep/er/c").await;
    desk.change("c", FileAction::Create("new\n".into())).await;
    assert_ne!(tree(&desk.path("")), before);
    (desk, before)
}

#[tokio::test]
async fn names_are_swapped_back_and_every_file_stays_itself() {
    let (desk, before) = swapped().await;
    let inode = |name: &str| std::fs::metadata(desk.path(name)).unwrap().ino();
    let (a, b, c) = (inode("b"), inode("a"), inode("deep/er/c"));
    let decided = desk.reject_all().await;
    assert_eq!((decided.refused.len(), decided.queued.len()), (0, 6), "{decided:?}");
    assert_eq!(tree(&desk.path("")), before);
    assert_eq!((inode("a"), inode("b"), inode("c")), (a, b, c));
    assert_eq!(desk.statuses(), [Status::Rejected; 5]);
    // What it holds now is what this process serves, too.
    assert_eq!(crate::agent::read(&desk.workspace, "c").await.unwrap(), "three\n");
}

#[tokio::test]
async fn what_the_disk_refuses_in_the_middle_changes_nothing() {
    let mut refused = 0;
    for step in 1.. {
        let (desk, before) = swapped().await;
        let now = tree(&desk.path(""));
        desk.fails.0.store(step, Ordering::SeqCst);
        let decided = desk.reject_all().await;
        let is_hit = desk.fails.0.swap(0, Ordering::SeqCst) == 0;
        if decided.refused.is_empty() {
            assert_eq!(tree(&desk.path("")), before, "{step}");
        } else {
            refused += 1;
            assert!(decided.queued.is_empty(), "{step}: {decided:?}");
            assert_eq!(tree(&desk.path("")), now, "{step}: {decided:?}");
            assert_eq!(desk.statuses(), [Status::Pending; 5], "{step}");
            // Nothing is in the way afterwards.
            let decided = desk.reject_all().await;
            assert_eq!((decided.refused, tree(&desk.path(""))), (Vec::new(), before), "{step}");
        }
        if !is_hit {
            break;
        }
    }
    assert!(refused > 5, "{refused}");
}

#[tokio::test]
async fn what_can_be_known_before_is_said_before() {
    // Something else has the name by now, or a file may not be written.
    for case in 0..2 {
        let (mut desk, _) = swapped().await;
        match case {
            0 => {
                std::fs::rename(desk.path("b"), desk.path("elsewhere")).unwrap();
                std::fs::create_dir(desk.path("b")).unwrap();
            }
            _ => {
                std::fs::write(desk.path("d"), "one\n").unwrap();
                let edit = crate::agent::replace_first(&desk.workspace, "d", "two").await;
                desk.edits.push(EditId::from(edit.as_str()));
                std::fs::set_permissions(desk.path("d"), std::fs::Permissions::from_mode(0o444)).unwrap();
            }
        }
        let now = tree(&desk.path(""));
        let record = || std::fs::read(desk.path(".mcp/edit_history/decisions.log")).unwrap();
        let (workspace, folder, edits) = (desk.workspace.clone(), desk.path(""), desk.edits.clone());
        let before = record();
        let decided = tokio::task::spawn_blocking(move || {
            let store = Store::new(folder, "whoever looks");
            let mut rehearsal = Rehearsal::new(workspace);
            let mut refused = Vec::new();
            for edit in edits.iter().rev() {
                let found = store.find(edit.as_str()).unwrap().remove(0);
                let request = Request::of(Choice::Reject, Target::Edit(edit.to_string()));
                refused.extend(rehearsal.decide(found.document.as_path(), found.file, &[request]).refused);
            }
            if refused.is_empty() {
                rehearsal.make(0..rehearsal.count(), &HashMap::new())
            } else {
                Decided { refused, ..Decided::default() }
            }
        });
        let decided = decided.await.unwrap();
        assert!(!decided.refused.is_empty() && decided.queued.is_empty(), "{case}: {decided:?}");
        assert_eq!(tree(&desk.path("")), now, "{case}");
        let after = record();
        assert!(
            after.starts_with(&before) && !String::from_utf8_lossy(&after[before.len()..]).contains("intent"),
            "{case}"
        );
    }
}

/// Files share names while they are decided about, and not what something else has: that is found out again when all of it is made.
#[tokio::test]
async fn a_name_that_something_else_has_is_not_taken() {
    let mut desk = Desk::new();
    for name in ["a", "b"] {
        std::fs::write(desk.path(name), format!("{name}\n")).unwrap();
    }
    desk.rename("a", "t").await;
    desk.rename("b", "a").await;
    desk.rename("t", "b").await;
    std::fs::write(desk.path("t"), "mine\n").unwrap();
    desk.rename("b", "d").await;
    std::fs::write(desk.path("b"), "mine\n").unwrap();
    let now = tree(&desk.path(""));
    let decided = desk.reject_all().await;
    assert_eq!((decided.refused.len(), decided.queued.len()), (1, 0), "{decided:?}");
    assert!(decided.refused[0].message.contains("another file called"), "{decided:?}");
    assert_eq!(tree(&desk.path("")), now);
    assert_eq!(desk.statuses(), [Status::Pending; 4]);
    std::fs::remove_file(desk.path("b")).unwrap();
    assert_eq!(desk.reject_all().await.refused, []);
    let mut after: Vec<(PathBuf, Vec<u8>)> = [("a", "a\n"), ("b", "b\n"), ("t", "mine\n")]
        .map(|(name, text)| (desk.path(name), text.into()))
        .into();
    after.sort();
    assert_eq!(tree(&desk.path("")), after);
}

/// What a person has in a folder that has the name of a file keeps that from coming back, and nothing is written; a folder without files does
/// not.
#[tokio::test]
async fn a_folder_is_in_the_way_as_long_as_a_file_is_in_it() {
    let mut desk = Desk::new();
    std::fs::write(desk.path("a"), "a\n").unwrap();
    desk.rename("a", "b").await;
    desk.change("a/x", FileAction::Create("new\n".into())).await;
    std::fs::create_dir_all(desk.path("a/deep/er")).unwrap();
    std::fs::write(desk.path("a/deep/mine"), "mine\n").unwrap();
    let now = tree(&desk.path(""));
    let decided = desk.reject_all().await;
    assert_eq!((decided.refused.len(), decided.queued.len()), (1, 0), "{decided:?}");
    let message = &decided.refused[0].message;
    let said = format!("is a folder now, with {} in it", desk.path("a/deep/mine").display());
    assert!(message.contains(&said), "{message}");
    assert_eq!((tree(&desk.path("")), desk.statuses()), (now, vec![Status::Pending; 2]));
    std::fs::remove_file(desk.path("a/deep/mine")).unwrap();
    assert_eq!(desk.reject_all().await.refused, []);
    assert_eq!(tree(&desk.path("")), [(desk.path("a"), b"a\n".to_vec())]);
    assert_eq!(crate::agent::read(&desk.workspace, "a").await.unwrap(), "a\n");
}

/// A file that has come to stand where a folder was keeps that folder's files from coming back, and goes with them in one switch.
#[tokio::test]
async fn a_file_is_in_the_way_of_what_is_to_lie_in_a_folder_of_its_name() {
    let mut desk = Desk::new();
    std::fs::create_dir(desk.path("a")).unwrap();
    for name in ["a/x", "b"] {
        std::fs::write(desk.path(name), format!("{name}\n")).unwrap();
    }
    let before = tree(&desk.path(""));
    desk.change("a/x", FileAction::Delete).await;
    std::fs::remove_dir(desk.path("a")).unwrap();
    desk.rename("b", "a").await;
    let now = tree(&desk.path(""));
    let removed = desk.found(0);
    let request = Request::of(Choice::Reject, Target::Edit(removed.edit.to_string()));
    let path = removed.document.as_path();
    let decided = desk.workspace.decide_about_file(path, removed.file, &[request]).await;
    assert_eq!((decided.refused.len(), decided.queued.len()), (1, 0), "{decided:?}");
    let refused = &decided.refused[0];
    assert!(refused.message.contains("is a file now, and no folder for"), "{refused:?}");
    let others: Vec<_> = refused.others.iter().map(|other| &other.edit).collect();
    assert_eq!(others, [&desk.edits[1]]);
    assert_eq!(tree(&desk.path("")), now);
    assert_eq!(desk.reject_all().await.refused, []);
    assert_eq!(tree(&desk.path("")), before);
}

/// A file that comes out of a folder to take its name is out of the way in between. Whatever fails, it is where it was or where it is to be.
#[tokio::test]
async fn a_file_that_takes_the_name_of_its_folder_is_never_lost() {
    let mut refused = 0;
    for step in 1.. {
        let mut desk = Desk::new();
        std::fs::write(desk.path("a"), "a\n").unwrap();
        let before = tree(&desk.path(""));
        desk.rename("a", "t").await;
        desk.rename("t", "a/x").await;
        let now = tree(&desk.path(""));
        let first = desk.found(0);
        let target = Target::Edit(first.edit.to_string());
        let request = Request { along: Along::Needed, ..Request::of(Choice::Reject, target) };
        desk.fails.0.store(step, Ordering::SeqCst);
        let (path, asked) = (first.document.as_path(), [request]);
        let decided = desk.workspace.decide_about_file(path, first.file, &asked).await;
        let is_hit = desk.fails.0.swap(0, Ordering::SeqCst) == 0;
        if !decided.refused.is_empty() {
            refused += 1;
            assert_eq!((tree(&desk.path("")), desk.statuses()), (now, vec![Status::Pending; 2]), "{step}");
            let again = desk.workspace.decide_about_file(path, first.file, &asked).await;
            assert_eq!(again.refused, [], "{step}");
        }
        assert_eq!((tree(&desk.path("")), desk.statuses()), (before, vec![Status::Rejected; 2]), "{step}");
        assert_eq!(crate::agent::read(&desk.workspace, "a").await.unwrap(), "a\n");
        if !is_hit {
            break;
        }
    }
    assert!(refused > 3, "{refused}");
}

/// What a history asks for is done in the folders that are served alone, to files that are what it takes them for.
#[test]
fn a_history_changes_nothing_that_is_not_served() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    let served = top.join("served");
    for folder in ["served/.git", "served/.mcp/edit_history", "served/folder", "outside"] {
        std::fs::create_dir_all(top.join(folder)).unwrap();
    }
    for file in
        ["served/a", "served/.git/config", "served/.mcp/edit_history/x", "outside/victim", "served/folder/f"]
    {
        std::fs::write(top.join(file), "x").unwrap();
    }
    std::os::unix::fs::symlink(top.join("outside"), served.join("out")).unwrap();
    std::os::unix::fs::symlink("a", served.join("link")).unwrap();
    std::os::unix::fs::symlink("folder", served.join("way")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(served.join("pipe")).status().unwrap().success());
    let roots = Roots::open([&served]).unwrap();
    let (files, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
    let before = tree(&top.join("outside"));
    let was = FileHash::of(b"x");
    for name in [
        "../outside/victim",
        "out/victim",
        "out/new",
        ".git/config",
        ".git/hooks/new",
        ".mcp/edit_history/x",
        ".mcp/new",
        "link",
        "way/f",
        "folder",
        "pipe",
        "a/b",
    ] {
        let path = served.join(name);
        let free = served.join("free");
        for change in [
            Change::Make { path: &path, bytes: b"y", mode: None },
            Change::Write { path: &path, was, bytes: b"y" },
            Change::Remove { path: &path, was },
            Change::Rename { from: &path, to: &free, was },
            Change::Rename { from: &served.join("a"), to: &path, was },
        ] {
            let done = files.change(&change);
            assert!(done.is_err(), "{change:?}: {done:?}");
            assert!(!free.exists() && served.join("a").exists(), "{change:?}");
        }
    }
    assert_eq!(tree(&top.join("outside")), before);
    // A file that is another by now stays.
    let a = served.join("a");
    let other = FileHash::of(b"other");
    for change in [
        Change::Make { path: &a, bytes: b"y", mode: None },
        Change::Write { path: &a, was: other, bytes: b"y" },
        Change::Remove { path: &a, was: other },
        Change::Rename { from: &a, to: &served.join("b"), was: other },
        Change::Rename { from: &a, to: &served.join("folder/f"), was },
    ] {
        assert!(files.change(&change).is_err(), "{change:?}");
        assert_eq!(std::fs::read(&a).unwrap(), b"x");
    }
    assert_eq!(files.hash(&served.join("a/b")).unwrap(), None);
    let held = files.change(&Change::Write { path: &a, was, bytes: b"y" }).unwrap().unwrap();
    assert_eq!((held.bytes.as_slice(), files.hash(&a).unwrap()), (&b"x"[..], Some(FileHash::of(b"y"))));
    // Nor is one that an editor has open written under it, whoever finishes what was begun.
    let uri = url::Url::from_file_path(&a).unwrap().to_string();
    files.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, "y");
    let was = FileHash::of(b"y");
    for change in [
        Change::Write { path: &a, was, bytes: b"z" },
        Change::Remove { path: &a, was },
        Change::Rename { from: &a, to: &served.join("b"), was },
    ] {
        let said = files.change(&change).unwrap_err().to_string();
        assert!(said.contains("open in an editor"), "{said}");
        assert_eq!(std::fs::read(&a).unwrap(), b"y");
    }
}
