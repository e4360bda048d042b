//! Decisions about several files that no editor has open, made as one: the tree before, the tree after, and nothing between.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use hashline_history::path::to_text;
use hashline_history::{
    Appended, DocumentName, Draft, Effect, FileId, Session, Store, StoreError, Subject, Switched,
};

use super::rehearsal::{Rehearsal, Step};
use super::{FormerFile, Met, former};
use crate::closed_documents::OnDisk;
use crate::disk::{DiskError, Place, check_folder, check_writable};
use crate::document::{Contents, Decided, Document, State};
use crate::document_slot::Slot;
use crate::record::{Job, Recorded, draft, is_beaten, name_in_record};
use crate::refusal_messages::Refusal;
use crate::workspace::{Workspace, key_of};

/// A file that is decided about, as it is before.
struct Part {
    slot: Arc<Slot>,
    place: Place,
    /// What the disk has; none if there is no file.
    there: Option<OnDisk>,
    /// Its name leads to another file.
    is_former: bool,
}

/// The same as it is to be.
struct Change {
    file: FileId,
    copy: Document,
    state: State,
    /// What it is called then.
    name: DocumentName,
    effects: Vec<Effect>,
}

impl Workspace {
    /// Makes decisions about several files, one after the other as they were rehearsed: all of them or none. Everything that can be checked is
    /// before the first byte is written. Blocks.
    pub(super) fn switch(&self, steps: &[Arc<Step>]) -> Result<Decided, Refusal> {
        let mut met: BTreeMap<FileId, Met> = BTreeMap::new();
        for step in steps {
            if let std::collections::btree_map::Entry::Vacant(free) = met.entry(step.file) {
                let Some(found) = self.meet(&step.path, step.file)? else {
                    return Err(Refusal::NoFolder { uri: to_text(&step.path).into_owned() });
                };
                free.insert(found);
            }
        }
        let mut slots: Vec<Arc<Slot>> = met.values().filter_map(Met::slot).collect();
        slots.sort_by(|one, other| one.key.cmp(&other.key));
        // In one order, so that nobody waits for another in a circle.
        let _turns: Vec<_> = slots.iter().map(|slot| slot.queue.blocking_lock()).collect();
        let store = self.store_of(&met)?;
        let mut session = self.session(&store)?;
        let (mut parts, mut copies) = (HashMap::new(), HashMap::new());
        for (file, met) in met {
            let (part, copy) = self.take(&mut session, &store, file, met)?;
            parts.insert(file, part);
            copies.insert(file, copy);
        }
        let (decided, changes) = self.decide_in_copies(steps, &mut parts, copies)?;
        if decided.queued.is_empty() {
            self.end_session(session);
            return Ok(decided);
        }
        self.check_changes(&parts, &changes)?;
        self.write_switch(&mut session, &parts, changes)?;
        self.end_session(session);
        for part in parts.values() {
            part.slot.recorded().glance = store.glance();
        }
        Ok(decided)
    }

    /// The history that has all of the files.
    fn store_of(&self, met: &BTreeMap<FileId, Met>) -> Result<Store, Refusal> {
        let mut found: Option<Store> = None;
        for met in met.values() {
            let store = match met {
                Met::Former(former) => Some(former.store.clone()),
                Met::Named(slot) => slot.place().and_then(|place| self.history_of(&place)),
            };
            let known = found.as_ref().map(|known| known.folder().to_owned());
            match store {
                Some(store) if known.is_none_or(|known| known == store.folder()) => found = Some(store),
                // Each history has ids of its own: these were not all found in one.
                _ => return Err(StoreError::BadDraft("the files lie in different histories").into()),
            }
        }
        found.ok_or_else(|| StoreError::BadDraft("there is nothing to decide").into())
    }

    /// Looks at a file while nobody else writes.
    fn take(
        &self,
        session: &mut Session,
        store: &Store,
        file: FileId,
        met: Met,
    ) -> Result<(Part, Document), Refusal> {
        let slot = match met {
            Met::Named(slot) => slot,
            Met::Former(FormerFile { place, .. }) => {
                let past = store.file(file)?;
                let latest = Some((file, past.sequence));
                let is_latest =
                    session.latest(&name_in_record(&place)).is_some_and(|(named, _)| named == file);
                if is_latest && !place.is_blocked() {
                    return Err(changed(&place, past.sequence));
                }
                let document = former(&place, &past);
                let slot =
                    Arc::new(Slot::new(key_of(place.absolute()), document.clone(), Some(place.clone())));
                *slot.recorded() =
                    Recorded { moved: Some(file), ..Recorded::of(store, latest, store.glance()) };
                return Ok((Part { slot, place, there: None, is_former: true }, document));
            }
        };
        let place = slot.place().ok_or_else(|| Refusal::NoFolder { uri: slot.key.clone() })?;
        if slot.lock().has_fixed()
            && let Err(error) = self.record_in(session, &slot, &place, None)
            && !is_beaten(&error)
        {
            return Err(error.into());
        }
        let there = self.look(&slot, &place, Some(session))?;
        match session.latest(&name_in_record(&place)) {
            Some((named, _)) if named == file => {}
            Some((_, last)) => return Err(changed(&place, last)),
            None => return Err(StoreError::Unknown(place.to_text()).into()),
        }
        let copy = slot.lock().clone();
        if copy.is_open() || slot.whose().other().is_some() {
            return Err(Refusal::TakenOver { path: place.to_text() });
        }
        Ok((Part { slot, place, there, is_former: false }, copy))
    }

    /// Decides again in copies, with the history taken. What a person gives up by it is kept.
    fn decide_in_copies(
        &self,
        steps: &[Arc<Step>],
        parts: &mut HashMap<FileId, Part>,
        copies: HashMap<FileId, Document>,
    ) -> Result<(Decided, Vec<Change>), Refusal> {
        let mut given_up: Vec<FileId> = Vec::new();
        let mut all = Decided::default();
        let mut rehearsal = Rehearsal::of(self.clone(), copies);
        for step in steps {
            if let Some(copy) = rehearsal.file(step.file)
                && step.requests.iter().any(|request| copy.gives_up(request))
                && !given_up.contains(&step.file)
            {
                given_up.push(step.file);
            }
            let one = rehearsal.decide(&step.path, step.file, &step.requests);
            if !one.refused.is_empty() {
                return Ok((Decided { refused: one.refused, ..Decided::default() }, Vec::new()));
            }
            all.add(one.queued);
            all.kept.extend(one.kept);
        }
        if let Some(taken) = rehearsal.collision() {
            return Ok((Decided { refused: vec![taken], ..Decided::default() }, Vec::new()));
        }
        for part in given_up.iter().filter_map(|file| parts.get(file)) {
            let bytes = {
                let document = part.slot.lock();
                document.form().to_bytes(document.text())
            };
            all.kept.extend(self.keep_copy(&part.slot, &bytes)?);
        }
        let files = rehearsal.into_files();
        let changes =
            files.into_iter().filter_map(|(file, copy)| Some(Change::of(file, copy, parts.get(&file)?)));
        Ok((all, changes.filter(|change| !change.says_nothing()).collect()))
    }

    /// Sees to it that all can be written, as far as that shows before.
    fn check_changes(&self, parts: &HashMap<FileId, Part>, changes: &[Change]) -> Result<(), Refusal> {
        let left = changes.iter().flat_map(|change| &change.effects).filter(|effect| effect.after.is_none());
        let left: HashSet<&Path> = left.map(|effect| effect.name.as_path()).collect();
        for change in changes.iter().filter(|change| !change.effects.is_empty()) {
            let Some(part) = parts.get(&change.file) else { continue };
            part.place.check_write()?;
            let to = change.name.as_path();
            let comes = part.there.is_none() || to != part.place.absolute();
            if comes && change.effects.iter().any(|effect| effect.after.is_some()) {
                // A folder that is to be made may have the name of a file yet, which leaves it.
                let above = to.ancestors().skip(1).find(|above| left.contains(above));
                let outside = || Refusal::NoFolder { uri: change.name.to_string() };
                let place = self.read_roots().identify(above.unwrap_or(to)).ok_or_else(outside)?;
                if place.absolute() != above.unwrap_or(to) {
                    return Err(DiskError::PathChanged { path: to.to_owned() }.into());
                }
                place.check_write()?;
                check_folder(&place)?;
            }
            if part.there.is_some() {
                check_folder(&part.place)?;
            }
            let before = change.effects.iter().find_map(|effect| effect.before);
            let after = change.effects.iter().find_map(|effect| effect.after);
            if before.is_some() && after.is_some() && before != after {
                check_writable(&part.place)?;
            }
            self.remove_leftovers(&part.place);
            // The last moment to notice: an editor that opens a file from now on reads what is written.
            if !part.is_former {
                self.not_taken(&part.slot)?;
                if part.slot.lock().is_open() {
                    return Err(Refusal::TakenOver { path: part.place.to_text() });
                }
            }
        }
        Ok(())
    }

    /// Records what is to become of the files, and does it.
    fn write_switch(
        &self,
        session: &mut Session,
        parts: &HashMap<FileId, Part>,
        changes: Vec<Change>,
    ) -> Result<(), Refusal> {
        let drafts: Vec<Draft<'_>> = changes
            .iter()
            .filter_map(|change| {
                let part = parts.get(&change.file)?;
                let (document, file) = (change.name.clone(), Subject::File(change.file));
                let intent = change.effects.clone();
                Some(Draft { document, file, intent, ..draft(&part.slot, &part.place, &change.state) })
            })
            .collect();
        let appended = self.switch_recorded(session, &drafts).inspect_err(|_| self.forget(parts))?;
        for (mut change, appended) in changes.into_iter().zip(appended) {
            let Some(part) = parts.get(&change.file) else { continue };
            change.copy.was_recorded(&change.state, change.state.text_hash());
            part.slot.forget_read();
            {
                let mut recorded = part.slot.recorded();
                recorded.latest = Some((appended.file, appended.sequence));
                recorded.moved = None;
                recorded.revision = change.state.weave.revision();
            }
            if part.is_former {
                // Whoever looks at its name next finds the file, and what is recorded of it.
                continue;
            }
            self.take_over_copy(&part.slot, change.copy);
            let to = change.name.as_path();
            if to != part.place.absolute()
                && let Some(place) = self.read_roots().identify(to)
            {
                self.renamed(&part.slot, place);
            }
            self.attend(&part.slot);
        }
        Ok(())
    }

    /// Records what is to become of files, and does it: all of it or nothing.
    pub(crate) fn switch_recorded(
        &self,
        session: &mut Session,
        drafts: &[Draft<'_>],
    ) -> Result<Vec<Appended>, Refusal> {
        let switched = session.switch(drafts, self).inspect_err(|_| {
            if session.store().is_unsure() {
                self.later(Job::TakeBack(session.store().clone()));
            }
        });
        match switched? {
            Switched::Done(appended) => Ok(appended),
            Switched::TakenBack(error) => Err(not_written(error, |why| Refusal::NotSwitched { why })),
            Switched::Unfinished(error) => Err(Refusal::Unfinished { why: error.to_string() }),
        }
    }

    /// Makes documents anew of their record and their files when they are needed next.
    fn forget(&self, parts: &HashMap<FileId, Part>) {
        for part in parts.values() {
            part.slot.forget_read();
            *part.slot.recorded() = Recorded::default();
        }
    }
}

impl Met {
    fn slot(&self) -> Option<Arc<Slot>> {
        match self {
            Met::Named(slot) => Some(slot.clone()),
            Met::Former(..) => None,
        }
    }
}

impl Change {
    fn of(file: FileId, mut copy: Document, part: &Part) -> Self {
        let wanted = copy.file_contents();
        let old = name_in_record(&part.place);
        let name = copy.file_now().name.clone().unwrap_or_else(|| old.clone());
        let there = part.there.as_ref().map(|there| &there.contents);
        let before = there.map(Contents::hash);
        let after = wanted.as_ref().map(Contents::hash);
        let effects = match (name == old, before, after) {
            (true, ..) if wanted.as_ref() == there => Vec::new(),
            (true, ..) => vec![Effect { name: name.clone(), before, after }],
            // A file that is gone only goes by another name.
            (false, None, None) => Vec::new(),
            (false, None, _) => vec![Effect { name: name.clone(), before: None, after }],
            (false, Some(_), _) => {
                vec![
                    Effect { name: old, before, after: None },
                    Effect { name: name.clone(), before: None, after },
                ]
            }
        };
        let state = copy.to_record(&[]);
        Self { file, copy, state, name, effects }
    }

    fn says_nothing(&self) -> bool {
        self.effects.is_empty() && !self.copy.has_unrecorded()
    }
}

/// The file is another by now.
fn changed(place: &Place, last: hashline_history::Sequence) -> Refusal {
    StoreError::Stale { document: name_in_record(place), last }.into()
}

/// What an error of a disk means to whoever asked.
fn not_written(error: std::io::Error, otherwise: impl Fn(String) -> Refusal) -> Refusal {
    match error.downcast::<DiskError>() {
        Ok(error) => error.into(),
        Err(error) => otherwise(error.to_string()),
    }
}
