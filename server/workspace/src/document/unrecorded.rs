//! What has happened to a document that the record does not have yet, and the state that is recorded with it (rule W15).

use std::sync::Arc;

use hashline_history::{Continuity, Decided, Decision, HunkRef, Located, Location, NewEdit, Registers};
use hashline_text::DiskForm;
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

    /// Takes back what could not be recorded; what has happened since comes after it. A decision that was only wanted is not made then:
    /// the text is as it was.
    pub fn put_back(&mut self, mut earlier: Unrecorded) {
        self.not_made(std::mem::take(&mut earlier.wanted), &std::mem::take(&mut earlier.tokens));
        let later = std::mem::replace(&mut self.unrecorded, earlier);
        later.decisions.into_iter().for_each(|decided| self.unrecorded.decide(decided));
        later.locations.into_iter().for_each(|located| self.unrecorded.locate(located));
        (self.unrecorded.wanted, self.unrecorded.tokens) = (later.wanted, later.tokens);
        self.unrecorded.edit = None;
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

    /// The hunks of decisions that were not made as they could not be recorded, since this was asked last.
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
        self.unrecorded = Unrecorded::default();
        self.news.deliver |= self.is_waiting_for_record();
        self.flow.intents.iter_mut().for_each(|intent| intent.is_recorded = true);
        self.asking_was_recorded(|_| true);
    }
}
