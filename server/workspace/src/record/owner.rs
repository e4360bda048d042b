//! Which of several processes decides about the edits of a file (rule W19).
//!
//! Whoever has a file open claims its edits in the record, as soon as there are any, and gives the claim back when the file is closed. As
//! long as the one that claimed them runs and any of them is undecided or not saved, others show them and hand decisions over; they record
//! nothing about the file. A claim of a process that has ended is nobody's: who has the file open takes it over, with the edits as they were
//! recorded. Edits of a file that nobody has open are nobody's.

use std::path::Path;
use std::sync::Arc;

use hashline_history::{
    DocumentName, Draft, FileId, Glance, HunkRef, OwnerChange, Session, Store, StoreError, Subject,
};

use crate::disk::Place;
use crate::document::Document;
use crate::document_slot::Slot;
use crate::record::{Job, OtherEditor, Recorded, Whose, draft, name_in_record, uri_of};
use crate::workspace::{Others, Workspace, key_of};

impl Workspace {
    fn others(&self) -> Option<&Arc<dyn Others>> {
        self.inner.others.get()
    }

    /// What this process is called where it claims edits; none if it has no editor, or nobody else can be there.
    fn own_name(&self) -> Option<&str> {
        self.others()?.own_name()
    }

    /// Whether this process claims edits, and so has to notice when others do.
    pub(crate) fn is_one_of_several(&self) -> bool {
        self.own_name().is_some()
    }

    /// The other editor that has claimed the edits of a file and still runs. `owner_but` asks the record.
    fn other_of(
        &self,
        owner_but: impl FnOnce(&str) -> Result<Option<String>, StoreError>,
    ) -> Result<Option<OtherEditor>, StoreError> {
        let Some(others) = self.others() else { return Ok(None) };
        let Some(process) = owner_but(others.own_name().unwrap_or_default())? else { return Ok(None) };
        Ok(others.editor_of(&process).map(|name| OtherEditor { process, name }))
    }

    /// The other editor that has claimed the edits of a file and still runs.
    pub(crate) fn claimed_by_other(
        &self,
        store: &Store,
        name: &DocumentName,
    ) -> Result<Option<OtherEditor>, StoreError> {
        self.other_of(|own| store.owner_but(name, own))
    }

    /// Whether this process has claimed the edits of a document, and any is undecided or not saved: none is made in another editor.
    pub(crate) fn has_claimed(&self, slot: &Slot) -> bool {
        slot.recorded().latest.is_some() && slot.place().is_some_and(|place| self.has_claimed_at(&place))
    }

    /// The same of the file at a place, whatever is known of it.
    pub(crate) fn has_claimed_at(&self, place: &Place) -> bool {
        let (Some(own), Some(store)) = (self.own_name(), self.history_of(place)) else { return false };
        // What cannot be read now is found out by whoever has to write.
        store.is_claimed_by(&name_in_record(place), own).unwrap_or(false)
    }

    /// What has to be recorded of who decides, together with what is recorded of a document: of an open one that this process does.
    ///
    /// # Errors
    ///
    /// [`StoreError::Owned`]: another one does.
    pub(crate) fn claim(
        &self,
        session: &Session,
        slot: &Slot,
        place: &Place,
    ) -> Result<Option<OwnerChange>, StoreError> {
        let name = name_in_record(place);
        if let Some(other) = self.other_of(|own| Ok(session.owner_but(&name, own)))? {
            let editor = other.name.clone();
            slot.set_whose(Whose::Others(other));
            return Err(StoreError::Owned { document: name, editor });
        }
        let Some(own) = self.own_name().filter(|_| slot.lock().is_open()) else { return Ok(None) };
        Ok((!session.is_owner(&name, own)).then(|| OwnerChange::Claimed(own.to_owned())))
    }

    /// Other processes were quicker: what was only wanted here is not made, and what was decided is decided again in the document as they
    /// have left it; of an open one as soon as it is made anew of the record.
    pub(crate) fn give_way(
        &self,
        session: &mut Session,
        slot: &Slot,
        place: &Place,
        error: &StoreError,
    ) -> Result<(), StoreError> {
        let (dropped, open) = {
            let mut document = slot.lock();
            (document.was_not_recorded(), document.is_open())
        };
        if dropped {
            self.tell_not_made(slot, error);
        }
        if open {
            slot.whole.send_replace(false);
            return Ok(());
        }
        let past = session.document(&name_in_record(place))?;
        let mut document = Document::of_record(&uri_of(place), &past);
        let decisions = slot.lock().unrecorded_decisions();
        let left = match error {
            StoreError::Owned { .. } => decisions.into_iter().map(|decided| decided.hunk).collect(),
            _ => document.decide_again(&decisions),
        };
        if document.has_unrecorded() {
            let state = document.to_record(&[]);
            self.append_draft(session, &Draft { since: Some(past.sequence), ..draft(slot, place, &state) })?;
        }
        slot.lock().forget_unrecorded();
        // It is made anew of the file and the record when it is needed next.
        slot.forget_read();
        *slot.recorded() = Recorded::default();
        self.tell_decided_before(slot, &left);
        Ok(())
    }

    /// Tells the person of decisions that others were quicker with.
    pub(crate) fn tell_decided_before(&self, slot: &Slot, hunks: &[HunkRef]) {
        if hunks.is_empty() {
            return;
        }
        let names = hunks.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
        self.notice(format!(
            "Your decision about {names} in {} does not count: another process changed or decided this first. Look at its state now, and \
             decide again if you want something else.",
            slot.key
        ));
    }

    /// Lets an open document be made anew of the record where others have written about it, or its owner has ended. A system call where
    /// that is not so.
    pub(crate) fn fall_behind(&self, slot: &Slot) {
        let whose = slot.whose();
        if whose == Whose::Own || !self.is_one_of_several() || !slot.lock().is_open() {
            return;
        }
        let Some(place) = slot.place() else { return };
        if self.has_lost_owner(&whose) || self.record_is_ahead(slot, &place) {
            slot.whole.send_replace(false);
        }
    }

    fn has_lost_owner(&self, whose: &Whose) -> bool {
        let runs = |other: &OtherEditor| {
            self.others().is_some_and(|others| others.editor_of(&other.process).is_some())
        };
        whose.other().is_some_and(|other| !runs(other))
    }

    /// Shows a closed document as its record has it, as another editor has it open: what the file holds is no question then. False if
    /// no other editor has claimed it.
    pub(crate) fn show_as_recorded(&self, slot: &Slot, place: &Place) -> Result<bool, StoreError> {
        let Some(store) = self.history_of(place).filter(|_| self.others().is_some()) else {
            return Ok(false);
        };
        let glance = store.glance();
        let name = name_in_record(place);
        let Some(other) = self.claimed_by_other(&store, &name)? else {
            if slot.whose().other().is_some() {
                slot.set_whose(Whose::Anybodys);
                match store.latest(&name)? {
                    // It is for the file to tell now.
                    Some(_) => *slot.recorded() = Recorded::default(),
                    // The other one has taken back what it had written.
                    None => self.forget_past(slot, place, &store, glance),
                }
            }
            return Ok(false);
        };
        let latest = store.latest(&name)?;
        if let Some((file, _)) = latest {
            let past = store.file(file)?;
            let mut now = slot.lock();
            if now.may_be_made_anew() {
                let mut document = Document::of_record(&uri_of(place), &past);
                document.keep_told(&now);
                document.news_of_edits();
                *now = document;
                *slot.recorded() = Recorded::of(&store, latest, glance);
            }
        }
        slot.set_whose(Whose::Others(other));
        Ok(true)
    }

    /// Gives the claim to a file back that was closed. It ends with this process at the latest.
    pub(crate) fn give_back(&self, slot: &Slot, file: FileId) {
        if let Err(error) = self.release(slot, file) {
            tracing::debug!("the claim to {} was not given back: {error}", slot.key);
        }
    }

    /// Gives the claim to a file back, unless it is open: the document is closed. The file may have another name by now, and another file its name.
    fn release(&self, slot: &Slot, file: FileId) -> Result<(), StoreError> {
        let (Some(own), Some(place)) = (self.own_name(), slot.place()) else { return Ok(()) };
        let Some(store) = self.history_of(&place) else { return Ok(()) };
        let name = name_in_record(&place);
        let mut session = self.session(&store)?;
        if session.is_owner_of(file, own)
            && let Some(by_now) = session.name_of(file)
            && !self.has_open(file, &by_now)
        {
            let latest = slot.recorded().latest;
            let is_current = session.latest(&name) == latest;
            let (subject, owner) = (Subject::File(file), Some(OwnerChange::Released));
            let draft = Draft { file: subject, owner, ..Draft::about(by_now) };
            let appended = self.append_draft(&mut session, &draft)?;
            // Another one may be there by now.
            if latest.is_none_or(|(latest, _)| latest == file) {
                if is_current {
                    slot.recorded().latest = Some((appended.file, appended.sequence));
                }
                slot.set_whose(Whose::Anybodys);
            }
        }
        self.end_session(session);
        Ok(())
    }

    /// Whether the editor of this process has a file open, which has this name.
    fn has_open(&self, file: FileId, name: &DocumentName) -> bool {
        let slot = self.inner.slots.get(&key_of(name.as_path())).map(|slot| slot.value().clone());
        let is_it = |slot: &Slot| slot.recorded().latest.is_some_and(|(latest, _)| latest == file);
        slot.is_some_and(|slot| is_it(&slot) && slot.lock().is_open())
    }

    /// The documents about which others have recorded something since this was asked last, or whose owners have ended, and whether any
    /// history has got on.
    pub(crate) fn left_behind(&self) -> (Vec<Arc<Slot>>, bool) {
        let mut grown = self.histories_in_use();
        grown.retain(|store| self.has_grown(store));
        let is_behind = |slot: &Arc<Slot>| {
            let Some(place) = slot.place() else { return false };
            if self.has_lost_owner(&slot.whose()) {
                return true;
            }
            let Some(store) = self.history_of(&place) else { return false };
            grown.iter().any(|grown| grown.folder() == store.folder()) && self.has_later(slot, &place, &store)
        };
        let behind = self.slots().into_iter().filter(is_behind).collect();
        (behind, !grown.is_empty())
    }

    /// Brings a document to its record if others have recorded something about it. False if they have not.
    pub(crate) async fn catch_up(&self, slot: &Arc<Slot>) -> bool {
        let (workspace, looked) = (self.clone(), slot.clone());
        let is_behind = tokio::task::spawn_blocking(move || workspace.is_left_behind(&looked)).await;
        if !is_behind.unwrap_or(false) {
            return false;
        }
        slot.whole.send_replace(false);
        self.later(Job::Opened(slot.clone()));
        slot.wait_until_ready().await;
        true
    }

    /// Whether others have recorded something about a document that this process does not know yet.
    fn is_left_behind(&self, slot: &Slot) -> bool {
        let Some(place) = slot.place() else { return false };
        self.history_of(&place).is_some_and(|store| self.has_later(slot, &place, &store))
    }

    fn has_later(&self, slot: &Slot, place: &Place, store: &Store) -> bool {
        match slot.whose() {
            Whose::Own => self.others_went_on(slot, place, store) && !slot.lock().has_unrecorded(),
            Whose::Anybodys | Whose::Others(_) => self.record_is_ahead(slot, place),
        }
    }

    /// Whether others have gone on with what this process had claimed: it was decided and saved.
    fn others_went_on(&self, slot: &Slot, place: &Place, store: &Store) -> bool {
        let name = name_in_record(place);
        let known = slot.recorded().latest;
        let latest = store.latest(&name).unwrap_or(known);
        let is_later = known.zip(latest).is_some_and(|(known, now)| known.0 == now.0 && known.1 < now.1);
        is_later || self.claimed_by_other(store, &name).is_ok_and(|other| other.is_some())
    }

    fn has_grown(&self, store: &Store) -> bool {
        let glance: Option<Glance> = store.glance();
        let watched = &self.inner.histories.watched;
        match glance {
            Some(glance) => watched.insert(store.folder().to_owned(), glance) != Some(glance),
            None => false,
        }
    }

    /// Whether another process tells agents of the edits of a document.
    pub(crate) fn is_told_elsewhere(&self, slot: &Slot) -> bool {
        let answered = |path: &Path| self.others().is_some_and(|others| others.answer_for(path));
        slot.whose().other().is_some()
            || !slot.lock().is_open() && slot.place().is_some_and(|place| answered(place.absolute()))
    }
}
