//! Noting what happens, and what is recorded of it.

use hashline_history::{Decided, Decision, HunkRef, Located, Location, NewEdit, Reason};
use hashline_text::FileHash;
use hashline_weave::HunkId;

use crate::document::Document;
use crate::document::outbox::{FIXED, Fixed, Note, Queue, Serial, State};

impl Document {
    /// What is to be recorded next: what the editor has saved before anything else, then the document as it is, together with the hunks
    /// of an edit that nobody but its agent knows of yet. Those of another such edit are left out.
    pub fn to_record(&mut self, provisional: &[HunkId]) -> State {
        if let Some(fixed) = self.outbox.queue.fixed.front() {
            let mut state = fixed.state.clone();
            if !fixed.provisional.is_empty() {
                state.weave.unrecord(&fixed.provisional);
            }
            state.unrecorded = self.outbox.queue.upto(state.upto);
            state.is_fixed = true;
            return state;
        }
        let published = self.edits.known_hunks();
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
            form: self.form(),
            bytes: self.bytes().cloned(),
            registers: self.registers(),
            unrecorded: self.outbox.queue.upto(self.outbox.queue.last),
            upto: self.outbox.queue.last,
            saved: None,
            is_fixed: false,
        }
    }

    /// The editor has written the text to the file. That is recorded by itself: what happens from now on is not saved.
    pub fn was_saved(&mut self) {
        if self.edits.is_empty() || self.outbox.queue.fixed.len() == FIXED {
            return;
        }
        let hunks = self.edits.all().iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
        let in_buffer = hunks.filter(|(_, hunk)| hunk.location == Location::Buffer);
        let saved = Some(in_buffer.map(|(edit, hunk)| edit.name_of(hunk)).collect());
        self.fix(saved);
    }

    /// Has what happened until now recorded with the document as it is now.
    fn fix(&mut self, saved: Option<Vec<HunkRef>>) {
        let published = self.edits.known_hunks();
        let state = State { saved, ..self.state_now() };
        let provisional = state.weave.hunks().skip(published).collect();
        self.text.note_recorded(state.text_hash());
        self.outbox.queue.fixed.push_back(Fixed { state, provisional, left: Vec::new() });
    }

    /// An editor opens the document, or reads it again, with another text, and what became of its edits in that is looked up in the record
    /// as soon as that has all that happened before, and the text that gives way: an undo may lead back to it. Until then nothing that the
    /// new text seems to say of them counts.
    pub(crate) fn look_up_later(&mut self, take_over: impl FnOnce(&mut Self)) {
        let may_come_back = self.is_open() && !self.edits.is_empty() && !self.text.is_recorded(self.text());
        if self.has_unrecorded() || may_come_back {
            self.fix(None);
        }
        let queue = self.outbox.queue.clone();
        take_over(self);
        self.outbox.queue = queue;
    }

    /// Whether states of their own wait to be recorded.
    pub(crate) fn has_fixed(&self) -> bool {
        !self.outbox.queue.fixed.is_empty()
    }

    /// A state is recorded, with a text of this hash. True if there is something to deliver now.
    pub fn was_recorded(&mut self, state: &State, text: Option<FileHash>) -> bool {
        self.text.note_recorded(text);
        let still = |(serial, _): &(Serial, Note)| *serial > state.upto;
        self.outbox.queue.notes.retain(still);
        let fixed = if state.is_fixed { self.outbox.queue.fixed.pop_front() } else { None };
        let left = fixed.map(|fixed| fixed.left).unwrap_or_default();
        let saved = state.saved.iter().flatten().filter(|hunk| !left.contains(hunk));
        self.edits.are_on_disk(&saved.cloned().collect::<Vec<_>>());
        let tokens = &state.unrecorded.tokens;
        self.wanted.was_recorded(|token| tokens.contains(&token));
        self.asking_was_recorded(|number| tokens.contains(&number));
        if !tokens.is_empty() {
            self.news.deliver();
        }
        !tokens.is_empty()
    }

    /// A state could not be recorded: all that has happened is still to be, but for the decisions that were only wanted, behind it in the queue,
    /// too. Those are not made: the text is as it was. True if there were any.
    pub fn was_not_recorded(&mut self) -> bool {
        let mut tokens = Vec::new();
        let dropped = &mut self.outbox.dropped;
        self.outbox.queue.notes.retain(|(_, note)| match note {
            Note::Wanted(token, wanted) => {
                tokens.push(*token);
                dropped.extend(wanted.iter().map(|wanted| wanted.hunk.clone()));
                false
            }
            _ => true,
        });
        self.forget_wishes(&tokens);
        self.asking_was_not_recorded(&tokens);
        if !tokens.is_empty() {
            self.news.review();
        }
        !tokens.is_empty()
    }

    /// From now on a decision of the person is sent to the editor when it is recorded that it is wanted (rule W16).
    pub fn record_before_delivery(&mut self) {
        self.outbox.is_recorded = true;
    }

    /// Whether a decision waits for the record.
    #[must_use]
    pub fn is_waiting_for_record(&self) -> bool {
        self.wanted.iter().any(|(_, wish)| !wish.is_recorded) || self.asking_waits_for_record()
    }

    /// The hunks of decisions that were not made, as they could not be recorded or others were quicker, since this was asked last.
    pub fn take_dropped(&mut self) -> Vec<HunkRef> {
        std::mem::take(&mut self.outbox.dropped)
    }

    /// Whether a decision has to be recorded before it is sent; notes it then.
    pub(crate) fn note_wanted(
        &mut self,
        token: u64,
        hunks: &[HunkId],
        decision: Option<Decision>,
        reason: Option<&Reason>,
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
        reason: Option<&Reason>,
    ) -> bool {
        if !self.outbox.is_recorded || !self.is_open() {
            return false;
        }
        let wanted = hunks.into_iter().map(|hunk| Decided { hunk, decision, reason: reason.cloned() });
        self.outbox.queue.push(Note::Wanted(token, wanted.collect()));
        true
    }

    /// Whether something has happened to its edits that is to be recorded.
    #[must_use]
    pub fn has_unrecorded(&self) -> bool {
        !self.outbox.queue.is_empty()
    }

    /// The decisions that are not recorded yet.
    pub(crate) fn unrecorded_decisions(&self) -> Vec<Decided> {
        self.outbox.queue.upto(self.outbox.queue.last).decisions
    }

    /// Lets an edit be recorded together with what it does.
    pub(crate) fn note_edit(&mut self, edit: NewEdit) {
        // Made of the text as it is: what it was before is no question any more.
        self.text.keep_unseen();
        self.outbox.queue.push(Note::Edited(Box::new(edit)));
    }

    /// The hunks of an edit are recorded, and may be seen.
    pub(crate) fn note_published(&mut self, hunks: &[HunkId]) {
        self.outbox.queue.published(hunks);
    }

    /// The hunks of an edit are not recorded, and gone.
    pub(crate) fn note_withdrawn(&mut self, hunks: &[HunkId]) {
        self.outbox.queue.withdrawn(hunks);
    }

    pub(crate) fn note_decision(&mut self, hunk: HunkRef, decision: Decision, reason: Option<Reason>) {
        self.outbox.queue.push(Note::Decided(Decided { hunk, decision, reason }));
    }

    /// Notes that nobody watched how the text came to be.
    pub(crate) fn note_unobserved(&mut self) {
        self.outbox.queue.push(Note::Unobserved);
    }

    /// Notes that the file was seen to hold the text.
    pub(crate) fn note_seen_on_disk(&mut self) {
        if self.outbox.queue.notes.iter().any(|(_, note)| matches!(note, Note::Located(_))) {
            self.note_saved(self.form().hash(self.text()));
        }
    }

    /// Notes that the file holds a text with this hash. By itself that is not recorded, but with what comes next.
    pub(crate) fn note_saved(&mut self, hash: FileHash) {
        self.outbox.queue.push(Note::Saved(hash));
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
        if location == Location::None {
            self.outbox.queue.fixed.iter_mut().for_each(|fixed| fixed.left.push(hunk.clone()));
        }
        self.outbox.queue.push(Note::Located(Located { hunk, location }));
        self.edits.locate(id, location);
    }

    /// Notes whether what a file hunk says is so.
    pub(crate) fn note_file_location(&mut self, hunk: HunkRef, location: Location) {
        self.outbox.queue.push(Note::Located(Located { hunk, location }));
    }

    /// Lets what has happened be recorded nowhere: the document is kept in memory alone, or another process records it.
    pub(crate) fn forget_unrecorded(&mut self) {
        let last = self.outbox.queue.last;
        self.outbox.queue = Queue { last, ..Queue::default() };
        if self.is_waiting_for_record() {
            self.news.deliver();
        }
        self.wanted.was_recorded(|_| true);
        self.asking_was_recorded(|_| true);
    }
}
