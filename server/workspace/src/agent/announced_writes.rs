//! What an agent's program is about to write to a file that an editor has open: it asks first, and writes what the person lets it.
//!
//! The program has its edit from the file, so it is held as a foreign write is (rule W23): as hunks of what the file has, on the text that
//! the editor has. Nothing is written here. When all hunks are decided the program is told the file's text with those that were accepted,
//! without what the person has not saved, and the editor's text has them too.
//!
//! # Limitations
//!
//! - Lines of a hunk that the person changed are the person's unsaved work: the program writes the hunk as it proposed it.
//! - Where the file is saved before all is decided, the program finds it changed, and says so to its model.

use std::sync::Arc;
use std::time::Duration;

use hashline_history::{ConversationId, Decision, EditId};
use hashline_text::{DiskForm, Ending, Text};
use hashline_weave::HunkId;

use crate::agent::edit_outcomes::{GLANCE, ReviewScope};
use crate::agent::read::blocking;
use crate::disk::read;
use crate::document::{Proposal, Written};
use crate::document_slot::Slot;
use crate::refusal_messages::Refusal;
use crate::watched_file::Expected;
use crate::workspace::{Caller, Workspace};

/// How long is waited until it is known by its lines what the file has: it may just have been written.
const KNOWN_WITHIN: Duration = Duration::from_secs(4);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(200);

const MARK: char = '\u{feff}';

/// What a program is about to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedWrite {
    /// The file.
    pub path: String,
    /// All that it is to hold. Its lines may end in \n where the file's end otherwise.
    pub content: String,
    /// The conversation that it belongs to; none to open a new one.
    pub conversation: Option<String>,
    /// What the program calls this.
    pub tool: String,
}

/// A write that is held.
#[derive(Debug)]
pub struct HeldWrite {
    caller: Caller,
    edit: EditId,
    conversation: ConversationId,
    slot: Arc<Slot>,
    written: Written,
    hunks: Vec<HunkId>,
    has_mark: bool,
}

/// Why a write is not held. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum NotHeld {
    /// The program's own question is the only one.
    #[error("no editor here has the file open")]
    NotOpen,
    /// Another editor decides about its edits.
    #[error("{0} decides about the edits of this file")]
    Elsewhere(String),
    /// What the file has is not what the editor has last had in common with it.
    #[error("it is not known what the editor's text has of the file. Save the file, or read it again")]
    NotKnown,
    /// There is nothing to decide about.
    #[error("the editor's text has all of it")]
    NothingNew,
    /// It cannot be held.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

/// What the person has decided about a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteDecision {
    /// This is to be written: its lines end in \n.
    Write(String),
    /// Nothing is.
    Reject,
    /// There is no decision, and there will be none: it was withdrawn.
    Gone,
}

impl HeldWrite {
    /// The conversation that it belongs to.
    #[must_use]
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// The edit that it is.
    #[must_use]
    pub fn edit(&self) -> &EditId {
        &self.edit
    }

    fn scope(&self) -> ReviewScope {
        ReviewScope { edits: vec![self.edit.to_string()], own: true, ..ReviewScope::default() }
    }

    /// The file with these of the hunks, as the program is to write it.
    fn content(&self, text: &Text) -> String {
        let shown = text.chunks().next().is_some_and(|chunk| chunk.starts_with(MARK));
        let form = DiskForm { bom: self.has_mark && !shown, ending: Some(Ending::Lf) };
        String::from_utf8_lossy(&form.to_bytes(text)).into_owned()
    }
}

impl Workspace {
    /// Holds what a program is about to write to the file of an open document. When this returns it is recorded and shown.
    ///
    /// # Errors
    ///
    /// [`NotHeld`]; nothing has changed then.
    pub async fn hold_announced(&self, caller: &Caller, write: AnnouncedWrite) -> Result<HeldWrite, NotHeld> {
        self.note_agent(caller);
        let slot = self.find_to_write(caller, &write.path)?.slot;
        let slot = slot.filter(|slot| slot.lock().is_open()).ok_or(NotHeld::NotOpen)?;
        slot.wait_until_ready().await;
        let proposal = self.new_proposal(caller, write.conversation.as_deref(), &write.tool, None).await?;
        let deadline = tokio::time::Instant::now() + KNOWN_WITHIN;
        let content: Arc<str> = write.content.into();
        loop {
            let turn = slot.queue.lock().await;
            self.until_answered(&slot).await;
            let (workspace, target) = (self.clone(), slot.clone());
            let (content, proposal, caller) = (content.clone(), proposal.clone(), caller.clone());
            let work = move || Ok(workspace.hold_on_file(&target, caller, &content, &proposal));
            let held = blocking(work).await??;
            drop(turn);
            match held {
                Some(held) => return Ok(held),
                None if tokio::time::Instant::now() >= deadline => return Err(NotHeld::NotKnown),
                None => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// The same, once. None where it is not known what the file has, or that has just changed.
    fn hold_on_file(
        &self,
        slot: &Arc<Slot>,
        caller: Caller,
        content: &str,
        proposal: &Proposal,
    ) -> Result<Option<HeldWrite>, NotHeld> {
        self.fall_behind(slot);
        self.bring_back_in_turn(slot);
        if let Some(other) = slot.whose().other() {
            return Err(NotHeld::Elsewhere(other.name.clone()));
        }
        let place = slot.place().ok_or(NotHeld::NotOpen)?;
        let file = read(&place).map_err(Refusal::from)?;
        let mine = slot.lock().text().clone();
        let is_saved = mine.is_served_from(&file.bytes);
        let base = {
            let mut document = slot.lock();
            document.takes_edits().map_err(Refusal::from)?;
            if is_saved && document.text().is_same_instance(&mine) {
                document.note_file_has(&mine);
            }
            document.base()
        };
        let Some(base) = base.filter(|base| base.text().is_served_from(&file.bytes)) else { return Ok(None) };
        let form = DiskForm::behind(base.text(), &file.bytes);
        let written = Written::of(base, form, mine, content).map_err(Refusal::from)?;
        if written.is_nothing() {
            return Err(NotHeld::NothingNew);
        }
        let Some((hunks, with_all)) = self.record_written(slot, &written, proposal)? else { return Ok(None) };
        // The file does not have it yet.
        slot.lock().replace_base(&with_all, written.base());
        self.attend(slot);
        Ok(Some(HeldWrite {
            caller,
            edit: proposal.id.clone(),
            conversation: proposal.conversation.clone(),
            slot: slot.clone(),
            written,
            hunks,
            has_mark: content.starts_with(MARK),
        }))
    }

    /// Waits until all of a write is decided.
    pub async fn until_decided(&self, held: &HeldWrite) -> WriteDecision {
        let mut decisions = self.inner.decisions.subscribe();
        loop {
            if let Some(decision) = self.decision_about(held).await {
                return decision;
            }
            // What other processes have decided shows in the record, and nothing tells of it.
            let _ = tokio::time::timeout(GLANCE, decisions.changed()).await;
        }
    }

    async fn decision_about(&self, held: &HeldWrite) -> Option<WriteDecision> {
        let edits = match self.edits(&held.caller, &held.scope()).await {
            Ok(edits) => edits,
            Err(Refusal::NoSuchEdit(_)) => return Some(WriteDecision::Gone),
            // Another editor may have it for a moment.
            Err(_) => return None,
        };
        let Some(edit) = edits.first() else { return Some(WriteDecision::Gone) };
        let of = |decision: Decision| edit.hunks.iter().filter(move |hunk| hunk.view.decision == decision);
        if of(Decision::Undecided).next().is_some() {
            return None;
        }
        if !held.slot.lock().is_open() {
            // Decided in the file itself: the program is not to write it, too.
            return Some(WriteDecision::Gone);
        }
        let accepted: Vec<usize> =
            of(Decision::Accepted).filter_map(|hunk| (hunk.view.number as usize).checked_sub(1)).collect();
        let decision = if accepted.is_empty() {
            let is_rejected = of(Decision::Rejected).next().is_some();
            if is_rejected { WriteDecision::Reject } else { WriteDecision::Gone }
        } else {
            self.to_write(held, &accepted)
        };
        self.told(&held.caller, &edits);
        Some(decision)
    }

    /// What is to be written where these hunks were accepted, by their index. It is expected from now on.
    fn to_write(&self, held: &HeldWrite, accepted: &[usize]) -> WriteDecision {
        let HeldWrite { written, slot, hunks, .. } = held;
        let text = match written.with(|index| accepted.contains(&index)) {
            Ok(text) => text,
            Err(why) => {
                tracing::warn!(
                    "what was accepted of an edit of {} cannot be written: {}",
                    slot.key,
                    Refusal::from(why)
                );
                return WriteDecision::Gone;
            }
        };
        // What both have is typed in the editor's text: by its lines it is not known what the file has then.
        if written.is_all_new() {
            let hunks: Vec<HunkId> = accepted.iter().filter_map(|index| hunks.get(*index).copied()).collect();
            let before = written.base();
            let after = {
                let mut document = slot.lock();
                let is_base = document.base().is_some_and(|base| base.is_same_instance(before));
                if is_base { document.base_with(before, &hunks, text.clone()) } else { None }
            };
            slot.watched().expected = after.map(|after| Expected { before: before.clone(), after });
        }
        WriteDecision::Write(held.content(&text))
    }

    /// Takes back what is undecided of a write: the program does not wait for it any more.
    ///
    /// # Errors
    ///
    /// As for [`withdraw`](Self::withdraw).
    pub async fn withdraw_announced(&self, held: &HeldWrite) -> Result<(), Refusal> {
        match self.withdraw(&held.caller, held.edit.as_str()).await {
            Ok(_) | Err(Refusal::Decided { .. }) => Ok(()),
            Err(why) => Err(why),
        }
    }
}
