//! What edits do to the file itself: they make it, remove it, or give it another name (rule W10).
//!
//! Existence and name are registers: a file hunk says what one was and what it is to be. It can be done while the register is as it
//! was when the hunk was made, and undone while it is as the hunk left it: so of two that set one register, the later one goes first.
//! Here only the registers change; whoever has the file brings it to them.

use std::sync::Arc;

use hashline_anchor::rewrite_whole;
use hashline_history::{
    Decision, DocumentName, FileChange, HunkRef, Location, Mode, NewEdit, NewHunk, Operation, Reason,
    Registers,
};
use hashline_text::{DiskForm, FileHash, Text};
use hashline_weave::{Change, HunkId, Weave};

use crate::document::Refused;
use crate::document::decisions::wishes::Way;
use crate::document::file::FileNow;
use crate::document::{Contents, Document, Edit, FileHunk, Millis, NewFile, Proposal, Undecided, Why};

impl Document {
    /// A path without a file.
    pub(crate) fn missing(uri: &str, name: DocumentName) -> Self {
        let mut document = Self::on_disk(uri, Text::default(), DiskForm::default());
        document.file.now = FileNow { exists: false, name: Some(name), mode: None };
        document
    }

    /// Whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.file.now.exists
    }

    /// Whether something that nobody watched has removed the file.
    pub(crate) fn was_removed(&self) -> bool {
        let changes = self.edits().iter().filter_map(|edit| edit.file.as_ref());
        let mut existence = changes.filter_map(|file| Some((file.done, file.change.exists?))).peekable();
        let before = existence.peek().is_none_or(|(_, (was, _))| *was);
        let should = existence.rfind(|(done, _)| *done).map_or(before, |(_, (_, now))| now);
        !self.is_open() && !self.edits.is_empty() && should && !self.file.now.exists
    }

    /// Whether the file is gone as an edit has removed it.
    pub(crate) fn is_deleted(&self) -> bool {
        let done = self
            .edits()
            .iter()
            .rev()
            .filter_map(|edit| edit.file.as_ref())
            .find(|file| file.done && file.change.exists.is_some());
        !self.is_open() && !self.file.now.exists && done.is_some_and(FileHunk::deletes)
    }

    /// Takes back that something has removed the file: it is to hold what was recorded last.
    pub(crate) fn unremove(&mut self) {
        self.file.now.exists = true;
    }

    /// Whatever was decided: nothing writes it again.
    pub(crate) fn stays_removed(&mut self) {
        self.file.now.exists = false;
    }

    /// Whether its removal or another name waits for the person.
    pub(crate) fn has_held_file_change(&self) -> bool {
        let mut files = self.edits().iter().filter_map(|edit| edit.file.as_ref());
        files.any(|file| !file.done && file.decision == Decision::Undecided)
    }

    /// The hash of what agents see of the file; none if they see none.
    pub(crate) fn hash_for_agents(&mut self) -> Option<FileHash> {
        if !self.exists_for_agents() {
            return None;
        }
        let form = self.form();
        match self.bytes() {
            Some(bytes) => Some(FileHash::of(bytes)),
            None => Some(form.hash(self.weave().agent())),
        }
    }

    /// An edit of the file itself as it is recorded.
    pub(crate) fn file_edit(&self, change: &FileChange, proposal: &Proposal) -> NewEdit {
        let hash = match self.bytes() {
            _ if !self.file.now.exists => None,
            Some(bytes) => Some(FileHash::of(bytes)),
            None => Some(self.form().hash(self.text())),
        };
        let operation = match change {
            FileChange { exists: Some((false, true)), .. } => Operation::Create,
            FileChange { exists: Some(_), .. } => Operation::Delete,
            _ => Operation::Move,
        };
        NewEdit {
            hash_before: hash,
            hash_after: if operation == Operation::Delete { None } else { hash },
            operation,
            hunks: vec![NewHunk { number: 1, id: None, line: 0 }],
            file: Some(change.clone()),
            ..proposal.new_edit()
        }
    }

    /// Makes an edit of the file itself, with what a new file is to hold, and lets it be recorded with what it does.
    pub(crate) fn propose_file(
        &mut self,
        change: FileChange,
        content: Option<NewFile>,
        proposal: &Proposal,
        now: Millis,
    ) -> Result<(), Refused> {
        let mut edit = self.file_edit(&change, proposal);
        let (mut hunks, mut held) = (Vec::new(), Vec::new());
        let below = self.form().hash(self.text());
        match content {
            None => {}
            Some(NewFile::Bytes(bytes)) => {
                edit.hash_after = Some(FileHash::of(&bytes));
                self.set_bytes(Some(bytes));
            }
            Some(NewFile::Text { text, form }) => {
                edit.hash_after = Some(form.hash(&text));
                self.set_bytes(None);
                self.set_form(form);
                let at_once = proposal.mode == Mode::Apply;
                let weave = self.weave();
                // What waits in a file that was removed is not in what is made at once.
                let waits = |weave: &Weave, id: HunkId| !weave.in_buffer(id) && !weave.is_refused(id);
                held = weave.hunks().filter(|id| at_once && waits(weave, *id)).collect();
                held.iter().for_each(|id| weave.set_refused(*id, true));
                // Of a file that was removed the lines are still known.
                let rewrite = rewrite_whole(weave.agent(), &text);
                let changes: Vec<Change> = rewrite
                    .hunks
                    .into_iter()
                    .map(|hunk| Change { lines: hunk.lines, new: hunk.new })
                    .collect();
                let ids = match rewrite.newline_at_end {
                    Some(newline) => weave.record_with_newline(&changes, newline),
                    None => weave.record(&changes),
                };
                if ids.is_err() {
                    held.iter().for_each(|id| weave.set_refused(*id, false));
                }
                hunks = ids.map_err(Refused::CannotWeave)?;
                let lines = changes.iter().map(|change| change.lines.start);
                let new = hunks.iter().zip(lines).zip(2..);
                edit.hunks.extend(new.map(|((id, line), number)| NewHunk { number, id: Some(*id), line }));
            }
        }
        let makes = edit.hash_after;
        self.note_edit(edit);
        self.publish_file(change, proposal);
        self.edits.note_hashes(below, makes);
        self.edits.add_hunks(&hunks, 2);
        if proposal.mode == Mode::Apply {
            self.switch_file(self.edits().len() - 1, true);
            if !hunks.is_empty() {
                self.want(&hunks, true, Way::AsProposed, None, None);
            }
            self.settle_on_disk(now);
        }
        held.iter().for_each(|id: &HunkId| self.weave().set_refused(*id, false));
        Ok(())
    }

    /// Lets a recorded edit of the file itself be shown and decided.
    pub(crate) fn publish_file(&mut self, change: FileChange, proposal: &Proposal) {
        self.edits.add(Edit { file: Some(FileHunk::new(change)), ..proposal.edit() });
        self.news_of_edits();
    }

    /// Whether the file is there, its name, and its mode bits.
    pub(crate) fn file_now(&self) -> &FileNow {
        &self.file.now
    }

    /// What the file is to hold; none for no file.
    pub(crate) fn file_contents(&self) -> Option<Contents> {
        match self.bytes() {
            _ if !self.file.now.exists => None,
            Some(bytes) => Some(Contents::Bytes(bytes.clone())),
            None => Some(Contents::Text(self.text().clone(), self.form())),
        }
    }

    /// Says how the file is, as seen on the disk.
    pub(crate) fn set_file(&mut self, exists: bool, name: DocumentName, mode: Option<u32>) {
        self.file.now = FileNow { exists, name: Some(name), mode: mode.or(self.file.now.mode) };
    }

    /// The registers as they are recorded.
    #[must_use]
    pub fn registers(&self) -> Registers {
        Registers { exists: self.file.now.exists, mode: self.file.now.mode }
    }

    /// Whether agents see the file: it is there, or one of them has proposed to make it.
    #[must_use]
    pub fn exists_for_agents(&self) -> bool {
        let proposed = |edit: &Arc<Edit>| edit.file.as_ref().is_some_and(FileHunk::is_proposed);
        self.file.now.exists || self.edits().iter().any(proposed)
    }

    /// The name that a file is to have once a held move is accepted: it counts as taken.
    #[must_use]
    pub fn name_to_be(&self) -> Option<&DocumentName> {
        let held = self.edits().iter().filter_map(|edit| edit.file.as_ref());
        held.filter(|file| !file.done && file.decision == Decision::Undecided).find_map(FileHunk::moves_to)
    }

    pub(crate) fn switch_file(&mut self, at: usize, on: bool) {
        let Some(change) = self.edits.switch_file(at, on) else { return };
        self.file.now.set(&change, on);
        let name = self.file_hunk_name(at);
        self.note_file_location(name, if on { Location::Disk } else { Location::None });
        self.news_of_edits();
    }

    pub(crate) fn set_file_decision(&mut self, at: usize, decision: Decision, reason: Option<Reason>) {
        let name = self.file_hunk_name(at);
        let Some((decision, reason)) = self.edits.decide_file(at, decision, reason) else { return };
        self.note_decision(name, decision, reason);
        self.news.decided();
    }

    /// Decides again about a file hunk, where the file is as the decision wants it. True if the decision stands.
    pub(crate) fn decide_file_again(&mut self, at: usize, decided: &hashline_history::Decided) -> bool {
        let Some(file) = &self.edits()[at].file else { return false };
        let stands = file.decision == decided.decision;
        if decided.decision == Decision::Undecided && decided.reason.is_some() && !stands {
            return false; // a comment, and others have decided
        }
        let fits = match decided.decision {
            Decision::Undecided => true,
            Decision::Accepted => file.decision == Decision::Undecided && file.done,
            Decision::Rejected | Decision::Withdrawn => file.decision == Decision::Undecided && !file.done,
        };
        if (stands && decided.reason.is_some()) || (!stands && fits) {
            self.set_file_decision(at, decided.decision, decided.reason.clone());
        }
        stands || fits
    }

    /// What made the file, or gave it the name that it has.
    pub(crate) fn giver_of_name(&self) -> Option<HunkRef> {
        let name = self.file.now.name.as_ref();
        let gives =
            |file: &FileHunk| file.done && (file.creates() || name.is_some() && file.moves_to() == name);
        let at = self.edits().iter().rposition(|edit| edit.file.as_ref().is_some_and(gives))?;
        Some(self.file_hunk_name(at))
    }

    /// Which of these, which were decided just now, has brought the file to the name that it has: the last of several that goes need
    /// not be the one that does.
    pub(crate) fn giver_among(&self, decided: &[HunkRef]) -> Option<HunkRef> {
        let name = self.file.now.name.as_ref();
        let made = |hunk: &HunkRef| {
            let edit = self.edits().iter().find(|edit| edit.id == hunk.edit && hunk.number == 1)?;
            edit.file.as_ref()
        };
        let latest =
            |gives: &dyn Fn(&FileHunk) -> bool| decided.iter().rfind(|hunk| made(hunk).is_some_and(gives));
        let moved = latest(&|file| file.leaves_name().is_some_and(|left| Some(left) == name));
        let came =
            || latest(&|file| file.change.exists.is_some_and(|(was, is)| if file.done { is } else { was }));
        moved.or_else(came).or(decided.last()).cloned()
    }

    pub(crate) fn file_hunk_name(&self, at: usize) -> HunkRef {
        HunkRef { edit: self.edits()[at].id.clone(), number: 1 }
    }

    pub(crate) fn file_refused(&self, at: usize, why: Why, message: String) -> Undecided {
        Undecided { hunk: self.file_hunk_name(at).to_string(), why, message, others: Vec::new() }
    }
}
