//! Documents that no editor has open: read when they are needed, written in one piece, never while somebody else has changed them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use hashline_history::{Draft, Effect, FilesNow, Session, Subject};
use hashline_text::{FileHash, decode, decode_again};

use crate::disk::{
    DiskError, Expect, FileBytes, HardLinks, Place, Stamp, check_writable, create, make_room, read, remove,
    remove_leftovers, rename, stamp, write_from,
};
use crate::document::{Contents, Document, Millis, State};
use crate::record::{Look, Recorded, draft, is_beaten, name_in_record, uri_of};
use crate::refusal::Refusal;
use crate::slot::{LastRead, Slot};
use crate::workspace::{Found, Workspace, key_of};

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
        let is_open = self.inner.others.get().is_some_and(|others| others.may_have(place.absolute()));
        if is_open || slot.whose().other().is_some() {
            return Err(Refusal::TakenOver { path: place.to_text() });
        }
        Ok(())
    }

    /// Changes a document that no editor has open, and its file with it. `change` is made on a copy; the document takes it over when
    /// the file has it; where it breaks off nothing has happened. None if an editor has the document open: nothing has changed then, and
    /// it is for the editor to change it. Whoever changes it may be one who is refused hard links.
    pub(crate) fn change_on_disk<T>(
        &self,
        slot: &Arc<Slot>,
        hard_links: HardLinks,
        change: impl FnOnce(&mut Document, Millis) -> Result<ControlFlow<T, T>, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let Some(place) = &slot.place().map(|place| place.with_hard_links(hard_links)) else {
            let mut copy = slot.lock().clone();
            if copy.is_open() {
                return Ok(None);
            }
            let old = copy.text().clone();
            let done = match change(&mut copy, self.now())? {
                ControlFlow::Continue(done) => done,
                ControlFlow::Break(done) => return Ok(Some(done)),
            };
            if copy.uri().starts_with("file:") && *copy.text() != old {
                // Its folder is no longer served: a change would be one that no file has.
                return Err(Refusal::NoFolder { uri: copy.uri().to_owned() });
            }
            copy.forget_unrecorded();
            self.take_over_copy(slot, copy);
            return Ok(Some(done));
        };
        place.check_write()?;
        // A file that is served lies in a root, and has a history there.
        let store = self.history_of(place).ok_or_else(|| Refusal::NoFolder { uri: slot.key.clone() })?;
        let mut session = self.session(&store)?;
        if slot.lock().has_fixed()
            && let Err(error) = self.record_in(&mut session, slot, place, None)
            && !is_beaten(&error)
        {
            return Err(error.into());
        }
        let before = self.look(slot, place, Some(&mut session))?;
        let mut copy = slot.lock().clone();
        if copy.is_open() {
            return Ok(None);
        }
        let done = match change(&mut copy, self.now())? {
            ControlFlow::Continue(done) => done,
            ControlFlow::Break(done) => {
                self.end_session(session);
                return Ok(Some(done));
            }
        };
        let wanted = self.wanted(place, &copy)?;
        let there = before.as_ref().map(|before| &before.contents);
        let moves = wanted.place.absolute() != place.absolute();
        if there.is_none() && wanted.contents.is_none() && moves {
            // A file that is gone only goes by another name from now on, which another one may have.
            let state = copy.to_record(&[]);
            let document = name_in_record(&wanted.place);
            let file = slot.recorded().latest.map_or(Subject::Named, |(file, _)| Subject::File(file));
            self.append_draft(&mut session, &Draft { document, file, ..draft(slot, place, &state) })?;
            self.inner.slots.remove(&slot.key);
            self.end_session(session);
            return Ok(Some(done));
        }
        let changes = wanted.contents.as_ref() != there;
        if changes || moves {
            if there.is_some() && wanted.contents.is_some() && changes {
                // Known before anything is recorded: no edit is left behind that never was.
                check_writable(place)?;
            }
            let state = copy.to_record(&[]);
            self.remove_leftovers(place);
            // The last moment to notice: an editor that opens the file from now on reads what is written.
            self.not_taken(slot)?;
            if slot.lock().is_open() {
                return Ok(None);
            }
            if !self.write_recorded(&mut session, slot, place, &state, before.as_ref(), &wanted)? {
                return Ok(None);
            }
            copy.was_recorded(&state, state.text_hash());
        } else if copy.has_unrecorded() {
            let state = copy.to_record(&[]);
            self.append(&mut session, slot, place, &state)?;
            copy.was_recorded(&state, state.text_hash());
        }
        self.take_over_copy(slot, copy);
        if moves {
            self.renamed(slot, wanted.place);
        }
        self.end_session(session);
        slot.recorded().glance = store.glance();
        Ok(Some(done))
    }

    /// How the file of a document is to be.
    pub(crate) fn wanted(&self, place: &Place, document: &Document) -> Result<Wanted, Refusal> {
        let file = document.file_now();
        let place = match &file.name {
            Some(name) if *name != name_in_record(place) => {
                let outside = || Refusal::NoFolder { uri: name.to_string() };
                self.read_roots().identify(name.as_path()).ok_or_else(outside)?
            }
            _ => place.clone(),
        };
        Ok(Wanted { place, contents: document.file_contents(), mode: file.mode })
    }

    /// A file has another name: its document is found under that.
    pub(crate) fn renamed(&self, slot: &Arc<Slot>, place: Place) {
        let key = key_of(place.absolute());
        let mut document = slot.lock().clone();
        document.set_uri(&uri_of(&place));
        let fresh = Slot::new(key.clone(), document, Some(place));
        *fresh.recorded() = *slot.recorded();
        let fresh = Arc::new(fresh);
        fresh.lock().news_of_edits();
        // Of several that are renamed at once another one may have its name already.
        self.inner.slots.remove_if(&slot.key, |_, there| Arc::ptr_eq(there, slot));
        self.inner.slots.insert(key, fresh.clone());
        self.attend(&fresh);
    }

    /// Brings a file to how it is to be: that it is about to be is recorded before, and that it was done afterwards. False if an editor
    /// has opened it meanwhile, so that nothing was done.
    pub(crate) fn write_recorded(
        &self,
        session: &mut Session,
        slot: &Slot,
        place: &Place,
        state: &State,
        before: Option<&OnDisk>,
        wanted: &Wanted,
    ) -> Result<bool, Refusal> {
        let after = wanted.contents.as_ref().map(Contents::hash);
        let was = before.map(|before| before.contents.hash());
        let (old, name) = (name_in_record(place), name_in_record(&wanted.place));
        let moves = old != name;
        // Of a file that is gone nothing is to become of its old name, which another one may have.
        let left = (moves && before.is_some()).then_some(Effect { name: old, before: was, after: None });
        let there = Effect { name: name.clone(), before: was.filter(|_| !moves), after };
        let effects = left.into_iter().chain([there]).collect();
        let draft = draft(slot, place, state);
        // Nothing is recorded of a file that moves: the name that it takes may be another's, which is gone.
        let file = match slot.recorded().latest {
            Some((file, _)) => Subject::File(file),
            None if moves => Subject::New,
            None => Subject::Named,
        };
        let meant = Draft { document: name.clone(), file, intent: effects, ..draft };
        if before.is_some() && is_past_itself(place, &wanted.place) {
            return self.write_past_itself(session, slot, &meant, state);
        }
        let meant = self.append_draft(session, &meant)?;
        let open = slot.lock().is_open();
        let written = match open {
            true => Ok(None),
            false => match carry_out(place, before, wanted) {
                // It stands. Were it lost with the power, the file would tell.
                Err(unsure @ DiskError::NotSynced { .. }) if self.has_hash(&wanted.place, after) => {
                    self.notice(unsure.to_string());
                    Ok(Some(()))
                }
                done => done.map(Some),
            },
        };
        match written {
            Ok(Some(())) => {
                // Whoever writes to it right now may leave the stamp that it has.
                slot.forget_read();
                let done =
                    Draft { file: Subject::File(meant.file), saved: after, done: true, ..Draft::about(name) };
                let done = self.append_draft(session, &done).unwrap_or(meant);
                let mut recorded = slot.recorded();
                recorded.latest = Some((done.file, done.sequence));
                recorded.revision = state.weave.revision();
                Ok(true)
            }
            not_written => {
                // What cannot be told now is told by whoever writes next, by what the disk has.
                let _ = session.give_up(meant.file, self);
                // The document is made anew of the record when it is needed next.
                slot.forget_read();
                *slot.recorded() = Recorded::default();
                not_written.map(|_| false).map_err(Refusal::from)
            }
        }
    }

    /// The same for a file that is out of the way in between, which is a switch of it alone.
    fn write_past_itself(
        &self,
        session: &mut Session,
        slot: &Slot,
        draft: &Draft<'_>,
        state: &State,
    ) -> Result<bool, Refusal> {
        if slot.lock().is_open() {
            return Ok(false);
        }
        slot.forget_read();
        let forget = |_: &Refusal| *slot.recorded() = Recorded::default();
        let done = self.switch_recorded(session, std::slice::from_ref(draft)).inspect_err(forget)?;
        let mut recorded = slot.recorded();
        recorded.latest = done.first().map(|done| (done.file, done.sequence));
        recorded.revision = state.weave.revision();
        Ok(true)
    }

    /// Whether a file holds what has this hash; none for no file.
    fn has_hash(&self, place: &Place, hash: Option<FileHash>) -> bool {
        self.hash(place.absolute()).is_ok_and(|there| there == hash)
    }

    /// Puts a changed copy in the place of a document, with what has happened to the document since the copy was made: it was read, or
    /// opened. Opened while the file was written: what the editor has read is one of the two texts.
    pub(crate) fn take_over_copy(&self, slot: &Slot, mut copy: Document) {
        let mut document = slot.lock();
        copy.keep_told(&document);
        copy.follow_home(&document, self.now());
        *document = copy;
        drop(document);
        self.changed();
    }

    /// Removes what a crash may have left in a file's folder, before the first write there.
    pub(crate) fn remove_leftovers(&self, place: &Place) {
        let Some(folder) = place.absolute().parent() else { return };
        if self.inner.swept.insert(folder.to_owned(), ()).is_none()
            && let Err(error) = remove_leftovers(place, SystemTime::now())
        {
            tracing::warn!("temporary files in {} were not looked for: {error}", folder.display());
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

/// How a file is to be.
pub(crate) struct Wanted {
    pub(crate) place: Place,
    /// None for no file.
    pub(crate) contents: Option<Contents>,
    mode: Option<u32>,
}

/// Whether a file is to lie in a folder that has its name, or comes out of one and takes its name.
fn is_past_itself(place: &Place, wanted: &Place) -> bool {
    let (from, to) = (place.absolute(), wanted.absolute());
    from != to && (from.starts_with(to) || to.starts_with(from))
}

/// Writes, makes, removes or renames a file.
fn carry_out(place: &Place, before: Option<&OnDisk>, wanted: &Wanted) -> Result<(), DiskError> {
    let moved = wanted.place.absolute() != place.absolute();
    let write = |place, contents: &Contents, expect| {
        write_from(place, |file| contents.write_to(file), expect).map(drop)
    };
    match (before, &wanted.contents) {
        (None, None) => Ok(()),
        (None, Some(contents)) => {
            make_room(&wanted.place)?;
            create(&wanted.place, &contents.bytes(), wanted.mode).map(drop)
        }
        (Some(before), None) => remove(place, before.expected()),
        (Some(before), Some(contents)) if moved => {
            make_room(&wanted.place)?;
            let stamp = rename(place, &wanted.place, before.expected())?;
            match before.contents == *contents {
                true => Ok(()),
                false => write(&wanted.place, contents, Expect::Unchanged(stamp)),
            }
        }
        (Some(before), Some(contents)) => write(place, contents, before.expected()),
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
