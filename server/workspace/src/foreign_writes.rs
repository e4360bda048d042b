//! What other programs write to files that an editor has open (rule W23).
//!
//! An editor with unsaved work leaves its text alone when its file is written, and tells nobody: what was written would be overwritten with
//! the next save. So the files of open documents are looked at twice a second. What another program has written beside unsaved work is
//! held on it like an agent's edit. A text without unsaved work is its editor's to read again.
//!
//! # Limitations
//!
//! - What the file had is known from when it was opened or saved with the text of the editor; before that nothing is held, nor where the
//!   document was made anew of its record since.
//! - A program that puts back a text which the editor had a moment ago is taken for the editor, which saves such texts.
//! - What is held in the place of an earlier write is known to this process alone: after a restart both are pending.
//! - All of it is done by the thread that records.
//! - A program that writes a file in several steps, with pauses, is taken at its word after each; what was held of the step before is
//!   taken back.
//! - What git writes, and what is written to many open files at once, is taken over in silence: it stays on the disk alone, and the
//!   editor asks when it saves.

use std::sync::Arc;

use hashline_history::{Connection, Decision, EditId, Status, UnixMillis};
use hashline_text::DiskForm;
use hashline_weave::{Base, HunkId};

use crate::agent::new_edit_id;
use crate::disk::{FileBytes, Place, git_has_written, read, stamp};
use crate::document::{Document, Mode, Proposal, Written};
use crate::document_slot::{Slot, wall_clock};
use crate::record::Provisional;
use crate::refusal_messages::Refusal;
use crate::watched_file::{Expected, Held};
use crate::workspace::Workspace;

/// What its edits are called by in lists and histories.
const WRITER: &str = "file on disk";

/// How many files a person is to decide about that were written at once.
const MOST_AT_ONCE: usize = 20;

/// How a file is found.
enum Found {
    /// As it was.
    Same,
    /// Just written: it is looked at again when it is at rest.
    Unsettled,
    /// Written beside unsaved work.
    Written(Place, FileBytes),
}

impl Workspace {
    /// Looks at the files of all open documents, and holds what other programs have written beside unsaved work. True where some are to be
    /// looked at again soon. Blocks.
    pub(crate) fn look_for_foreign_writes(&self) -> bool {
        let mut soon = false;
        let mut written = Vec::new();
        for slot in self.slots() {
            match self.find_written(&slot) {
                Found::Same => {}
                Found::Unsettled => soon = true,
                Found::Written(place, file) => written.push((slot, place, file)),
            }
        }
        let many = written.len() > MOST_AT_ONCE;
        for (slot, place, file) in written {
            if self.take_written(&slot, &place, &file, many) {
                slot.watched().done = Some((file.stamp, None));
            }
        }
        soon
    }

    fn find_written(&self, slot: &Slot) -> Found {
        let Some(place) = slot.place().filter(|_| *slot.whole.borrow() && slot.whose().other().is_none())
        else {
            return Found::Same;
        };
        let (text, version) = {
            let document = slot.lock();
            let Some(version) = document.version() else { return Found::Same };
            (document.text().clone(), version)
        };
        let Ok(now) = stamp(&place) else { return Found::Same };
        if slot.watched().is_done(now, version) {
            return Found::Same;
        }
        if slot.watched().seen.replace(now) != Some(now) {
            return Found::Unsettled;
        }
        let Ok(file) = read(&place) else { return Found::Same };
        if file.stamp != now || !file.is_settled() {
            return Found::Unsettled;
        }
        let done = |version| slot.watched().done = Some((now, version));
        if text.is_served_from(&file.bytes) {
            slot.file_has(&text);
            done(None);
            return Found::Same;
        }
        if slot.has_expected(&file.bytes) {
            done(None);
            return Found::Same;
        }
        let shared = slot.shared_text();
        if shared.as_ref() == Some(&text) {
            done(Some(version));
            return Found::Same;
        }
        let known = slot.watched().known.clone();
        match known.or(shared) {
            Some(known) if !known.is_served_from(&file.bytes) => return Found::Written(place, file),
            _ => done(None),
        }
        Found::Same
    }

    /// Holds what was written to a file, or takes it over in silence. False where that is to be tried again with the next look.
    fn take_written(&self, slot: &Arc<Slot>, place: &Place, file: &FileBytes, many: bool) -> bool {
        let Some(by_git) = git_has_written(place, file) else { return false };
        if by_git || many {
            slot.share_with_file(None);
            return true;
        }
        self.hold_written(slot, place, file).unwrap_or_else(|why| {
            tracing::warn!("what was written to {} is not held: {why}", slot.key);
            slot.share_with_file(None);
            true
        })
    }

    /// Holds what was written to a file, in the place of what was held of it before. False where it is to be tried again.
    fn hold_written(&self, slot: &Arc<Slot>, place: &Place, file: &FileBytes) -> Result<bool, Refusal> {
        let Ok(_turn) = slot.queue.try_lock() else { return Ok(false) };
        let Ok(content) = std::str::from_utf8(&file.bytes) else { return Ok(true) };
        self.fall_behind(slot);
        self.bring_back_in_turn(slot);
        if !*slot.whole.borrow() || slot.lock().takes_edits().is_err() {
            return Ok(false);
        }
        let earlier = self.held_before(slot);
        let (base, mine) = {
            let mut document = slot.lock();
            let own = document.base();
            (earlier.as_ref().map(|earlier| earlier.before.clone()).or(own), document.text().clone())
        };
        let Some(base) = base else {
            tracing::info!("what was written to {} is not held: what the file had is not known", slot.key);
            slot.share_with_file(None);
            return Ok(true);
        };
        if stamp(place).ok() != Some(file.stamp) {
            // Its editor may have written it since.
            return Ok(false);
        }
        let form = DiskForm::behind(base.text(), &file.bytes);
        let written = Written::of(base.clone(), form, mine, content)?;
        let copy = slot.lock().clone();
        if !written.is_nothing() && copy.had(&written.text) {
            // It is what the editor has saved, and is about to say so.
            return Ok(true);
        }
        if let Some(Held { edit, before, .. }) = earlier {
            let mut document = slot.lock();
            document.withdraw(&edit);
            document.set_base(before);
        }
        slot.watched().held = None;
        let mut is_held = written.is_nothing();
        if !is_held {
            let proposal = self.written_by_another_program();
            if let Some((_, after)) = self.record_written(slot, &written, &proposal)? {
                slot.watched().held = Some(Held { edit: proposal.id, before: base, after });
                is_held = true;
            }
        }
        if is_held {
            slot.watched().known = Some(written.text);
        }
        self.attend(slot);
        Ok(is_held)
    }

    /// What is held of an earlier write, as long as nobody has decided about any of it or built on it, and what the file has is still that.
    fn held_before(&self, slot: &Slot) -> Option<Held> {
        let held = slot.watched().held.clone()?;
        let mut document = slot.lock();
        let is_base = document.base().is_some_and(|base| base.is_same_instance(&held.after));
        (is_base && document.is_untouched(&held.edit)).then_some(held)
    }

    /// Records what was made of what the file had and shows it: its hunks, and what the file has with all of them. None where the text has
    /// changed meanwhile, or it cannot be recorded now.
    pub(crate) fn record_written(
        &self,
        slot: &Arc<Slot>,
        written: &Written,
        proposal: &Proposal,
    ) -> Result<Option<(Vec<HunkId>, Base)>, Refusal> {
        let (proposed, after) = {
            let mut document = slot.lock();
            (document.propose_written(written)?, document.base())
        };
        let (Some(mut proposed), Some(after)) = (proposed, after) else { return Ok(None) };
        let provisional = Provisional { edit: proposed.new_edit(proposal), hunks: &proposed.hunks };
        let recorded = self.record(slot, Some(provisional));
        let mut document = slot.lock();
        match recorded {
            Ok(unfinished) => {
                document.publish(&mut proposed, proposal);
                drop(document);
                drop(unfinished);
                Ok(Some((proposed.hunks, after)))
            }
            Err(error) => {
                document.withdraw_provisional(&proposed);
                document.replace_base(&after, written.base());
                drop(document);
                // Where another process was quicker it comes back with what that did.
                self.bring_back_in_turn(slot);
                tracing::warn!("what was written to {} is tried again: {error}", slot.key);
                Ok(None)
            }
        }
    }

    fn written_by_another_program(&self) -> Proposal {
        let connection = Connection::from(WRITER);
        Proposal {
            id: new_edit_id(),
            made: Some(UnixMillis(wall_clock())),
            conversation: self.open_conversation(&connection),
            opens_conversation: true,
            agent: WRITER.into(),
            connection,
            tool: "write".to_owned(),
            reason: None,
            mode: Mode::Propose,
            strict: false,
        }
    }
}

impl Slot {
    /// Whether the file has what was expected to be written to it, which is what it has from now on.
    fn has_expected(&self, bytes: &[u8]) -> bool {
        let Some(Expected { before, after }) = self.watched().expected.clone() else { return false };
        if !after.text().is_served_from(bytes) || !self.lock().replace_base(&before, &after) {
            return false;
        }
        let mut watched = self.watched();
        watched.expected = None;
        watched.known = Some(after.text().clone());
        true
    }
}

impl Document {
    /// Whether nothing of an edit is decided or in the text, and no other builds on it.
    fn is_untouched(&mut self, id: &EditId) -> bool {
        let Some(edit) = self.edits().iter().find(|edit| edit.id == *id).cloned() else { return false };
        let undecided = edit.decisions().all(|(_, decision)| decision == Decision::Undecided);
        edit.status() == Status::Pending
            && undecided
            && edit.hunks.iter().all(|hunk| {
                let weave = self.weave();
                let rests = weave.dependents(hunk.id).iter().any(|other| !weave.is_refused(*other));
                !weave.in_buffer(hunk.id) && !rests && !self.is_deciding(hunk.id)
            })
    }
}
