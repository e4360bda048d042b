//! What edits do to the file itself: they make it, remove it, or give it another name (rule W10).
//!
//! Existence and name are registers: a file hunk says what one was and what it is to be. It can be done while the register is as it
//! was when the hunk was made, and undone while it is as the hunk left it: so of two that set one register, the later one goes first.
//! Here only the registers change; whoever has the file brings it to them.

use std::ops::Range;

use hashline_anchor::rewrite_whole;
use hashline_history::{
    Decision, DocumentName, FileChange, HunkRef, Location, Mode, NewEdit, NewHunk, Operation, Registers,
};
use hashline_text::{DiskForm, FileHash, Text};
use hashline_weave::{Change, HunkId, Plan, TakeOut, Weave};

use crate::document::aim::Aim;
use crate::document::{Choice, Decided, Document, Edit, Millis, Proposal, Request, Target, Undecided, Why};
use crate::refusal::Refusal;

/// The hunk of an edit that is about the file and not about its lines; it has number 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHunk {
    /// What it sets.
    pub change: FileChange,
    /// The decision that stands.
    pub decision: Decision,
    /// What the person said about it.
    pub reason: Option<String>,
    /// The decision that its agent was told last.
    pub told: Decision,
    /// Whether the file is so.
    pub done: bool,
    /// The text that is there again when a file that it makes anew is unmade, by its hash.
    pub(crate) below: Option<FileHash>,
    /// The file as it makes it, by its hash.
    pub(crate) makes: Option<FileHash>,
}

impl FileHunk {
    /// One that is made now.
    pub(crate) fn new(change: FileChange) -> Self {
        let undecided = Decision::Undecided;
        Self {
            change,
            decision: undecided,
            reason: None,
            told: undecided,
            done: false,
            below: None,
            makes: None,
        }
    }

    /// Whether it makes the file.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.change.exists == Some((false, true))
    }

    /// Whether it would make the file, and nobody has decided about that.
    #[must_use]
    pub fn is_proposed(&self) -> bool {
        self.creates() && !self.done && self.decision == Decision::Undecided
    }

    /// Whether it removes the file.
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.change.exists == Some((true, false))
    }

    /// The name that it gives the file.
    #[must_use]
    pub fn moves_to(&self) -> Option<&DocumentName> {
        self.change.name.as_ref().map(|(_, to)| to)
    }
}

/// What a change does to its file, in words that an edit is named by.
#[must_use]
pub fn in_words(change: &FileChange) -> String {
    match change {
        FileChange { exists: Some((_, true)), .. } => "make the file".to_owned(),
        FileChange { exists: Some((_, false)), .. } => "remove the file".to_owned(),
        FileChange { name: Some((_, to)), .. } => format!("rename the file to {to}"),
        FileChange { .. } => "change the file's mode".to_owned(),
    }
}

/// The registers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileNow {
    pub exists: bool,
    /// None for a document without a file.
    pub name: Option<DocumentName>,
    pub mode: Option<u32>,
}

impl Default for FileNow {
    fn default() -> Self {
        Self { exists: true, name: None, mode: None }
    }
}

impl FileNow {
    /// Whether the registers that a change sets have these values.
    fn is(&self, change: &FileChange, after: bool) -> bool {
        let exists = change.exists.is_none_or(|(was, now)| self.exists == if after { now } else { was });
        let name = change
            .name
            .as_ref()
            .is_none_or(|(was, now)| self.name.as_ref() == Some(if after { now } else { was }));
        exists && name
    }

    fn set(&mut self, change: &FileChange, after: bool) {
        if let Some((was, now)) = change.exists {
            self.exists = if after { now } else { was };
        }
        if let Some((was, now)) = &change.name {
            self.name = Some(if after { now.clone() } else { was.clone() });
        }
    }
}

/// The content of a file that is to be made.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Its text.
    pub text: Text,
    /// How it is stored.
    pub form: DiskForm,
}

/// What a file that is unmade takes with it.
struct Emptied {
    /// The hunks that have come into it since it was made.
    hunks: Vec<HunkId>,
    /// The text without them, and how it is stored; none if they cannot be taken out, and may be lost.
    left: Option<(Weave, DiskForm)>,
}

impl Document {
    /// A path without a file.
    pub(crate) fn missing(uri: &str, name: DocumentName) -> Self {
        let mut document = Self::on_disk(uri, Text::default(), DiskForm::default());
        document.file = FileNow { exists: false, name: Some(name), mode: None };
        document
    }

    /// Whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.file.exists
    }

    /// Whether something that nobody watched has removed the file.
    pub(crate) fn was_removed(&self) -> bool {
        let changes = self.edits.iter().filter_map(|edit| edit.file.as_ref());
        let mut existence = changes.filter_map(|file| Some((file.done, file.change.exists?))).peekable();
        let before = existence.peek().is_none_or(|(_, (was, _))| *was);
        let should = existence.rfind(|(done, _)| *done).map_or(before, |(_, (_, now))| now);
        !self.is_open() && !self.edits.is_empty() && should && !self.file.exists
    }

    /// Takes back that something has removed the file: it is to hold what was recorded last.
    pub(crate) fn unremove(&mut self) {
        self.file.exists = true;
    }

    /// Whether its removal or another name waits for the person.
    pub(crate) fn has_held_file_change(&self) -> bool {
        let mut files = self.edits.iter().filter_map(|edit| edit.file.as_ref());
        files.any(|file| !file.done && file.decision == Decision::Undecided)
    }

    /// The hash of what agents see of the file; none if they see none, or no text.
    pub(crate) fn hash_for_agents(&mut self) -> Option<FileHash> {
        if !self.exists_for_agents() || self.bytes.is_some() {
            return None;
        }
        let form = self.form;
        Some(form.hash(self.weave().agent()))
    }

    /// An edit of the file itself as it is recorded.
    pub(crate) fn file_edit(&self, change: &FileChange, proposal: &Proposal) -> NewEdit {
        let hash = match self.bytes() {
            _ if !self.file.exists => None,
            Some(bytes) => Some(FileHash::of(bytes)),
            None => Some(self.form.hash(self.text())),
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

    /// Makes an edit of the file itself, with the text that a new file is to have, and lets it be recorded with what it does.
    pub(crate) fn propose_file(
        &mut self,
        change: FileChange,
        content: Option<NewFile>,
        proposal: &Proposal,
        now: Millis,
    ) -> Result<(), Refusal> {
        let mut edit = self.file_edit(&change, proposal);
        let mut hunks = Vec::new();
        let below = self.form.hash(self.text());
        if let Some(NewFile { text, form }) = content {
            edit.hash_after = Some(form.hash(&text));
            self.set_form(form);
            let weave = self.weave();
            // Of a file that was removed the lines are still known.
            let rewrite = rewrite_whole(weave.agent(), &text);
            let changes: Vec<Change> =
                rewrite.hunks.into_iter().map(|hunk| Change { lines: hunk.lines, new: hunk.new }).collect();
            let ids = match rewrite.newline_at_end {
                Some(newline) => weave.record_with_newline(&changes, newline),
                None => weave.record(&changes),
            };
            hunks = ids.map_err(Refusal::CannotWeave)?;
            let lines = changes.iter().map(|change| change.lines.start);
            let new = hunks.iter().zip(lines).zip(2..);
            edit.hunks.extend(new.map(|((id, line), number)| NewHunk { number, id: Some(*id), line }));
        }
        let makes = edit.hash_after;
        self.note_edit(edit);
        self.publish_file(change, proposal);
        if let Some(file) = self.edits.last_mut().and_then(|edit| edit.file.as_mut()) {
            (file.below, file.makes) = (Some(below), makes);
        }
        self.add_hunks(&hunks, 2);
        if proposal.mode == Mode::Apply {
            self.switch_file(self.edits.len() - 1, true);
            if !hunks.is_empty() {
                self.intend(Aim::PutIn, Plan::switch(&hunks, &[]), None, None);
            }
            self.settle_on_disk(now);
        }
        Ok(())
    }

    /// Lets a recorded edit of the file itself be shown and decided.
    pub(crate) fn publish_file(&mut self, change: FileChange, proposal: &Proposal) {
        self.edits.push(Edit { file: Some(FileHunk::new(change)), ..proposal.edit() });
        self.news_of_edits();
    }

    /// Whether the file is there, its name, and its mode bits.
    pub(crate) fn file_now(&self) -> &FileNow {
        &self.file
    }

    /// Says how the file is, as seen on the disk.
    pub(crate) fn set_file(&mut self, exists: bool, name: DocumentName, mode: Option<u32>) {
        self.file = FileNow { exists, name: Some(name), mode: mode.or(self.file.mode) };
    }

    /// The registers as they are recorded.
    #[must_use]
    pub fn registers(&self) -> Registers {
        Registers { exists: self.file.exists, mode: self.file.mode }
    }

    /// Whether agents see the file: it is there, or one of them has proposed to make it.
    #[must_use]
    pub fn exists_for_agents(&self) -> bool {
        let proposed = |edit: &Edit| edit.file.as_ref().is_some_and(FileHunk::is_proposed);
        self.file.exists || self.edits.iter().any(proposed)
    }

    /// The name that a file is to have once a held move is accepted: it counts as taken.
    #[must_use]
    pub fn name_to_be(&self) -> Option<&DocumentName> {
        let held = self.edits.iter().filter_map(|edit| edit.file.as_ref());
        held.filter(|file| !file.done && file.decision == Decision::Undecided).find_map(FileHunk::moves_to)
    }

    /// The edits whose file hunks a decision is about.
    pub(crate) fn file_targets(&self, request: &Request) -> Vec<usize> {
        let named = |edit: &Edit| match &request.target {
            Target::Hunk(name) => name.number == 1 && edit.id.as_str().starts_with(name.edit.as_str()),
            Target::Edit(id) => edit.id.as_str().starts_with(id.as_str()),
            Target::Conversation(id) | Target::Whole(id) => edit.conversation == *id,
            Target::Lines(_) => false,
            Target::All => true,
        };
        let again =
            matches!(request.target, Target::Hunk(_) | Target::Edit(_)) || request.choice == Choice::Reopen;
        let open = |edit: &Edit| {
            edit.file.as_ref().is_some_and(|file| {
                let whole =
                    matches!(request.target, Target::Whole(_)) && request.choice.is_against(file.decision);
                file.decision == Decision::Undecided
                    || whole
                    || (again && file.decision != Decision::Withdrawn)
            })
        };
        (0..self.edits.len()).filter(|at| named(&self.edits[*at]) && open(&self.edits[*at])).collect()
    }

    /// Decides about file hunks, those that make the file or the others. Returns what cannot be decided so.
    pub(crate) fn decide_file(&mut self, request: &Request, made: bool) -> Decided {
        let mut decided = Decided::default();
        let mut targets = self.file_targets(request);
        targets.retain(|at| self.edits[*at].file.as_ref().is_some_and(|file| file.creates() == made));
        if request.choice.puts_in() == Some(false) {
            targets.reverse();
        }
        for at in targets {
            let done = match request.choice.puts_in() {
                Some(true) => self.accept_file(at, request),
                Some(false) => self.reject_file(at, request),
                None => {
                    self.set_file_decision(at, Decision::Undecided, None);
                    Ok(())
                }
            };
            match done {
                Ok(()) => decided.queued.push(self.file_hunk_name(at)),
                Err(refused) => decided.refused.push(refused),
            }
        }
        decided
    }

    fn accept_file(&mut self, at: usize, request: &Request) -> Result<(), Undecided> {
        let Some(hunk) = self.edits[at].file.clone() else { return Ok(()) };
        if !hunk.done {
            if self.is_asked(at, true)? {
                return Ok(());
            }
            if !self.file.is(&hunk.change, false) {
                return self.accept_file_with(at, request);
            }
            if hunk.creates() {
                self.take_form_of(at);
            }
            if self.is_open() {
                return self.ask(at, true, Decision::Accepted, request);
            }
            self.switch_file(at, true);
        }
        self.set_file_decision(at, Decision::Accepted, request.reason.clone());
        Ok(())
    }

    /// Whether lines are to come into a file that is only proposed.
    pub(crate) fn without_file(&self, request: &Request) -> bool {
        request.choice.puts_in() == Some(true)
            && !self.is_open()
            && !self.exists()
            && self.exists_for_agents()
    }

    /// Makes the file that lines are to come into, as far as that may be decided with them. The name of the hunk that makes it, if it was
    /// not made yet.
    pub(crate) fn make_file_for(
        &mut self,
        request: &Request,
        lines: &[HunkId],
    ) -> Result<Option<HunkRef>, Undecided> {
        let Some(first) = lines.first().filter(|_| self.without_file(request)) else { return Ok(None) };
        let proposed = |edit: &Edit| edit.file.as_ref().is_some_and(FileHunk::is_proposed);
        let Some(at) = self.edits.iter().position(proposed) else { return Ok(None) };
        let mut edits = lines.iter().filter_map(|id| self.owner_of(*id));
        let foreign = edits.any(|(edit, _)| edit.id != self.edits[at].id && !edit.same_turn(&self.edits[at]));
        if foreign && !request.with_others && !matches!(request.target, Target::All) {
            let maker = self.file_hunk_name(at);
            let words = format!(
                "The file is not made yet: {} would make it. Decide that one with it.",
                maker.short()
            );
            return Err(Undecided {
                hunk: self.short(*first),
                why: Why::NeedsOthers,
                message: words,
                others: vec![maker],
            });
        }
        self.accept_file(at, request)?;
        Ok(Some(self.file_hunk_name(at)))
    }

    fn reject_file(&mut self, at: usize, request: &Request) -> Result<(), Undecided> {
        let Some(hunk) = self.edits[at].file.clone() else { return Ok(()) };
        let asked = self.is_asked(at, false)?;
        if hunk.done {
            if asked {
                return Ok(());
            }
            if !self.file.is(&hunk.change, true) {
                return self.reject_file_with(at, request);
            }
            if self.is_open() {
                return self.ask(at, false, Decision::Rejected, request);
            }
            if hunk.creates() {
                self.empty(at, request)?;
            }
            self.switch_file(at, false);
        }
        self.set_file_decision(at, Decision::Rejected, request.reason.clone());
        Ok(())
    }

    /// Takes back an undecided file hunk, for the agent that made it.
    pub(crate) fn withdraw_file(&mut self, at: usize) {
        let Some(hunk) = self.edits[at].file.clone() else { return };
        if hunk.decision != Decision::Undecided || self.is_asking_for(&self.file_hunk_name(at)) {
            // The person has decided, or is about to.
            return;
        }
        if hunk.done {
            let request = Request::of(Choice::Reject, Target::Edit(self.edits[at].id.to_string()));
            let open = self.check_closed(at).is_err() || !self.file.is(&hunk.change, true);
            if open || (hunk.creates() && self.empty(at, &request).is_err()) {
                // Something rests on it: that is for the person to decide.
                return;
            }
            self.switch_file(at, false);
        }
        self.set_file_decision(at, Decision::Withdrawn, None);
    }

    /// Why a file that is to be unmade cannot be, as something has come to be in it.
    pub(crate) fn unmaking_refused(&mut self, request: &Request) -> Option<Undecided> {
        let targets = self.file_targets(request);
        let made = |at: &usize| self.edits[*at].file.as_ref().is_some_and(|file| file.done && file.creates());
        let made: Vec<usize> = targets.into_iter().filter(made).collect();
        made.into_iter().find_map(|at| self.may_be_emptied(at, request).err())
    }

    /// A file that is made again is stored as it was: the text that was there before may have had a mark that it has not.
    fn take_form_of(&mut self, at: usize) {
        let ids: Vec<HunkId> = self.edits[at].hunks.iter().map(|hunk| hunk.id).collect();
        let makes = self.edits[at].file.as_ref().and_then(|file| file.makes);
        let mut trial = self.weave().clone();
        if trial.carry_out(&Plan::switch(&ids, &[])).is_ok()
            && let Some(form) = self.form_with(trial.buffer(), makes)
        {
            self.set_form(form);
        }
    }

    /// The form in which a text has this hash.
    fn form_with(&self, text: &Text, hash: Option<FileHash>) -> Option<DiskForm> {
        let forms = [self.form, DiskForm { bom: !self.form.bom, ..self.form }];
        forms.into_iter().find(|form| Some(form.hash(text)) == hash)
    }

    /// Takes out of a file that is to be unmade all lines that have come into it since it was made.
    fn empty(&mut self, at: usize, request: &Request) -> Result<(), Undecided> {
        let Emptied { hunks, left } = self.may_be_emptied(at, request)?;
        if let Some((left, form)) = left {
            *self.weave() = left;
            self.set_form(form);
            self.text_changed();
            for id in hunks {
                self.note_switch(id, false);
                self.set_decision(id, Decision::Rejected, request.reason.clone());
            }
        }
        Ok(())
    }

    /// What goes with a file, if that may be.
    fn may_be_emptied(&mut self, at: usize, request: &Request) -> Result<Emptied, Undecided> {
        let on: Vec<HunkId> = {
            // Those before are of a file that was removed, and have to come back with it.
            let since =
                |id: &HunkId| matches!(self.owners.get(id.order()), Some(Some((edit, _))) if *edit >= at);
            let weave = self.weave.as_ref();
            weave.map_or_else(Vec::new, |weave| {
                weave.hunks().filter(|id| weave.in_buffer(*id) && since(id)).collect()
            })
        };
        let (own, edit) = (self.edits[at].id.clone(), self.edits[at].clone());
        let foreign: Vec<HunkRef> = on
            .iter()
            .filter_map(|id| self.owner_of(*id))
            .filter(|(other, _)| other.id != own && !other.same_turn(&edit))
            .map(|(other, hunk)| other.name_of(hunk))
            .collect();
        if !foreign.is_empty() && !request.with_others && !matches!(request.target, Target::All) {
            let names = foreign.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
            let words = format!(
                "{names} changed the file since it was made. Decide about {} with it, or leave this one for later.",
                if foreign.len() == 1 { "that one" } else { "those" }
            );
            return Err(Undecided { others: foreign, ..self.file_refused(at, Why::NeedsOthers, words) });
        }
        let mut trial = self.weave().clone();
        let emptied = trial.carry_out(&Plan::switch(&[], &on)).is_ok().then_some(trial);
        let below = edit.file.as_ref().and_then(|file| file.below);
        let (form, mine) = match emptied.as_ref().map(Weave::buffer) {
            Some(left) if left.is_empty() => (self.form, false),
            Some(left) => self.form_with(left, below).map_or((self.form, true), |form| (form, false)),
            None => (self.form, true),
        };
        let emptied = emptied.map(|emptied| (emptied, form));
        if mine && request.edited != Some(TakeOut::WithMyChanges) {
            let words = "You have written in the file since it was made: undoing that would remove your lines with it.";
            return Err(self.file_refused(at, Why::Edited, words.to_owned()));
        }
        Ok(Emptied { hunks: on, left: emptied })
    }

    /// A file that an editor has open is not removed or renamed under it, unless it does so itself.
    pub(crate) fn check_closed(&self, at: usize) -> Result<(), Undecided> {
        if !self.is_open() {
            return Ok(());
        }
        let words =
            "The file is open in the editor. Close it first, then decide about its removal or its new name.";
        Err(self.file_refused(at, Why::Open, words.to_owned()))
    }

    /// Does a file hunk for which the file is not as it was then: with the earlier ones that are to be done first, if they may be.
    fn accept_file_with(&mut self, at: usize, request: &Request) -> Result<(), Undecided> {
        let open = |file: &FileHunk| !file.done && file.decision != Decision::Withdrawn;
        let below = self.setting_the_same(at, 0..at, open);
        let mut trial = self.clone();
        if !below.iter().all(|other| {
            let change =
                trial.edits[*other].file.as_ref().map(|file| file.change.clone()).unwrap_or_default();
            let fits = trial.file.is(&change, false);
            trial.switch_file(*other, true);
            fits
        }) || !trial.edits[at].file.as_ref().is_some_and(|file| trial.file.is(&file.change, false))
        {
            let words = "The file is no longer as it was then: it was made, removed or renamed since. Reject the edit.";
            return Err(self.file_refused(at, Why::Collides, words.to_owned()));
        }
        let words =
            |names: &str| format!("{names} removed, made or renamed the file before it. Accept that first.");
        self.with_other_files(at, &below, request, words, Self::accept_file)
    }

    /// Undoes a file hunk for which the file is not as it left it: with the later ones that are to be undone first, if they may be.
    fn reject_file_with(&mut self, at: usize, request: &Request) -> Result<(), Undecided> {
        let mut above = self.setting_the_same(at, at + 1..self.edits.len(), |file| file.done);
        if above.is_empty() {
            let words = "The file was removed or renamed by something else since. Put it back, then decide.";
            return Err(self.file_refused(at, Why::Changed, words.to_owned()));
        }
        above.reverse();
        let words =
            |names: &str| format!("{names} removed, made or renamed the file after it. Reject that first.");
        self.with_other_files(at, &above, request, words, Self::reject_file)
    }

    /// The edits among these whose file hunks set what this one sets.
    fn setting_the_same(
        &self,
        at: usize,
        edits: Range<usize>,
        wanted: impl Fn(&FileHunk) -> bool,
    ) -> Vec<usize> {
        let change = self.edits[at].file.as_ref().map(|file| file.change.clone()).unwrap_or_default();
        let same = |file: &FileChange| {
            (file.exists.is_some() && change.exists.is_some())
                || (file.name.is_some() && change.name.is_some())
        };
        let sets =
            |at: &usize| self.edits[*at].file.as_ref().is_some_and(|file| wanted(file) && same(&file.change));
        edits.filter(sets).collect()
    }

    /// Decides about file hunks in this order, and then about this one: all of them or none.
    fn with_other_files(
        &mut self,
        at: usize,
        others: &[usize],
        request: &Request,
        words: impl Fn(&str) -> String,
        decide: impl Fn(&mut Self, usize, &Request) -> Result<(), Undecided>,
    ) -> Result<(), Undecided> {
        if !request.with_others {
            let others: Vec<HunkRef> = others.iter().map(|other| self.file_hunk_name(*other)).collect();
            let names = others.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
            return Err(Undecided { others, ..self.file_refused(at, Why::NeedsOthers, words(&names)) });
        }
        let mut trial = self.clone();
        for other in others.iter().chain([&at]) {
            decide(&mut trial, *other, request)?;
        }
        *self = trial;
        Ok(())
    }

    pub(crate) fn switch_file(&mut self, at: usize, on: bool) {
        let Some(hunk) = self.edits[at].file.as_mut() else { return };
        hunk.done = on;
        let change = hunk.change.clone();
        self.file.set(&change, on);
        let name = self.file_hunk_name(at);
        self.note_file_location(name, if on { Location::Disk } else { Location::None });
        self.news_of_edits();
    }

    pub(crate) fn set_file_decision(&mut self, at: usize, decision: Decision, reason: Option<String>) {
        let name = self.file_hunk_name(at);
        let Some(hunk) = self.edits[at].file.as_mut() else { return };
        if hunk.decision == decision && hunk.reason == reason {
            return;
        }
        hunk.decision = decision;
        hunk.reason.clone_from(&reason);
        self.note_decision(name, decision, reason);
        self.news.review = true;
        self.news.decided = true;
    }

    /// Decides again about a file hunk, where the file is as the decision wants it. True if the decision stands.
    pub(crate) fn decide_file_again(&mut self, at: usize, decided: &hashline_history::Decided) -> bool {
        let Some(file) = &self.edits[at].file else { return false };
        let stands = file.decision == decided.decision;
        let fits = match decided.decision {
            Decision::Undecided => true,
            Decision::Accepted => file.decision == Decision::Undecided && file.done,
            Decision::Rejected | Decision::Withdrawn => file.decision == Decision::Undecided && !file.done,
        };
        if !stands && fits {
            self.set_file_decision(at, decided.decision, decided.reason.clone());
        }
        stands || fits
    }

    pub(crate) fn file_hunk_name(&self, at: usize) -> HunkRef {
        HunkRef { edit: self.edits[at].id.clone(), number: 1 }
    }

    pub(crate) fn file_refused(&self, at: usize, why: Why, message: String) -> Undecided {
        Undecided { hunk: self.file_hunk_name(at).short(), why, message, others: Vec::new() }
    }
}
