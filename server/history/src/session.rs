//! Writing to a history: the time in which one process, and one thread of it, has it for itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use hashline_text::FileHash;
use hashline_weave::Weave;
use serde::de::IgnoredAny;

use crate::derive;
use crate::document::Document;
use crate::error::{Result, StoreError};
use crate::folder::{Folder, Open, Opened};
use crate::id::{ConversationId, EditId, FileId, HunkRef};
use crate::layout;
use crate::ledger::{Header, Ledger};
use crate::lines::{read_document, to_line};
use crate::name::DocumentName;
use crate::record::{Sequence, Status};
use crate::store::{Entered, Known, Store, Unsure, remember};
use crate::told::{self, Told, diff_of, weave_in};
use crate::transaction::{Draft, IntentEnd, NewEdit, Subject, Transaction};
use crate::wire::WireDelta;

/// What is on the disk now; asked when it is not known whether something was written before a process ended.
pub trait FilesNow {
    /// The hash of a file's bytes; none if there is no file. The path comes from the record: check that it may be read.
    ///
    /// # Errors
    ///
    /// It cannot be known. What depends on it is left for another time.
    fn hash(&self, path: &Path) -> std::io::Result<Option<FileHash>>;
}

/// What was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the order of the history.
    pub sequence: Sequence,
    /// The file that it is about.
    pub file: FileId,
    /// The place of the new edit in its conversation, from 0.
    pub index: Option<u64>,
}

/// The history, taken for writing. Nobody else writes to it until this is dropped.
pub struct Session {
    store: Store,
    pub(crate) folder: Arc<Folder>,
    pub(crate) log: Opened,
    repairs: Vec<String>,
    fresh: Fresh,
    /// A line could not be taken back: nothing may come behind it.
    torn: bool,
    finished: bool,
    // Dropped in this order: the kernel's lock before the gate, so that the next thread finds it free.
    _lock: Opened,
    _gate: Entered,
}

/// What the logs and diffs do not have yet.
#[derive(Default)]
struct Fresh {
    /// New edits by conversation, in order.
    edits: BTreeMap<ConversationId, Vec<Made>>,
    /// The older edits whose status has changed, by conversation.
    changed: BTreeMap<ConversationId, BTreeSet<EditId>>,
    any: bool,
}

/// A new edit, and what its diff is rendered from; nothing for one that changes no text.
struct Made {
    id: EditId,
    shown: Option<(NewEdit, DocumentName, Weave)>,
}

impl Store {
    /// Takes the history for writing: after everything that others wrote was read, and what they left unfinished was finished.
    /// Blocks. Makes the history if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] and whatever the disk says.
    pub fn session(&self, files: &dyn FilesNow) -> Result<Session> {
        let (gate, folder, lock) = self.enter()?;
        Session::begin(self.clone(), gate, folder, lock, files)
    }
}

impl Session {
    fn begin(
        store: Store,
        gate: Entered,
        folder: Arc<Folder>,
        lock: Opened,
        files: &dyn FilesNow,
    ) -> Result<Self> {
        let missing = || StoreError::BadDraft("the record is missing");
        let mut log = folder.file(layout::RECORD, Open::Append)?.ok_or_else(missing)?;
        let mut repairs = Vec::new();
        {
            let mut known = store.known();
            known.refresh(store.folder(), &mut log)?;
            if let Some(unsure) = &known.unsure {
                log.truncate(unsure.begin)?;
                known.unsure = None;
            }
            let torn = log.len()?.saturating_sub(known.ledger.end);
            if torn > 0 {
                log.truncate(known.ledger.end)?;
                repairs.push(format!(
                    "The last {torn} bytes of decisions.log were half a line; they were cut off. Nobody was told that it was recorded."
                ));
            }
            if known.ledger.end == 0 {
                folder.sync_names(layout::RECORD)?;
                write_header(&mut log, &mut known.ledger, &Header::default())?;
            }
        }
        let (fresh, torn, finished) = (Fresh::default(), false, false);
        let mut session =
            Self { store, folder, log, repairs, fresh, torn, finished, _lock: lock, _gate: gate };
        session.catch_up()?;
        session.end_intents(files)?;
        Ok(session)
    }

    /// What was repaired when the session began, in sentences for people.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    pub(crate) fn repaired(&mut self, what: String) {
        self.repairs.push(what);
    }

    /// The history.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What is recorded of the document that has this name now.
    ///
    /// # Errors
    ///
    /// As for [`Store::document`].
    pub fn document(&mut self, name: &DocumentName) -> Result<Document> {
        let known = self.store.known();
        let (file, _) = known.ledger.file(name).ok_or_else(|| StoreError::Unknown(name.to_string()))?;
        read_document(&known.ledger, &self.folder, &mut self.log, file, None)
    }

    /// The file that has this name, and the last that was recorded of it; none if that is nothing.
    #[must_use]
    pub fn latest(&self, name: &DocumentName) -> Option<(FileId, Sequence)> {
        self.store.known().ledger.latest(name)
    }

    /// As [`Store::generation`].
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.store.generation()
    }

    /// Whether this process has claimed the edits of the file that has this name.
    #[must_use]
    pub fn is_owner(&self, name: &DocumentName, own: &str) -> bool {
        let known = self.store.known();
        known.ledger.file(name).is_some_and(|(_, tracked)| tracked.owner.as_deref() == Some(own))
    }

    /// As [`Store::owner_but`].
    #[must_use]
    pub fn owner_but(&self, name: &DocumentName, own: &str) -> Option<String> {
        self.store.known().ledger.owner_but(name, own).map(str::to_owned)
    }

    /// Ends an intent of this session that failed: the disk says whether it was done.
    ///
    /// # Errors
    ///
    /// It cannot be recorded; the next session does it.
    pub fn give_up(&mut self, file: FileId, files: &dyn FilesNow) -> Result<()> {
        self.end_intent(file, files)
    }

    /// Records what a draft says. When this returns it is durable, but for the mere word that an intent is done: that can be found
    /// out again.
    ///
    /// # Errors
    ///
    /// Nothing was recorded then.
    pub fn append(&mut self, draft: &Draft<'_>) -> Result<Appended> {
        self.append_with(draft, draft.done.then_some(IntentEnd::Done), None)
    }

    pub(crate) fn append_with(
        &mut self,
        draft: &Draft<'_>,
        ended: Option<IntentEnd>,
        hunks: Option<Vec<Option<HunkRef>>>,
    ) -> Result<Appended> {
        if self.torn {
            return Err(StoreError::BadDraft("an earlier line could not be taken back; try again"));
        }
        let mut known = self.store.known();
        let Known { ledger, told, .. } = &mut *known;
        let root = self.store.folder();
        let sequence = Sequence(ledger.given().0 + 1);
        let outside = |name: DocumentName| StoreError::Outside { name, folder: root.to_path_buf() };
        let name = draft.document.relative_to(root).ok_or_else(|| outside(draft.document.clone()))?;
        // However the caller spells it.
        let document = name.absolute_in(root).ok_or_else(|| outside(draft.document.clone()))?;
        let draft = &Draft { document, ..without_forgotten(draft, ledger) };
        let file = check(draft, ledger, ended)?;
        let id = file.unwrap_or(FileId(sequence));
        let tracked = file.and_then(|file| ledger.files.get(&file));
        let after = tracked.and_then(|tracked| Some(ledger.lines.get(*tracked.lines.last()?)?.sequence));

        if let Some(file) = file
            && !told.contains_key(&file)
            && draft.now.is_some()
            && let Ok(document) = read_document(ledger, &self.folder, &mut self.log, file, None)
            && let Some(recorded) = Told::of(document)
        {
            told.insert(file, recorded);
        }
        let weight = tracked.map_or((0, 0), |tracked| tracked.weight);
        let woven =
            weave_in(draft, &told::Known { name: &name, told: told.get(&id), weight, hunks }, sequence)?;
        let index = draft.edit.as_ref().map(|edit| ledger.next_index(&edit.conversation));
        let mut transaction: Transaction<WireDelta> = Transaction {
            sequence,
            time: humantime::format_rfc3339_micros(SystemTime::now()).to_string(),
            process: self.store.process().to_owned(),
            document: draft.document.clone(),
            file: id,
            after,
            edit: draft.edit.clone(),
            index,
            base: None,
            delta: None,
            form: None,
            text: None,
            registers: draft.registers,
            decisions: draft.decisions.clone(),
            wanted: draft.wanted.clone(),
            locations: draft.locations.clone(),
            saved: draft.saved,
            owner: draft.owner.clone(),
            intent: draft.intent.clone(),
            ended,
        };
        let (bytes, now) = woven.put_into(&mut transaction);
        transaction.respell(|name| name.relative_to(root)).map_err(outside)?;
        let line = to_line(&transaction)?;
        let read = ledger
            .read::<IgnoredAny>(&line[..line.len() - 1])
            .map_err(|_| StoreError::BadDraft("its hunks have to be numbered from 1, and its ids be safe"))?;

        let found_again = transaction.ended == Some(IntentEnd::Done)
            && transaction.edit.is_none()
            && transaction.decisions.is_empty()
            && transaction.wanted.is_empty()
            && transaction.locations.is_empty()
            && transaction.base.is_none()
            && transaction.delta.is_none();
        let end = ledger.end;
        let statuses = statuses(ledger, &transaction);
        // Whoever only reads does not wait for the disk.
        drop(known);
        if let (Some(bytes), Some(way)) =
            (bytes, transaction.base.as_ref().and_then(|base| base.checkpoint.as_ref()))
        {
            self.folder.write_whole(way, &bytes, true)?;
        }
        self.store.known().unsure = Some(Unsure { begin: end, line: line.clone() });
        let written = self.log.write(&line).and_then(|()| if found_again { Ok(()) } else { self.log.sync() });
        if let Err(error) = written {
            self.torn = self.log.truncate(end).is_err();
            if !self.torn {
                self.store.known().unsure = None;
            }
            return Err(error);
        }
        let mut known = self.store.known();
        known.unsure = None;
        let Known { ledger, told, .. } = &mut *known;
        if ledger.end == end {
            // It was read already, above.
            ledger.take_read(&line[..line.len() - 1], Ok(read));
        }
        let shown = now.as_ref().map(|now| (transaction.document.clone(), now.weave.clone()));
        self.fresh.note(ledger, draft, shown, &statuses);
        remember(told, id, now);
        Ok(Appended { sequence, file: id, index })
    }

    /// Ends the session: writes what the logs and diffs do not have yet. What goes wrong with that is told in sentences; nothing is
    /// lost by it, as the next session does it again.
    #[must_use]
    pub fn finish(mut self) -> Vec<String> {
        self.finished = true;
        self.derive()
    }

    /// Brings logs and diffs up to date.
    pub(crate) fn derive(&mut self) -> Vec<String> {
        let fresh = std::mem::take(&mut self.fresh);
        if !fresh.any {
            return Vec::new();
        }
        let known = self.store.known();
        if known.ledger.files.values().any(|tracked| tracked.intent.is_some()) {
            // Whether it was done is not known, and logs are not to say so. The next session finds it out, and catches up.
            return Vec::new();
        }
        let mut render = derive::Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        let mut written = || -> Result<()> {
            for (conversation, edits) in &fresh.edits {
                for Made { id, shown } in edits {
                    let diff = shown
                        .as_ref()
                        .and_then(|(edit, name, weave)| diff_of(edit, name.as_os_str(), weave.clone()));
                    if let Some(diff) = diff {
                        render.write_diff(conversation, id, &diff)?;
                    }
                }
                if !fresh.changed.contains_key(conversation) {
                    let edits: Vec<EditId> = edits.iter().map(|made| made.id.clone()).collect();
                    render.add_to_log(conversation, &edits)?;
                }
            }
            for (conversation, changed) in &fresh.changed {
                render.write_log_of(conversation, changed)?;
            }
            render.note_derived()
        };
        match written() {
            Ok(()) => Vec::new(),
            Err(error) => {
                vec![format!("The edit is recorded, but its log or diff could not be written: {error}.")]
            }
        }
    }

    /// Writes what processes that ended too early have left out of logs and diffs.
    fn catch_up(&mut self) -> Result<()> {
        let known = self.store.known();
        let mut render = derive::Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        let repaired = render.catch_up();
        drop(known);
        match repaired {
            Ok(repaired) => self.repairs.extend(repaired),
            Err(error) => {
                self.repairs.push(format!("Logs and diffs could not be brought up to date: {error}."));
            }
        }
        Ok(())
    }

    /// Compares all logs and diffs with the record and writes anew what is missing, torn or contradicts it. It reads every log. Returns what
    /// was repaired, in sentences.
    ///
    /// # Errors
    ///
    /// The disk refuses.
    pub fn check(&mut self) -> Result<Vec<String>> {
        let known = self.store.known();
        let mut render = derive::Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        render.check_all()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.finished {
            // There is nobody to tell; the next session does it again.
            self.derive();
        }
    }
}

impl Fresh {
    fn note(
        &mut self,
        ledger: &Ledger,
        draft: &Draft<'_>,
        shown: Option<(DocumentName, Weave)>,
        before: &[(EditId, Status)],
    ) {
        self.any = true;
        if let Some(edit) = &draft.edit {
            let shown = shown.map(|(name, weave)| (edit.clone(), name, weave));
            let made = Made { id: edit.id.clone(), shown };
            self.edits.entry(edit.conversation.clone()).or_default().push(made);
        }
        for (edit, status) in before {
            let Some(known) = ledger.edits.get(edit).filter(|known| known.status() != *status) else {
                continue;
            };
            let new = self.edits.get(&known.conversation);
            if !new.is_some_and(|new| new.iter().any(|made| made.id == *edit)) {
                self.changed.entry(known.conversation.clone()).or_default().insert(edit.clone());
            }
        }
    }
}

/// The statuses of the edits that a transaction decides about.
fn statuses(ledger: &Ledger, transaction: &Transaction<WireDelta>) -> Vec<(EditId, Status)> {
    let decided: BTreeSet<&EditId> = transaction.decisions.iter().map(|decided| &decided.hunk.edit).collect();
    let status = |edit: &EditId| Some((edit.clone(), ledger.edits.get(edit)?.status()));
    decided.into_iter().filter_map(status).collect()
}

/// A draft without what it says of edits that were cleaned up: whoever had their document open all the while knows them still.
fn without_forgotten<'a>(draft: &Draft<'a>, ledger: &Ledger) -> Draft<'a> {
    let mut draft = draft.clone();
    if ledger.header.generation > 0 {
        let new = draft.edit.as_ref().map(|edit| edit.id.clone());
        let known =
            |hunk: &HunkRef| ledger.edits.contains_key(&hunk.edit) || new.as_ref() == Some(&hunk.edit);
        draft.decisions.retain(|decided| known(&decided.hunk));
        draft.wanted.retain(|decided| known(&decided.hunk));
        draft.locations.retain(|located| known(&located.hunk));
    }
    draft
}

/// Checks a draft against what is recorded, and finds its file.
fn check(draft: &Draft<'_>, ledger: &Ledger, ended: Option<IntentEnd>) -> Result<Option<FileId>> {
    let file = match draft.file {
        Subject::File(file) if !ledger.files.contains_key(&file) => {
            return Err(StoreError::Unknown(format!("file {}", file.0)));
        }
        Subject::File(file) => Some(file),
        Subject::Named => ledger.file(&draft.document).map(|(file, _)| file),
        Subject::New => None,
    };
    let tracked = file.and_then(|file| ledger.files.get(&file));
    let last = tracked.and_then(|tracked| Some(ledger.lines.get(*tracked.lines.last()?)?.sequence));
    if let (Some(since), Some(last)) = (draft.since, last)
        && since != last
    {
        return Err(StoreError::Stale { document: draft.document.clone(), last });
    }
    match (tracked.and_then(|tracked| tracked.intent), ended) {
        (Some(_), None) => return Err(StoreError::Unfinished { document: draft.document.clone() }),
        (None, Some(_)) => return Err(StoreError::BadDraft("there is no intent to end")),
        _ => {}
    }
    if let Some(edit) = &draft.edit {
        for id in [edit.id.as_str(), edit.conversation.as_str()] {
            if !EditId::is_safe(id) {
                return Err(StoreError::UnsafeId { id: id.to_owned() });
            }
        }
        if ledger.edits.contains_key(&edit.id) {
            return Err(StoreError::DuplicateEdit { id: edit.id.clone() });
        }
    }
    let decided = draft.decisions.iter().chain(&draft.wanted).map(|decided| &decided.hunk);
    for hunk in decided.chain(draft.locations.iter().map(|located| &located.hunk)) {
        let new = draft.edit.as_ref().is_some_and(|edit| {
            edit.id == hunk.edit && edit.hunks.iter().any(|other| other.number == hunk.number)
        });
        let known = ledger
            .edits
            .get(&hunk.edit)
            .is_some_and(|known| Some(known.file) == file && known.decisions.contains_key(&hunk.number));
        if !new && !known {
            return Err(StoreError::UnknownHunk { hunk: hunk.clone(), document: draft.document.clone() });
        }
    }
    Ok(file)
}

/// Begins a record.
pub(crate) fn write_header(log: &mut Opened, ledger: &mut Ledger, header: &Header) -> Result<()> {
    let line = to_line(header)?;
    let written = log.write(&line).and_then(|()| log.sync());
    if let Err(error) = written {
        // An empty file, or half a line: the next session begins it again.
        let _ = log.truncate(0);
        return Err(error);
    }
    let _ = ledger.take(&line[..line.len() - 1]);
    Ok(())
}
