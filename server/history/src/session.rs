//! Writing to a history: the time in which one process, and one thread of it, has it for itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use hashline_weave::Weave;

use crate::derive::Render;
use crate::document::Document;
use crate::draft_delta::diff_of;
use crate::error::{Result, StoreError};
use crate::files::FilesNow;
use crate::folder::{Folder, Open, Opened};
use crate::id::{ConversationId, EditId, FileId};
use crate::layout;
use crate::ledger::Ledger;
use crate::name::DocumentName;
use crate::record::{Sequence, Status};
use crate::store::Store;
use crate::thread_lock::Entered;
use crate::transaction::{Draft, NewEdit};

/// The history, taken for writing. Nobody else writes to it until this is dropped.
pub struct Session {
    pub(crate) store: Store,
    pub(crate) folder: Arc<Folder>,
    pub(crate) log: Opened,
    repairs: Vec<String>,
    /// The files whose intents were ended without taking anything back: the last that was known of each, and what was recorded now.
    pub(crate) ended: HashMap<FileId, (Sequence, Sequence)>,
    pub(crate) fresh: Fresh,
    /// A line could not be taken back: nothing may come behind it.
    pub(crate) torn: bool,
    finished: bool,
    /// Logs and diffs lack what was recorded before it: to write more would have them be taken for whole. The next session catches up.
    is_behind: bool,
    // Dropped in this order: the kernel's lock before the gate, so that the next thread finds it free.
    _lock: Opened,
    _gate: Entered,
}

/// What the logs and diffs do not have yet.
#[derive(Default)]
pub(crate) struct Fresh {
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
            known.refresh(&store, &mut log)?;
            if let Some(unsure) = &known.unsure {
                log.truncate(unsure.begin)?;
                known.unsure = None;
            }
            let torn = log.len()?.saturating_sub(known.ledger.end);
            if torn > 0 {
                let group = known.ledger.torn_group();
                log.truncate(known.ledger.end)?;
                known.ledger.forget_waiting();
                repairs.push(match group {
                    Some(of) => format!(
                        "A decision about {of} files was not recorded as a whole before its process ended; what there was of it was cut off. All files \
                         are as they were."
                    ),
                    None => format!(
                        "The last {torn} bytes of decisions.log were half a line; they were cut off. Nobody was told that it was recorded."
                    ),
                });
            }
            if known.ledger.end == 0 {
                folder.sync_names(layout::RECORD)?;
                begin_record(&mut log, &mut known.ledger)?;
                // What lies there without a record says nothing that anybody could vouch for.
                Render { folder: &folder, log: &mut log, ledger: &known.ledger }.sweep()?;
            }
        }
        let (ended, fresh) = (HashMap::new(), Fresh::default());
        let (torn, finished, is_behind) = (false, false, false);
        let mut session = Self {
            store,
            folder,
            log,
            repairs,
            ended,
            fresh,
            torn,
            finished,
            is_behind,
            _lock: lock,
            _gate: gate,
        };
        session.catch_up()?;
        session.end_intents(files)?;
        Ok(session)
    }

    /// What was repaired when the session began, in sentences for people.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// What was recorded last of a file by now, if this session has ended the intent that was open at `last`, and recorded nothing else: who knew
    /// the file up to there knows it still.
    #[must_use]
    pub fn goes_on_from(&self, file: FileId, last: Sequence) -> Option<Sequence> {
        self.ended.get(&file).filter(|(known, _)| *known == last).map(|(_, now)| *now)
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
        let mut known = self.store.known();
        let (file, _) = known.ledger.file(name).ok_or_else(|| StoreError::Unknown(name.to_string()))?;
        known.document(&self.folder, &mut self.log, file)
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

    /// Whether a file was claimed last by this one, whatever has its name by now.
    #[must_use]
    pub fn is_owner_of(&self, file: FileId, own: &str) -> bool {
        let known = self.store.known();
        known.ledger.files.get(&file).is_some_and(|tracked| tracked.owner.as_deref() == Some(own))
    }

    /// What a file is called by now; none of one that is not recorded.
    #[must_use]
    pub fn name_of(&self, file: FileId) -> Option<DocumentName> {
        self.store.known().ledger.files.get(&file).map(|tracked| tracked.name.clone())
    }

    /// As [`Store::owner_but`].
    #[must_use]
    pub fn owner_but(&self, name: &DocumentName, own: &str) -> Option<String> {
        self.store.known().ledger.owner_but(name, own).map(str::to_owned)
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
        if !fresh.any || self.is_behind {
            return Vec::new();
        }
        let known = self.store.known();
        if known.ledger.files.values().any(|tracked| tracked.intent.is_some()) {
            // Whether it was done is not known, and logs are not to say so. The next session finds it out, and catches up.
            return Vec::new();
        }
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
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
                let edits: Vec<EditId> = edits.iter().map(|made| made.id.clone()).collect();
                render.add_to_log(conversation, &edits)?;
            }
            for (conversation, changed) in &fresh.changed {
                render.update_log(conversation, changed)?;
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
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        let repaired = render.catch_up();
        drop(known);
        match repaired {
            Ok(repaired) => self.repairs.extend(repaired),
            Err(error) => {
                self.is_behind = true;
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
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
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
    pub(crate) fn note(
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

/// Begins a record.
fn begin_record(log: &mut Opened, ledger: &mut Ledger) -> Result<()> {
    let line = ledger.header_line(&ledger.first_header())?;
    let written = log.write(&line).and_then(|()| log.sync());
    if let Err(error) = written {
        // An empty file, or half a line: the next session begins it again.
        let _ = log.truncate(0);
        return Err(error);
    }
    let _ = ledger.take(&line[..line.len() - 1]);
    Ok(())
}
