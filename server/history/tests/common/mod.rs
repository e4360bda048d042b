//! What the tests share: chance that can be replayed, documents as an editor would have them, and a disk of files in memory.

#![allow(dead_code, unused_imports, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../../../weave/tests/common/chance.rs"]
mod chance;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use chance::{Rng, seeds};

use hashline_history::{
    Decided, Decision, DocumentName, Draft, EditId, FilesNow, HunkRef, Located, Location, Mode, NewEdit,
    NewHunk, Now, Operation, Reason, Store,
};
use hashline_text::{DiskForm, Encoding, Ending, FileHash, OwnedLine, Position, Span, Text};
use hashline_weave::{Change, HunkId, Regions, Weave};

/// Says which seed replays a failure.
pub struct Replays(pub u64);

impl Drop for Replays {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HASHLINE_SEED={} replays this", self.0);
        }
    }
}

/// A folder for a test; in memory where there is such a place, as syncing is what the tests would wait for.
pub fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Nobody wrote to the disk.
pub struct NoFiles;

impl FilesNow for NoFiles {
    fn hash(&self, _: &Path) -> std::io::Result<Option<FileHash>> {
        Ok(None)
    }
}

/// Files that are really there.
pub struct RealFiles;

impl FilesNow for RealFiles {
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(FileHash::of(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub fn line(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

/// A file in the folder of a store.
pub fn name_in(folder: &Path, path: &str) -> DocumentName {
    DocumentName::Path(folder.join(path))
}

/// A document as its owner has it, and what was decided about its edits: what the store must agree with.
#[derive(Clone)]
pub struct Live {
    pub name: DocumentName,
    pub weave: Weave,
    pub form: DiskForm,
    pub hunks: Vec<HunkRef>,
    pub decisions: HashMap<HunkRef, (Decision, Option<Reason>)>,
    pub locations: HashMap<HunkRef, Location>,
}

impl Live {
    pub fn new(name: DocumentName, bytes: &str) -> Self {
        let (text, form) = hashline_text::decode(bytes.as_bytes()).unwrap();
        Self {
            name,
            weave: Weave::new(text),
            form,
            hunks: Vec::new(),
            decisions: HashMap::new(),
            locations: HashMap::new(),
        }
    }

    pub fn hash(&self) -> FileHash {
        self.form.hash(self.weave.buffer())
    }

    /// Records changes in the weave, and says what is to be recorded of them.
    pub fn edit(&mut self, id: &str, conversation: &str, changes: &[Change], apply: bool) -> Option<NewEdit> {
        let before = self.form.hash(&self.weave.agent().clone());
        let ids = self.weave.record(changes).ok()?;
        let after = self.form.hash(&self.weave.agent().clone());
        let held = ids
            .iter()
            .any(|id| self.weave.prerequisites(*id).iter().any(|below| !self.weave.in_buffer(*below)));
        if apply && !held {
            let _ = self.weave.switch(&ids, &[]);
        }
        let id = EditId::from(id);
        for number in 1..=ids.len() as u32 {
            let name = HunkRef { edit: id.clone(), number };
            self.hunks.push(name.clone());
            self.decisions.insert(name.clone(), (Decision::Undecided, None));
            self.locations.insert(name, Location::None);
        }
        let hunk = |(number, (id, change)): (u32, (&HunkId, &Change))| NewHunk {
            number,
            id: Some(*id),
            line: change.lines.start,
        };
        Some(NewEdit {
            id,
            conversation: conversation.into(),
            agent: "agent".into(),
            connection: "c1".into(),
            opens_conversation: false,
            tool: "edit_text_file".into(),
            reason: None,
            mode: if apply { Mode::Apply } else { Mode::Propose },
            operation: Operation::Edit,
            hash_before: Some(before),
            hash_after: Some(after),
            hunks: (1..).zip(ids.iter().zip(changes)).map(hunk).collect(),
            file: None,
        })
    }

    /// A draft of all that is so now; `edit` is a new one.
    pub fn draft(&self, edit: Option<NewEdit>) -> Draft<'_> {
        let now = Now::Text { weave: &self.weave, form: self.form, hash: None };
        Draft { now: Some(now), edit, ..Draft::about(self.name.clone()) }
    }

    /// Decides about a hunk, in the weave too if that is possible, and says what is to be recorded.
    pub fn decide(
        &mut self,
        at: usize,
        decision: Decision,
        reason: Option<&str>,
    ) -> (Vec<Decided>, Vec<Located>) {
        let hunk = self.hunks[at].clone();
        let id = HunkId::from_order(at as u32);
        let _ = match decision {
            Decision::Accepted => {
                let all = self.weave.with_prerequisites(id);
                self.weave.switch(&all, &[])
            }
            _ => {
                let all: Vec<HunkId> = self
                    .weave
                    .with_dependents(id)
                    .into_iter()
                    .filter(|id| self.weave.in_buffer(*id))
                    .collect();
                self.weave.switch(&[], &all)
            }
        };
        let refused = matches!(decision, Decision::Rejected | Decision::Withdrawn);
        self.weave.set_refused(id, refused && !self.weave.in_buffer(id));
        let reason = reason.and_then(Reason::of);
        self.decisions.insert(hunk.clone(), (decision, reason.clone()));
        let location = if self.weave.in_buffer(id) { Location::Buffer } else { Location::None };
        self.locations.insert(hunk.clone(), location);
        (vec![Decided { hunk: hunk.clone(), decision, reason }], vec![Located { hunk, location }])
    }

    /// Types something.
    pub fn type_at(&mut self, span: Span, new: &str) {
        let mut text = self.weave.buffer().clone();
        let mut regions = Regions::default();
        if regions.apply(&mut text, span, Encoding::Utf16, new).is_ok() {
            self.weave.recognised(&text, &regions, &[]);
        }
    }

    pub fn type_line(&mut self, at: u32, new: &str) {
        let at = Position::new(at, 0);
        self.type_at(Span::new(at, at), new);
    }
}

/// All that can be told of a weave from outside, but for lines that nobody speaks of any more.
pub fn assert_same(weave: &Weave, copy: &Weave) {
    let (mut weave, mut copy) = (weave.clone(), copy.clone());
    let lines = |weave: &Weave| {
        let mut lines = weave.line_states();
        lines.retain(|line| !line.gone || line.maker.is_some() || !line.removers.is_empty());
        lines
    };
    let hunks = |weave: &Weave| {
        let of =
            |id: HunkId| (weave.in_buffer(id), weave.is_refused(id), weave.is_lost(id), weave.edited(id));
        weave.hunks().map(of).collect::<Vec<_>>()
    };
    assert_eq!(weave.buffer().to_string(), copy.buffer().to_string());
    assert_eq!(lines(&weave), lines(&copy));
    assert_eq!(hunks(&weave), hunks(&copy));
    assert_eq!(weave.conflicts(), copy.conflicts());
    assert_eq!(weave.agent().to_string(), copy.agent().to_string());
    assert_eq!(weave.newline_register(), copy.newline_register());
}

/// Whether what is recorded is what the owner has.
pub fn assert_recorded(store: &Store, live: &Live) {
    let document = store.document(&live.name).unwrap();
    assert_same(&live.weave, document.weave().unwrap());
    for hunk in &live.hunks {
        let state = document.hunk(hunk).expect("every hunk is recorded");
        let (decision, reason) = &live.decisions[hunk];
        assert_eq!((&state.decision, &state.reason), (decision, reason), "{hunk}");
        assert_eq!(state.location, live.locations[hunk], "{hunk}");
    }
    let names: Vec<HunkRef> = document.hunks.iter().flatten().cloned().collect();
    assert_eq!(names, live.hunks);
}

/// Whether two states of a history's files are the same.
pub fn assert_same_files(one: &[(PathBuf, Vec<u8>)], other: &[(PathBuf, Vec<u8>)]) {
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    for ((path, one), (_, other)) in one.iter().zip(other) {
        let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
        assert_eq!(one, other, "{}", path.display());
    }
}

/// The files of a history, with their bytes.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![folder.join(".mcp")];
    while let Some(path) = todo.pop() {
        for entry in std::fs::read_dir(&path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                match std::fs::read(&path) {
                    Ok(bytes) => found.push((path, bytes)),
                    // A temporary file that has its right name by now, where others write meanwhile.
                    Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
                }
            }
        }
    }
    found.sort();
    found
}

pub fn history(folder: &Path, way: &str) -> PathBuf {
    folder.join(".mcp/edit_history").join(way)
}

/// Random changes of a view of so many lines, apart from each other.
pub fn changes(rng: &mut Rng, kind: Endings, lines: usize) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut from = 0;
    for _ in 0..1 + rng.below(3) {
        if from > lines {
            break;
        }
        let start = from + rng.below((lines - from).min(6) + 1);
        let end = start + rng.below((lines - start).min(3) + 1);
        let count = if start == end { 1 + rng.below(2) } else { rng.below(3) };
        changes.push(Change { lines: start..end, new: random_lines(rng, kind, count) });
        from = end + 1;
    }
    changes
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endings {
    Lf,
    CrLf,
    Mixed,
}

pub fn endings(rng: &mut Rng) -> Endings {
    *rng.pick(&[Endings::Lf, Endings::Lf, Endings::CrLf, Endings::Mixed])
}

fn random_lines(rng: &mut Rng, of: Endings, count: usize) -> Vec<OwnedLine> {
    const FEW: [&str; 9] = ["", "}", "a", "b", "return x;", "é😀", "-- x", "+++ b/x", "@@ -1 +1 @@"];
    let mut one = |_| {
        let content =
            if rng.chance(50) { (*rng.pick(&FEW)).to_owned() } else { format!("line {}", rng.below(1000)) };
        let ending = match of {
            Endings::Lf => Ending::Lf,
            Endings::CrLf => Ending::CrLf,
            Endings::Mixed => *rng.pick(&[Ending::Lf, Ending::CrLf, Ending::Cr]),
        };
        OwnedLine::new(content, ending)
    };
    (0..count).map(&mut one).collect()
}

pub fn text(rng: &mut Rng, of: Endings, most: usize) -> String {
    let count = rng.below(most + 1);
    let mut text = String::new();
    for line in random_lines(rng, of, count) {
        text.push_str(&line.content);
        text.push_str(line.ending.as_str());
    }
    if rng.chance(30) {
        let end = text.trim_end_matches(['\r', '\n']).len();
        text.truncate(end);
    }
    if rng.chance(10) { format!("\u{feff}{text}") } else { text }
}

/// A keystroke, a paste, a deletion.
pub fn typing(rng: &mut Rng, text: &Text) -> (Span, String) {
    let lines = text.lsp_line_count() as u32;
    let at =
        Position::new(rng.below(lines as usize) as u32, if rng.chance(30) { 0 } else { rng.below(9) as u32 });
    match rng.below(5) {
        0 => (Span::new(at, at), (*rng.pick(&["x", "}", "é", " "])).to_owned()),
        1 => (Span::new(at, at), "\n".to_owned()),
        2 => {
            let start = Position::new(at.line, 0);
            (Span::new(start, start), format!("typed {}\n", rng.below(100)))
        }
        3 => {
            let start = Position::new(at.line, 0);
            let end = Position::new((at.line + rng.below(3) as u32).min(lines - 1), 0);
            (Span::new(start, end), String::new())
        }
        _ => (Span::new(Position::new(at.line, at.character.saturating_sub(1)), at), String::new()),
    }
}
