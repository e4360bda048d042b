//! What has happened to a document that the record does not have yet, and the state that is recorded with it (rule W15).

use std::sync::Arc;

use hashline_history::{Continuity, Decided, Decision, HunkRef, Located, Location, NewEdit, Registers};
use hashline_text::{DiskForm, FileHash};
use hashline_weave::{HunkId, Plan, Weave};

use crate::document::Document;

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
    /// The intents that `wanted` speaks of.
    tokens: Vec<u64>,
}

impl Unrecorded {
    /// Whether nothing has happened that would be missed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edit.is_none()
            && self.decisions.is_empty()
            && self.wanted.is_empty()
            && self.locations.is_empty()
    }

    /// The hunks that were decided.
    #[must_use]
    pub fn decided(&self) -> Vec<HunkRef> {
        self.decisions.iter().map(|decided| decided.hunk.clone()).collect()
    }

    fn decide(&mut self, decided: Decided) {
        self.decisions.retain(|earlier| earlier.hunk != decided.hunk);
        self.decisions.push(decided);
    }

    fn locate(&mut self, located: Located) {
        self.locations.retain(|earlier| earlier.hunk != located.hunk);
        self.locations.push(located);
    }

    /// Together with what has happened after it.
    fn and_then(mut self, later: Self) -> Self {
        later.decisions.into_iter().for_each(|decided| self.decide(decided));
        later.locations.into_iter().for_each(|located| self.locate(located));
        self.wanted.extend(later.wanted);
        self.tokens.extend(later.tokens);
        if later.continuity == Continuity::Unobserved {
            self.continuity = later.continuity;
        }
        Self { edit: later.edit, saved: later.saved, ..self }
    }
}

/// A document as its editor has saved it, until that is recorded.
#[derive(Clone, Debug)]
pub struct Saved {
    /// As it was then.
    pub state: State,
    /// The hunks that the text had and the file had not.
    pub hunks: Vec<HunkRef>,
}

impl Saved {
    /// Notes that the file holds the text, with this hash; or another one's, where something has formatted it meanwhile: then its hash is
    /// all that is known of it.
    pub fn is_stored(&mut self, form: DiskForm, hash: FileHash) {
        let state = &mut self.state;
        state.unrecorded.saved = Some(hash);
        if form.hash(state.weave.buffer()) != hash {
            self.hunks.clear();
            return;
        }
        state.form = form;
        for hunk in &self.hunks {
            state.unrecorded.locate(Located { hunk: hunk.clone(), location: Location::Disk });
        }
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
        let concealed: Vec<HunkId> = weave.hunks().skip(published).collect();
        if !provisional.is_empty() {
            weave.reveal(provisional);
        } else if !concealed.is_empty() {
            let dropped = weave.unrecord(&concealed);
            debug_assert!(dropped, "what nobody has seen, nobody has switched or built on");
        }
        State { weave, form, bytes: self.bytes.clone(), registers: self.registers(), unrecorded }
    }

    /// The editor has written the text to the file. That is recorded by itself: what happens from now on is not saved.
    pub fn was_saved(&mut self) {
        if self.edits.is_empty() {
            return;
        }
        let mut state = self.take_unrecorded(&[]);
        if let Some(earlier) = self.saved.take() {
            state.unrecorded = earlier.state.unrecorded.and_then(state.unrecorded);
        }
        let hunks = self.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
        let in_buffer = hunks.filter(|(_, hunk)| hunk.location == Location::Buffer);
        let hunks = in_buffer.map(|(edit, hunk)| edit.name_of(hunk)).collect();
        self.saved = Some(Box::new(Saved { state, hunks }));
    }

    /// Whether something was saved and is not recorded yet.
    pub(crate) fn has_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Takes what was saved and is not recorded yet.
    pub(crate) fn take_saved(&mut self) -> Option<Box<Saved>> {
        self.saved.take()
    }

    /// What was saved is recorded.
    pub(crate) fn save_was_recorded(&mut self, saved: &Saved) {
        for edit in &mut self.edits {
            for hunk in edit.hunks.iter_mut().filter(|hunk| hunk.location == Location::Buffer) {
                let is = |name: &HunkRef| name.edit == edit.id && name.number == hunk.number;
                if saved.hunks.iter().any(is) {
                    hunk.location = Location::Disk;
                }
            }
        }
    }

    /// Takes back what was saved and could not be recorded. Decisions that were only wanted are not made.
    pub(crate) fn put_back_saved(&mut self, mut saved: Box<Saved>) {
        let unrecorded = &mut saved.state.unrecorded;
        let (wanted, tokens) =
            (std::mem::take(&mut unrecorded.wanted), std::mem::take(&mut unrecorded.tokens));
        self.not_made(wanted, &tokens);
        match &mut self.saved {
            None => self.saved = Some(saved),
            // It was saved again meanwhile.
            Some(later) => {
                let after = std::mem::take(&mut later.state.unrecorded);
                later.state.unrecorded = saved.state.unrecorded.and_then(after);
            }
        }
    }

    /// Takes back what could not be recorded; what has happened since comes after it. A decision that was only wanted is not made then:
    /// the text is as it was.
    pub fn put_back(&mut self, mut earlier: Unrecorded) {
        self.not_made(std::mem::take(&mut earlier.wanted), &std::mem::take(&mut earlier.tokens));
        let later = std::mem::take(&mut self.unrecorded);
        self.unrecorded = earlier.and_then(later);
    }

    /// Takes what has happened, for a state of the document that others have recorded.
    pub(crate) fn take_happened(&mut self) -> Unrecorded {
        let later = std::mem::take(&mut self.unrecorded);
        match self.saved.take() {
            Some(saved) => saved.state.unrecorded.and_then(later),
            None => later,
        }
    }

    fn not_made(&mut self, wanted: Vec<Decided>, tokens: &[u64]) {
        self.dropped.extend(wanted.into_iter().map(|wanted| wanted.hunk));
        self.flow.intents.retain(|intent| intent.is_recorded || !tokens.contains(&intent.token));
        self.asking_was_not_recorded(tokens);
        self.news.review |= !tokens.is_empty();
    }

    /// Lets the decisions that wait for the record not be made. True if there were any.
    pub fn drop_wanted(&mut self) -> bool {
        let (wanted, tokens) =
            (std::mem::take(&mut self.unrecorded.wanted), std::mem::take(&mut self.unrecorded.tokens));
        let any = !tokens.is_empty();
        self.not_made(wanted, &tokens);
        any
    }

    /// From now on a decision of the person is sent to the editor when it is recorded that it is wanted (rule W16).
    pub fn record_before_delivery(&mut self) {
        self.is_recorded = true;
    }

    /// What was taken to be recorded is recorded. True if there is something to deliver now.
    pub fn was_recorded(&mut self, state: &State) -> bool {
        let tokens = &state.unrecorded.tokens;
        for intent in self.flow.intents.iter_mut().filter(|intent| tokens.contains(&intent.token)) {
            intent.is_recorded = true;
        }
        self.asking_was_recorded(|number| tokens.contains(&number));
        self.news.deliver |= !tokens.is_empty();
        !tokens.is_empty()
    }

    /// Whether a decision waits for the record.
    #[must_use]
    pub fn is_waiting_for_record(&self) -> bool {
        self.flow.intents.iter().any(|intent| !intent.is_recorded) || self.asking_waits_for_record()
    }

    /// The hunks of decisions that were not made, as they could not be recorded or others were quicker, since this was asked last.
    pub fn take_dropped(&mut self) -> Vec<HunkRef> {
        std::mem::take(&mut self.dropped)
    }

    /// Whether a decision has to be recorded before it is sent; notes it then.
    pub(crate) fn note_wanted(
        &mut self,
        token: u64,
        plan: &Plan,
        decision: Option<Decision>,
        reason: Option<&String>,
    ) -> bool {
        let Some(decision @ (Decision::Accepted | Decision::Rejected)) = decision else { return false };
        let named = |id: &HunkId| self.owner_of(*id).map(|(edit, hunk)| edit.name_of(hunk));
        let hunks: Vec<HunkRef> = plan.on.iter().chain(&plan.off).filter_map(named).collect();
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
        self.unrecorded.wanted.extend(wanted);
        self.unrecorded.tokens.push(token);
        true
    }

    /// Whether something has happened to its edits that is to be recorded.
    #[must_use]
    pub fn has_unrecorded(&self) -> bool {
        self.saved.is_some() || !self.unrecorded.is_empty()
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
        (self.saved, self.unrecorded) = (None, Unrecorded::default());
        self.news.deliver |= self.is_waiting_for_record();
        self.flow.intents.iter_mut().for_each(|intent| intent.is_recorded = true);
        self.asking_was_recorded(|_| true);
    }
}
