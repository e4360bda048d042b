//! What the record says of one document: its text with all that agents did to it, the edits, and what became of each.

use std::collections::HashMap;

use hashline_text::{DiskForm, FileHash, Text, decode};
use hashline_weave::{HunkId, Weave};
use serde_json::value::RawValue;

use crate::id::{EditId, FileId, HunkRef};
use crate::json_format::{DeltaSum, WireDelta, with_text};
use crate::name::DocumentName;
use crate::reason::Reason;
use crate::record::{Decision, Location, Sequence, Status};
use crate::transaction::{Effect, NewEdit, OwnerChange, Registers, Transaction};

/// A transaction whose deltas are read when they are needed.
pub(crate) type Unread = Transaction<Box<RawValue>>;

/// A document as of one moment.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, whatever it is called.
    pub file: FileId,
    /// What it is called.
    pub name: DocumentName,
    /// The last that was recorded of it.
    pub sequence: Sequence,
    /// Whether there is a file, and its mode bits.
    pub registers: Registers,
    /// The hash that the file had when it was last written or saved.
    pub saved: Option<FileHash>,
    /// The sidecar that may switch its edits.
    pub owner: Option<String>,
    /// The edits, in the order in which they were made.
    pub edits: Vec<EditState>,
    /// What it holds.
    pub content: Content,
    /// What the hunks of the weave are called, in the order of record; none for those whose edits are forgotten.
    pub hunks: Vec<Option<HunkRef>>,
    /// Every state that its text and its file are known to have had, in order.
    pub states: Vec<RecordedState>,
    /// What was about to be done to the disk, if it is not known whether it was.
    pub intent: Option<(Sequence, Vec<Effect>)>,
}

/// What a document holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing that was recorded.
    None,
    /// Text.
    Text {
        /// With all that agents did to it.
        weave: Box<Weave>,
        /// How the buffer would be stored.
        form: DiskForm,
        /// The hash of the buffer.
        hash: FileHash,
    },
    /// Bytes that are no text.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
        /// Their hash.
        hash: FileHash,
    },
}

/// An edit and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditState {
    /// The edit as it was made.
    pub made: NewEdit,
    /// Its place in its conversation, from 0.
    pub index: u64,
    /// When it was recorded, in the order of the history.
    pub sequence: Sequence,
    /// The same for people: RFC 3339, UTC.
    pub time: String,
    /// Its hunks, in the order of their numbers.
    pub hunks: Vec<HunkState>,
}

impl EditState {
    /// The person's decision about the edit as a whole.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::of(self.hunks.iter().map(|hunk| hunk.decision))
    }
}

/// A hunk and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HunkState {
    /// From 1.
    pub number: u32,
    /// The hunk in the weave, if it is in it: a file hunk is not, nor one that could not be carried over a change nobody watched.
    pub id: Option<HunkId>,
    /// The decision that stands.
    pub decision: Decision,
    /// What the person said about it.
    pub reason: Option<Reason>,
    /// Where it is.
    pub location: Location,
}

/// A state that a text or a file is known to have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedState {
    /// Since when.
    pub sequence: Sequence,
    /// Its hash.
    pub hash: FileHash,
    /// Which of the two: the buffer's text, or the file's.
    pub of: Location,
}

impl Document {
    /// Whether the text ever had this hash, and the last time that it did (W17). A file may have had it while the text was another one:
    /// that says nothing of the text.
    #[must_use]
    pub fn recorded(&self, hash: &FileHash) -> Option<RecordedState> {
        let mut text = None;
        let mut found = None;
        for state in &self.states {
            if state.of == Location::Buffer {
                text = Some(state.hash);
            }
            if text == Some(*hash) && state.hash == *hash {
                found = Some(*state);
            }
        }
        found
    }

    /// An edit.
    #[must_use]
    pub fn edit(&self, id: &EditId) -> Option<&EditState> {
        self.edits.iter().find(|edit| edit.made.id == *id)
    }

    /// A hunk.
    #[must_use]
    pub fn hunk(&self, hunk: &HunkRef) -> Option<&HunkState> {
        self.edit(&hunk.edit)?.hunks.iter().find(|state| state.number == hunk.number)
    }

    /// The weave, if the document is text.
    #[must_use]
    pub fn weave(&self) -> Option<&Weave> {
        match &self.content {
            Content::Text { weave, .. } => Some(weave),
            Content::None | Content::Bytes { .. } => None,
        }
    }

    /// The document before anything was recorded of it.
    fn blank(first: &Unread) -> Self {
        Self {
            file: first.file,
            name: first.document.clone(),
            sequence: first.sequence,
            registers: Registers::default(),
            saved: None,
            owner: None,
            edits: Vec::new(),
            content: Content::None,
            hunks: Vec::new(),
            states: Vec::new(),
            intent: None,
        }
    }

    /// What a transaction says besides what the document holds.
    fn note(&mut self, transaction: &Unread, places: &mut Places) {
        let sequence = transaction.sequence;
        self.sequence = sequence;
        self.name.clone_from(&transaction.document);
        if let Some(edit) = &transaction.edit {
            let state = |hunk: &crate::transaction::NewHunk| HunkState {
                number: hunk.number,
                ..HunkState::default()
            };
            places.0.insert(edit.id.clone(), self.edits.len());
            self.edits.push(EditState {
                made: edit.clone(),
                index: transaction.index.unwrap_or(0),
                sequence,
                time: transaction.time.clone(),
                hunks: edit.hunks.iter().map(state).collect(),
            });
        }
        for decided in &transaction.decisions {
            if let Some(hunk) = places.hunk(&mut self.edits, &decided.hunk) {
                hunk.decision = decided.decision;
                hunk.reason.clone_from(&decided.reason);
            }
        }
        for located in &transaction.locations {
            if let Some(hunk) = places.hunk(&mut self.edits, &located.hunk) {
                hunk.location = located.location;
            }
        }
        self.registers = transaction.registers.unwrap_or(self.registers);
        match &transaction.owner {
            Some(OwnerChange::Claimed(owner)) => self.owner = Some(owner.clone()),
            Some(OwnerChange::Released) => self.owner = None,
            None => {}
        }
        if transaction.ended.is_some() {
            self.intent = None;
        }
        if !transaction.intent.is_empty() {
            self.intent = Some((sequence, transaction.intent.clone()));
        }
        let state = |of| move |hash: FileHash| RecordedState { sequence, hash, of };
        self.states.extend(transaction.text.map(state(Location::Buffer)));
        self.states.extend(transaction.saved.map(state(Location::Disk)));
        self.saved = transaction.saved.or(self.saved);
        if let Some(base) = &transaction.base {
            self.hunks.clone_from(&base.hunks);
        }
        let new = transaction.edit.iter().flat_map(|edit| {
            let id = edit.id.clone();
            edit.hunks.iter().map(move |hunk| (hunk.id, HunkRef { edit: id.clone(), number: hunk.number }))
        });
        for (id, name) in new {
            let Some(id) = id else { continue };
            if self.hunks.len() <= id.order() && id.order() < MOST_HUNKS {
                self.hunks.resize(id.order() + 1, None);
            }
            if let Some(slot) = self.hunks.get_mut(id.order()) {
                *slot = Some(name);
            }
        }
    }

    /// Tells every hunk where it is in the weave.
    fn place_hunks(&mut self, places: &Places) {
        let count = self.weave().map_or(0, |weave| weave.hunks().count());
        self.hunks.resize(count, None);
        for (order, name) in self.hunks.iter().enumerate() {
            let Some(name) = name else { continue };
            let id = u32::try_from(order).ok().map(HunkId::from_order);
            if let Some(hunk) = places.hunk(&mut self.edits, name) {
                hunk.id = id;
            }
        }
    }
}

/// Where the edits of a document are in its list, by their ids.
#[derive(Default)]
struct Places(HashMap<EditId, usize>);

impl Places {
    fn hunk<'a>(&self, edits: &'a mut [EditState], hunk: &HunkRef) -> Option<&'a mut HunkState> {
        let edit = edits.get_mut(*self.0.get(&hunk.edit)?)?;
        edit.hunks.iter_mut().find(|state| state.number == hunk.number)
    }
}

/// More hunks than a document can have.
const MOST_HUNKS: usize = 1 << 24;

/// A transaction that does not fit what stands before it.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub sequence: Sequence,
    pub why: String,
}

/// What comes of the transactions of one file, in order. None if there are none. `checkpoint` reads the bytes of a checkpoint.
pub(crate) fn replay(
    transactions: &[Unread],
    checkpoint: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Option<Document>, Misfit> {
    let Some(first) = transactions.first() else { return Ok(None) };
    let mut document = Document::blank(first);
    let start = transactions.iter().rposition(|transaction| transaction.base.is_some()).unwrap_or(0);
    let mut places = Places::default();
    transactions.iter().for_each(|transaction| document.note(transaction, &mut places));
    document.content = match at_once(&transactions[start..], checkpoint) {
        Some(content) => content,
        None => one_by_one(&transactions[start..], checkpoint)?,
    };
    document.place_hunks(&places);
    Ok(Some(document))
}

/// The state that the base of a transaction is, before what else the transaction tells.
pub(crate) fn base_of(
    transaction: &Unread,
    checkpoint: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Content, String> {
    let Some(base) = &transaction.base else { return Ok(Content::None) };
    let bytes = match &base.checkpoint {
        Some(way) => checkpoint(way)?,
        None => Vec::new(),
    };
    let hash = FileHash::of(&bytes);
    // The record vouches for a file beside it by this hash alone.
    if base.checkpoint.is_some() && base.hash != Some(hash) {
        return Err("its checkpoint is not what was written".to_owned());
    }
    if base.binary {
        return Ok(Content::Bytes { bytes, hash });
    }
    let form = transaction.form.map(DiskForm::from).unwrap_or_default();
    let text = match form.bom {
        true => decode(&bytes).map_err(|error| error.to_string())?.0,
        false => Text::from(std::str::from_utf8(&bytes).map_err(|error| error.to_string())?),
    };
    let weave = match &base.weave {
        Some(wire) => with_text(read(wire)?, &text)?,
        None => Weave::new(text),
    };
    let hash = form.hash(weave.buffer());
    Ok(Content::Text { weave: Box::new(weave), form, hash })
}

/// Whether a transaction goes on where the one before it ended.
fn follows(before: &Unread, next: &Unread) -> bool {
    next.after == Some(before.sequence)
}

/// What the transactions since a base lead to, put together once. None where they do not go together so: then it is found out which of them
/// does not fit, if one does not.
fn at_once(transactions: &[Unread], checkpoint: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Option<Content> {
    let first = transactions.first()?;
    let Content::Text { mut weave, mut form, hash } = base_of(first, checkpoint).ok()? else { return None };
    if !transactions.windows(2).all(|two| follows(&two[0], &two[1])) {
        return None;
    }
    let (before, was) = (weave.buffer().clone(), form);
    let mut sum: Option<DeltaSum> = None;
    let mut recorded = None;
    for transaction in transactions {
        if let Some(wire) = &transaction.delta {
            let wire = read(wire).ok()?;
            if let Some(done) = sum.take_if(|sum| sum.changes_ending(&wire)) {
                weave.apply_delta(&done.finish().ok()?).ok()?;
            }
            sum.get_or_insert_with(|| DeltaSum::since(&weave)).add(wire).ok()?;
        }
        form = transaction.form.map_or(form, DiskForm::from);
        recorded = transaction.text.or(recorded);
    }
    if let Some(done) = sum {
        weave.apply_delta(&done.finish().ok()?).ok()?;
    }
    let changed = !weave.buffer().is_same_instance(&before) || form != was;
    let hash = if changed { form.hash(weave.buffer()) } else { hash };
    recorded.is_none_or(|recorded| recorded == hash).then_some(Content::Text { weave, form, hash })
}

/// The same, one after the other.
fn one_by_one(
    transactions: &[Unread],
    checkpoint: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Content, Misfit> {
    let mut content = Content::None;
    for (at, transaction) in transactions.iter().enumerate() {
        let misfit = |why: String| Misfit { sequence: transaction.sequence, why };
        if at > 0 && !follows(&transactions[at - 1], transaction) {
            return Err(misfit("the record before it is missing".to_owned()));
        }
        content = held_after(content, transaction, checkpoint).map_err(misfit)?;
    }
    Ok(content)
}

fn read(wire: &RawValue) -> Result<WireDelta, String> {
    serde_json::from_str(wire.get()).map_err(|error| error.to_string())
}

fn held_after(
    before: Content,
    transaction: &Unread,
    checkpoint: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Content, String> {
    let based = if transaction.base.is_some() { base_of(transaction, checkpoint)? } else { before };
    let after = match based {
        Content::Text { mut weave, form, hash } => {
            let before = weave.buffer().clone();
            if let Some(wire) = &transaction.delta {
                let delta = read(wire)?.read(&weave)?;
                weave.apply_delta(&delta).map_err(|error| error.to_string())?;
            }
            let now = transaction.form.map_or(form, DiskForm::from);
            let changed = !weave.buffer().is_same_instance(&before) || now != form;
            let hash = if changed { now.hash(weave.buffer()) } else { hash };
            Content::Text { weave, form: now, hash }
        }
        _ if transaction.delta.is_some() => return Err("there is no text for it to change".to_owned()),
        other => other,
    };
    let hash = match &after {
        Content::Text { hash, .. } | Content::Bytes { hash, .. } => Some(*hash),
        Content::None => None,
    };
    match transaction.text {
        Some(recorded) if hash != Some(recorded) => {
            Err("it does not lead to the text that was recorded with it".to_owned())
        }
        _ => Ok(after),
    }
}
