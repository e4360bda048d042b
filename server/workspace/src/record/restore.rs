//! Documents as their record and their text make them (rules W16, W17).

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use hashline_history::{
    Decision, Document as Past, DocumentName, FileId, Glance, HunkRef, Location, RecordedState, Sequence,
    Session, Store, StoreError,
};
use hashline_text::{DiskForm, FileHash, Text};
use url::Url;

use crate::disk::{Place, read};
use crate::document::{Document, Earlier, Millis, Target};
use crate::document_slot::Slot;
use crate::record::Recorded;
use crate::record::append::is_beaten;
use crate::record::{Whose, name_in_record};
use crate::refusal_messages::Refusal;
use crate::workspace::{Found, Workspace, key_of};

/// How a file and its record are looked at.
pub(crate) enum Look<'a> {
    /// In passing, while others may write both.
    Glance,
    /// With the history taken, so that nobody does.
    Taken(&'a mut Session),
    /// As they are, as the history cannot be taken.
    AsItSeems,
}

impl Workspace {
    /// Whether the record of a document has got ahead of what this process knows of it. A system call where it has not.
    pub(crate) fn record_is_ahead(&self, slot: &Slot, place: &Place) -> bool {
        let Some(store) = self.history_of(place) else { return false };
        let known = *slot.recorded();
        let glance = store.glance();
        if glance == known.glance {
            return false;
        }
        // What cannot be read now is found out by whoever has to write.
        let latest = store.latest(&name_in_record(place)).unwrap_or(known.latest);
        let is_ahead = !known.is_current(&store, latest);
        if !is_ahead {
            slot.recorded().glance = glance;
        }
        is_ahead
    }

    /// Brings a document that no editor has open to its file's text, and to its record. False if the two do not go together and only a
    /// look was wanted: another process may be just writing them, so it has to be looked again with the history taken.
    ///
    /// # Errors
    ///
    /// The record cannot be written or read. The document has the text then, and the edits that were known.
    pub(crate) fn bring_up(
        &self,
        slot: &Slot,
        place: &Place,
        (text, form): (&Text, DiskForm),
        how: Look<'_>,
    ) -> Result<bool, StoreError> {
        let brought = self.remake(slot, place, text, form, how);
        if matches!(brought, Ok(false)) {
            return brought;
        }
        let mut document = slot.lock();
        if document.may_be_made_anew() {
            if document.text() != text {
                document.found(text, &Earlier::default(), Location::Disk, self.now());
            }
            document.set_form(form);
        }
        brought
    }

    /// Brings a document to its record where its file holds no text, or is not there. False as for [`bring_up`](Self::bring_up).
    pub(crate) fn bring_up_file(
        &self,
        slot: &Slot,
        place: &Place,
        how: &Look<'_>,
    ) -> Result<bool, StoreError> {
        let Some(store) = self.history_of(place) else { return Ok(true) };
        let glance = store.glance();
        let latest = store.latest(&name_in_record(place))?;
        let is_known = slot.recorded().is_current(&store, latest);
        if is_known {
            return Ok(true);
        }
        let Some((file, _)) = latest else {
            if slot.recorded().latest.is_some() {
                self.forget_past(slot, place, &store, glance);
            }
            return Ok(true);
        };
        if matches!(how, Look::Glance) {
            return Ok(false);
        }
        let past = store.file(file)?;
        let mut document = Document::of_record(&uri_of(place), &past);
        let mut now = slot.lock();
        if now.may_be_made_anew() {
            document.keep_told(&now);
            document.news_of_edits();
            *now = document;
            *slot.recorded() = Recorded::of(&store, latest, glance);
        }
        Ok(true)
    }

    /// Makes a closed document anew of nothing: what was recorded of it was cleaned up, or it has another name by now.
    pub(crate) fn forget_past(&self, slot: &Slot, place: &Place, store: &Store, glance: Option<Glance>) {
        let mut document = Document::missing(&uri_of(place), name_in_record(place));
        let mut now = slot.lock();
        if now.may_be_made_anew() {
            document.keep_told(&now);
            document.news_of_edits();
            *now = document;
            *slot.recorded() = Recorded::of(store, None, glance);
        }
    }

    /// Makes a closed document anew of its record and its text, if the two say more than is known.
    fn remake(
        &self,
        slot: &Slot,
        place: &Place,
        text: &Text,
        form: DiskForm,
        how: Look<'_>,
    ) -> Result<bool, StoreError> {
        let Some(store) = self.history_of(place) else { return Ok(true) };
        let mut glance = store.glance();
        let mut latest = store.latest(&name_in_record(place))?;
        let known = *slot.recorded();
        let (stays, same, unrecorded) = {
            let document = slot.lock();
            (!document.may_be_made_anew(), document.text() == text, document.has_unrecorded())
        };
        if stays || (known.is_current(&store, latest) && (same || latest.is_none())) {
            slot.recorded().glance = glance;
            return Ok(true);
        }
        let is_look = matches!(how, Look::Glance);
        if unrecorded {
            // What this process knows goes in first, else it would be forgotten.
            match how {
                Look::Taken(session) => match self.record_in(session, slot, place, None) {
                    Err(error) if !is_beaten(&error) => return Err(error),
                    _ => {}
                },
                Look::Glance | Look::AsItSeems => drop(self.record(slot, None)?),
            }
            // Of a file that goes on under another name nothing was recorded under that until now.
            glance = store.glance();
            latest = store.latest(&name_in_record(place))?;
        }
        let Some((file, _)) = latest else {
            self.forget_past(slot, place, &store, glance);
            return Ok(true);
        };
        let past = store.file(file)?;
        if is_look && past.weave().is_none_or(|weave| weave.buffer() != text) {
            return Ok(false);
        }
        let (mut document, latest) =
            remembered(&store, &past, place, (text, form), Location::Disk, self.now())?;
        let mut now = slot.lock();
        if now.may_be_made_anew() {
            document.keep_told(&now);
            document.news_of_edits();
            *now = document;
            *slot.recorded() = Recorded::of(&store, Some(latest), glance);
        }
        Ok(true)
    }

    /// An editor has opened a document: its edits come back, and agents may go on. False if it is not its turn: an edit or a decision that
    /// was under way comes first.
    pub(crate) fn bring_back(&self, slot: &Arc<Slot>) -> bool {
        let Ok(_turn) = slot.queue.try_lock() else { return false };
        self.bring_back_in_turn(slot);
        self.attend(slot);
        true
    }

    /// The same for whoever has the turn.
    pub(crate) fn bring_back_in_turn(&self, slot: &Slot) {
        if *slot.whole.borrow() {
            return;
        }
        let anew = slot.anew.swap(false, Ordering::Relaxed);
        if let Err(error) = self.try_bring_back(slot, anew) {
            if slot.lock().has_fixed() {
                // It comes back from the record when that has what happened before: the recorder tries again, and agents wait.
                slot.anew.fetch_or(anew, Ordering::Relaxed);
                tracing::debug!("the edits of {} wait for the record: {error}", slot.key);
                return;
            }
            self.notice(format!(
                "The edits that were recorded of {} cannot be shown: {error}. The text is as it was opened.",
                slot.key
            ));
        }
        slot.ready();
    }

    /// Brings its edits back. `anew`: whatever is known of the record.
    fn try_bring_back(&self, slot: &Slot, anew: bool) -> Result<(), StoreError> {
        let Some(place) = slot.place() else { return Ok(()) };
        let Some(store) = self.history_of(&place) else { return Ok(()) };
        if slot.lock().has_fixed() {
            drop(self.record(slot, None)?);
        }
        if store.latest(&name_in_record(&place))?.is_none() {
            if self.was_taken_back(slot, &store) {
                self.forget_past_of_open(slot, &place);
            }
            return Ok(());
        }
        // With the history taken nobody is in the middle of recording something of it: a decision of this process neither, which need not
        // wait for its turn. And what became of a file that a process has ended in the middle of writing is recorded then.
        let taken = self.session(&store);
        let brought = self.bring_back_of_record(slot, &place, &store, anew);
        if let Ok(session) = taken {
            self.end_session(session);
        }
        brought?;
        if slot.whose() == Whose::Anybodys && slot.lock().has_something_to_decide() {
            // With it goes the claim.
            drop(self.record(slot, None)?);
        }
        Ok(())
    }

    /// The same of what is recorded.
    fn bring_back_of_record(
        &self,
        slot: &Slot,
        place: &Place,
        store: &Store,
        anew: bool,
    ) -> Result<(), StoreError> {
        let name = name_in_record(place);
        let other = self.claimed_by_other(store, &name)?;
        let latest = store.latest(&name)?;
        let Some((file, _)) = latest else { return Ok(()) };
        let is_known = slot.recorded().is_current(store, latest);
        if !is_known || anew || slot.whose().other().is_some() {
            let made = self.make_of_record(slot, place, store, file, other.is_some());
            if matches!(made, Err(StoreError::Broken { .. })) {
                // What cannot be read is not gone on from.
                *slot.recorded() = Recorded::default();
            }
            made?;
        }
        slot.set_whose(other.map_or(Whose::Anybodys, Whose::Others));
        Ok(())
    }

    /// Whether all that was recorded of a file was taken back by the process that had written it: it could not be made durable.
    fn was_taken_back(&self, slot: &Slot, store: &Store) -> bool {
        let known = *slot.recorded();
        let Some((file, _)) = known.latest else { return false };
        known.generation == store.generation() && matches!(store.file(file), Err(StoreError::Unknown(_)))
    }

    /// Makes an open document anew of its text alone.
    fn forget_past_of_open(&self, slot: &Slot, place: &Place) {
        let mut now = slot.lock();
        if now.is_open() {
            let mut document = Document::on_disk(&uri_of(place), now.text().clone(), now.form());
            let left = document.take_place_of(&mut now, false, self.now());
            document.news_of_edits();
            *now = document;
            *slot.recorded() = Recorded::default();
            drop(now);
            slot.set_whose(Whose::Anybodys);
            self.tell_decided_before(slot, &left);
        }
    }

    /// Makes an open document of its record and its text. `elsewhere`: another editor decides about its edits.
    fn make_of_record(
        &self,
        slot: &Slot,
        place: &Place,
        store: &Store,
        file: FileId,
        elsewhere: bool,
    ) -> Result<(), StoreError> {
        self.look_behind(slot);
        let (opened, form) = {
            let document = slot.lock();
            (slot.found().unwrap_or_else(|| document.text().clone()), document.form())
        };
        let past = store.file(file)?;
        let (mut document, latest) = if elsewhere {
            placed(store, &past, place, (&opened, form))?
        } else {
            let saved = read(place).is_ok_and(|bytes| opened.is_served_from(&bytes.bytes));
            let is_in = if saved { Location::Disk } else { Location::Buffer };
            remembered(store, &past, place, (&opened, form), is_in, self.now())?
        };
        let mut now = slot.lock();
        if slot.anew.load(Ordering::Relaxed) {
            // Another text was found meanwhile: the record has to have this one before.
            return Ok(());
        }
        let mut left = Vec::new();
        let is_open = now.is_open();
        if is_open || now.may_be_made_anew() {
            if is_open {
                left = document.take_place_of(&mut now, elsewhere, self.now());
            } else {
                // It was closed meanwhile: what its last text says of its edits is to be no guess either.
                document.keep_told(&now);
                document.typed_since(now.text());
            }
            document.news_of_edits();
            *now = document;
            *slot.recorded() = Recorded::of(store, Some(latest), None);
            slot.guessed.store(false, Ordering::Relaxed);
        }
        drop(now);
        self.tell_decided_before(slot, &left);
        Ok(())
    }

    /// The file of a document that was not opened again has the last word (rule W16). Others may decide about its edits from then on.
    /// False if it is not its turn.
    pub(crate) fn settle_closed(&self, slot: &Arc<Slot>) -> bool {
        let Some(place) = slot.place() else { return true };
        if !self.inner.slots.get(&slot.key).is_some_and(|served| Arc::ptr_eq(&served, slot)) {
            // Its editor has renamed it: the file that has its name by now is another document's.
            return true;
        }
        let Ok(turn) = slot.queue.try_lock() else { return false };
        slot.awaited.store(false, Ordering::Relaxed);
        if slot.lock().is_open() || (slot.lock().edits().is_empty() && !self.record_is_ahead(slot, &place)) {
            return true;
        }
        // As long as its name leads to it.
        let file = slot.recorded().latest.map(|(file, _)| file);
        if let Err(refusal) = self.read_now(slot, &place) {
            tracing::debug!("{} was not looked at after it was closed: {refusal}", slot.key);
        }
        // It may have been claimed while it was being closed, or known as nobody's when it was opened: the record knows.
        if slot.whose().other().is_none()
            && let Some(file) = file
        {
            self.give_back(slot, file);
        }
        self.attend(slot);
        drop(turn);
        self.look_whether_done(slot, false);
        true
    }

    /// Whether the text of a document with edits has changed since it was recorded.
    pub(crate) fn has_more_than_recorded(&self, slot: &Slot) -> bool {
        let mut document = slot.lock();
        let recorded = slot.recorded();
        document.has_unrecorded()
            || (recorded.latest.is_some() && document.weave().revision() != recorded.revision)
    }

    /// Brings what is known of files that nobody has open to their record: others may have decided. The edits with these ids, or beginnings
    /// of them, are known afterwards, whatever was decided about them.
    pub(crate) fn bring_all_up(&self, named: &[String]) {
        self.offer_recorded();
        for id in named {
            self.load_recorded(&Target::Edit(id.clone()));
        }
        let _all = self.inner.histories.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
        for slot in self.slots() {
            let Some(place) = slot.place().filter(|_| !slot.lock().is_open()) else { continue };
            if self.record_is_ahead(&slot, &place)
                && let Err(refusal) = self.read_now(&slot, &place)
            {
                tracing::debug!("{} is told of as it was: {refusal}", slot.key);
            }
        }
    }

    /// Offers the undecided edits of files that nobody has opened.
    pub(crate) fn offer_recorded(&self) {
        let _all = self.inner.histories.offering.lock().unwrap_or_else(PoisonError::into_inner);
        for store in self.histories_in_use() {
            let Some(glance) = store.glance() else { continue };
            if self.inner.histories.offered.insert(store.folder().to_owned(), glance) == Some(glance) {
                continue;
            }
            self.tell_foreign(&store);
            self.tell_damage(&store);
            if store.is_behind().unwrap_or(false)
                && let Ok(session) = self.session(&store)
            {
                // A process has ended in the middle of writing: readers of the logs are not to wait for the next edit.
                self.end_session(session);
            }
            let documents = match store.documents() {
                Ok(documents) => documents,
                Err(error) => {
                    self.notice(format!("The recorded edits cannot be shown: {error}."));
                    continue;
                }
            };
            // What was decided and did not reach the file is undecided, though the record cannot say so by itself (rule W16).
            let mut left = false;
            for summary in documents.into_iter().filter(|summary| summary.pending > 0 || summary.unsaved) {
                left |= !self.load_named(&summary.name);
            }
            if left {
                // That process may end, and what cannot be read may be readable then: they are to be offered here.
                self.inner.histories.offered.remove(store.folder());
            }
        }
    }

    /// Loads the documents that a decision is about, as far as they are in the histories of the roots. Returns the edits.
    pub(crate) fn load_recorded(&self, target: &Target) -> Vec<hashline_history::Found> {
        let mut all = Vec::new();
        for store in self.histories_in_use() {
            let found = match target {
                Target::Hunk(hunk) => store.find(hunk.edit.as_str()),
                Target::Edit(id) => store.find(id),
                Target::Conversation(id) | Target::Whole(id) => store.conversation(id),
                Target::Lines(_) | Target::All => return all,
            };
            match found {
                Ok(found) => {
                    for found in &found {
                        self.load_named(&found.document);
                    }
                    all.extend(found);
                }
                Err(error) => self.notice(format!("The recorded edits cannot be read: {error}.")),
            }
        }
        all
    }

    /// The document at a path, as it is now, whatever it holds; none if it is not served.
    pub(crate) fn slot_at(&self, path: &Path) -> Result<Option<Arc<Slot>>, Refusal> {
        let Some(place) = self.read_roots().identify(path) else { return Ok(None) };
        let key = key_of(place.absolute());
        let slot = self.inner.slots.get(&key).map(|slot| slot.clone());
        match self.load(&Found { key: key.clone(), slot, place: Some(place.clone()) }) {
            // Its lines cannot be decided about, but what becomes of the file can.
            Err(Refusal::NotText { .. }) => {
                let slot = self.inner.slots.get(&key).map(|slot| slot.clone());
                self.load_file(&Found { key, slot, place: Some(place.clone()) }, &place).map(Some)
            }
            loaded => loaded.map(Some),
        }
    }

    /// Loads a document that the record names, if it is not there yet. False if it is left to another process, or cannot be read now.
    fn load_named(&self, name: &DocumentName) -> bool {
        let place = self.read_roots().identify(name.as_path()).filter(|place| !place.is_blocked());
        let Some(place) = place else { return true };
        let key = key_of(place.absolute());
        if self.inner.slots.contains_key(&key) {
            return true;
        }
        // What another process has open is not what its file says. Of several with an editor each sees who has claimed what.
        if !self.is_one_of_several()
            && self.inner.others.get().is_some_and(|others| others.may_have(place.absolute()))
        {
            return false;
        }
        let found = Found { key, slot: None, place: Some(place.clone()) };
        match self.load_file(&found, &place) {
            Ok(slot) => {
                slot.lock().news_of_edits();
                self.attend(&slot);
                // It may be as proposed already: whoever did it ended before it could say so.
                self.look_whether_done(&slot, false);
                true
            }
            Err(refusal) => {
                tracing::debug!("{name} is not loaded: {refusal}");
                false
            }
        }
    }

    /// Keeps a copy of a text that is about to be given up, and says where it is; none of a text without a history.
    pub(crate) fn keep_copy(&self, slot: &Slot, bytes: &[u8]) -> Result<Option<PathBuf>, StoreError> {
        let Some(place) = slot.place() else { return Ok(None) };
        let Some(store) = self.history_of(&place) else { return Ok(None) };
        store.keep_copy(&name_in_record(&place), bytes).map(Some)
    }
}

/// A document as its record has it, over the text that an editor has while another one decides about its edits.
fn placed(
    store: &Store,
    past: &Past,
    place: &Place,
    (text, form): (&Text, DiskForm),
) -> Result<(Document, (FileId, Sequence)), StoreError> {
    let mut document = Document::of_record(&uri_of(place), past);
    document.set_form(form);
    document.placed_on(text, &earlier(store, past, text, form.hash(text), Location::Buffer)?);
    Ok((document, (past.file, past.sequence)))
}

/// A document as its record and its text make it, the last that was recorded of it, and whether its text is the recorded one.
fn remembered(
    store: &Store,
    past: &Past,
    place: &Place,
    (text, form): (&Text, DiskForm),
    is_in: Location,
    now: Millis,
) -> Result<(Document, (FileId, Sequence)), StoreError> {
    let mut document = Document::of_record(&uri_of(place), past);
    document.set_form(form);
    let hash = form.hash(text);
    document.found(text, &earlier(store, past, text, hash, is_in)?, is_in, now);
    let is_known = past.recorded(&hash).is_some();
    if is_in == Location::Disk && is_known && past.saved.is_some_and(|saved| saved != hash) {
        // Whoever saved it was ended before that was recorded. A text that is in no record would be no state to go back to.
        document.note_saved(hash);
    }
    Ok((document, (past.file, past.sequence)))
}

/// The states of a document that a text may be: the recorded one that reads like it, and the one that was on the disk last.
fn earlier(
    store: &Store,
    past: &Past,
    text: &Text,
    hash: FileHash,
    is_in: Location,
) -> Result<Earlier, StoreError> {
    // A replay takes its time, so each state is asked for once.
    let as_of = |state: RecordedState| {
        if state.sequence == past.sequence {
            return Ok(Some(past.clone()));
        }
        match store.file_as_of(past.file, state.sequence) {
            Ok(then) => Ok(Some(then)),
            // What was cleaned up is not gone back to.
            Err(StoreError::Forgotten { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let same = past.recorded(&hash);
    let saved = past.saved.and_then(|saved| past.recorded(&saved));
    let then = same.map(as_of).transpose()?.flatten();
    let saved = match saved {
        Some(saved) if same.is_some_and(|same| same.sequence == saved.sequence) => then.clone(),
        other => other.map(as_of).transpose()?.flatten(),
    };
    let same = then.filter(|then| then.weave().is_some_and(|weave| weave.buffer() == text));
    // Where it was asked again, what is recorded last is what the file holds.
    let mut states = past.states.iter().rev().skip_while(|state| past.saved == Some(state.hash));
    let unsaved = states.next().filter(|state| state.of == Location::Buffer);
    let edited = match unsaved.filter(|_| same.is_none() && is_in == Location::Buffer) {
        Some(unsaved) => as_of(*unsaved)?,
        None => None,
    };
    Ok(Earlier {
        accepted: same.iter().chain(&edited).flat_map(accepted).collect(),
        edited: edited.and_then(|then| then.weave().cloned()),
        same: same.and_then(|then| then.weave().cloned()),
        saved: saved.and_then(|then| then.weave().cloned()),
    })
}

/// The hunks that are accepted.
fn accepted(past: &Past) -> Vec<HunkRef> {
    let hunks = past.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
    let accepted = hunks.filter(|(_, hunk)| hunk.decision == Decision::Accepted);
    accepted.map(|(edit, hunk)| HunkRef { edit: edit.made.id.clone(), number: hunk.number }).collect()
}

pub(crate) fn uri_of(place: &Place) -> String {
    Url::from_file_path(place.absolute()).map_or_else(|()| key_of(place.absolute()), Into::into)
}
