//! The edits of a document, and which hunk of the weave belongs to which.

use std::collections::HashMap;
use std::sync::Arc;

use hashline_history::{Decision, EditId, FileChange, HunkRef, Location, Reason};
use hashline_text::FileHash;
use hashline_weave::{HunkId, JournalId};

use crate::document::decisions::edit_and_hunks::{Edit, EditHunk};
use crate::document::decisions::verdict::{Verdict, stands_after};
use crate::document::file::hunk::FileHunk;

/// What one switch did to the decision about a hunk, for undo and redo.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub hunk: HunkId,
    pub before: (Decision, Option<Reason>),
    pub after: (Decision, Option<Reason>),
}

/// The edits, in the order in which they were made. Clones share each of them until one changes it: a document is copied for its review
/// after a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    all: Arc<Vec<Arc<Edit>>>,
    /// The edit of each hunk of the weave, and its place there, by the hunk's order of record; none for those of forgotten edits.
    owners: Arc<Vec<Option<(usize, usize)>>>,
    turns: Arc<HashMap<JournalId, Vec<Turn>>>,
}

impl Edits {
    /// Those of a weave of so many hunks, none of which belongs to an edit that is known.
    pub(crate) fn of_weave(hunks: usize) -> Self {
        Self { owners: vec![None; hunks].into(), ..Self::default() }
    }

    pub(crate) fn all(&self) -> &[Arc<Edit>] {
        &self.all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many hunks of the weave are known: others are of an edit that is just being recorded.
    pub(crate) fn known_hunks(&self) -> usize {
        self.owners.len()
    }

    /// Adds an edit that is made now, without hunks.
    pub(crate) fn add(&mut self, edit: Edit) {
        Arc::make_mut(&mut self.all).push(edit.into());
    }

    /// Gives the last edit hunks that are new in the weave, numbered from `first`.
    pub(crate) fn add_hunks(&mut self, hunks: &[HunkId], first: u32) {
        let Some(at) = self.all.len().checked_sub(1) else { return };
        Arc::make_mut(&mut self.owners).extend((0..hunks.len()).map(|hunk| Some((at, hunk))));
        let undecided = Decision::Undecided;
        let hunk = |(id, number): (&HunkId, u32)| EditHunk {
            number,
            id: *id,
            decision: undecided,
            reason: None,
            told: Verdict::default(),
            location: Location::None,
        };
        if let Some(edit) = self.edit_mut(at) {
            edit.hunks = hunks.iter().zip(first..).map(hunk).collect();
        }
    }

    /// Adds an edit of the record, whose hunks the weave has.
    pub(crate) fn restore(&mut self, edit: Edit) {
        let at = self.all.len();
        let owners = Arc::make_mut(&mut self.owners);
        for (place, hunk) in edit.hunks.iter().enumerate() {
            if let Some(owner) = owners.get_mut(hunk.id.order()) {
                *owner = Some((at, place));
            }
        }
        self.add(edit);
    }

    /// Which edit a hunk belongs to.
    pub(crate) fn edit_of(&self, id: HunkId) -> Option<usize> {
        self.owners.get(id.order()).copied().flatten().map(|(edit, _)| edit)
    }

    pub(crate) fn owner_of(&self, id: HunkId) -> Option<(&Edit, &EditHunk)> {
        let (edit, hunk) = (*self.owners.get(id.order())?)?;
        let edit = self.all.get(edit)?;
        Some((edit, edit.hunks.get(hunk)?))
    }

    /// Sets the decision about a hunk. Returns what stands then, if that is news.
    pub(crate) fn decide(
        &mut self,
        id: HunkId,
        decision: Decision,
        reason: Option<Reason>,
    ) -> Option<Verdict> {
        let hunk = self.hunk_mut(id)?;
        let verdict = stands_after(&hunk.verdict(), &hunk.told, (decision, reason))?;
        (hunk.decision, hunk.reason) = verdict.clone();
        Some(verdict)
    }

    /// Says where a hunk is.
    pub(crate) fn locate(&mut self, id: HunkId, location: Location) {
        if let Some(hunk) = self.hunk_mut(id) {
            hunk.location = location;
        }
    }

    fn edit_mut(&mut self, at: usize) -> Option<&mut Edit> {
        Arc::make_mut(&mut self.all).get_mut(at).map(Arc::make_mut)
    }

    fn hunk_mut(&mut self, id: HunkId) -> Option<&mut EditHunk> {
        let (edit, hunk) = (*self.owners.get(id.order())?)?;
        self.edit_mut(edit)?.hunks.get_mut(hunk)
    }

    /// Sets the decision about what an edit does to the file itself. Returns what stands then, if that is news.
    pub(crate) fn decide_file(
        &mut self,
        at: usize,
        decision: Decision,
        reason: Option<Reason>,
    ) -> Option<Verdict> {
        let file = self.file_mut(at)?;
        let verdict = stands_after(&file.verdict(), &file.told, (decision, reason))?;
        (file.decision, file.reason) = verdict.clone();
        Some(verdict)
    }

    /// Says whether the file is as an edit has it. Returns what that sets.
    pub(crate) fn switch_file(&mut self, at: usize, on: bool) -> Option<FileChange> {
        let file = self.file_mut(at)?;
        file.done = on;
        Some(file.change.clone())
    }

    /// Notes of the last edit what the file holds once it is unmade, and as the edit makes it, by hash.
    pub(crate) fn note_hashes(&mut self, below: FileHash, makes: Option<FileHash>) {
        let Some(last) = self.all.len().checked_sub(1) else { return };
        if let Some(file) = self.file_mut(last) {
            (file.below, file.makes) = (Some(below), makes);
        }
    }

    fn file_mut(&mut self, at: usize) -> Option<&mut FileHunk> {
        self.edit_mut(at)?.file.as_mut()
    }

    /// These hunks of the text are in the file now.
    pub(crate) fn are_on_disk(&mut self, hunks: &[HunkRef]) {
        let is_now = |edit: &Edit, hunk: &EditHunk| {
            let is = |name: &HunkRef| name.edit == edit.id && name.number == hunk.number;
            hunk.location == Location::Buffer && hunks.iter().any(is)
        };
        for edit in Arc::make_mut(&mut self.all) {
            let at = (0..edit.hunks.len()).filter(|at| is_now(edit, &edit.hunks[*at]));
            for at in at.collect::<Vec<_>>() {
                Arc::make_mut(edit).hunks[at].location = Location::Disk;
            }
        }
    }

    /// The agent was told the decisions about an edit.
    pub(crate) fn were_told(&mut self, id: &EditId) {
        let theirs = Arc::make_mut(&mut self.all).iter_mut().filter(|edit| edit.id == *id && edit.has_news());
        for edit in theirs.map(Arc::make_mut) {
            for hunk in &mut edit.hunks {
                hunk.told = hunk.verdict();
            }
            if let Some(file) = &mut edit.file {
                file.told = file.verdict();
            }
        }
    }

    /// Agents were told what another state of the document has told them.
    pub(crate) fn keep_told(&mut self, other: &Self) {
        let all = Arc::make_mut(&mut self.all);
        for (own, other) in all.iter_mut().zip(&*other.all).filter(|(own, other)| own.id == other.id) {
            let told = |edit: &Edit| {
                let file = edit.file.iter().map(|file| file.told.clone());
                file.chain(edit.hunks.iter().map(|hunk| hunk.told.clone())).collect::<Vec<_>>()
            };
            if told(own) == told(other) {
                continue;
            }
            let own = Arc::make_mut(own);
            for (own, other) in own.hunks.iter_mut().zip(&other.hunks) {
                own.told.clone_from(&other.told);
            }
            if let (Some(own), Some(other)) = (&mut own.file, &other.file) {
                own.told.clone_from(&other.told);
            }
        }
    }

    /// Remembers what an entry of the journal did to decisions.
    pub(crate) fn note_turns(&mut self, entry: JournalId, turns: Vec<Turn>) {
        Arc::make_mut(&mut self.turns).insert(entry, turns);
    }

    /// What an entry of the journal did to the decision about a hunk.
    pub(crate) fn turn(&self, entry: JournalId, hunk: HunkId) -> Option<Turn> {
        self.turns.get(&entry)?.iter().find(|turn| turn.hunk == hunk).cloned()
    }
}
