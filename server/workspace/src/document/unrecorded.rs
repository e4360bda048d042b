//! What has happened to a document that the record does not have yet, and the state that is recorded with it (rule W15).

use std::sync::Arc;

use hashline_history::{Continuity, Decided, Decision, HunkRef, Located, Location, NewEdit, Registers};
use hashline_text::DiskForm;
use hashline_weave::{HunkId, Weave};

use crate::document::Document;

/// What has happened to the edits of a document since it was recorded last.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// An edit that is recorded together with what it did to the file.
    pub edit: Option<NewEdit>,
    /// The latest decision about each hunk that was decided.
    pub decisions: Vec<Decided>,
    /// Where each hunk is that came into a text or left it.
    pub locations: Vec<Located>,
    /// How the weave goes on from the recorded one.
    pub continuity: Continuity,
}

impl Unrecorded {
    /// Whether nothing has happened that would be missed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edit.is_none() && self.decisions.is_empty() && self.locations.is_empty()
    }

    fn decide(&mut self, decided: Decided) {
        self.decisions.retain(|earlier| earlier.hunk != decided.hunk);
        self.decisions.push(decided);
    }

    fn locate(&mut self, located: Located) {
        self.locations.retain(|earlier| earlier.hunk != located.hunk);
        self.locations.push(located);
    }
}

/// A document as it is to be recorded.
#[derive(Clone, Debug)]
pub struct State {
    /// Its text with all that agents did to it.
    pub weave: Weave,
    /// How its text would be stored.
    pub form: DiskForm,
    /// What the file holds instead, where that is no text.
    pub bytes: Option<Arc<[u8]>>,
    /// Whether there is a file, and its mode bits.
    pub registers: Registers,
    /// What has happened.
    pub unrecorded: Unrecorded,
}

impl Document {
    /// Takes what is to be recorded, together with the hunks of an edit that nobody but its agent knows of yet; those of another such
    /// edit are left out.
    pub fn take_unrecorded(&mut self, provisional: &[HunkId]) -> State {
        let unrecorded = std::mem::take(&mut self.unrecorded);
        let form = self.form;
        let published = self.owners.len();
        let mut weave = self.weave().clone();
        if provisional.is_empty() {
            let concealed: Vec<HunkId> = weave.hunks().skip(published).collect();
            let dropped = weave.unrecord(&concealed);
            debug_assert!(dropped, "what nobody has seen, nobody has switched or built on");
        } else {
            weave.reveal(provisional);
        }
        State { weave, form, bytes: self.bytes.clone(), registers: self.registers(), unrecorded }
    }

    /// Takes back what could not be recorded; what has happened since comes after it.
    pub fn put_back(&mut self, earlier: Unrecorded) {
        let later = std::mem::replace(&mut self.unrecorded, earlier);
        later.decisions.into_iter().for_each(|decided| self.unrecorded.decide(decided));
        later.locations.into_iter().for_each(|located| self.unrecorded.locate(located));
        self.unrecorded.edit = None;
    }

    /// Whether something has happened to its edits that is to be recorded.
    #[must_use]
    pub fn has_unrecorded(&self) -> bool {
        !self.unrecorded.is_empty()
    }

    /// Lets an edit be recorded together with what it does.
    pub(crate) fn note_edit(&mut self, edit: NewEdit) {
        // Made of the text as it is: what it was before is no question any more.
        self.unseen = None;
        self.unrecorded.edit = Some(edit);
    }

    pub(crate) fn note_decision(&mut self, hunk: HunkRef, decision: Decision, reason: Option<String>) {
        self.unrecorded.decide(Decided { hunk, decision, reason });
    }

    /// Notes that a hunk has come into the text or left it.
    pub(crate) fn note_switch(&mut self, id: HunkId, on: bool) {
        let location = match (on, self.is_open()) {
            (false, _) => Location::None,
            (true, true) => Location::Buffer,
            (true, false) => Location::Disk,
        };
        self.note_location(id, location);
    }

    /// Notes where a hunk is.
    pub(crate) fn note_location(&mut self, id: HunkId, location: Location) {
        let Some((edit, hunk)) = self.owner_of(id) else { return };
        if hunk.location == location {
            return;
        }
        self.unrecorded.locate(Located { hunk: edit.name_of(hunk), location });
        if let Some(hunk) = self.hunk_mut(id) {
            hunk.location = location;
        }
    }

    /// Notes whether what a file hunk says is so.
    pub(crate) fn note_file_location(&mut self, hunk: HunkRef, location: Location) {
        self.unrecorded.locate(Located { hunk, location });
    }

    /// Lets what has happened be recorded nowhere: the document is kept in memory alone.
    pub(crate) fn forget_unrecorded(&mut self) {
        self.unrecorded = Unrecorded::default();
    }
}
