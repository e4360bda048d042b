//! Documents that no editor has open: read when they are needed, written in one piece, never while somebody else has changed them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::SystemTime;

use hashline_history::{Draft, Effect, Session};
use hashline_text::{FileHash, Text, decode};
use tokio::sync::watch;

use crate::disk::{Expect, FileBytes, Place, read, remove_leftovers, stamp, write};
use crate::document::{Document, Millis, State};
use crate::record::{OnDisk, Recorded, draft, name_in_record, uri_of};
use crate::refusal::Refusal;
use crate::workspace::{Found, Slot, Workspace};

/// After how many documents those that nobody needs are forgotten.
const SWEPT_EVERY: usize = 64;

impl Slot {
    pub(crate) fn new(key: String, document: Document, place: Option<Place>) -> Self {
        Self {
            key,
            queue: tokio::sync::Mutex::new(()),
            document: Mutex::new(document),
            place: RwLock::new(place),
            read: Mutex::new(None),
            differs: AtomicBool::new(false),
            used: AtomicU64::new(0),
            record: Mutex::default(),
            whole: watch::Sender::new(true),
        }
    }

    /// Lets the file be read anew when it is needed next.
    pub(crate) fn forget_read(&self) {
        *self.last_read() = None;
        self.set_disk_differs(false);
    }

    /// Whether something else has changed the file of an open document, so that it is neither what was opened nor what the editor has.
    pub(crate) fn disk_differs(&self) -> bool {
        self.differs.load(Ordering::Relaxed)
    }

    fn set_disk_differs(&self, differs: bool) {
        self.differs.store(differs, Ordering::Relaxed);
    }

    fn last_read(&self) -> std::sync::MutexGuard<'_, Option<crate::disk::Stamp>> {
        self.read.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Workspace {
    /// The document that was found, with its text as it is now: of an open one what the editor has, of others what the disk has.
    /// Blocks as long as the disk does.
    pub(crate) fn load(&self, found: &Found) -> Result<Arc<Slot>, Refusal> {
        if let Some(slot) = found.slot.as_ref().filter(|slot| slot.lock().is_open()) {
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
                let (text, form) = decoded(place, &read(place)?)?;
                let document = Document::on_disk(&uri_of(place), text, form);
                let slot = Arc::new(Slot::new(found.key.clone(), document, Some(place.clone())));
                self.read_now(&slot, place, None)?;
                // Another call may have been quicker; its slot may have been used already.
                let slot = self.inner.slots.entry(found.key.clone()).or_insert(slot).value().clone();
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
        let known = *slot.last_read();
        if let Some(known) = known
            && stamp(place)? == known
            && !self.record_is_ahead(slot, place)
        {
            return Ok(());
        }
        self.read_now(slot, place, None).map(drop)
    }

    /// Reads a file and brings the document to it.
    pub(crate) fn read_now(
        &self,
        slot: &Arc<Slot>,
        place: &Place,
        session: Option<&mut Session<'_>>,
    ) -> Result<FileBytes, Refusal> {
        let mut bytes = read(place)?;
        let (text, form) = decoded(place, &bytes)?;
        if !self.bring_up(slot, place, &text, form, session)?
            && let Some(store) = self.history_of(place)
        {
            // Nobody is in the middle of writing it while this process has the history.
            let mut session = self.session(&store)?;
            bytes = read(place)?;
            let (text, form) = decoded(place, &bytes)?;
            self.bring_up(slot, place, &text, form, Some(&mut session))?;
            self.end_session(session);
        }
        trust(slot, &bytes);
        self.attend(slot);
        Ok(bytes)
    }

    /// The document that was found, if a glance at the disk shows that it is as it was when it was looked at last. Some system calls,
    /// and no reading.
    pub(crate) fn at_a_glance(&self, found: &Found) -> Option<Arc<Slot>> {
        let slot = found.slot.as_ref()?;
        let Some(place) = &found.place else { return Some(slot.clone()) };
        let known = (*slot.last_read())?;
        let settled = !slot.disk_differs()
            && stamp(place).ok()? == known
            && (slot.lock().is_open() || !self.record_is_ahead(slot, place));
        settled.then(|| slot.clone())
    }

    /// Looks at the file of an open document: how it is stored, and whether something else has changed it since the document was opened
    /// or saved.
    pub(crate) fn look_behind(&self, slot: &Slot) {
        let Some(place) = &slot.place() else { return };
        let known = *slot.last_read();
        if !slot.disk_differs() && known.is_some() && stamp(place).ok() == known {
            return;
        }
        // No file yet, or not one to be read: the text is served as it is.
        let Ok(bytes) = read(place) else { return };
        let served = slot.lock().text().clone();
        let differs = known.is_some() && !same_text(&served, &bytes.bytes);
        let form = hashline_text::DiskForm::behind(&served, &bytes.bytes);
        slot.lock().set_form(form);
        slot.set_disk_differs(differs);
        *slot.last_read() = Some(bytes.stamp);
    }

    /// Sees to it that no editor of another process has opened a file since it was read.
    pub(crate) fn not_taken(&self, slot: &Slot) -> Result<(), Refusal> {
        let Some(place) = slot.place() else { return Ok(()) };
        if self.inner.others.get().is_some_and(|others| others.may_have(place.absolute())) {
            return Err(Refusal::TakenOver { path: place.absolute().display().to_string() });
        }
        Ok(())
    }

    /// Changes a document that no editor has open, and its file with it. `change` is made on a copy; the document takes it over when
    /// the file has it; where it breaks off nothing has happened. None if an editor has the document open: nothing has changed then, and
    /// it is for the editor to change it.
    pub(crate) fn change_on_disk<T>(
        &self,
        slot: &Arc<Slot>,
        change: impl FnOnce(&mut Document, Millis) -> Result<ControlFlow<T, T>, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let Some(place) = &slot.place() else {
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
        let before = self.read_now(slot, place, Some(&mut session))?;
        let mut copy = slot.lock().clone();
        if copy.is_open() {
            return Ok(None);
        }
        let old = copy.text().clone();
        let done = match change(&mut copy, self.now())? {
            ControlFlow::Continue(done) => done,
            ControlFlow::Break(done) => {
                self.end_session(session);
                return Ok(Some(done));
            }
        };
        let new = copy.text().clone();
        let state = copy.take_unrecorded(&[]);
        if old != new {
            self.remove_leftovers(place);
            // The last moment to notice: an editor that opens the file from now on reads what is written.
            self.not_taken(slot)?;
            if slot.lock().is_open() {
                return Ok(None);
            }
            let bytes = copy.form().to_bytes(&new);
            if !self.write_recorded(&mut session, slot, place, &state, &before, &bytes)? {
                return Ok(None);
            }
        } else if !state.unrecorded.is_empty() {
            self.append(&mut session, slot, place, &state, None)?;
        }
        self.take_over_copy(slot, copy);
        self.end_session(session);
        slot.recorded().glance = store.glance();
        Ok(Some(done))
    }

    /// Writes a file: what is about to be is recorded before, and that it was done afterwards. False if an editor has opened it
    /// meanwhile, so that it was not written.
    fn write_recorded(
        &self,
        session: &mut Session<'_>,
        slot: &Slot,
        place: &Place,
        state: &State,
        before: &FileBytes,
        bytes: &[u8],
    ) -> Result<bool, Refusal> {
        let after = FileHash::of(bytes);
        let name = name_in_record(place);
        let effect =
            Effect { name: name.clone(), before: Some(FileHash::of(&before.bytes)), after: Some(after) };
        let meant = session.append(&Draft { intent: vec![effect], ..draft(slot, place, state) })?;
        let open = slot.lock().is_open();
        let written = if open { Ok(None) } else { write(place, bytes, Expect::Same(before)).map(Some) };
        match written {
            Ok(Some(stamp)) => {
                *slot.last_read() = stamp.is_quiet(SystemTime::now()).then_some(stamp);
                let done = Draft { saved: Some(after), done: true, ..Draft::about(name) };
                let done = session.append(&done).unwrap_or(meant);
                let mut recorded = slot.recorded();
                recorded.latest = Some((done.file, done.sequence));
                recorded.revision = state.weave.revision();
                Ok(true)
            }
            not_written => {
                // What cannot be told now is told by whoever writes next, by what the disk has.
                let _ = session.give_up(meant.file, &OnDisk(self));
                // The document is made anew of the record when it is needed next.
                slot.forget_read();
                *slot.recorded() = Recorded::default();
                not_written.map(|_| false).map_err(Refusal::from)
            }
        }
    }

    /// Puts a changed copy in the place of a document, with what has happened to the document since the copy was made: it was read, or
    /// opened. Opened while the file was written: what the editor has read is one of the two texts.
    fn take_over_copy(&self, slot: &Slot, mut copy: Document) {
        let mut document = slot.lock();
        copy.keep_told(&document);
        copy.follow_home(&document, self.now());
        *document = copy;
    }

    /// Removes what a crash may have left in a file's folder, before the first write there.
    fn remove_leftovers(&self, place: &Place) {
        let Some(folder) = place.absolute().parent() else { return };
        if self.inner.swept.insert(folder.to_owned(), ()).is_none()
            && let Err(error) = remove_leftovers(place, SystemTime::now())
        {
            tracing::warn!("temporary files in {} were not looked for: {error}", folder.display());
        }
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
fn trust(slot: &Slot, bytes: &FileBytes) {
    let quiet = bytes.stamp.is_quiet(SystemTime::now());
    *slot.last_read() = quiet.then_some(bytes.stamp);
}

fn decoded(place: &Place, bytes: &FileBytes) -> Result<(Text, hashline_text::DiskForm), Refusal> {
    decode(&bytes.bytes)
        .map_err(|error| Refusal::NotText { path: place.absolute().display().to_string(), error })
}

/// Whether the text is what is stored, but for what an editor takes from it or adds to it: mark, kind of ending, final newline.
pub(crate) fn same_text(text: &hashline_text::Text, bytes: &[u8]) -> bool {
    let Ok((stored, _)) = hashline_text::decode(bytes) else { return false };
    let blank = |text: &hashline_text::Text| {
        text.is_empty()
            || (text.line_count() == 1
                && text.len_bytes() <= 2
                && text.line(hashline_text::Line(0)).is_some_and(|line| line.content_eq("")))
    };
    if blank(text) && blank(&stored) {
        return true;
    }
    text.line_count() == stored.line_count()
        && text.all_lines().zip(stored.all_lines()).all(|(a, b)| a.content() == b.content())
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
