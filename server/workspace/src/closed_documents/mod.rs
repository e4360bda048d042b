//! Documents that no editor has open: read when they are needed, written in one piece, never while somebody else has changed them.

mod record_program_writes;
mod write;

pub(crate) use record_program_writes::Before;

use std::sync::Arc;

use hashline_history::Session;
use hashline_text::{decode, decode_again};

use crate::disk::{DiskError, Expect, FileBytes, HardLinks, Place, Stamp, read, stamp};
use crate::document::{Contents, Document};
use crate::document_slot::{LastRead, Slot};
use crate::record::{Look, name_in_record, uri_of};
use crate::refusal_messages::Refusal;
use crate::workspace::{Found, OpenElsewhere, Workspace};

/// After how many documents those that nobody needs are forgotten.
const SWEPT_EVERY: usize = 64;

impl Workspace {
    /// The document that was found, with its text as it is now: of an open one what the editor has, of others what the disk has.
    /// Blocks as long as the disk does.
    pub(crate) fn load(&self, found: &Found) -> Result<Arc<Slot>, Refusal> {
        if let Some(slot) = found.slot.as_ref().filter(|slot| slot.lock().is_open()) {
            check_hard_link(found)?;
            self.look_behind(slot);
            return Ok(slot.clone());
        }
        // A document without a file is there or is not: `find` has found it.
        let place = found
            .place
            .as_ref()
            .ok_or_else(|| Refusal::Path(crate::disk::PathRefusal::NotAFile(found.key.clone())))?;
        match &found.slot {
            Some(slot) => {
                self.reread(slot, place)?;
                Ok(slot.clone())
            }
            None => {
                let document = Document::missing(&uri_of(place), name_in_record(place));
                let slot = Arc::new(new_slot(found, document, place));
                let file = self.look_aside(&slot, place, None)?;
                readable(&slot, place, file.as_ref())?;
                let slot = self.serve(slot);
                if self.inner.slots.len().is_multiple_of(SWEPT_EVERY) {
                    self.forget_idle();
                }
                Ok(slot)
            }
        }
    }

    /// Forgets the files that no editor has open, that no agent has edited, and that none has read for a while.
    pub(crate) fn forget_idle(&self) {
        let now = self.now();
        for slot in self.slots() {
            if slot.lock().is_forgettable(now) {
                // Two hands hold it: the map's and this one's. Whoever takes another takes it from the map.
                self.inner.slots.remove_if(&slot.key, |_, kept| {
                    let unused = Arc::ptr_eq(kept, &slot) && Arc::strong_count(kept) == 2;
                    // Somebody may have come and gone since it was looked at.
                    unused && kept.document.try_lock().is_ok_and(|document| document.is_forgettable(now))
                });
            }
        }
    }

    /// Reads a file again, unless it is certainly as it was.
    fn reread(&self, slot: &Arc<Slot>, place: &Place) -> Result<(), Refusal> {
        if self.is_as_read(slot, place) { Ok(()) } else { self.read_now(slot, place) }
    }

    /// Whether a file is certainly as it was when it was read. One that is gone is not.
    fn is_as_read(&self, slot: &Slot, place: &Place) -> bool {
        let known = slot.last_stamp();
        known.is_some() && stamp(place).ok() == known && !self.record_is_ahead(slot, place)
    }

    /// Reads a file and brings the document to it.
    pub(crate) fn read_now(&self, slot: &Arc<Slot>, place: &Place) -> Result<(), Refusal> {
        let file = self.look(slot, place, None)?;
        readable(slot, place, file.as_ref())
    }

    /// Lets a document that was just read be found under its identity. Another call, or its editor, may have been quicker: then it is that
    /// one's, and what this one was found to be happens to nobody.
    fn serve(&self, slot: Arc<Slot>) -> Arc<Slot> {
        let served = self.inner.slots.entry(slot.key.clone()).or_insert(slot).value().clone();
        self.attend(&served);
        served
    }

    /// The document of a path, whatever its file holds, or if there is none.
    pub(crate) fn load_file(&self, found: &Found, place: &Place) -> Result<Arc<Slot>, Refusal> {
        if let Some(slot) = &found.slot {
            if slot.lock().is_open() {
                check_hard_link(found)?;
            } else if !self.is_as_read(slot, place) {
                self.look(slot, place, None)?;
            }
            return Ok(slot.clone());
        }
        let document = Document::missing(&uri_of(place), name_in_record(place));
        let slot = Arc::new(new_slot(found, document, place));
        self.look_aside(&slot, place, None)?;
        Ok(self.serve(slot))
    }

    /// The document of a path for whoever looks at its file by itself.
    pub(crate) fn load_unread(&self, found: &Found, place: &Place) -> Arc<Slot> {
        match &found.slot {
            Some(slot) => slot.clone(),
            None => {
                let document = Document::missing(&uri_of(place), name_in_record(place));
                self.serve(Arc::new(new_slot(found, document, place)))
            }
        }
    }

    /// Brings a document to its file and its record, whatever the file holds; none if there is no file. Looks again if others may be
    /// writing them.
    pub(crate) fn look(
        &self,
        slot: &Arc<Slot>,
        place: &Place,
        session: Option<&mut Session>,
    ) -> Result<Option<OnDisk>, Refusal> {
        let file = self.look_aside(slot, place, session)?;
        self.attend(slot);
        Ok(file)
    }

    /// The same, without seeing to what comes of it: the document may not be the one that is served.
    fn look_aside(
        &self,
        slot: &Slot,
        place: &Place,
        session: Option<&mut Session>,
    ) -> Result<Option<OnDisk>, Refusal> {
        let file = match session {
            Some(session) => self.look_once(slot, place, Look::Taken(session))?.0,
            None => match self.look_once(slot, place, Look::Glance)? {
                (file, true) => file,
                (_, false) => self.look_in_turn(slot, place)?,
            },
        };
        match &file {
            Some(file) => trust(slot, file),
            None => slot.forget_read(),
        }
        Ok(file)
    }

    /// The same while nobody else writes.
    fn look_in_turn(&self, slot: &Slot, place: &Place) -> Result<Option<OnDisk>, Refusal> {
        let store = self.history_of(place);
        match store.as_ref().map(|store| self.session(store)) {
            Some(Ok(mut session)) => {
                let (file, _) = self.look_once(slot, place, Look::Taken(&mut session))?;
                self.end_session(session);
                Ok(file)
            }
            // It can be read all the same.
            Some(Err(_)) | None => Ok(self.look_once(slot, place, Look::AsItSeems)?.0),
        }
    }

    /// The file, and whether that and the record go together.
    fn look_once(
        &self,
        slot: &Slot,
        place: &Place,
        how: Look<'_>,
    ) -> Result<(Option<OnDisk>, bool), Refusal> {
        let file = match OnDisk::find(slot, place) {
            Ok(file) => Some(file),
            Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if self.show_as_recorded(slot, place)? {
            return Ok((file, true));
        }
        let sure = match file.as_ref().map(|file| &file.contents) {
            Some(Contents::Text(text, form)) => self.bring_up(slot, place, (text, *form), how)?,
            Some(Contents::Bytes(_)) | None => self.bring_up_file(slot, place, &how)?,
        };
        if !sure {
            return Ok((file, false));
        }
        if file.is_none() && slot.recorded().latest.is_none() {
            Self::forget_text(slot, place);
        }
        let mut document = slot.lock();
        if !document.is_open() {
            document.set_file(file.is_some(), name_in_record(place), file.as_ref().and_then(OnDisk::mode));
            if let Some(file) = &file {
                document.set_bytes(match &file.contents {
                    Contents::Bytes(bytes) => Some(bytes.clone()),
                    Contents::Text(..) => None,
                });
            }
        }
        drop(document);
        Ok((file, true))
    }

    /// Forgets the text of a file that is gone and of which nothing is recorded: one that is made there next has nothing of it.
    fn forget_text(slot: &Slot, place: &Place) {
        let mut now = slot.lock();
        if now.may_be_made_anew() && now.edits().is_empty() && !now.text().is_empty() {
            let mut document = Document::missing(&uri_of(place), name_in_record(place));
            document.keep_told(&now);
            *now = document;
        }
    }

    /// The document that was found, if a glance at the disk shows that it is as it was when it was looked at last. Some system calls,
    /// and no reading.
    pub(crate) fn at_a_glance(&self, found: &Found) -> Option<Arc<Slot>> {
        let slot = found.slot.as_ref()?;
        let Some(place) = &found.place else { return Some(slot.clone()) };
        let known = slot.last_stamp()?;
        let settled = !slot.disk_differs()
            && stamp(place).ok()? == known
            && (slot.lock().is_open() || !self.record_is_ahead(slot, place));
        settled.then(|| slot.clone())
    }

    /// Looks at the file of an open document: how it is stored, and whether something else has changed it since the document was opened
    /// or saved.
    pub(crate) fn look_behind(&self, slot: &Slot) {
        let Some(place) = &slot.place() else { return };
        let known = slot.last_stamp();
        if !slot.disk_differs() && known.is_some() && stamp(place).ok() == known {
            return;
        }
        // No file yet, or not one to be read: the text is served as it is.
        let Ok(bytes) = read(place) else { return };
        let served = slot.lock().text().clone();
        let differs = known.is_some() && !served.is_served_from(&bytes.bytes);
        let form = hashline_text::DiskForm::behind(&served, &bytes.bytes);
        slot.lock().set_form(form);
        slot.set_disk_differs(differs);
        *slot.last_read() = Some(LastRead { stamp: bytes.stamp, contents: None });
    }

    /// Sees to it that no editor of another process has opened a file since it was read, or still has claimed its edits: what is shown
    /// of it then is the text of that editor, which need not be saved.
    pub(crate) fn not_taken(&self, slot: &Slot) -> Result<(), Refusal> {
        let Some(place) = slot.place() else { return Ok(()) };
        let others = self.inner.others.get();
        match others.map_or(OpenElsewhere::No, |others| others.has(place.absolute())) {
            OpenElsewhere::NoAnswer { editor } => Err(Refusal::NoAnswer { path: place.to_text(), editor }),
            OpenElsewhere::No if slot.whose().other().is_none() => Ok(()),
            OpenElsewhere::No | OpenElsewhere::Yes => Err(Refusal::TakenOver { path: place.to_text() }),
        }
    }
}

/// A file as it was found.
pub(crate) struct OnDisk {
    pub(crate) contents: Contents,
    seen: Seen,
}

/// How a file was found to be as it is.
enum Seen {
    /// It was read.
    Read(FileBytes),
    /// It has the stamp that it had when it was read before, and any change since would have given it another.
    Unchanged(Stamp),
}

impl OnDisk {
    /// Looks at the file of a document: reads it, unless it is certainly as it was and the document has that.
    fn find(slot: &Slot, place: &Place) -> Result<Self, DiskError> {
        let last = slot.last_read().clone();
        if let Some(LastRead { stamp: known, contents: Some(contents) }) = last
            && stamp(place).ok() == Some(known)
            && slot.lock().file_contents().as_ref() == Some(&contents)
        {
            return Ok(Self { contents, seen: Seen::Unchanged(known) });
        }
        let bytes = read(place)?;
        let known = slot.lock().text().clone();
        let contents = match decode_again(&bytes.bytes, &known) {
            Ok((text, form)) => Contents::Text(text, form),
            Err(_) => Contents::Bytes(bytes.bytes[..].into()),
        };
        Ok(Self { contents, seen: Seen::Read(bytes) })
    }

    /// Its mode bits, where the system has such, and it was read.
    fn mode(&self) -> Option<u32> {
        match &self.seen {
            Seen::Read(bytes) => bytes.mode,
            Seen::Unchanged(_) => None,
        }
    }

    /// What whoever changes it takes it for.
    fn expected(&self) -> Expect<'_> {
        match &self.seen {
            Seen::Read(bytes) => Expect::Same(bytes),
            Seen::Unchanged(stamp) => Expect::Unchanged(*stamp),
        }
    }
}

/// The document of a file. What was refused to whoever named it first is not to others.
fn new_slot(found: &Found, document: Document, place: &Place) -> Slot {
    Slot::new(found.key.clone(), document, Some(place.with_hard_links(HardLinks::Served)))
}

/// Sees to it that whoever is refused hard links is not served one as an editor has it open.
pub(crate) fn check_hard_link(found: &Found) -> Result<(), Refusal> {
    match found.place.as_ref().filter(|place| place.hard_links().are_refused()).map(stamp) {
        Some(Err(error @ DiskError::HardLink { .. })) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Changes a document in its editor or, where none has it open, on the disk. Each way answers with none where the other is the right
/// one; an editor may open or close the document at any moment.
pub(crate) fn either_way<T>(
    in_editor: impl Fn() -> Result<Option<T>, Refusal>,
    on_disk: impl Fn() -> Result<Option<T>, Refusal>,
) -> Result<T, Refusal> {
    loop {
        if let Some(done) = in_editor()? {
            return Ok(done);
        }
        if let Some(done) = on_disk()? {
            return Ok(done);
        }
    }
}

/// Remembers the state of a file that was read, if a later change would show in its stamp.
fn trust(slot: &Slot, file: &OnDisk) {
    let Seen::Read(bytes) = &file.seen else { return };
    let last = LastRead { stamp: bytes.stamp, contents: Some(file.contents.clone()) };
    *slot.last_read() = bytes.is_settled().then_some(last);
}

/// Whether a document can be served with what its file holds.
fn readable(slot: &Slot, place: &Place, file: Option<&OnDisk>) -> Result<(), Refusal> {
    match file.map(|file| &file.contents) {
        Some(Contents::Text(..)) => Ok(()),
        Some(Contents::Bytes(bytes)) => {
            let not_text = |error| Refusal::NotText { path: place.to_text(), error };
            decode(bytes).map(drop).map_err(not_text)
        }
        None if slot.lock().edits().is_empty() => {
            Err(DiskError::NotFound { path: place.absolute().to_owned() }.into())
        }
        // There are edits that tell of it.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use hashline_weave::View;

    use super::SWEPT_EVERY;
    use crate::agent::ReadRequest;
    use crate::disk::Roots;
    use crate::record::Histories;
    use crate::settings::Settings;
    use crate::workspace::{Caller, Workspace};

    #[tokio::test]
    async fn files_that_nobody_needs_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        let caller = Caller::anywhere("tester", "1");
        for number in 0..5 * SWEPT_EVERY {
            let path = folder.path().join(format!("{number}.txt"));
            std::fs::write(&path, "one\n").unwrap();
            let request = ReadRequest { path: path.display().to_string(), view: View::Agent };
            let read = workspace.read(&caller, &request).await.unwrap();
            if number < 10 {
                // An agent has lines of it, and may edit them.
                workspace.shown(&read, 0..1);
            }
        }
        assert!(workspace.slots().len() <= SWEPT_EVERY + 10, "{} are kept", workspace.slots().len());
        for number in 0..10 {
            let path = folder.path().canonicalize().unwrap().join(format!("{number}.txt"));
            assert!(workspace.inner.slots.contains_key(&path.display().to_string()), "{number} is in use");
        }
    }
}
