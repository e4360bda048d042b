//! Editing a document: resolve, carry, weave, record, publish (rule W20).

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hashline_anchor::{CONTEXT, Moved};
use hashline_history::{ConversationId, EditId, HunkRef, Reason, Status, StoreError, UnixMillis};
use hashline_text::{FileHash, HashPrefix, Text};
use hashline_weave::HunkId;

use crate::agent::read::{blocking, check_file, hash_of, name_of};
use crate::auto_run_files::{Obeyed, obeyed};
use crate::closed_documents::either_way;
use crate::disk::{HardLinks, Place, path_of_file_uri};
use crate::document::{Change, Document, HunkState, Mode, Note, Proposal, Proposed, Refused, Unit};
use crate::document_slot::{Slot, wall_clock};
use crate::record::{Provisional, Unfinished};
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Workspace};

/// How often an edit of the text as it is now is begun again because the person has typed meanwhile.
const ATTEMPTS: u32 = 5;
/// How long an edit waits at most until the editor has said what its last change was.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// What an agent wants to change, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRequest {
    /// The path, or the URI of an open document.
    pub path: String,
    /// The hash of the text that the change belongs to, or a beginning of it. None for the text as it is now, whatever the agent has
    /// seen of it: of an open document such an edit is held in every mode.
    pub file_hash: Option<HashPrefix>,
    /// What to change.
    pub change: Change,
    /// Refuse if the text is not exactly that.
    pub strict: bool,
    /// Only say what would happen.
    pub dry_run: bool,
    /// The conversation that the edit belongs to; none to open a new one.
    pub conversation: Option<String>,
    /// The tool that was called.
    pub tool: String,
    /// Why, for the person.
    pub reason: Option<Reason>,
}

/// What an edit came to.
#[derive(Clone, Debug)]
pub struct EditReply {
    /// What to call the document in the reply.
    pub name: String,
    /// The edit.
    pub edit: EditId,
    /// The conversation that it belongs to, and whether this edit opened it.
    pub conversation: (ConversationId, bool),
    /// The decision about it.
    pub status: Status,
    /// How its hunks stand, in text order.
    pub states: Vec<HunkState>,
    /// How it is treated.
    pub mode: Mode,
    /// Who obeys the file, so that it is held in every mode.
    pub obeyed: Option<Obeyed>,
    /// Whether an editor has the document open.
    pub open: bool,
    /// Lines of it are on their way into the editor's text, without anybody having to decide.
    pub under_way: bool,
    /// Nothing was done, as asked for.
    pub dry_run: bool,
    /// The lines were carried from an older version of the text.
    pub carried: bool,
    /// Operations whose lines were found elsewhere than their anchors say.
    pub moved: Vec<Moved>,
    /// What is worth telling of a whole new text.
    pub notes: Vec<Note>,
    /// What the parts of the change are called.
    pub unit: Unit,
    /// The parts that ask for what stood there already, by their index.
    pub idle: Vec<usize>,
    /// The hash of the text that it changed, where that is the text it was made for.
    pub before: Option<FileHash>,
    /// Hunks that have to be accepted before this edit can be in the text.
    pub held_below: Vec<HunkRef>,
    /// The agent view with the edit in it.
    pub text: Text,
    /// Its hash.
    pub hash: FileHash,
    /// Where the edit is in it, 0-based.
    pub regions: Vec<Range<usize>>,
}

impl Workspace {
    /// Edits a document. When this returns the edit is recorded, and held or made.
    ///
    /// # Errors
    ///
    /// [`Refusal`], for the agent; nothing has changed then.
    pub async fn edit(&self, caller: &Caller, request: EditRequest) -> Result<EditReply, Refusal> {
        self.note_agent(caller);
        if request.change.is_empty() {
            return Err(Refusal::NoOperations);
        }
        let (conversation, reason) = (request.conversation.as_deref(), request.reason.as_ref());
        let proposal = self.new_proposal(caller, conversation, &request.tool, reason).await?;
        let proposal = Proposal { strict: request.strict, ..proposal };
        // Here, and nowhere else, a path is refused that names no file.
        let found = self.find_to_write(caller, &request.path)?;
        let named = found.place.clone();
        let slot = match request.dry_run {
            true => self.reach_found(found).await?,
            false => self.reach_to_change(found).await?,
        };
        let _turn = slot.queue.lock().await;
        self.until_answered(&slot).await;
        let workspace = self.clone();
        let (document, dry_run) = (slot.clone(), request.dry_run);
        let hard_links = self.hard_links_for(caller);
        let work = move || workspace.edit_now(&document, hard_links, &request, &proposal, named.as_slice());
        let mut done = match blocking(work).await {
            Ok(done) => done,
            Err(refusal) => return Err(self.with_hash(&slot, refusal).await),
        };
        if let Some(unfinished) = done.unfinished.take() {
            // The agent does not wait for logs and diffs.
            tokio::task::spawn_blocking(move || drop(unfinished));
        }
        let before = done.proposed.hash_before();
        let hash = hash_of(&mut done.proposed.after).await;
        if !dry_run {
            self.served_regions(&slot, &done, hash);
            self.attend(&slot);
        }
        let name = name_of(&slot, slot.lock().uri().to_owned());
        Ok(EditReply {
            name,
            edit: done.proposal.id,
            conversation: (done.proposal.conversation, done.proposal.opens_conversation),
            status: Status::Pending,
            states: done.states,
            mode: done.proposal.mode,
            obeyed: done.obeyed,
            open: done.open,
            under_way: done.under_way,
            dry_run,
            carried: done.proposed.carried,
            text: done.proposed.after.text().clone(),
            moved: done.proposed.moved,
            notes: done.proposed.notes,
            unit: done.proposed.unit,
            idle: done.proposed.idle,
            before,
            held_below: done.held_below,
            hash,
            regions: done.regions,
        })
    }

    /// Waits until the editor's text shows an edit that goes in at once, or the limit is up, and says in the reply which of the two it
    /// was. What is shown is told by the text alone, whatever the editor answers.
    pub async fn until_in_text(&self, done: &mut EditReply, limit: Duration) {
        let mut changes = self.inner.changes.subscribe();
        let deadline = tokio::time::Instant::now() + limit;
        while done.under_way {
            let Some(slot) = self.slot_named(&done.name) else { return };
            let Some((states, under_way)) = slot.lock().standing(&done.edit) else { return };
            (done.states, done.under_way) = (states, under_way);
            if !under_way || !matches!(tokio::time::timeout_at(deadline, changes.changed()).await, Ok(Ok(())))
            {
                return;
            }
        }
    }

    /// Waits, for some time, while only an answer that the editor owes says what its last change was.
    pub(super) async fn until_answered(&self, slot: &Slot) {
        let mut changes = self.inner.changes.subscribe();
        let deadline = tokio::time::Instant::now() + ANSWERED_WITHIN;
        while slot.lock().awaits_answer() {
            if !matches!(tokio::time::timeout_at(deadline, changes.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// A refusal that shows lines serves them: what it says of them holds for an edit that follows.
    async fn with_hash(&self, slot: &Slot, mut refusal: Refusal) -> Refusal {
        if let Refusal::Edit(refused) = &mut refusal
            && let Some(now) = refused.shows()
        {
            let hash = hash_of(now).await;
            slot.lock().served(now, hash, 0..0, self.now());
        }
        refusal
    }

    /// Remembers what a reply shows: the lines around the edit, and all of them to an agent that had seen all before.
    fn served_regions(&self, slot: &Slot, done: &Done, hash: FileHash) {
        let after = &done.proposed.after;
        let lines = after.text().line_count();
        let mut document = slot.lock();
        if done.proposed.seen_all {
            document.served(after, hash, 0..lines, self.now());
            return;
        }
        for region in &done.regions {
            let shown = region.start.saturating_sub(CONTEXT)..(region.end + CONTEXT).min(lines);
            document.served(after, hash, shown, self.now());
        }
    }

    /// A proposal of a caller in a conversation, or in a new one.
    pub(crate) async fn new_proposal(
        &self,
        caller: &Caller,
        conversation: Option<&str>,
        tool: &str,
        reason: Option<&Reason>,
    ) -> Result<Proposal, Refusal> {
        Ok(Proposal {
            id: new_edit_id(),
            made: Some(UnixMillis(wall_clock())),
            conversation: self.conversation(caller, conversation).await?,
            opens_conversation: conversation.is_none(),
            agent: caller.agent.clone(),
            connection: caller.connection.clone(),
            tool: tool.to_owned(),
            reason: reason.cloned(),
            mode: Mode::Propose,
            strict: false,
        })
    }

    /// Who obeys the file of a document, by any name that it has or is to have, or that it was named by.
    pub(crate) fn obeyed(&self, slot: &Slot, named: &[Place]) -> Option<Obeyed> {
        let (in_editor, to_be) = {
            let document = slot.lock();
            let to_be = document.name_to_be().map(|name| name.as_path().to_owned());
            (path_of_file_uri(document.uri()).ok(), to_be)
        };
        let own = slot.place();
        let places: Vec<&Place> = own.iter().chain(named).collect();
        let others = in_editor.iter().chain(&to_be).map(PathBuf::as_path);
        let names: Vec<&Path> = places.iter().flat_map(|place| place.names()).chain(others).collect();
        let root = places.first().map_or(Path::new(""), |place| place.root().path());
        let settings = self.inner.settings.read().unwrap_or_else(PoisonError::into_inner);
        let named = || names.iter().any(|name| settings.holds(name, root)).then_some(Obeyed::Settings);
        names.iter().find_map(|name| obeyed(name)).or_else(named)
    }

    /// The proposal, to be treated as the settings say for a document that is open, or is not. What was not made for a text that the
    /// agent has seen waits for the person, where there is one.
    fn mode_of(
        &self,
        request: &EditRequest,
        proposal: &Proposal,
        slot: &Slot,
        open: bool,
        obeyed: Option<Obeyed>,
    ) -> Proposal {
        match request.file_hash {
            None if open => Proposal { mode: Mode::Propose, ..proposal.clone() },
            _ => self.in_mode(proposal, slot, open, obeyed),
        }
    }

    /// The proposal, to be treated as the settings say for a document that is open, or is not; in every mode it waits for the person if
    /// something obeys the file.
    pub(crate) fn in_mode(
        &self,
        proposal: &Proposal,
        slot: &Slot,
        open: bool,
        obeyed: Option<Obeyed>,
    ) -> Proposal {
        if obeyed.is_some() {
            return Proposal { mode: Mode::Propose, ..proposal.clone() };
        }
        let place = slot.place();
        let nowhere = Path::new("");
        let (file, relative) =
            place.as_ref().map_or((nowhere, nowhere), |place| (place.absolute(), place.relative()));
        let settings = self.inner.settings.read().unwrap_or_else(PoisonError::into_inner);
        let mode = settings.mode(&proposal.agent, file, relative, open);
        Proposal { mode, ..proposal.clone() }
    }

    fn edit_now(
        &self,
        slot: &Arc<Slot>,
        hard_links: HardLinks,
        request: &EditRequest,
        proposal: &Proposal,
        named: &[Place],
    ) -> Result<Done, Refusal> {
        let in_mode = |open| {
            let obeyed = self.obeyed(slot, named);
            (self.mode_of(request, proposal, slot, open, obeyed), obeyed)
        };
        if request.dry_run {
            let mut copy = slot.lock().clone();
            let (proposal, obeyed) = in_mode(copy.is_open());
            let mut proposed = propose(&mut copy, request.file_hash, &request.change, &proposal)?;
            copy.publish(&mut proposed, &proposal);
            if !copy.is_open() {
                copy.settle_on_disk(self.now());
            }
            return Ok(Done { obeyed, ..Done::of(&mut copy, proposed, &proposal) });
        }
        let in_file = |document: &mut Document, now| {
            if let Some(place) = slot.place() {
                check_file(&place, document.exists_for_agents(), document.bytes().map(|bytes| &**bytes))?;
            }
            // Who obeys it is asked now that it is known what it is to be called.
            let (on_disk, obeyed) = in_mode(false);
            // One that was recorded and not written, as an editor has opened the file, is another edit.
            let on_disk = Proposal { id: new_edit_id(), ..on_disk };
            let mut proposed = propose(document, request.file_hash, &request.change, &on_disk)?;
            document.note_edit(proposed.new_edit(&on_disk));
            document.publish(&mut proposed, &on_disk);
            document.settle_on_disk(now);
            Ok(ControlFlow::Continue(Done { obeyed, ..Done::of(document, proposed, &on_disk) }))
        };
        let in_editor = || {
            let (live, obeyed) = in_mode(true);
            let done = self.edit_live(slot, request, &live)?;
            Ok(done.map(|done| Done { obeyed, ..done }))
        };
        either_way(in_editor, || self.change_on_disk(slot, hard_links, in_file))
    }

    /// Edits a document that an editor has open. None if no editor has it open.
    fn edit_live(
        &self,
        slot: &Slot,
        request: &EditRequest,
        proposal: &Proposal,
    ) -> Result<Option<Done>, Refusal> {
        let mut attempt = 1;
        loop {
            // Opened while it was edited on the disk, or edited by others, it is not what the record says any more.
            self.fall_behind(slot);
            self.bring_back_in_turn(slot);
            match self.edit_open(slot, request, proposal) {
                Err(Refusal::Edit(Refused::Stale { .. }))
                    if request.file_hash.is_none() && attempt < ATTEMPTS => {}
                Err(Refusal::History(StoreError::Stale { .. })) if attempt < ATTEMPTS => {}
                mut done => {
                    if !*slot.whole.borrow() {
                        // That takes the history itself.
                        if let Ok(Some(done)) = &mut done {
                            done.unfinished = None;
                        }
                        self.bring_back_in_turn(slot);
                    }
                    return done;
                }
            }
            attempt += 1;
        }
    }

    /// The same, once: the document is locked only while its runs are touched.
    fn edit_open(
        &self,
        slot: &Slot,
        request: &EditRequest,
        proposal: &Proposal,
    ) -> Result<Option<Done>, Refusal> {
        let open = || Some(slot.lock()).filter(|document| document.is_open());
        let Some(mut now) = open().map(|mut document| document.serve_agents()).transpose()? else {
            return Ok(None);
        };
        let hash = now.hash();
        let meant = request.file_hash.unwrap_or_else(|| HashPrefix::from(hash));
        let located = slot.lock().locate(&meant, &now, hash)?;
        let resolution = located.resolve(&request.change, &now)?;
        let proposed = open().map(|mut document| document.propose(&located, &resolution, proposal));
        let Some(mut proposed) = proposed.transpose()? else { return Ok(None) };
        let provisional = Provisional { edit: proposed.new_edit(proposal), hunks: &proposed.hunks };
        let unfinished = self
            .record(slot, Some(provisional))
            .inspect_err(|_| slot.lock().withdraw_provisional(&proposed))?;
        let mut document = slot.lock();
        // Closed by now: it is held, and waits for the document to be opened again.
        let mode = if document.is_open() { proposal.mode } else { Mode::Propose };
        let proposal = Proposal { mode, ..proposal.clone() };
        document.publish(&mut proposed, &proposal);
        let done = Done::of(&mut document, proposed, &proposal);
        Ok(Some(Done { unfinished: Some(unfinished), ..done }))
    }
}

pub(crate) fn new_edit_id() -> EditId {
    EditId::from(uuid::Uuid::new_v4().to_string())
}

/// Finds the lines and weaves the hunks in, in a document that nobody else sees.
fn propose(
    document: &mut Document,
    file_hash: Option<HashPrefix>,
    change: &Change,
    proposal: &Proposal,
) -> Result<Proposed, Refusal> {
    let mut now = document.serve_agents()?;
    let hash = now.hash();
    let located = document.locate(&file_hash.unwrap_or_else(|| HashPrefix::from(hash)), &now, hash)?;
    let resolution = located.resolve(change, &now)?;
    Ok(document.propose(&located, &resolution, proposal)?)
}

/// An edit that is in the document.
struct Done {
    proposed: Proposed,
    proposal: Proposal,
    regions: Vec<Range<usize>>,
    states: Vec<HunkState>,
    held_below: Vec<HunkRef>,
    /// Who obeys the file.
    obeyed: Option<Obeyed>,
    open: bool,
    under_way: bool,
    /// What logs and diffs lack of it.
    unfinished: Option<Unfinished>,
}

impl Done {
    fn of(document: &mut Document, proposed: Proposed, proposal: &Proposal) -> Self {
        let regions = document.places_for_agent(&proposed.hunks);
        let states = proposed.hunks.iter().map(|id| document.state_of(*id)).collect();
        let held_below = document.held_below(&proposed.hunks);
        let open = document.is_open();
        let under_way = proposed.hunks.iter().any(|id| document.is_deciding(*id));
        let proposal = proposal.clone();
        let (obeyed, unfinished) = (None, None);
        Self { proposed, proposal, regions, states, held_below, obeyed, open, under_way, unfinished }
    }
}

impl Document {
    /// How the hunks of an edit stand, in text order, and whether one is on its way into the text, or out of it.
    fn standing(&mut self, edit: &EditId) -> Option<(Vec<HunkState>, bool)> {
        let edit = self.edits().iter().rfind(|known| known.id == *edit)?;
        let hunks: Vec<HunkId> = edit.hunks.iter().map(|hunk| hunk.id).collect();
        let under_way = hunks.iter().any(|id| self.is_deciding(*id));
        Some((hunks.into_iter().map(|id| self.state_of(id)).collect(), under_way))
    }

    /// The hunks that have to be accepted before these can be in the text.
    pub(crate) fn held_below(&mut self, hunks: &[HunkId]) -> Vec<HunkRef> {
        let weave = self.weave();
        let mut below = Vec::new();
        for id in hunks {
            for other in weave.with_prerequisites(*id) {
                if !hunks.contains(&other) && !below.contains(&other) && !weave.in_buffer(other) {
                    below.push(other);
                }
            }
        }
        below.into_iter().filter_map(|id| self.owner_of(id).map(|(edit, hunk)| edit.name_of(hunk))).collect()
    }
}
