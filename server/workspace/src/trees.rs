//! Decisions about files by what they are and not by what they are called: a file that is gone is still the file that it was when
//! another one has its name, and of several decisions each meets the names that the ones before have left (rule W10).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::{Document as Past, DocumentName, Draft, FileId, HunkRef, Location, Store};

use crate::disk::Place;
use crate::document::{Decided, Document, Request, Target, Undecided, Why};
use crate::record::{Recorded, draft, name_in_record, uri_of};
use crate::refusal::Refusal;
use crate::slot::Slot;
use crate::workspace::{Workspace, key_of};

/// A file as a decision meets it.
enum Met {
    /// The one that its name leads to.
    Named(Arc<Slot>),
    /// One that is gone, while another one has its name.
    Former(Place, Store),
}

impl Workspace {
    /// Decides about one file that no editor has open, whatever has its name by now: several things one after the other, all of them or
    /// none, before any of it is written.
    pub async fn decide_about_file(&self, path: &Path, file: FileId, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        let (workspace, asked, there) = (self.clone(), requests.to_vec(), path.to_owned());
        let met = tokio::task::spawn_blocking(move || match workspace.meet(&there, file) {
            Ok(Some(Met::Former(place, store))) => {
                Err(workspace.decide_about_former(&place, &store, file, &asked))
            }
            Ok(Some(Met::Named(slot))) => Ok(Some(slot)),
            Ok(None) => Ok(None),
            Err(refusal) => Err(Err(refusal)),
        });
        match met.await.unwrap_or(Ok(None)) {
            Ok(Some(slot)) if requests.len() == 1 => self.decide_in_each(vec![slot], first).await,
            Ok(Some(slot)) => self.decide_in_turn(&slot, requests).await,
            Ok(None) => self.decide_in_each(Vec::new(), first).await,
            Err(decided) => decided.unwrap_or_else(|refusal| refused(&first.target, &refusal)),
        }
    }

    /// The file, and whether its name leads to it; none where it is not served.
    fn meet(&self, path: &Path, file: FileId) -> Result<Option<Met>, Refusal> {
        let Some(place) = self.read_roots().identify(path) else { return Ok(None) };
        if let Some(store) = self.history_of(&place)
            && store.latest(&name_in_record(&place))?.is_none_or(|(latest, _)| latest != file)
        {
            return Ok(Some(Met::Former(place, store)));
        }
        Ok(self.slot_at(path)?.map(Met::Named))
    }

    /// Decides about a file that is gone while another one has its name. It comes back where the name is free by now.
    fn decide_about_former(
        &self,
        place: &Place,
        store: &Store,
        file: FileId,
        requests: &[Request],
    ) -> Result<Decided, Refusal> {
        let mut session = self.session(store)?;
        let past = store.file(file)?;
        let document = former(place, &past);
        let slot = Arc::new(Slot::new(key_of(place.absolute()), document, Some(place.clone())));
        let latest = Some((file, past.sequence));
        *slot.recorded() = Recorded { moved: Some(file), ..Recorded::of(store, latest, store.glance()) };
        let mut copy = slot.lock().clone();
        let decided = self.decide_in_copy(&mut copy, requests, |name| self.is_there(name));
        if decided.queued.is_empty() {
            return Ok(decided);
        }
        let wanted = self.wanted(place, &copy)?;
        let state = copy.to_record(&[]);
        if wanted.bytes.is_some() {
            place.check_write()?;
            if !self.write_recorded(&mut session, &slot, place, &state, None, &wanted)? {
                return Ok(Decided::default());
            }
            copy.was_recorded(&state);
            self.take_over_copy(&slot, copy);
            self.inner.slots.insert(slot.key.clone(), slot.clone());
            self.attend(&slot);
        } else {
            let document = name_in_record(&wanted.place);
            self.append_draft(&mut session, &Draft { document, ..draft(&slot, place, &state) })?;
        }
        self.end_session(session);
        Ok(decided)
    }

    /// Decides in a copy of a document without an editor, one after the other, if the name is free that its file is to have then; `is_there`
    /// says of a name whether it is taken. Of several all is done or nothing.
    pub(crate) fn decide_in_copy(
        &self,
        document: &mut Document,
        requests: &[Request],
        is_there: impl Fn(&DocumentName) -> bool,
    ) -> Decided {
        let before = document.clone();
        let mut decided = Decided::default();
        for request in requests {
            let one = document.decide(request, self.now());
            document.settle_on_disk(self.now());
            if !one.refused.is_empty() && requests.len() > 1 {
                *document = before;
                return Decided { refused: one.refused, ..Decided::default() };
            }
            decided.add(one.queued);
            decided.refused.extend(one.refused);
            decided.kept.extend(one.kept);
        }
        let (was, now) = (before.file_now(), document.file_now());
        let takes = now.name.as_ref().filter(|_| now.exists && (!was.exists || was.name != now.name));
        match takes.filter(|name| is_there(name)).cloned() {
            Some(name) => {
                *document = before;
                let refused = requests.iter().map(|request| self.name_taken(&name, &request.target));
                Decided { refused: refused.take(1).collect(), ..Decided::default() }
            }
            None => decided,
        }
    }

    /// Whether there is a file of a name.
    pub(crate) fn is_there(&self, name: &DocumentName) -> bool {
        name.as_path().symlink_metadata().is_ok()
    }

    /// Why a file cannot have a name: another one has it. Says which edit has given it that.
    fn name_taken(&self, name: &DocumentName, target: &Target) -> Undecided {
        let others: Vec<HunkRef> = self.who_took(name).into_iter().collect();
        let message = match others.first() {
            Some(other) => {
                format!(
                    "{name} is another file now: {} has given it the name. Reject that one first.",
                    other.short()
                )
            }
            None => format!("There is another file called {name}. Rename that one, then decide."),
        };
        Undecided { why: Why::Collides, message, others, ..Document::no_such(target) }
    }

    /// The edit that made the file that has a name, or moved it there.
    fn who_took(&self, name: &DocumentName) -> Option<HunkRef> {
        let place = self.read_roots().identify(name.as_path())?;
        let past = self.history_of(&place)?.document(&name_in_record(&place)).ok()?;
        let gives = |edit: &&hashline_history::EditState| {
            let gives = edit.made.file.as_ref().is_some_and(|change| {
                change.name.as_ref().is_some_and(|(_, to)| to == name) || change.exists == Some((false, true))
            });
            gives && edit.hunks.first().is_some_and(|hunk| hunk.location != Location::None)
        };
        let edit = past.edits.iter().rev().find(gives)?;
        Some(HunkRef { edit: edit.made.id.clone(), number: 1 })
    }
}

/// Decisions about several files, tried one after the other before the first of them is made. What an editor has open is not looked at.
pub struct Rehearsal {
    workspace: Workspace,
    /// The files as the decisions so far leave them.
    files: HashMap<FileId, Document>,
    /// Whether there is a file of a name by then, where that is not as the disk has it.
    names: HashMap<PathBuf, bool>,
}

impl Rehearsal {
    /// Nothing is decided yet.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, files: HashMap::new(), names: HashMap::new() }
    }

    /// What a decision about a file would come to after those before; one that is refused is as if it had not been asked for. Blocks.
    pub fn decide(&mut self, path: &Path, file: FileId, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        match self.document(path, file) {
            Ok(Some(mut document)) => {
                let before = document.file_now().clone();
                let there = |name: &DocumentName| match self.names.get(name.as_path()) {
                    Some(there) => *there,
                    None => self.workspace.is_there(name),
                };
                let decided = self.workspace.decide_in_copy(&mut document, requests, there);
                if !decided.refused.is_empty() {
                    return decided;
                }
                let now = document.file_now();
                let name = |name: &Option<DocumentName>| name.as_ref().map(|name| name.as_path().to_owned());
                self.names.extend(name(&before.name).map(|name| (name, false)).filter(|_| before.exists));
                self.names.extend(name(&now.name).map(|name| (name, true)).filter(|_| now.exists));
                self.files.insert(file, document);
                decided
            }
            Ok(None) => Decided { refused: vec![Document::no_such(&first.target)], ..Decided::default() },
            Err(refusal) => refused(&first.target, &refusal),
        }
    }

    fn document(&self, path: &Path, file: FileId) -> Result<Option<Document>, Refusal> {
        if let Some(document) = self.files.get(&file) {
            return Ok(Some(document.clone()));
        }
        Ok(match self.workspace.meet(path, file)? {
            Some(Met::Named(slot)) => Some(slot.lock().clone()),
            Some(Met::Former(place, store)) => Some(former(&place, &store.file(file)?)),
            None => None,
        })
    }
}

/// A file that is gone, as it is recorded. Where the record does not know that it is, something else has removed it.
fn former(place: &Place, past: &Past) -> Document {
    let mut document = Document::of_record(&uri_of(place), past);
    document.stays_removed();
    document
}

fn refused(target: &Target, refusal: &Refusal) -> Decided {
    let refused = vec![Document::not_decided(target, refusal.to_string())];
    Decided { refused, ..Decided::default() }
}
