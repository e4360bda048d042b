//! Files that an agent's program has written by itself, recorded afterwards.

use std::sync::Arc;

use hashline_history::{Draft, Session};
use hashline_text::{DiskForm, Text, decode_again};

use super::OnDisk;
use crate::disk::{DiskError, Place};
use crate::document::{Contents, Document, Millis};
use crate::document_slot::Slot;
use crate::record::{Look, draft, is_beaten, name_in_record};
use crate::refusal_messages::Refusal;
use crate::workspace::Workspace;

/// What a file held before a program wrote it.
pub(crate) enum Before<'a> {
    /// There was none.
    Missing,
    /// This.
    Held(&'a [u8]),
}

impl Workspace {
    /// Records a change of a file that is made already, of a document that no editor has open. `change` is given the document as it was
    /// before, and the text that the file holds now, if there is one, and is to make the one of the other. Nothing is written but the
    /// record. None if there is nothing to be recorded: the file holds what it held before, or no text, or `change` comes to something else.
    ///
    /// # Errors
    ///
    /// As for other changes; [`Refusal::TakenOver`] where an editor has the file, [`Refusal::NoAnswer`] where one may have it.
    pub(crate) fn record_as_made<T>(
        &self,
        slot: &Arc<Slot>,
        before: &Before<'_>,
        change: impl FnOnce(&mut Document, Option<(&Text, DiskForm)>, Millis) -> Result<T, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let Some(place) = slot.place() else { return Ok(None) };
        let store = self.history_of(&place).ok_or_else(|| Refusal::NoFolder { uri: slot.key.clone() })?;
        let mut session = self.session(&store)?;
        if slot.lock().has_fixed()
            && let Err(error) = self.record_in(&mut session, slot, &place, None)
            && !is_beaten(&error)
        {
            return Err(error.into());
        }
        self.not_taken(slot)?;
        let file = match OnDisk::find(slot, &place) {
            Ok(file) => Some(file),
            Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let now = match file.as_ref().map(|file| &file.contents) {
            Some(Contents::Text(text, form)) => Some((text, *form)),
            Some(Contents::Bytes(_)) => return Ok(None),
            None => None,
        };
        if !self.bring_to(slot, &place, before, &mut session)? {
            return Ok(None);
        }
        let mut copy = slot.lock().clone();
        if copy.is_open() {
            return Err(Refusal::TakenOver { path: place.to_text() });
        }
        let is_as_before = match now {
            Some((text, _)) => copy.exists() && copy.text() == text,
            None => !copy.exists(),
        };
        if is_as_before {
            self.end_session(session);
            return Ok(None);
        }
        let done = change(&mut copy, now, self.now())?;
        if copy.exists() != now.is_some() || now.is_some_and(|(text, _)| copy.text() != text) {
            // It stands against what is held. It is found when the file is read next.
            tracing::info!("what was written to {} is no edit of its own", slot.key);
            self.end_session(session);
            return Ok(None);
        }
        let saved = now.map(|(text, form)| {
            copy.set_form(form);
            form.hash(text)
        });
        let mode = file.as_ref().and_then(OnDisk::mode);
        copy.set_file(file.is_some(), name_in_record(&place), mode);
        let state = copy.to_record(&[]);
        let recorded = Draft { saved, ..draft(slot, &place, &state) };
        let appended = self.append_draft(&mut session, &recorded)?;
        copy.was_recorded(&state, state.text_hash());
        {
            let mut recorded = slot.recorded();
            recorded.latest = Some((appended.file, appended.sequence));
            recorded.revision = state.weave.revision();
        }
        self.take_over_copy(slot, copy);
        self.end_session(session);
        slot.recorded().glance = store.glance();
        Ok(Some(done))
    }

    /// Brings a document to what its file held before. False if that was no text.
    fn bring_to(
        &self,
        slot: &Slot,
        place: &Place,
        before: &Before<'_>,
        session: &mut Session,
    ) -> Result<bool, Refusal> {
        match before {
            Before::Held(bytes) => {
                let known = slot.lock().text().clone();
                let Ok((text, form)) = decode_again(bytes, &known) else { return Ok(false) };
                self.bring_up(slot, place, (&text, form), Look::Taken(session))?;
                slot.lock().set_file(true, name_in_record(place), None);
            }
            Before::Missing => {
                self.bring_up_file(slot, place, &Look::Taken(session))?;
                if slot.recorded().latest.is_none() {
                    Self::forget_text(slot, place);
                }
                slot.lock().set_file(false, name_in_record(place), None);
            }
        }
        Ok(true)
    }
}
