//! What stands in `decisions.log`, by line: which line is about which file, which edits there are, and what was decided. Enough
//! to find everything else, without the texts.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::connection::Connection;
use crate::error::StoreError;
use crate::folder::WAY;
use crate::id::{ConversationId, EditId, FileId};
use crate::json_format::to_line;
use crate::layout;
use crate::name::DocumentName;
use crate::record::{Decision, Location, Sequence, Status};
use crate::seal::Signer;
use crate::transaction::{IntentEnd, OwnerChange, Together, Transaction};

/// The newest version of the record that this program reads and writes. Since the second there are transactions that count together: a program
/// that does not know of them would take the first of a torn group for the whole.
pub(crate) const VERSION: u64 = 2;

/// The version of a record in which no transactions count together.
const FIRST: u64 = 1;

const FORMAT: &str = "hashline decisions";

/// Sequence numbers stay below this; whoever writes a larger one makes mischief.
const MOST: u64 = 1 << 52;

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    format: String,
    pub version: u64,
    /// How often the record was written anew.
    pub generation: u64,
    /// Sequence numbers up to this one have been given, whether or not they still stand here.
    pub given: Sequence,
    /// What the seals of its lines are made for; none of a record that nobody seals.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: FIRST,
            generation: 0,
            given: Sequence(0),
            id: String::new(),
        }
    }
}

impl Header {
    /// The same of a record that is new to whoever seals it: seals that any other has do not count here.
    pub(crate) fn made_anew(self) -> Self {
        Self { id: uuid::Uuid::new_v4().simple().to_string(), ..self }
    }

    /// That of a record of which nothing is known but its lines.
    pub(crate) fn newest() -> Self {
        Self { version: VERSION, ..Self::default() }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The header that a line is, if it is one that can be read.
    pub(crate) fn of(line: &[u8]) -> Result<Option<Self>, Refused> {
        match serde_json::from_slice::<Self>(line) {
            Ok(header) if header.format == FORMAT && !(FIRST..=VERSION).contains(&header.version) => {
                Err(Refused::Version(header.version))
            }
            Ok(header) if header.format == FORMAT && header.given.0 < MOST => Ok(Some(header)),
            _ => Ok(None),
        }
    }

    /// Its line, with its newline.
    pub(crate) fn to_line(&self, signer: Option<&Signer>) -> crate::error::Result<Vec<u8>> {
        seal(signer, "", to_line(self)?)
    }
}

/// A line of the record of this id, sealed if there is who seals.
fn seal(signer: Option<&Signer>, record: &str, line: Vec<u8>) -> crate::error::Result<Vec<u8>> {
    match signer {
        Some(signer) => signer.seal(record, &line).map_err(|why| StoreError::NoKey { why }),
        None => Ok(line),
    }
}

/// A line that could not be understood, or must not be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number in the file, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line {} of decisions.log is damaged and was left out: {}.", self.line, self.why)
    }
}

/// A transaction in the file.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub sequence: Sequence,
    pub offset: u64,
    pub len: u64,
    pub file: FileId,
    /// What the person will be shown as its time; also how old it is for a cleanup.
    pub time: String,
    pub edit: Option<EditId>,
    /// The edits that it decides about or moves.
    pub about: Vec<EditId>,
    /// It is a base; with the file where its text lies.
    pub base: Option<Option<String>>,
    /// The lines that it counts together with.
    pub together: Option<Together>,
}

/// A line that was read, and what is wrong with it if it cannot be taken in.
type Read = Result<Transaction<IgnoredAny>, String>;

/// A file in the record.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub name: DocumentName,
    /// Its transactions, as places in the list of all.
    pub lines: Vec<usize>,
    /// The bytes of the lines since the last base, and those of that base.
    pub weight: (u64, u64),
    pub intent: Option<Sequence>,
    pub owner: Option<String>,
    /// Hunks were put into a text or taken out of it, and nobody has said that it was saved since.
    pub unsaved: bool,
    exists: bool,
}

/// An edit in the record.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Its transaction, as a place in the list of all.
    pub line: usize,
    pub file: FileId,
    pub conversation: ConversationId,
    pub index: u64,
    pub decisions: BTreeMap<u32, Decision>,
}

impl Known {
    pub(crate) fn status(&self) -> Status {
        Status::of(self.decisions.values().copied())
    }
}

/// A conversation in the record.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    /// Whose it is: what its first edit came through.
    opener: Connection,
    edits: Vec<EditId>,
}

/// The record by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    root: PathBuf,
    /// Whose lines are believed; none for everybody's.
    signer: Option<Signer>,
    pub header: Header,
    pub lines: Vec<Line>,
    pub files: BTreeMap<FileId, Tracked>,
    /// The files that were called so last, by name, in the order in which they took it: the last one has it. When that one leaves it, it is
    /// that of the one before again, which is gone.
    names: HashMap<DocumentName, Vec<FileId>>,
    pub edits: HashMap<EditId, Known>,
    pub conversations: BTreeMap<ConversationId, Conversation>,
    pub damage: Vec<Damage>,
    /// Where the next line begins.
    pub end: u64,
    /// How the last line begins, to notice when it is another one.
    pub last: Vec<u8>,
    /// How long it is, with its newline.
    pub last_len: u64,
    count: usize,
    /// The last lines, behind the end, as long as others that they count together with have not come.
    waiting: Vec<(Vec<u8>, Read)>,
}

/// Why a record is not read.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is of this version.
    Version(u64),
    /// It is not this user's.
    Foreign,
    /// Whose it is cannot be told, as there is no key.
    NoKey(String),
}

impl Refused {
    /// The same in words, of the record of a folder.
    pub(crate) fn of(self, folder: &Path) -> StoreError {
        match self {
            Self::Version(found) => {
                let record = WAY.iter().fold(folder.to_path_buf(), |path, name| path.join(name));
                StoreError::WrongVersion { path: record.join(layout::RECORD), found, known: VERSION }
            }
            Self::Foreign => StoreError::Foreign { folder: folder.to_path_buf() },
            Self::NoKey(why) => StoreError::NoKey { why },
        }
    }
}

/// What is wrong with a line that counts together with others which are not there.
const ALONE: &str = "it counts together with others that are not there";

/// How much of the last line is remembered: its sequence, time and process are in it.
pub(crate) const REMEMBERED: usize = 160;

impl Ledger {
    /// The record of a folder, before anything was read of it.
    pub(crate) fn new(root: &Path, signer: Option<Signer>) -> Self {
        Self { root: root.to_path_buf(), signer, ..Self::default() }
    }

    /// The header of a record that is begun.
    pub(crate) fn first_header(&self) -> Header {
        let header = Header::default();
        if self.signer.is_some() { header.made_anew() } else { header }
    }

    /// A header as a line, with its newline.
    pub(crate) fn header_line(&self, header: &Header) -> crate::error::Result<Vec<u8>> {
        header.to_line(self.signer.as_ref())
    }

    /// A transaction as a line, with its newline.
    pub(crate) fn line_of(&self, transaction: &impl Serialize) -> crate::error::Result<Vec<u8>> {
        seal(self.signer.as_ref(), &self.header.id, to_line(transaction)?)
    }

    fn believes(&self, record: &str, line: &[u8]) -> bool {
        self.signer.as_ref().is_none_or(|signer| signer.has_sealed(record, line))
    }

    /// The last sequence number that was given.
    pub(crate) fn given(&self) -> Sequence {
        self.lines.last().map_or(self.header.given, |line| line.sequence.max(self.header.given))
    }

    /// Takes in the next line, without its newline. One that counts together with others waits for the last of them.
    pub(crate) fn take(&mut self, line: &[u8]) -> Result<(), Refused> {
        if self.count == 0 {
            self.take_header(line)?;
            self.note(line);
            return Ok(());
        }
        let read = self.read(line);
        if let Some(group) = self.waited_for() {
            // Of one that cannot be read nobody knows: whether it was one of them the next ones tell.
            let is_one = read.as_ref().map_or(true, |one| one.together == Some(group));
            let is_last = read.as_ref().is_ok_and(|one| one.sequence == group.last());
            if is_one {
                self.waiting.push((line.to_vec(), read));
                if is_last {
                    self.take_waiting(group);
                }
                return Ok(());
            }
            self.take_waiting(group);
        }
        match read.as_ref().ok().and_then(|one| Some((one.sequence, self.counts_with(one)?))) {
            None => self.take_read(line, read),
            Some((sequence, group)) if sequence == group.from => self.waiting.push((line.to_vec(), read)),
            Some(_) => self.take_read(line, Err(ALONE.to_owned())),
        }
        Ok(())
    }

    /// The lines that a transaction counts together with. Those that were there at the last cleanup were all there then.
    fn counts_with(&self, transaction: &Transaction<IgnoredAny>) -> Option<Together> {
        transaction.together.filter(|group| group.of > 1 && transaction.sequence > self.header.given)
    }

    fn waited_for(&self) -> Option<Together> {
        self.waiting.first()?.1.as_ref().ok()?.together
    }

    /// Takes in the lines that wait for each other, if all are there.
    fn take_waiting(&mut self, group: Together) {
        let waiting = std::mem::take(&mut self.waiting);
        let is_whole = waiting.len() as u64 >= group.of;
        for (line, read) in waiting {
            self.take_read(&line, if is_whole { read } else { Err(ALONE.to_owned()) });
        }
    }

    /// How many lines would count together whose last ones are missing; none if there are none such, or they only say that something is
    /// done.
    pub(crate) fn torn_group(&self) -> Option<u64> {
        let first = self.waiting.first()?.1.as_ref().ok()?;
        Some(first.together.filter(|_| first.ended.is_none())?.of)
    }

    /// Forgets the lines that wait: they are read again, or are not there any more.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Takes in a line that was read already.
    pub(crate) fn take_read(&mut self, line: &[u8], read: Read) {
        let taken = read.and_then(|transaction| self.take_transaction(transaction, line.len() as u64 + 1));
        self.note(line);
        if let Err(why) = taken {
            self.damage.push(Damage { line: self.count, why });
        }
    }

    /// Goes on behind a line.
    fn note(&mut self, line: &[u8]) {
        let len = line.len() as u64 + 1;
        self.count += 1;
        self.end += len;
        self.last_len = len;
        self.last = line[..line.len().min(REMEMBERED)].to_vec();
    }

    fn take_header(&mut self, line: &[u8]) -> Result<(), Refused> {
        if let Some(signer) = &self.signer {
            signer.find().map_err(Refused::NoKey)?;
        }
        // First of all whose it is: what others wrote says nothing, not even of what version it is.
        if !self.believes("", line) {
            return Err(Refused::Foreign);
        }
        match Header::of(line)? {
            Some(header) => self.header = header,
            None => self.damage.push(Damage { line: 1, why: "the header is missing".to_owned() }),
        }
        Ok(())
    }

    fn take_transaction(&mut self, transaction: Transaction<IgnoredAny>, len: u64) -> Result<(), String> {
        let sequence = transaction.sequence;
        let last = self.lines.last().map_or(Sequence(0), |line| line.sequence);
        if sequence <= last || sequence.0 >= MOST {
            return Err(format!("its sequence number {sequence} does not follow {last}"));
        }
        let file = transaction.file;
        if file.0 != sequence && !self.files.contains_key(&file) && file.0 > self.header.given {
            return Err(format!("it is about a file {} that there is not", file.0));
        }
        if let Some(edit) = &transaction.edit {
            if self.edits.contains_key(&edit.id) {
                return Err(format!("there is an edit {} already", edit.id));
            }
            self.take_edit(edit, &transaction);
        }
        for decided in &transaction.decisions {
            // Those of forgotten edits are no harm.
            if let Some(known) = self.edits.get_mut(&decided.hunk.edit)
                && known.file == file
                && let Some(decision) = known.decisions.get_mut(&decided.hunk.number)
            {
                *decision = decided.decision;
            }
        }
        self.take_file(&transaction, len);
        let decided = transaction.decisions.iter().map(|decided| &decided.hunk.edit);
        let located = transaction.locations.iter().map(|located| &located.hunk.edit);
        let mut about: Vec<EditId> = decided.chain(located).cloned().collect();
        about.dedup();
        self.lines.push(Line {
            sequence,
            offset: self.end,
            len,
            file,
            time: transaction.time,
            edit: transaction.edit.map(|edit| edit.id),
            about,
            base: transaction.base.map(|base| base.checkpoint),
            together: transaction.together,
        });
        Ok(())
    }

    fn take_edit(&mut self, edit: &crate::transaction::NewEdit, transaction: &Transaction<IgnoredAny>) {
        let undecided = edit.hunks.iter().map(|hunk| (hunk.number, Decision::Undecided));
        let known = Known {
            line: self.lines.len(),
            file: transaction.file,
            conversation: edit.conversation.clone(),
            index: transaction.index.unwrap_or(0),
            decisions: undecided.collect(),
        };
        self.edits.insert(edit.id.clone(), known);
        let conversation = self.conversations.entry(edit.conversation.clone());
        let opened = || Conversation { opener: edit.connection.clone(), edits: Vec::new() };
        conversation.or_insert_with(opened).edits.push(edit.id.clone());
    }

    fn take_file(&mut self, transaction: &Transaction<IgnoredAny>, len: u64) {
        let id = transaction.file;
        let name = &transaction.document;
        let fresh = || Tracked {
            name: name.clone(),
            lines: Vec::new(),
            weight: (0, 0),
            intent: None,
            owner: None,
            unsaved: false,
            exists: false,
        };
        let last = self.names.get(name).and_then(|called| called.last()).filter(|other| **other != id);
        let is_taken = last.and_then(|other| self.files.get(other)).is_some_and(|other| other.exists);
        let tracked = self.files.entry(id).or_insert_with(fresh);
        let exists =
            transaction.registers.map_or(tracked.exists || tracked.lines.is_empty(), |now| now.exists);
        // A name goes to the file that took it last; a word about another that once had it takes nothing.
        let claims = tracked.lines.is_empty() || tracked.name != *name || (exists && !tracked.exists);
        if claims {
            if let Some(called) = self.names.get_mut(&tracked.name) {
                called.retain(|other| *other != id);
            }
            let called = self.names.entry(name.clone()).or_default();
            // One that is gone takes no name from one that is there.
            let behind = usize::from(!exists && is_taken);
            called.insert(called.len().saturating_sub(behind), id);
        }
        tracked.exists = exists;
        tracked.name.clone_from(name);
        tracked.lines.push(self.lines.len());
        match transaction.base {
            Some(_) => tracked.weight = (0, len),
            None => tracked.weight.0 += len,
        }
        match (&transaction.intent[..], transaction.ended) {
            ([], Some(IntentEnd::Done | IntentEnd::Withdrawn)) => tracked.intent = None,
            ([], None) => {}
            _ => tracked.intent = Some(transaction.sequence),
        }
        let unsaved = tracked.unsaved || !transaction.locations.is_empty();
        let in_buffer = transaction.locations.iter().any(|located| located.location == Location::Buffer);
        let differs = |saved| in_buffer || transaction.text.is_some_and(|text| text != saved);
        // Of a file that is gone with its edits nothing is to be saved.
        let is_gone = !exists && !transaction.locations.is_empty() && !in_buffer;
        tracked.unsaved = !is_gone && unsaved && transaction.saved.is_none_or(differs);
        match &transaction.owner {
            Some(OwnerChange::Claimed(owner)) => tracked.owner = Some(owner.clone()),
            Some(OwnerChange::Released) => tracked.owner = None,
            None => {}
        }
    }

    /// Reads a transaction and checks all that it names; its names become absolute.
    pub(crate) fn read<'a, D: Deserialize<'a>>(&self, line: &'a [u8]) -> Result<Transaction<D>, String> {
        if !self.believes(&self.header.id, line) {
            return Err("it does not carry your seal".to_owned());
        }
        // What a member that is not known says is skipped, even if it is no UTF-8; then the line is damaged all the same.
        let line = std::str::from_utf8(line).map_err(|error| format!("it cannot be read ({error})"))?;
        let mut transaction: Transaction<D> =
            serde_json::from_str(line).map_err(|error| format!("it cannot be read ({error})"))?;
        transaction
            .respell(|name| name.absolute_in(&self.root))
            .map_err(|name| format!("it names {name:?}, which leads out of the folder"))?;
        if let Some(edit) = &transaction.edit {
            if !EditId::is_safe(edit.id.as_str()) || !ConversationId::is_safe(edit.conversation.as_str()) {
                return Err("its ids may not name files".to_owned());
            }
            let numbers = edit.hunks.iter().map(|hunk| hunk.number);
            if !numbers.eq(1..=edit.hunks.len() as u32) {
                return Err("its hunks are not numbered from 1".to_owned());
            }
        }
        let checkpoint = transaction.base.as_ref().and_then(|base| base.checkpoint.as_deref());
        if checkpoint.is_some_and(|way| !layout::is_checkpoint(way)) {
            return Err("its checkpoint may not be called so".to_owned());
        }
        if transaction.together.is_some_and(|group| group.of < 1 || !group.holds(transaction.sequence)) {
            return Err("it is none of those that it would count together with".to_owned());
        }
        Ok(transaction)
    }

    /// The file of a name.
    pub(crate) fn file(&self, name: &DocumentName) -> Option<(FileId, &Tracked)> {
        let id = self.names.get(name)?.last()?;
        Some((*id, self.files.get(id)?))
    }

    /// The file that has a name, and the last that was recorded of it.
    pub(crate) fn latest(&self, name: &DocumentName) -> Option<(FileId, Sequence)> {
        let (file, _) = self.file(name)?;
        Some((file, self.last_of(file)?))
    }

    /// The last that was recorded of a file.
    pub(crate) fn last_of(&self, file: FileId) -> Option<Sequence> {
        Some(self.lines.get(*self.files.get(&file)?.lines.last()?)?.sequence)
    }

    /// Who has claimed the edits of the file of a name, other than this process, as long as any is undecided or not saved.
    pub(crate) fn owner_but(&self, name: &DocumentName, own: &str) -> Option<&str> {
        let (_, tracked) = self.file(name)?;
        let owner = tracked.owner.as_deref().filter(|owner| *owner != own)?;
        self.needs_owner(tracked).then_some(owner)
    }

    /// Whether this process has claimed the edits of the file of a name, and any is undecided or not saved.
    pub(crate) fn is_claimed_by(&self, name: &DocumentName, own: &str) -> bool {
        let claimed = self.file(name).filter(|(_, tracked)| tracked.owner.as_deref() == Some(own));
        claimed.is_some_and(|(_, tracked)| self.needs_owner(tracked))
    }

    fn needs_owner(&self, tracked: &Tracked) -> bool {
        let edits = tracked.lines.iter().rev().filter_map(|at| self.lines.get(*at)?.edit.as_ref());
        let mut statuses = edits.filter_map(|edit| Some(self.edits.get(edit)?.status()));
        tracked.unsaved || statuses.any(|status| status == Status::Pending)
    }

    /// The edits of a conversation, in the order of record.
    pub(crate) fn edits_of(&self, conversation: &ConversationId) -> impl Iterator<Item = &EditId> {
        self.conversations.get(conversation).into_iter().flat_map(|conversation| &conversation.edits)
    }

    /// Whose a conversation is, if it is known.
    pub(crate) fn opener(&self, conversation: &ConversationId) -> Option<&Connection> {
        let opener = &self.conversations.get(conversation)?.opener;
        opener.is_known().then_some(opener)
    }

    /// The index that the next edit of a conversation gets.
    pub(crate) fn next_index(&self, conversation: &ConversationId) -> u64 {
        self.edits_of(conversation)
            .filter_map(|id| self.edits.get(id))
            .map(|known| known.index.saturating_add(1))
            .max()
            .unwrap_or(0)
    }

    /// The checkpoint that a replay up to a line begins with.
    pub(crate) fn checkpoint_at(&self, line: usize) -> Option<&str> {
        let tracked = self.files.get(&self.lines.get(line)?.file)?;
        let before = tracked.lines.iter().rev().filter(|at| **at <= line);
        let base = before.filter_map(|at| self.lines.get(*at)?.base.as_ref()).next();
        base.and_then(|checkpoint| checkpoint.as_deref())
    }
}
