//! Logs and diffs: what outside readers look at. They are rendered from the record and can be rendered again at any time.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

use crate::draft_delta::diff_of;
use crate::error::{Result, StoreError};
use crate::folder::{Folder, Open, Opened, TEMPORARY};
use crate::id::{ConversationId, EditId};
use crate::layout;
use crate::ledger::{Known, Ledger};
use crate::log_entry::LogEntry;
use crate::name::DocumentName;
use crate::record::Sequence;
use crate::record_lines::{read_document, read_line};
use crate::transaction::{Operation, Transaction};

/// A log is written anew where one in so many of its lines changes, and more than one: to find a line takes about as long as to write so many.
const FEW: usize = 16;

/// So many bytes of a log are read at a time when a line is looked for. Where a line and the rest of the one before it are longer, it is not
/// found.
const PIECE: u64 = 16 << 10;

/// Renders and writes logs and diffs.
pub(crate) struct Render<'a> {
    pub folder: &'a Folder,
    pub log: &'a mut Opened,
    pub ledger: &'a Ledger,
}

impl Render<'_> {
    /// Writes what was recorded after the last that is known to be in logs and diffs.
    pub(crate) fn catch_up(&mut self) -> Result<Vec<String>> {
        let last = self.ledger.given();
        let derived = derived(self.folder)?;
        match derived {
            Some(derived) if derived == last => return Ok(Vec::new()),
            Some(derived) if derived < last => {}
            None if self.ledger.lines.is_empty() && self.ledger.header.generation == 0 => {
                return Ok(Vec::new());
            }
            _ => {
                let repaired = self.check_all()?;
                self.note_derived()?;
                return Ok(repaired);
            }
        }
        let from = self.ledger.lines.partition_point(|line| Some(line.sequence) <= derived);
        let mut conversations = BTreeSet::new();
        for line in &self.ledger.lines[from..] {
            if let Some(edit) = &line.edit {
                self.render_diff(edit)?;
            }
            let edits = line.edit.iter().chain(&line.about);
            conversations
                .extend(edits.filter_map(|edit| Some(self.ledger.edits.get(edit)?.conversation.clone())));
        }
        for conversation in &conversations {
            self.write_log(conversation)?;
        }
        self.note_derived()?;
        if self.ledger.files.values().any(|tracked| tracked.intent.is_some()) {
            // They were left for whoever ends that intent, who tells of it.
            return Ok(Vec::new());
        }
        let count = self.ledger.lines.len() - from;
        Ok(vec![format!(
            "A process ended before it had written everything: the logs of the last {count} records were written."
        )])
    }

    /// Compares every log and diff with the record, and removes what no record speaks of.
    pub(crate) fn check_all(&mut self) -> Result<Vec<String>> {
        let mut repaired = Vec::new();
        let conversations: Vec<ConversationId> = self.ledger.conversations.keys().cloned().collect();
        for conversation in &conversations {
            let wanted = self.whole_log(conversation)?;
            if self.folder.read(&layout::log(conversation))?.as_deref() != Some(&wanted) {
                self.folder.write_whole(&layout::log(conversation), &wanted, false)?;
                repaired.push(format!("The log of {conversation} was written anew from decisions.log."));
            }
            let there: BTreeSet<String> =
                self.folder.names(&format!("{}/{conversation}", layout::DIFFS))?.into_iter().collect();
            for edit in self.ledger.edits_of(conversation) {
                let whole = there.contains(&format!("{edit}.diff"))
                    && self.folder.length(&layout::diff(conversation, edit))?.is_some_and(|len| len > 0);
                if !whole && self.render_diff(edit)? {
                    repaired.push(format!("The diff of {edit} was written anew."));
                }
            }
        }
        // What a damaged line spoke of may be all that is left of it.
        if self.ledger.damage.is_empty() {
            repaired.extend(self.sweep()?);
        }
        Ok(repaired)
    }

    /// Removes logs, diffs and checkpoints that the record does not speak of, and files that were never finished.
    pub(crate) fn sweep(&mut self) -> Result<Vec<String>> {
        let mut swept = Vec::new();
        let ledger = self.ledger;
        let known = |name: &str| ledger.conversations.contains_key(&ConversationId::from(name));
        let mut remove = |way: String| -> Result<()> {
            self.folder.remove(&way)?;
            swept.push(format!("{way} was removed: nothing is recorded of it."));
            Ok(())
        };
        for name in self.folder.names(layout::LOGS)? {
            if !name.strip_suffix(".log").is_some_and(known) {
                remove(format!("{}/{name}", layout::LOGS))?;
            }
        }
        for conversation in self.folder.names(layout::DIFFS)? {
            let way = format!("{}/{conversation}", layout::DIFFS);
            for name in self.folder.names(&way)? {
                let edit = name.strip_suffix(".diff").and_then(|edit| ledger.edits.get(&EditId::from(edit)));
                if edit.is_none_or(|edit| edit.conversation.as_str() != conversation) {
                    remove(format!("{way}/{name}"))?;
                }
            }
            self.folder.remove(&way)?;
        }
        let bases: BTreeSet<&str> =
            ledger.lines.iter().filter_map(|line| line.base.as_ref()?.as_deref()).collect();
        for conversation in self.folder.names(layout::CHECKPOINTS)? {
            let way = format!("{}/{conversation}", layout::CHECKPOINTS);
            for name in self.folder.names(&way)? {
                let checkpoint = format!("{way}/{name}");
                if !bases.contains(checkpoint.as_str()) {
                    remove(checkpoint)?;
                }
            }
            self.folder.remove(&way)?;
        }
        for name in self.folder.names("")?.into_iter().filter(|name| name.starts_with(TEMPORARY)) {
            remove(name)?;
        }
        Ok(swept)
    }

    /// Says that logs and diffs have all that is recorded.
    pub(crate) fn note_derived(&self) -> Result<()> {
        // Of one length, and over what was there: to put another file in its place would let some file systems write that out first,
        // at every edit. If half of it gets there, logs that are up to date are compared once more.
        let text = format!("{:020}\n", self.ledger.given().0);
        match self.folder.file(layout::DERIVED, Open::Over)? {
            Some(mut derived) => derived.write(text.as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes a conversation's log anew.
    pub(crate) fn write_log(&mut self, conversation: &ConversationId) -> Result<()> {
        let log = self.whole_log(conversation)?;
        self.folder.write_whole(&layout::log(conversation), &log, false)
    }

    /// Gives some edits of a conversation's log their statuses, each where its line stands, so that a decision about one edit of many
    /// neither reads nor writes what is said of the others. Where many change, or a line is not where it should be, the log is written
    /// anew: the other lines are taken from it as it is.
    pub(crate) fn update_log(
        &mut self,
        conversation: &ConversationId,
        changed: &BTreeSet<EditId>,
    ) -> Result<()> {
        if !self.ledger.damage.is_empty() {
            return self.write_log(conversation);
        }
        let edits = self.ledger.edits_of(conversation).count();
        if changed.len() * FEW < edits.max(2 * FEW) && self.overwrite(conversation, changed)? {
            return Ok(());
        }
        let there = self.folder.read(&layout::log(conversation))?.unwrap_or_default();
        let mut lines = there.split_inclusive(|byte| *byte == b'\n');
        let mut log = Vec::with_capacity(there.len() + 256);
        for edit in self.ledger.edits_of(conversation) {
            match lines.next() {
                Some(line) if !changed.contains(edit) && is_of(line, edit) => log.extend(line),
                _ => log.extend(self.log_line(edit)?),
            }
        }
        self.folder.write_whole(&layout::log(conversation), &log, false)
    }

    /// Writes new lines of some edits over those that stand in a conversation's log. False if one cannot take the place of the other.
    fn overwrite(&mut self, conversation: &ConversationId, changed: &BTreeSet<EditId>) -> Result<bool> {
        let way = layout::log(conversation);
        if self.folder.length(&way)?.is_none() {
            return Ok(false);
        }
        let Some(mut log) = self.folder.file(&way, Open::Over)? else { return Ok(false) };
        for edit in changed {
            let Some(known) = self.ledger.edits.get(edit) else { return Ok(false) };
            let new = self.log_line(edit)?;
            let Some(there) = find_line(&mut log, known.index, edit)? else { return Ok(false) };
            if there.bytes.len() != new.len() {
                return Ok(false);
            }
            let differs = || there.bytes.iter().zip(&new).map(|(old, new)| old != new);
            let (Some(first), Some(last)) =
                (differs().position(|differs| differs), differs().rposition(|differs| differs))
            else {
                continue;
            };
            log.write_at(there.at + first as u64, &new[first..=last])?;
        }
        Ok(true)
    }

    /// Adds edits to a conversation's log, in one write.
    pub(crate) fn add_to_log(&mut self, conversation: &ConversationId, edits: &[EditId]) -> Result<()> {
        let mut lines = Vec::new();
        for edit in edits {
            lines.extend(self.log_line(edit)?);
        }
        match self.folder.file(&layout::log(conversation), Open::Append)? {
            Some(mut log) => log.write(&lines),
            None => Ok(()),
        }
    }

    fn whole_log(&mut self, conversation: &ConversationId) -> Result<Vec<u8>> {
        let ledger = self.ledger;
        let mut log = Vec::new();
        for edit in ledger.edits_of(conversation) {
            log.extend(self.log_line(edit)?);
        }
        if !ledger.damage.is_empty() {
            // Of an edit whose record is damaged this line may be all that is left.
            let there = self.folder.read(&layout::log(conversation))?.unwrap_or_default();
            for line in there.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
                let entry = serde_json::from_slice::<LogEntry<'_>>(line).ok();
                if entry.is_some_and(|entry| !ledger.edits.contains_key(&EditId::from(&*entry.edit_id))) {
                    log.extend(line);
                }
            }
        }
        Ok(log)
    }

    /// The line of one edit in its conversation's log.
    pub(crate) fn log_line(&mut self, id: &EditId) -> Result<Vec<u8>> {
        let ledger = self.ledger;
        let Some(known) = ledger.edits.get(id) else { return Ok(Vec::new()) };
        let Some(line) = ledger.lines.get(known.line) else { return Ok(Vec::new()) };
        let transaction: Transaction<IgnoredAny> = read_line(ledger, self.log, line)?;
        let Some(edit) = &transaction.edit else { return Ok(Vec::new()) };
        let moved = edit.file.as_ref().and_then(|file| file.name.as_ref());
        let (source, path) = match moved {
            Some((from, to)) => (Some(from), to),
            None => (None, &transaction.document),
        };
        let checkpoint = self.is_first(id, known).then(|| ledger.checkpoint_at(known.line)).flatten();
        let entry = LogEntry {
            edit_id: id.as_str().into(),
            conversation_id: known.conversation.as_str().into(),
            tool_call_index: known.index,
            timestamp: transaction.time.as_str().into(),
            operation: edit.operation,
            file_path: path.to_text(),
            source_path: source.map(DocumentName::to_text),
            tool_name: edit.tool.as_str().into(),
            status: known.status(),
            diff_file: has_diff(edit).then(|| layout::diff(&known.conversation, id).into()),
            checkpoint_file: checkpoint.map(Into::into),
            hash_before: edit.hash_before.map(|hash| hash.to_hex().into()),
            hash_after: edit.hash_after.map(|hash| hash.to_hex().into()),
        };
        entry.to_line()
    }

    /// Whether no earlier edit of the conversation is about the same file.
    fn is_first(&self, id: &EditId, known: &Known) -> bool {
        let edits = self.ledger.edits_of(&known.conversation);
        let mut same =
            edits.filter(|other| self.ledger.edits.get(*other).is_some_and(|other| other.file == known.file));
        same.next() == Some(id)
    }

    /// Renders the diff of an edit from what was recorded; false if it has none, or cannot be rendered any more.
    fn render_diff(&mut self, id: &EditId) -> Result<bool> {
        let ledger = self.ledger;
        let Some(known) = ledger.edits.get(id) else { return Ok(false) };
        let Some(line) = ledger.lines.get(known.line) else { return Ok(false) };
        let until = Some(line.sequence);
        let document = match read_document(ledger, self.folder, self.log, known.file, until) {
            Ok(document) => document,
            Err(StoreError::Broken { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let relative = self.relative(&document.name);
        let name = relative.as_ref().unwrap_or(&document.name).as_os_str();
        let edit = document.edits.iter().find(|edit| edit.made.id == *id);
        match edit.zip(document.weave()).and_then(|(edit, weave)| diff_of(&edit.made, name, weave.clone())) {
            Some(diff) => self.write_diff(&known.conversation, id, &diff).map(|()| true),
            None => Ok(false),
        }
    }

    /// A name as diffs have it: relative to the folder of the history.
    fn relative(&self, name: &DocumentName) -> Option<DocumentName> {
        self.folder.path().parent().and_then(|mcp| name.relative_to(mcp.parent()?))
    }

    pub(crate) fn write_diff(&self, conversation: &ConversationId, edit: &EditId, diff: &str) -> Result<()> {
        self.folder.write_whole(&layout::diff(conversation, edit), diff.as_bytes(), false)
    }
}

/// Removes all logs and diffs.
pub(crate) fn forget_derived(folder: &Folder) -> Result<()> {
    folder.remove(layout::DERIVED)?;
    for name in folder.names(layout::LOGS)? {
        folder.remove(&format!("{}/{name}", layout::LOGS))?;
    }
    for conversation in folder.names(layout::DIFFS)? {
        let way = format!("{}/{conversation}", layout::DIFFS);
        for name in folder.names(&way)? {
            folder.remove(&format!("{way}/{name}"))?;
        }
    }
    Ok(())
}

/// Up to where logs and diffs have been written.
pub(crate) fn derived(folder: &Folder) -> Result<Option<Sequence>> {
    let bytes = folder.read(layout::DERIVED)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.split_once('\n').and_then(|(number, _)| number.parse().ok()).map(Sequence))
}

/// A line of a log.
struct Line {
    /// Where it begins.
    at: u64,
    /// All of it, with its end.
    bytes: Vec<u8>,
}

/// Finds the line of an edit in a log by its place in the conversation, which grows from line to line. None if that does not lead to it.
fn find_line(log: &mut Opened, index: u64, edit: &EditId) -> Result<Option<Line>> {
    let (mut from, mut to) = (0, log.len()?);
    while to - from > PIECE {
        let middle = from + (to - from) / 2;
        let piece = log.read_at(middle, PIECE)?;
        let mut lines = piece.split_inclusive(|byte| *byte == b'\n');
        // It begins before the piece.
        let begin = middle + lines.next().map_or(0, <[u8]>::len) as u64;
        let entry = lines.next().and_then(|line| serde_json::from_slice::<LogEntry<'_>>(line).ok());
        match entry {
            Some(entry) if entry.tool_call_index <= index && begin < to => from = begin,
            Some(_) if begin < to => to = begin,
            _ => return Ok(None),
        }
    }
    let piece = log.read_at(from, to - from)?;
    let mut at = from;
    for line in piece.split_inclusive(|byte| *byte == b'\n') {
        if is_of(line, edit) {
            return Ok(Some(Line { at, bytes: line.to_vec() }));
        }
        at += line.len() as u64;
    }
    Ok(None)
}

/// Whether a line of a log is whole and about this edit.
fn is_of(line: &[u8], edit: &EditId) -> bool {
    let rest =
        line.strip_prefix(b"{\"edit_id\":\"").and_then(|rest| rest.strip_prefix(edit.as_str().as_bytes()));
    rest.is_some_and(|rest| rest.starts_with(b"\"") && rest.ends_with(b"}\n"))
}

fn has_diff(edit: &crate::transaction::NewEdit) -> bool {
    edit.operation == Operation::Create || edit.hunks.iter().any(|hunk| hunk.id.is_some())
}
