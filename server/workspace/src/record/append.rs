//! Writing to the record.

use hashline_history::{Appended, Draft, NewEdit, Now, Session, Store, StoreError, Subject};
use hashline_text::{DiskForm, FileHash};
use hashline_weave::HunkId;

use crate::disk::{Place, read};
use crate::document::State;
use crate::document_slot::Slot;
use crate::record::{Job, Whose, name_in_record};
use crate::workspace::{Event, Workspace};

/// An edit that is recorded before anybody sees it.
pub(crate) struct Provisional<'a> {
    pub edit: NewEdit,
    pub hunks: &'a [HunkId],
}

/// A history that is still taken: what was recorded is durable, but logs and diffs do not have it yet. They get it when this is dropped,
/// so that whoever waits for an answer need not wait for them. Until then nobody else can take the history, this thread included.
#[must_use = "dropping it writes logs and diffs"]
pub(crate) struct Unfinished(Option<(Workspace, Session)>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((workspace, session)) = self.0.take() {
            workspace.end_session(session);
        }
    }
}

impl Workspace {
    /// Takes a history for writing; what was repaired in it is told to the person. Blocks.
    pub(crate) fn session(&self, store: &Store) -> Result<Session, StoreError> {
        let session = store.session(self)?;
        for repair in session.repairs() {
            self.notice(repair.clone());
        }
        Ok(session)
    }

    /// Finishes or takes back what a process left unfinished in a history that ended too early. Returns what, in sentences; what cannot be
    /// mended now is told by whoever writes next. Blocks.
    #[must_use]
    pub fn mend(&self, store: &Store) -> Vec<String> {
        let Ok(session) = store.session(self) else { return Vec::new() };
        let mut told = session.repairs().to_vec();
        told.extend(session.finish());
        told
    }

    /// Tells the person something, if anybody listens.
    pub(crate) fn notice(&self, words: String) {
        tracing::info!("{words}");
        let _ = self.inner.events.send(Event::Notice(words));
    }

    /// Records what has happened to a document since it was recorded last, and an edit that is about to. Blocks. When this returns the
    /// record is durable; logs and diffs are written when what it returns is dropped.
    ///
    /// # Errors
    ///
    /// It is as if nothing had been tried: what has happened is still to be recorded. That other processes were quicker is an error for
    /// an edit alone: what else has happened is brought together with what they did.
    pub(crate) fn record(
        &self,
        slot: &Slot,
        edit: Option<Provisional<'_>>,
    ) -> Result<Unfinished, StoreError> {
        let store = slot.place().and_then(|place| Some((self.history_of(&place)?, place)));
        let Some((store, place)) = store else {
            // It lives in memory alone.
            slot.lock().forget_unrecorded();
            return Ok(Unfinished(None));
        };
        let session = self.session(&store).inspect_err(|error| {
            let (dropped, more) = {
                let mut document = slot.lock();
                (document.was_not_recorded(), document.has_unrecorded())
            };
            if dropped && (edit.is_some() || more) {
                self.tell_not_made(slot, error);
            }
        });
        let mut session = session?;
        if slot.whose().other().is_some() && edit.is_none() {
            // What becomes of its edits is recorded by another process.
            slot.lock().forget_unrecorded();
            return Ok(Unfinished(None));
        }
        let known = slot.recorded().latest;
        if let Some((file, last)) = known
            && let Some(now) = session.goes_on_from(file, last)
        {
            // What this process wrote before, and could not say so.
            slot.recorded().latest = Some((file, now));
        }
        let is_edit = edit.is_some();
        match self.record_in(&mut session, slot, &place, edit) {
            Ok(()) => slot.recorded().glance = store.glance(),
            // What others have recorded is not known here yet: it still has to be looked at.
            Err(error) if is_beaten(&error) && !is_edit => {}
            Err(error) => return Err(error),
        }
        Ok(Unfinished(Some((self.clone(), session))))
    }

    /// The same with the history taken.
    pub(crate) fn record_in(
        &self,
        session: &mut Session,
        slot: &Slot,
        place: &Place,
        edit: Option<Provisional<'_>>,
    ) -> Result<(), StoreError> {
        let had_fixed = slot.lock().has_fixed();
        while slot.lock().has_fixed() {
            self.record_next(session, slot, place, None, edit.is_some())?;
        }
        // What a text that is found says of its edits is a guess until the record was asked.
        if edit.is_none() && (slot.is_guessed() || had_fixed && !self.has_more_than_recorded(slot)) {
            return Ok(());
        }
        let is_edit = edit.is_some();
        self.record_next(session, slot, place, edit, is_edit)
    }

    /// Records what comes next of a document. `for_edit`: an agent waits for it.
    fn record_next(
        &self,
        session: &mut Session,
        slot: &Slot,
        place: &Place,
        edit: Option<Provisional<'_>>,
        for_edit: bool,
    ) -> Result<(), StoreError> {
        let hunks = edit.as_ref().map_or(&[][..], |edit| edit.hunks);
        let mut state = slot.lock().to_record(hunks);
        if let Some(edit) = edit {
            state.unrecorded.edit = Some(edit.edit);
        }
        // A file that cannot be read was not saved, as far as anybody can tell.
        if state.is_saved()
            && let Ok(bytes) = read(place)
        {
            let form = DiskForm::behind(state.weave.buffer(), &bytes.bytes);
            state.is_stored(form, FileHash::of(&bytes.bytes));
        }
        let Err(error) = self.append(session, slot, place, &state) else { return Ok(()) };
        let (dropped, more) = {
            let mut document = slot.lock();
            (document.was_not_recorded(), document.has_unrecorded())
        };
        if dropped && (for_edit || more) {
            // It is others that hear of the rest.
            self.tell_not_made(slot, &error);
        }
        if is_beaten(&error) {
            self.give_way(session, slot, place, &error)?;
        }
        Err(error)
    }

    /// Tells the person that a decision was not made.
    pub(crate) fn tell_not_made(&self, slot: &Slot, error: &StoreError) {
        self.notice(format!(
            "A decision about edits in {} could not be recorded: {error}. It was not made, and the text is as it was; decide again.",
            slot.key
        ));
    }

    /// Writes the state of a document to the record.
    pub(crate) fn append(
        &self,
        session: &mut Session,
        slot: &Slot,
        place: &Place,
        state: &State,
    ) -> Result<Appended, StoreError> {
        let owner = self.claim(session, slot, place)?;
        let appended = self.append_draft(session, &Draft { owner, ..draft(slot, place, state) })?;
        let mut recorded = slot.recorded();
        if recorded.latest.is_none() {
            recorded.generation = session.generation();
        }
        recorded.latest = Some((appended.file, appended.sequence));
        recorded.moved = None;
        recorded.revision = state.weave.revision();
        drop(recorded);
        // Before the document is taken: no key waits for a hash.
        let text = state.text_hash();
        let delivers = {
            let mut document = slot.lock();
            if document.is_open() && self.is_one_of_several() {
                slot.set_whose(Whose::Own);
            }
            document.was_recorded(state, text).then(|| document.uri().to_owned())
        };
        if let Some(uri) = delivers {
            let _ = self.inner.events.send(Event::Deliver(uri));
        }
        Ok(appended)
    }

    /// Writes a draft to the record. A line that could be neither made durable nor taken back is taken back as soon as the disk lets us:
    /// until then other processes read what was refused here.
    pub(crate) fn append_draft(
        &self,
        session: &mut Session,
        draft: &Draft<'_>,
    ) -> Result<Appended, StoreError> {
        session.append(draft).inspect_err(|_| {
            if session.store().is_unsure() {
                self.later(Job::TakeBack(session.store().clone()));
            }
        })
    }

    /// Ends a session: what could not be written besides the record is told.
    pub(crate) fn end_session(&self, session: Session) {
        for words in session.finish() {
            self.notice(words);
        }
    }
}

/// Whether something was not recorded as another process has been quicker, or decides.
pub(crate) fn is_beaten(error: &StoreError) -> bool {
    matches!(error, StoreError::Stale { .. } | StoreError::Owned { .. })
}

/// What is to be recorded of a document.
pub(crate) fn draft<'a>(slot: &Slot, place: &Place, state: &'a State) -> Draft<'a> {
    let recorded = *slot.recorded();
    let unrecorded = &state.unrecorded;
    Draft {
        file: recorded.moved.map_or(Subject::Named, Subject::File),
        since: recorded.latest.map(|(_, sequence)| sequence),
        now: Some(match &state.bytes {
            Some(bytes) => Now::Bytes(bytes),
            None => Now::Text { weave: &state.weave, form: state.form, hash: None },
        }),
        registers: Some(state.registers),
        continuity: unrecorded.continuity,
        edit: unrecorded.edit.clone(),
        decisions: unrecorded.decisions.clone(),
        wanted: unrecorded.wanted.clone(),
        locations: unrecorded.locations.clone(),
        saved: unrecorded.saved,
        ..Draft::about(name_in_record(place))
    }
}
