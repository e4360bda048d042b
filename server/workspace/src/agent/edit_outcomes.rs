//! What became of edits: listing, waiting for decisions, taking an own edit back.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use hashline_history::{AgentName, Connection, ConversationId, Decision, EditId, Status};

use crate::agent::read::{blocking, name_of};
use crate::auto_run_files::Obeyed;
use crate::closed_documents::either_way;
use crate::document::{Document, Edit, HunkState, HunkView, Mode, Verdict};
use crate::document_slot::Slot;
use crate::grants::Access;
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Workspace};

/// How often whoever waits for decisions looks at the record.
pub(super) const GLANCE: Duration = Duration::from_secs(1);

/// An edit and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditInfo {
    /// The edit.
    pub id: EditId,
    /// What to call its document.
    pub name: String,
    /// Who made it.
    pub agent: AgentName,
    /// The connection that it came through.
    pub connection: Connection,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// How it is treated.
    pub mode: Mode,
    /// The decision about it as a whole.
    pub status: Status,
    /// There is a decision or a comment that its agent has not been told of.
    pub news: bool,
    /// There is a comment that its agent has not been told of.
    pub comment: bool,
    /// Its hunks, in text order.
    pub hunks: Vec<HunkInfo>,
}

impl EditInfo {
    /// The status in a word for its agent, which tells what was taken back from what the person rejected.
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        match self.hunks.iter().all(|hunk| hunk.view.decision == Decision::Withdrawn) {
            true if !self.hunks.is_empty() => "withdrawn",
            _ => self.status.as_str(),
        }
    }
}

/// A hunk and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkInfo {
    /// How it stands, as the person sees it.
    pub view: HunkView,
    /// The lines that stand there now, for a hunk that the person has changed.
    pub changed_to: Option<Vec<String>>,
}

/// What became of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The edits that were asked for.
    pub edits: Vec<EditInfo>,
    /// The time was up before there was a new decision.
    pub timed_out: bool,
}

/// An edit that its agent has taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    /// How it stands then.
    pub edit: EditInfo,
    /// It is recorded; else it is kept in memory and tried again.
    pub is_recorded: bool,
}

/// Which edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewScope {
    /// Of one document.
    pub path: Option<String>,
    /// With these ids, or beginnings of them.
    pub edits: Vec<String>,
    /// Of the caller's connection only.
    pub own: bool,
    /// With an undecided hunk only.
    pub pending: bool,
    /// With an undecided hunk, or a decision that the agent has not been told of.
    pub news: bool,
}

impl Workspace {
    /// The edits in a scope, oldest first in each document.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: the path is not served, or no edit has an id.
    pub async fn edits(&self, caller: &Caller, scope: &ReviewScope) -> Result<Vec<EditInfo>, Refusal> {
        let slots = match &scope.path {
            Some(path) => vec![self.reach_any(self.find(caller, path)?).await?],
            None => {
                let (workspace, named) = (self.clone(), scope.edits.clone());
                let brought = move || {
                    workspace.bring_all_up(&named);
                    Ok(())
                };
                blocking(brought).await?;
                self.slots()
            }
        };
        let mut edits = self.edits_in(&slots, caller, scope);
        if scope.path.is_none() && missing(&edits, scope).is_some() {
            // A file that got another name just now has taken its edits from a document that was not looked at yet to one that was.
            edits = self.edits_in(&self.slots(), caller, scope);
        }
        if let Some(id) = missing(&edits, scope) {
            return Err(Refusal::NoSuchEdit(id.clone()));
        }
        edits.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(edits)
    }

    fn edits_in(&self, slots: &[Arc<Slot>], caller: &Caller, scope: &ReviewScope) -> Vec<EditInfo> {
        let told = slots.iter().filter(|slot| self.may_reach(caller, slot) && !self.is_told_elsewhere(slot));
        told.flat_map(|slot| edits_of(caller, slot, scope)).collect()
    }

    /// Notes that a caller was told how edits stand: decisions about its own are no news to it any more.
    pub fn told(&self, caller: &Caller, edits: &[EditInfo]) {
        let own: Vec<&EditInfo> =
            edits.iter().filter(|edit| edit.news && edit.connection == caller.connection).collect();
        if own.is_empty() {
            return;
        }
        for slot in self.slots() {
            let mut document = slot.lock();
            for edit in &own {
                document.told(&edit.id);
            }
        }
    }

    /// A document, named as in replies.
    pub(crate) fn slot_named(&self, name: &str) -> Option<Arc<Slot>> {
        let slot = self.inner.slots.get(name).map(|slot| slot.clone());
        slot.or_else(|| self.open_slot(name))
    }

    /// The caller's edits in a document, named as in replies, that are decided or commented on without its having been told, oldest first.
    #[must_use]
    pub fn decided_untold(&self, caller: &Caller, name: &str) -> Vec<EditInfo> {
        let Some(slot) = self.slot_named(name) else { return Vec::new() };
        let own = |edit: &Edit| edit.connection == caller.connection;
        if !slot.lock().edits().iter().any(|edit| own(edit) && edit.has_news()) {
            return Vec::new();
        }
        let scope = ReviewScope { own: true, news: true, ..ReviewScope::default() };
        let mut decided = edits_of(caller, &slot, &scope);
        decided.retain(|edit| edit.news && (edit.status != Status::Pending || edit.comment));
        decided
    }

    /// Waits until there is a decision about an edit of the scope that its agent has not been told of, or the time is up; answers with
    /// all outcomes so far. Answers at once where nothing is undecided.
    ///
    /// # Errors
    ///
    /// As for [`edits`](Self::edits).
    pub async fn await_review(
        &self,
        caller: &Caller,
        scope: &ReviewScope,
        timeout: Duration,
    ) -> Result<Review, Refusal> {
        let mut decisions = self.inner.decisions.subscribe();
        let first = self.edits(caller, scope).await?;
        // Ids, so that edits stay in the answer when they are no longer undecided.
        let ids = first.iter().map(|edit| edit.id.to_string()).collect();
        let scope =
            ReviewScope { path: scope.path.clone(), edits: ids, own: scope.own, ..ReviewScope::default() };
        let deadline = tokio::time::Instant::now() + timeout;
        let mut wait = None;
        loop {
            let edits = if scope.edits.is_empty() { Vec::new() } else { self.edits(caller, &scope).await? };
            let undecided = edits.iter().any(|edit| edit.status == Status::Pending);
            let news = edits.iter().any(|edit| edit.news && edit.connection == caller.connection);
            if news || !undecided || outcomes(&edits) != outcomes(&first) {
                self.told(caller, &edits);
                return Ok(Review { edits, timed_out: false });
            }
            let now = tokio::time::Instant::now();
            if now >= deadline {
                return Ok(Review { edits, timed_out: true });
            }
            wait.get_or_insert_with(|| self.waits(&caller.agent));
            // What other processes have decided shows in the record, and nothing tells of it.
            let look = deadline.min(now + GLANCE);
            if let Ok(Err(_)) = tokio::time::timeout_at(look, decisions.changed()).await {
                return Ok(Review { edits, timed_out: true });
            }
        }
    }

    /// Takes back an own edit that is undecided. The answer tells how its hunks stand then: one in the text of an editor leaves it when
    /// the editor has done so, and one that other edits in the text build on stays for the person to decide. It is recorded by then, if it
    /// can be.
    ///
    /// # Errors
    ///
    /// [`Refusal::NoSuchEdit`], [`Refusal::AmbiguousEdit`], [`Refusal::Decided`] and [`Refusal::Obeyed`].
    pub async fn withdraw(&self, caller: &Caller, id: &str) -> Result<Withdrawal, Refusal> {
        let scope = ReviewScope { edits: vec![id.to_owned()], own: true, ..ReviewScope::default() };
        let edits = self.edits(caller, &scope).await?;
        let edit = match edits.as_slice() {
            [edit] => edit,
            [] => return Err(Refusal::NoSuchEdit(id.to_owned())),
            _ => return Err(Refusal::AmbiguousEdit(id.to_owned())),
        };
        let id = edit.id.clone();
        let slot = self.slots().into_iter().find(|slot| slot.lock().edits().iter().any(|edit| edit.id == id));
        let slot = slot.ok_or_else(|| Refusal::NoSuchEdit(id.to_string()))?;
        caller.check(Access::Write, slot.place().as_ref(), &edit.name)?;
        slot.wait_until_ready().await;
        let obeyed = self.obeyed(&slot, &[]);
        slot.lock().may_be_withdrawn(&id, obeyed)?;
        let turn = slot.queue.lock().await;
        let (workspace, target, named) = (self.clone(), slot.clone(), id.clone());
        let hard_links = self.hard_links_for(caller);
        let work = move || {
            let in_editor = || {
                let open = Some(target.lock()).filter(|document| document.is_open());
                Ok(open.map(|mut document| document.withdraw(&named)))
            };
            let in_file = |document: &mut Document, now| {
                // Another process may have decided about it meanwhile.
                document.may_be_withdrawn(&named, obeyed)?;
                document.withdraw(&named);
                document.settle_on_disk(now);
                Ok(ControlFlow::Continue(()))
            };
            either_way(in_editor, || workspace.change_on_disk(&target, hard_links, in_file))
        };
        blocking(work).await?;
        self.attend(&slot);
        // Who records may need the turn before it comes to this.
        drop(turn);
        let workspace = self.clone();
        let settled = move || {
            workspace.settle_jobs();
            Ok(())
        };
        blocking(settled).await?;
        let scope = ReviewScope { edits: vec![id.to_string()], ..ReviewScope::default() };
        let mut edits = edits_of(caller, &slot, &scope);
        let edit = edits.pop().ok_or_else(|| Refusal::NoSuchEdit(id.to_string()))?;
        Ok(Withdrawal { edit, is_recorded: !slot.lock().has_unrecorded() })
    }
}

impl Document {
    /// Whether an edit is undecided, so that its agent may take it back. What is in a file that something obeys stays there until the
    /// person decides: with less in it, such a file says something else.
    fn may_be_withdrawn(&mut self, id: &EditId, obeyed: Option<Obeyed>) -> Result<(), Refusal> {
        let Some(edit) = self.edits().iter().find(|edit| edit.id == *id).cloned() else { return Ok(()) };
        if edit.status() == Status::Pending {
            return match obeyed.filter(|_| self.has_in_file(&edit)) {
                Some(by) => Err(Refusal::Obeyed { edit: id.short().to_owned(), by }),
                None => Ok(()),
            };
        }
        let withdrawn = edit.decisions().all(|(_, decision)| decision == Decision::Withdrawn);
        let status = if withdrawn { "withdrawn" } else { edit.status().as_str() };
        Err(Refusal::Decided { edit: id.short().to_owned(), status })
    }

    /// Whether something of an edit that is undecided is in the file, or in the editor's text.
    fn has_in_file(&mut self, edit: &Edit) -> bool {
        let undecided = |decision: Decision| decision == Decision::Undecided;
        let is_done = edit.file.as_ref().is_some_and(|file| file.done && undecided(file.decision));
        let weave = self.weave();
        is_done || edit.hunks.iter().any(|hunk| undecided(hunk.decision) && weave.in_buffer(hunk.id))
    }
}

/// An id of the scope that none of these edits has.
fn missing<'a>(edits: &[EditInfo], scope: &'a ReviewScope) -> Option<&'a String> {
    let has = |id: &&String| edits.iter().any(|edit| edit.id.as_str().starts_with(id.as_str()));
    scope.edits.iter().find(|id| !has(id))
}

/// What an agent waits for: decisions, comments and conflicts, not places.
fn outcomes(edits: &[EditInfo]) -> Vec<(Verdict, bool)> {
    let hunks = edits.iter().flat_map(|edit| &edit.hunks);
    let outcome = |HunkInfo { view, .. }: &HunkInfo| {
        ((view.decision, view.reason.clone()), matches!(view.state, HunkState::Conflicted(_)))
    };
    hunks.map(outcome).collect()
}

fn edits_of(caller: &Caller, slot: &Arc<Slot>, scope: &ReviewScope) -> Vec<EditInfo> {
    // A list takes time in the number of edits: keystrokes do not wait for it.
    let mut document = slot.lock().clone();
    let name = name_of(slot, document.uri().to_owned());
    let wanted = |edit: &Edit| {
        (!scope.own || edit.connection == caller.connection)
            && (!scope.pending || edit.status() == Status::Pending)
            && (!scope.news || edit.status() == Status::Pending || edit.has_news())
            && (scope.edits.is_empty()
                || scope.edits.iter().any(|id| edit.id.as_str().starts_with(id.as_str())))
    };
    let review = document.review_where(wanted);
    let text = document.text().clone();
    let info = |edit: crate::document::ReviewEdit| EditInfo {
        id: edit.edit.id.clone(),
        name: name.clone(),
        agent: edit.edit.agent.clone(),
        connection: edit.edit.connection.clone(),
        conversation: edit.edit.conversation.clone(),
        mode: edit.edit.mode,
        status: edit.edit.status(),
        news: edit.edit.has_news(),
        comment: edit.edit.has_untold_comment(),
        hunks: edit
            .hunks
            .into_iter()
            .map(|view| {
                let edited = matches!(view.state, HunkState::Edited(_));
                let lines = view.lines.clone().filter(|_| edited);
                let changed_to =
                    lines.map(|lines| text.lines(lines).map(|line| line.content().into_owned()).collect());
                HunkInfo { view, changed_to }
            })
            .collect(),
    };
    review.edits.into_iter().map(info).collect()
}
