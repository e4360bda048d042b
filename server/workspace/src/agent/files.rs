//! Files as a whole: making, removing and renaming them.

use std::ops::ControlFlow;
use std::sync::Arc;

use hashline_history::{ConversationId, EditId, FileChange, Reason};
use hashline_text::{FileHash, HashPrefix, Text};

use crate::agent::documents::info;
use crate::agent::read::{blocking, name_of};
use crate::auto_run_files::Obeyed;
use crate::disk::{DiskError, PathStyle, Place};
use crate::document::{Document, Edit, FileHunk, Millis, Mode, NewFile, Proposal};
use crate::document_slot::Slot;
use crate::grants::Access;
use crate::record::{Provisional, name_in_record};
use crate::refusal_messages::Refusal;
use crate::unsaved_work::Level;
use crate::workspace::{Caller, Found, Workspace};

/// What an agent wants of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// The path.
    pub path: String,
    /// What is to be done.
    pub change: FileAction,
    /// The conversation that the edit belongs to; none to open a new one.
    pub conversation: Option<String>,
    /// The tool that was called.
    pub tool: String,
    /// Why, for the person.
    pub reason: Option<Reason>,
}

/// What is to be done with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Make it, with these bytes. There must be none.
    Create(Vec<u8>),
    /// Remove it.
    Delete,
    /// Remove it if what agents see of it has this hash.
    DeleteVersion(HashPrefix),
    /// Give it this path, which nothing may have yet.
    Move(String),
}

/// What a change of a file came to.
#[derive(Clone, Debug)]
pub struct FileReply {
    /// What to call the document: its path as it was.
    pub name: String,
    /// The path that it is moved to.
    pub to: Option<String>,
    /// The edit.
    pub edit: EditId,
    /// The conversation that it belongs to, and whether this edit opened it.
    pub conversation: (ConversationId, bool),
    /// Whether it waits for the person; else it is done.
    pub held: bool,
    /// Who obeys the file, or the one that it is to be, so that this is held in every mode.
    pub obeyed: Option<Obeyed>,
    /// Whether an editor has the file open.
    pub open: bool,
    /// The hash of what the file holds.
    pub hash: Option<FileHash>,
    /// The text of a file that is made, if it is one.
    pub text: Option<Text>,
}

/// How a change of a file stands.
struct Changed {
    held: bool,
    open: bool,
    hash: Option<FileHash>,
    text: Option<Text>,
}

impl Workspace {
    /// Makes, removes or renames a file. When this returns that is recorded, and held or done.
    ///
    /// # Errors
    ///
    /// [`Refusal`], for the agent; nothing has changed then.
    pub async fn change_file(&self, caller: &Caller, request: FileRequest) -> Result<FileReply, Refusal> {
        self.note_agent(caller);
        let found = self.find_to_write(caller, &request.path)?;
        let place = found.place.clone().ok_or_else(|| Refusal::NoFileYet { uri: found.key.clone() })?;
        if let FileAction::Move(destination) = &request.change {
            self.look_up(caller, destination).await?;
        }
        self.look_at_promises().await;
        let to = match &request.change {
            FileAction::Move(destination) => Some(self.free_place(caller, &place, destination)?),
            FileAction::Create(_) if self.is_promised(&place) => return Err(taken(&place)),
            FileAction::Create(_) | FileAction::Delete | FileAction::DeleteVersion(_) => None,
        };
        let (workspace, there) = (self.clone(), place.clone());
        let slot = blocking(move || workspace.load_file(&found, &there)).await?;
        slot.wait_until_ready().await;
        let _turn = slot.queue.lock().await;
        let (conversation, reason) = (request.conversation.as_deref(), request.reason.as_ref());
        let proposal = self.new_proposal(caller, conversation, &request.tool, reason).await?;
        let opens_conversation = proposal.opens_conversation;
        let (workspace, target) = (self.clone(), slot.clone());
        let (edit, conversation) = (proposal.id.clone(), proposal.conversation.clone());
        let (name, path) = (name_of(&slot, slot.key.clone()), to.as_ref().map(Place::to_text));
        let named: Vec<Place> = [&place].into_iter().chain(&to).cloned().collect();
        let obeyed = self.obeyed(&slot, &named);
        let work =
            move || workspace.change_file_now(&target, &place, to.as_ref(), &request, &proposal, obeyed);
        let Changed { held, open, hash, text } = blocking(work).await?;
        self.attend(&slot);
        Ok(FileReply {
            name,
            to: path,
            edit,
            conversation: (conversation, opens_conversation),
            held,
            obeyed,
            open,
            hash,
            text,
        })
    }

    /// Whether agents see a file at a path.
    ///
    /// # Errors
    ///
    /// The path is not served, or the disk refuses.
    pub async fn has_file(&self, caller: &Caller, path: &str) -> Result<bool, Refusal> {
        let found = self.find(caller, path)?;
        let Some(place) = found.place.clone() else { return Ok(true) };
        let workspace = self.clone();
        let slot = blocking(move || workspace.load_file(&found, &place)).await?;
        let document = slot.lock();
        Ok(document.is_open() || document.exists_for_agents())
    }

    /// Looks what has become of the file that is known under a path: another process may have moved or removed it.
    async fn look_up(&self, caller: &Caller, path: &str) -> Result<(), Refusal> {
        // Whether it may be named there is asked with the move.
        let Ok(found) = self.find(caller, path) else { return Ok(()) };
        let Some(place) = found.place.clone().filter(|_| found.slot.is_some()) else { return Ok(()) };
        let workspace = self.clone();
        blocking(move || workspace.load_file(&found, &place)).await.map(drop)
    }

    /// Looks what has become of the files that are to have other names: another process may have decided about that.
    async fn look_at_promises(&self) {
        let promised = |slot: &Arc<Slot>| !slot.lock().is_open() && slot.lock().name_to_be().is_some();
        for slot in self.slots().into_iter().filter(promised) {
            let Some(place) = slot.place() else { continue };
            let (workspace, key) = (self.clone(), slot.key.clone());
            let found = Found { key: slot.key.clone(), slot: Some(slot.clone()), place: Some(place.clone()) };
            let look = move || {
                let is_passed = workspace.forget_passed(&slot)?;
                if is_passed { Ok(()) } else { workspace.load_file(&found, &place).map(drop) }
            };
            // The caller has not asked for this file. What cannot be read keeps the name that it is promised.
            if let Err(refusal) = blocking(look).await {
                tracing::debug!("{key} was not looked at: {refusal}");
            }
        }
    }

    /// Where a file is to go, if nothing is there and nothing is to be.
    fn free_place(&self, caller: &Caller, from: &Place, destination: &str) -> Result<Place, Refusal> {
        let to = self.roots_of(caller).resolve(destination, PathStyle::Any)?;
        caller.check(Access::Write, Some(&to), destination)?;
        to.check_write()?;
        if to.absolute() == from.absolute() {
            return Err(Refusal::SamePath { path: to.to_text() });
        }
        let name = name_in_record(&to);
        let takes = |slot: &Arc<Slot>| {
            let document = slot.lock();
            slot.key == name.to_text() && (document.is_open() || document.exists_for_agents())
        };
        if self.is_promised(&to) || self.slots().iter().any(takes) {
            return Err(taken(&to));
        }
        Ok(to)
    }

    /// Whether a file that waits for the person is to have this name.
    fn is_promised(&self, place: &Place) -> bool {
        let name = name_in_record(place);
        self.slots().iter().any(|slot| slot.lock().name_to_be() == Some(&name))
    }

    fn change_file_now(
        &self,
        slot: &Arc<Slot>,
        place: &Place,
        to: Option<&Place>,
        request: &FileRequest,
        proposal: &Proposal,
        obeyed: Option<Obeyed>,
    ) -> Result<Changed, Refusal> {
        if slot.lock().is_open() {
            return self.hold_file_change(slot, place, to, request, proposal);
        }
        self.note_what_editors_did();
        let on_disk = self.in_mode(proposal, slot, false, obeyed);
        let done = self.change_on_disk(slot, place.hard_links(), |document, now| {
            let change = change_of(document, place, to, request)?;
            check_version(request, place, || document.hash_for_agents())?;
            let content = match &request.change {
                FileAction::Create(content) => Some(new_file(document, place, content)?),
                _ => None,
            };
            let is_text = matches!(content, Some(NewFile::Text { .. }));
            document.propose_file(change, content, &on_disk, now)?;
            let text = is_text.then(|| shown_whole(document, now)).transpose()?;
            let (held, hash) = (on_disk.mode == Mode::Propose, document.hash_for_agents());
            Ok(ControlFlow::Continue(Changed { held, open: false, hash, text }))
        })?;
        match done {
            Some(done) => Ok(done),
            // An editor has opened it meanwhile.
            None => self.hold_file_change(slot, place, to, request, proposal),
        }
    }

    /// What is asked of a file that an editor has open waits for the person, whatever the mode.
    fn hold_file_change(
        &self,
        slot: &Arc<Slot>,
        place: &Place,
        to: Option<&Place>,
        request: &FileRequest,
        proposal: &Proposal,
    ) -> Result<Changed, Refusal> {
        self.fall_behind(slot);
        self.bring_back_in_turn(slot);
        // Whatever becomes of unsaved changes, it stays.
        if matches!(request.change, FileAction::Create(_)) {
            return Err(taken(place));
        }
        if info(slot).level != Level::Saved {
            return Err(Refusal::Unsaved { path: place.to_text() });
        }
        let (agent, form) = {
            let mut document = slot.lock();
            let form = document.form();
            (document.weave().agent().clone(), form)
        };
        check_version(request, place, || Some(form.hash(&agent)))?;
        let proposal = Proposal { mode: Mode::Propose, ..proposal.clone() };
        let (change, edit) = {
            // It is hashed: keystrokes do not wait for that.
            let document = slot.lock().clone();
            let change = change_of(&document, place, to, request)?;
            let edit = document.file_edit(&change, &proposal);
            (change, edit)
        };
        let recorded = self.record(slot, Some(Provisional { edit, hunks: &[] }));
        drop(recorded.inspect_err(|_| self.bring_back_in_turn(slot))?);
        slot.lock().publish_file(change, &proposal);
        Ok(Changed { held: true, open: true, hash: None, text: None })
    }
}

fn taken(place: &Place) -> Refusal {
    DiskError::AlreadyThere { path: place.absolute().to_owned() }.into()
}

/// The text of a file that its agent has just made, and has seen with that.
fn shown_whole(document: &mut Document, now: Millis) -> Result<Text, Refusal> {
    let mut served = document.serve_agents()?;
    let (hash, text) = (served.hash(), served.text().clone());
    document.served(&served, hash, 0..text.line_count(), now);
    Ok(text)
}

/// Refuses to remove a file that is another one than its agent has seen.
fn check_version(
    request: &FileRequest,
    place: &Place,
    now: impl FnOnce() -> Option<FileHash>,
) -> Result<(), Refusal> {
    let FileAction::DeleteVersion(named) = &request.change else { return Ok(()) };
    match now().filter(|now| !named.matches(now)) {
        Some(now) => Err(Refusal::OtherVersion { path: place.to_text(), now }),
        None => Ok(()),
    }
}

/// A file of this content. What bytes and lines were is not remembered together: where another file of the name may come back, only
/// text follows on text.
fn new_file(document: &Document, place: &Place, content: &[u8]) -> Result<NewFile, Refusal> {
    let new = NewFile::of(content);
    let unmade =
        |edit: &Arc<Edit>| edit.hunks.is_empty() && edit.file.as_ref().is_some_and(FileHunk::is_unmade);
    let has_past = !document.edits().iter().all(unmade);
    let is_text = document.bytes().is_none() && matches!(new, NewFile::Text { .. });
    if has_past && !is_text {
        return Err(Refusal::NameInUse { path: place.to_text() });
    }
    Ok(new)
}

/// What a request comes to, for the file as it is.
fn change_of(
    document: &Document,
    place: &Place,
    to: Option<&Place>,
    request: &FileRequest,
) -> Result<FileChange, Refusal> {
    let path = || place.absolute().to_owned();
    let there = document.exists_for_agents();
    if !matches!(request.change, FileAction::Create(_)) {
        if !there {
            return Err(DiskError::NotFound { path: path() }.into());
        }
        if !document.exists() {
            return Err(Refusal::NotMadeYet { path: place.to_text() });
        }
        if document.has_held_file_change() {
            return Err(Refusal::FileChangeHeld { path: place.to_text() });
        }
    }

    Ok(match &request.change {
        FileAction::Create(_) if there || document.is_open() => {
            return Err(DiskError::AlreadyThere { path: path() }.into());
        }
        FileAction::Create(_) => FileChange { exists: Some((false, true)), ..FileChange::default() },
        FileAction::Delete | FileAction::DeleteVersion(_) => {
            FileChange { exists: Some((true, false)), ..FileChange::default() }
        }
        FileAction::Move(_) => {
            let name = to.map(|to| (name_in_record(place), name_in_record(to)));
            FileChange { name, ..FileChange::default() }
        }
    })
}
