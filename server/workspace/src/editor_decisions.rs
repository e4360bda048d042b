//! What the person decides, in the editor or from elsewhere.
//!
//! A decision waits until it is recorded. Of a document that no editor has open it is carried out on the disk.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::{FileId, Found, HunkRef, Status, Store, StoreError};

use crate::closed_documents::either_way;
use crate::disk::{HardLinks, Place};
use crate::document::{Decided, Document, Elsewhere, Preview, Request, Target, Undecided};
use crate::document_slot::Slot;
use crate::record::OtherEditor;
use crate::refusal_messages::Refusal;
use crate::workspace::Workspace;

/// What a decision is about.
#[derive(Default)]
pub(crate) struct Meant {
    slots: Vec<Arc<Slot>>,
    /// Files whose names do not lead to them any more. The editor does not have them open.
    former: Vec<(PathBuf, FileId)>,
}

impl From<Option<Arc<Slot>>> for Meant {
    fn from(slot: Option<Arc<Slot>>) -> Self {
        Self { slots: slot.into_iter().collect(), former: Vec::new() }
    }
}

impl Workspace {
    /// Decides about hunks. What changes the text is under way when this returns. For `uri` none, the target says which documents.
    pub async fn decide(&self, uri: Option<&str>, request: &Request) -> Decided {
        let meant = match uri {
            Some(uri) => self.meant_at(uri, &request.target).await,
            None => self.meant_by(&request.target).await,
        };
        self.decide_in_all(meant, request, false).await
    }

    /// Decides for a person who is not at the editor, about one file or wherever the target is. As there is no undo at hand, a copy is
    /// kept of an open text in which that person gives up lines; of a file, and of a text whose file goes, it is kept anyway.
    pub async fn decide_from_elsewhere(&self, path: Option<&Path>, request: &Request) -> Decided {
        let meant = match path {
            None => Ok(self.meant_by(&request.target).await),
            Some(path) => {
                let (workspace, path) = (self.clone(), path.to_owned());
                let slot = tokio::task::spawn_blocking(move || workspace.slot_at(&path)).await;
                slot.unwrap_or(Ok(None)).map(Meant::from)
            }
        };
        match meant {
            Ok(meant) => self.decide_in_each(meant, request).await,
            Err(refusal) => {
                let refused = vec![Document::not_decided(&request.target, refusal.to_string())];
                Decided { refused, ..Decided::default() }
            }
        }
    }

    /// Decides in these documents for a person who is not at the editor.
    pub(crate) async fn decide_in_each(&self, meant: Meant, request: &Request) -> Decided {
        self.decide_in_all(meant, request, true).await.asked_everywhere()
    }

    async fn decide_in_all(&self, meant: Meant, request: &Request, elsewhere: bool) -> Decided {
        let mut decided = Decided::default();
        let is_nothing = meant.slots.is_empty() && meant.former.is_empty();
        for slot in &meant.slots {
            decided.extend(self.decide_in(slot, request, elsewhere).await);
        }
        for (path, file) in meant.former {
            match self.decide_if_former(&path, file, std::slice::from_ref(request)).await {
                // What was decided so far has left its name to it.
                Ok(Some(slot)) => decided.extend(self.decide_in(&slot, request, elsewhere).await),
                Ok(None) => {}
                Err(one) => decided.extend(one),
            }
        }
        if is_nothing {
            decided.refused.push(Document::no_such(&request.target));
        }
        decided
    }

    /// What a decision about a document would do, without making it; none if the document is not known.
    #[must_use]
    pub fn preview(&self, uri: &str, request: &Request) -> Option<Preview> {
        let slot = self.slot_of(uri)?;
        let copy = slot.lock().clone();
        Some(copy.preview(request, self.now()))
    }

    /// The editor is offered to make a change by itself, for the text as it is: that it has made it is known by the text.
    pub fn offered(&self, uri: &str, preview: &Preview) {
        let slot = self.slot_of(uri);
        if let (Some(slot), Some(plan)) = (slot, &preview.plan) {
            slot.lock().note_offer(plan.clone());
        }
    }

    /// What a target is in, by the documents that are known and by the record.
    async fn meant_by(&self, target: &Target) -> Meant {
        let (workspace, named) = (self.clone(), target.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let found = workspace.load_recorded(&named);
            // Of a conversation only what is undecided is meant.
            let is_meant =
                |edit: &&Found| !matches!(named, Target::Conversation(_)) || edit.status == Status::Pending;
            workspace.former_files(found.iter().filter(is_meant))
        });
        // What cannot be looked up is not known.
        let former = looked.await.unwrap_or_default();
        let mut slots = self.slots();
        for slot in &slots {
            // Of one that was just opened the recorded edits are on their way.
            slot.wait_until_ready().await;
        }
        slots.retain(|slot| slot.lock().has_target(target));
        let workspace = self.clone();
        let current =
            move || slots.into_iter().filter(|slot| !matches!(workspace.passed(slot), Ok(Some(_)))).collect();
        let slots = tokio::task::spawn_blocking(current).await.unwrap_or_default();
        Meant { slots, former }
    }

    /// The document that the editor calls `uri`. Where that one does not have the edit that is named, what has it: its file may just
    /// have got another name, and of the lists that say so the editor has had only one.
    async fn meant_at(&self, uri: &str, target: &Target) -> Meant {
        let called = self.slot_of(uri);
        if let Some(slot) = &called {
            slot.wait_until_ready().await;
        }
        let has_it = called.as_ref().is_some_and(|slot| slot.lock().has_target(target));
        match target {
            Target::Hunk(_) | Target::Edit(_) if !has_it => self.meant_by(target).await,
            _ => Meant::from(called),
        }
    }

    async fn decide_in(&self, slot: &Arc<Slot>, request: &Request, elsewhere: bool) -> Decided {
        slot.wait_until_ready().await;
        if let Some(other) = slot.whose().other() {
            return Self::left_to(other, slot, &request.target);
        }
        if self.asks_editor(slot, request) {
            let (workspace, slot, asked) = (self.clone(), slot.clone(), request.clone());
            let looked = tokio::task::spawn_blocking(move || workspace.look_at_file(&slot, &asked)).await;
            if let Ok(Err(refused)) = looked {
                return Decided { refused: vec![refused], ..Decided::default() };
            }
        }
        let kept = match self.keep_typed(slot, request, elsewhere).await {
            Ok(kept) => kept,
            Err(error) => {
                let refused = vec![Document::not_decided(&request.target, error.to_string())];
                return Decided { refused, ..Decided::default() };
            }
        };
        let mut made = self.decide_in_editor(slot, request);
        if made.as_ref().is_some_and(|(decided, waits)| !waits && !decided.queued.is_empty())
            && self.catch_up(slot).await
        {
            // It stood so here already, so that no line of it shows that somebody else has decided otherwise.
            if let Some(other) = slot.whose().other() {
                return Self::left_to(other, slot, &request.target);
            }
            made = self.decide_in_editor(slot, request);
        }
        if let Some(decided) = made {
            if !decided.1 {
                return Decided { kept, ..decided.0 };
            }
            let (workspace, slot, request) = (self.clone(), slot.clone(), request.clone());
            let recorded = move || workspace.recorded(&slot, &request, decided);
            let recorded = tokio::task::spawn_blocking(recorded).await.unwrap_or_default();
            return Decided { kept, ..recorded };
        }
        // On the disk a decision writes: it waits for its turn among the agents' edits.
        let turn = slot.queue.lock().await;
        let (workspace, target, asked) = (self.clone(), slot.clone(), request.clone());
        let written = tokio::task::spawn_blocking(move || {
            workspace.note_what_editors_did();
            let in_editor = || Ok(workspace.decide_in_editor(&target, &asked));
            let all = std::slice::from_ref(&asked);
            let on_disk = || Ok(workspace.decide_on_disk(&target, all)?.map(|decided| (decided, false)));
            either_way(in_editor, on_disk)
                .unwrap_or_else(|refusal| (not_on_disk(&target, &asked.target, &refusal), false))
        });
        let decided = written.await.unwrap_or_default();
        // Who records may need the turn before it comes to this.
        drop(turn);
        let (workspace, slot, request) = (self.clone(), slot.clone(), request.clone());
        let recorded = move || workspace.recorded(&slot, &request, decided);
        tokio::task::spawn_blocking(recorded).await.unwrap_or_default()
    }

    /// A decision that another editor makes: it is handed over by who can, but for those about a text that the person has before them.
    fn left_to(other: &OtherEditor, slot: &Slot, target: &Target) -> Decided {
        let refused = Document::decided_elsewhere(target, &other.name, &slot.key);
        match slot.place().filter(|_| !slot.lock().is_open()) {
            Some(place) => asked_elsewhere(&place, refused),
            None => Decided { refused: vec![refused], ..Decided::default() },
        }
    }

    /// Whether the record has what has become of these hunks so far, and nothing that was refused, and editors have opened again what they
    /// have renamed. Waits for what is being recorded; what cannot be is tried again, and the person is told.
    pub async fn recorded_by_now(&self, hunks: &[HunkRef]) -> bool {
        let workspace = self.clone();
        let settled = tokio::task::spawn_blocking(move || workspace.settle_record());
        let has_any =
            |document: &Document| hunks.iter().any(|hunk| document.has_target(&Target::Hunk(hunk.clone())));
        settled.await.is_ok()
            && !self.inner.histories.open().iter().any(Store::is_unsure)
            && !self.slots().iter().any(|slot| {
                let awaited = slot.is_awaited();
                let document = slot.lock();
                (awaited || document.has_unrecorded()) && has_any(&document)
            })
    }

    /// What became of a decision when it is recorded, or that it is wanted: one that is to be sent to the editor is not made where that
    /// cannot be; of another the person is told, as it is kept here and tried again. Blocks.
    fn recorded(&self, slot: &Slot, request: &Request, (mut decided, waits): (Decided, bool)) -> Decided {
        if !waits {
            return decided;
        }
        // It was handed to the recorder when it was made.
        self.settle_jobs();
        let dropped = slot.lock().take_dropped();
        if dropped.iter().any(|hunk| decided.queued.contains(hunk)) {
            decided.queued.retain(|hunk| !dropped.contains(hunk));
            let message = "It was not made, and the text is as it was: the edit history could not be written, or another process was \
                           quicker. Look at how it stands now, and decide again."
                .to_owned();
            decided.refused.push(Document::not_decided(&request.target, message));
        }
        decided
    }

    /// Decides in the text that the editor has, if the document is open. With it whether there is something to be recorded of it.
    fn decide_in_editor(&self, slot: &Arc<Slot>, request: &Request) -> Option<(Decided, bool)> {
        let decided = {
            let mut document = slot.lock();
            if !document.is_open() {
                return None;
            }
            // Of earlier decisions, which nobody waits for.
            drop(document.take_dropped());
            let decided = document.decide(request, self.now());
            let unrecorded = document.is_waiting_for_record() || document.has_unrecorded();
            let waits = unrecorded && !decided.queued.is_empty();
            (decided, waits)
        };
        self.attend(slot);
        Some(decided)
    }

    /// Keeps a copy of an open document in which a decision takes out what the person typed (rule W8), where the editor's own undo does
    /// not bring it back: it was decided elsewhere, or the file goes.
    async fn keep_typed(
        &self,
        slot: &Arc<Slot>,
        request: &Request,
        elsewhere: bool,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let text = {
            let mut document = slot.lock();
            let gives_up = document.is_open()
                && if elsewhere { document.gives_up(request) } else { document.gives_up_file(request) };
            gives_up.then(|| (document.form(), document.text().clone()))
        };
        let Some((form, text)) = text else { return Ok(Vec::new()) };
        let (workspace, slot) = (self.clone(), slot.clone());
        let keep = tokio::task::spawn_blocking(move || workspace.keep_copy(&slot, &form.to_bytes(&text)));
        Ok(keep.await.unwrap_or(Ok(None))?.into_iter().collect())
    }

    /// Decides in a file that no editor has open, one after the other: all of it or nothing.
    pub(crate) async fn decide_in_turn(&self, slot: &Arc<Slot>, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        slot.wait_until_ready().await;
        if let Some(other) = slot.whose().other() {
            return Self::left_to(other, slot, &first.target);
        }
        let turn = slot.queue.lock().await;
        let (workspace, target, asked) = (self.clone(), slot.clone(), requests.to_vec());
        let written = tokio::task::spawn_blocking(move || workspace.decide_on_disk(&target, &asked)).await;
        drop(turn);
        match written {
            Ok(Ok(Some(decided))) => decided,
            Ok(Err(refusal)) => not_on_disk(slot, &first.target, &refusal),
            Ok(Ok(None)) | Err(_) => {
                let message = "An editor has just opened the file. Decide again.".to_owned();
                let refused = vec![Document::not_decided(&first.target, message)];
                Decided { refused, ..Decided::default() }
            }
        }
    }

    /// Decides in the file, one after the other; none if an editor has it open by now.
    fn decide_on_disk(&self, slot: &Arc<Slot>, requests: &[Request]) -> Result<Option<Decided>, Refusal> {
        let own = slot.place();
        let is_own = |path: &Path| own.as_ref().is_some_and(|own| own.absolute() == path);
        let done = self.change_on_disk(slot, HardLinks::Served, |document, _| {
            let gives_up = requests.iter().any(|request| document.gives_up(request));
            let given_up = gives_up.then(|| document.form().to_bytes(document.text()));
            let mut decided = self.decide_in_copy(document, requests, |name| self.holder(name, is_own));
            if decided.queued.is_empty() {
                // A change that nobody watched is still one: it is shown again, and not given up for nothing.
                return Ok(ControlFlow::Break(decided));
            }
            if let Some(bytes) = given_up {
                decided.kept.extend(self.keep_copy(slot, &bytes)?);
            }
            Ok(ControlFlow::Continue(decided))
        });
        self.attend(slot);
        done
    }
}

/// What to say of a file that could not be written.
fn not_on_disk(slot: &Slot, target: &Target, refusal: &Refusal) -> Decided {
    let refused = Document::not_decided(target, refusal.to_string());
    let is_elsewhere = matches!(refusal, Refusal::TakenOver { .. } | Refusal::NoAnswer { .. });
    match slot.place().filter(|_| is_elsewhere) {
        Some(place) => asked_elsewhere(&place, refused),
        None => Decided { refused: vec![refused], ..Decided::default() },
    }
}

/// What another editor is to be asked.
fn asked_elsewhere(place: &Place, refused: Undecided) -> Decided {
    let elsewhere = Elsewhere { file: place.absolute().to_owned(), refused };
    Decided { elsewhere: vec![elsewhere], ..Decided::default() }
}
