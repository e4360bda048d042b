//! A history on disk, as one process uses it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::derive;
use crate::document::Document;
use crate::draft_delta::Told;
use crate::error::{Result, StoreError, none_if_foreign};
use crate::folder::{Folder, Open, Opened, Probe};
use crate::id::{ConversationId, EditId, FileId};
use crate::layout;
use crate::ledger::{Damage, Ledger};
use crate::name::DocumentName;
use crate::record::{Sequence, Status};
use crate::record_lines::read_document;
use crate::seal::Signer;
use crate::thread_lock::{Entered, Gate};

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many documents are remembered as they were recorded last. Others are read again when they are needed.
const REMEMBERED: usize = 64;

/// The history of one folder. Clones are the same one, for other threads; other processes may use the same folder.
#[derive(Clone)]
pub struct Store {
    root: Arc<Path>,
    process: Arc<str>,
    patience: Duration,
    signer: Option<Signer>,
    probe: Option<Arc<dyn Probe>>,
    shared: Arc<Shared>,
}

/// What the clones of a [`Store`] have in common.
#[derive(Default)]
struct Shared {
    known: Mutex<Known>,
    gate: Arc<Gate>,
    /// The folder of the last session, open, which spares the next one the way there while its names lead to it. Not kept where an open
    /// folder cannot be removed.
    folder: Mutex<Option<Arc<Folder>>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.root)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// What has been read of the record.
#[derive(Default)]
pub(crate) struct Known {
    pub ledger: Ledger,
    /// Which file it was read from.
    identity: Option<(u64, u64)>,
    /// What was recorded last of the documents that this process writes about.
    pub told: HashMap<FileId, Told>,
    /// The document that was read last, for whoever reads it again before something is recorded of it.
    pub read: Option<Document>,
    /// A line that is being written, or was refused and could not be taken back yet.
    pub unsure: Option<Unsure>,
    /// The last number under which a line was refused here. Others may have read that line before it was taken back, and are not to take another
    /// one for it.
    pub refused: Sequence,
}

/// A line of which nobody is to be told that it is recorded.
pub(crate) struct Unsure {
    /// Where it begins.
    pub begin: u64,
    /// All of it. How much of that is there is not known.
    pub line: Vec<u8>,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The file.
    pub file: FileId,
    /// What it is called.
    pub name: DocumentName,
    /// The last that was recorded of it.
    pub sequence: Sequence,
    /// How many edits of it are recorded, and how many of them are pending.
    pub edits: usize,
    /// How many of them are pending.
    pub pending: usize,
    /// Edits were put into a text or taken out of it, and it is not known that this was saved.
    pub unsaved: bool,
    /// The sidecar that may switch them.
    pub owner: Option<String>,
}

/// A look at the record from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// How long the record is.
    pub bytes: u64,
    written: std::time::SystemTime,
}

/// A longer record is not read for a table, which has all from the logs. Every other command reads it.
const QUICKLY_READ: u64 = 8 << 20;

impl Glance {
    /// Whether the record can be looked through while somebody waits.
    #[must_use]
    pub fn is_quickly_read(self) -> bool {
        self.bytes <= QUICKLY_READ
    }
}

/// An edit in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The edit.
    pub edit: EditId,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// The file.
    pub file: FileId,
    /// What the file is called now.
    pub document: DocumentName,
    /// When it was recorded.
    pub sequence: Sequence,
    /// The person's decision.
    pub status: Status,
}

impl Store {
    /// The history of a folder, which need not exist yet: it is made when something is first recorded. `process` is what this
    /// process is called in the record, for people. Whatever stands in it is believed, whoever wrote it, unless it is
    /// [`signed_by`](Self::signed_by) somebody.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, process: impl Into<String>) -> Self {
        Self {
            root: folder.into().into(),
            process: process.into().into(),
            patience: PATIENCE,
            signer: None,
            probe: None,
            shared: Arc::default(),
        }
    }

    /// The same as a user's own: what they did not sign is not believed.
    #[must_use]
    pub fn signed_by(self, signer: Signer) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// Who signs it.
    #[must_use]
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The same, waiting for the lock so long at most.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same, with every change of the disk asked for. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_probe(self, probe: Arc<dyn Probe>) -> Self {
        Self { probe: Some(probe), ..self }
    }

    /// Whom it asks, if that was given.
    #[doc(hidden)]
    #[must_use]
    pub fn probe(&self) -> Option<Arc<dyn Probe>> {
        self.probe.clone()
    }

    /// The folder whose history it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.root
    }

    pub(crate) fn process(&self) -> &str {
        &self.process
    }

    /// Takes the lock, and the gate before it.
    pub(crate) fn enter(&self) -> Result<(Entered, Arc<Folder>, Opened)> {
        let deadline = Instant::now() + self.patience;
        let gate = self.shared.gate.enter(deadline).ok_or_else(|| self.locked())?;
        let before = self.folder_before().take();
        let (folder, lock) = match before.and_then(|folder| self.locked_in(folder, deadline).ok().flatten()) {
            Some(locked) => locked,
            None => loop {
                let folder = Arc::new(Folder::create(&self.root, self.probe.as_ref())?);
                if let Some(locked) = self.locked_in(folder, deadline)? {
                    break locked;
                }
                if Instant::now() >= deadline {
                    return Err(self.locked());
                }
            },
        };
        if cfg!(unix) {
            *self.folder_before() = Some(Arc::clone(&folder));
        }
        Ok((gate, folder, lock))
    }

    /// Takes the lock in a folder; none if its name does not lead to it any more: while we waited the whole history may have been removed,
    /// and another one made.
    fn locked_in(&self, folder: Arc<Folder>, deadline: Instant) -> Result<Option<(Arc<Folder>, Opened)>> {
        let lock = self.lock(&folder, deadline)?;
        Ok(folder.still_has(layout::LOCK, &lock).then_some((folder, lock)))
    }

    fn folder_before(&self) -> MutexGuard<'_, Option<Arc<Folder>>> {
        self.shared.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no session of this process is open, but no longer than for the lock: logs and diffs have then what it recorded. Blocks.
    pub fn wait_for_sessions(&self) {
        drop(self.shared.gate.enter(Instant::now() + self.patience));
    }

    /// Whether a line that was refused may still be in the record, as it could not be taken back: whoever takes the history next does that.
    /// Also while a line is being written.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.known().unsure.is_some()
    }

    /// Whether logs and diffs lack something that is recorded: a session is just writing it, or its process has ended before it could. The
    /// next session writes it.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn is_behind(&self) -> Result<bool> {
        let Some((reading, folder)) = self.look()? else { return Ok(false) };
        let ledger = &reading.known.ledger;
        Ok(!ledger.lines.is_empty() && derive::derived(&folder)? != Some(ledger.given()))
    }

    fn locked(&self) -> StoreError {
        let folder = crate::folder::WAY.iter().fold(self.root.to_path_buf(), |path, name| path.join(name));
        StoreError::Locked { folder, seconds: self.patience.as_secs() }
    }

    fn lock(&self, folder: &Folder, deadline: Instant) -> Result<Opened> {
        let lock = folder.file(layout::LOCK, Open::Append)?.ok_or_else(|| self.locked())?;
        let mut pause = Duration::from_micros(200);
        loop {
            match lock.file.try_lock() {
                Ok(()) => return Ok(lock),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(self.locked()),
                Err(std::fs::TryLockError::Error(error)) => return Err(lock.failed("locked", &error)),
            }
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what others have added, without the lock: a line that is being written is left for the next time.
    /// A foreign record is none.
    pub(crate) fn look(&self) -> Result<Option<(Reading<'_>, Folder)>> {
        none_if_foreign(self.look_at_own())
    }

    fn look_at_own(&self) -> Result<Option<(Reading<'_>, Folder)>> {
        let Some(folder) = Folder::open(&self.root, self.probe.as_ref())? else { return Ok(None) };
        let Some(log) = folder.file(layout::RECORD, Open::Read)? else { return Ok(None) };
        let mut reading = Reading { known: self.known(), log };
        reading.known.refresh(self, &mut reading.log)?;
        Ok(Some((reading, folder)))
    }

    /// What is recorded of the document that has this name now.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`] if that is nothing, [`StoreError::Broken`] if it does not fit together.
    pub fn document(&self, name: &DocumentName) -> Result<Document> {
        self.of(name.to_string(), |ledger| ledger.file(name).map(|(id, _)| id), None)
    }

    /// What is recorded of a file.
    ///
    /// # Errors
    ///
    /// As for [`document`](Self::document).
    pub fn file(&self, file: FileId) -> Result<Document> {
        self.of(format!("file {}", file.0), |_| Some(file), None)
    }

    /// A file as it was when this was the last that was recorded of it.
    ///
    /// # Errors
    ///
    /// As for [`document`](Self::document), and [`StoreError::Forgotten`].
    pub fn file_as_of(&self, file: FileId, sequence: Sequence) -> Result<Document> {
        self.of(format!("file {}", file.0), |_| Some(file), Some(sequence))
    }

    fn of(
        &self,
        what: String,
        find: impl Fn(&Ledger) -> Option<FileId>,
        until: Option<Sequence>,
    ) -> Result<Document> {
        let Some((mut reading, folder)) = self.look()? else { return Err(StoreError::Unknown(what)) };
        let file = find(&reading.known.ledger).ok_or(StoreError::Unknown(what))?;
        let Reading { known, log } = &mut reading;
        let document = match until {
            None => known.document(&folder, log, file)?,
            Some(_) => read_document(&known.ledger, &folder, log, file, until)?,
        };
        if until.is_none() && !known.told.contains_key(&file) {
            // Whoever reads it may be about to write about it, and would have to read it again.
            remember(&mut known.told, file, Told::of(document.clone()));
        }
        Ok(document)
    }

    /// The file that has this name, and the last that was recorded of it; none if that is nothing.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn latest(&self, name: &DocumentName) -> Result<Option<(FileId, Sequence)>> {
        let Some((reading, _)) = self.look()? else { return Ok(None) };
        Ok(reading.known.ledger.latest(name))
    }

    /// Whether it is not recorded what became of the last change of the file that has this name: a process is just writing it, or has ended
    /// in the middle of that. Whoever takes the history next finds it out.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn is_unfinished(&self, name: &DocumentName) -> Result<bool> {
        let Some((reading, _)) = self.look()? else { return Ok(false) };
        Ok(reading.known.ledger.file(name).is_some_and(|(_, tracked)| tracked.intent.is_some()))
    }

    /// How often the record was written anew, as far as is known: what a cleanup has removed is not there any more.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.known().ledger.header.generation
    }

    /// The process that has claimed the edits of the file that has this name (rule W19); none if that is `own`, or if all of them are
    /// decided and saved, so that whoever comes may claim the next.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn owner_but(&self, name: &DocumentName, own: &str) -> Result<Option<String>> {
        let Some((reading, _)) = self.look()? else { return Ok(None) };
        Ok(reading.known.ledger.owner_but(name, own).map(str::to_owned))
    }

    /// Whether this process has claimed the edits of the file that has this name, and any is undecided or not saved, so that no other one
    /// may claim the next (rule W19).
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn is_claimed_by(&self, name: &DocumentName, own: &str) -> Result<bool> {
        let Some((reading, _)) = self.look()? else { return Ok(false) };
        Ok(reading.known.ledger.is_claimed_by(name, own))
    }

    /// What tells whether anything was recorded since: how much there is, and when that was written. None without a record. One
    /// system call, and no reading.
    #[must_use]
    pub fn glance(&self) -> Option<Glance> {
        let way = crate::folder::WAY.iter().fold(self.root.to_path_buf(), |path, name| path.join(name));
        let found = std::fs::symlink_metadata(way.join(layout::RECORD)).ok()?;
        Some(Glance { bytes: found.len(), written: found.modified().ok()? })
    }

    /// Keeps a copy of what a person gives up of a document. Returns where it is.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn keep_copy(&self, document: &DocumentName, bytes: &[u8]) -> Result<PathBuf> {
        let folder = Folder::create(&self.root, self.probe.as_ref())?;
        let name = document.relative_to(&self.root).unwrap_or_else(|| document.clone());
        let way = layout::discarded(&name, bytes);
        folder.write_whole(&way, bytes, true)?;
        Ok(folder.path().join(way))
    }

    /// All documents that something is recorded of, by name.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn documents(&self) -> Result<Vec<Summary>> {
        let Some((reading, _)) = self.look()? else { return Ok(Vec::new()) };
        let ledger = &reading.known.ledger;
        let mut counts: HashMap<FileId, (usize, usize)> = HashMap::new();
        for known in ledger.edits.values() {
            let count = counts.entry(known.file).or_default();
            count.0 += 1;
            count.1 += usize::from(known.status() == Status::Pending);
        }
        let mut list: Vec<Summary> = ledger
            .files
            .iter()
            .map(|(file, tracked)| {
                let (edits, pending) = counts.get(file).copied().unwrap_or_default();
                let last = tracked.lines.last().and_then(|at| ledger.lines.get(*at));
                Summary {
                    file: *file,
                    name: tracked.name.clone(),
                    sequence: last.map_or(file.0, |line| line.sequence),
                    edits,
                    pending,
                    unsaved: tracked.unsaved,
                    owner: tracked.owner.clone(),
                }
            })
            .collect();
        list.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(list)
    }

    /// The edits whose id begins like this, in the order of record.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn find(&self, prefix: &str) -> Result<Vec<Found>> {
        self.select(|edit, _| edit.as_str().starts_with(prefix))
    }

    /// The edits of a conversation, in the order of record.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn conversation(&self, id: &ConversationId) -> Result<Vec<Found>> {
        self.select(|_, conversation| conversation == id)
    }

    /// Whose a conversation is: what its first edit came through. None if there is none, or that is not known.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn opener(&self, id: &ConversationId) -> Result<Option<Connection>> {
        Ok(self.look()?.and_then(|(reading, _)| reading.known.ledger.opener(id).cloned()))
    }

    fn select(&self, wanted: impl Fn(&EditId, &ConversationId) -> bool) -> Result<Vec<Found>> {
        let Some((reading, _)) = self.look()? else { return Ok(Vec::new()) };
        let ledger = &reading.known.ledger;
        let mut found: Vec<Found> = Vec::new();
        for (edit, known) in ledger.edits.iter().filter(|(edit, known)| wanted(edit, &known.conversation)) {
            let (Some(line), Some(tracked)) = (ledger.lines.get(known.line), ledger.files.get(&known.file))
            else {
                continue;
            };
            found.push(Found {
                edit: edit.clone(),
                conversation: known.conversation.clone(),
                file: known.file,
                document: tracked.name.clone(),
                sequence: line.sequence,
                status: known.status(),
            });
        }
        found.sort_by_key(|found| found.sequence);
        Ok(found)
    }

    /// The lines of the record that were left out because they are damaged.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn damage(&self) -> Result<Vec<Damage>> {
        Ok(self.look()?.map_or_else(Vec::new, |(reading, _)| reading.known.ledger.damage.clone()))
    }

    /// The diff of an edit, as it was rendered when the edit was recorded; none if it changes no lines.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn diff(&self, conversation: &ConversationId, edit: &EditId) -> Result<Option<String>> {
        for id in [conversation.as_str(), edit.as_str()] {
            if !EditId::is_safe(id) {
                return Err(StoreError::UnsafeId { id: id.to_owned() });
            }
        }
        let Some(folder) = self.own_folder()? else { return Ok(None) };
        let bytes = folder.read(&layout::diff(conversation, edit))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The record, and the file that it is read from.
pub(crate) struct Reading<'a> {
    pub known: MutexGuard<'a, Known>,
    pub log: Opened,
}

impl Known {
    /// What is recorded of a file by now.
    pub(crate) fn document(&mut self, folder: &Folder, log: &mut Opened, file: FileId) -> Result<Document> {
        let last = self.ledger.last_of(file);
        let is_it = |read: &&Document| read.file == file && Some(read.sequence) == last;
        if let Some(read) = self.read.as_ref().filter(is_it) {
            return Ok(read.clone());
        }
        let document = read_document(&self.ledger, folder, log, file, None)?;
        self.read = Some(document.clone());
        Ok(document)
    }

    /// Reads what has been added to the record; all of it, if it is another file or not the one that it was.
    pub(crate) fn refresh(&mut self, store: &Store, log: &mut Opened) -> Result<()> {
        self.ledger.forget_waiting();
        if let Some(Unsure { begin, line }) = &self.unsure {
            let there = log.read_at(*begin, line.len() as u64 + 1)?;
            if self.identity == log.identity() && line.starts_with(&there) {
                return Ok(());
            }
            // Another process has cut it off, or has taken it for recorded, and has gone on.
            self.unsure = None;
        }
        let remembered = self.ledger.last.len() as u64;
        let known = self.identity.is_some() && self.identity == log.identity() && self.ledger.end > 0 && {
            // The last line that we know is still where it was.
            let behind = self.ledger.end - self.ledger.last_len;
            log.read_at(behind, remembered)? == self.ledger.last
        };
        if !known {
            let ledger = Ledger::new(&store.root, store.signer.clone());
            let (identity, refused) = (log.identity(), self.refused);
            *self = Self { ledger, identity, refused, ..Self::default() };
        }
        if known && log.len()? == self.ledger.end {
            return Ok(());
        }
        let path = log.path().to_path_buf();
        let failed = |error: std::io::Error| StoreError::io(&path, "read", &error);
        log.file.seek(SeekFrom::Start(self.ledger.end)).map_err(failed)?;
        let mut reader = BufReader::with_capacity(1 << 16, &log.file);
        let mut line = Vec::new();
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(failed)?;
            let Some((b'\n', whole)) = line.split_last() else { return Ok(()) };
            let known = self.ledger.lines.len();
            self.ledger.take(whole).map_err(|refused| refused.of(&store.root))?;
            // Another process wrote about them.
            for line in self.ledger.lines.get(known..).unwrap_or_default() {
                self.told.remove(&line.file);
                if self.read.as_ref().is_some_and(|read| read.file == line.file) {
                    self.read = None;
                }
            }
        }
    }
}

/// Keeps what was recorded last of a document, for the next time that something is told of it.
pub(crate) fn remember(told: &mut HashMap<FileId, Told>, file: FileId, now: Option<Told>) {
    let Some(now) = now else { return };
    told.insert(file, now);
    if told.len() > REMEMBERED
        && let Some(oldest) = told.iter().min_by_key(|(_, told)| told.sequence).map(|(file, _)| *file)
    {
        told.remove(&oldest);
    }
}
