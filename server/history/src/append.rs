//! Writing lines: from drafts to transactions, one by one or several that count together.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::de::IgnoredAny;

use crate::draft_delta::{self, Told, weave_in};
use crate::error::{Result, StoreError};
use crate::folder::{Folder, Open, Opened};
use crate::id::{EditId, FileId, HunkRef};
use crate::json_format::WireDelta;
use crate::layout;
use crate::ledger::{Header, Ledger, VERSION};
use crate::name::DocumentName;
use crate::record::{Sequence, Status};
use crate::record_lines::read_document;
use crate::session::Session;
use crate::store::{Known, Store, Unsure, remember};
use crate::transaction::{Draft, IntentEnd, Subject, Together, Transaction};

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

/// A draft, and what else its line says.
pub(crate) struct Entry<'a> {
    pub draft: Draft<'a>,
    pub ended: Option<IntentEnd>,
    /// The names of the weave's hunks, where they do not follow from what was recorded.
    pub hunks: Option<Vec<Option<HunkRef>>>,
}

impl<'a> From<Draft<'a>> for Entry<'a> {
    fn from(draft: Draft<'a>) -> Self {
        let ended = draft.done.then_some(IntentEnd::Done);
        Self { draft, ended, hunks: None }
    }
}

/// A line that can be written.
struct Prepared<'a> {
    draft: Draft<'a>,
    /// What its document is called in the record.
    name: DocumentName,
    appended: Appended,
    line: Vec<u8>,
    /// The same as the ledger takes it.
    read: Transaction<IgnoredAny>,
    /// Where its checkpoint lies, and the bytes of that.
    checkpoint: Option<(String, Vec<u8>)>,
    now: Option<Told>,
    /// The edits that it decides about, with their statuses before.
    statuses: Vec<(EditId, Status)>,
    /// Whether it says no more than what can be found out again.
    is_found_again: bool,
}

impl Session {
    /// Records what a draft says. When this returns it is durable, but for the mere word that an intent is done: that can be found
    /// out again.
    ///
    /// # Errors
    ///
    /// Nothing was recorded then.
    pub fn append(&mut self, draft: &Draft<'_>) -> Result<Appended> {
        self.append_one(draft.clone().into())
    }

    pub(crate) fn append_one(&mut self, entry: Entry<'_>) -> Result<Appended> {
        self.append_all(vec![entry], false)?.pop().ok_or(StoreError::BadDraft("there is nothing to record"))
    }

    /// Records drafts about different files in one write: either all of them are in the record, or none. `is_switch`: what they mean to do to
    /// the disk is to be finished whatever happens, even if there is only one.
    pub(crate) fn append_all(&mut self, entries: Vec<Entry<'_>>, is_switch: bool) -> Result<Vec<Appended>> {
        if self.torn {
            return Err(StoreError::BadDraft("an earlier line could not be taken back; try again"));
        }
        let is_group = is_switch || entries.len() > 1;
        if is_group {
            self.raise_version()?;
        }
        let mut known = self.store.known();
        let first = Sequence(known.ledger.given().max(known.refused).0 + 1);
        let together = is_group.then_some(Together { from: first, of: entries.len() as u64 });
        let mut prepared: Vec<Prepared<'_>> = Vec::with_capacity(entries.len());
        for (entry, number) in entries.into_iter().zip(first.0..) {
            let (store, folder, log) = (&self.store, &self.folder, &mut self.log);
            let one = prepare(store, folder, log, &mut known, entry, (Sequence(number), together))?;
            if prepared.iter().any(|other| other.appended.file == one.appended.file) {
                return Err(StoreError::BadDraft("two drafts that count together are about one file"));
            }
            prepared.push(one);
        }
        let end = known.ledger.end;
        // Whoever only reads does not wait for the disk.
        drop(known);
        for (way, bytes) in prepared.iter().filter_map(|one| one.checkpoint.as_ref()) {
            self.folder.write_whole(way, bytes, true)?;
        }
        let lines: Vec<u8> = prepared.iter().flat_map(|one| &one.line).copied().collect();
        let found_again = prepared.iter().all(|one| one.is_found_again);
        self.store.known().unsure = Some(Unsure { begin: end, line: lines.clone() });
        let written =
            self.log.write(&lines).and_then(|()| if found_again { Ok(()) } else { self.log.sync() });
        if let Err(error) = written {
            self.torn = self.log.truncate(end).is_err();
            let mut known = self.store.known();
            known.refused = prepared.last().map_or(known.refused, |last| last.appended.sequence);
            if !self.torn {
                known.unsure = None;
            }
            return Err(error);
        }
        let mut known = self.store.known();
        known.unsure = None;
        known.read = None;
        let Known { ledger, told, .. } = &mut *known;
        // They were read already, above, but for whoever has looked meanwhile.
        let is_new = ledger.end == end;
        let mut appended = Vec::with_capacity(prepared.len());
        let mut written = Vec::with_capacity(prepared.len());
        for Prepared { draft, name, appended: one, line, read, now, statuses, .. } in prepared {
            if is_new {
                ledger.take_read(&line[..line.len() - 1], Ok(read));
            }
            appended.push(one);
            written.push((draft, name, one, now, statuses));
        }
        for (draft, name, one, now, statuses) in written {
            let shown = now.as_ref().map(|now| (name, now.weave.clone()));
            self.fresh.note(ledger, &draft, shown, &statuses);
            remember(told, one.file, now);
        }
        Ok(appended)
    }

    /// Says in the record that there are lines in it which count together, so that programs which do not know of such leave it alone. It is
    /// written anew, as those that have it open would not look at its beginning again.
    fn raise_version(&mut self) -> Result<()> {
        let store = self.store.clone();
        let mut known = store.known();
        let mut header: Header = known.ledger.header.clone();
        if header.version >= VERSION {
            return Ok(());
        }
        header.version = VERSION;
        let mut record = known.ledger.header_line(&header)?;
        let whole = self.log.read_at(0, known.ledger.end)?;
        let first = whole.iter().position(|byte| *byte == b'\n').map_or(whole.len(), |at| at + 1);
        record.extend(&whole[first..]);
        self.folder.write_whole(layout::RECORD, &record, true)?;
        if let Some(log) = self.folder.file(layout::RECORD, Open::Append)? {
            self.log = log;
        }
        known.refresh(&store, &mut self.log)
    }
}

/// This moment to the microsecond, in UTC as RFC 3339 has it: moments in this form are ordered as texts are.
fn now() -> String {
    DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&Timestamp::now())
}

/// Makes a line of a draft, if it goes with what is recorded.
fn prepare<'a>(
    store: &Store,
    folder: &Folder,
    log: &mut Opened,
    known: &mut Known,
    entry: Entry<'a>,
    (sequence, together): (Sequence, Option<Together>),
) -> Result<Prepared<'a>> {
    let Known { ledger, told, .. } = known;
    let Entry { draft, ended, hunks } = entry;
    let root = store.folder();
    let outside = |name| StoreError::Outside { name, folder: root.to_path_buf() };
    let name = draft.document.relative_to(root).ok_or_else(|| outside(draft.document.clone()))?;
    // However the caller spells it.
    let document = name.absolute_in(root).ok_or_else(|| outside(draft.document.clone()))?;
    let draft = Draft { document, ..without_forgotten(&draft, ledger) };
    if together.is_some() && draft.edit.is_some() {
        return Err(StoreError::BadDraft("edits are recorded one by one"));
    }
    let file = check(&draft, ledger, ended)?;
    let id = file.unwrap_or(FileId(sequence));
    let tracked = file.and_then(|file| ledger.files.get(&file));
    let after = file.and_then(|file| ledger.last_of(file));

    if let Some(file) = file
        && !told.contains_key(&file)
        && draft.now.is_some()
        && let Ok(document) = read_document(ledger, folder, log, file, None)
        && let Some(recorded) = Told::of(document)
    {
        told.insert(file, recorded);
    }
    let weight = tracked.map_or((0, 0), |tracked| tracked.weight);
    let woven =
        weave_in(&draft, &draft_delta::Known { name: &name, told: told.get(&id), weight, hunks }, sequence)?;
    let index = draft.edit.as_ref().map(|edit| ledger.next_index(&edit.conversation));
    let mut transaction: Transaction<WireDelta> = Transaction {
        sequence,
        time: now(),
        process: store.process().to_owned(),
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
        together,
    };
    let (bytes, now) = woven.put_into(&mut transaction);
    let way = transaction.base.as_ref().and_then(|base| base.checkpoint.clone());
    transaction.respell(|name| name.relative_to(root)).map_err(outside)?;
    let line = ledger.line_of(&transaction)?;
    let read = ledger
        .read::<IgnoredAny>(&line[..line.len() - 1])
        .map_err(|_| StoreError::BadDraft("its hunks have to be numbered from 1, and its ids be safe"))?;

    let is_found_again = transaction.ended == Some(IntentEnd::Done)
        && transaction.edit.is_none()
        && transaction.decisions.is_empty()
        && transaction.wanted.is_empty()
        && transaction.locations.is_empty()
        && transaction.base.is_none()
        && transaction.delta.is_none();
    let statuses = statuses(ledger, &transaction);
    let appended = Appended { sequence, file: id, index };
    Ok(Prepared {
        draft,
        name,
        appended,
        line,
        read,
        checkpoint: way.zip(bytes),
        now,
        statuses,
        is_found_again,
    })
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
    if let (Some(since), Some(last)) = (draft.since, file.and_then(|file| ledger.last_of(file)))
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
        if ledger.opener(&edit.conversation).is_some_and(|opener| *opener != edit.connection) {
            return Err(StoreError::OthersConversation { id: edit.conversation.clone() });
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
