//! Writing the files of documents that no editor has open: what is meant is recorded before, and that it was done afterwards.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use hashline_history::{Draft, Effect, FilesNow, Session, Subject};
use hashline_text::FileHash;

use super::OnDisk;
use crate::disk::{
    DiskError, Expect, HardLinks, Place, check_writable, create, make_room, remove, remove_leftovers, rename,
    write_from,
};
use crate::document::{Contents, Document, Millis, State};
use crate::document_slot::Slot;
use crate::record::{Recorded, draft, is_beaten, name_in_record, uri_of};
use crate::refusal_messages::Refusal;
use crate::workspace::{Workspace, key_of};

impl Workspace {
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
