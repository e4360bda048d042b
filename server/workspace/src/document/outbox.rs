//! What has happened to a document and is not in the record yet, and the state that is recorded with it (rule W15).
//!
//! A queue: what happened is recorded in the order in which it did, and leaves the queue only when it is recorded. A save has a state of its
//! own, as what happens after it is not saved, and so has a text that gives way to one that is found; all else is recorded with the
//! document as it is when its turn comes. Whatever fails is still there as it was.

use std::collections::VecDeque;
use std::sync::Arc;

use hashline_history::{Continuity, Decided, Decision, HunkRef, Located, Location, NewEdit, Registers};
use hashline_text::{DiskForm, FileHash};
use hashline_weave::{HunkId, Weave};

use crate::document::Document;

/// How many states of their own wait at most. Of later saves it is recorded with the next one that the file has the text.
const FIXED: usize = 64;

/// What has happened to the edits of a document since it was recorded last.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// An edit that is recorded together with what it did to the file.
    pub edit: Option<NewEdit>,
    /// The latest decision about each hunk that was decided.
    pub decisions: Vec<Decided>,
    /// The decisions that wait to be brought into the text until it is recorded that they are wanted.
    pub wanted: Vec<Decided>,
    /// Where each hunk is that came into a text or left it.
    pub locations: Vec<Located>,
    /// The hash of the file, where that was seen to hold the text.
    pub saved: Option<FileHash>,
    /// How the weave goes on from the recorded one.
    pub continuity: Continuity,
    /// The decisions that `wanted` speaks of.
    tokens: Vec<u64>,
}

impl Unrecorded {
    fn add(&mut self, note: Note) {
        match note {
            Note::Decided(decided) => {
                self.decisions.retain(|earlier| earlier.hunk != decided.hunk);
                self.decisions.push(decided);
            }
            Note::Located(located) => self.locate(located),
            Note::Wanted(token, wanted) => {
                self.wanted.extend(wanted);
                self.tokens.push(token);
            }
            Note::Edited(edit) => self.edit = Some(*edit),
            Note::Saved(hash) => self.saved = Some(hash),
            Note::Unobserved => self.continuity = Continuity::Unobserved,
        }
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
    /// The last that has happened.
    upto: Serial,
    /// The hunks that the text had and the file had not, where this is the document as its editor has saved it.
    saved: Option<Vec<HunkRef>>,
    /// It is the first that waits in the queue as it was at one moment.
    is_fixed: bool,
}

impl State {
    /// Whether this is the document as its editor has saved it.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Notes that the file holds the text, with this hash; or another one's, where something has formatted it meanwhile: then its hash is
    /// all that is known of it.
    pub fn is_stored(&mut self, form: DiskForm, hash: FileHash) {
        self.unrecorded.saved = Some(hash);
        if form.hash(self.weave.buffer()) != hash {
            self.saved = Some(Vec::new());
            return;
        }
        self.form = form;
        for hunk in self.saved.iter().flatten() {
            self.unrecorded.locate(Located { hunk: hunk.clone(), location: Location::Disk });
        }
    }

    /// Whether a decision is recorded as wanted by this.
    #[must_use]
    pub fn wants(&self) -> bool {
        !self.unrecorded.wanted.is_empty()
    }
}

/// Counts what happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Serial(u64);

/// One thing that has happened.
#[derive(Clone, Debug)]
enum Note {
    Decided(Decided),
    Located(Located),
    /// A decision is wanted, under this number.
    Wanted(u64, Vec<Decided>),
    Edited(Box<NewEdit>),
    /// The file was seen to hold the text.
    Saved(FileHash),
    /// Nobody watched how the text came to be.
    Unobserved,
}

impl Note {
    /// Whether it would be missed. How the text came to be is told with the next that is.
    fn counts(&self) -> bool {
        !matches!(self, Note::Saved(_) | Note::Unobserved)
    }
}

/// The document as it was at one moment.
#[derive(Clone, Debug)]
struct Fixed {
    state: State,
    /// Hunks of an edit that was not recorded yet.
    provisional: Vec<HunkId>,
}

/// What is to be recorded, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    notes: VecDeque<(Serial, Note)>,
    fixed: VecDeque<Fixed>,
    last: Serial,
}

impl Outbox {
    fn push(&mut self, note: Note) {
        self.last.0 += 1;
        self.notes.push_back((self.last, note));
    }

    fn is_empty(&self) -> bool {
        self.fixed.is_empty() && !self.notes.iter().any(|(_, note)| note.counts())
    }

    /// What has happened up to a moment.
    fn upto(&self, last: Serial) -> Unrecorded {
        let mut all = Unrecorded::default();
        let notes = self.notes.iter().take_while(|(serial, _)| *serial <= last);
        notes.for_each(|(_, note)| all.add(note.clone()));
        all
    }

    /// An edit is recorded: those who saved meanwhile had its hunks.
    fn published(&mut self, hunks: &[HunkId]) {
        for fixed in &mut self.fixed {
            if fixed.provisional.iter().any(|id| hunks.contains(id)) {
                fixed.provisional.clear();
                fixed.state.weave.reveal(hunks);
            }
        }
    }

    /// An edit is not recorded.
    fn withdrawn(&mut self, hunks: &[HunkId]) {
        for fixed in &mut self.fixed {
            if fixed.provisional.iter().any(|id| hunks.contains(id)) {
                fixed.state.weave.unrecord(hunks);
                fixed.provisional.clear();
            }
        }
    }
}

impl Document {
    /// What is to be recorded next: what the editor has saved before anything else, then the document as it is, together with the hunks
    /// of an edit that nobody but its agent knows of yet. Those of another such edit are left out.
    pub fn to_record(&mut self, provisional: &[HunkId]) -> State {
        if let Some(fixed) = self.outbox.fixed.front() {
            let mut state = fixed.state.clone();
            if !fixed.provisional.is_empty() {
                state.weave.unrecord(&fixed.provisional);
            }
            state.unrecorded = self.outbox.upto(state.upto);
            state.is_fixed = true;
            return state;
        }
        let published = self.owners.len();
        let mut state = self.state_now();
        let concealed: Vec<HunkId> = state.weave.hunks().skip(published).collect();
        if !provisional.is_empty() {
            state.weave.reveal(provisional);
        } else if !concealed.is_empty() {
            let dropped = state.weave.unrecord(&concealed);
            debug_assert!(dropped, "what nobody has seen, nobody has switched or built on");
        }
        state
    }

    fn state_now(&mut self) -> State {
        State {
            weave: self.weave().clone(),
            form: self.form,
            bytes: self.bytes.clone(),
            registers: self.registers(),
            unrecorded: self.outbox.upto(self.outbox.last),
            upto: self.outbox.last,
            saved: None,
            is_fixed: false,
        }
    }

    /// The editor has written the text to the file. That is recorded by itself: what happens from now on is not saved.
    pub fn was_saved(&mut self) {
        if self.edits.is_empty() || self.outbox.fixed.len() == FIXED {
            return;
        }
        let hunks = self.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
        let in_buffer = hunks.filter(|(_, hunk)| hunk.location == Location::Buffer);
        let saved = Some(in_buffer.map(|(edit, hunk)| edit.name_of(hunk)).collect());
        self.fix(saved);
    }

    /// Has what happened until now recorded with the document as it is now.
    fn fix(&mut self, saved: Option<Vec<HunkRef>>) {
        let published = self.owners.len();
        let state = State { saved, ..self.state_now() };
        let provisional = state.weave.hunks().skip(published).collect();
        self.outbox.fixed.push_back(Fixed { state, provisional });
    }

    /// An editor opens the document, or reads it again, with another text, and what became of its edits in that is looked up in the record
    /// as soon as that has all that happened before. Until then nothing that the text seems to say of them counts.
    pub(crate) fn look_up_later(&mut self, take_over: impl FnOnce(&mut Self)) {
        if self.has_unrecorded() {
            self.fix(None);
        }
        let outbox = self.outbox.clone();
        take_over(self);
        self.outbox = outbox;
    }

    /// Whether states of their own wait to be recorded.
    pub(crate) fn has_fixed(&self) -> bool {
        !self.outbox.fixed.is_empty()
    }

    /// A state is recorded. True if there is something to deliver now.
    pub fn was_recorded(&mut self, state: &State) -> bool {
        let still = |(serial, _): &(Serial, Note)| *serial > state.upto;
        self.outbox.notes.retain(still);
        if state.is_fixed {
            self.outbox.fixed.pop_front();
        }
        self.are_on_disk(state.saved.as_deref().unwrap_or_default());
        let tokens = &state.unrecorded.tokens;
        self.wanted.was_recorded(|token| tokens.contains(&token));
        self.asking_was_recorded(|number| tokens.contains(&number));
        self.news.deliver |= !tokens.is_empty();
        !tokens.is_empty()
    }

    fn are_on_disk(&mut self, hunks: &[HunkRef]) {
        for edit in &mut self.edits {
            for hunk in edit.hunks.iter_mut().filter(|hunk| hunk.location == Location::Buffer) {
                let is = |name: &HunkRef| name.edit == edit.id && name.number == hunk.number;
                if hunks.iter().any(is) {
                    hunk.location = Location::Disk;
                }
            }
        }
    }

    /// A state could not be recorded: all of it is still to be, but for the decisions that were only wanted. Those are not made: the text is
    /// as it was. True if there were any.
    pub fn was_not_recorded(&mut self, state: &State) -> bool {
        self.drop_wanted_upto(state.upto)
    }

    /// Lets the decisions that wait for the record not be made. True if there were any.
    pub fn drop_wanted(&mut self) -> bool {
        self.drop_wanted_upto(self.outbox.last)
    }

    fn drop_wanted_upto(&mut self, last: Serial) -> bool {
        let mut tokens = Vec::new();
        let dropped = &mut self.dropped;
        self.outbox.notes.retain(|(serial, note)| match note {
            Note::Wanted(token, wanted) if *serial <= last => {
                tokens.push(*token);
                dropped.extend(wanted.iter().map(|wanted| wanted.hunk.clone()));
                false
            }
            _ => true,
        });
        self.forget_wishes(&tokens);
        self.asking_was_not_recorded(&tokens);
        self.news.review |= !tokens.is_empty();
        !tokens.is_empty()
    }

    /// From now on a decision of the person is sent to the editor when it is recorded that it is wanted (rule W16).
    pub fn record_before_delivery(&mut self) {
        self.is_recorded = true;
    }

    /// Whether a decision waits for the record.
    #[must_use]
    pub fn is_waiting_for_record(&self) -> bool {
        self.wanted.iter().any(|(_, wish)| !wish.is_recorded) || self.asking_waits_for_record()
    }

    /// The hunks of decisions that were not made, as they could not be recorded or others were quicker, since this was asked last.
    pub fn take_dropped(&mut self) -> Vec<HunkRef> {
        std::mem::take(&mut self.dropped)
    }

    /// Whether a decision has to be recorded before it is sent; notes it then.
    pub(crate) fn note_wanted(
        &mut self,
        token: u64,
        hunks: &[HunkId],
        decision: Option<Decision>,
        reason: Option<&String>,
    ) -> bool {
        let Some(decision @ (Decision::Accepted | Decision::Rejected)) = decision else { return false };
        let hunks: Vec<HunkRef> = hunks.iter().filter_map(|id| self.name(*id)).collect();
        self.note_wanted_hunks(token, hunks, decision, reason)
    }

    /// The same for these hunks.
    pub(crate) fn note_wanted_hunks(
        &mut self,
        token: u64,
        hunks: Vec<HunkRef>,
        decision: Decision,
        reason: Option<&String>,
    ) -> bool {
        if !self.is_recorded || !self.is_open() {
            return false;
        }
        let wanted = hunks.into_iter().map(|hunk| Decided { hunk, decision, reason: reason.cloned() });
        self.outbox.push(Note::Wanted(token, wanted.collect()));
        true
    }

    /// Whether something has happened to its edits that is to be recorded.
    #[must_use]
    pub fn has_unrecorded(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The decisions that are not recorded yet.
    pub(crate) fn unrecorded_decisions(&self) -> Vec<Decided> {
        self.outbox.upto(self.outbox.last).decisions
    }

    /// Lets an edit be recorded together with what it does.
    pub(crate) fn note_edit(&mut self, edit: NewEdit) {
        // Made of the text as it is: what it was before is no question any more.
        self.unseen = None;
        self.outbox.push(Note::Edited(Box::new(edit)));
    }

    /// The hunks of an edit are recorded, and may be seen.
    pub(crate) fn note_published(&mut self, hunks: &[HunkId]) {
        self.outbox.published(hunks);
    }

    /// The hunks of an edit are not recorded, and gone.
    pub(crate) fn note_withdrawn(&mut self, hunks: &[HunkId]) {
        self.outbox.withdrawn(hunks);
    }

    pub(crate) fn note_decision(&mut self, hunk: HunkRef, decision: Decision, reason: Option<String>) {
        self.outbox.push(Note::Decided(Decided { hunk, decision, reason }));
    }

    /// Notes that nobody watched how the text came to be.
    pub(crate) fn note_unobserved(&mut self) {
        self.outbox.push(Note::Unobserved);
    }

    /// Notes that the file was seen to hold the text.
    pub(crate) fn note_seen_on_disk(&mut self) {
        if self.outbox.notes.iter().any(|(_, note)| matches!(note, Note::Located(_))) {
            let hash = self.form.hash(self.text());
            self.outbox.push(Note::Saved(hash));
        }
    }

    /// Notes that a hunk has come into the text or left it.
    pub(crate) fn note_switch(&mut self, id: HunkId, on: bool) {
        let location = match (on, self.is_open()) {
            (false, _) => Location::None,
            (true, true) => Location::Buffer,
            (true, false) => Location::Disk,
        };
        self.note_location(id, location);
        self.hide_if_taken_out(id, on);
    }

    /// Keeps an accepted hunk that something else has taken out from what agents see, as long as it is.
    pub(crate) fn hide_if_taken_out(&mut self, id: HunkId, on: bool) {
        if self.owner_of(id).is_some_and(|(_, hunk)| hunk.decision == Decision::Accepted) {
            self.weave().set_refused(id, !on);
        }
    }

    /// Notes where a hunk is.
    pub(crate) fn note_location(&mut self, id: HunkId, location: Location) {
        let Some((edit, hunk)) = self.owner_of(id) else { return };
        if hunk.location == location {
            return;
        }
        let hunk = edit.name_of(hunk);
        self.outbox.push(Note::Located(Located { hunk, location }));
        if let Some(hunk) = self.hunk_mut(id) {
            hunk.location = location;
        }
    }

    /// Notes whether what a file hunk says is so.
    pub(crate) fn note_file_location(&mut self, hunk: HunkRef, location: Location) {
        self.outbox.push(Note::Located(Located { hunk, location }));
    }

    /// Lets what has happened be recorded nowhere: the document is kept in memory alone, or another process records it.
    pub(crate) fn forget_unrecorded(&mut self) {
        let last = self.outbox.last;
        self.outbox = Outbox { last, ..Outbox::default() };
        self.news.deliver |= self.is_waiting_for_record();
        self.wanted.was_recorded(|_| true);
        self.asking_was_recorded(|_| true);
    }
}
