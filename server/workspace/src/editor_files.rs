//! Files that are renamed or removed through the editor that has them open.
//!
//! The editor is asked, and only the disk tells whether it did so. It is looked at when the editor answers, closes the document or opens
//! one of the new name, before a decision changes files on the disk, and a last time when it has had enough time. A document that was
//! renamed goes on under its new name with all that is known of it: if the editor has it open there already, that is where its text is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashline_history::{DocumentName, HunkRef};

use crate::disk::{DiskError, FileBytes, Place, make_room, read, stamp};
use crate::document::{
    Document, FileAnswer, FileDelivery, FileOperation, FileOperations, Home, Looked, Request, Target,
    Undecided,
};
use crate::document_slot::Slot;
use crate::record::{Job, Recorded, name_in_record, uri_of};
use crate::workspace::{Event, Workspace, key_of};

impl Workspace {
    /// Says what the editor does with files when it is asked.
    pub fn set_file_operations(&self, operations: FileOperations) {
        *self.inner.file_operations.write().unwrap_or_else(std::sync::PoisonError::into_inner) = operations;
    }

    fn file_operations(&self) -> FileOperations {
        *self.inner.file_operations.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Finds out what has to be known of the file of an open document before a decision about it is made. Blocks as long as the disk
    /// does.
    ///
    /// # Errors
    ///
    /// Why the decision cannot be made.
    pub(crate) fn look_at_file(&self, slot: &Slot, request: &Request) -> Result<(), Undecided> {
        let Some(place) = slot.place() else { return Ok(()) };
        let (operations, version, text) = {
            let document = slot.lock();
            let Some(version) = document.version() else { return Ok(()) };
            (document.operations_for(request), version, document.text().clone())
        };
        let editor = self.file_operations();
        for operation in &operations {
            if let FileOperation::Rename(to) = operation
                && editor.renames
                && *to != name_in_record(&place)
            {
                self.make_way(to).map_err(|error| Document::not_decided(&request.target, error))?;
            }
        }
        let stored = read(&place).ok();
        let saved = stored.as_ref().is_some_and(|stored| text.is_served_from(&stored.bytes));
        let mut document = slot.lock();
        document.set_file(stored.is_some(), name_in_record(&place), stored.and_then(|stored| stored.mode));
        document.look(Looked { version, saved, editor });
        Ok(())
    }

    /// Finds out for a copy of an open document what [`look_at_file`](Self::look_at_file) finds out for the document itself, but for who
    /// has the names that its file is to have. `stored`: what the file holds. Blocks as long as the disk does.
    ///
    /// # Errors
    ///
    /// Why the decision cannot be made.
    pub(crate) fn look_in_copy(
        &self,
        copy: &mut Document,
        stored: Option<&FileBytes>,
        request: &Request,
    ) -> Result<(), Undecided> {
        let Some(version) = copy.version() else { return Ok(()) };
        let operations = copy.operations_for(request);
        if operations.is_empty() {
            return Ok(());
        }
        let editor = self.file_operations();
        let refused = |error| Document::not_decided(&request.target, error);
        if copy.is_delivering() {
            return Err(refused(LINES_BEFORE.to_owned()));
        }
        for operation in &operations {
            if let FileOperation::Rename(to) = operation {
                self.served(to).map_err(refused)?;
            }
        }
        let saved = stored.is_some_and(|stored| copy.text().is_served_from(&stored.bytes));
        copy.look(Looked { version, saved, editor });
        Ok(())
    }

    /// The place of a name that a file is to have.
    fn served(&self, name: &DocumentName) -> Result<Place, String> {
        let place = self.read_roots().identify(name.as_path());
        let place = place.ok_or_else(|| {
            format!("{name} does not lie in a folder that is served. Open its folder first.")
        })?;
        place.check_write().map_err(|error| error.to_string())?;
        Ok(place)
    }

    /// Sees to it that a file can be renamed to a name.
    fn make_way(&self, name: &DocumentName) -> Result<(), String> {
        let place = self.served(name)?;
        let open = self.inner.slots.get(&key_of(place.absolute())).is_some_and(|slot| slot.lock().is_open());
        let there = || format!("{name} is there already. Rename or remove it first, then decide again.");
        // A folder may have nothing in it.
        if open || !is_missing(&place) && !place.absolute().is_dir() {
            return Err(there());
        }
        make_room(&place).map_err(|error| error.to_string())?;
        if is_missing(&place) { Ok(()) } else { Err(there()) }
    }

    /// What the editor is to do now with the file of a document, if anything.
    #[must_use]
    pub fn poll_file(&self, uri: &str) -> Option<FileDelivery> {
        let slot = self.open_slot(uri)?;
        let delivery = slot.lock().poll_file();
        if let Some(delivery) = &delivery {
            self.later(Job::Asked(slot.clone(), delivery.number));
        }
        self.attend(&slot);
        delivery
    }

    /// The editor has answered a file operation, or never will. It may have closed the document meanwhile.
    pub fn answered_file(&self, delivery: &FileDelivery, answer: FileAnswer) {
        let asked = |slot: &Arc<Slot>| slot.lock().has_asked(delivery);
        let Some(slot) = self.slots().into_iter().find(asked) else { return };
        self.later(Job::Answered(slot, delivery.number, answer));
    }

    /// Looks whether the disk shows what an editor was asked to do with a file, or what is proposed to be done with a file that nobody has
    /// open. `last`: the editor has had its time, and may keep the document open. True if nothing has to be waited for.
    pub(crate) fn look_whether_done(&self, slot: &Arc<Slot>, last: bool) -> bool {
        let Some(place) = slot.place() else { return true };
        let copy = slot.lock().clone();
        let Some((operation, was_asked)) = copy.may_be_done() else { return true };
        let seen = (operation.clone(), was_asked);
        let waits = copy.is_open() && !(last && was_asked);
        if waits || !is_missing(&place) {
            return false;
        }
        match operation {
            FileOperation::Remove => {
                {
                    let mut document = slot.lock();
                    // Another thread may have looked as well.
                    if document.may_be_done().as_ref() != Some(&seen) {
                        return true;
                    }
                    document.was_done();
                }
                slot.forget_read();
                self.attend(slot);
            }
            FileOperation::Rename(to) => {
                let Some(there) = self.read_roots().identify(to.as_path()) else { return true };
                let Ok(file) = read(&there) else { return false };
                // Of what nobody was asked for only the very file will do.
                let same = || match copy.bytes() {
                    Some(bytes) => **bytes == *file.bytes,
                    None => file.bytes == copy.form().to_bytes(copy.text()),
                };
                if was_asked || same() {
                    return self.go_on_under(slot, &seen, &there, &file);
                }
            }
        }
        true
    }

    /// Checks what editors did with files that they have closed, before a decision can give such a name to another file: afterwards the
    /// disk would not show it. Blocks.
    pub(crate) fn note_what_editors_did(&self) {
        let is_to_be_looked_at = |slot: &Arc<Slot>| {
            let document = slot.lock();
            !document.is_open() && document.is_asking()
        };
        for slot in self.slots().iter().filter(|slot| is_to_be_looked_at(slot)) {
            // What goes on under another name is recorded there.
            if self.look_whether_done(slot, false)
                && slot.lock().has_unrecorded()
                && let Err(error) = self.record(slot, None)
            {
                tracing::debug!("what became of {} is not recorded yet: {error}", slot.key);
            }
        }
    }

    /// A document has another name on the disk: it goes on under that, if what was `seen` there is still to be noted. False if it is not its
    /// turn.
    fn go_on_under(
        &self,
        slot: &Arc<Slot>,
        seen: &(FileOperation, bool),
        place: &Place,
        file: &FileBytes,
    ) -> bool {
        let (key, now) = (key_of(place.absolute()), self.now());
        // Agents wait meanwhile; what they are at under the old name is done first.
        let Ok(_turn) = slot.queue.try_lock() else { return false };
        if slot.lock().may_be_done().as_ref() != Some(seen) {
            return true;
        }
        // Nobody finds it decided and under neither name.
        slot.awaited.store(true, Ordering::Relaxed);
        let (old_uri, mut document) = {
            let mut document = slot.lock();
            document.was_done();
            (document.uri().to_owned(), document.clone())
        };
        let was = *slot.recorded();
        document.close(now);
        document.set_uri(&uri_of(place));
        document.set_file(true, name_in_record(place), file.mode);
        // The editor may open it there at this moment: then it finds the slot, and the document in it or not yet.
        let fresh = || {
            let nothing = Document::missing(&uri_of(place), name_in_record(place));
            Arc::new(Slot::new(key.clone(), nothing, Some(place.clone())))
        };
        let slot_there = self.inner.slots.entry(key.clone()).or_insert_with(fresh).value().clone();
        {
            let mut there = slot_there.lock();
            if there.is_open() {
                document.keep_told(&there);
                document.follow_home(&there, now);
                // What is still to be looked up under this name is of whatever had it before.
                slot_there.is_no_guess();
            } else {
                slot_there.set_place(Some(place.clone()));
                slot_there.forget_read();
                slot_there.awaited.store(true, Ordering::Relaxed);
                self.later(Job::Closed(slot_there.clone()));
            }
            *there = document;
        }
        *slot_there.recorded() = Recorded { moved: was.latest.map(|(file, _)| file), ..was };
        slot_there.set_whose(slot.whose());
        slot.forget_read();
        slot.awaited.store(false, Ordering::Relaxed);
        // Who still works with the old name finds no file, or what the editor keeps open under it.
        let name = name_in_record(&slot.place().unwrap_or_else(|| place.clone()));
        let stays = {
            // As the editor has told of it by now: it may have been typed in since.
            let mut left = slot.lock();
            let anew = match left.home() {
                Home::Editor { version, encoding, language, reports } => {
                    let text = left.text().clone();
                    let mut document = Document::open(&old_uri, language, *version, *encoding, text);
                    document.set_reports(*reports);
                    document
                }
                _ => Document::missing(&old_uri, name),
            };
            *left = anew;
            left.is_open()
        };
        if stays {
            *slot.recorded() = Recorded::default();
        }
        // Until the record knows the new name it has the edits under the old one: whoever looks there finds that nothing is, and that this is known.
        let recorded = self.record(&slot_there, None).map(drop);
        match recorded {
            Ok(()) if !stays => {
                *slot.recorded() = Recorded::default();
                self.inner.slots.remove_if(&slot.key, |_, kept| Arc::ptr_eq(kept, slot));
            }
            Ok(()) => {}
            // It is tried again, as all that is still to be recorded.
            Err(error) => tracing::debug!("the new name of {} is not recorded yet: {error}", slot.key),
        }
        let _ = self.inner.events.send(Event::Review(old_uri));
        slot_there.lock().news_of_edits();
        slot_there.ready();
        self.attend(&slot_there);
        true
    }

    /// The editor has not done what it was asked for.
    pub(crate) fn not_done(&self, slot: &Arc<Slot>, why: &str) {
        slot.lock().was_not_done(why);
        self.attend(slot);
    }

    /// Why an editor has not done with a file what it was asked for last, for the sake of a hunk; in words for the person.
    #[must_use]
    pub fn not_done_because(&self, hunk: &HunkRef) -> Option<String> {
        self.slots().iter().find_map(|slot| slot.lock().not_done_because(hunk).map(str::to_owned))
    }

    /// Whether an editor that has opened a document may be about to have renamed another to it: then it is that one.
    pub(crate) fn may_be_renamed(&self, slot: &Arc<Slot>) -> bool {
        let Some(name) = slot.place().map(|place| name_in_record(&place)) else { return false };
        let becomes = |other: &Arc<Slot>| {
            let document = other.lock();
            let renamed =
                matches!(document.may_be_done(), Some((FileOperation::Rename(to), true)) if to == name);
            renamed.then(|| document.is_asking())
        };
        let slots = self.slots();
        let Some((old, asking)) = slots.iter().find_map(|other| Some((other, becomes(other)?))) else {
            return false;
        };
        !self.look_whether_done(old, false) && asking
    }

    /// Whether a decision about an open document is one for its editor to carry out on the file.
    pub(crate) fn asks_editor(&self, slot: &Slot, request: &Request) -> bool {
        !matches!(request.target, Target::Lines(_)) && !slot.lock().operations_for(request).is_empty()
    }
}

/// Why a file is neither renamed nor removed after a change of its lines.
const LINES_BEFORE: &str = "Lines of the file would be changed before, and it is open in the editor. Decide about those, save the file, then \
                            decide about its removal or its new name.";

fn is_missing(place: &Place) -> bool {
    matches!(stamp(place), Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }))
}
