//! What an editor is asked to do with the file of a document that it has open.
//!
//! As with a delivery of text, the answer decides nothing: the decision stands when the disk shows it. It is recorded that it is wanted
//! before the editor is asked, and what the editor does only after it was given up counts all the same.

use std::sync::Arc;

use hashline_history::{AgentName, Decision, HunkRef};
use hashline_weave::HunkId;

use crate::document::file::editor_request::{Asked, Looked, Stage, operation};
use crate::document::{
    Delivered, Document, Edit, FileDelivery, FileHunk, FileOperation, Millis, Request, Undecided, UnderWay,
    Why,
};

impl Document {
    /// What the editor would be asked to do with the file by a decision.
    pub(crate) fn operations_for(&self, request: &Request) -> Vec<FileOperation> {
        let (Some(on), true) = (request.choice.puts_in(), self.is_open()) else { return Vec::new() };
        let files = self.file_targets(request).into_iter().filter_map(|at| self.edits()[at].file.as_ref());
        files.filter(|hunk| hunk.done != on).filter_map(|hunk| operation(hunk, on)).collect()
    }

    /// Says what is known of the file; asked for by [`operations_for`](Self::operations_for), right before the decision.
    pub(crate) fn look(&mut self, looked: Looked) {
        self.file.looked = Some(looked);
    }

    /// Asks the editor to bring the file to what a hunk says, or back. The decision is made when that is done.
    pub(crate) fn ask(
        &mut self,
        at: usize,
        on: bool,
        decision: Decision,
        request: &Request,
    ) -> Result<(), Undecided> {
        let wanted = self.edits()[at].file.as_ref().and_then(|hunk| operation(hunk, on));
        let Some((Looked { version, saved, editor }, operation)) = self.file.looked.take().zip(wanted) else {
            return self.check_closed(at);
        };
        if !editor.has(&operation) {
            return self.check_closed(at);
        }
        if !saved || self.version() != Some(version) {
            return Err(self.file_refused(at, Why::Failed, UNSAVED.to_owned()));
        }
        if self.is_delivering() {
            let words = "Lines of the file are being changed. Save it when that is done, then decide again.";
            return Err(self.file_refused(at, Why::Failed, words.to_owned()));
        }
        let hunk = self.file_hunk_name(at);
        let number = self.flow.number();
        let recorded = !self.note_wanted_hunks(number, vec![hunk.clone()], decision, request.reason.as_ref());
        let stage = if recorded { Stage::Ready } else { Stage::Unrecorded };
        let reason = request.reason.clone();
        self.file.asked =
            Some(Asked { number, hunk, on, version, operation, decision, reason, stage, failure: None });
        self.news.deliver();
        self.news.review();
        Ok(())
    }

    /// Refuses a decision about the file while the editor may be at another; true if it is asked for this very one.
    pub(crate) fn is_asked(&self, at: usize, on: bool) -> Result<bool, Undecided> {
        let Some(asked) = self.file.asked.as_ref().filter(|asked| asked.is_under_way()) else {
            return Ok(false);
        };
        if asked.hunk == self.file_hunk_name(at) && asked.on == on {
            return Ok(true);
        }
        let words = "The editor has been asked to rename or remove the file. Decide when that is done.";
        Err(self.file_refused(at, Why::Failed, words.to_owned()))
    }

    /// Whether the editor is to do something with the file, and the disk does not show it yet.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.file.asked.as_ref().is_some_and(Asked::is_under_way)
    }

    /// Whether that is about a hunk.
    pub(crate) fn is_asking_for(&self, hunk: &HunkRef) -> bool {
        self.file.asked.as_ref().is_some_and(|asked| asked.is_under_way() && asked.hunk == *hunk)
    }

    /// Where a hunk of the file is on its way to.
    pub(crate) fn file_under_way(&self, hunk: &HunkRef) -> Option<UnderWay> {
        let asked = self.file.asked.as_ref().filter(|_| self.is_asking_for(hunk))?;
        Some(UnderWay { on: asked.on, decision: Some(asked.decision) })
    }

    /// The same of one that leaves the text with the file.
    pub(crate) fn under_way_with_file(&self, id: HunkId) -> Option<UnderWay> {
        let asked = self.file.asked.as_ref().filter(|_| self.goes_with_file(id))?;
        Some(UnderWay { on: asked.on, decision: Some(asked.decision) })
    }

    /// The file operation to send to the editor now, if there is one.
    pub fn poll_file(&mut self) -> Option<FileDelivery> {
        let (version, agent) =
            (self.version(), self.file.asked.as_ref().and_then(|asked| self.agent_of(&asked.hunk)));
        let asked = self.file.asked.as_mut().filter(|asked| asked.stage == Stage::Ready)?;
        if version != Some(asked.version) {
            self.file.asked = None;
            self.news.tell(format!(
                "{} was changed meanwhile, so it was not renamed or removed. {UNSAVED}",
                self.uri()
            ));
            self.news.review();
            return None;
        }
        asked.stage = Stage::Sent;
        let switch = Delivered {
            hunk: asked.hunk.clone(),
            agent: agent.unwrap_or_default(),
            on: asked.on,
            decided: true,
        };
        Some(FileDelivery {
            number: asked.number,
            version: asked.version,
            operation: asked.operation.clone(),
            switch,
        })
    }

    /// Whether a hunk is to leave the text with the file, which the editor is asked to remove.
    pub(crate) fn goes_with_file(&self, id: HunkId) -> bool {
        let Some(asked) = self.file.asked.as_ref().filter(|asked| asked.is_under_way() && !asked.on) else {
            return false;
        };
        let made = |edit: &Arc<Edit>| {
            edit.id == asked.hunk.edit && edit.file.as_ref().is_some_and(FileHunk::creates)
        };
        let made = self.edits().iter().position(made);
        made.is_some_and(|at| self.hunks_since(at).contains(&id))
    }

    fn agent_of(&self, hunk: &HunkRef) -> Option<AgentName> {
        let edit = self.edits().iter().find(|edit| edit.id == hunk.edit)?;
        Some(edit.agent.clone())
    }

    /// Whether this is the operation that the editor was asked for last.
    pub(crate) fn has_asked(&self, delivery: &FileDelivery) -> bool {
        let same = |asked: &Asked| asked.number == delivery.number && asked.hunk == delivery.switch.hunk;
        self.file.asked.as_ref().is_some_and(same)
    }

    /// Whether the editor may still be at this one.
    pub(crate) fn is_at(&self, number: u64) -> bool {
        self.file.asked.as_ref().is_some_and(|asked| asked.number == number && asked.is_under_way())
    }

    /// The editor has closed the document, or another one decides: it is not asked any more for what it was not asked for yet. The hunk of
    /// that.
    pub(crate) fn stop_asking(&mut self) -> Option<HunkRef> {
        let unsent =
            self.file.asked.take_if(|asked| matches!(asked.stage, Stage::Unrecorded | Stage::Ready))?;
        Some(unsent.hunk)
    }

    /// In a state of the document that was made anew: the editor is still asked as soon as it is recorded that that is wanted.
    pub(crate) fn note_asking(&mut self) {
        let Some(asked) = self.file.asked.clone().filter(|asked| asked.stage == Stage::Unrecorded) else {
            return;
        };
        self.note_wanted_hunks(asked.number, vec![asked.hunk], asked.decision, asked.reason.as_ref());
    }

    /// What the disk may show: what the editor was asked for, or else what a held hunk would have done (rule W16). True if it was asked
    /// for.
    pub(crate) fn may_be_done(&self) -> Option<(FileOperation, bool)> {
        if let Some(asked) =
            self.file.asked.as_ref().filter(|asked| matches!(asked.stage, Stage::Sent | Stage::GivenUp))
        {
            return Some((asked.operation.clone(), true));
        }
        let held = |file: &&FileHunk| !file.done && file.decision == Decision::Undecided;
        // One that is gone as it should be was not removed or renamed by that.
        let held = self
            .edits()
            .iter()
            .filter_map(|edit| edit.file.as_ref())
            .find(held)
            .filter(|_| self.was_removed())?;
        Some((operation(held, true)?, false))
    }

    /// The disk shows it: the decision stands.
    pub(crate) fn was_done(&mut self) {
        let (hunk, on, decision, reason) = match self.file.asked.take() {
            Some(asked) => (asked.hunk, asked.on, asked.decision, asked.reason),
            None => {
                let held = |edit: &Edit| {
                    edit.file.as_ref().is_some_and(|file| !file.done && file.decision == Decision::Undecided)
                };
                let Some(edit) = self.edits().iter().find(|edit| held(edit)) else { return };
                (HunkRef { edit: edit.id.clone(), number: 1 }, true, Decision::Accepted, None)
            }
        };
        let Some(at) = self.edits().iter().position(|edit| edit.id == hunk.edit) else { return };
        if !on && self.edits()[at].file.as_ref().is_some_and(FileHunk::creates) {
            self.was_unmade(at, reason.as_ref());
        }
        self.switch_file(at, on);
        self.set_file_decision(at, decision, reason);
        self.news.deliver();
    }

    /// Takes it that the editor has done what it is asked for, in a copy.
    pub(crate) fn do_as_asked(&mut self, now: Millis) {
        let Some(asked) = self.file.asked.as_mut().filter(|asked| asked.is_under_way()) else { return };
        asked.stage = Stage::Sent;
        if asked.operation == FileOperation::Remove {
            self.close(now);
        }
        self.was_done();
    }

    /// It was not done, for this reason: the decision is not made.
    pub(crate) fn was_not_done(&mut self, why: &str) {
        let Some(asked) = self.file.asked.as_mut().filter(|asked| asked.is_under_way()) else { return };
        asked.stage = Stage::GivenUp;
        let what = match &asked.operation {
            FileOperation::Remove => "removed".to_owned(),
            FileOperation::Rename(to) => format!("renamed to {to}"),
        };
        let message = format!(
            "{} was not {what}: {why}. The edit waits as before; decide again, or close the file first.",
            self.address.uri()
        );
        asked.failure = Some(message.clone());
        self.news.tell(message);
        self.news.review();
        self.news.deliver();
    }

    /// Why the editor has not done what it was asked for last, if that was for a hunk.
    pub(crate) fn not_done_because(&self, hunk: &HunkRef) -> Option<&str> {
        self.file.asked.as_ref().filter(|asked| asked.hunk == *hunk)?.failure.as_deref()
    }

    /// It is recorded that these are wanted.
    pub(crate) fn asking_was_recorded(&mut self, numbers: impl Fn(u64) -> bool) {
        let waits = |asked: &&mut Asked| asked.stage == Stage::Unrecorded && numbers(asked.number);
        if let Some(asked) = self.file.asked.as_mut().filter(waits) {
            asked.stage = Stage::Ready;
        }
    }

    /// It could not be recorded that these are wanted.
    pub(crate) fn asking_was_not_recorded(&mut self, numbers: &[u64]) {
        self.file.asked.take_if(|asked| asked.stage == Stage::Unrecorded && numbers.contains(&asked.number));
    }

    /// Whether the editor is asked as soon as that is recorded.
    pub(crate) fn asking_waits_for_record(&self) -> bool {
        self.file.asked.as_ref().is_some_and(|asked| asked.stage == Stage::Unrecorded)
    }
}

const UNSAVED: &str = "The file has changes that are not saved. Save it first, then decide again.";
