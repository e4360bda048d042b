//! Decisions about files by what they are and not by what they are called: a file that is gone is still the file that it was when
//! another one has its name, and of several decisions each meets the names that the ones before have left (rule W10).

mod decide_together;
mod names;
mod rehearsal;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::path::to_text;
use hashline_history::{
    Document as Past, DocumentName, Draft, FileId, Found, HunkRef, Location, Sequence, Store, StoreError,
};

use crate::disk::{Place, read};
use crate::document::{Decided, Document, Request, Target, Undecided, Why};
use crate::document_slot::Slot;
use crate::record::{Recorded, draft, name_in_record, uri_of};
use crate::refusal_messages::Refusal;
use crate::workspace::{Event, OpenElsewhere, Workspace, key_of};

pub use rehearsal::Rehearsal;

/// Who has a name that a file is to have.
#[derive(Clone)]
pub(crate) enum Holder {
    Nobody,
    /// A file on the disk: the one of this name, one that stands where a folder above it would be, or one in a folder of this name.
    File(PathBuf),
    /// A document of an editor, which has no file of this name.
    Editor,
    /// Perhaps a document of this editor, which does not answer.
    Silent(String),
    /// The file that an earlier one of several decisions gives this name, or one that cannot be there with it; the hunk is what is decided then.
    Earlier(HunkRef, PathBuf),
}

/// A file as a decision meets it.
enum Met {
    /// The one that its name leads to.
    Named(Arc<Slot>),
    Former(FormerFile),
}

/// A file whose name does not lead to it: it is gone while another one has its name, or something stands in the way of it.
struct FormerFile {
    place: Place,
    store: Store,
    file: FileId,
}

impl Workspace {
    /// Decides about one file that no editor has open, whatever has its name by now: several things one after the other, all of them or
    /// none, before any of it is written.
    pub async fn decide_about_file(&self, path: &Path, file: FileId, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        match self.decide_if_former(path, file, requests).await {
            Ok(Some(slot)) if requests.len() == 1 => self.decide_in_each(Some(slot).into(), first).await,
            Ok(Some(slot)) => self.decide_in_turn(&slot, requests).await.asked_everywhere(),
            Ok(None) => self.decide_in_each(None.into(), first).await,
            Err(decided) => decided,
        }
    }

    /// Decides about a file if its name does not lead to it. Else nothing is decided, and its document is returned; none where it is not
    /// served.
    pub(crate) async fn decide_if_former(
        &self,
        path: &Path,
        file: FileId,
        requests: &[Request],
    ) -> Result<Option<Arc<Slot>>, Decided> {
        let Some(first) = requests.first() else { return Err(Decided::default()) };
        let (workspace, asked, there) = (self.clone(), requests.to_vec(), path.to_owned());
        let met = tokio::task::spawn_blocking(move || match workspace.meet(&there, file) {
            Ok(Some(Met::Former(former))) => Err(workspace.decide_about_former(&former, &asked)),
            Ok(Some(Met::Named(slot))) => Ok(Some(slot)),
            Ok(None) => Ok(None),
            Err(refusal) => Err(Err(refusal)),
        });
        let refused = |refusal| refused(&first.target, &refusal);
        met.await.unwrap_or(Ok(None)).map_err(|decided| decided.unwrap_or_else(refused))
    }

    /// What decisions about one document would come to, one after the other, whether an editor has it open or not. None is made. Who has the
    /// names that its file is to have is for the caller to find out, as other decisions may free them before.
    pub async fn rehearse(&self, path: &Path, requests: Vec<Request>) -> Rehearsed {
        let Some(first) = requests.first().cloned() else { return Rehearsed::default() };
        let (workspace, path) = (self.clone(), path.to_owned());
        let tried = tokio::task::spawn_blocking(move || {
            let Some(slot) = workspace.slot_at(&path)? else {
                let refused = vec![Document::no_such(&requests[0].target)];
                return Ok(Rehearsed { decided: Decided { refused, ..Decided::default() }, file: None });
            };
            Ok(workspace.rehearse_in_copy(&slot, &requests))
        });
        tried
            .await
            .unwrap_or_else(|_| Ok(Rehearsed::default()))
            .unwrap_or_else(|refusal| Rehearsed { decided: refused(&first.target, &refusal), file: None })
    }

    /// Decides in a copy of a document, whose editor is taken to do with the file what it is asked for.
    fn rehearse_in_copy(&self, slot: &Slot, requests: &[Request]) -> Rehearsed {
        let mut copy = slot.lock().clone();
        let place = slot.place().filter(|_| copy.is_open());
        let stored = place.as_ref().and_then(|place| read(place).ok());
        if let Some(place) = place {
            let mode = stored.as_ref().and_then(|stored| stored.mode);
            copy.set_file(stored.is_some(), name_in_record(&place), mode);
        }
        let mut decided = Decided::default();
        for request in requests {
            let one = match self.look_in_copy(&mut copy, stored.as_ref(), request) {
                Ok(()) => self.decide_in_copy(&mut copy, std::slice::from_ref(request), |_| Holder::Nobody),
                Err(refused) => Decided { refused: vec![refused], ..Decided::default() },
            };
            copy.do_as_asked(self.now());
            if !one.refused.is_empty() && requests.len() > 1 {
                decided = Decided { refused: one.refused, ..Decided::default() };
                break;
            }
            decided.add(one.queued);
            decided.refused.extend(one.refused);
            decided.kept.extend(one.kept);
        }
        let now = copy.file_now();
        let file = now.name.as_ref().map(|name| (name.as_path().to_owned(), now.exists));
        Rehearsed { decided, file }
    }

    /// The file, and whether its name leads to it; none where it is not served.
    fn meet(&self, path: &Path, file: FileId) -> Result<Option<Met>, Refusal> {
        let Some(place) = self.read_roots().identify(path) else { return Ok(None) };
        if let Some(store) = self.meet_former(&place, file)? {
            return Ok(Some(Met::Former(FormerFile { place, store, file })));
        }
        Ok(self.slot_at(path)?.map(Met::Named))
    }

    /// The files of edits whose names do not lead to them any more, each once, by their names. Those that the editor has open under
    /// another name are not among them.
    pub(crate) fn former_files<'a>(&self, edits: impl Iterator<Item = &'a Found>) -> Vec<(PathBuf, FileId)> {
        let mut seen: HashSet<(PathBuf, FileId)> = HashSet::new();
        let mut former = Vec::new();
        for edit in edits {
            let path = edit.document.as_path();
            if let Some(place) = self.read_roots().identify(path)
                && let Ok(Some(store)) = self.meet_former(&place, edit.file)
                // Each history has ids of its own.
                && seen.insert((store.folder().to_owned(), edit.file))
                && is_still_called_so(&store, edit)
                && !self.has_file_open(&store, edit.file)
            {
                former.push((path.to_owned(), edit.file));
            }
        }
        former
    }

    /// Whether the editor has a file of a history open, whatever it is called there.
    fn has_file_open(&self, store: &Store, file: FileId) -> bool {
        let is_in_it =
            |place: Place| self.history_of(&place).is_some_and(|own| own.folder() == store.folder());
        self.slots().iter().any(|slot| {
            slot.lock().is_open()
                && slot.recorded().latest.is_some_and(|(known, _)| known == file)
                && slot.place().is_some_and(is_in_it)
        })
    }

    /// The history of a file whose name does not lead to it any more; none where it does.
    pub(crate) fn meet_former(&self, place: &Place, file: FileId) -> Result<Option<Store>, Refusal> {
        let Some(store) = self.history_of(place) else { return Ok(None) };
        let is_former = place.is_blocked()
            || store.latest(&name_in_record(place))?.is_none_or(|(latest, _)| latest != file);
        Ok(is_former.then_some(store))
    }

    /// Decides about a file that is gone while another one has its name. It comes back where the name is free by now.
    fn decide_about_former(
        &self,
        FormerFile { place, store, file }: &FormerFile,
        requests: &[Request],
    ) -> Result<Decided, Refusal> {
        let file = *file;
        let mut session = self.session(store)?;
        let past = store.file(file)?;
        if past.name != name_in_record(place) || self.meet_former(place, file)?.is_none() {
            // It has got another name, or its own back, since it was met.
            return Err(StoreError::Stale { document: past.name, last: past.sequence }.into());
        }
        let document = former(place, &past);
        let slot = Arc::new(Slot::new(key_of(place.absolute()), document, Some(place.clone())));
        let latest = Some((file, past.sequence));
        *slot.recorded() = Recorded { moved: Some(file), ..Recorded::of(store, latest, store.glance()) };
        let mut copy = slot.lock().clone();
        let decided = self.decide_in_copy(&mut copy, requests, |name| self.holder(name, |_| false));
        if decided.queued.is_empty() {
            return Ok(decided);
        }
        let wanted = self.wanted(place, &copy)?;
        let state = copy.to_record(&[]);
        if wanted.contents.is_some() {
            place.check_write()?;
            if !self.write_recorded(&mut session, &slot, place, &state, None, &wanted)? {
                return Ok(Decided::default());
            }
            // Whoever looks at its name next finds the file, and what is recorded of it.
        } else {
            let document = name_in_record(&wanted.place);
            self.append_draft(&mut session, &Draft { document, ..draft(&slot, place, &state) })?;
        }
        self.end_session(session);
        self.forget_former(&slot.key, file);
        Ok(decided)
    }

    /// The history of the file of a document that no editor has open, and what is known of it, where the file has its name no more: the record
    /// has it under another one, or it is gone and something else is there.
    pub(crate) fn passed(&self, slot: &Slot) -> Result<Option<(Store, FileId, Sequence)>, Refusal> {
        let recorded = *slot.recorded();
        let (Some(place), Some((file, known)), None) = (slot.place(), recorded.latest, recorded.moved) else {
            return Ok(None);
        };
        if slot.lock().is_open() {
            return Ok(None);
        }
        Ok(self.meet_former(&place, file)?.map(|store| (store, file, known)))
    }

    /// Forgets a document whose file has its name no more, if something was recorded of that since. False if it has.
    pub(crate) fn forget_passed(&self, slot: &Slot) -> Result<bool, Refusal> {
        let Some((store, file, known)) = self.passed(slot)? else { return Ok(false) };
        // A history that does not know it any more was set aside.
        let Ok(past) = store.file(file) else { return Ok(false) };
        if past.sequence != known {
            self.forget_former(&slot.key, file);
        }
        Ok(true)
    }

    /// Forgets what a document that nobody has open said of a file that was decided about since.
    fn forget_former(&self, key: &str, file: FileId) {
        let is_of_it = |slot: &Slot| {
            !slot.lock().is_open() && slot.recorded().latest.is_some_and(|(known, _)| known == file)
        };
        if let Some((_, slot)) = self.inner.slots.remove_if(key, |_, slot| is_of_it(slot)) {
            let uri = slot.lock().uri().to_owned();
            let _ = self.inner.events.send(Event::Review(uri));
            self.changed();
        }
    }

    /// Decides in a copy of a document without an editor, one after the other, if nobody has the name that its file is to have then. Of
    /// several all is done or nothing.
    pub(crate) fn decide_in_copy(
        &self,
        document: &mut Document,
        requests: &[Request],
        holder: impl Fn(&DocumentName) -> Holder,
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
        let taken = takes.and_then(|name| self.name_taken(name, &holder(name), &requests.first()?.target));
        match taken {
            Some(refused) => {
                *document = before;
                Decided { refused: vec![refused], ..Decided::default() }
            }
            None => decided,
        }
    }

    /// Who has a name now, where some files are as good as gone. A folder without files is in nobody's way.
    pub(crate) fn holder(&self, name: &DocumentName, is_gone: impl Fn(&Path) -> bool) -> Holder {
        let path = name.as_path();
        let look = |above: &Path| if above == path { above.symlink_metadata() } else { above.metadata() };
        let found = path.ancestors().find_map(|above| Some((above, look(above).ok()?)));
        let file = match found {
            Some((folder, there)) if there.is_dir() && folder == path => file_below(folder, &is_gone),
            Some((file, there)) if !there.is_dir() && !is_gone(file) => Some(file.to_owned()),
            _ => None,
        };
        match file {
            Some(file) => Holder::File(file),
            None => match self.open_anywhere(path) {
                OpenElsewhere::Yes => Holder::Editor,
                OpenElsewhere::NoAnswer { editor } => Holder::Silent(editor),
                OpenElsewhere::No => Holder::Nobody,
            },
        }
    }

    /// Whether an editor has a file open, the one of this process or another, or is asked to remove or rename it.
    pub(crate) fn open_anywhere(&self, path: &Path) -> OpenElsewhere {
        let slot = self.inner.slots.get(&key_of(path)).map(|slot| slot.value().clone());
        let has = |document: &Document| document.is_open() || document.is_asking();
        if slot.is_some_and(|slot| has(&slot.lock())) {
            return OpenElsewhere::Yes;
        }
        self.inner.others.get().map_or(OpenElsewhere::No, |others| others.has(path))
    }

    /// Whether an editor may have a file open.
    pub(crate) fn may_be_open_anywhere(&self, path: &Path) -> bool {
        self.open_anywhere(path) != OpenElsewhere::No
    }

    /// Why a file cannot have a name, if somebody has it; and which edit has given it to them, if one did.
    fn name_taken(&self, name: &DocumentName, holder: &Holder, target: &Target) -> Option<Undecided> {
        let (why, other, message) = match holder {
            Holder::Nobody => return None,
            Holder::Editor => {
                let message = format!(
                    "{name} is open in an editor, where it has no file yet. Close it there, then decide."
                );
                (Why::Open, None, message)
            }
            Holder::Silent(editor) => {
                let message = format!(
                    "{name} may be open in {editor}, which does not answer. Nothing was changed. Try again; if it stays so, restart that editor."
                );
                (Why::Elsewhere, None, message)
            }
            Holder::Earlier(other, theirs) => {
                let hunk = other.short();
                let message = if theirs == name.as_path() {
                    format!(
                        "{name} would be the name of two files: {hunk} gives it to another one. Decide about one of the two alone."
                    )
                } else {
                    format!(
                        "{name} and {} cannot both be there, as one would be a folder and a file: {hunk} brings the other one. Decide about one of \
                         the two alone.",
                        to_text(theirs)
                    )
                };
                // It is decided about with it: to take it out by itself is no way out.
                (Why::Collides, None, message)
            }
            Holder::File(theirs) => {
                let theirs = DocumentName::Path(theirs.clone());
                let other = self.who_took(&theirs);
                return Some(taken_by_file(name, &theirs, other, target));
            }
        };
        let others = other.into_iter().collect();
        Some(Undecided { why, message, others, ..Document::no_such(target) })
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

/// What decisions about one document would come to.
#[derive(Clone, Debug, Default)]
pub struct Rehearsed {
    /// What of them is decided, and what is not.
    pub decided: Decided,
    /// The path of its file by then, and whether it is there; none of a document without a file.
    pub file: Option<(PathBuf, bool)>,
}

/// Why a file cannot have a name as another one is there, which an edit has put there or something else.
fn taken_by_file(
    name: &DocumentName,
    theirs: &DocumentName,
    other: Option<HunkRef>,
    target: &Target,
) -> Undecided {
    let is_in_it = theirs != name && theirs.as_path().starts_with(name.as_path());
    let message = match other.as_ref().map(HunkRef::short) {
        Some(other) if theirs == name => {
            format!("{name} is another file now: {other} has given it the name. Reject that one first.")
        }
        None if theirs == name => {
            format!("There is another file called {name}. Rename that one, then decide.")
        }
        Some(other) if is_in_it => {
            format!("{name} is a folder now: {other} has put {theirs} into it. Reject that one first.")
        }
        None if is_in_it => {
            format!("{name} is a folder now, with {theirs} in it. Move that one, then decide.")
        }
        Some(other) => format!(
            "{theirs} is a file now, and no folder for {name}: {other} has given it the name. Reject that one first."
        ),
        None => {
            format!("{theirs} is a file now, and no folder for {name}. Rename that one, then decide.")
        }
    };
    let others = other.into_iter().collect();
    Undecided { why: Why::Collides, message, others, ..Document::no_such(target) }
}

/// The first file in a folder, or in one of its folders, that is not gone; what cannot be looked into counts as one.
fn file_below(folder: &Path, is_gone: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Some(folder.to_owned()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().find_map(|path| match path.symlink_metadata().is_ok_and(|there| there.is_dir()) {
        true => file_below(&path, is_gone),
        false => Some(path).filter(|path| !is_gone(path)),
    })
}

/// Whether the file of an edit that was found has its name still: then what was found of the name since is about this file.
fn is_still_called_so(store: &Store, edit: &Found) -> bool {
    let is_it = |found: &Found| found.file == edit.file && found.document == edit.document;
    store.find(edit.edit.as_str()).is_ok_and(|found| found.iter().any(is_it))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{FileAction, FileRequest};
    use crate::disk::Roots;
    use crate::document::Choice;
    use crate::record::Histories;
    use crate::settings::Settings;
    use crate::workspace::Caller;

    #[tokio::test]
    async fn a_file_that_was_renamed_since_it_was_found_is_no_former_one() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        std::fs::write(folder.path().join("a"), "1\n").unwrap();
        let renamed = async |from: &str, to: &str| {
            let request = FileRequest {
                path: from.into(),
                change: FileAction::Move(to.into()),
                conversation: None,
                tool: "a_tool".into(),
                reason: None,
            };
            workspace.change_file(&Caller::anywhere("tester", "1"), request).await.unwrap().edit
        };
        let edit = renamed("a", "b").await;
        let place =
            workspace.read_roots().identify(&folder.path().canonicalize().unwrap().join("b")).unwrap();
        let store = workspace.history_of(&place).unwrap();
        let found = store.find(edit.as_str()).unwrap();
        renamed("b", "c").await;

        assert!(workspace.former_files(found.iter()).is_empty());
        let former = FormerFile { place, store, file: found[0].file };
        let request = Request::of(Choice::Reject, Target::Edit(edit.to_string()));
        let refusal = workspace.decide_about_former(&former, &[request]).unwrap_err().to_string();
        assert!(refusal.contains("changed by another process meanwhile"), "{refusal}");
    }
}
