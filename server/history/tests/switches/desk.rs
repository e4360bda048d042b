//! A folder of files that are to become others at once, and what counts as before and after.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use hashline_history::{
    Change as FileChange, Decision, Document, Draft, Effect, FileId, FilesNow, Held, Located, Now, Registers,
    Status, Store, StoreError, Subject, Switched,
};
use hashline_text::FileHash;
use hashline_weave::Change;

use crate::common::{self, *};

/// Files that are there, and can be changed.
pub struct Writable;

impl FilesNow for Writable {
    fn hash(&self, path: &Path) -> io::Result<Option<FileHash>> {
        match RealFiles.hash(path) {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory) =>
            {
                Ok(None)
            }
            other => other,
        }
    }

    fn change(&self, change: &FileChange<'_>) -> io::Result<Option<Held>> {
        let held = |path: &Path, was: FileHash| -> io::Result<Held> {
            let bytes = std::fs::read(path)?;
            assert_eq!(FileHash::of(&bytes), was, "{}", path.display());
            Ok(Held { bytes, mode: None })
        };
        let free = |path: &Path| {
            assert!(!path.is_file(), "{} would be written over", path.display());
            remove_empty(path);
            std::fs::create_dir_all(path.parent().unwrap())
        };
        match *change {
            FileChange::Make { path, bytes, .. } => {
                free(path)?;
                std::fs::write(path, bytes).map(|()| None)
            }
            FileChange::Write { path, was, bytes } => {
                let held = held(path, was)?;
                std::fs::write(path, bytes).map(|()| Some(held))
            }
            FileChange::Remove { path, was } => {
                let held = held(path, was)?;
                std::fs::remove_file(path).map(|()| Some(held))
            }
            FileChange::Rename { from, to, was } => {
                held(from, was)?;
                free(to)?;
                std::fs::rename(from, to).map(|()| None)
            }
        }
    }
}

/// A folder with a file in it stays, and is in the way.
fn remove_empty(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten() {
        remove_empty(&entry.unwrap().path());
    }
    let _ = std::fs::remove_dir(path);
}

pub type Tree = BTreeMap<String, String>;

/// The files of the person.
pub fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(path) = todo.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".mcp") {
                continue;
            }
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// What is to become of a file: its names before and after, none for no file, and whether its text changes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted(pub &'static str, pub &'static str, pub bool);

/// A swap, a chain, a removal, a file that is made in its place, one that changes where it is, one that goes to a folder of its own name, one
/// of which only the record changes, one that takes the name of its folder, and one that swaps names with a file in a folder of its new name.
pub const WANTED: [Wanted; 11] = [
    Wanted("a", "b", true),
    Wanted("b", "a", false),
    Wanted("c", "d/c", false),
    Wanted("", "c", false),
    Wanted("e", "", false),
    Wanted("f", "f", true),
    Wanted("g", "g/g", true),
    Wanted("h", "h", false),
    Wanted("i/i", "i", true),
    Wanted("j/j", "k", false),
    Wanted("k", "j", false),
];

/// Writes a file, with the folders on its way.
pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A folder with a history in which each file has one undecided edit.
pub struct Desk {
    pub folder: tempfile::TempDir,
    pub files: Vec<(FileId, Live)>,
}

pub fn text(at: usize, on: bool) -> String {
    format!("{at} one\n{}\n", if on { "new" } else { "two" })
}

impl Desk {
    pub fn new() -> Self {
        let folder = common::folder();
        let store = Store::new(folder.path(), "a process");
        let mut files = Vec::new();
        for (at, Wanted(from, to, _)) in WANTED.into_iter().enumerate() {
            let there = if from.is_empty() { format!("gone/{to}") } else { from.to_owned() };
            let name = name_in(folder.path(), &there);
            let mut live = Live::new(name, &text(at, false));
            if !from.is_empty() {
                write(folder.path(), from, &text(at, false));
            }
            let change = Change { lines: 1..2, new: vec![line("new")] };
            let edit = live.edit(&format!("e{at}"), "conv", &[change], false);
            let registers = Some(Registers { exists: !from.is_empty(), mode: None });
            let mut session = store.session(&RealFiles).unwrap();
            let appended = session.append(&Draft { registers, ..live.draft(edit) }).unwrap();
            files.push((appended.file, live));
        }
        Self { folder, files }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn before(&self) -> Tree {
        let there = WANTED.iter().enumerate().filter(|(_, wanted)| !wanted.0.is_empty());
        there.map(|(at, wanted)| (wanted.0.to_owned(), text(at, false))).collect()
    }

    pub fn after(&self) -> Tree {
        let there = WANTED.iter().enumerate().filter(|(_, wanted)| !wanted.1.is_empty());
        there.map(|(at, wanted)| (wanted.1.to_owned(), text(at, wanted.2))).collect()
    }

    /// All edits are accepted, and all files become what they are to be.
    pub fn switch(&self, store: &Store, files: &dyn FilesNow) -> Result<Switched, StoreError> {
        let mut done: Vec<(Live, Vec<_>, Vec<Located>)> = Vec::new();
        for (at, Wanted(_, _, changes)) in WANTED.into_iter().enumerate() {
            let mut live = self.files[at].1.clone();
            let decision = if changes { Decision::Accepted } else { Decision::Rejected };
            let (decisions, locations) = live.decide(0, decision, Some("so"));
            done.push((live, decisions, locations));
        }
        let drafts: Vec<Draft<'_>> = WANTED
            .into_iter()
            .enumerate()
            .map(|(at, Wanted(from, to, _))| {
                let (live, decisions, locations) = &done[at];
                let hash = |on| Some(FileHash::of(text(at, on).as_bytes()));
                let name = |name: &str| name_in(self.path(), name);
                let (before, after) = (hash(false), Some(live.hash()));
                let intent = match (from, to) {
                    (from, to) if from == to && before == after => Vec::new(),
                    ("", to) => vec![Effect { name: name(to), before: None, after }],
                    (from, "") => vec![Effect { name: name(from), before, after: None }],
                    (from, to) if from == to => vec![Effect { name: name(to), before, after }],
                    (from, to) => vec![
                        Effect { name: name(from), before, after: None },
                        Effect { name: name(to), before: None, after },
                    ],
                };
                Draft {
                    file: Subject::File(self.files[at].0),
                    now: Some(Now::Text { weave: &live.weave, form: live.form, hash: None }),
                    decisions: decisions.clone(),
                    locations: locations.clone(),
                    registers: Some(Registers { exists: !to.is_empty(), mode: None }),
                    intent,
                    ..Draft::about(name(if to.is_empty() { from } else { to }))
                }
            })
            .collect();
        store.session(files)?.switch(&drafts, files)
    }

    pub fn documents(&self) -> Vec<Document> {
        let store = Store::new(self.path(), "whoever looks");
        self.files.iter().map(|(file, _)| store.file(*file).unwrap()).collect()
    }

    /// Whether the record says that all is as before, or as after; nothing else is right.
    pub fn recorded(&self) -> bool {
        let all: Vec<bool> = self
            .documents()
            .iter()
            .enumerate()
            .map(|(at, document)| {
                let Wanted(from, to, changes) = WANTED[at];
                let decided = document.edits[0].status() != Status::Pending;
                let status = if changes { Status::Accepted } else { Status::Rejected };
                assert!(!decided || document.edits[0].status() == status);
                let name = if decided && !to.is_empty() { to } else { from };
                let name = if name.is_empty() { "gone/c" } else { name };
                assert_eq!(document.name, name_in(self.path(), name), "{at}");
                assert_eq!(
                    document.registers.exists,
                    if decided { !to.is_empty() } else { !from.is_empty() }
                );
                assert_eq!(document.weave().unwrap().buffer().to_string(), text(at, changes && decided));
                assert!(document.intent.is_none());
                decided
            })
            .collect();
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        all[0]
    }

    pub fn record(&self) -> Vec<u8> {
        std::fs::read(history(self.path(), "decisions.log")).unwrap()
    }

    /// What the next session tells, and that the one after it has nothing to tell.
    pub fn next(&self) -> Vec<String> {
        let session = Store::new(self.path(), "the next process").session(&Writable).unwrap();
        let repairs = session.repairs().to_vec();
        assert_eq!(session.finish(), Vec::<String>::new());
        let mut again = Store::new(self.path(), "one after it").session(&Writable).unwrap();
        assert_eq!(again.repairs(), Vec::<String>::new());
        let mut checked = again.check().unwrap();
        checked.retain(|said| !said.contains(".new-") && !said.starts_with("checkpoints/"));
        assert_eq!(checked, Vec::<String>::new());
        repairs
    }
}
